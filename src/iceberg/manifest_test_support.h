// For tests: manifests and lists in the JSON form of tests/data/iceberg_json.py, and PyIceberg's
// view of our files.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "avro/container_reader.h"
#include "avro/datum_decoder.h"
#include "base/compression.h"
#include "base/digest.h"
#include "base/json.h"
#include "base/strings.h"
#include "iceberg/manifest.h"
#include "iceberg/manifest_list.h"

namespace fjord {

inline std::string FixturePath(std::string_view name) {
  return StrCat(FJORD_SOURCE_DIR, "/tests/data/iceberg/", name);
}

inline std::string ReadFileForTest(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

inline Json FixtureJson(std::string_view name) {
  const auto json = Json::Parse(ReadFileForTest(FixturePath(name)));
  EXPECT_TRUE(json.ok()) << name << " " << json.status();
  return *json;
}

template <class Number>
Json NumberOrNull(const std::optional<Number>& value) {
  return value ? Json(int64_t{*value}) : Json(nullptr);
}
template <class Tag, class T>
Json NumberOrNull(const std::optional<StrongId<Tag, T>>& value) {
  return value ? Json(int64_t{value->value}) : Json(nullptr);
}
inline Json HexOrNull(const std::optional<std::string>& value) {
  return value ? Json(Hex(*value)) : Json(nullptr);
}

// The other side sorts keys as numbers, as std::map does.
inline Json MapJson(const std::map<int32_t, int64_t>& map) {
  Json json = Json::MakeObject();
  for (const auto& [key, value] : map) json.Set(StrCat(key), value);
  return json;
}
inline Json MapJson(const std::map<int32_t, std::string>& map) {
  Json json = Json::MakeObject();
  for (const auto& [key, value] : map) json.Set(StrCat(key), Hex(value));
  return json;
}
template <class Int>
Json ArrayJson(const std::vector<Int>& array) {
  Json json = Json::MakeArray();
  for (const Int item : array) json.Push(int64_t{item});
  return json;
}

inline Json EntryJson(const ManifestEntry& entry) {
  const DataFile& file = entry.file;
  Json partition = Json::MakeArray();
  for (const auto& value : file.partition) partition.Push(HexOrNull(value));
  return Json(Json::Object{
      {"status", static_cast<int>(entry.status)},
      {"snapshot_id", NumberOrNull(entry.snapshot_id)},
      {"sequence_number", NumberOrNull(entry.sequence_number)},
      {"file_sequence_number", NumberOrNull(entry.file_sequence_number)},
      {"content", static_cast<int>(file.content)},
      {"file_path", file.file_path},
      {"file_format", file.file_format},
      {"partition", partition},
      {"record_count", file.record_count},
      {"file_size_in_bytes", file.file_size_in_bytes},
      {"column_sizes", MapJson(file.column_sizes)},
      {"value_counts", MapJson(file.value_counts)},
      {"null_value_counts", MapJson(file.null_value_counts)},
      {"nan_value_counts", MapJson(file.nan_value_counts)},
      {"lower_bounds", MapJson(file.lower_bounds)},
      {"upper_bounds", MapJson(file.upper_bounds)},
      {"key_metadata", HexOrNull(file.key_metadata)},
      {"split_offsets", ArrayJson(file.split_offsets)},
      {"equality_ids", ArrayJson(file.equality_ids)},
      {"sort_order_id", NumberOrNull(file.sort_order_id)},
  });
}

inline Json EntriesJson(const std::vector<ManifestEntry>& entries) {
  Json json = Json::MakeArray();
  for (const ManifestEntry& entry : entries) json.Push(EntryJson(entry));
  return json;
}

inline Json SummaryJson(const FieldSummary& summary) {
  return Json(Json::Object{
      {"contains_null", summary.contains_null},
      {"contains_nan", summary.contains_nan ? Json(*summary.contains_nan) : Json(nullptr)},
      {"lower_bound", HexOrNull(summary.lower_bound)},
      {"upper_bound", HexOrNull(summary.upper_bound)},
  });
}

inline Json ManifestsJson(const std::vector<ManifestFile>& manifests) {
  Json json = Json::MakeArray();
  for (const ManifestFile& manifest : manifests) {
    Json partitions = Json::MakeArray();
    for (const FieldSummary& summary : manifest.partitions) partitions.Push(SummaryJson(summary));
    json.Push(Json(Json::Object{
        {"manifest_path", manifest.manifest_path},
        {"manifest_length", manifest.manifest_length},
        {"partition_spec_id", manifest.partition_spec_id.value},
        {"content", static_cast<int>(manifest.content)},
        {"sequence_number", manifest.sequence_number.value},
        {"min_sequence_number", manifest.min_sequence_number.value},
        {"added_snapshot_id", manifest.added_snapshot_id.value},
        {"added_files_count", manifest.added_files_count},
        {"existing_files_count", manifest.existing_files_count},
        {"deleted_files_count", manifest.deleted_files_count},
        {"added_rows_count", manifest.added_rows_count},
        {"existing_rows_count", manifest.existing_rows_count},
        {"deleted_rows_count", manifest.deleted_rows_count},
        {"partitions", partitions},
        {"key_metadata", HexOrNull(manifest.key_metadata)},
    }));
  }
  return json;
}

// What PyIceberg reads from these bytes. `kind` is an argument of iceberg_json.py.
inline Json ReadWithPyIceberg(std::string_view kind, std::string_view bytes) {
  const std::string path =
      StrCat(std::filesystem::temp_directory_path().string(), "/fjord-", getpid(), ".avro");
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<long>(bytes.size()));
  const std::string command = StrCat(FJORD_SOURCE_DIR, "/.venv/bin/python ", FJORD_SOURCE_DIR,
                                     "/tests/data/iceberg_json.py ", kind, " ", path);
  FILE* pipe = popen(command.c_str(), "r");
  std::string output;
  char buffer[4096];
  while (const size_t size = fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, size);
  EXPECT_EQ(pclose(pipe), 0) << command;
  std::filesystem::remove(path);
  const auto json = Json::Parse(output);
  EXPECT_TRUE(json.ok()) << output;
  return json.ok() ? *json : Json();
}

// The encoded values of a file with codec null or deflate, one after the other.
inline std::string RawAvroValues(std::string_view file) {
  auto reader = AvroContainerReader::Open(file);
  EXPECT_TRUE(reader.ok()) << reader.status();
  const std::string_view sync = file.substr(file.size() - 16);
  ByteReader in(file.substr(file.find(sync) + 16));
  std::string values;
  while (!in.empty()) {
    EXPECT_TRUE(ReadAvroLong(in).ok());
    const std::string_view stored = *ReadAvroBytes(in);
    values += reader->metadata().at("avro.codec") == "deflate" ? *Inflate(stored, 1 << 30)
                                                               : std::string(stored);
    EXPECT_EQ(*in.Bytes(16), sync);
  }
  return values;
}

// An Avro schema with the members of each object in one order and without "doc", for comparisons.
inline Json NormalSchema(const Json& json) {
  if (json.is_array()) {
    Json result = Json::MakeArray();
    for (const Json& item : json.array()) result.Push(NormalSchema(item));
    return result;
  }
  if (!json.is_object()) return json;
  std::map<std::string, Json> members;
  for (const auto& [name, value] : json.object()) {
    if (name != "doc") members.emplace(name, NormalSchema(value));
  }
  return Json(Json::Object(members.begin(), members.end()));
}

}  // namespace fjord

#include "iceberg/manifest.h"

#include <algorithm>

#include "avro/container_reader.h"
#include "avro/container_writer.h"
#include "avro/encoder.h"
#include "base/json.h"
#include "base/status.h"
#include "base/strings.h"
#include "iceberg/avro_record.h"
#include "iceberg/data_file_avro.h"
#include "iceberg/manifest_schemas.h"

namespace fjord {
namespace {

namespace fields = manifest_fields;

absl::Status CheckContext(const ManifestContext& context) {
  if (context.format_version != 2) {
    return absl::InvalidArgumentError(StrCat("manifests of format version ", context.format_version,
                                             " are not written yet, only 2"));
  }
  ASSIGN_OR_RETURN(const Json spec, Json::Parse(context.partition_spec_json));
  if (!spec.is_array()) {
    return absl::InvalidArgumentError(
        "the partition spec of a manifest is the array of its fields, such as []");
  }
  if (!spec.array().empty()) {
    return absl::InvalidArgumentError("manifests of partitioned tables are not written yet");
  }
  ASSIGN_OR_RETURN(const Json schema, Json::Parse(context.schema_json));
  // DuckDB and others do not read a schema without it.
  ASSIGN_OR_RETURN(const int64_t schema_id, schema.GetInt("schema-id"));
  if (schema_id != context.schema_id.value) {
    return absl::InvalidArgumentError(StrCat("the schema of a manifest has schema-id ", schema_id,
                                             " instead of ", context.schema_id.value));
  }
  return absl::OkStatus();
}

// Empty, or what is wrong with the file.
std::string_view WrongInFile(const DataFile& file, ManifestContent content) {
  const bool is_data = file.content == FileContent::kData;
  if (is_data != (content == ManifestContent::kData)) {
    return "data files and delete files may not be in one manifest";
  }
  if (file.file_path.empty()) return "it has no path";
  if (!file.partition.empty()) return "a partition value in an unpartitioned spec";
  if (file.record_count < 0 || file.file_size_in_bytes < 0) return "a negative count or size";
  if (!std::is_sorted(file.split_offsets.begin(), file.split_offsets.end()) ||
      (!file.split_offsets.empty() &&
       (file.split_offsets.front() < 0 || file.split_offsets.back() >= file.file_size_in_bytes))) {
    return "its split offsets do not ascend within the file";
  }
  if (file.equality_ids.empty() == (file.content == FileContent::kEqualityDeletes)) {
    return "equality deletes, and only they, have equality ids";
  }
  if (file.content == FileContent::kPositionDeletes && file.sort_order_id) {
    return "position deletes have no sort order id";
  }
  if (is_data && file.referenced_data_file) return "a data file refers to a data file";
  if (file.first_row_id || file.content_offset || file.content_size_in_bytes) {
    return "row ids and deletion vectors need format version 3, not yet";
  }
  return {};
}

// Empty, or what is wrong with the entry apart from the file.
std::string_view WrongInEntry(const ManifestEntry& entry, SnapshotId snapshot_id) {
  if (entry.status == EntryStatus::kAdded) {
    if (entry.snapshot_id && *entry.snapshot_id != snapshot_id) {
      return "it was added by another snapshot: its status must be EXISTING";
    }
    if (entry.file_sequence_number) {
      return "an ADDED entry inherits its file sequence number";
    }
    if (entry.sequence_number && entry.sequence_number->value < 0) {
      return "its sequence number is negative";
    }
    return {};
  }
  if (!entry.snapshot_id || !entry.sequence_number || !entry.file_sequence_number) {
    return "an EXISTING or DELETED entry needs its snapshot id and both sequence numbers";
  }
  if (entry.sequence_number->value < 0 || entry.file_sequence_number->value < 0) {
    return "a sequence number is negative";
  }
  if (entry.status == EntryStatus::kDeleted && *entry.snapshot_id != snapshot_id) {
    return "it was deleted by another snapshot: it must be dropped";
  }
  return {};
}

absl::Status CheckEntry(const ManifestContext& context, const ManifestEntry& entry) {
  std::string_view wrong = WrongInFile(entry.file, context.content);
  if (wrong.empty()) wrong = WrongInEntry(entry, context.snapshot_id);
  if (wrong.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      StrCat("manifest entry of file ", entry.file.file_path, ": ", wrong));
}

void PutOptionalLong(std::string& out, const std::optional<SequenceNumber>& value) {
  PutAvroBranch(out, value.has_value());
  if (value) PutAvroLong(out, value->value);
}

// In the order of kManifestSchemaV2.
std::string EncodeEntry(const ManifestContext& context, const ManifestEntry& entry) {
  std::string out;
  PutAvroLong(out, static_cast<int32_t>(entry.status));
  PutAvroBranch(out, 1);
  PutAvroLong(out, entry.snapshot_id.value_or(context.snapshot_id).value);
  PutOptionalLong(out, entry.sequence_number);
  PutOptionalLong(out, entry.file_sequence_number);
  PutDataFile(out, entry.file);
  return out;
}

void CountEntry(const ManifestEntry& entry, ManifestFile& manifest) {
  switch (entry.status) {
    case EntryStatus::kAdded:
      ++manifest.added_files_count;
      manifest.added_rows_count += entry.file.record_count;
      break;
    case EntryStatus::kExisting:
      ++manifest.existing_files_count;
      manifest.existing_rows_count += entry.file.record_count;
      break;
    case EntryStatus::kDeleted:
      ++manifest.deleted_files_count;
      manifest.deleted_rows_count += entry.file.record_count;
      return;  // not live
  }
  // Entries that inherit get the commit's number, which is greater than every number in the table.
  if (entry.sequence_number && (manifest.min_sequence_number == kUnassignedSequenceNumber ||
                                *entry.sequence_number < manifest.min_sequence_number)) {
    manifest.min_sequence_number = *entry.sequence_number;
  }
}

std::vector<std::pair<std::string, std::string>> Metadata(const ManifestContext& context) {
  return {{"schema", context.schema_json},
          {"schema-id", StrCat(context.schema_id.value)},
          {"partition-spec", context.partition_spec_json},
          {"partition-spec-id", StrCat(context.partition_spec_id.value)},
          {"format-version", StrCat(context.format_version)},
          {"content", context.content == ManifestContent::kData ? "data" : "deletes"}};
}

// What an entry leaves out comes from the manifest's row in the manifest list (specification,
// "Sequence Number Inheritance").
absl::Status Inherit(const ManifestFile& manifest, ManifestEntry& entry) {
  if (!entry.snapshot_id) entry.snapshot_id = manifest.added_snapshot_id;
  if (manifest.sequence_number == kUnassignedSequenceNumber) return absl::OkStatus();
  // A manifest of number 0 was written by format version 1, which had no numbers.
  const bool may_inherit =
      entry.status == EntryStatus::kAdded || manifest.sequence_number.value == 0;
  if (!entry.sequence_number) {
    if (!may_inherit) {
      return AvroRecord::Wrong(fields::kSequenceNumber, "missing although the entry is not ADDED");
    }
    entry.sequence_number = manifest.sequence_number;
  }
  if (!entry.file_sequence_number && may_inherit) {
    entry.file_sequence_number = manifest.sequence_number;
  }
  return absl::OkStatus();
}

template <class Id>
std::optional<Id> AsId(const std::optional<int64_t>& value) {
  if (!value) return std::nullopt;
  return Id(*value);
}

absl::StatusOr<ManifestEntry> DecodeEntry(const AvroValue& value, const ManifestFile& manifest) {
  ASSIGN_OR_RETURN(const AvroRecord record, AvroRecord::Of(value, "an entry"));
  ManifestEntry entry;
  ASSIGN_OR_RETURN(const int32_t status, record.Int(fields::kStatus));
  if (status < 0 || status > 2) return AvroRecord::Wrong(fields::kStatus, StrCat(status));
  entry.status = static_cast<EntryStatus>(status);
  ASSIGN_OR_RETURN(const std::optional<int64_t> snapshot_id,
                   record.OptionalLong(fields::kSnapshotId));
  ASSIGN_OR_RETURN(const std::optional<int64_t> sequence_number,
                   record.OptionalLong(fields::kSequenceNumber));
  ASSIGN_OR_RETURN(const std::optional<int64_t> file_sequence_number,
                   record.OptionalLong(fields::kFileSequenceNumber));
  entry.snapshot_id = AsId<SnapshotId>(snapshot_id);
  entry.sequence_number = AsId<SequenceNumber>(sequence_number);
  entry.file_sequence_number = AsId<SequenceNumber>(file_sequence_number);
  const AvroValue* file = record.Find(fields::kDataFile);
  if (file == nullptr) return AvroRecord::Wrong(fields::kDataFile, "missing");
  ASSIGN_OR_RETURN(entry.file, DecodeDataFile(*file));
  const bool is_data = entry.file.content == FileContent::kData;
  if (is_data != (manifest.content == ManifestContent::kData)) {
    return AvroRecord::Wrong(fields::kContent, "of another kind than the manifest");
  }
  RETURN_IF_ERROR(Inherit(manifest, entry));
  return entry;
}

}  // namespace

absl::StatusOr<EncodedManifest> EncodeManifest(const ManifestContext& context,
                                               absl::Span<const ManifestEntry> entries) {
  RETURN_IF_ERROR(CheckContext(context));
  if (entries.empty()) return absl::InvalidArgumentError("a manifest without entries");
  EncodedManifest result;
  result.file.partition_spec_id = context.partition_spec_id;
  result.file.content = context.content;
  result.file.added_snapshot_id = context.snapshot_id;
  AvroContainerWriter writer(kManifestSchemaV2, Metadata(context), {});
  for (const ManifestEntry& entry : entries) {
    RETURN_IF_ERROR(CheckEntry(context, entry));
    writer.Append(EncodeEntry(context, entry));
    CountEntry(entry, result.file);
  }
  result.bytes = std::move(writer).Finish();
  result.file.manifest_length = static_cast<int64_t>(result.bytes.size());
  return result;
}

absl::StatusOr<std::vector<ManifestEntry>> DecodeManifest(std::string_view bytes,
                                                          const ManifestFile& manifest) {
  const auto annotate = [&](const absl::Status& status) {
    return Annotate(status, StrCat("manifest ", manifest.manifest_path));
  };
  absl::StatusOr<AvroContainerReader> reader = AvroContainerReader::Open(bytes);
  if (!reader.ok()) return annotate(reader.status());
  std::vector<ManifestEntry> entries;
  while (true) {
    absl::StatusOr<std::optional<AvroValue>> value = reader->Next();
    if (!value.ok()) return annotate(value.status());
    if (!value->has_value()) return entries;
    absl::StatusOr<ManifestEntry> entry = DecodeEntry(**value, manifest);
    if (!entry.ok()) {
      return annotate(Annotate(entry.status(), StrCat("entry ", entries.size())));
    }
    entries.push_back(*std::move(entry));
  }
}

}  // namespace fjord

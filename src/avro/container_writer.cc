#include "avro/container_writer.h"

#include <algorithm>

#include "avro/encoder.h"
#include "base/compression.h"
#include "base/digest.h"

namespace fjord {
namespace {

constexpr std::string_view kMagic("Obj\1", 4);

std::string_view CodecName(AvroCodec codec) {
  switch (codec) {
    case AvroCodec::kNull: return "null";
    case AvroCodec::kDeflate: return "deflate";
  }
  return "null";
}

void PutPair(std::string& out, std::string_view key, std::string_view value) {
  PutAvroBytes(out, key);
  PutAvroBytes(out, value);
}

}  // namespace

std::array<char, 16> AvroWriterOptions::RandomSyncMarker() {
  std::array<char, 16> marker;
  const std::string bytes = RandomBytes(marker.size());
  std::copy(bytes.begin(), bytes.end(), marker.begin());
  return marker;
}

AvroContainerWriter::AvroContainerWriter(
    std::string_view schema_json, const std::vector<std::pair<std::string, std::string>>& metadata,
    const AvroWriterOptions& options)
    : options_(options), file_(kMagic) {
  PutAvroBlock(file_, metadata.size() + 2);
  PutPair(file_, "avro.schema", schema_json);
  PutPair(file_, "avro.codec", CodecName(options_.codec));
  for (const auto& [key, value] : metadata) PutPair(file_, key, value);
  PutAvroEnd(file_);
  file_.append(options_.sync_marker.data(), options_.sync_marker.size());
}

void AvroContainerWriter::Append(std::string_view datum) {
  block_.append(datum);
  ++block_count_;
  if (block_.size() >= options_.block_bytes) FlushBlock();
}

void AvroContainerWriter::FlushBlock() {
  if (block_count_ == 0) return;
  PutAvroLong(file_, static_cast<int64_t>(block_count_));
  if (options_.codec == AvroCodec::kDeflate) {
    PutAvroBytes(file_, Deflate(block_, options_.deflate_level));
  } else {
    PutAvroBytes(file_, block_);
  }
  file_.append(options_.sync_marker.data(), options_.sync_marker.size());
  block_.clear();
  block_count_ = 0;
}

std::string AvroContainerWriter::Finish() && {
  FlushBlock();
  return std::move(file_);
}

}  // namespace fjord

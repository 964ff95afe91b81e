#include "avro/container_reader.h"

#include <algorithm>

#include "avro/datum_decoder.h"
#include "base/compression.h"
#include "base/status.h"
#include "base/strings.h"

namespace fjord {
namespace {

constexpr std::string_view kMagic("Obj\1", 4);
constexpr size_t kSyncBytes = 16;
constexpr size_t kCrcBytes = 4;

}  // namespace

absl::StatusOr<AvroContainerReader> AvroContainerReader::Open(std::string_view bytes,
                                                              const AvroReaderLimits& limits) {
  AvroContainerReader reader(bytes, limits);
  const absl::Status status = reader.ReadHeader();
  if (!status.ok()) return Annotate(status, "header of the Avro file");
  return reader;
}

absl::Status AvroContainerReader::ReadHeader() {
  ASSIGN_OR_RETURN(const std::string_view magic, file_.Bytes(kMagic.size()));
  if (magic != kMagic) return absl::DataLossError("it does not begin with \"Obj\" and 1");
  RETURN_IF_ERROR(ReadMetadata());
  ASSIGN_OR_RETURN(sync_marker_, file_.Bytes(kSyncBytes));

  const auto codec = metadata_.find("avro.codec");
  const std::string_view codec_name =
      codec == metadata_.end() ? std::string_view("null") : std::string_view(codec->second);
  if (codec_name == "null") {
    codec_ = Codec::kNull;
  } else if (codec_name == "deflate") {
    codec_ = Codec::kDeflate;
  } else if (codec_name == "snappy") {
    codec_ = Codec::kSnappy;
  } else if (codec_name == "zstandard") {
    codec_ = Codec::kZstandard;
  } else {
    return absl::DataLossError(StrCat("codec ", codec_name.substr(0, 40), " is not known"));
  }

  const auto schema = metadata_.find("avro.schema");
  if (schema == metadata_.end()) return absl::DataLossError("it has no schema");
  if (schema->second.size() > limits_.schema_bytes_max) {
    return absl::DataLossError(StrCat("the schema is larger than ", limits_.schema_bytes_max));
  }
  ASSIGN_OR_RETURN(AvroSchemaTree tree, AvroSchemaTree::Parse(schema->second));
  schema_ = std::make_unique<const AvroSchemaTree>(std::move(tree));
  return absl::OkStatus();
}

absl::Status AvroContainerReader::ReadMetadata() {
  while (true) {
    ASSIGN_OR_RETURN(int64_t count, ReadAvroLong(file_));
    if (count == 0) return absl::OkStatus();
    if (count < 0) RETURN_IF_ERROR(ReadAvroLong(file_).status());  // the block's size in bytes
    const uint64_t pairs = count < 0 ? ~static_cast<uint64_t>(count) + 1 : count;
    for (uint64_t i = 0; i < pairs; ++i) {
      ASSIGN_OR_RETURN(const std::string_view key, ReadAvroBytes(file_));
      ASSIGN_OR_RETURN(const std::string_view value, ReadAvroBytes(file_));
      metadata_.insert_or_assign(std::string(key), std::string(value));
    }
  }
}

absl::StatusOr<std::optional<AvroValue>> AvroContainerReader::Next() {
  RETURN_IF_ERROR(status_);
  absl::StatusOr<std::optional<AvroValue>> value = ReadNext();
  if (!value.ok()) {
    status_ = Annotate(value.status(), StrCat("block ", blocks_read_, " of the Avro file"));
    return status_;
  }
  return value;
}

absl::StatusOr<std::optional<AvroValue>> AvroContainerReader::ReadNext() {
  while (block_count_ == 0) {
    if (!block_rest_.empty()) return absl::DataLossError("bytes are left over after its values");
    if (file_.empty()) return std::nullopt;
    RETURN_IF_ERROR(ReadBlock());
  }
  const size_t values_left = limits_.values_per_file_max - values_read_;
  AvroDatumDecoder decoder(block_rest_, std::min(values_left, limits_.values_per_datum_max),
                           limits_.depth_max);
  ASSIGN_OR_RETURN(AvroValue value, decoder.Decode(schema_->root()));
  values_read_ += decoder.values();
  --block_count_;
  return value;
}

absl::Status AvroContainerReader::ReadBlock() {
  ++blocks_read_;
  ASSIGN_OR_RETURN(const int64_t count, ReadAvroLong(file_));
  ASSIGN_OR_RETURN(const std::string_view stored, ReadAvroBytes(file_));
  ASSIGN_OR_RETURN(const std::string_view sync, file_.Bytes(kSyncBytes));
  if (sync != sync_marker_) return absl::DataLossError("it does not end with the sync marker");
  std::string_view data = stored;
  if (codec_ != Codec::kNull) {
    ASSIGN_OR_RETURN(std::string plain, Decompress(stored));
    block_ = std::make_unique<const std::string>(std::move(plain));
    data = *block_;
  }
  // No schema that we read has values of zero bytes, so a greater count is damage.
  if (count < 0 || static_cast<uint64_t>(count) > data.size()) {
    return absl::DataLossError(StrCat("it claims ", count, " values in ", data.size(), " bytes"));
  }
  block_rest_ = ByteReader(data);
  block_count_ = static_cast<uint64_t>(count);
  return absl::OkStatus();
}

absl::StatusOr<std::string> AvroContainerReader::Decompress(std::string_view data) const {
  switch (codec_) {
    case Codec::kNull: return std::string(data);
    case Codec::kDeflate: return Inflate(data, limits_.block_bytes_max);
    case Codec::kZstandard: return ZstdDecompress(data, limits_.block_bytes_max);
    case Codec::kSnappy: {
      // The CRC-32 of the plain bytes follows, big-endian.
      if (data.size() < kCrcBytes) return absl::DataLossError("a snappy block has no checksum");
      ASSIGN_OR_RETURN(std::string plain, SnappyDecompress(data.substr(0, data.size() - kCrcBytes),
                                                           limits_.block_bytes_max));
      if (GetBig32(data.data() + data.size() - kCrcBytes) != Crc32(plain)) {
        return absl::DataLossError("the checksum of a snappy block is wrong");
      }
      return plain;
    }
  }
  return absl::InternalError("no such codec");
}

}  // namespace fjord

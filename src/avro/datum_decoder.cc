#include "avro/datum_decoder.h"

#include <bit>
#include <limits>

#include "base/status.h"
#include "base/strings.h"

namespace fjord {

absl::StatusOr<int64_t> ReadAvroLong(ByteReader& in) {
  ASSIGN_OR_RETURN(const uint64_t raw, in.Varint64());
  return static_cast<int64_t>((raw >> 1) ^ (~(raw & 1) + 1));
}

absl::StatusOr<std::string_view> ReadAvroBytes(ByteReader& in) {
  ASSIGN_OR_RETURN(const int64_t size, ReadAvroLong(in));
  if (size < 0) return absl::DataLossError("a length is negative");
  return in.Bytes(static_cast<size_t>(size));
}

absl::StatusOr<AvroValue> AvroDatumDecoder::Decode(const AvroSchema& schema, int depth) {
  if (depth > depth_max_) {
    return absl::DataLossError(StrCat("values nest deeper than ", depth_max_));
  }
  if (schema.type == AvroType::kUnion) {
    ASSIGN_OR_RETURN(const int64_t branch, ReadAvroLong(in_));
    if (branch < 0 || static_cast<size_t>(branch) >= schema.branches.size()) {
      return absl::DataLossError(StrCat("union branch ", branch, " does not exist"));
    }
    return Decode(*schema.branches[static_cast<size_t>(branch)], depth);
  }
  if (++values_ > values_max_) {
    return absl::DataLossError(StrCat("more than ", values_max_, " values"));
  }
  AvroValue out;
  out.schema = &schema;
  switch (schema.type) {
    case AvroType::kRecord: RETURN_IF_ERROR(DecodeRecord(schema, depth, out)); break;
    case AvroType::kArray: RETURN_IF_ERROR(DecodeArray(schema, depth, out)); break;
    case AvroType::kMap: RETURN_IF_ERROR(DecodeMap(schema, depth, out)); break;
    default: RETURN_IF_ERROR(DecodeScalar(schema, out));
  }
  return out;
}

absl::Status AvroDatumDecoder::DecodeScalar(const AvroSchema& schema, AvroValue& out) {
  switch (schema.type) {
    case AvroType::kNull: return absl::OkStatus();
    case AvroType::kBoolean: {
      ASSIGN_OR_RETURN(const uint8_t byte, in_.Byte());
      if (byte > 1) return absl::DataLossError("a boolean is neither 0 nor 1");
      out.value = byte == 1;
      return absl::OkStatus();
    }
    case AvroType::kInt: {
      ASSIGN_OR_RETURN(const int64_t v, ReadAvroLong(in_));
      if (v < std::numeric_limits<int32_t>::min() || v > std::numeric_limits<int32_t>::max()) {
        return absl::DataLossError("an int does not fit 32 bits");
      }
      out.value = v;
      return absl::OkStatus();
    }
    case AvroType::kLong: {
      ASSIGN_OR_RETURN(out.value, ReadAvroLong(in_));
      return absl::OkStatus();
    }
    case AvroType::kFloat: {
      ASSIGN_OR_RETURN(const uint32_t bits, in_.Fixed32());
      out.value = std::bit_cast<float>(bits);
      return absl::OkStatus();
    }
    case AvroType::kDouble: {
      ASSIGN_OR_RETURN(const uint64_t bits, in_.Fixed64());
      out.value = std::bit_cast<double>(bits);
      return absl::OkStatus();
    }
    case AvroType::kBytes:
    case AvroType::kString: {
      ASSIGN_OR_RETURN(const std::string_view bytes, ReadAvroBytes(in_));
      out.value = std::string(bytes);
      return absl::OkStatus();
    }
    case AvroType::kFixed: {
      ASSIGN_OR_RETURN(const std::string_view bytes, in_.Bytes(schema.fixed_size));
      out.value = std::string(bytes);
      return absl::OkStatus();
    }
    case AvroType::kEnum: {
      ASSIGN_OR_RETURN(const int64_t index, ReadAvroLong(in_));
      if (index < 0 || static_cast<size_t>(index) >= schema.symbols.size()) {
        return absl::DataLossError(StrCat("enum symbol ", index, " does not exist"));
      }
      out.value = schema.symbols[static_cast<size_t>(index)];
      return absl::OkStatus();
    }
    case AvroType::kArray:
    case AvroType::kMap:
    case AvroType::kRecord:
    case AvroType::kUnion: break;
  }
  return absl::InternalError("not a scalar");
}

absl::Status AvroDatumDecoder::DecodeRecord(const AvroSchema& schema, int depth, AvroValue& out) {
  AvroValue::Items values;
  values.reserve(schema.fields.size());
  for (const AvroField& field : schema.fields) {
    absl::StatusOr<AvroValue> value = Decode(*field.schema, depth + 1);
    if (!value.ok()) return Annotate(value.status(), field.name);
    values.push_back(*std::move(value));
  }
  out.value = std::move(values);
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> AvroDatumDecoder::BlockCount() {
  ASSIGN_OR_RETURN(const int64_t count, ReadAvroLong(in_));
  if (count >= 0) return static_cast<uint64_t>(count);
  // A negative count is followed by the size of the block in bytes, for readers that skip it.
  RETURN_IF_ERROR(ReadAvroLong(in_).status());
  return ~static_cast<uint64_t>(count) + 1;
}

absl::Status AvroDatumDecoder::DecodeArray(const AvroSchema& schema, int depth, AvroValue& out) {
  AvroValue::Items values;
  while (true) {
    ASSIGN_OR_RETURN(const uint64_t count, BlockCount());
    if (count == 0) break;
    for (uint64_t i = 0; i < count; ++i) {
      ASSIGN_OR_RETURN(AvroValue value, Decode(*schema.items, depth + 1));
      values.push_back(std::move(value));
    }
  }
  out.value = std::move(values);
  return absl::OkStatus();
}

absl::Status AvroDatumDecoder::DecodeMap(const AvroSchema& schema, int depth, AvroValue& out) {
  AvroValue::Pairs pairs;
  while (true) {
    ASSIGN_OR_RETURN(const uint64_t count, BlockCount());
    if (count == 0) break;
    for (uint64_t i = 0; i < count; ++i) {
      ASSIGN_OR_RETURN(const std::string_view key, ReadAvroBytes(in_));
      ASSIGN_OR_RETURN(AvroValue value, Decode(*schema.items, depth + 1));
      pairs.push_back({std::string(key), std::move(value)});
    }
  }
  out.value = std::move(pairs);
  return absl::OkStatus();
}

}  // namespace fjord

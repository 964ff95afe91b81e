#include "doc/packed.h"

#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "base/strings.h"
#include "doc/highway_hash.h"
#include "doc/serialize.h"

namespace fjord::doc {
namespace {

constexpr uint8_t kNullCode = 0x00;
constexpr uint8_t kBytesCode = 0x01;
constexpr uint8_t kStringCode = 0x02;
constexpr uint8_t kNegativeLargeCode = 0x0b;
constexpr uint8_t kZeroCode = 0x14;
constexpr uint8_t kPositiveLargeCode = 0x1d;
constexpr uint8_t kDoubleCode = 0x21;
constexpr uint8_t kFalseCode = 0x26;
constexpr uint8_t kTrueCode = 0x27;
constexpr size_t kLargeBytesMax = 255;

void AppendByte(int byte, std::string* out) { out->push_back(static_cast<char>(byte)); }

void AppendText(uint8_t code, std::string_view text, std::string* out) {
  AppendByte(code, out);
  size_t begin = 0;
  for (size_t zero = text.find('\0'); zero != std::string_view::npos;
       zero = text.find('\0', begin)) {
    out->append(text, begin, zero + 1 - begin);
    AppendByte(0xff, out);
    begin = zero + 1;
  }
  out->append(text, begin);
  AppendByte(0, out);
}

void AppendBigEndian(uint64_t value, size_t bytes, std::string* out) {
  for (size_t i = bytes; i-- > 0;) AppendByte(static_cast<int>(value >> (8 * i) & 0xff), out);
}

size_t BytesOf(uint64_t magnitude) {
  return (64 - static_cast<size_t>(std::countl_zero(magnitude)) + 7) / 8;
}

void AppendUnsigned(uint64_t value, std::string* out) {
  const size_t bytes = BytesOf(value);
  AppendByte(kZeroCode + static_cast<int>(bytes), out);
  AppendBigEndian(value, bytes, out);
}

void AppendSigned(int64_t value, std::string* out) {
  if (value >= 0) return AppendUnsigned(static_cast<uint64_t>(value), out);
  const uint64_t magnitude = 0 - static_cast<uint64_t>(value);
  const size_t bytes = BytesOf(magnitude);
  AppendByte(kZeroCode - static_cast<int>(bytes), out);
  AppendBigEndian(~magnitude, bytes, out);
}

void AppendFloating(double value, std::string* out) {
  const auto bits = std::bit_cast<uint64_t>(value);
  AppendByte(kDoubleCode, out);
  AppendBigEndian(bits >> 63 ? ~bits : bits | uint64_t{1} << 63, 8, out);
}

// Decimal digits as bytes, the lowest first.
std::vector<uint8_t> BytesOfDigits(std::string_view digits) {
  std::vector<uint8_t> bytes;
  for (const char digit : digits) {
    int carry = digit - '0';
    for (uint8_t& byte : bytes) {
      const int sum = byte * 10 + carry;
      byte = static_cast<uint8_t>(sum & 0xff);
      carry = sum >> 8;
    }
    if (carry != 0) bytes.push_back(static_cast<uint8_t>(carry));
  }
  return bytes;
}

// An integer of more than 64 bits.
absl::Status AppendLarge(std::string_view text, std::string* out) {
  const bool negative = text.front() == '-';
  const std::string_view digits = text.substr(negative ? 1 : 0);
  // 2.4 digits a byte; the check comes before the work.
  if (digits.size() > kLargeBytesMax * 5 / 2 ||
      digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return absl::InvalidArgumentError(StrCat("the number ", text.substr(0, 100),
                                             " cannot be part of a key: it is no integer of up to ",
                                             kLargeBytesMax, " bytes, and no double holds it"));
  }
  const std::vector<uint8_t> bytes = BytesOfDigits(digits);
  const int flip = negative ? 0xff : 0;
  // A magnitude of 8 bytes that int64_t does not hold is still one of the short ones.
  if (bytes.size() <= 8) {
    AppendByte(kZeroCode - static_cast<int>(bytes.size()), out);
  } else {
    AppendByte(negative ? kNegativeLargeCode : kPositiveLargeCode, out);
    AppendByte(static_cast<int>(bytes.size()) ^ flip, out);
  }
  for (size_t i = bytes.size(); i-- > 0;) AppendByte(bytes[i] ^ flip, out);
  return absl::OkStatus();
}

}  // namespace

absl::Status AppendPacked(const Value& value, std::string* packed) {
  switch (value.kind()) {
    case Kind::kNull: AppendByte(kNullCode, packed); break;
    case Kind::kBool: AppendByte(value.as_bool() ? kTrueCode : kFalseCode, packed); break;
    case Kind::kInt: AppendSigned(value.as_int(), packed); break;
    case Kind::kUint: AppendUnsigned(value.as_uint(), packed); break;
    case Kind::kDouble: AppendFloating(value.as_double(), packed); break;
    case Kind::kNumberText: return AppendLarge(value.text(), packed);
    case Kind::kString: AppendText(kStringCode, value.text(), packed); break;
    case Kind::kArray:
    case Kind::kObject: AppendText(kBytesCode, ToJson(value), packed); break;
  }
  return absl::OkStatus();
}

uint32_t PackedKeyHash(std::string_view packed) {
  // ba737e89155238d47d8067c35aad4d25ecdd1c3488227e011ffa480c022bd3ba as little-endian words: the
  // key that other implementations of these routing ranges use.
  constexpr std::array<uint64_t, 4> kKey = {0xd4385215897e73ba, 0x254dad5ac367807d,
                                            0x017e2288341cddec, 0xbad32b020c48fa1f};
  return static_cast<uint32_t>(HighwayHash64(kKey, packed) >> 32);
}

}  // namespace fjord::doc

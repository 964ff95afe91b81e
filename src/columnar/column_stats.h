// Counts and exact least and greatest values of a column, gathered while it is written.
//
// They become bounds in manifests, where a wrong one makes rows vanish from queries: so
// they come from the values themselves, never from the statistics of a file's footer, which
// may be cut or missing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/numeric/int128.h"
#include "base/column.h"

namespace fjord {

// Of a longer string or binary value only this many first bytes are kept. That is far more
// than a shortened bound needs, and more than any path of a data file has; as a whole
// value it must not be taken.
inline constexpr size_t kStatsBytesMax = 8192;

class ColumnStats {
 public:
  explicit ColumnStats(ColumnType type) : type_(type) {}

  // Precondition: a column of the type's physical form.
  void Add(const Column& column);

  const ColumnType& type() const { return type_; }
  int64_t value_count() const { return value_count_; }  // nulls and NaNs included
  int64_t null_count() const { return null_count_; }
  int64_t nan_count() const { return nan_count_; }
  // False: no value, or only nulls and NaNs. The accessors below are of the type's physical form
  // and hold only then.
  bool has_range() const { return has_range_; }
  int64_t min_int() const { return min_int_; }
  int64_t max_int() const { return max_int_; }
  // Of -0.0 and +0.0, which are equal, either.
  double min_double() const { return min_double_; }
  double max_double() const { return max_double_; }
  absl::int128 min_int128() const { return min_int128_; }
  absl::int128 max_int128() const { return max_int128_; }
  // Compared as unsigned bytes, which for UTF-8 is the order of code points. At most kStatsBytesMax
  // bytes of each.
  const std::string& min_bytes() const { return min_bytes_; }
  const std::string& max_bytes() const { return max_bytes_; }

 private:
  void AddBytes(const Column& column);

  ColumnType type_;
  int64_t value_count_ = 0;
  int64_t null_count_ = 0;
  int64_t nan_count_ = 0;
  bool has_range_ = false;
  int64_t min_int_ = 0;
  int64_t max_int_ = 0;
  double min_double_ = 0;
  double max_double_ = 0;
  absl::int128 min_int128_ = 0;
  absl::int128 max_int128_ = 0;
  std::string min_bytes_;
  std::string max_bytes_;
};

}  // namespace fjord

#include "base/status.h"

#include <gtest/gtest.h>

#include <memory>

#include "absl/strings/cord.h"

namespace fjord {
namespace {

absl::StatusOr<std::unique_ptr<int>> Half(int number) {
  if (number % 2 != 0) return absl::InvalidArgumentError("odd");
  return std::make_unique<int>(number / 2);
}

absl::StatusOr<int> Quarter(int number) {
  ASSIGN_OR_RETURN(const std::unique_ptr<int> half, Half(number));
  ASSIGN_OR_RETURN(const std::unique_ptr<int> quarter, Half(*half));
  return *quarter;
}

TEST(StatusMacros, GiveTheValueOrReturnTheStatus) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(6).status(), absl::InvalidArgumentError("odd"));
}

TEST(Annotate, KeepsCodeAndPayloadsAndPutsTheContextInFront) {
  absl::Status inner = absl::UnknownError("lost");
  inner.SetPayload("key", absl::Cord("value"));
  const absl::Status outer = Annotate(inner, "table shop.orders");
  EXPECT_EQ(outer.code(), absl::StatusCode::kUnknown);
  EXPECT_EQ(Message(outer), "table shop.orders: lost");
  EXPECT_EQ(outer.GetPayload("key").value_or(absl::Cord()), "value");
  EXPECT_TRUE(Annotate(absl::OkStatus(), "context").ok());
}

}  // namespace
}  // namespace fjord

#include "replicate/collapse.h"

#include <gtest/gtest.h>

#include "base/coding.h"
#include "replicate/change_test_support.h"

namespace fjord {
namespace {

using Cells = std::vector<TextCell>;

// A table (id int PRIMARY KEY, v text) and the changes that a test makes to it.
class CollapseTest : public testing::Test {
 protected:
  CollapseTest() {
    shape_.name = "public.t";
    PgColumn id{.attnum = 1,
                .name = "id",
                .type = Oid(23),
                .lake = {.kind = TypeKind::kInt},
                .decode = DecodeKind::kInt32,
                .required = true,
                .is_key = true};
    PgColumn v{.attnum = 2,
               .name = "v",
               .type = Oid(25),
               .lake = {.kind = TypeKind::kString},
               .decode = DecodeKind::kText};
    shape_.columns = {id, v};
    shape_.key = {0};
    shape_.seed = {1, 2};
  }

  void Insert(const Cells& row, uint32_t sub_xid = 0) {
    Change(ChangeKind::kInsert, "N" + TupleOf(row), sub_xid);
  }
  void Update(const Cells& row, uint32_t sub_xid = 0) {
    Change(ChangeKind::kUpdate, "N" + TupleOf(row), sub_xid);
  }
  void UpdateFromKey(const Cells& old, const Cells& row) {
    Change(ChangeKind::kUpdate, "K" + TupleOf(old) + "N" + TupleOf(row), 0);
  }
  void UpdateFromFull(const Cells& old, const Cells& row) {
    Change(ChangeKind::kUpdate, "O" + TupleOf(old) + "N" + TupleOf(row), 0);
  }
  void Delete(const Cells& old) { Change(ChangeKind::kDelete, "K" + TupleOf(old), 0); }
  void Truncate() { AppendChange(records_, ChangeKind::kTruncate, Xid(0), ""); }
  void Commit(uint64_t lsn) { AppendCommit(records_, Lsn(lsn), 0); }

  absl::Status Run(const AbortedXids* aborted = nullptr) {
    return collapse_.Add(std::exchange(records_, {}), aborted, Lsn());
  }

  // The final row of a key: its `v`, "gone", "unchanged", or "?" when the key was not touched.
  std::string Final(const std::string& id) {
    for (const KeyState& state : collapse_.keys()) {
      if (state.key != HashOf(id)) continue;
      if (!state.exists) return "gone";
      const TextCell cell = collapse_.Row(state.row)[1];
      if (cell.kind == TextCell::Kind::kUnchanged) return "unchanged";
      return cell.kind == TextCell::Kind::kNull ? "null" : std::string(cell.text);
    }
    return "?";
  }
  const KeyState& StateOf(const std::string& id) {
    for (const KeyState& state : collapse_.keys()) {
      if (state.key == HashOf(id)) return state;
    }
    ADD_FAILURE() << "no key " << id;
    return collapse_.keys()[0];
  }
  Hash128 HashOf(const std::string& id) {
    std::string bytes;
    PutFixed32(bytes, static_cast<uint32_t>(std::stoi(id)));
    return SipHash128(shape_.seed, bytes);
  }

  TableShape shape_;
  Collapse collapse_{&shape_, DivergenceRule::kBlock};
  std::string records_;

 private:
  void Change(ChangeKind kind, const std::string& tuples, uint32_t sub_xid) {
    std::string payload(1, static_cast<char>(kind));
    PutBig32(payload, 16384);
    AppendChange(records_, kind, Xid(sub_xid), payload + tuples);
  }
};

TextCell T(std::string_view text) { return TextCell::Of(text); }

TEST_F(CollapseTest, ManyChangesOfOneKeyLeaveItsLastRow) {
  Insert({T("1"), T("a")});
  Update({T("1"), T("b")});
  Delete({T("1"), TextCell::Null()});
  Insert({T("1"), T("c")});
  Commit(10);
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(collapse_.keys().size(), 1u);
  EXPECT_EQ(Final("1"), "c");
  EXPECT_FALSE(StateOf("1").existed);
  EXPECT_EQ(collapse_.last_commit().end_lsn, Lsn(10));
}

TEST_F(CollapseTest, RowThatComesAndGoesLeavesNothing) {
  Insert({T("1"), T("a")});
  Delete({T("1"), TextCell::Null()});
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(Final("1"), "gone");
  EXPECT_FALSE(StateOf("1").existed);
}

TEST_F(CollapseTest, KeyChangeIsDeleteAndPut) {
  UpdateFromKey({T("1"), TextCell::Null()}, {T("2"), T("moved")});
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(Final("1"), "gone");
  EXPECT_TRUE(StateOf("1").existed);
  EXPECT_EQ(Final("2"), "moved");
  EXPECT_FALSE(StateOf("2").existed);
}

TEST_F(CollapseTest, UnchangedValueComesFromAnEarlierRowOfTheSameEpoch) {
  Insert({T("1"), T("large")});
  Update({T("1"), TextCell::Unchanged()});
  UpdateFromKey({T("1"), TextCell::Null()}, {T("2"), TextCell::Unchanged()});
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(Final("2"), "large");
  EXPECT_FALSE(StateOf("2").has_unchanged);
}

TEST_F(CollapseTest, UnchangedValueOfAnOlderRowNamesTheKeyThatItHadInTheLake) {
  UpdateFromKey({T("1"), TextCell::Null()}, {T("2"), TextCell::Unchanged()});
  UpdateFromKey({T("2"), TextCell::Null()}, {T("3"), TextCell::Unchanged()});
  ASSERT_TRUE(Run().ok());
  EXPECT_TRUE(StateOf("3").has_unchanged);
  EXPECT_EQ(StateOf("3").origin, HashOf("1"));
}

TEST_F(CollapseTest, FullOldTupleGivesUnchangedValues) {
  UpdateFromFull({T("1"), T("old value")}, {T("1"), TextCell::Unchanged()});
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(Final("1"), "old value");
}

TEST_F(CollapseTest, NullsOfAKeyTupleAreNotBelieved) {
  UpdateFromKey({T("1"), TextCell::Null()}, {T("1"), TextCell::Unchanged()});
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(Final("1"), "unchanged");
}

TEST_F(CollapseTest, TruncateForgetsWhatCameBefore) {
  Insert({T("1"), T("a")});
  Truncate();
  Insert({T("1"), T("b")});
  ASSERT_TRUE(Run().ok());
  EXPECT_EQ(collapse_.truncations(), 1);
  EXPECT_EQ(Final("1"), "b");
  EXPECT_FALSE(StateOf("1").existed);
}

TEST_F(CollapseTest, RolledBackSubtransactionsAreLeftOut) {
  Insert({T("1"), T("kept")}, 100);
  Insert({T("2"), T("rolled back")}, 101);
  Commit(5);
  const AbortedXids aborted = {101};
  ASSERT_TRUE(Run(&aborted).ok());
  EXPECT_EQ(Final("1"), "kept");
  EXPECT_EQ(Final("2"), "?");
}

TEST_F(CollapseTest, InsertOfAKeyThatIsThereIsDivergence) {
  Insert({T("1"), T("a")});
  Insert({T("1"), T("b")});
  const absl::Status status = Run();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("public.t"), absl::string_view::npos) << status;
}

TEST_F(CollapseTest, BlockRecordStopsTheTableThere) {
  Insert({T("1"), T("a")});
  AppendChange(records_, ChangeKind::kBlock, Xid(0), "its columns changed");
  EXPECT_EQ(Run().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(CollapseTest, CutRecordIsDataLoss) {
  Insert({T("1"), T("a")});
  records_.resize(records_.size() - 1);
  EXPECT_EQ(Run().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace fjord

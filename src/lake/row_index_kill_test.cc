// The process dies at any moment: between a redo and the map, and within
// every operation of the map.
//
// Two ways. The simulated stop ends the world after the n-th store, for every n, which a kill
// cannot miss but a test that kills at random can. The real one forks and sends SIGKILL.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <ostream>

#include "base/strings.h"
#include "lake/redo.h"
#include "lake/row_index_file.h"
#include "lake/row_index_test_support.h"

namespace fjord {
namespace {

constexpr char kTable[] = "kill-test";
const SnapshotId kParent{1};
const SnapshotId kChild{2};

// The three files of one table.
struct TableFiles {
  explicit TableFiles(const ScopedFolder& folder)
      : rows(folder / "t.rows"), files(folder / "t.files"), redo(folder / "t.redo") {}
  std::string rows;
  std::string files;
  std::string redo;
};

struct OpenTable {
  std::unique_ptr<RowIndex> index;
  std::unique_ptr<FileRegistry> registry;
};

OpenTable CreateTable(const TableFiles& paths, std::span<const IndexChange> content) {
  OpenTable table;
  table.index = *RowIndex::Create(paths.rows, {.seed = {1, 2}, .table_uuid = kTable});
  table.registry = *FileRegistry::Create(paths.files, kParent);
  EXPECT_TRUE(table.index->Apply(content).ok());
  EXPECT_TRUE(table.index->FinishStep({kParent, TimelineId(1), Lsn(1), 1}).ok());
  return table;
}

OpenTable ReopenTable(const TableFiles& paths) {
  auto index = RowIndex::Open(paths.rows);
  if (!index.ok()) {
    ADD_FAILURE() << index.status();
    return {};
  }
  auto registry = FileRegistry::Open(paths.files, (*index)->state().snapshot);
  if (!registry.ok()) {
    ADD_FAILURE() << registry.status();
    return {};
  }
  return {*std::move(index), *std::move(registry)};
}

void WriteRedo(const std::string& path, SnapshotId parent, SnapshotId child, RedoHeader::Base base,
               std::span<const IndexChange> changes) {
  const RedoHeader header{.table_uuid = kTable,
                          .parent = parent,
                          .child = {child, TimelineId(1), Lsn(2), 1},
                          .base = base};
  auto writer = *RedoWriter::Create(path, header);
  RegistryStep step;
  step.added.push_back({.number = FileNumber(static_cast<uint32_t>(child.value)),
                        .path = StrCat("file-", child.value)});
  ASSERT_TRUE(writer->AddFiles(step).ok());
  ASSERT_TRUE(writer->AddChanges(changes).ok());
  ASSERT_TRUE(writer->Finish().ok());
}

// A step over some content, and the content after it.
struct Scenario {
  std::string name;
  std::vector<IndexChange> before;
  RedoHeader::Base base = RedoHeader::Base::kKeep;
  std::vector<IndexChange> step;

  std::vector<IndexChange> Expected() const {
    IndexModel model;
    if (base == RedoHeader::Base::kKeep) ApplyToModel(model, before);
    ApplyToModel(model, step);
    std::vector<IndexChange> entries;
    for (const auto& [key, location] : model) entries.push_back({key, location});
    return entries;
  }
};

void PrintTo(const Scenario& scenario, std::ostream* out) { *out << scenario.name; }

// By key. (A map would take most of the time of these tests.)
std::vector<IndexChange> SortedContent(const RowIndex& index) {
  std::vector<IndexChange> entries;
  index.ForEachEntry(
      [&](const Hash128& key, RowLocation location) { entries.push_back({key, location}); });
  std::sort(entries.begin(), entries.end(),
            [](const IndexChange& a, const IndexChange& b) { return a.key < b.key; });
  return entries;
}

// Keys of one run: the homes of all are within a few slots, at the end of a segment, so the run
// goes around to its front.
Hash128 CrowdedKey(uint64_t n) { return {n, ~uint64_t{0} - (n % 7) * 0x0000'0800'0000'0000}; }

// Puts, moves and removals in one crowded run.
Scenario CrowdedScenario() {
  Scenario s{.name = "CrowdedRun"};
  for (uint32_t n = 0; n < 40; ++n) s.before.push_back({CrowdedKey(n), At(1, n)});
  for (uint32_t n = 0; n < 100; ++n) s.before.push_back({TestKey(n), At(1, n)});
  for (uint32_t n = 0; n < 40; n += 3) s.step.push_back({CrowdedKey(n), kNoRow});
  for (uint32_t n = 1; n < 60; n += 3) s.step.push_back({CrowdedKey(n), At(2, n)});
  for (uint32_t n = 50; n < 120; n += 10)
    s.step.push_back({TestKey(n), n % 20 == 0 ? kNoRow : At(2, n)});
  return s;
}

// The first segment splits: all 512 words of the directory flip.
Scenario SplitScenario() {
  Scenario s{.name = "Split"};
  for (uint32_t n = 0; n < kEntriesPerSegmentMax - 5; ++n)
    s.before.push_back({TestKey(n), At(1, n)});
  for (uint32_t n = 20'000; n < 20'010; ++n) s.step.push_back({TestKey(n), At(2, n)});
  for (uint32_t n = 0; n < 30; n += 10) s.step.push_back({TestKey(n), kNoRow});
  return s;
}

// A segment that is as deep as the directory splits, so the directory doubles before it.
Scenario DoublingScenario() {
  Scenario s{.name = "Doubling"};
  std::mt19937_64 random(1);
  const auto key = [&](uint64_t first_ten_bits) {
    return Hash128{random(), first_ten_bits << 54 | random() >> 10};
  };
  for (uint32_t n = 0; n < kEntriesPerSegmentMax - 5; ++n)
    s.before.push_back({key(0x154), At(1, n)});
  for (uint32_t n = 0; n < 100; ++n) s.before.push_back({key(0x155), At(1, n)});
  for (uint32_t n = 0; n < 10; ++n) s.step.push_back({key(0x154), At(2, n)});
  return s;
}

// TRUNCATE with rows after it.
Scenario ClearScenario() {
  Scenario s{.name = "Clear", .base = RedoHeader::Base::kClear};
  for (uint32_t n = 0; n < 12'000; ++n) s.before.push_back({TestKey(n), At(1, n)});
  for (uint32_t n = 11'990; n < 12'010; ++n) s.step.push_back({TestKey(n), At(2, n)});
  return s;
}

// Runs `work` and says whether it came to its end before the fuse did.
template <class Work>
bool Survives(Work work) {
  try {
    work();
    return true;
  } catch (const StoppedForTest&) {
    return false;
  }
}

class StopAfterEveryStore : public testing::TestWithParam<Scenario> {};

TEST_P(StopAfterEveryStore, TheRedoAppliedAgainGivesTheChild) {
  const Scenario& scenario = GetParam();
  const ScopedFolder folder(MemoryFolder());
  const TableFiles paths(folder);
  const std::vector<IndexChange> expected = scenario.Expected();
  CreateTable(paths, scenario.before);
  WriteRedo(paths.redo, kParent, kChild, scenario.base, scenario.step);
  for (const std::string& path : {paths.rows, paths.files})
    std::filesystem::copy_file(path, path + ".saved");

  uint64_t stop = 0;
  for (bool finished = false; !finished; ++stop) {
    for (const std::string& path : {paths.rows, paths.files}) {
      std::filesystem::copy_file(path + ".saved", path,
                                 std::filesystem::copy_options::overwrite_existing);
    }
    {
      OpenTable table = ReopenTable(paths);
      table.index->file_for_test().StopAfter(stop);
      finished =
          Survives([&] { ASSERT_TRUE(ApplyRedo(paths.redo, *table.index, *table.registry).ok()); });
    }
    // The repair is killed too, at some store of its own, before it may finish.
    OpenTable table = ReopenTable(paths);
    ASSERT_NE(table.index, nullptr) << "stopped after store " << stop;
    if (table.index->state().snapshot == kParent) {
      table.index->file_for_test().StopAfter(stop % 50);
      Survives([&] { ApplyRedo(paths.redo, *table.index, *table.registry).IgnoreError(); });
      table = {};
      table = ReopenTable(paths);
      ASSERT_NE(table.index, nullptr) << "stopped after store " << stop;
    }
    ASSERT_TRUE(ApplyRedo(paths.redo, *table.index, *table.registry).ok())
        << "stopped after store " << stop;
    ASSERT_EQ(table.index->state(), (IndexState{kChild, TimelineId(1), Lsn(2), 1}))
        << "stopped after store " << stop;
    ASSERT_EQ(table.index->interrupted_step(), std::nullopt) << "stopped after store " << stop;
    ASSERT_EQ(table.registry->snapshot(), kChild);
    ASSERT_NE(table.registry->FindPath("file-2"), nullptr);
    ASSERT_TRUE(table.index->file_for_test().Verify().ok()) << "stopped after store " << stop;
    ASSERT_TRUE(SortedContent(*table.index) == expected) << "stopped after store " << stop;
  }
  EXPECT_GT(stop, 40u);
}

INSTANTIATE_TEST_SUITE_P(Scenarios, StopAfterEveryStore,
                         testing::Values(CrowdedScenario(), SplitScenario(), DoublingScenario(),
                                         ClearScenario()),
                         [](const auto& info) { return info.param.name; });

// One step after another in a child process that is killed again and again. What the parent knows
// is the list of steps; all steps count as committed.
class KillLoop {
 public:
  explicit KillLoop(const TableFiles& paths) : paths_(paths) {}

  // The step that leads to `child`; the same in every process.
  static std::vector<IndexChange> StepTo(SnapshotId child) {
    std::mt19937_64 random(static_cast<uint64_t>(child.value));
    return RandomChanges(random, 3'000, 40'000, child.value % 7 < 4 ? 10 : 60);
  }

  // What a process does: repair, then steps until it is killed.
  [[noreturn]] void Run() const {
    OpenTable table = ReopenTable(paths_);
    if (!table.index || !Repair(table)) _exit(1);
    while (true) {
      const SnapshotId parent = table.index->state().snapshot;
      const SnapshotId child(parent.value + 1);
      WriteRedo(paths_.redo, parent, child, RedoHeader::Base::kKeep, StepTo(child));
      if (!Repair(table)) _exit(1);
    }
  }

  bool Repair(OpenTable& table) const {
    const auto redo = ReadRedoHeader(paths_.redo);
    if (redo.ok()) {
      const auto outcome = ApplyRedo(paths_.redo, *table.index, *table.registry);
      if (!outcome.ok()) return false;
    } else if (table.index->interrupted_step()) {
      return false;
    }
    return RemoveRedo(paths_.redo).ok();
  }

 private:
  TableFiles paths_;
};

TEST(RowIndexKill, AProcessThatIsKilledAgainAndAgainLosesNothing) {
  const ScopedFolder folder(MemoryFolder());
  const TableFiles paths(folder);
  CreateTable(paths, {});
  const KillLoop loop(paths);
  IndexModel model;
  int64_t modelled = kParent.value;
  std::mt19937_64 random(11);
  for (int kills = 0; kills < 60; ++kills) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) loop.Run();
    usleep(static_cast<useconds_t>(1'000 + random() % 30'000));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child gave up by itself after " << kills << " kills";

    OpenTable table = ReopenTable(paths);
    ASSERT_NE(table.index, nullptr);
    ASSERT_TRUE(loop.Repair(table));
    for (; modelled < table.index->state().snapshot.value; ++modelled) {
      ApplyToModel(model, KillLoop::StepTo(SnapshotId(modelled + 1)));
    }
    ExpectEqualsModel(*table.index, model);
    ASSERT_EQ(table.registry->snapshot(), table.index->state().snapshot);
  }
  EXPECT_GT(modelled, 10);
}

}  // namespace
}  // namespace fjord

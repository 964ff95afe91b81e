#include "base/kill_point.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <string>

#include "base/strings.h"

namespace fjord {
namespace {

struct Plan {
  std::string step;
  int at = 1;
};

const Plan* LoadPlan() {
  const char* text = std::getenv("FJORD_TEST_KILL_AT");
  if (text == nullptr || *text == '\0') return nullptr;
  static Plan plan;
  const std::string_view view(text);
  const size_t colon = view.find(':');
  plan.step = view.substr(0, colon);
  if (colon != std::string_view::npos) plan.at = ParseInt<int>(view.substr(colon + 1)).value_or(1);
  return &plan;
}

}  // namespace

void KillPoint(std::string_view step) {
  static const Plan* const plan = LoadPlan();
  if (plan == nullptr || plan->step != step) return;
  static std::atomic<int> reached{0};
  if (++reached == plan->at) std::raise(SIGKILL);
}

}  // namespace fjord

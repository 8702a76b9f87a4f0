#include "data/sacct/node_outages.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "env/base/check.hpp"

namespace berth {
namespace {

constexpr double kForEver = 1e11;     // s; for a drain without end, of which nobody is stopped
constexpr double kDrainGone = 0.001;  // s

bool Has(const std::string& state, const char* word) {
  return state.find(word) != std::string::npos;
}

}  // namespace

bool IsDown(std::string_view state) {
  return state.starts_with("DOWN") || state.find("+DOWN") != std::string_view::npos;
}

NodeOutages OutagesOf(const std::vector<NodeEvent>& events, const std::vector<SlurmNode>& nodes,
                      double origin) {
  std::map<std::string, std::pair<const SlurmNode*, int>> place;  // which of its type
  std::map<std::string, int> of_type;
  for (const SlurmNode& node : nodes) place[node.name] = {&node, of_type[node.type]++};
  NodeOutages found;
  for (const NodeEvent& event : events) {
    const double start = std::max(0.0, event.start - origin);
    const double end = event.end - origin;
    // DRAIN, DRNG and FAIL, FAILG as sacctmgr writes them: what runs there runs on, also where a node is
    // expected to FAIL.
    const bool down = IsDown(event.state);
    const bool drained =
        !down && (Has(event.state, "DRAIN") || Has(event.state, "DRNG") || Has(event.state, "FAIL") ||
                  Has(event.state, "MAINT") || Has(event.state, "DOWN"));
    if (nodes.empty()) {
      ++found.unplaced;
    } else if (place.count(event.node) == 0) {
      ++found.unknown;
    } else if ((!down && !drained) || end <= start + kDrainGone) {
      ++found.irrelevant;
    } else {
      ++(down ? found.down : found.drained);
      const double gone = down ? start : std::isinf(end) ? kForEver : end - kDrainGone;
      const auto& [node, number] = place[event.node];
      found.text += Join(found.text.empty() ? "" : "|", gone, ":", std::isinf(end) ? 10 * kForEver : end,
                         event.gpu < 0 ? ":node:" : ":gpu:", node->type, "/",
                         event.gpu < 0 ? number : number * node->gpus + event.gpu);
      if (!down) found.text += Join(":", gone - start);
    }
  }
  return found;
}

}  // namespace berth

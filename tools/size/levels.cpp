#include "tools/size/levels.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "env/base/check.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

constexpr double kPercent = 0.01;

Level ParseLevel(const std::string& text) {
  const std::size_t at = text.find('=');
  const bool sign = at != std::string::npos && at > 0 && (text[at - 1] == '<' || text[at - 1] == '>');
  if (!sign) throw Error(Join("expected FIGURE<=NUMBER or FIGURE>=NUMBER, found '", text, "'"));
  const std::string name = Trim(text.substr(0, at - 1));
  std::string bound = Trim(text.substr(at + 1));
  Level level{NamedMetric(name), text[at - 1] == '<', 0.0, text};
  const bool percent = bound.ends_with('%');
  const std::string key = level.metric.field->key;
  const bool time = level.metric.unit == 3600.0 || key.ends_with("_s") || key.ends_with("_h");
  if (percent && time) throw Error(Join(name, ": expected a number without %, found '", bound, "'"));
  if (!percent && level.metric.unit == kPercent)
    throw Error(Join(name, ": expected a share with its sign, such as 1%, found '", bound, "'"));
  if (percent) bound = Trim(bound.substr(0, bound.size() - 1));
  level.bound = ParseNumber(bound, name) * (percent ? kPercent : level.metric.unit);
  return level;
}

}  // namespace

std::vector<Level> ParseLevels(const std::string& text) {
  std::vector<Level> levels;
  for (const std::string& part : SplitOutsideParentheses(text, ';')) levels.push_back(ParseLevel(part));
  if (levels.empty()) throw Error(Join("expected FIGURE<=NUMBER, found '", text, "'"));
  return levels;
}

MoreGpus EffectOfMoreGpus(const Level& level) {
  constexpr std::string_view kEither[] = {
      "cost",          "electricity_cost",  "energy_kwh",       "interruptions_per_job",
      "lost_work_h",   "service_gpu_hours", "restarts_per_job", "dropped_entries",
      "fragmentation", "spread_starts",     "unplaced_orders"};
  constexpr std::string_view kShareOfGpus[] = {"utilization", "hpc_utilization"};
  const auto among = [&](const auto& keys) {
    return std::find(std::begin(keys), std::end(keys), level.metric.field->key) != std::end(keys);
  };
  if (among(kEither)) return MoreGpus::kEither;
  const bool rises = MoreIsBetter(*level.metric.field) && !among(kShareOfGpus);
  return rises == level.at_most ? MoreGpus::kHarm : MoreGpus::kHelp;
}

}  // namespace berth

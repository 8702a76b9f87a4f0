// Planned outages and logs of failures: rows of text to GPUs (failures.hpp).
#include <algorithm>
#include <fstream>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/readable.hpp"
#include "env/base/shortest.hpp"
#include "env/base/spec.hpp"
#include "env/features/failures/failures.hpp"
#include "env/sim/physical_gpus.hpp"
#include "env/sim/scenario.hpp"

namespace berth {
namespace {

// "v100/3" of `kind` to GPUs [first, last).
void FindGpus(const FailureSettings& settings, const ScenarioData& scenario, const std::string& kind,
              const std::string& name, const std::string& where, PlannedOutage& into) {
  static const std::vector<std::string> kKinds = {"gpu", "node", "rack"};
  if (kind != "gpu" && kind != "node" && kind != "rack") {
    throw Error(
        Join(where, ": kind: expected gpu, node or rack, found '", kind, "'", DidYouMean(kind, kKinds)));
  }
  const std::size_t slash = name.find('/');
  std::vector<std::string> known;
  int first = 0;
  for (int g = 0; g < static_cast<int>(scenario.cluster.types.size()); ++g) {
    const GpuType& type = scenario.cluster.types[U(g)];
    const int whole = PartOf(scenario, g).whole;
    const bool named = slash != std::string::npos && name.substr(0, slash) == type.name;
    if (whole != g) {
      if (!named) continue;
      const std::string& gpu = scenario.cluster.types[U(whole)].name;
      throw Error(Join(where, ": '", name, "' is a slice: expected its GPU, ", gpu, "/NUMBER"));
    }
    known.push_back(type.name);
    if (!named) {
      first += type.count;
      continue;
    }
    const int unit = kind == "gpu"    ? 1
                     : kind == "node" ? type.gpus_per_node
                                      : GpusPerRack(settings, scenario, g);
    const int units = (type.count - 1) / unit + 1;
    const long long index = ParseInteger(name.substr(slash + 1), where + ": name");
    if (index < 0 || index >= units) {
      throw Error(Join(where, ": unknown ", kind, " '", name, "': ", type.name, " has ", type.name, "/0 to ",
                       type.name, "/", units - 1));
    }
    into.first = first + static_cast<int>(index) * unit;
    into.last = std::min(into.first + unit, first + type.count);
    return;
  }
  throw Error(Join(where, ": unknown ", kind, " '", name, "': expected TYPE/NUMBER",
                   DidYouMean(name.substr(0, slash), known)));
}

void AddRow(const std::vector<std::string>& cells, std::string& events) {
  if (!events.empty()) events += '|';
  for (std::size_t k = 0; k < cells.size(); ++k) events += (k > 0 ? ":" : "") + cells[k];
}

}  // namespace

void FailureSettings::Load() {
  if (log.empty() || !events.empty()) return;
  try {
    CheckReadable(log);
  } catch (const Error& error) {
    throw Error(Join("feature 'failures': log: ", error.what()));
  }
  std::ifstream file(log);
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::vector<std::string> cells = SplitOutsideParentheses(line, ',');
    if (cells.empty() || cells[0].front() == '#' || (events.empty() && cells[0] == "down_s")) continue;
    const std::string where = Join(log, ":", number);
    if (cells.size() != 4 && cells.size() != 5) {
      throw Error(
          Join(where, ": expected down_s,up_s,kind,name[,notice_s], found ", cells.size(), " columns"));
    }
    for (const std::size_t k : {0, 1, 4}) {
      if (k < cells.size()) ParseNumber(cells[k], Join(where, ": column ", k + 1));
    }
    if (line.find_first_of("|:;()=") != std::string::npos) {
      throw Error(Join(where, ": expected none of |:;()= , found '", line, "'"));
    }
    AddRow(cells, events);
  }
  if (events.empty()) throw Error(Join("feature 'failures': log: ", log, " has no rows"));
}

std::shared_ptr<const FeatureSettings> FailureSettings::OfJobs(const JobTable&, double origin_s) const {
  if (origin_s == 0.0 || events.empty()) return nullptr;
  auto kept = std::make_shared<FailureSettings>(*this);
  kept->log.clear();  // its rows are no longer those of the file
  kept->events.clear();
  for (const std::string& row : SplitOutsideParentheses(events, '|')) {
    std::vector<std::string> cells = SplitOutsideParentheses(row, ':');
    const double up = ParseNumber(cells[1], "events") - origin_s;
    if (up <= 0.0) continue;
    cells[0] = InWords(std::max(0.0, ParseNumber(cells[0], "events") - origin_s));
    cells[1] = InWords(up);
    AddRow(cells, kept->events);
  }
  return kept;
}

std::vector<PlannedOutage> PlannedOutages(const FailureSettings& settings, const ScenarioData& scenario) {
  std::vector<PlannedOutage> outages;
  if (settings.events.empty()) return outages;
  const std::string source = settings.log.empty() ? "feature 'failures': events" : settings.log;
  for (const std::string& row : SplitOutsideParentheses(settings.events, '|')) {
    const std::vector<std::string> cells = SplitOutsideParentheses(row, ':');
    const std::string where = Join(source, ": outage '", row, "'");
    if (cells.size() != 4 && cells.size() != 5)
      throw Error(Join(where, ": expected down:up:kind:name[:notice], found ", cells.size(), " parts"));
    PlannedOutage outage;
    outage.down = ParseNumber(cells[0], where + ": down");
    outage.up = ParseNumber(cells[1], where + ": up");
    if (cells.size() == 5) outage.notice = ParseNumber(cells[4], where + ": notice");
    if (!(outage.down >= 0.0) || outage.down > 1e12 || !(outage.up > outage.down)) {
      throw Error(Join(where, ": expected 0 <= down < up seconds, found ", outage.down, " and ", outage.up));
    }
    if (!(outage.notice >= 0.0))
      throw Error(Join(where, ": expected a notice >= 0 s, found ", outage.notice));
    outage.notice = std::min(outage.notice, outage.down);
    FindGpus(settings, scenario, cells[2], cells[3], where, outage);
    outages.push_back(outage);
  }
  return outages;
}

}  // namespace berth

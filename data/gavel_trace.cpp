// Gavel's trace format (parse_trace in its utils.py) and its two relatives: tab-separated columns, no header,
// told apart by how many there are.
//   10, as the reference reads and writes: job_type, command, working_directory, num_steps_arg,
//       needs_data_dir, total_steps, scale_factor, priority_weight, SLO (-1 = none), arrival_time (s)
//    7, its traces_msr (drawn from Microsoft's Philly log): job_type, command, num_steps_arg, needs_data_dir,
//       total_steps, arrival_time, scale_factor
//   12, Shockwave's (Zheng et al., NSDI 2023): the ten with a mode (static, accordion, gns: the last two
//       change the batch size as training goes) after scale_factor and the duration (s) before the arrival.
//       Steps and speeds are of their own measurements (throughputs/shockwave.csv).
#include <algorithm>
#include <string_view>
#include <vector>

#include "data/batch_changes.hpp"
#include "data/text_file.hpp"
#include "data/throughputs.hpp"
#include "data/workload_list.hpp"
#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/base/shortest.hpp"
#include "env/features/table.hpp"

namespace berth {
namespace {

constexpr std::size_t kNone = 0;  // the column of job_type, which every layout has

struct Layout {
  std::size_t columns, steps, gang, weight, slo, arrival, mode;
};
constexpr Layout kLayouts[] = {
    {10, 5, 6, 7, 8, 9, kNone}, {7, 4, 6, kNone, kNone, 5, kNone}, {12, 5, 6, 8, 9, 11, 7}};

std::vector<std::string> SplitTabs(const std::string& line) {
  std::vector<std::string> fields(1);
  for (char c : line) {
    if (c == '\t') {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

// Of the first line; the others must be like it.
const Layout& LayoutOf(const std::string& line, const std::string& where) {
  const std::size_t found = SplitTabs(line).size();
  for (const Layout& layout : kLayouts) {
    if (layout.columns == found) return layout;
  }
  throw Error(
      Join(where, ": expected 10 tab-separated columns (7 in traces_msr, 12 in Shockwave's), found ", found));
}

void CheckMode(const std::string& mode, const std::string& where) {
  if (mode != "static" && mode != "accordion" && mode != "gns")
    throw Error(Join(where, ": mode: expected static, accordion or gns, found '", mode, "'"));
}

class Reader {
 public:
  Reader(const std::string& path, const ScenarioSettings& settings)
      : file_(path), data_(BaseScenario(settings, path.substr(path.find_last_of('/') + 1), path)) {}

  Scenario Read(const std::string& path, const ScenarioSettings& settings) {
    std::string line;
    const Layout* layout = nullptr;
    while (file_.Next(line)) {
      if (line.empty()) continue;
      if (layout == nullptr) {
        layout = &LayoutOf(line, file_.Where());
        data_.throughputs = layout->mode == kNone ? PublishedThroughputs(data_.cluster)
                                                  : ShockwaveThroughputs().Table(data_.cluster);
      }
      ReadLine(line, *layout);
      lines_.push_back(file_.number());
    }
    if (lines_.empty()) throw Error(Join(path, ": expected a job a line, found no lines"));
    if (changing_ > 0) AddChanges();
    Scenario log(std::move(data_),
                 [&](int job) { return Join(path, ":", lines_[static_cast<std::size_t>(job)]); });
    return FromOrigin(std::move(log), settings, path);
  }

 private:
  // Unless the user says otherwise, and where the clock has times between its rounds.
  void AddChanges() {
    constexpr const char* kFeature = "batch_schedule";
    const bool timed = data_.clock.kind == ClockKind::kEvent || data_.clock.kind == ClockKind::kRounds;
    data_.provenance += Join("; ", changing_, " of ", lines_.size(), " jobs change their batch size");
    if (!timed) {
      data_.provenance += Join(" in the original, under the clock ", data_.clock.ToString(),
                               " they keep the first (under event and rounds they do not)");
    }
    const std::span<const Features::On> on = data_.features.on();
    const bool said = std::any_of(on.begin(), on.end(), [](const Features::On& its) {
      return std::string_view(its.module->name) == kFeature;
    });
    if (!timed || said || changes_.empty()) return;
    const std::string others = ToString(data_.features);
    data_.features =
        ParseFeatures(Join(others, others.empty() ? "" : ";", kFeature, "(changes=", changes_, ")"));
  }

  void ReadLine(const std::string& line, const Layout& layout) {
    const std::string where = file_.Where();
    const std::vector<std::string> fields = SplitTabs(line);
    if (fields.size() != layout.columns) {
      throw Error(
          Join(where, ": expected ", layout.columns, " tab-separated columns, found ", fields.size()));
    }
    JobTable& jobs = data_.jobs;
    const int job_type = JobTypeIndex(data_.throughputs, fields[0], where);
    const long long steps = ParseInteger(fields[layout.steps], where + ": total_steps");
    const long long gang = ParseInteger(fields[layout.gang], where + ": scale_factor");
    const double arrival = ParseNumber(fields[layout.arrival], where + ": arrival_time");
    double weight = 1.0, slo = -1.0;
    if (layout.weight != kNone) weight = ParseNumber(fields[layout.weight], where + ": priority_weight");
    if (layout.slo != kNone) slo = ParseNumber(fields[layout.slo], where + ": SLO");
    if (steps < 1) throw Error(Join(where, ": total_steps: expected at least 1, found ", steps));
    if (!(slo > 0.0) && slo != -1.0) {
      throw Error(Join(where, ": SLO: expected a factor above 0 or -1 for none, found ", slo));
    }
    const std::vector<int>& sizes = data_.throughputs.gang_sizes;
    if (std::find(sizes.begin(), sizes.end(), gang) == sizes.end()) {
      throw Error(Join(where, ": scale_factor: expected 1, 2, 4 or 8 GPUs, found ", gang));
    }
    if (layout.mode != kNone) {
      const std::string& mode = fields[layout.mode];
      CheckMode(mode, where);
      changing_ += mode != "static";
      for (const BatchChange& change :
           BatchChanges(fields[0], static_cast<int>(gang), mode, static_cast<double>(steps)))
        changes_ +=
            Join(changes_.empty() ? "" : ":", jobs.size(), ">", Shortest(change.steps), ">", change.batch);
    }
    jobs.id.push_back(jobs.size());
    jobs.arrival.push_back(arrival);
    jobs.job_type.push_back(job_type);
    jobs.gang.push_back(static_cast<int>(gang));
    jobs.total_steps.push_back(static_cast<double>(steps));
    jobs.weight.push_back(weight);
    // The deadline counts from the arrival, in run times alone on V100s.
    const double rate = layout.mode == kNone ? V100Rate(job_type, static_cast<int>(gang))
                                             : ShockwaveV100Rate(job_type, static_cast<int>(gang));
    jobs.deadline.push_back(slo > 0.0 && rate > 0.0 ? arrival + slo * static_cast<double>(steps) / rate
                                                    : kNever);
  }

  TextFile file_;
  ScenarioData data_;
  std::vector<int> lines_;  // of each job
  int changing_ = 0;        // jobs whose batch size changes
  std::string changes_;     // as the feature reads them
};

Scenario ReadGavelTrace(const std::string& path, const ScenarioSettings& settings) {
  if (settings.cluster.types.empty())
    throw Error(Join(path, ": a trace says nothing of its cluster: give --cluster"));
  return Reader(path, settings).Read(path, settings);
}

}  // namespace

FormatInfo GavelFormatInfo() {
  return {"gavel",
          "the reference's traces (10 tab-separated columns, 7 in traces_msr) and Shockwave's (12)",
          "Narayanan et al., OSDI 2020; Zheng et al., NSDI 2023",
          {ClockKind::kReferenceRounds, 360.0},
          ReadGavelTrace};
}

}  // namespace berth

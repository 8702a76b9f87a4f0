#include "tools/like/check.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "data/like/workload.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

constexpr double kHour = 3600.0, kWeek = 168.0 * kHour;
constexpr double kEarlier = 0.75;  // of the time

// One stretch of jobs, times from its begin.
struct Stretch {
  const ScenarioData& data;
  std::size_t begin, end;  // of its jobs
  double from, length;     // s

  std::size_t size() const { return end - begin; }
};

std::vector<double> Gaps(const Stretch& jobs) {
  std::vector<double> gaps;
  const std::vector<double>& arrival = jobs.data.jobs.arrival;
  for (std::size_t i = jobs.begin + 1; i < jobs.end; ++i) gaps.push_back(arrival[i] - arrival[i - 1]);
  return gaps;
}

std::vector<double> HourlyCounts(const Stretch& jobs) {
  std::vector<double> counts(static_cast<std::size_t>(std::max(1.0, std::floor(jobs.length / kHour))), 0.0);
  for (std::size_t i = jobs.begin; i < jobs.end; ++i) {
    const double hour = std::floor((jobs.data.jobs.arrival[i] - jobs.from) / kHour);
    if (hour >= 0.0 && hour < static_cast<double>(counts.size()))
      counts[static_cast<std::size_t>(hour)] += 1.0;
  }
  return counts;
}

std::vector<double> RunTimes(const Stretch& jobs) {
  std::vector<double> seconds;
  for (std::size_t i = jobs.begin; i < jobs.end; ++i) seconds.push_back(LikeRunSeconds(jobs.data, i));
  return seconds;
}

std::vector<double> GpuSeconds(const Stretch& jobs) {
  std::vector<double> seconds = RunTimes(jobs);
  const JobTable& table = jobs.data.jobs;
  for (std::size_t i = jobs.begin; i < jobs.end; ++i)
    seconds[i - jobs.begin] *= table.gang[i] * (table.gpu_milli.empty() ? 1.0 : table.gpu_milli[i] / 1000.0);
  return seconds;
}

std::vector<double> Limits(const Stretch& jobs) {
  std::vector<double> limits;
  const std::vector<double>& requested = jobs.data.jobs.requested_s;
  for (std::size_t i = jobs.begin; i < jobs.end && !requested.empty(); ++i) {
    if (requested[i] > 0.0) limits.push_back(requested[i]);
  }
  return limits;
}

// What each job counts as, in order.
std::vector<std::string> Gpus(const Stretch& jobs) {
  std::vector<std::string> names;
  const JobTable& table = jobs.data.jobs;
  for (std::size_t i = jobs.begin; i < jobs.end; ++i) {
    const int milli = table.gpu_milli.empty() ? 1000 : table.gpu_milli[i];
    names.push_back(milli == 1000 ? Join(table.gang[i]) : Join(table.gang[i] * milli / 1000.0));
  }
  return names;
}

std::vector<std::string> Users(const Stretch& jobs) {
  std::vector<std::string> names;
  const std::vector<int>& tenant = jobs.data.jobs.tenant;
  for (std::size_t i = jobs.begin; i < jobs.end && !tenant.empty(); ++i)
    names.push_back(jobs.data.tenants[static_cast<std::size_t>(tenant[i])].name);
  return names;
}

std::vector<std::string> Types(const Stretch& jobs) {
  std::vector<std::string> names;
  for (std::size_t i = jobs.begin; i < jobs.end; ++i)
    names.push_back(jobs.data.throughputs.job_types[static_cast<std::size_t>(jobs.data.jobs.job_type[i])]);
  return names;
}

// The lengths of runs of jobs of one user, type and number of GPUs that come one after the other.
std::vector<std::string> Runs(const Stretch& jobs) {
  const std::vector<std::string> gpus = Gpus(jobs), users = Users(jobs), types = Types(jobs);
  std::vector<std::string> lengths;
  for (std::size_t i = 0, begin = 0; i < gpus.size(); ++i) {
    const bool last = i + 1 == gpus.size() || gpus[i] != gpus[i + 1] || types[i] != types[i + 1] ||
                      (!users.empty() && users[i] != users[i + 1]);
    if (!last) continue;
    const std::size_t length = i + 1 - begin;
    lengths.push_back(length <= 3    ? Join(length)
                      : length <= 7  ? "4 to 7"
                      : length <= 15 ? "8 to 15"
                      : length <= 63 ? "16 to 63"
                                     : "64 and more");
    begin = i + 1;
  }
  return lengths;
}

// Each against the later stretch; the drawn ones taken together.
class Columns {
 public:
  Columns(const Stretch& earlier, const Stretch& later, const std::vector<Stretch>& drawn)
      : earlier_(earlier), later_(later), drawn_(drawn) {}

  void Numbers(const char* name, const std::function<std::vector<double>(const Stretch&)>& of) {
    LikeColumn column{name, {}, of(earlier_), of(later_), {}, {}, {}};
    for (const Stretch& drawn : drawn_) {
      const std::vector<double> its = of(drawn);
      column.drawn.insert(column.drawn.end(), its.begin(), its.end());
    }
    if (column.earlier.empty() || column.later.empty() || column.drawn.empty()) return;
    column.of_drawn = KolmogorovSmirnov(column.drawn, column.later);
    column.of_earlier = KolmogorovSmirnov(column.earlier, column.later);
    Add(std::move(column));
  }
  // Left out where all jobs are of one category.
  void Counts(const char* name, const std::function<std::vector<std::string>(const Stretch&)>& of) {
    std::map<std::string, std::array<double, 3>> counts;
    for (const std::string& category : of(earlier_)) counts[category][0] += 1.0;
    for (const std::string& category : of(later_)) counts[category][1] += 1.0;
    for (const Stretch& drawn : drawn_) {
      for (const std::string& category : of(drawn)) counts[category][2] += 1.0;
    }
    double drawn = 0.0;
    for (const auto& [category, its] : counts) drawn += its[2];
    if (counts.size() < 2 || drawn == 0.0) return;
    LikeColumn column;
    column.name = name;
    for (const auto& [category, its] : counts) {
      column.categories.push_back(category);
      column.earlier.push_back(its[0]), column.later.push_back(its[1]), column.drawn.push_back(its[2]);
    }
    column.of_drawn = ChiSquare(column.drawn, column.later);
    column.of_earlier = ChiSquare(column.earlier, column.later);
    Add(std::move(column));
  }
  std::vector<LikeColumn> Take() { return std::move(columns_); }

 private:
  void Add(LikeColumn column) {
    column.verdict = Judge(column.of_drawn, column.of_earlier);
    columns_.push_back(std::move(column));
  }
  const Stretch &earlier_, &later_;
  const std::vector<Stretch>& drawn_;
  std::vector<LikeColumn> columns_;
};

// The last quarter, in whole weeks where there are two of them.
double SplitAt(double span) {
  const double weeks = std::floor(span / kWeek);
  if (weeks < 2.0) return kEarlier * span;
  return (weeks - std::max(1.0, std::floor((1.0 - kEarlier) * weeks))) * kWeek;
}

}  // namespace

const char* ToString(LikeVerdict verdict) {
  constexpr const char* kNames[] = {"same", "close", "drift", "differs"};
  return kNames[static_cast<int>(verdict)];
}

LikeVerdict Judge(const TwoSample& drawn, const TwoSample& earlier) {
  if (drawn.p >= kLikeLevel) return LikeVerdict::kSame;
  if (drawn.distance <= kLikeClose) return LikeVerdict::kClose;
  return drawn.distance <= kLikeDrift * earlier.distance ? LikeVerdict::kDrift : LikeVerdict::kDiffers;
}

int LikeCheck::passed() const {
  return static_cast<int>(std::count_if(columns.begin(), columns.end(), [](const LikeColumn& column) {
    return column.verdict != LikeVerdict::kDiffers;
  }));
}

LikeCheck CheckLike(const Scenario& scenario, std::uint64_t seed, int draws) {
  const ScenarioData& data = scenario.data();
  const std::vector<double>& arrival = data.jobs.arrival;
  const double first = arrival.empty() ? 0.0 : arrival.front(),
               span = arrival.empty() ? 0.0 : arrival.back() - first;
  LikeCheck check;
  check.name = data.name, check.draws = draws;
  check.split_s = SplitAt(span);
  const double weeks = std::floor(span / kWeek);
  const double end = weeks < 2.0 ? span : weeks * kWeek;
  check.later_s = end - check.split_s;
  const auto until = [&](double time) {
    return static_cast<std::size_t>(std::lower_bound(arrival.begin(), arrival.end(), first + time) -
                                    arrival.begin());
  };
  const std::size_t split = until(check.split_s), last = weeks < 2.0 ? arrival.size() : until(end);
  if (split < 2 || last < split + 2 || arrival[0] == arrival[split - 1])
    throw Error(Join(data.name,
                     ": expected a log of which the first weeks have jobs and the last ones too, found ",
                     arrival.size(), " jobs within ", span / kHour, " h"));
  check.earlier_jobs = static_cast<int>(split), check.later_jobs = static_cast<int>(last - split);
  const LikeModel model = FitLike(Slice(scenario, 0, check.earlier_jobs));
  ScenarioSettings settings;
  settings.cluster = data.cluster, settings.clock = data.clock;
  const LikeSource source(model, 1.0, 1, settings, "check");
  std::vector<Scenario> scenarios;
  std::vector<Stretch> drawn;
  for (int i = 0; i < draws; ++i)
    scenarios.push_back(source.MakeUntil(seed, static_cast<std::uint32_t>(i), check.later_s));
  for (const Scenario& its : scenarios) {
    drawn.push_back({its.data(), 0, static_cast<std::size_t>(its.num_jobs()), 0.0, check.later_s});
    check.drawn_jobs += its.num_jobs();
  }
  const Stretch earlier{data, 0, split, first, check.split_s};
  const Stretch later{data, split, last, first + check.split_s, check.later_s};
  Columns columns(earlier, later, drawn);
  columns.Numbers("time between arrivals, s", Gaps);
  columns.Numbers("arrivals in an hour", HourlyCounts);
  columns.Counts("GPUs", Gpus);
  columns.Numbers("run time, s", RunTimes);
  columns.Numbers("GPU-seconds", GpuSeconds);
  columns.Numbers("limit, s", Limits);
  columns.Counts("users", Users);
  columns.Counts("job types", Types);
  columns.Counts("jobs in a row alike", Runs);
  check.columns = columns.Take();
  return check;
}

}  // namespace berth

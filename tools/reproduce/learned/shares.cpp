#include "tools/reproduce/learned/shares.hpp"

#include <algorithm>
#include <numeric>

#include "env/base/index.hpp"

namespace berth {
namespace {

std::vector<double> Ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  const double last = values.size() > 1 ? static_cast<double>(values.size() - 1) : 1.0;
  for (std::size_t i = 0; i < order.size(); ++i) ranks[order[i]] = static_cast<double>(i) / last;
  return ranks;
}

std::vector<int> Thirds(const std::vector<double>& ranks) {
  std::vector<int> thirds;
  for (const double rank : ranks)
    thirds.push_back(std::min(static_cast<int>(kJobClasses) - 1, static_cast<int>(rank * kJobClasses)));
  return thirds;
}

}  // namespace

JobClasses ClassifyJobs(const Scenario& scenario) {
  std::vector<double> advantage, size;
  for (int job = 0; job < scenario.num_jobs(); ++job) {
    double slowest = scenario.BestRate(job);
    for (int type = 0; type < scenario.num_types(); ++type) {
      const double rate = scenario.Rate(job, type);
      if (rate > 0.0) slowest = std::min(slowest, rate);
    }
    advantage.push_back(scenario.BestRate(job) / slowest);
    size.push_back(scenario.data().jobs.total_steps[U(job)] / scenario.BestRate(job));
  }
  JobClasses classes;
  classes.advantage_rank = Ranks(advantage), classes.size_rank = Ranks(size);
  classes.advantage = Thirds(classes.advantage_rank), classes.size = Thirds(classes.size_rank);
  return classes;
}

GpuHours HoursByClass(const RunRecord& record, const Scenario& scenario, const std::vector<int>& third) {
  GpuHours hours(U(scenario.num_types()));
  for (const RunRecord::Span& span : record.spans) {
    const double seconds = std::min(span.end_s, record.end_s) - span.begin_s;
    for (const std::int32_t device : record.Devices(span)) {
      hours[U(scenario.TypeOfDevice(device))][U(third[U(span.job)])] += seconds / 3600.0;
    }
  }
  return hours;
}

}  // namespace berth

// Fits a LikeModel to a log: each part by counting, none by search beyond a grid.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <tuple>

#include "data/like/fit_memory.hpp"
#include "data/like/model.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

constexpr double kDay = 24.0 * LikeModel::kHour;
constexpr std::size_t kLeastOwn = 20;  // jobs that a class needs to be a user's own, or of one band of limits
constexpr std::size_t kJobsAStep = 8;  // jobs behind each step of a distribution

// Moves the upper values until the mean is `mean`, within the least and the largest of them: the last steps
// have few of the jobs and often most of the work. Too high: the largest is lowered, then with it the one
// below, and so on. Too low: the one below the largest is raised up to it, then the next. Beyond the largest
// nothing is drawn, so that the tail ends where the sample's does and a job keeps to its limit as the log's
// did; what is further down keeps its shape. Rounds at last to six digits.
void MoveMean(LikeQuantiles& of, double mean) {
  std::vector<double>& values = of.values;
  const std::span<double> all(values);
  std::span<double> moved;
  double low = values.back(), high = low;
  std::size_t i = values.size() - 1;
  if (of.Mean() < mean) {
    for (; i > 0 && of.Mean() < mean; moved = all.subspan(i, 1)) low = values[--i], values[i] = high;
  } else {
    for (; i > 0 && of.Mean() > mean; --i) {
      moved = all.subspan(i);
      high = values[i], low = values[i - 1];
      std::fill(moved.begin(), moved.end(), low);
    }
  }
  for (int halving = 0; halving < 60; ++halving) {
    const double middle = 0.5 * (low + high);
    std::fill(moved.begin(), moved.end(), middle);
    (of.Mean() < mean ? low : high) = middle;
  }
  for (double& value : values) value = SixDigits(value);
}

double MeanOf(const std::vector<double>& sample) {
  return std::accumulate(sample.begin(), sample.end(), 0.0) / static_cast<double>(sample.size());
}

// As the sample, which is not empty, has them.
LikeQuantiles Quantiles(std::vector<double> sample) {
  std::sort(sample.begin(), sample.end());
  LikeQuantiles result;
  const std::size_t n = sample.size();
  if (sample.front() == sample.back()) return {{sample.front()}};
  const std::size_t steps = std::clamp<std::size_t>(n / kJobsAStep, 1, LikeQuantiles::kMost - 1);
  for (std::size_t i = 0; i <= steps; ++i) {
    const double at = static_cast<double>(i) / static_cast<double>(steps) * static_cast<double>(n - 1);
    const std::size_t below = std::min(static_cast<std::size_t>(at), n - 2);
    const double part = at - static_cast<double>(below);
    result.values.push_back(sample[below] + part * (sample[below + 1] - sample[below]));
  }
  return result;
}

// What the mean of each of `period` slots is of the mean of all, series[0] being in slot `first`. Drawn
// towards 1 by what chance alone does to such means, as their variance within a slot says (James & Stein).
std::vector<double> Factors(const std::vector<double>& series, std::size_t first, std::size_t period) {
  std::vector<double> factors(period, 1.0);
  const double all = MeanOf(series);
  if (series.size() < 2 * period || all <= 0.0) return factors;
  double chance = 0.0, between = 0.0;
  for (std::size_t slot = 0; slot < period; ++slot) {
    double n = 0.0, sum = 0.0, squares = 0.0;
    for (std::size_t i = (slot + period - first) % period; i < series.size(); i += period)
      n += 1.0, sum += series[i], squares += series[i] * series[i];
    const double mean = sum / n;
    factors[slot] = mean / all;
    chance += std::max(0.0, squares / n - mean * mean) / (n - 1.0) / (all * all);
    between += (mean / all - 1.0) * (mean / all - 1.0);
  }
  const double kept = between > 0.0 ? std::max(0.0, 1.0 - chance / between) : 0.0;
  double sum = 0.0;
  for (double& factor : factors) factor = 1.0 + kept * (factor - 1.0), sum += factor;
  for (double& factor : factors) factor = SixDigits(factor * static_cast<double>(period) / sum);
  return factors;
}

// Arrivals in each whole `slot` of the log, with the first one's number; fewer than two slots: none.
std::pair<std::vector<double>, std::size_t> Counts(const std::vector<double>& arrival, double slot) {
  const double first = std::ceil(arrival.front() / slot), end = std::floor(arrival.back() / slot);
  if (end < first + 2.0) return {{}, 0};
  std::vector<double> counts(static_cast<std::size_t>(end - first), 0.0);
  for (double at : arrival) {
    const double i = std::floor(at / slot) - first;
    if (i >= 0.0 && i < static_cast<double>(counts.size())) counts[static_cast<std::size_t>(i)] += 1.0;
  }
  return {counts, static_cast<std::size_t>(std::fmod(first, 1e6 * 168.0))};
}

void FitArrivals(const std::vector<double>& arrival, LikeModel& model) {
  model.hours.assign(LikeModel::kHours, 1.0), model.days.assign(LikeModel::kDays, 1.0);
  model.gaps.values = {1.0};
  const double span = arrival.back() - arrival.front();
  if (span <= 0.0) return;
  model.per_hour = SixDigits(static_cast<double>(arrival.size() - 1) / span * LikeModel::kHour);
  const auto [hourly, first_hour] = Counts(arrival, LikeModel::kHour);
  if (!hourly.empty()) model.hours = Factors(hourly, first_hour % LikeModel::kHours, LikeModel::kHours);
  const auto [daily, first_day] = Counts(arrival, kDay);
  if (!daily.empty()) model.days = Factors(daily, first_day % LikeModel::kDays, LikeModel::kDays);
  // The time that passes at the mean rate until each arrival, by hours.
  const auto rate = [&](double hour) {
    const auto of_week = static_cast<std::size_t>(std::fmod(hour, 168.0));
    return model.hours[of_week % LikeModel::kHours] * model.days[of_week / LikeModel::kHours];
  };
  std::vector<double> gaps;
  double hour = std::floor(arrival.front() / LikeModel::kHour), now = arrival.front(), gap = 0.0;
  for (std::size_t i = 1; i < arrival.size(); ++i) {
    while ((hour + 1.0) * LikeModel::kHour <= arrival[i])
      gap += rate(hour) * ((hour + 1.0) * LikeModel::kHour - now), hour += 1.0, now = hour * LikeModel::kHour;
    gaps.push_back(gap + rate(hour) * (arrival[i] - now));
    now = arrival[i], gap = 0.0;
  }
  const double mean = MeanOf(gaps);
  if (mean <= 0.0) return;
  // Over whole weeks, of which the log may have a part alone: most of its days and least of its nights.
  model.per_hour = SixDigits(LikeModel::kHour / mean);
  for (double& it : gaps) it /= mean;
  model.gaps = Quantiles(gaps), MoveMean(model.gaps, 1.0);
  model.gap_memory = FitGapMemory(gaps, model.gaps, mean);
}

// User, GPUs, thousandths of each, job type, band of limits (factors of two; kNoLimit without).
using ClassKey = std::tuple<int, int, int, int, int>;
constexpr int kNoLimit = -1000, kAnyLimit = -1001;

struct Jobs {
  std::vector<ClassKey> key;
  std::vector<double> run_s, limit_s;
};

Jobs Describe(const ScenarioData& data) {
  Jobs jobs;
  const JobTable& table = data.jobs;
  const bool users = data.tenants.size() > 1 && !table.tenant.empty();
  for (std::size_t job = 0; job < table.arrival.size(); ++job) {
    const double limit = table.requested_s.empty() ? NAN : table.requested_s[job];
    const int band = limit > 0.0 ? static_cast<int>(std::floor(std::log2(limit))) : kNoLimit;
    jobs.key.emplace_back(users ? table.tenant[job] : -1, table.gang[job],
                          table.gpu_milli.empty() ? 1000 : table.gpu_milli[job], table.job_type[job], band);
    jobs.run_s.push_back(LikeRunSeconds(data, job));
    jobs.limit_s.push_back(band == kNoLimit ? 0.0 : limit);
  }
  return jobs;
}

std::map<ClassKey, std::size_t> CountKeys(const std::vector<ClassKey>& keys) {
  std::map<ClassKey, std::size_t> counts;
  for (const ClassKey& key : keys) ++counts[key];
  return counts;
}

// What is too rare to be a user's own is of any user, and then of any band of limits that jobs ask for.
void Pool(std::vector<ClassKey>& keys) {
  const auto own = CountKeys(keys);
  for (ClassKey& key : keys) {
    if (own.at(key) < kLeastOwn) std::get<0>(key) = -1;
  }
  const auto shared = CountKeys(keys);
  for (ClassKey& key : keys) {
    if (std::get<0>(key) < 0 && shared.at(key) < kLeastOwn && std::get<4>(key) != kNoLimit)
      std::get<4>(key) = kAnyLimit;
  }
}

// "" where the log names none: "job" is what its readers write then.
std::string TypeName(const ScenarioData& data, int type) {
  const std::vector<std::string>& names = data.throughputs.job_types;
  const std::string& name = names[static_cast<std::size_t>(type)];
  return names.size() == 1 && name == "job" ? "" : name;
}

void FitClasses(const ScenarioData& data, const Jobs& jobs, const std::vector<ClassKey>& keys,
                LikeModel& model) {
  std::map<ClassKey, std::vector<std::size_t>> members;
  for (std::size_t job = 0; job < keys.size(); ++job) members[keys[job]].push_back(job);
  for (const auto& [key, its] : members) {
    LikeClass of;
    of.user = std::get<0>(key), of.gpus = std::get<1>(key), of.gpu_milli = std::get<2>(key);
    of.job_type = TypeName(data, std::get<3>(key));
    of.jobs = static_cast<double>(its.size());
    std::vector<double> run_s, limit_s, used;
    for (std::size_t job : its) {
      run_s.push_back(jobs.run_s[job]);
      if (jobs.limit_s[job] > 0.0)
        limit_s.push_back(jobs.limit_s[job]), used.push_back(jobs.run_s[job] / jobs.limit_s[job]);
    }
    const double mean_run_s = MeanOf(run_s);
    if (limit_s.empty()) {
      of.run_s = Quantiles(std::move(run_s)), MoveMean(of.run_s, mean_run_s);
    } else {
      // The two are drawn apart: where they go together, the mean of the one times that of the other is not
      // that of run times. Limits are a few round figures, which stay where the parts used can make up for
      // it.
      of.limit_s = Quantiles(std::move(limit_s)), of.limit_used = Quantiles(std::move(used));
      const double least = of.limit_used.values.front(), most = of.limit_used.values.back();
      MoveMean(of.limit_s, mean_run_s / std::clamp(mean_run_s / of.limit_s.Mean(), least, most));
      MoveMean(of.limit_used, mean_run_s / of.limit_s.Mean());
    }
    model.classes.push_back(std::move(of));
  }
}

// How users and classes come again, and run times with them: normal scores within each class, of limits'
// shares where there are limits, against those of the last job of the user and class.
void FitRepeats(const Jobs& jobs, const std::vector<ClassKey>& keys, LikeModel& model) {
  const std::size_t n = keys.size();
  std::map<ClassKey, std::vector<std::size_t>> members;
  std::map<int, double> shared_of;
  double shared = 0.0;
  const auto user = [&](std::size_t job) { return std::get<0>(jobs.key[job]); };
  for (std::size_t job = 0; job < n; ++job) {
    members[keys[job]].push_back(job);
    if (std::get<0>(keys[job]) < 0) shared += 1.0, shared_of[user(job)] += 1.0;
  }
  std::vector<double> score(n), share(n);
  for (const auto& [key, its] : members) {
    std::vector<double> sample;
    for (std::size_t job : its)
      sample.push_back(jobs.run_s[job] / (jobs.limit_s[job] > 0.0 ? jobs.limit_s[job] : 1.0));
    const std::vector<double> scores = LikeScores(sample);
    for (std::size_t i = 0; i < its.size(); ++i) {
      const double of_user = std::get<0>(key) < 0 ? shared_of[user(its[i])] / shared : 1.0;
      score[its[i]] = scores[i];
      share[its[i]] = static_cast<double>(its.size()) / static_cast<double>(n) * of_user;
    }
  }
  std::map<std::pair<int, ClassKey>, int> seen;
  std::vector<int> numbers;
  for (std::size_t job = 0; job < n; ++job)
    numbers.push_back(seen.try_emplace({user(job), keys[job]}, static_cast<int>(seen.size())).first->second);
  model.job_memory = FitJobMemory(numbers, share, score);
}

void FitSpeeds(const ScenarioData& data, LikeModel& model) {
  const ThroughputTable& table = data.throughputs;
  const std::size_t types = data.cluster.types.size();
  std::map<std::pair<int, int>, LikeSpeed> found;
  bool alike = true;
  for (std::size_t job = 0; job < data.jobs.arrival.size(); ++job) {
    const int type = data.jobs.job_type[job], gang = data.jobs.gang[job];
    LikeSpeed& speed = found[{type, gang}];
    if (!speed.steps_per_s.empty()) continue;
    speed.job_type = TypeName(data, type);
    speed.gpus = gang;
    const std::size_t row = AloneRow(data, static_cast<int>(job));
    for (std::size_t g = 0; g < types; ++g) {
      const double rate = table.alone[row + g];
      speed.steps_per_s[data.cluster.types[g].name] = rate;
      alike = alike && rate == 1.0;
    }
  }
  for (auto& [key, speed] : found) {
    if (!alike) model.speeds.push_back(std::move(speed));
  }
}

}  // namespace

LikeModel FitLike(const Scenario& scenario) {
  const ScenarioData& data = scenario.data();
  if (data.jobs.arrival.empty()) throw Error(Join(data.name, ": expected jobs to be like, found none"));
  LikeModel model;
  FitArrivals(data.jobs.arrival, model);
  const Jobs jobs = Describe(data);
  std::vector<ClassKey> keys = jobs.key;
  Pool(keys);
  const bool users = std::get<0>(jobs.key[0]) >= 0;
  if (users) {
    for (const Tenant& tenant : data.tenants) model.users.push_back({tenant.name, 0.0});
    for (std::size_t job = 0; job < keys.size(); ++job) {
      if (std::get<0>(keys[job]) < 0)
        model.users[static_cast<std::size_t>(std::get<0>(jobs.key[job]))].shared += 1.0;
    }
  }
  FitClasses(data, jobs, keys, model);
  FitRepeats(jobs, keys, model);
  FitSpeeds(data, model);
  return model;
}

std::string LikeLeavesOut(const Scenario& scenario) {
  const ScenarioData& data = scenario.data();
  const JobTable& jobs = data.jobs;
  const std::pair<const char*, bool> all[] = {{"widths", !jobs.gang_min.empty() || !jobs.gang_max.empty()},
                                              {"weights", !jobs.weight.empty()},
                                              {"deadlines", !jobs.deadline.empty()},
                                              {"GPU types allowed", !jobs.allowed.empty()},
                                              {"qos", !jobs.qos.empty()},
                                              {"batch sizes", !jobs.batch_size.empty()},
                                              {"demands", !jobs.demand.empty()},
                                              {"features", data.features.any()}};
  std::string text;
  for (const auto& [name, there] : all) {
    if (there) text += Join(text.empty() ? "" : ", ", name);
  }
  return text;
}

}  // namespace berth

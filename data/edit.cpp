#include "data/edit.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

constexpr double kMostGpus = 10'000'000;

// Every column in the order of `indices`, which may leave jobs out.
void Reorder(JobTable& jobs, std::span<const int> indices) {
  const std::size_t per_job = jobs.size() == 0 ? 0 : jobs.demand.size() / U(jobs.size());
  const auto take = [&](auto& column, std::size_t width = 1) {
    if (column.empty()) return;
    std::remove_reference_t<decltype(column)> taken;
    taken.reserve(indices.size() * width);
    for (const int index : indices) {
      const auto begin = column.begin() + static_cast<std::ptrdiff_t>(U(index) * width);
      taken.insert(taken.end(), begin, begin + static_cast<std::ptrdiff_t>(width));
    }
    column = std::move(taken);
  };
  if (per_job > 0) take(jobs.demand, per_job);
  ForEachColumn(jobs, [&](const char*, auto& column, bool) { take(column); });
}

struct Condition {
  std::string field, sign, value;
  double number = 0.0;
};

Condition ParseCondition(const std::string& text) {
  static const std::vector<std::string> fields = {"gpus", "duration", "arrival", "weight", "type", "tenant"};
  const std::size_t at = text.find_first_of("<>!=");
  const std::size_t length = at != std::string::npos && at + 1 < text.size() && text[at + 1] == '=' ? 2 : 1;
  Condition condition;
  condition.field = Trim(text.substr(0, at));
  if (at == std::string::npos || (condition.sign = text.substr(at, length)) == "!")
    throw Error(Join("expected FIELD<=VALUE, or another of >= != < > =, found '", text, "'"));
  if (std::find(fields.begin(), fields.end(), condition.field) == fields.end())
    throw Error(Join("expected gpus, duration, arrival, weight, type or tenant, found '", condition.field,
                     "'", DidYouMean(condition.field, fields)));
  condition.value = Trim(text.substr(at + length));
  if (condition.field == "type" || condition.field == "tenant") {
    if (condition.sign != "=" && condition.sign != "!=")
      throw Error(Join(condition.field, ": expected = or != and a name, found '", text, "'"));
  } else {
    condition.number = ParseNumber(condition.value, condition.field);
  }
  return condition;
}

// A misspelt name would keep all, or none.
void CheckName(const Condition& condition, const ScenarioData& data) {
  if (condition.field != "type" && condition.field != "tenant") return;
  std::vector<std::string> names = data.throughputs.job_types;
  if (condition.field == "tenant") {
    names = data.tenants.empty() ? std::vector<std::string>{"default"} : std::vector<std::string>();
    for (const Tenant& tenant : data.tenants) names.push_back(tenant.name);
  }
  if (std::find(names.begin(), names.end(), condition.value) == names.end())
    throw Error(Join(condition.field, ": the scenario has no '", condition.value, "'",
                     DidYouMean(condition.value, names)));
}

bool Compare(double left, const std::string& sign, double right) {
  if (sign == "<=") return left <= right;
  if (sign == ">=") return left >= right;
  if (sign == "!=") return left != right;
  if (sign == "<") return left < right;
  if (sign == ">") return left > right;
  return left == right;
}

bool Holds(const Condition& condition, const Scenario& scenario, int job) {
  const ScenarioData& data = scenario.data();
  const JobTable& jobs = data.jobs;
  const auto named = [&](const std::string& name) {
    return (name == condition.value) == (condition.sign == "=");
  };
  const auto number = [&](double value) { return Compare(value, condition.sign, condition.number); };
  if (condition.field == "type") return named(data.throughputs.job_types[U(jobs.job_type[U(job)])]);
  if (condition.field == "tenant")
    return named(data.tenants.empty() ? "default"
                                      : data.tenants[jobs.tenant.empty() ? 0 : U(jobs.tenant[U(job)])].name);
  if (condition.field == "gpus") return number(jobs.gang[U(job)]);
  if (condition.field == "duration") return number(jobs.total_steps[U(job)] / scenario.BestRate(job));
  if (condition.field == "arrival") return number(jobs.arrival[U(job)]);
  return number(jobs.weight.empty() ? 1.0 : jobs.weight[U(job)]);
}

template <class Wanted>
Scenario TakeThose(const Scenario& scenario, const Wanted& wanted, const std::string& which) {
  std::vector<int> indices;
  for (int job = 0; job < scenario.num_jobs(); ++job) {
    if (wanted(job)) indices.push_back(job);
  }
  if (indices.empty())
    throw Error(Join(which, ": expected some of the ", scenario.num_jobs(), " jobs, found none"));
  return TakeJobs(scenario, indices);
}

}  // namespace

Scenario TakeJobs(const Scenario& scenario, std::span<const int> indices) {
  BERTH_CHECK(!indices.empty() && std::is_sorted(indices.begin(), indices.end()), indices.size());
  ScenarioData data = scenario.data();
  Reorder(data.jobs, indices);
  const double origin = data.jobs.arrival.front();
  for (double& arrival : data.jobs.arrival) arrival -= origin;
  for (double& deadline : data.jobs.deadline) deadline -= origin;
  data.features = data.features.OfJobs(data.jobs, origin);
  return Scenario(std::move(data));
}

Scenario ArrivingIn(const Scenario& scenario, double begin_s, double end_s) {
  const std::vector<double>& arrival = scenario.data().jobs.arrival;
  return TakeThose(
      scenario, [&](int job) { return arrival[U(job)] >= begin_s && arrival[U(job)] < end_s; },
      Join("arriving from ", begin_s, " to ", end_s, " s"));
}

Scenario FilterJobs(const Scenario& scenario, const std::string& conditions) {
  std::vector<Condition> all;
  for (const std::string& text : SplitOutsideParentheses(conditions, ',')) {
    all.push_back(ParseCondition(text));
    CheckName(all.back(), scenario.data());
  }
  if (all.empty()) throw Error("expected conditions such as gpus<=8, found none");
  return TakeThose(
      scenario,
      [&](int job) {
        return std::all_of(all.begin(), all.end(),
                           [&](const Condition& c) { return Holds(c, scenario, job); });
      },
      conditions);
}

Scenario ScaleLoad(const Scenario& scenario, double factor) {
  BERTH_CHECK(factor > 0.0, factor);
  ScenarioData data = scenario.data();
  for (int job = 0; job < data.jobs.size(); ++job) {
    const double before = data.jobs.arrival[U(job)];
    data.jobs.arrival[U(job)] = before / factor;
    if (!data.jobs.deadline.empty()) data.jobs.deadline[U(job)] += data.jobs.arrival[U(job)] - before;
  }
  return Scenario(std::move(data));
}

namespace {

// As many slices of each GPU as before; whole GPUs have their new counts already.
void ScaleSlices(const ClusterSpec& before, ClusterSpec& cluster) {
  for (std::size_t g = 0; g < cluster.types.size(); ++g) {
    const int whole = cluster.types[g].part.whole;
    if (whole >= 0)
      cluster.types[g].count =
          before.types[g].count / before.types[U(whole)].count * cluster.types[U(whole)].count;
  }
}

}  // namespace

Scenario ScaleCluster(const Scenario& scenario, double factor) {
  BERTH_CHECK(factor > 0.0, factor);
  ScenarioData data = scenario.data();
  for (GpuType& type : data.cluster.types) {
    if (type.part.whole >= 0) continue;
    const int unit = type.count % type.gpus_per_node == 0 ? type.gpus_per_node : 1;
    const double count = unit * std::max(1.0, std::round(factor * type.count / unit));
    if (count > kMostGpus)
      throw Error(Join(type.name, ": expected at most ", kMostGpus, " GPUs, found ", count));
    type.count = static_cast<int>(count);
  }
  ScaleSlices(scenario.data().cluster, data.cluster);
  return Scenario(std::move(data));
}

Scenario AddGpus(const Scenario& scenario, const std::string& text) {
  ScenarioData data = scenario.data();
  std::vector<std::string> known;
  for (const GpuType& type : data.cluster.types) {  // slices come with their GPU
    known.push_back(type.part.whole < 0 ? type.name : std::string());
  }
  const std::vector<std::string> parts = SplitOutsideParentheses(text, ',');
  if (parts.empty()) throw Error("expected TYPE=COUNT,..., found nothing");
  for (const std::string& part : parts) {
    const std::size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    const auto found = std::find(known.begin(), known.end(), name);
    if (equals == std::string::npos) throw Error(Join("expected TYPE=COUNT, found '", part, "'"));
    if (found == known.end())
      throw Error(
          Join("expected TYPE=COUNT of a type that is there, since no other's speeds are known, found '",
               part, "'", DidYouMean(name, known)));
    const long long count = ParseInteger(part.substr(equals + 1), name);
    int& there = data.cluster.types[static_cast<std::size_t>(found - known.begin())].count;
    if (count < 1 || there + count > static_cast<long long>(kMostGpus))
      throw Error(Join(name, ": expected 1 to ", static_cast<long long>(kMostGpus) - there,
                       " more GPUs, found ", count));
    there += static_cast<int>(count);
  }
  ScaleSlices(scenario.data().cluster, data.cluster);
  return Scenario(std::move(data));
}

Scenario ShuffleArrivals(const Scenario& scenario, std::uint64_t seed) {
  ScenarioData data = scenario.data();
  std::vector<int> order(U(scenario.num_jobs()));
  std::iota(order.begin(), order.end(), 0);
  Stream stream(seed, Purpose::kShuffle, Split::kEvaluate);
  for (std::size_t i = order.size(); i > 1; --i)  // Fisher and Yates
    std::swap(order[i - 1], order[stream.Below(static_cast<std::uint32_t>(i))]);
  const std::vector<double> arrival = data.jobs.arrival;
  Reorder(data.jobs, order);
  for (std::size_t i = 0; i < arrival.size(); ++i) {
    if (!data.jobs.deadline.empty()) data.jobs.deadline[i] += arrival[i] - data.jobs.arrival[i];
    data.jobs.arrival[i] = arrival[i];
  }
  data.features = data.features.OfJobs(data.jobs, /*origin_s=*/0.0);
  return Scenario(std::move(data));
}

}  // namespace berth

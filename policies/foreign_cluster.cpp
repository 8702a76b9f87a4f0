#include "policies/foreign_cluster.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "env/base/check.hpp"
#include "env/base/counted.hpp"
#include "env/base/index.hpp"
#include "env/sim/feature.hpp"
#include "env/sim/rates_by_width.hpp"
#include "env/sim/simulator.hpp"

namespace berth {
namespace {

int GangOr(int stated, const ForeignJob& job) {
  return stated > 0 ? stated : job.gang;
}

void CheckRates(const char* name, std::span<const double> rates, std::size_t expected) {
  if (!rates.empty() && rates.size() != expected)
    throw Error(Join(name, ": expected ", expected, " numbers, found ", rates.size()));
  for (const double rate : rates) {
    if (!(rate >= 0.0) || std::isinf(rate)) throw Error(Join(name, ": expected steps/s >= 0, found ", rate));
  }
}

// Of a detailed cluster: widths, and who shares a GPU.
void CheckDetails(const ForeignCluster& cluster) {
  const std::size_t jobs = cluster.jobs.size(), types = cluster.types.size();
  CheckRates("rates_by_width", cluster.rates_by_width, jobs * U(std::max(cluster.max_width, 0)) * types);
  CheckRates("pair_rates", cluster.pair_rates, jobs * jobs * types);
  for (std::size_t i = 0; i < jobs; ++i) {
    const ForeignJob& job = cluster.jobs[i];
    const int least = GangOr(job.least, job), most = GangOr(job.most, job), width = GangOr(job.width, job);
    const int widest = cluster.rates_by_width.empty() ? 0 : cluster.max_width;
    const bool elastic = least != job.gang || most != job.gang;
    if (std::min(job.least, job.most) < 0 || least > job.gang || most < job.gang ||
        (elastic && most > widest)) {
      throw Error(Join("job ", i, ": expected 1 <= least <= gang <= most (0 = its gang), and most within ",
                       "rates_by_width (", widest, "), found ", job.least, ", ", job.gang, ", ", job.most));
    }
    if (job.running_on >= 0 && (job.width < 0 || width < least || width > most))
      throw Error(Join("job ", i, ": width: expected ", least, " to ", most, " GPUs, found ", job.width));
    if (job.beside == -1) continue;
    if (job.beside < 0 || job.beside >= static_cast<int>(jobs) || U(job.beside) == i)
      throw Error(Join("job ", i, ": beside: expected another job or -1, found ", job.beside));
    const ForeignJob& other = cluster.jobs[U(job.beside)];
    if (other.beside != static_cast<int>(i) || other.running_on != job.running_on || job.running_on < 0 ||
        width != 1 || GangOr(other.width, other) != 1) {
      throw Error(Join("job ", i,
                       ": beside: expected a job that runs on the same type, on one GPU as it does, ",
                       "and that names it too, found job ", job.beside));
    }
  }
}

// steps/s of a job that runs, on the GPUs that it holds and beside whom it shares one with. REQUIRES:
// CheckDetails.
double RunningRate(const ForeignCluster& cluster, std::size_t i) {
  const ForeignJob& job = cluster.jobs[i];
  const std::size_t types = cluster.types.size(), type = U(job.running_on);
  const int width = cluster.detailed ? GangOr(job.width, job) : job.gang;
  const double alone = width == job.gang
                           ? cluster.rates[i * types + type]
                           : cluster.rates_by_width[(i * U(cluster.max_width) + U(width - 1)) * types + type];
  if (!cluster.detailed || job.beside < 0 || cluster.pair_rates.empty()) return alone;
  if (job.gang != 1 || cluster.jobs[U(job.beside)].gang != 1) return alone;
  return std::min(alone, cluster.pair_rates[(i * cluster.jobs.size() + U(job.beside)) * types + type]);
}

// The rates on other widths that the caller states, as a feature of its own: whoever asks a scenario does not
// know who answers.
struct GivenState final : FeatureState {
  std::unique_ptr<FeatureState> Clone() const override { return std::make_unique<GivenState>(*this); }
  HookSet Listens() const override { return 0; }
};
class GivenWidths final : public FeatureSettings {
 public:
  GivenWidths(const ForeignCluster& cluster, std::span<const int> order)
      : widths_(std::make_shared<RatesByWidth>()) {
    for (const int position : order) {
      widths_->class_of.push_back(widths_->classes.size());
      Add(cluster, U(position));
    }
  }
  std::vector<FieldInfo> ListFields() const override { return {}; }
  FieldValue Get(std::size_t /*field*/) const override { return 0; }
  void Set(std::size_t /*field*/, const FieldValue& /*value*/) override {}
  void Check(const ScenarioData& /*scenario*/) const override {}
  std::unique_ptr<FeatureState> MakeState(const Scenario& /*scenario*/) const override {
    return std::make_unique<GivenState>();
  }
  std::shared_ptr<const RatesByWidth> Widths(const ScenarioData& /*scenario*/) const override {
    return widths_;
  }

 private:
  // As the simulator has them: no type runs more GPUs than it has, and bounds are those of the widths that
  // run somewhere, and of the one that the job has.
  void Add(const ForeignCluster& cluster, std::size_t position) {
    const ForeignJob& job = cluster.jobs[position];
    const std::size_t types = cluster.types.size();
    int largest = job.gang;
    for (const GpuType& type : cluster.types) largest = std::max(largest, type.count);
    const int low = GangOr(job.least, job), high = std::min(GangOr(job.most, job), largest);
    const auto rate = [&](int width, std::size_t type) {
      if (width > cluster.types[type].count) return 0.0;
      return width == job.gang
                 ? cluster.rates[position * types + type]
                 : cluster.rates_by_width[(position * U(cluster.max_width) + U(width - 1)) * types + type];
    };
    const int held = job.running_on >= 0 ? GangOr(job.width, job) : job.gang;
    int least = std::min(job.gang, held), most = std::max(job.gang, held);
    for (int more = 0; more <= high - low; ++more) {  // a width may be the largest number that there is
      for (std::size_t type = 0; type < types; ++type) {
        if (rate(low + more, type) > 0.0)
          least = std::min(least, low + more), most = std::max(most, low + more);
      }
    }
    widths_->classes.push_back({least, most, widths_->rates.size()});
    for (std::size_t type = 0; type < types; ++type) {
      for (int more = 0; more <= most - least; ++more) widths_->rates.push_back(rate(least + more, type));
    }
  }

  std::shared_ptr<RatesByWidth> widths_;
};
const FeatureModule kGivenWidths = {"given_widths", "rates by width as somebody else states them",
                                    TagOf("given_widths"), nullptr};

constexpr double kRounding = 1e-6;  // s of deadlines, as Scenario has it

// What Scenario does not look at, or would name otherwise: where jobs run, and times in the caller's numbers.
void CheckState(const ForeignCluster& cluster, Knowledge granted) {
  const auto types = static_cast<int>(cluster.types.size());
  if (types == 0) throw Error("types: expected at least one GPU type, found none");
  if (cluster.rates.size() != cluster.jobs.size() * cluster.types.size()) {
    throw Error(Join("rates: expected ", cluster.jobs.size(), " x ", types, " numbers, found ",
                     cluster.rates.size()));
  }
  if (!std::isfinite(cluster.now_s)) throw Error(Join("now_s: expected seconds, found ", cluster.now_s));
  for (std::size_t i = 0; i < cluster.jobs.size(); ++i) {
    const ForeignJob& job = cluster.jobs[i];
    if (!(job.arrival_s <= cluster.now_s) || std::isinf(job.arrival_s)) {
      throw Error(Join("job ", i, ": arrival_s: expected seconds of at most now_s, ", cluster.now_s,
                       ", found ", job.arrival_s));
    }
    if (!(job.deadline_s >= job.arrival_s - kRounding)) {
      throw Error(Join("job ", i, ": deadline_s: expected no earlier than arrival_s, ", job.arrival_s,
                       ", or infinity, found ", job.deadline_s));
    }
    if (job.gang < 1) throw Error(Join("job ", i, ": gang: expected at least 1 GPU, found ", job.gang));
    if (granted >= Knowledge::kEstimate &&
        (!(job.remaining_steps > 0.0) || std::isinf(job.remaining_steps))) {
      throw Error(Join("job ", i, ": remaining_steps: expected > 0, found ", job.remaining_steps));
    }
    const std::span<const double> rates =
        cluster.rates.subspan(i * cluster.types.size(), cluster.types.size());
    for (double rate : rates) {
      if (!(rate >= 0.0) || std::isinf(rate)) {
        throw Error(Join("job ", i, ": rates: expected steps/s >= 0, found ", rate));
      }
    }
    if (!(job.attained_s >= 0.0) || std::isinf(job.attained_s)) {
      throw Error(Join("job ", i, ": attained_s: expected seconds >= 0, found ", job.attained_s));
    }
    if (job.attained_steps < 0.0 || std::isinf(job.attained_steps)) {
      throw Error(Join("job ", i, ": attained_steps: expected steps >= 0, found ", job.attained_steps));
    }
    if (job.running_on < -1 || job.running_on >= types) {
      throw Error(
          Join("job ", i, ": running_on: expected -1 or a type below ", types, ", found ", job.running_on));
    }
  }
  if (cluster.detailed) CheckDetails(cluster);
  for (std::size_t i = 0; i < cluster.jobs.size(); ++i) {
    const ForeignJob& job = cluster.jobs[i];
    if (job.running_on < 0 || RunningRate(cluster, i) > 0.0) continue;
    std::string so;
    if (cluster.detailed && job.beside >= 0) so = Join(" beside job ", job.beside);
    if (cluster.detailed && GangOr(job.width, job) != job.gang) so += Join(" on ", Counted(job.width, "GPU"));
    throw Error(Join("job ", i, ": it runs on '", cluster.types[U(job.running_on)].name, "', where its rate",
                     so, " is 0"));
  }
}

// [T, T, G, 2] of job types, which are the jobs in the view's order.
std::vector<double> PairTable(const ForeignCluster& cluster, std::span<const int> order) {
  std::vector<double> pairs;
  if (cluster.pair_rates.empty()) return pairs;
  const std::size_t types = cluster.types.size(), jobs = cluster.jobs.size();
  const auto rate = [&](int a, int b, std::size_t type) {
    return cluster.pair_rates[(U(a) * jobs + U(b)) * types + type];
  };
  for (const int a : order) {
    for (const int b : order) {
      for (std::size_t type = 0; type < types; ++type)
        pairs.insert(pairs.end(), {rate(a, b, type), rate(b, a, type)});
    }
  }
  return pairs;
}

// What the caller's times are made relative to, since a scenario has none below 0. Others stay as they are,
// to the bit.
double Origin(const ForeignCluster& cluster) {
  double origin = std::min(0.0, cluster.now_s);
  for (const ForeignJob& job : cluster.jobs) origin = std::min(origin, job.arrival_s);
  return origin;
}

std::vector<int> ByArrival(std::span<const ForeignJob> jobs) {
  std::vector<int> order(jobs.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return jobs[U(a)].arrival_s < jobs[U(b)].arrival_s; });
  return order;
}

// Every job is a job type of its own: rates come by job.
Scenario MakeScenario(const ForeignCluster& cluster, std::span<const int> order, Knowledge granted,
                      const Features& features) {
  ScenarioData data;
  data.features = features;
  if (cluster.detailed) {
    data.features.Add(kGivenWidths, std::make_shared<GivenWidths>(cluster, order));
    data.throughputs.pairs = PairTable(cluster, order);
  }
  data.cluster.types.assign(cluster.types.begin(), cluster.types.end());
  ThroughputTable& table = data.throughputs;
  for (const ForeignJob& job : cluster.jobs) table.gang_sizes.push_back(job.gang);
  std::sort(table.gang_sizes.begin(), table.gang_sizes.end());
  table.gang_sizes.erase(std::unique(table.gang_sizes.begin(), table.gang_sizes.end()),
                         table.gang_sizes.end());
  const std::size_t types = cluster.types.size();
  JobTable& jobs = data.jobs;
  const double origin = Origin(cluster);
  for (int position : order) {
    const ForeignJob& job = cluster.jobs[U(position)];
    const auto rates = cluster.rates.subspan(U(position) * types, types);
    for (std::size_t size = 0; size < table.gang_sizes.size(); ++size) {
      table.alone.insert(table.alone.end(), rates.begin(), rates.end());
    }
    jobs.job_type.push_back(static_cast<int>(table.job_types.size()));
    table.job_types.push_back(std::to_string(position));
    jobs.id.push_back(position);
    jobs.arrival.push_back(job.arrival_s - origin);
    jobs.gang.push_back(job.gang);
    jobs.total_steps.push_back(granted >= Knowledge::kEstimate ? job.remaining_steps : 1.0);
    jobs.weight.push_back(job.weight);
    jobs.deadline.push_back(job.deadline_s - origin);
    jobs.requested_s.push_back(job.requested_s);
  }
  // The caller's estimates are estimates already: no further error on them.
  data.knowledge = granted == Knowledge::kEstimate ? Knowledge::kOracle : granted;
  return Scenario(std::move(data), [order](int job) { return Join("job ", order[U(job)]); });
}

// On the lowest devices that are left of its type, or on that of the job beside it; how many it took. What
// there are too few of is not laid out.
int Lay(const Scenario& scenario, const ForeignCluster& cluster, std::span<const int> order, int job,
        SimState& state) {
  const ForeignJob& from = cluster.jobs[U(order[U(job)])];
  const int width = GangOr(from.width, from), left = state.free_gpus[U(from.running_on)];
  const auto other = static_cast<int>(std::find(order.begin(), order.end(), from.beside) - order.begin());
  std::vector<int> devices;
  int taken = 0;
  if (from.beside >= 0) state.partner[U(job)] = other;
  if (from.beside >= 0 && state.slot[U(other)] >= 0) {
    devices.assign(state.Devices(other).begin(), state.Devices(other).end());
  } else if (width <= left) {
    const int first = scenario.first_device(from.running_on) + cluster.types[U(from.running_on)].count - left;
    for (int i = 0; i < width; ++i) devices.push_back(first + i);
    taken = width;
  } else {
    return width;
  }
  for (const int device : devices) state.device_job[U(device)] = job, state.device_milli[U(device)] = 0;
  state.slot[U(job)] = static_cast<std::int32_t>(state.device_slots.size());
  state.device_slots.push_back(std::move(devices));
  return taken;
}

// A simulator that has just begun has every column that there is; here its jobs are in the middle of it.
SimState MakeState(const Scenario& scenario, const ForeignCluster& cluster, std::span<const int> order,
                   Knowledge granted) {
  SimState state = Simulator(scenario).state();
  state.now = cluster.now_s - Origin(cluster);
  for (int job = 0; job < static_cast<int>(order.size()); ++job) {
    const ForeignJob& from = cluster.jobs[U(order[U(job)])];
    state.phase[U(job)] = JobPhase::kWaiting;
    state.progress_from[U(job)] = state.run_start[U(job)] = state.busy_from[U(job)] = state.now;
    state.run_seconds[U(job)] = from.attained_s;
    // Of the sighted, total_steps are what is left, and nothing is done.
    if (granted == Knowledge::kBlind && from.attained_steps > 0.0) {
      state.steps_done[U(job)] = from.attained_steps;
    }
    state.gpu_seconds[U(job)] = from.attained_s * from.gang;
    state.active.Insert(job);
    if (from.running_on < 0) {
      state.waiting.Insert(job);
      continue;
    }
    state.running.Insert(job);
    state.phase[U(job)] = JobPhase::kRunning;
    state.run_start[U(job)] = state.now - from.attained_s;  // as far as the caller says: it was never stopped
    state.on_type[U(job)] = state.last_type[U(job)] = static_cast<std::int8_t>(from.running_on);
    if ((state.free_gpus[U(from.running_on)] -=
         cluster.detailed ? Lay(scenario, cluster, order, job, state) : from.gang) < 0) {
      const GpuType& type = cluster.types[U(from.running_on)];
      throw Error(Join("job ", order[U(job)], ": the jobs up to it run on more GPUs of '", type.name,
                       "' than the ", type.count, " that there are"));
    }
  }
  if (cluster.changed && !order.empty()) state.arrived.push_back(0);
  state.changed_since = 1;  // not the first decision: its devices are those it had
  return state;
}

}  // namespace

ForeignView::ForeignView(const ForeignCluster& cluster, Knowledge granted, const Features& features)
    : order_((CheckState(cluster, granted), ByArrival(cluster.jobs))),
      scenario_(MakeScenario(cluster, order_, granted, features)),
      state_(MakeState(scenario_, cluster, order_, granted)),
      view_(scenario_, state_, granted) {}

}  // namespace berth

#include "baselines/composition/replay.hpp"

#include <algorithm>

#include "env/base/index.hpp"
#include "env/features/elasticity/elasticity.hpp"
#include "env/features/partitions/partitions.hpp"
#include "env/features/services/services.hpp"
#include "env/features/sharing/sharing.hpp"
#include "env/features/stages/stages.hpp"
#include "env/sim/simulator.hpp"

namespace berth {
namespace {

// Decisions of one replay: a scheduler that wakes itself for ever must not hold up the real one.
constexpr std::size_t kDecisionsAJob = 200, kDecisionsAtLeast = 2000;

// A simulation that begins in the middle.
class Model final : public SimCore {
 public:
  explicit Model(const Scenario& scenario) : SimCore(scenario, {}) { StopAudit(); }
  using SimCore::AdvanceToDecision;
  using SimCore::stalled;
};

}  // namespace

void SizeSample::Add(int job_type, int gang, double seconds) {
  for (Sorted* sizes : {&all_, &kinds_[{job_type, gang}]})
    sizes->insert(std::upper_bound(sizes->begin(), sizes->end(), seconds), seconds);
}

double SizeSample::Above(const Sorted& sizes, double least, Stream& stream) {
  const auto first = std::upper_bound(sizes.begin(), sizes.end(), least);
  if (first == sizes.end()) return 0.0;
  return *(first + stream.Below(static_cast<std::uint32_t>(sizes.end() - first)));
}

double SizeSample::Draw(int job_type, int gang, double least, Stream& stream) const {
  const auto kind = kinds_.find({job_type, gang});
  const double own = kind == kinds_.end() ? 0.0 : Above(kind->second, least, stream);
  return own > 0.0 ? own : Above(all_, least, stream);
}

bool Replay::Shows(const ClusterView& view) {
  const Features& on = view.features();
  return !on.Find<ElasticitySettings>() && !on.Find<PartitionSettings>() && !on.Find<ServiceSettings>() &&
         !on.Find<SharingSettings>() && !on.Find<StageSettings>();
}

void Replay::Begin(const ClusterView& view) {
  jobs_.clear();
  events_ = 0;
  begin_ = view.now();
  for (int job : view.active()) Add(view, job);
}

void Replay::Add(const ClusterView& view, int job) {
  jobs_.push_back({job, view.AttainedSteps(job), view.AttainedSeconds(job), view.AttainedGpuSeconds(job),
                   view.granted() >= Knowledge::kEstimate ? view.RemainingSteps(job) : 0.0, view.TypeOf(job),
                   view.LastTypeOf(job)});
}

void Replay::Follow(const ClusterView& view) {
  events_ += static_cast<int>(view.arrived().size() + view.completed().size());
  for (int job : view.completed()) {
    const double seconds = view.AttainedSteps(job) / view.BestRate(job);
    if (seconds > 0.0) sizes_.Add(view.JobType(job), view.Gang(job), seconds);  // 0: turned away
  }
  if (view.now() > begin_) {
    for (int job : view.arrived()) Add(view, job);
  }
}

bool Replay::Size(const ClusterView& view, Job& job) const {
  const double done = view.AttainedSteps(job.index);
  if (view.IsDone(job.index) && done > 0.0) {
    job.size = done;
  } else if (view.granted() >= Knowledge::kEstimate) {
    job.size = job.steps + job.told;
    if (!exact_) job.size = std::max(job.size, 1.001 * done);  // it is not done
  } else {
    Stream stream(view.seed(), Purpose::kGuard, Split::kTrain, static_cast<std::uint32_t>(job.index));
    const double best = view.BestRate(job.index);
    job.size = best * sizes_.Draw(view.JobType(job.index), view.Gang(job.index), done / best, stream);
    if (job.size <= done) job.size = 2.0 * done;  // it outran all that were seen
  }
  return job.size > 0.0;
}

bool Replay::Close(const ClusterView& view) {
  scenario_.reset();
  end_ = view.now();
  exact_ = view.granted() >= Knowledge::kEstimate && view.estimates_are_exact();
  std::sort(jobs_.begin(), jobs_.end(), [](const Job& a, const Job& b) { return a.index < b.index; });
  if (jobs_.empty() || end_ <= begin_) return false;

  ScenarioData data;
  data.name = "replay";
  data.cluster = view.cluster();
  if (view.plain()) data.cluster.types.assign(view.types().begin(), view.types().end());  // perhaps a part
  const ThroughputTable& table = view.throughputs();
  const std::size_t types = data.cluster.types.size();
  data.throughputs.job_types = table.job_types;
  data.throughputs.gang_sizes = table.gang_sizes;
  data.throughputs.alone.assign(table.alone.size(), 0.0);
  if (view.rates_are_exact() && view.plain()) data.throughputs.pairs = table.pairs;
  data.traits = view.traits();
  // Nothing asks for it here, and rates that are only believed may contradict it.
  data.traits.traffic_gb.clear();
  data.tenants.assign(view.tenants().begin(), view.tenants().end());
  data.costs = view.costs();
  data.seed = view.seed();
  if (view.clock().kind == ClockKind::kHpc) data.clock = view.clock();
  for (const GpuType& type : data.cluster.types) {
    if (type.count < 1) return false;
  }
  for (Job& job : jobs_) {
    const int j = job.index, gang = view.Gang(j);
    if (!Size(view, job)) return false;
    const auto size = std::lower_bound(table.gang_sizes.begin(), table.gang_sizes.end(), gang);
    const auto row = U(view.JobType(j)) * table.gang_sizes.size() + U(size - table.gang_sizes.begin());
    std::uint64_t allowed = 0;
    bool fits = false;
    for (std::size_t g = 0; g < types; ++g) {
      const double rate = view.Rate(j, static_cast<int>(g));
      if (rate <= 0.0) continue;
      data.throughputs.alone[row * types + g] = rate;
      allowed |= std::uint64_t{1} << g;
      fits = fits || data.cluster.types[g].count >= gang;
    }
    if (!fits) return false;
    data.jobs.id.push_back(view.Id(j));
    data.jobs.arrival.push_back(view.Arrival(j));
    data.jobs.job_type.push_back(view.JobType(j));
    data.jobs.gang.push_back(gang);
    data.jobs.total_steps.push_back(job.size);
    data.jobs.weight.push_back(view.Weight(j));
    data.jobs.deadline.push_back(view.Deadline(j));
    data.jobs.tenant.push_back(view.TenantOf(j));
    data.jobs.requested_s.push_back(view.Requested(j));
    data.jobs.allowed.push_back(allowed);
  }
  scenario_.emplace(std::move(data));
  return true;
}

void Replay::Tell(Inner& inner) const {
  inner.predicted().clear();
  if (exact_ || jobs_.front().told <= 0.0) return;
  for (const Job& job : jobs_) inner.predicted().push_back(job.steps + job.told);
}

std::optional<Replay::Flow> Replay::Run(Inner& first, Inner& then) const {
  Model model(*scenario_);
  SimState& state = model.state();
  std::vector<int> room;
  for (const GpuType& type : scenario_->data().cluster.types) room.push_back(type.count);
  Decision places, decision;  // where they ran
  for (std::size_t k = 0; k < jobs_.size(); ++k) {
    const Job& job = jobs_[k];
    state.steps_done[k] = std::min(job.steps, job.size);
    state.run_seconds[k] = job.seconds;
    state.gpu_seconds[k] = job.gpu_seconds;
    const int gang = scenario_->data().jobs.gang[k];
    if (job.on_type >= 0 && room[U(job.on_type)] >= gang) {
      room[U(job.on_type)] -= gang;
      places.Start(static_cast<int>(k), job.on_type);
    } else {
      state.last_type[k] = static_cast<std::int8_t>(job.last_type);
    }
  }

  Inner* inner = nullptr;
  std::size_t left = kDecisionsAtLeast + kDecisionsAJob * jobs_.size();
  for (; model.AdvanceToDecision(); --left) {
    if (left == 0) return {};
    decision.Clear();
    if (model.now() < begin_) {
      decision.wake_at = begin_;
    } else {
      Inner* now = model.now() < end_ ? &first : &then;
      if (inner == nullptr && !model.Apply(places).ok()) return {};
      const ClusterView view = model.View(Knowledge::kOracle);
      if (now != inner) {
        inner = now;
        Tell(*inner);
        inner->Reset(view);
      }
      inner->DecideAll(view, decision);
      if (model.now() < end_) decision.wake_at = std::min(decision.wake_at, end_);
    }
    if (!model.Apply(decision).ok()) return {};
  }
  if (model.stalled()) return {};
  Flow flow;
  for (std::size_t k = 0; k < jobs_.size(); ++k) {
    const double from = std::max(begin_, scenario_->data().jobs.arrival[k]);
    const double until = std::min(state.completion[k], model.now());  // a job turned away counts to the end
    flow.job_seconds += until - from;
    flow.so_far += std::min(until, end_) - from;
  }
  return flow;
}

}  // namespace berth

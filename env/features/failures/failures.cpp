// Failures and repairs (failures.hpp). Every domain draws from a stream of its own, so when one fails does
// not depend on what schedulers did; it ages whether it is busy or not.
#include "env/features/failures/failures.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"
#include "env/base/spec.hpp"
#include "env/features/partitions/physical_gpus.hpp"
#include "env/features/topology/topology.hpp"
#include "env/sim/invariants.hpp"
#include "env/sim/simulator.hpp"

namespace berth {
namespace {

// Of each kind of domain the streams are episodes of their own; those of GPUs came first.
enum StreamOf : std::uint32_t { kGpu, kNode, kRack, kSpot };

constexpr int kNodesPerRack = 8;  // where nobody says how many

std::vector<std::string> SpotTypes(const FailureSettings& settings) {
  return settings.spot_types.empty() ? std::vector<std::string>{}
                                     : SplitOutsideParentheses(settings.spot_types, ':');
}

// Is one of the devices on, or a slice of, one of GPUs [first, last)?
bool StandsIn(const PhysicalGpus& gpus, std::span<const int> devices, int first, int last) {
  return std::any_of(devices.begin(), devices.end(),
                     [&](int d) { return gpus.gpu_of[U(d)] >= first && gpus.gpu_of[U(d)] < last; });
}

}  // namespace

std::span<const Field<FailureSettings>> FailureSettings::Fields() {
  using S = FailureSettings;
  static const std::array kFields = {
      Field<S>{"mtbf_h", &S::mtbf_h, "mean hours in service before a GPU fails; 0 = never"},
      Field<S>{"repair_h", &S::repair_h, "mean hours of a repair", 1e-3},
      Field<S>{"node_mtbf_h", &S::node_mtbf_h, "the same of a whole node; 0 = never"},
      Field<S>{"node_repair_h", &S::node_repair_h, "mean hours of its repair", 1e-3},
      Field<S>{"rack_mtbf_h", &S::rack_mtbf_h, "the same of a rack; 0 = never"},
      Field<S>{"rack_repair_h", &S::rack_repair_h, "mean hours of its repair", 1e-3},
      Field<S>{"nodes_per_rack", &S::nodes_per_rack,
               "nodes of one type in a rack; 0 = as the feature topology says, 8 where it says nothing"},
      Field<S>{"shape", &S::shape, "Weibull shape of times to failure, the mean kept; 1 = exponential", 0.2,
               20},
      Field<S>{"spot_types", &S::spot_types, "GPU types whose nodes may be reclaimed, a:b"},
      Field<S>{"spot_mtbf_h", &S::spot_mtbf_h, "mean hours before a spot node is reclaimed", 1e-3},
      Field<S>{"spot_away_h", &S::spot_away_h, "mean hours until it is back", 1e-3},
      Field<S>{"spot_notice_s", &S::spot_notice_s, "seconds of notice; it takes no new job from then on"},
      Field<S>{"log", &S::log, "CSV file of outages: down_s,up_s,kind,name[,notice_s]; name = TYPE/NUMBER"},
      Field<S>{"events", &S::events, "outages as down:up:kind:name[:notice], joined by |; instead of a log"},
  };
  return kFields;
}

void FailureSettings::Check(const ScenarioData& scenario) const {
  CheckTimedClock("failures", scenario.clock);
  for (double mtbf : {mtbf_h, node_mtbf_h, rack_mtbf_h}) {
    if (mtbf != 0.0 && mtbf < 1e-3)
      throw Error(
          Join("feature 'failures': expected a mean time between failures of 0 (never) or at least "
               "0.001 h, found ",
               mtbf));
  }
  std::vector<std::string> known;
  for (int g = 0; g < static_cast<int>(scenario.cluster.types.size()); ++g) {
    if (PartOf(scenario, g).whole == g) known.push_back(scenario.cluster.types[U(g)].name);
  }
  for (const std::string& name : SpotTypes(*this)) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw Error(
          Join("feature 'failures': spot_types: unknown GPU type '", name, "'", DidYouMean(name, known)));
  }
  const int racks = scenario.features.topology ? scenario.features.topology->nodes_per_rack : 0;
  if (nodes_per_rack > 0 && racks > 0 && nodes_per_rack != racks) {
    throw Error(Join("feature 'failures': nodes_per_rack: expected ", racks,
                     " as the feature topology says (or 0 for that), found ", nodes_per_rack));
  }
  PlannedOutages(*this, scenario);
}

int GpusPerRack(const FailureSettings& settings, const ScenarioData& scenario, int type) {
  std::int64_t nodes = settings.nodes_per_rack;
  if (nodes == 0 && scenario.features.topology) nodes = scenario.features.topology->nodes_per_rack;
  if (nodes == 0) nodes = kNodesPerRack;
  const GpuType& gpus = scenario.cluster.types[U(type)];
  return static_cast<int>(std::min<std::int64_t>(nodes * gpus.gpus_per_node, gpus.count));
}

// Gamma(z) = Gamma(z + 12) / (z (z+1) ... (z+11)); Stirling's series there (Abramowitz & Stegun 6.1.40) has
// an error below 1e-14.
double WeibullMean(double shape) {
  if (shape == 1.0) return 1.0;
  double z = 1.0 + 1.0 / shape, product = 1.0;
  for (int k = 0; k < 12; ++k, z += 1.0) product *= z;
  const double log_gamma = (z - 0.5) * Log(z) - z + 0.91893853320467274178 + 1.0 / (12.0 * z) -
                           1.0 / (360.0 * z * z * z) + 1.0 / (1260.0 * z * z * z * z * z) -
                           1.0 / (1680.0 * z * z * z * z * z * z * z) +
                           1.0 / (1188.0 * z * z * z * z * z * z * z * z * z);
  return Exp(log_gamma) / product;
}

void FailureEngine::Start(Simulator& sim) {
  const ScenarioData& data = sim.scenario().data();
  const FailureSettings& settings = *data.features.failures;
  FailureState state;
  state.gpus_ = std::make_shared<const PhysicalGpus>(MakePhysicalGpus(data));
  const PhysicalGpus& gpus = *state.gpus_;
  const auto add = [&](int first, int last, double up_h, double repair_h, double notice_s, StreamOf kind,
                       int number) {
    const Stream stream(data.seed, Purpose::kFailures, Split::kTrain, static_cast<std::uint32_t>(number),
                        kind);
    state.domains_.push_back({first, last, up_h, repair_h, notice_s, stream});
  };
  for (int gpu = 0; gpu < gpus.count(); ++gpu)
    add(gpu, gpu + 1, settings.mtbf_h, settings.repair_h, 0.0, kGpu, gpu);
  const std::vector<std::string> spot = SpotTypes(settings);
  int nodes = 0, racks = 0;
  for (int g = 0; g < sim.scenario().num_types(); ++g) {
    if (gpus.parts[U(g)].whole != g) continue;
    const GpuType& type = data.cluster.types[U(g)];
    const int first = gpus.first_of_type[U(g)], last = first + type.count;
    const bool reclaimed = std::find(spot.begin(), spot.end(), type.name) != spot.end();
    for (int gpu = first; gpu < last; gpu += type.gpus_per_node, ++nodes) {
      const int end = std::min(gpu + type.gpus_per_node, last);
      if (settings.node_mtbf_h > 0.0)
        add(gpu, end, settings.node_mtbf_h, settings.node_repair_h, 0.0, kNode, nodes);
      if (reclaimed)
        add(gpu, end, settings.spot_mtbf_h, settings.spot_away_h, settings.spot_notice_s, kSpot, nodes);
    }
    const int rack = GpusPerRack(settings, data, g);
    for (int gpu = first; settings.rack_mtbf_h > 0.0 && gpu < last; gpu += rack, ++racks) {
      add(gpu, std::min(gpu + rack, last), settings.rack_mtbf_h, settings.rack_repair_h, 0.0, kRack, racks);
    }
  }
  const int drawn = static_cast<int>(state.domains_.size());
  for (const PlannedOutage& outage : PlannedOutages(settings, data)) {
    add(outage.first, outage.last, 0.0, 0.0, outage.notice, kGpu, 0);
    state.domains_.back().repair_s = outage.up - outage.down;
    const int domain = static_cast<int>(state.domains_.size()) - 1;
    const double down = outage.down;
    if (outage.notice > 0.0) {
      sim.timers_.Push({down - outage.notice, TimerKind::kNotice, domain});
    } else {
      sim.timers_.Push({down, TimerKind::kFailure, domain});
    }
  }
  state.down_.assign(U(sim.scenario().num_gpus()), 0);
  state.announced_on_ = state.down_;
  state.down_at_.assign(state.down_.size(), kNever);
  state.scale_ = 1.0 / WeibullMean(settings.shape);
  sim.state_.failures = Owned<FailureState>::Make(std::move(state));
  for (int domain = 0; domain < drawn; ++domain) Await(sim, domain);
}

void FailureEngine::Await(Simulator& sim, int domain) {
  FailureState& state = *sim.state_.failures;
  FailureState::Domain& d = state.domains_[U(domain)];
  if (d.up_h <= 0.0) return;
  const double shape = sim.scenario().data().features.failures->shape;
  const double hours = shape == 1.0 ? d.stream.Exponential(d.up_h)
                                    : d.up_h * state.scale_ * Pow(d.stream.Exponential(1.0), 1.0 / shape);
  const double down = sim.now() + 3600.0 * hours;  // with notice: the end of it
  const bool notice = d.notice_s > 0.0;
  sim.timers_.Push({notice ? std::max(sim.now(), down - d.notice_s) : down,
                    notice ? TimerKind::kNotice : TimerKind::kFailure, domain});
}

// The earliest that is announced, device by device of the domain.
void FailureEngine::FindDownAt(Simulator& sim, int domain) {
  FailureState& state = *sim.state_.failures;
  const FailureState::Domain& changed = state.domains_[U(domain)];
  for (int d : state.gpus_->Devices(changed.first, changed.last)) state.down_at_[U(d)] = kNever;
  for (const FailureState::Domain& other : state.domains_) {
    const int first = std::max(other.first, changed.first), last = std::min(other.last, changed.last);
    if (other.down_at == kNever || first >= last) continue;
    for (int d : state.gpus_->Devices(first, last))
      state.down_at_[U(d)] = std::min(state.down_at_[U(d)], other.down_at);
  }
}

bool FailureEngine::OnNotice(Simulator& sim, int domain) {
  FailureState& state = *sim.state_.failures;
  FailureState::Domain& d = state.domains_[U(domain)];
  d.down_at = sim.now() + d.notice_s;
  ++state.announced_;
  for (int device : state.gpus_->Devices(d.first, d.last)) {
    if (++state.announced_on_[U(device)] == 1) sim.SetService(device, kDraining, true);
  }
  FindDownAt(sim, domain);
  sim.timers_.Push({d.down_at, TimerKind::kFailure, domain});
  return true;
}

bool FailureEngine::OnFailure(Simulator& sim, int domain) {
  SimState& s = sim.state_;
  FailureState& state = *s.failures;
  FailureState::Domain& d = state.domains_[U(domain)];
  ++state.outages_;
  for (int device : state.gpus_->Devices(d.first, d.last)) {
    if (++state.down_[U(device)] == 1) sim.SetService(device, kFailed, true);
  }
  // Whoever holds a part of it, however GPUs are shared; within a round some have completed already.
  std::vector<int> lost;
  for (int job : s.running) {
    if (StandsIn(*state.gpus_, s.Devices(job), d.first, d.last) && s.phase[U(job)] == JobPhase::kRunning)
      lost.push_back(job);
  }
  for (int job : lost) sim.Interrupt(job);
  if (d.down_at != kNever) {
    d.down_at = kNever;
    --state.announced_;
    FindDownAt(sim, domain);
  }
  const double seconds = d.up_h > 0.0 ? 3600.0 * d.stream.Exponential(d.repair_h) : d.repair_s;
  if (seconds != kNever) sim.timers_.Push({s.now + seconds, TimerKind::kRepair, domain});
  return true;
}

bool FailureEngine::OnRepair(Simulator& sim, int domain) {
  FailureState& state = *sim.state_.failures;
  const FailureState::Domain& d = state.domains_[U(domain)];
  for (int device : state.gpus_->Devices(d.first, d.last)) {
    if (--state.down_[U(device)] == 0) sim.SetService(device, kFailed, false);
    if (d.notice_s > 0.0 && --state.announced_on_[U(device)] == 0) sim.SetService(device, kDraining, false);
  }
  Await(sim, domain);
  return true;
}

double FailureEngine::RateOf(const Simulator& sim, int job) {
  double rate = 0.0;
  const std::span<const int> devices = sim.state_.Devices(job);
  for (const FailureState::Domain& d : sim.state_.failures->domains_) {
    if (d.up_h <= 0.0) continue;
    if (StandsIn(*sim.state_.failures->gpus_, devices, d.first, d.last)) rate += 1.0 / (3600.0 * d.up_h);
  }
  return rate;
}

struct FailureInvariant {
  static std::string Violation(const SimState& s) {
    const FailureState& state = *s.failures;
    for (std::size_t d = 0; d < s.device_job.size(); ++d) {
      if (((s.out_of_service[d] & kFailed) != 0) != (state.down_[d] > 0))
        return Join("device ", d, ": ", state.down_[d], " failures, and the service disagrees");
      if (((s.out_of_service[d] & kDraining) != 0) != (state.announced_on_[d] > 0))
        return Join("device ", d, ": ", state.announced_on_[d], " notices, and the service disagrees");
      const int job = s.device_job[d];
      if (job >= 0 && s.phase[U(job)] == JobPhase::kRunning && state.down_[d] > 0)
        return Join("job ", job, " runs on device ", d, ", which is down");
      if (state.down_at_[d] < s.now) return Join("device ", d, " should have gone at ", state.down_at_[d]);
    }
    return "";
  }
};

std::string FailureViolation(const InvariantInput& input) {
  return input.state.failures ? FailureInvariant::Violation(input.state) : "";
}

}  // namespace berth

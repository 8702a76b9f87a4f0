// Failures and repairs (failures.hpp). Every domain draws from a stream of its own, so when one fails does
// not depend on what schedulers did; it ages whether it is busy or not.
#include "env/features/failures/failures.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"
#include "env/base/spec.hpp"
#include "env/features/table.hpp"
#include "env/sim/core.hpp"
#include "env/sim/invariants.hpp"
#include "env/sim/physical_gpus.hpp"

namespace berth {
namespace {

// Of each kind of domain the streams are episodes of their own; those of GPUs came first.
enum FailureStream : std::uint32_t { kGpuStream, kNodeStream, kRackStream, kSpotStream };

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
  for (const Features::On& on : scenario.features.on()) {
    const int racks = on.settings->NodesPerRack();
    if (nodes_per_rack > 0 && racks > 0 && nodes_per_rack != racks) {
      throw Error(Join("feature 'failures': nodes_per_rack: expected ", racks, " as the feature ",
                       on.module->name, " says (or 0 for that), found ", nodes_per_rack));
    }
  }
  PlannedOutages(*this, scenario);
}

int GpusPerRack(const FailureSettings& settings, const ScenarioData& scenario, int type) {
  std::int64_t nodes = settings.nodes_per_rack;
  for (const Features::On& on : scenario.features.on()) {
    if (nodes == 0) nodes = on.settings->NodesPerRack();
  }
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

std::unique_ptr<FeatureState> FailureSettings::MakeState(const Scenario& scenario) const {
  return std::make_unique<FailureState>(*this, scenario);
}

void FailureState::Add(const ScenarioData& scenario, int first, int last, double up_h, double repair_h,
                       double notice_s, std::uint32_t kind, int number) {
  const Stream stream(scenario.seed, kFailureDraws, Split::kTrain, static_cast<std::uint32_t>(number), kind);
  domains_.push_back({first, last, up_h, repair_h, notice_s, stream});
}

FailureState::FailureState(const FailureSettings& settings, const Scenario& scenario)
    : settings_(&settings),
      gpus_(std::make_shared<const PhysicalGpus>(MakePhysicalGpus(scenario.data()))),
      down_(U(scenario.num_gpus()), 0),
      announced_on_(down_),
      down_at_(down_.size(), kNever),
      scale_(1.0 / WeibullMean(settings.shape)) {
  const ScenarioData& data = scenario.data();
  const PhysicalGpus& gpus = *gpus_;
  for (int gpu = 0; gpu < gpus.count(); ++gpu)
    Add(data, gpu, gpu + 1, settings.mtbf_h, settings.repair_h, 0.0, kGpuStream, gpu);
  const std::vector<std::string> spot = SpotTypes(settings);
  int nodes = 0, racks = 0;
  for (int g = 0; g < scenario.num_types(); ++g) {
    if (gpus.parts[U(g)].whole != g) continue;
    const GpuType& type = data.cluster.types[U(g)];
    const int first = gpus.first_of_type[U(g)], last = first + type.count;
    const bool reclaimed = std::find(spot.begin(), spot.end(), type.name) != spot.end();
    for (int gpu = first; gpu < last; gpu += type.gpus_per_node, ++nodes) {
      const int end = std::min(gpu + type.gpus_per_node, last);
      if (settings.node_mtbf_h > 0.0)
        Add(data, gpu, end, settings.node_mtbf_h, settings.node_repair_h, 0.0, kNodeStream, nodes);
      if (reclaimed)
        Add(data, gpu, end, settings.spot_mtbf_h, settings.spot_away_h, settings.spot_notice_s, kSpotStream,
            nodes);
    }
    const int rack = GpusPerRack(settings, data, g);
    for (int gpu = first; settings.rack_mtbf_h > 0.0 && gpu < last; gpu += rack, ++racks) {
      Add(data, gpu, std::min(gpu + rack, last), settings.rack_mtbf_h, settings.rack_repair_h, 0.0,
          kRackStream, racks);
    }
  }
}

void FailureState::Start(SimCore& core) {
  const ScenarioData& data = core.scenario().data();
  const int drawn = static_cast<int>(domains_.size());
  for (const PlannedOutage& outage : PlannedOutages(*settings_, data)) {
    Add(data, outage.first, outage.last, 0.0, 0.0, outage.notice, kGpuStream, 0);
    domains_.back().repair_s = outage.up - outage.down;
    const int domain = static_cast<int>(domains_.size()) - 1;
    if (outage.notice > 0.0) {
      core.SetTimer({outage.down - outage.notice, kNotice, domain});
    } else {
      core.SetTimer({outage.down, kFailure, domain});
    }
  }
  for (int domain = 0; domain < drawn; ++domain) Await(core, domain);
}

bool FailureState::OnTimer(SimCore& core, const Timer& timer) {
  if (timer.kind == kRepair) Repair(core, timer.index);
  if (timer.kind == kFailure) Fail(core, timer.index);
  if (timer.kind == kNotice) Announce(core, timer.index);
  return true;
}

void FailureState::Await(SimCore& core, int domain) {
  Domain& d = domains_[U(domain)];
  if (d.up_h <= 0.0) return;
  const double shape = settings_->shape;
  const double hours = shape == 1.0 ? d.stream.Exponential(d.up_h)
                                    : d.up_h * scale_ * Pow(d.stream.Exponential(1.0), 1.0 / shape);
  const double down = core.now() + 3600.0 * hours;  // with notice: the end of it
  if (d.notice_s > 0.0) {
    core.SetTimer({std::max(core.now(), down - d.notice_s), kNotice, domain});
  } else {
    core.SetTimer({down, kFailure, domain});
  }
}

// The earliest that is announced, device by device of the domain.
void FailureState::FindDownAt(int domain) {
  const Domain& changed = domains_[U(domain)];
  for (int d : gpus_->Devices(changed.first, changed.last)) down_at_[U(d)] = kNever;
  for (const Domain& other : domains_) {
    const int first = std::max(other.first, changed.first), last = std::min(other.last, changed.last);
    if (other.down_at == kNever || first >= last) continue;
    for (int d : gpus_->Devices(first, last)) down_at_[U(d)] = std::min(down_at_[U(d)], other.down_at);
  }
}

void FailureState::Announce(SimCore& core, int domain) {
  Domain& d = domains_[U(domain)];
  d.down_at = core.now() + d.notice_s;
  ++announced_;
  for (int device : gpus_->Devices(d.first, d.last)) {
    if (++announced_on_[U(device)] == 1) core.SetService(device, kDraining, true);
  }
  FindDownAt(domain);
  core.SetTimer({d.down_at, kFailure, domain});
}

void FailureState::Fail(SimCore& core, int domain) {
  const SimState& s = core.state();
  Domain& d = domains_[U(domain)];
  ++outages_;
  for (int device : gpus_->Devices(d.first, d.last)) {
    if (++down_[U(device)] == 1) core.SetService(device, kFailed, true);
  }
  // Whoever holds a part of it, however GPUs are shared; within a round some have completed already.
  std::vector<int> lost;
  for (int job : s.running) {
    if (StandsIn(*gpus_, s.Devices(job), d.first, d.last) && s.phase[U(job)] == JobPhase::kRunning)
      lost.push_back(job);
  }
  for (int job : lost) core.Interrupt(job);
  if (d.down_at != kNever) {
    d.down_at = kNever;
    --announced_;
    FindDownAt(domain);
  }
  const double seconds = d.up_h > 0.0 ? 3600.0 * d.stream.Exponential(d.repair_h) : d.repair_s;
  if (seconds != kNever) core.SetTimer({s.now + seconds, kRepair, domain});
}

void FailureState::Repair(SimCore& core, int domain) {
  const Domain& d = domains_[U(domain)];
  for (int device : gpus_->Devices(d.first, d.last)) {
    if (--down_[U(device)] == 0) core.SetService(device, kFailed, false);
    if (d.notice_s > 0.0 && --announced_on_[U(device)] == 0) core.SetService(device, kDraining, false);
  }
  Await(core, domain);
}

double FailureState::FailuresPerSecond(const SimState& s, int job) const {
  double rate = 0.0;
  const std::span<const int> devices = s.Devices(job);
  for (const Domain& d : domains_) {
    if (d.up_h <= 0.0) continue;
    if (StandsIn(*gpus_, devices, d.first, d.last)) rate += 1.0 / (3600.0 * d.up_h);
  }
  return rate;
}

std::string FailureState::Violation(const InvariantInput& in) const {
  const SimState& s = in.state;
  for (std::size_t d = 0; d < s.device_job.size(); ++d) {
    if (((s.out_of_service[d] & kFailed) != 0) != (down_[d] > 0))
      return Join("device ", d, ": ", down_[d], " failures, and the service disagrees");
    if (((s.out_of_service[d] & kDraining) != 0) != (announced_on_[d] > 0))
      return Join("device ", d, ": ", announced_on_[d], " notices, and the service disagrees");
    const int job = s.device_job[d];
    if (job >= 0 && s.phase[U(job)] == JobPhase::kRunning && down_[d] > 0)
      return Join("job ", job, " runs on device ", d, ", which is down");
    if (down_at_[d] < s.now) return Join("device ", d, " should have gone at ", down_at_[d]);
  }
  return "";
}

FeatureModule FailuresFeature() {
  static constexpr TimerKind kTimers[] = {kRepair, kFailure, kNotice};
  static constexpr BlockInfo (*kBlocks[])() = {FailuresBlock};
  FeatureModule module = ModuleOf<FailureSettings>();
  module.timers = kTimers;
  module.blocks = kBlocks;
  return module;
}

}  // namespace berth

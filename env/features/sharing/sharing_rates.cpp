// How fast jobs run that share a GPU (sharing.hpp).
//
// Classes as in Kubernetes (QoS of pods, requests and limits): a guaranteed job has its share and never more
// (request = limit), a burstable one its share and of what is idle, a best-effort one only of what is idle.
// With s_j the share of job j and u_j the compute that it can use (1, or s_j where share_suffices):
//
//   promised  g_j = min(s_j, u_j), best effort 0
//   given     a_j = g_j + what burstable jobs fill up to u_j of 1 - sum g - what is not a job has there,
//             in proportion to s, then best effort
//   rate      R_j e (g_j + f (a_j - g_j)) / u_j
//
// R_j is the rate alone on the GPU. f = 1 / (1 + interference (n - 1)) slows what is not promised: contention
// beyond quotas grows about linearly with co-located jobs (Xu et al., iGniter, TPDS 2023, §3.1, fit it per
// job; here it is one number of the scenario). e = quantum / (quantum + switch) is what switching between
// slices leaves of the GPU when there are two or more (1 without time slices); a share is of that.
// Memory: jobs use b_j of the GPU's bandwidth alone at full speed (Scenario::BandwidthShare) and so ask for
// d_j = b_j c_j at c_j of it, the factors above. What there is is divided max-min fairly (who asks for less
// than an equal part has what he asks for: Nesbit et al., Fair Queuing Memory Systems, MICRO 2006), and who
// has got of d runs at got / d of c: the narrower of two bottlenecks (Williams, Waterman & Patterson,
// Roofline, CACM 2009). A promise is one of compute. Where the table has measured what two jobs do beside
// each other (ThroughputTable::pairs) and neither is guaranteed and both are of one class, they run at e
// times the measured rates, at their promise at least: in these the memory is contained.
#include <algorithm>
#include <vector>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/features/sharing/sharing.hpp"
#include "env/sim/core.hpp"
#include "env/sim/invariants.hpp"

namespace berth {
namespace {

double Share(const JobTable& jobs, int job) {
  return jobs.gpu_milli.empty() ? 1.0 : jobs.gpu_milli[U(job)] / 1000.0;
}
Qos QosOf(const JobTable& jobs, int job) {
  return jobs.qos.empty() ? Qos::kGuaranteed : static_cast<Qos>(jobs.qos[U(job)]);
}

// What taking `part` leaves of a GPU. Less than kRounding is what sums are rounded by: nobody makes progress
// on it, however little.
constexpr double kRounding = 1e-12;
double Less(double left, double part) {
  return left - part > kRounding ? left - part : 0.0;
}

// Of a GPU, by what is not a job.
double HeldShareOf(const SimState& s, int device) {
  double held = 0.0;
  for (const FeatureState& feature : s.features.Of(Hook::kHeldShare)) held += feature.HeldShare(device);
  return held;
}

// What the table has measured of a job beside another, over its rate alone; 0 = nothing.
double MeasuredBeside(const Scenario& scenario, int job, int other, int type) {
  const ThroughputTable& table = scenario.data().throughputs;
  const double alone = scenario.Rate(job, type);
  if (table.pairs.empty() || alone <= 0.0) return 0.0;
  const std::size_t first = U(scenario.data().jobs.job_type[U(job)]);
  const std::size_t second = U(scenario.data().jobs.job_type[U(other)]);
  const std::size_t row = first * table.job_types.size() + second;
  const double* rates = &table.pairs[(row * scenario.data().cluster.types.size() + U(type)) * 2];
  return rates[1] > 0.0 ? rates[0] / alone : 0.0;
}

}  // namespace

double SharingState::Usable(const Scenario& scenario, int job) const {
  return settings_->share_suffices ? Share(scenario.data().jobs, job) : 1.0;
}

double SharingState::PromisedTo(const Scenario& scenario, int job) const {
  if (QosOf(scenario.data().jobs, job) == Qos::kBestEffort) return 0.0;
  return std::min(Share(scenario.data().jobs, job), Usable(scenario, job));
}

double SharingState::Efficiency(std::size_t jobs) const {
  if (jobs < 2 || settings_->quantum_s == 0.0) return 1.0;
  return settings_->quantum_s / (settings_->quantum_s + settings_->switch_s);
}

// Gives `left` to those of a class in proportion to their shares, nobody more than he can use (water
// filling); what job gets of it. Reduces `left` by what all of them get.
double SharingState::Fill(const Scenario& scenario, const std::vector<int>& jobs, Qos qos, int job,
                          double& left) const {
  struct Want {
    int job;
    double share, room;
  };
  const JobTable& table = scenario.data().jobs;
  std::vector<Want> wants;
  double shares = 0.0, mine = 0.0;
  for (int j : jobs) {
    if (QosOf(table, j) != qos) continue;
    wants.push_back({j, Share(table, j), Usable(scenario, j) - PromisedTo(scenario, j)});
    shares += wants.back().share;
  }
  // Those who are full first: least room for their share.
  std::stable_sort(wants.begin(), wants.end(),
                   [](const Want& a, const Want& b) { return a.room * b.share < b.room * a.share; });
  for (const Want& want : wants) {
    const double given = std::min(want.room, left * want.share / shares);
    left = Less(left, given);
    shares -= want.share;
    if (want.job == job) mine = given;
  }
  return mine;
}

double SharingState::Promised(const Scenario& scenario, const SimState& s, int device) const {
  double promised = 0.0;
  for (int job : s.parts[U(device)]) promised += PromisedTo(scenario, job);
  return promised;
}

struct SharingState::Compute {  // of its device, as a fraction; of a job that holds a part
  double promised, extra, usable;
  double efficiency;      // of time slices
  double measured = 0.0;  // rate beside its one neighbour over its rate alone; 0 = by the model
};

SharingState::Compute SharingState::Divide(const Scenario& scenario, const SimState& s, int job) const {
  const int device = s.Devices(job).front();
  const std::vector<int>& jobs = s.parts[U(device)];
  const double held = HeldShareOf(s, device);
  Compute own{PromisedTo(scenario, job), 0.0, Usable(scenario, job), Efficiency(jobs.size())};
  const Qos qos = QosOf(scenario.data().jobs, job);
  if (jobs.size() == 2 && qos != Qos::kGuaranteed) {
    const int other = jobs[0] == job ? jobs[1] : jobs[0];
    if (QosOf(scenario.data().jobs, other) == qos)
      own.measured = (1.0 - held) * MeasuredBeside(scenario, job, other, s.on_type[U(job)]);
    if (own.measured > 0.0) return own;
  }
  double left = Less(1.0 - held, Promised(scenario, s, device));
  const double burst = Fill(scenario, jobs, Qos::kBurstable, job, left);
  if (qos == Qos::kBurstable) own.extra = burst;
  if (qos == Qos::kBestEffort) own.extra = Fill(scenario, jobs, Qos::kBestEffort, job, left);
  return own;
}

double SharingState::BandwidthFactor(const Scenario& scenario, const SimState& s, int job) const {
  const JobTypeTraits& traits = scenario.data().traits;
  const std::vector<int>& jobs = s.parts[U(s.Devices(job).front())];
  const bool stated = !traits.bandwidth.empty() || !traits.traffic_gb.empty();
  if (!stated || jobs.size() < 2 || Divide(scenario, s, job).measured > 0.0) return 1.0;
  std::vector<double> demands;
  double own = 0.0, left = 1.0;
  for (int j : jobs) {
    demands.push_back(scenario.BandwidthShare(j, s.on_type[U(job)]) * ComputeFactor(scenario, s, j));
    if (j == job) own = demands.back();
  }
  std::sort(demands.begin(), demands.end());
  for (std::size_t i = 0; i < demands.size(); ++i) {
    const double part = left / static_cast<double>(demands.size() - i);
    if (demands[i] > part) return own > part ? part / own : 1.0;
    left -= demands[i];
  }
  return 1.0;
}

double SharingState::GpuFactor(const Scenario& scenario, const SimState& s, int job,
                               bool /*full_clocks*/) const {
  if (Share(scenario.data().jobs, job) == 1.0) return 1.0;
  return ComputeFactor(scenario, s, job) * BandwidthFactor(scenario, s, job);
}

double SharingState::ComputeFactor(const Scenario& scenario, const SimState& s, int job) const {
  const Compute own = Divide(scenario, s, job);
  if (own.measured > 0.0) return own.efficiency * std::max(own.measured, own.promised / own.usable);
  const std::size_t jobs = s.parts[U(s.Devices(job).front())].size();
  const double slowed = own.extra / (1.0 + settings_->interference * static_cast<double>(jobs - 1));
  return own.efficiency * (own.promised + slowed) / own.usable;
}

double SharingState::GpuShare(const Scenario& scenario, const SimState& s, int job) const {
  if (Share(scenario.data().jobs, job) == 1.0) return 1.0;
  const Compute own = Divide(scenario, s, job);
  const double given =
      own.measured > 0.0 ? std::max(own.measured * own.usable, own.promised) : own.promised + own.extra;
  return std::min(1.0, own.efficiency * given);
}

std::string SharingState::Violation(const InvariantInput& in) const {
  const SimState& s = in.state;
  const bool alone = s.features.entries().size() == 1;  // nothing else slows
  for (int job : s.running) {
    if (s.Devices(job).empty() || s.phase[U(job)] != JobPhase::kRunning) continue;
    if (!in.scenario.HoldsPart(job)) continue;  // it shares with a pack, which promises nothing
    const int device = s.Devices(job).front();
    const double least = PromisedTo(in.scenario, job) / Usable(in.scenario, job) *
                         Efficiency(s.parts[U(device)].size()) * BandwidthFactor(in.scenario, s, job);
    if (least == 0.0) continue;
    const double factor = GpuFactor(in.scenario, s, job, /*full_clocks=*/false);
    if (factor < least * (1.0 - 1e-12))
      return Join("job ", job, " is given ", factor, " of its rate alone and is promised ", least);
    const double rate = least * in.scenario.Rate(job, s.on_type[U(job)]);
    if (alone && s.rate[U(job)] < rate * (1.0 - 1e-12))
      return Join("job ", job, " runs at ", s.rate[U(job)], " steps/s and is promised ", rate);
    const double promised = Promised(in.scenario, s, device), held = HeldShareOf(s, device);
    if (promised + held > 1.0 + 1e-9)
      return Join("device ", device, ": ", promised, " of it is promised, and what is not a job has ", held);
    double memory = 0.0;
    for (int j : s.parts[U(device)]) memory += in.scenario.MemoryGb(j);
    const double most = MemoryOf(in.scenario, s.on_type[U(job)]);
    if (!HoldsGb(most, memory, most))
      return Join("device ", device, ": its jobs hold ", memory, " GB of its ", most);
  }
  return "";
}

}  // namespace berth

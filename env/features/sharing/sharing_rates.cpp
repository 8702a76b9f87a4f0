// How fast jobs run that share a GPU (sharing.hpp).
//
// Classes as in Kubernetes (QoS of pods, requests and limits): a guaranteed job has its share and never more
// (request = limit), a burstable one its share and of what is idle, a best-effort one only of what is idle.
// With s_j the share of job j and u_j the compute that it can use (1, or s_j where share_suffices):
//
//   promised  g_j = min(s_j, u_j), best effort 0
//   given     a_j = g_j + what burstable jobs fill up to u_j of 1 - sum g - what a replica of a service has
//             there, in proportion to s, then best effort
//   rate      R_j e (g_j + f (a_j - g_j)) / u_j
//
// R_j is the rate alone on the GPU. f = 1 / (1 + interference (n - 1)) slows what is not promised: contention
// beyond quotas grows about linearly with co-located jobs (Xu et al., iGniter, TPDS 2023, §3.1, fit it per
// job; here it is one number of the scenario). e = quantum / (quantum + switch) is what switching between
// slices leaves of the GPU when there are two or more (1 without time slices); a share is of that.
// Where the table has measured what two jobs do beside each other (ThroughputTable::pairs) and neither is
// guaranteed and both are of one class, they run at e times the measured rates, at their promise at least.
#include <algorithm>
#include <vector>

#include "env/base/index.hpp"
#include "env/features/services/services.hpp"
#include "env/features/sharing/sharing.hpp"
#include "env/sim/simulator.hpp"

namespace berth {
namespace {

double Share(const JobTable& jobs, int job) {
  return jobs.gpu_milli.empty() ? 1.0 : jobs.gpu_milli[U(job)] / 1000.0;
}
Qos QosOf(const JobTable& jobs, int job) {
  return jobs.qos.empty() ? Qos::kGuaranteed : static_cast<Qos>(jobs.qos[U(job)]);
}

double Usable(const ScenarioData& data, int job) {
  return data.features.sharing->share_suffices ? Share(data.jobs, job) : 1.0;
}
double Promised(const ScenarioData& data, int job) {
  if (QosOf(data.jobs, job) == Qos::kBestEffort) return 0.0;
  return std::min(Share(data.jobs, job), Usable(data, job));
}

double Efficiency(const SharingSettings& settings, std::size_t jobs) {
  if (jobs < 2 || settings.quantum_s == 0.0) return 1.0;
  return settings.quantum_s / (settings.quantum_s + settings.switch_s);
}

// What the table has measured of a job beside another, over its rate alone; 0 = nothing.
double Measured(const Scenario& scenario, int job, int other, int type) {
  const ThroughputTable& table = scenario.data().throughputs;
  const double alone = scenario.Rate(job, type);
  if (table.pairs.empty() || alone <= 0.0) return 0.0;
  const std::size_t first = U(scenario.data().jobs.job_type[U(job)]);
  const std::size_t second = U(scenario.data().jobs.job_type[U(other)]);
  const std::size_t row = first * table.job_types.size() + second;
  const double* rates = &table.pairs[(row * scenario.data().cluster.types.size() + U(type)) * 2];
  return rates[1] > 0.0 ? rates[0] / alone : 0.0;
}

// Gives `left` to those of a class in proportion to their shares, nobody more than he can use (water
// filling); what job gets of it. Reduces `left` by what all of them get.
double Fill(const ScenarioData& data, const std::vector<int>& jobs, Qos qos, int job, double& left) {
  struct Want {
    int job;
    double share, room;
  };
  std::vector<Want> wants;
  double shares = 0.0, mine = 0.0;
  for (int j : jobs) {
    if (QosOf(data.jobs, j) != qos) continue;
    wants.push_back({j, Share(data.jobs, j), Usable(data, j) - Promised(data, j)});
    shares += wants.back().share;
  }
  // Those who are full first: least room for their share.
  std::stable_sort(wants.begin(), wants.end(),
                   [](const Want& a, const Want& b) { return a.room * b.share < b.room * a.share; });
  for (const Want& want : wants) {
    const double given = std::min(want.room, left * want.share / shares);
    left = std::max(left - given, 0.0);
    shares -= want.share;
    if (want.job == job) mine = given;
  }
  return mine;
}

}  // namespace

double PromisedFraction(const Scenario& scenario, const SimState& s, int job) {
  const ScenarioData& data = scenario.data();
  if (Share(data.jobs, job) == 1.0) return 0.0;  // it shares with a pack or a replica, which promise nothing
  return Promised(data, job) / Usable(data, job) *
         Efficiency(*data.features.sharing, s.sharing->jobs[U(s.Devices(job).front())].size());
}

double PromisedPart(const Scenario& scenario, int job) {
  return Share(scenario.data().jobs, job) == 1.0 ? 0.0 : Promised(scenario.data(), job);
}

double PromisedOn(const Scenario& scenario, const SimState& s, int device) {
  double promised = 0.0;
  if (!s.sharing) return promised;
  for (int job : s.sharing->jobs[U(device)]) promised += Promised(scenario.data(), job);
  return promised;
}

namespace {

struct Compute {  // of its device, as a fraction; of a job that holds a part
  double promised, extra, usable;
  double efficiency;      // of time slices
  double measured = 0.0;  // rate beside its one neighbour over its rate alone; 0 = by the model
};

Compute Divide(const Scenario& scenario, const SimState& s, int job) {
  const ScenarioData& data = scenario.data();
  const int device = s.Devices(job).front();
  const std::vector<int>& jobs = s.sharing->jobs[U(device)];
  const double replica = s.services ? ReplicaShare(scenario, s, device) : 0.0;
  Compute own{Promised(data, job), 0.0, Usable(data, job), Efficiency(*data.features.sharing, jobs.size())};
  const Qos qos = QosOf(data.jobs, job);
  if (jobs.size() == 2 && qos != Qos::kGuaranteed) {
    const int other = jobs[0] == job ? jobs[1] : jobs[0];
    if (QosOf(data.jobs, other) == qos)
      own.measured = (1.0 - replica) * Measured(scenario, job, other, s.on_type[U(job)]);
    if (own.measured > 0.0) return own;
  }
  double left = std::max(1.0 - replica - PromisedOn(scenario, s, device), 0.0);
  const double burst = Fill(data, jobs, Qos::kBurstable, job, left);
  if (qos == Qos::kBurstable) own.extra = burst;
  if (qos == Qos::kBestEffort) own.extra = Fill(data, jobs, Qos::kBestEffort, job, left);
  return own;
}

}  // namespace

double SharingEngine::Factor(const Scenario& scenario, const SimState& s, int job) {
  const ScenarioData& data = scenario.data();
  if (Share(data.jobs, job) == 1.0) return 1.0;
  const Compute own = Divide(scenario, s, job);
  if (own.measured > 0.0) return own.efficiency * std::max(own.measured, own.promised / own.usable);
  const std::size_t jobs = s.sharing->jobs[U(s.Devices(job).front())].size();
  const double slowed =
      own.extra / (1.0 + data.features.sharing->interference * static_cast<double>(jobs - 1));
  return own.efficiency * (own.promised + slowed) / own.usable;
}

double SharingEngine::Given(const Scenario& scenario, const SimState& s, int job) {
  if (Share(scenario.data().jobs, job) == 1.0) return 1.0;
  const Compute own = Divide(scenario, s, job);
  const double given =
      own.measured > 0.0 ? std::max(own.measured * own.usable, own.promised) : own.promised + own.extra;
  return std::min(1.0, own.efficiency * given);
}

}  // namespace berth

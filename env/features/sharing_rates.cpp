// How fast jobs run that share a GPU (sharing.hpp).
//
// Classes as in Kubernetes (QoS of pods, requests and limits): a guaranteed job has its share and never more
// (request = limit), a burstable one its share and of what is idle, a best-effort one only of what is idle.
// With s_j the share of job j and u_j the compute that it can use (1, or s_j where share_suffices):
//
//   promised  g_j = min(s_j, u_j), best effort 0
//   given     a_j = g_j + what burstable jobs fill up to u_j of 1 - sum g, in proportion to s, then best
//   effort rate      R_j e (g_j + f (a_j - g_j)) / u_j
//
// R_j is the rate alone on the GPU. f = 1 / (1 + interference (n - 1)) slows what is not promised: contention
// beyond quotas grows about linearly with co-located jobs (Xu et al., iGniter, TPDS 2023, §3.1, fit it per
// job; here it is one number of the scenario). e = quantum / (quantum + switch) is what switching between
// slices leaves of the GPU when there are two or more (1 without time slices); a share is of that.
// Where the table has measured what two jobs do beside each other (ThroughputTable::pairs) and neither is
// guaranteed and both are of one class, they run at e times the measured rates, at their promise at least.
#include <algorithm>
#include <vector>

#include "env/features/sharing.hpp"
#include "env/index.hpp"
#include "env/simulator.hpp"

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
  if (Share(data.jobs, job) == 1.0)
    return 0.0;  // it shares with nobody but by a pack, which promises nothing
  return Promised(data, job) / Usable(data, job) *
         Efficiency(*data.features.sharing, s.sharing->jobs[U(s.Devices(job).front())].size());
}

double SharingEngine::Factor(const Scenario& scenario, const SimState& s, int job) {
  const ScenarioData& data = scenario.data();
  if (Share(data.jobs, job) == 1.0) return 1.0;
  const SharingSettings& settings = *data.features.sharing;
  const std::vector<int>& jobs = s.sharing->jobs[U(s.Devices(job).front())];
  const double efficiency = Efficiency(settings, jobs.size());
  const double promised = Promised(data, job), usable = Usable(data, job);
  const Qos qos = QosOf(data.jobs, job);
  if (jobs.size() == 2 && qos != Qos::kGuaranteed) {
    const int other = jobs[0] == job ? jobs[1] : jobs[0];
    const int type = s.on_type[U(job)];
    const double measured = Measured(scenario, job, other, type);
    if (measured > 0.0 && QosOf(data.jobs, other) == qos)
      return efficiency * std::max(measured, promised / usable);
  }
  double left = 1.0, extra = 0.0;
  for (int other : jobs) left -= Promised(data, other);
  left = std::max(left, 0.0);
  const double burst = Fill(data, jobs, Qos::kBurstable, job, left);
  if (qos == Qos::kBurstable) extra = burst;
  if (qos == Qos::kBestEffort) extra = Fill(data, jobs, Qos::kBestEffort, job, left);
  const double slowed = extra / (1.0 + settings.interference * static_cast<double>(jobs.size() - 1));
  return efficiency * (promised + slowed) / usable;
}

}  // namespace berth

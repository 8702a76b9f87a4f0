// Inference services beside training. A service is a stream of requests and a number of replicas, each of
// which holds one GPU (or a share of one) and answers requests in batches. Replicas are ordered by
// kReplicasControl; training jobs fill whatever GPUs are left.
//
// Requests are simulated one by one, first come first served, exactly, but not as events of the cluster:
// between two changes of the replicas nothing else matters to them, so each stretch is played when it is
// over (env/features/services/request_queue.hpp).
//
// A replica is as fast as the part of a GPU that it has: of its type's speed its share, on a slice the
// slice's part of that, at the GPU's present clock. It uses the part that it holds for the share of the time
// that it is busy, rho = min(1, rate x (base_s + item_s) / speeds of all replicas): the utilisation of an
// M/D/1 queue, at full clocks and without batches (with them it works for longer at a time and no more than
// always). Where it has a share of a GPU, what is promised to jobs there goes first.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "env/base/rng.hpp"
#include "env/features/services/request_queue.hpp"
#include "env/sim/feature.hpp"
#include "env/sim/field.hpp"

namespace berth {

class ClusterView;

// One service each entry of the lists; a list of one entry holds for all, and `rate_per_s` says how many.
struct ServiceSettings final : SettingsOf<ServiceSettings> {
  std::vector<double> rate_per_s = {1.0};  // mean requests/s
  std::string pattern = "poisson";         // poisson | diurnal | bursty
  double amplitude = 0.8;                  // diurnal: rate x (1 + amplitude sin(2 pi t / period))
  double period_s = 86400.0;               // diurnal
  double begins_s = 0.0;                   // diurnal: at the start t is this
  double burst = 4.0;                      // bursty: rate within a burst over the mean rate
  double burst_s = 120.0;                  // bursty: mean length of a burst
  double burst_share = 0.1;                // bursty: share of the time in bursts
  std::vector<double> base_s = {0.02};  // latency of a batch of b: base_s + b x item_s, on the fastest type
  std::vector<double> item_s = {0.01};
  int max_batch = 8;
  std::vector<double> slo_s = {0.2};  // what a request's latency shall not exceed
  std::vector<double> speed;          // of each type, slices not counted, over the fastest; empty = 1 for all
  double interval_s = 60.0;           // decision points come at least this often
  std::vector<double> replicas = {1.0};  // at the start
  double share = 1.0;  // of a GPU that a replica takes; below 1 a training job runs beside it at 1 - share

  static constexpr const char* kName = "services";
  static constexpr const char* kHelp =
      "inference services with request streams share the cluster with training";
  static std::span<const Field<ServiceSettings>> Fields();
  void Check(const ScenarioData& scenario) const override;
  std::unique_ptr<FeatureState> MakeState(const Scenario& scenario) const override;
  std::shared_ptr<const FeatureSettings> OfJobs(const JobTable& jobs, double origin_s) const override;

  int count() const { return static_cast<int>(rate_per_s.size()); }
};

inline constexpr ControlKind kReplicasControl{3};  // service `index` runs `value` replicas
inline constexpr Purpose kRequestDraws{12};        // when requests come
inline constexpr TimerKind kServices{2};

class ServiceState final : public StateOf<ServiceState, ServiceSettings> {
 public:
  ServiceState(const ServiceSettings& settings, const Scenario& scenario);

  struct Service {
    RequestQueue queue;
    int wanted = 0;                             // replicas ordered
    std::vector<int> devices;                   // of the replicas that run, ascending
    double replica_seconds = 0.0, since = 0.0;  // replicas x seconds up to `since`
    double busy = 0.0;                          // share of the time that they work, as M/D/1 at full clocks
  };
  std::vector<Service> services;
  std::vector<int> replica_of;     // [D] service with a replica there, -1 = none
  std::vector<double> type_speed;  // [G] of a whole device at full clock, over the fastest type

  // Replicas' device-seconds of a type up to `since`, each times its share of the device, and what they grow
  // by: all, those where no job runs, and of these the part that they work.
  struct Meter {
    double since = 0.0;
    double held_s = 0.0, alone_s = 0.0, busy_s = 0.0;
    double held = 0.0, alone = 0.0, busy = 0.0;
  };
  std::vector<Meter> meters;         // [G]
  std::vector<std::int16_t> beside;  // [D] jobs that run there

  // The share of the time that a service's replicas work at `now`: the utilisation of an M/D/1 queue of which
  // they all together are the server, 1 at most.
  double BusyShareOf(const Scenario& scenario, int service, double now) const;
  Meter MeterAt(double now, int type) const;  // exact: since = now

  void Start(SimCore& core) override;
  bool OnTimer(SimCore& core, const Timer& timer) override;  // plays requests up to now
  bool Allows(const SimCore& core, const Control& control) const override;
  bool CarryOut(SimCore& core, const Control& control) override;
  // Gives idle GPUs to replicas that wait for one, or whose GPU is wanted empty: fastest type first, lowest
  // device first.
  void Claim(SimCore& core) override;
  void OnLost(SimCore& core, int device) override;  // its replica is gone and waits for another GPU
  void MakeRoom(SimCore& core, int device, double promised) override;
  void OnRun(SimCore& core, int job, double time, double held_s, bool starts) override;
  void OnClocks(SimCore& core, std::span<const int> devices) override;
  // What replicas leave a job that holds whole GPUs of them: 1, or less.
  double GpuFactor(const Scenario& scenario, const SimState& state, int job, bool full_clocks) const override;
  double HeldShare(int device) const override;
  double DeviceLoad(const Scenario& scenario, int device) const override;
  DeviceUse Used(double now, int type) const override;
  double Late() const override;  // requests
  // Replicas stand where their services list them, on devices that are in service but for them and for a
  // change that waits.
  std::string Violation(const InvariantInput& input) const override;
  void Measure(const SimCore& core, std::span<double> figures) const override;

 private:
  void SetReplicas(SimCore& core, int service);
  void SetSpeeds(SimCore& core, int service);
  void SetLoads(SimCore& core, int service);
  void Remove(SimCore& core, int device);        // of the replica that is there
  void AfterReplica(SimCore& core, int device);  // the jobs there have more of it, and others may take it
  void Count(const Scenario& scenario, double time);  // the meters, from `time` on

  const ServiceSettings* settings_;
};

BlockInfo ServicesBlock();    // what observations show of it
ActionInfo ReplicasAction();  // what policies may do with it
// Replicas, as fast as those that run are on average, that a service's requests would keep at work at the
// rate that is expected at `at` s, one by one at full clocks: also more than there are.
double ReplicasAtWork(const ClusterView& view, int service, double at);
// Shares of the time that replicas are to be at work, and how many that takes of a service now.
inline constexpr double kReplicaTargets[] = {0.4, 0.6, 0.8, 1.0};
int ReplicasFor(const ClusterView& view, int service, double target);

}  // namespace berth

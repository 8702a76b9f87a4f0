// Inference services beside training. A service is a stream of requests and a number of replicas, each of
// which holds one GPU (or a share of one) and answers requests in batches. Replicas are ordered by
// ControlKind::kReplicas; training jobs fill whatever GPUs are left.
//
// Requests are simulated one by one, first come first served, exactly, but not as events of the cluster:
// between two changes of the replicas nothing else matters to them, so each stretch is played when it is
// over (env/features/services/request_queue.hpp).
//
// A replica is as fast as the part of a GPU that it has: of its type's speed its share, on a MIG slice the
// slice's part of that (feature partitions), at the GPU's present clock (feature power). What it draws:
// power.hpp. Where it has a share of one, what is promised to jobs there goes first (sharing.hpp).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "env/features/field.hpp"
#include "env/features/services/request_queue.hpp"
#include "env/sim/sim_state.hpp"

namespace berth {

class Scenario;
struct ScenarioData;

// One service each entry of the lists; a list of one entry holds for all, and `rate_per_s` says how many.
struct ServiceSettings {
  std::vector<double> rate_per_s = {1.0};  // mean requests/s
  std::string pattern = "poisson";         // poisson | diurnal | bursty
  double amplitude = 0.8;                  // diurnal: rate x (1 + amplitude sin(2 pi t / period))
  double period_s = 86400.0;               // diurnal
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

  static constexpr const char* kHelp =
      "inference services with request streams share the cluster with training";
  static std::span<const Field<ServiceSettings>> Fields();
  void Check(const ScenarioData& scenario) const;

  int count() const { return static_cast<int>(rate_per_s.size()); }
};

struct ServiceState {
  struct Service {
    RequestQueue queue;
    int wanted = 0;                             // replicas ordered
    std::vector<int> devices;                   // of the replicas that run, ascending
    double replica_seconds = 0.0, since = 0.0;  // replicas x seconds up to `since`
    double busy = 0.0;  // share of the time that they work, as M/D/1 at full clocks (power.hpp)
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
};

struct SimState;
// The share of the time that a service's replicas work at `now`: the utilisation of an M/D/1 queue of which
// they all together are the server, 1 at most.
double BusyShare(const Scenario& scenario, const ServiceState& state, int service, double now);
// Exact at `now`: since = now.
ServiceState::Meter ServedOn(const SimState& state, int type);
// What the replica on a device uses of its GPU, in kLoadUnit ths (power.hpp); 0 = there is none.
std::int64_t ReplicaLoad(const Scenario& scenario, const SimState& state, int device);

// Of a GPU, that a replica on the device takes; 0 = there is none.
double ReplicaShare(const Scenario& scenario, const SimState& state, int device);

class Simulator;
struct Control;

// Its part of the simulator.
class ServiceEngine {
 public:
  static void Start(Simulator& simulator);
  static bool OnTimer(Simulator& simulator);  // plays requests up to now; a decision is due
  static bool Allowed(const Simulator& simulator, const Control& control);
  static void CarryOut(Simulator& simulator, const Control& control);
  // Gives idle GPUs to replicas that wait for one, or whose GPU waits to change its layout (partitions.hpp):
  // fastest type first, lowest device first.
  static void Claim(Simulator& simulator);
  // The device failed or left: its replica is gone and waits for another GPU.
  static void Lose(Simulator& simulator, int device);
  // A job comes to the device that is promised so much of it: a replica in its way waits for another GPU.
  static void MakeRoom(Simulator& simulator, int device, double promised);
  // What replicas leave a job that holds whole GPUs of them: 1, or less. What they leave those with parts of
  // one stands in sharing_rates.cpp.
  static double RateFactor(const Scenario& scenario, const SimState& state, int job);
  static void Play(Simulator& simulator);  // all requests up to now
  // A job's run begins or ends at `time`; it has its devices.
  static void OnRun(Simulator& simulator, int job, double time, bool starts);
  // These GPUs, ascending, have other clocks from now on.
  static void OnClocks(Simulator& simulator, const std::vector<int>& gpus);

 private:
  static void SetReplicas(Simulator& simulator, int service);
  static void SetSpeeds(Simulator& simulator, int service);
  static void SetLoads(Simulator& simulator, int service);
  static void Remove(Simulator& simulator, int device);  // of the replica that is there
  static void Count(Simulator& simulator, double time);  // the meters, from `time` on
};

struct InvariantInput;
// Replicas stand where their services list them, on devices that are in service but for them and for a change
// of layout that waits.
std::string ServiceViolation(const InvariantInput& input);

}  // namespace berth

// Inference services beside training. A service is a stream of requests and a number of replicas, each of
// which holds one GPU (or a share of one) and answers requests in batches. Replicas are ordered by
// ControlKind::kReplicas; training jobs fill whatever GPUs are left.
//
// Requests are simulated one by one, first come first served, exactly, but not as events of the cluster:
// between two changes of the replicas nothing else matters to them, so each stretch is played when it is
// over (env/features/request_queue.hpp).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "env/features/field.hpp"
#include "env/features/request_queue.hpp"
#include "env/sim_state.hpp"

namespace berth {

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
  std::vector<double> slo_s = {0.2};     // what a request's latency shall not exceed
  std::vector<double> speed;             // [G] of a type over the fastest; empty = 1 for all
  double interval_s = 60.0;              // decision points come at least this often
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
  };
  std::vector<Service> services;
  std::vector<int> replica_of;  // [D] service with a replica there, -1 = none
};

class Simulator;
struct Control;

// Its part of the simulator.
class ServiceEngine {
 public:
  static void Start(Simulator& simulator);
  static bool OnTimer(Simulator& simulator);  // plays requests up to now; a decision is due
  static bool Allowed(const Simulator& simulator, const Control& control);
  static void CarryOut(Simulator& simulator, const Control& control);
  // Gives idle GPUs to replicas that wait for one: fastest type first, lowest device first.
  static void Claim(Simulator& simulator);
  // The device failed or left: its replica is gone and waits for another GPU.
  static void Lose(Simulator& simulator, int device);
  // Training's part of the GPUs: 1, or less beside replicas.
  static double RateFactor(const Simulator& simulator, int job);  // of a job beside replicas
  static void Play(Simulator& simulator);                         // all requests up to now

 private:
  static void SetReplicas(Simulator& simulator, int service);
};

}  // namespace berth

// A Scenario is all that defines an episode: cluster, throughputs, jobs, clock, knowledge, costs, seed.
// It is an immutable value: validated once, hashable, cheap to copy (shared), safe to read from any thread.
//
//   ScenarioData data;  ... fill the columns ...
//   Scenario scenario(std::move(data));     // throws Error on the first rule broken
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "env/sim/features.hpp"
#include "env/sim/rates_by_width.hpp"

namespace berth {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

// What the devices of a type are parts of.
struct TypePart {
  int whole = -1;           // the type of the GPUs themselves; -1 = they are whole GPUs
  int compute = 1, of = 1;  // compute slices of the device, and of the GPU

  double fraction() const { return static_cast<double>(compute) / of; }
};

// One type of accelerator (or CPU: a type like any other). A node has `gpus_per_node` devices of one type.
struct GpuType {
  std::string name;
  int count = 0;                // devices
  int gpus_per_node = 1;        // the last node may be partly filled
  double memory_gb = 0.0;       // per device; 0 = not stated
  double bandwidth_gb_s = 0.0;  // of its memory; 0 = not stated
  double idle_power_w = 0.0;
  double peak_power_w = 0.0;
  double price_per_hour = 0.0;  // currency units per device and hour
  TypePart part = {};           // set by the feature that slices GPUs
};

struct ClusterSpec {
  std::vector<GpuType> types;  // [G]
};

// Steps per second of a whole gang. Columns follow ClusterSpec::types. 0 = cannot run.
struct ThroughputTable {
  std::vector<std::string> job_types;  // [T] names, unique
  std::vector<int> gang_sizes;         // [S] ascending
  std::vector<double> alone;           // [T, S, G] steps/s of the whole gang, on consolidated GPUs
  std::vector<double> unconsolidated;  // [T, S, G] the same spread over nodes, or empty
  std::vector<double> pairs;  // [T, T, G, 2] gang size 1: rates of (first, second) on one GPU, or empty
};

// What schedulers are told of a ThroughputTable instead where a feature says so: 0 where that is 0.
struct BelievedRates {
  std::vector<double> alone;  // [T, S, G]
  std::vector<double> pairs;  // [T, T, G, 2], or empty as the table's
};

// Does a GPU of `gpu` GB, of which `free` are free, hold `need` more? kNever = not stated. Ten tenths are
// one.
inline bool HoldsGb(double free, double need, double gpu) {
  return need <= free + 1e-9 * gpu;
}

// Is an end, or a time that has come, behind the deadline? What only the rounding of sums puts there, up to
// 1e-9 of the time, is on it. Nothing is behind kNever, and a job that never ends misses any other.
inline bool Misses(double end, double deadline) {
  return end > deadline + 1e-9 * std::abs(deadline);
}

// What a job that holds a part of a GPU is promised: its share always, its share and what is idle,
// or only what is idle.
enum class Qos : std::uint8_t { kGuaranteed, kBurstable, kBestEffort };
inline constexpr std::array<const char*, 3> kQosNames = {"guaranteed", "burstable", "best_effort"};

// Jobs as columns, sorted by arrival. Every column has J entries unless it says that it may be empty.
struct JobTable {
  std::vector<std::int64_t> id;         // external, unique (line number, trace id)
  std::vector<double> arrival;          // s from the scenario's origin, ascending, >= 0
  std::vector<int> job_type;            // index into ThroughputTable::job_types
  std::vector<int> gang;                // GPUs needed at once, one of gang_sizes
  std::vector<int> gang_min, gang_max;  // elasticity bounds; empty = gang
  std::vector<double> total_steps;      // > 0
  std::vector<double> weight;           // > 0; empty = 1
  std::vector<double> deadline;         // absolute s, kNever = none; empty = none
  std::vector<int> tenant;              // index into tenants; empty = 0
  std::vector<double> requested_s;      // user's run-time request (limit), NaN = none; empty = none
  std::vector<std::uint64_t> allowed;   // bit g: may run on type g; empty = all
  std::vector<int> gpu_milli;           // thousandths of each GPU that it needs, 1..1000; empty = 1000
  std::vector<int> qos;                 // Qos; empty = guaranteed, but whole jobs may be packed
  std::vector<int> batch_size;          // samples of a step, a gang's in all; 0 = not stated; empty = none
  std::vector<double> demand;           // [J, R] per-member demand of further node resources; empty = none

  int size() const { return static_cast<int>(arrival.size()); }
};

// Every column of a JobTable but `demand`, which is [J, R]: visit(name, vector, optional). Readers, writers,
// slices and checks are written once over this list.
template <class Jobs, class Visit>
void ForEachColumn(Jobs& jobs, Visit&& visit) {
  visit("id", jobs.id, false), visit("arrival", jobs.arrival, false);
  visit("job_type", jobs.job_type, false), visit("gang", jobs.gang, false);
  visit("total_steps", jobs.total_steps, false);
  visit("gang_min", jobs.gang_min, true), visit("gang_max", jobs.gang_max, true);
  visit("weight", jobs.weight, true), visit("deadline", jobs.deadline, true);
  visit("tenant", jobs.tenant, true), visit("requested_s", jobs.requested_s, true);
  visit("allowed", jobs.allowed, true);
  visit("gpu_milli", jobs.gpu_milli, true), visit("qos", jobs.qos, true);
  visit("batch_size", jobs.batch_size, true);
}

// What is known of a job type beside its speed. Every column has T entries or none.
struct JobTypeTraits {
  // Of these two, NaN = not stated: what the feature has for such types (StatedOr).
  std::vector<double> checkpoint_gb;  // state to save and load
  std::vector<double> gradient_gb;    // exchanged by a gang each step
  std::vector<double> memory_gb;      // of GPU memory, a gang's in all
  std::vector<double> utilization;    // of a GPU's peak power above idle, 0..1; none = 1
  std::vector<double> bandwidth;      // of a GPU's memory bandwidth, alone at full speed, 0..1; none = 0
  // What a step moves to and from GPU memory, a gang's in all. Where it and the GPU type's bandwidth_gb_s
  // are stated (above 0), their quotient stands in the place of `bandwidth`, which is alike on every type.
  std::vector<double> traffic_gb;
};
template <class Traits, class Visit>
void ForEachColumn(Traits& traits, Visit&& visit) requires requires {
  traits.checkpoint_gb;
}
{
  visit("checkpoint_gb", traits.checkpoint_gb), visit("gradient_gb", traits.gradient_gb);
  visit("memory_gb", traits.memory_gb);
  visit("utilization", traits.utilization), visit("bandwidth", traits.bandwidth);
  visit("traffic_gb", traits.traffic_gb);
}
inline double StatedOr(const std::vector<double>& column, int job_type, double otherwise) {
  const double stated = column.empty() ? otherwise : column[static_cast<std::size_t>(job_type)];
  return std::isnan(stated) ? otherwise : stated;
}

struct Tenant {
  std::string name;
  double weight = 1.0;
  std::string inner_policy = "fairness";  // what shares a tenant's part among its jobs
};

// When decisions are made. Rows of different clocks are never compared.
enum class ClockKind : std::uint8_t {
  kEvent,            // at arrivals and completions; all events of one instant are one decision point
  kRounds,           // at fixed boundaries; a job may end inside a round, its GPUs wait for the boundary
  kReferenceRounds,  // the reference simulator's rounds to the letter (Gavel's)
  kHpc,              // one event at a time; ties: arrivals first, completions in order of start
};
struct Clock {
  ClockKind kind = ClockKind::kEvent;
  double round_s = 360.0;                       // kRounds and kReferenceRounds
  std::string ToString() const;                 // "event", "rounds(360)", ...
  static Clock Parse(const std::string& text);  // throws Error
};

// The most that may be known of a job's future, in rising order.
enum class Knowledge : std::uint8_t { kNone, kBlind, kEstimate, kOracle };
const char* ToString(Knowledge knowledge);
Knowledge ParseKnowledge(const std::string& text);  // throws Error

// Seconds a job holds its GPUs without progress, charged when it next runs. All 0 matches the reference.
struct Costs {
  double checkpoint_s = 0.0;  // per stop, charged at the next start
  double restore_s = 0.0;     // per start of a job that ran before
  double migration_s = 0.0;   // on top, when it continues on another type or is moved
};

struct ScenarioData {
  std::string name;
  ClusterSpec cluster;
  ThroughputTable throughputs;
  BelievedRates believed;  // read where a feature asks for the table
  JobTypeTraits traits;
  JobTable jobs;
  std::vector<Tenant> tenants;  // empty = one, "default"
  Clock clock;
  Knowledge knowledge = Knowledge::kOracle;
  double estimate_sigma = 0.0;  // kEstimate: true remaining x lognormal(0, sigma), one factor a job
  Costs costs;
  Features features;       // all off by default
  std::uint64_t seed = 0;  // of estimates and of schedulers that draw
  std::string provenance;  // where it came from: file or generator spec, for people
};

// Where in [T, S, G] of ThroughputTable::alone the rates of a job's type and gang begin; the gang is one of
// gang_sizes.
std::size_t AloneRow(const ScenarioData& data, int job);

// What a job uses of the bandwidth of its GPU's memory at that many steps/s of one GPU, 0..1: the bytes that
// it moves over the peak (Williams, Waterman & Patterson, Roofline, CACM 2009), else the share stated for its
// type.
double BandwidthShare(const ScenarioData& data, int job_type, int gpu_type, double steps_per_s);

// Names a job in error messages: "IN.trace:17" instead of "job 17".
using JobLabel = std::function<std::string(int job)>;

class Scenario {
 public:
  Scenario();  // empty: no types, no jobs
  // Validates; throws Error naming the job (by `label`) and the rule. Jobs must come sorted by arrival.
  explicit Scenario(ScenarioData data, const JobLabel& label = {});

  const ScenarioData& data() const { return body_->data; }
  int num_types() const { return static_cast<int>(body_->data.cluster.types.size()); }
  int num_jobs() const { return body_->data.jobs.size(); }
  int num_gpus() const { return body_->num_gpus; }  // devices: with slices, also all that there could be
  int num_whole_gpus() const { return body_->num_whole_gpus; }  // those that stand in the nodes
  int first_device(int type) const { return body_->first_device[static_cast<std::size_t>(type)]; }
  bool plain() const { return body_->plain; }  // no feature is on
  int TypeOfDevice(int device) const;
  // Nodes are numbered type by type too.
  int num_nodes() const { return body_->num_nodes; }
  int NodeOf(int device) const;

  // Derived once. Rate 0 where the type cannot run the gang, is too small, or is not allowed.
  double Rate(int job, int type) const {  // steps/s of the job's whole gang
    return body_->rate[static_cast<std::size_t>(job) * body_->data.cluster.types.size() +
                       static_cast<std::size_t>(type)];
  }
  std::span<const double> Rates(int job) const {  // [G]
    const std::size_t g = body_->data.cluster.types.size();
    return {body_->rate.data() + static_cast<std::size_t>(job) * g, g};
  }
  // Steps/s on `width` GPUs, where a feature lets the job run so; 0 otherwise. Rate where it is the gang.
  double RateAt(int job, int type, int width) const;
  // RateAt of MinGang, MinGang + 1, ..., MaxGang GPUs.
  std::span<const double> RateCurve(int job, int type) const;
  int MinGang(int job) const;  // the gang, as MaxGang, where none does
  int MaxGang(int job) const;
  // Does a feature divide GPUs, and which part of each of its GPUs does a job hold then, in thousandths?
  bool divides_gpus() const { return body_->divides_gpus; }
  int GpuMilli(int job) const {
    const std::vector<int>& milli = body_->data.jobs.gpu_milli;
    return !body_->divides_gpus || milli.empty() ? 1000 : milli[static_cast<std::size_t>(job)];
  }
  bool HoldsPart(int job) const { return GpuMilli(job) < 1000; }
  // How many GPUs its work at Rate takes: its gang, or the part that it holds where that gives it as much.
  double WorkingGpus(int job) const;
  double Demand(int job, int resource) const;      // per member, of a node's further resource; 0 = none
  double MemoryGb(int job) const;                  // of GPU memory, its gang's in all; 0 = not stated
  double BandwidthShare(int job, int type) const;  // of each of its GPUs', alone at full speed
  // Steps/s of `job` (gang 1) while it shares one GPU with `other`; 0 unless both can run there so: its
  // memory holds both, and, where GPUs are divided, neither holds a part or is guaranteed the whole.
  double PairRate(int job, int other, int type) const;
  // The same from another table of pairs.
  double PairRate(int job, int other, int type, const std::vector<double>& pairs) const;
  // What schedulers are told at first: estimates where a feature has such, otherwise the truth.
  const double* told_rates() const {  // [J, G]
    return (body_->told_rate.empty() ? body_->rate : body_->told_rate).data();
  }
  const double* told_best_rates() const {  // [J]
    return (body_->told_rate.empty() ? body_->best_rate : body_->told_best_rate).data();
  }
  const BelievedRates& believed() const { return body_->believed; }  // empty = the truth
  double BestRate(int job) const { return body_->best_rate[static_cast<std::size_t>(job)]; }
  double EstimateFactor(int job) const {  // 1 unless knowledge is kEstimate
    return body_->estimate.empty() ? 1.0 : body_->estimate[static_cast<std::size_t>(job)];
  }
  bool EstimatesAreExact() const { return body_->estimate.empty(); }
  std::uint64_t Hash() const { return body_->hash; }  // of everything that defines the episode

 private:
  struct Body {
    ScenarioData data;
    std::vector<double> rate;                       // [J, G]
    std::vector<double> best_rate;                  // [J]
    std::vector<double> told_rate, told_best_rate;  // [J, G], [J], empty = the truth
    BelievedRates believed;
    std::vector<double> estimate;                // [J] or empty
    std::vector<int> first_device;               // [G] devices are numbered type by type
    std::vector<int> first_node;                 // [G]
    std::shared_ptr<const RatesByWidth> widths;  // null = gangs alone
    int num_gpus = 0, num_whole_gpus = 0, num_nodes = 0;
    bool plain = true, divides_gpus = false;
    std::uint64_t hash = 0;
  };
  std::shared_ptr<const Body> body_;
};

// A copy with another clock, knowledge, sigma, costs or features; the jobs are the same.
Scenario WithClock(const Scenario& scenario, const Clock& clock);
Scenario WithKnowledge(const Scenario& scenario, Knowledge knowledge, double sigma);
Scenario WithCosts(const Scenario& scenario, const Costs& costs);
Scenario WithFeatures(const Scenario& scenario, const Features& features);
// Jobs [begin, end) alone, their times (arrivals, deadlines) counted from the first one's arrival.
Scenario Slice(const Scenario& scenario, int begin, int end);

}  // namespace berth

// What a real scheduler could know now: read-only, and no more of the future than was granted.
// Valid only until the simulator moves on.
#pragma once

#include <span>

#include "env/base/check.hpp"
#include "env/sim/scenario.hpp"
#include "env/sim/sim_state.hpp"
#include "env/sim/view_part.hpp"

namespace berth {

// How a job goes on, in steps and seconds.
struct JobProgress {
  double total, done;  // steps in all, and by the time `from`
  double rate, from;   // steps/s since then, 0 unless it runs; s
  double factor;       // of the error of an estimate

  double Remaining(double now) const {
    const double left = total - (done + (now > from ? rate * (now - from) : 0.0));
    return (left > 0.0 ? left : 0.0) * factor;
  }
};

// Job arguments are job indices (position in the scenario, which is arrival order).
class ClusterView {
 public:
  ClusterView(const Scenario& scenario, const SimState& state, Knowledge granted)
      : scenario_(&scenario),
        state_(&state),
        rates_(scenario.told_rates()),
        best_rates_(scenario.told_best_rates()),
        estimated_(!scenario.believed().alone.empty()),
        granted_(granted) {
    if (estimated_) ReadEstimates();
  }
  // A part of `whole`, for a scheduler inside another. `part` outlives the view. More knowledge than the
  // whole has only with predictions in place of the truth.
  ClusterView(const ClusterView& whole, const ViewPart& part, Knowledge granted) : ClusterView(whole) {
    part_ = &part;
    some_jobs_ = some_jobs_ || part.some_jobs;
    if (!part.predicted.empty()) predicted_ = part.predicted.data();
    granted_ = granted;
    BERTH_CHECK(granted <= whole.granted_ || (predicted_ != nullptr && granted == Knowledge::kEstimate),
                "a part is granted '", ToString(granted), "', the whole '", ToString(whole.granted_), "'");
  }

  // The same with no more of the future than `granted`, for a scheduler inside another that is shown more.
  ClusterView Granting(Knowledge granted) const {
    ClusterView less(*this);
    less.granted_ = granted;
    BERTH_CHECK(granted <= granted_, "'", ToString(granted), "' of a view that grants '", ToString(granted_),
                "'");
    return less;
  }

  // -- the cluster and the clock
  double now() const { return state_->now; }  // s
  Clock clock() const { return scenario_->data().clock; }
  std::span<const GpuType> types() const {  // `count`: devices in service
    if (part_ != nullptr) return part_->types;
    return state_->types.empty() ? scenario_->data().cluster.types : state_->types;
  }
  int num_types() const { return scenario_->num_types(); }
  int num_gpus() const { return scenario_->num_gpus(); }  // devices of the whole cluster
  // What shares of the cluster are shares of: slices are no GPUs beside those that they are parts of.
  int num_whole_gpus() const { return scenario_->num_whole_gpus(); }
  double PartOfGpu(int type) const {  // that a device of the type is
    return cluster().types[static_cast<std::size_t>(type)].part.fraction();
  }
  int first_device(int type) const {
    return scenario_->first_device(type);
  }  // devices are numbered type by type
  std::span<const int> free_gpus() const {
    return part_ != nullptr ? part_->free_gpus : state_->free_gpus;
  }  // [G] whole idle devices
  // It may take a job, now or when its own is gone.
  bool InService(int device) const { return state_->InService(device); }
  // May jobs be on devices that are out of service? Where not, nobody need look at what each has.
  bool AnyLeaving() const { return state_->num_leaving > 0; }
  // Devices left service or came back since the previous decision point, rates are told otherwise, or a
  // decision took effect late; true at the first.
  bool capacity_changed() const { return state_->changed_since == 0; }
  bool DeviceFree(int device) const { return state_->device_job[Index(device)] < 0 && InService(device); }
  int NodeOf(int device) const { return scenario_->NodeOf(device); }
  int TypeOfDevice(int device) const { return scenario_->TypeOfDevice(device); }
  bool plain() const { return scenario_->plain(); }  // no feature is on
  const Features& features() const { return scenario_->data().features; }
  // State of a feature that anybody may see, by its type (env/features/NAME); null where it is off. Looked up
  // each time: outside of loops.
  template <class State>
  const State* Find() const {
    return state_->features.Find<State>();
  }
  // To ask all features what they say of a device, whichever they are (queries of env/sim/feature.hpp).
  const FeatureStates& feature_states() const { return state_->features; }
  const ClusterSpec& cluster() const { return scenario_->data().cluster; }  // in service or not
  const JobTypeTraits& traits() const { return scenario_->data().traits; }
  int GpuMilli(int job) const { return Or(Seen(job).gpu_milli, job, 1000); }  // of each of its GPUs
  Qos QosOf(int job) const { return static_cast<Qos>(Or(Seen(job).qos, job, 0)); }
  double MemoryGb(int job) const { return scenario_->MemoryGb(job); }
  double Demand(int job, int resource) const { return scenario_->Demand(job, resource); }
  std::span<const Tenant> tenants() const { return scenario_->data().tenants; }
  // The truth: what there is, not how fast schedulers think it is (Rate).
  const ThroughputTable& throughputs() const { return scenario_->data().throughputs; }
  const Costs& costs() const { return scenario_->data().costs; }
  std::uint64_t seed() const { return scenario_->data().seed; }
  int num_jobs() const {
    return scenario_->num_jobs();
  }  // size for per-job arrays; the future's jobs are hidden

  // -- who is there, each in arrival order
  std::span<const int> waiting() const {
    if (part_ != nullptr) return part_->waiting;
    return state_->waiting;
  }
  std::span<const int> running() const {
    if (part_ != nullptr) return part_->running;
    return state_->running;
  }
  std::span<const int> active() const {  // waiting and running
    if (part_ != nullptr) return part_->active;
    return state_->active;
  }
  // Their numbers, which cost nothing where the lists are long.
  int num_waiting() const {
    return part_ != nullptr ? static_cast<int>(part_->waiting.size()) : state_->waiting.size();
  }
  int num_active() const {
    return part_ != nullptr ? static_cast<int>(part_->active.size()) : state_->active.size();
  }

  // -- what happened since the previous decision point
  std::span<const int> arrived() const { return part_ != nullptr ? part_->arrived : state_->arrived; }
  std::span<const int> completed() const { return part_ != nullptr ? part_->completed : state_->completed; }
  // For a scheduler that keeps what it knows from one decision to the next, instead of looking at everybody:
  //
  //   if (view.Follows(mark_)) for (int job : view.changed()) ...look at that job again...
  //   else ...look at all of view.waiting() and view.running()...
  //
  // `changed`: who arrived, started, moved, stopped, was packed or parted, or left since the previous
  // decision point, itself included; some more than once. Follows tells whether nothing was missed between
  // the last call with this `mark` (0 at first and after Reset) and now, however the simulation was copied or
  // driven meanwhile. A part follows nothing: which jobs and GPUs it shows may be others each time.
  std::span<const int> changed() const { return state_->changed; }
  bool Follows(std::uint64_t& mark) const {
    const bool follows = part_ == nullptr && mark == state_->changed_since && mark != 0;
    mark = part_ == nullptr ? state_->history : 0;
    return follows;
  }
  // Clocks with rounds only: what ran in the last round, latest finish first, then by job.
  std::span<const Segment> segments() const {
    return part_ != nullptr ? part_->segments : state_->Segments();
  }

  // kReferenceRounds only, where the reference looks: no job of the trace is still to come.
  bool arrivals_over() const { return state_->arrivals_over; }

  // -- of a job that has arrived; always known
  double Arrival(int job) const { return Seen(job).arrival[Index(job)]; }
  std::int64_t Id(int job) const { return Seen(job).id[Index(job)]; }
  int JobType(int job) const { return Seen(job).job_type[Index(job)]; }
  int Gang(int job) const { return Seen(job).gang[Index(job)]; }
  int BatchSize(int job) const { return Or(Seen(job).batch_size, job, 0); }  // as submitted; 0 = not stated
  double Weight(int job) const { return Or(Seen(job).weight, job, 1.0); }
  double Deadline(int job) const { return Or(Seen(job).deadline, job, kNever); }
  int TenantOf(int job) const { return Or(Seen(job).tenant, job, 0); }
  // s, NaN = none; none either where predictions stand for what is known of run times
  double Requested(int job) const {
    if (predicted_ != nullptr) return std::numeric_limits<double>::quiet_NaN();
    return Or(Seen(job).requested_s, job, std::numeric_limits<double>::quiet_NaN());
  }
  int MinGang(int job) const { return scenario_->MinGang(job); }  // GPUs it may run on
  int MaxGang(int job) const { return scenario_->MaxGang(job); }
  // For Scheduler::Reset, which refuses what it could not run: Gang, of a job that has not arrived too; and
  // may jobs to come be shown to another scheduler alone (pools)?
  int GangToCome(int job) const { return scenario_->data().jobs.gang[Index(job)]; }
  bool some_jobs() const { return some_jobs_; }
  // Rates are estimates where a feature has such (0 only where the truth is 0), and may change while jobs
  // run where it learns: `rates_version` is another number then, and nobody Follows.
  bool rates_are_exact() const { return !estimated_; }
  std::uint64_t rates_version() const { return rates_version_; }
  double RateAt(int job, int type, int width) const {
    const double rate = scenario_->RateAt(job, type, width);
    if (!estimated_ || scenario_->Rate(job, type) <= 0.0) return rate;
    return rate * (Rate(job, type) / scenario_->Rate(job, type));  // the curve is known, its height is not
  }
  // RateAt of MinGang, MinGang + 1, ..., MaxGang GPUs, up to a factor where rates are estimates.
  std::span<const double> RateCurve(int job, int type) const { return scenario_->RateCurve(job, type); }
  double Rate(int job, int type) const {  // steps/s of the gang; 0 = cannot run
    return rates_[Index(job) * Index(num_types()) + Index(type)];
  }
  std::span<const double> Rates(int job) const {  // [G]
    return {rates_ + Index(job) * Index(num_types()), Index(num_types())};
  }
  // steps/s of `job` while it shares one GPU with `other`; 0 = the two cannot share one
  double PairRate(int job, int other, int type) const {
    if (estimated_) return scenario_->PairRate(job, other, type, *told_pairs_);
    return scenario_->PairRate(job, other, type);
  }
  bool has_pairs() const { return !throughputs().pairs.empty(); }
  double BestRate(int job) const { return best_rates_[Index(job)]; }

  // -- its state
  bool IsWaiting(int job) const { return state_->phase[Index(job)] == JobPhase::kWaiting; }
  bool IsRunning(int job) const { return state_->phase[Index(job)] == JobPhase::kRunning; }
  bool IsDone(int job) const { return state_->phase[Index(job)] >= JobPhase::kDone; }
  int TypeOf(int job) const { return state_->on_type[Index(job)]; }             // -1 when not running
  int LastTypeOf(int job) const { return state_->last_type[Index(job)]; }       // -1 when it never ran
  std::span<const int> Devices(int job) const { return state_->Devices(job); }  // empty when not running
  int Width(int job) const { return state_->Width(job); }                       // GPUs held now
  bool divides_gpus() const { return scenario_->divides_gpus(); }  // may jobs hold parts of them?
  // Who holds a part of the device; nobody where a whole job does.
  std::span<const int> PartHolders(int device) const {
    if (state_->parts.empty()) return {};
    return state_->parts[Index(device)];
  }
  // It has arrived, and is in no list until others are done. Of jobs to come too: false.
  bool IsBlocked(int job) const { return !state_->blocked.empty() && state_->blocked[Index(job)] != 0; }
  int Partner(int job) const { return state_->partner[Index(job)]; }        // on the same GPU, -1 = none
  double RunStart(int job) const { return state_->run_start[Index(job)]; }  // s, of the current run
  int Interruptions(int job) const {                                        // stops that no decision ordered
    return state_->interruptions.empty() ? 0 : state_->interruptions[Index(job)];
  }
  int Preemptions(int job) const { return state_->preemptions[Index(job)]; }

  // -- attained service; needs kBlind
  double AttainedSeconds(int job) const {  // wall-clock seconds on GPUs, whole gang counted once
    Need(Knowledge::kBlind);
    return state_->AttainedSeconds(job);
  }
  double AttainedGpuSeconds(int job) const {
    Need(Knowledge::kBlind);
    return state_->AttainedGpuSeconds(job);
  }
  // The same of whole GPUs: of two that share one half each, of a part and of a slice theirs.
  double AttainedWholeGpuSeconds(int job) const;
  double AttainedSteps(int job) const {
    Need(Knowledge::kBlind);
    return state_->AttainedSteps(job);
  }

  // Do all jobs have the error factor 1?
  bool estimates_are_exact() const { return predicted_ == nullptr && scenario_->EstimatesAreExact(); }
  // -- the future; needs kEstimate or kOracle. An estimate is the true value times the job's error factor.
  double RemainingSteps(int job) const { return ProgressOf(job).Remaining(now()); }
  // RemainingSteps at other times too, as long as it runs on as it does: it stays as it is until the job is
  // among `changed`, but under kReferenceRounds until the next decision point only.
  JobProgress ProgressOf(int job) const {
    Need(Knowledge::kEstimate);
    const std::size_t j = Index(job);
    const bool told = predicted_ == nullptr;
    return {told ? scenario_->data().jobs.total_steps[j] : predicted_[j], state_->steps_done[j],
            IsRunning(job) ? state_->rate[j] : 0.0, state_->progress_from[j],
            told ? scenario_->EstimateFactor(job) : 1.0};
  }
  double RemainingSeconds(int job, int type) const {  // alone on `type`; kNever where it cannot run
    const double rate = Rate(job, type);
    return rate > 0.0 ? RemainingSteps(job) / rate : kNever;
  }
  double TotalSteps(int job) const {
    Need(Knowledge::kEstimate);
    if (predicted_ != nullptr) return predicted_[Index(job)];
    return Seen(job).total_steps[Index(job)] * scenario_->EstimateFactor(job);
  }

  Knowledge granted() const { return granted_; }

 private:
  static std::size_t Index(int i) { return static_cast<std::size_t>(i); }
  template <class T>
  static T Or(const std::vector<T>& column, int job, T otherwise) {
    return column.empty() ? otherwise : column[Index(job)];
  }
  const JobTable& Seen(int job) const {  // the view is blind to jobs that have not arrived
    BERTH_DCHECK(state_->phase[Index(job)] != JobPhase::kFuture || !plain(), "job ", job,
                 " has not arrived");  // one that a feature blocks has, and is in no list
    (void)job;
    return scenario_->data().jobs;
  }
  void Need(Knowledge level) const {
    BERTH_CHECK(granted_ >= level, "the scheduler reads '", ToString(level), "' but was granted '",
                ToString(granted_), "'");
  }

  void ReadEstimates() {
    const ToldRates& told = state_->told;
    told_pairs_ = &scenario_->believed().pairs;
    if (told.rate.empty()) return;
    rates_ = told.rate.data();
    best_rates_ = told.best_rate.data();
    told_pairs_ = &told.pairs;
    rates_version_ = told.version;
  }

  const Scenario* scenario_;
  const SimState* state_;
  const double* rates_;       // [J, G]
  const double* best_rates_;  // [J]
  bool estimated_;
  const std::vector<double>* told_pairs_ = nullptr;
  std::uint64_t rates_version_ = 0;
  const ViewPart* part_ = nullptr;     // null = the whole
  const double* predicted_ = nullptr;  // [J] ViewPart::predicted, this part's or that of one around it
  bool some_jobs_ = false;             // ViewPart::some_jobs, likewise
  Knowledge granted_;
};

}  // namespace berth

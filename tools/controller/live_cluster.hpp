// A real cluster, followed from look to look, as the view that schedulers of the simulator are shown.
//
//   LiveCluster live(site, options);
//   live.Update(state, now);                        // what squeue and sinfo say
//   if (live.begun_anew()) scheduler.Reset(live.View(known));
//   scheduler.Decide(live.View(known), decision);   // jobs of commands are indices of live.job()
//   live.Decided();
//
// A job keeps its index for as long as it is there, so that a scheduler that remembers may do so. Rows are
// kept ready for jobs to come: to a scheduler they are the future, which it cannot see. When they are used
// up, or nodes come or go, all begins anew.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "env/sim/cluster_view.hpp"
#include "env/sim/feature.hpp"
#include "env/sim/scenario.hpp"
#include "env/sim/sim_state.hpp"
#include "tools/controller/site_file.hpp"
#include "tools/controller/slurm_state.hpp"

namespace berth {

enum class LivePhase {
  kWaiting,  // a scheduler may start it
  kBlocked,  // not yet: a dependency, a begin time, a hold of its user's, no GPU type for it, or a pause
             // after a refusal
  kOrdered,  // released to given nodes, not yet seen running; it holds them. Until Pause also where Slurm
             // holds it itself
  kLeft,     // pending under Slurm's own order, which Berth leaves alone
  kRunning,
  kGone,
};

struct LiveJob {
  SlurmJob slurm;  // as last seen
  LivePhase phase = LivePhase::kBlocked;
  int job_class = 0;
  JobWords words;
  double arrival_s = 0.0;                      // s since 1970
  double total_steps = 0.0;                    // stated or thought
  double steps_done = 0.0;                     // when its run began, or reported since (`steps_at_s`)
  double steps_at_s = 0.0;                     // s since 1970
  double rested_s = 0.0;                       // of the present run, at the last look (SlurmJob::rested_s)
  double steps_rested_s = 0.0;                 // that much of it before `steps_at_s`
  double run_start_s = 0.0;                    // of the present run
  double attained_s = 0.0, gpu_seconds = 0.0;  // of the runs before it
  double first_start_s = kNever, ordered_s = 0.0, stop_ordered_s = 0.0, not_before_s = 0.0;
  int type = -1, last_type = -1;
  int preemptions = 0;
  double begin_s = 0.0;                    // begin time that its user set since it was requeued, s since 1970
  double stopped_s = 0.0;                  // when the last of them was seen, s since 1970
  std::vector<int> left_nodes;             // that it was on
  std::vector<int> devices;                // that it holds, running or ordered
  std::vector<std::string> refused_nodes;  // where a start of it was refused since it ran
  bool arrived = false;                    // schedulers have been told of it
  bool offered = false;                    // it waited when one decided
  bool requeued = false;                   // and not held: not by Berth, whose release was of the run before
  std::string why;                         // why it waits or is blocked, for people
  // As it asked while Slurm said so (SlurmJob::num_nodes, max_nodes, stated_nodes); 0, -1 and 0 = it did not.
  int least_nodes = 0, most_nodes = -1, stated_nodes = 0;
};

struct LiveOptions {
  std::vector<std::string> partitions;  // empty = all
  bool control = false;                 // jobs marked as Berth's alone; otherwise whatever waits is shown
  // The scheduler stops jobs: those that may not be stopped are shown as GPUs in use by others.
  bool preemptive = false;
  bool stops = true;  // any at all: --advise stops none
  // Of `control`: held jobs of the partitions are Berth's, but for holds and marks of an administrator.
  bool all_holds = false;
  std::string user;  // Berth's own
  Clock clock;
};

// What has happened to a job or node since the look before.
struct LiveChange {
  enum class Kind { kArrived, kStarted, kStopped, kEnded, kNode } kind;
  int index;          // of the job, or of the node
  std::string state;  // of the node; of a job that ended as Slurm names it, "" = it was no longer there
};

// Thread rule: one thread at a time.
class LiveCluster {
 public:
  LiveCluster(SiteFile site, LiveOptions options);

  // Throws Error where Slurm has no node with GPUs in the partitions.
  std::vector<LiveChange> Update(const SlurmState& state, double now_s);
  bool begun_anew() const { return begun_anew_; }  // since Decided: indices are others
  int beginnings() const { return beginnings_; }   // how often it has begun anew
  // Valid until the next call of anything. Devices that `withheld` names are shown as held by others.
  ClusterView View(Knowledge granted, const std::vector<int>& withheld = {});
  void Decided();  // what was news is none any longer
  bool news() const { return begun_anew_ || capacity_changed_ || news_ || !completed_.empty(); }

  bool Rests() const { return !Waits() && !Moves(); }  // nobody waits, and nobody is about to start
  bool Waits() const { return Any(LivePhase::kWaiting); }
  bool Moves() const { return Any(LivePhase::kOrdered); }
  int num_jobs() const { return static_cast<int>(jobs_.size()); }
  LiveJob& job(int index) { return jobs_[static_cast<std::size_t>(index)]; }
  const LiveJob& job(int index) const { return jobs_[static_cast<std::size_t>(index)]; }
  int Find(const std::string& id) const;  // -1 = not there
  // Of the view: kinds of nodes. GPUs of one name on nodes with 4 and with 8 are two.
  const std::vector<GpuType>& types() const { return types_; }
  // [types] what Slurm calls the GPUs, as jobs ask for them and the site file states their speeds.
  const std::vector<std::string>& gpu_types() const { return gpu_types_; }
  const std::vector<SlurmGpuNode>& nodes() const { return nodes_; }
  int NodeOf(int device) const { return node_of_[static_cast<std::size_t>(device)]; }
  int TypeOf(int device) const { return type_of_node_[static_cast<std::size_t>(NodeOf(device))]; }
  int TypeOfNode(int node) const { return type_of_node_[static_cast<std::size_t>(node)]; }
  int FirstDevice(int node) const { return first_device_[static_cast<std::size_t>(node)]; }
  int num_devices() const { return static_cast<int>(node_of_.size()); }
  // Who holds a device: a job, kNobody, or kForeign (down, drained, or used by what Berth does not see).
  static constexpr int kNobody = -1, kForeign = -2;
  int Holder(int device) const { return holder_[static_cast<std::size_t>(device)]; }
  void Order(int index, int type, std::vector<int> devices, double now_s);  // of a job that waits
  void StopOrdered(int index, double now_s) { job(index).stop_ordered_s = now_s; }
  // Such an order, which was only said: it waits as before. Or a stop that is only said, until Resume.
  void Withdraw(int index);
  void Resume(int index, int type, std::vector<int> devices);
  // After a refusal of a start on the nodes: blocked until then. Others are chosen first from then on.
  void Pause(int index, double until_s, std::string why, const std::vector<std::string>& nodes);
  const SiteFile& site() const { return site_; }
  const Clock& clock() const { return options_.clock; }
  // Bits of the types that it may run on: what it asks for, and where it runs.
  std::uint64_t AllowedTypes(const LiveJob& job) const;
  double Speed(int job_class, int type) const {
    return speeds_[static_cast<std::size_t>(job_class)][static_cast<std::size_t>(type)];
  }
  // [classes][types] steps/s; what jobs are thought to be, of which nothing is stated, follows.
  void SetSpeeds(std::vector<std::vector<double>> speeds);
  // Of those, bits of the types with enough GPUs for it on as many nodes as it asks for, were they all free
  // and in service, on which it makes progress.
  std::uint64_t FittingTypes(const LiveJob& job) const;
  // Where it holds GPUs, does it make progress there? A site may say that it does not, and Slurm start it.
  bool Progresses(const LiveJob& job) const { return job.type >= 0 && Speed(job.job_class, job.type) > 0.0; }
  bool InPartitions(const SlurmJob& job) const;
  bool InPartitions(const SlurmGpuNode& node) const;
  // Of `all_holds`: held by its user, and not marked yet as Berth's.
  bool Adopts(const SlurmJob& job) const {
    return options_.control && options_.all_holds && job.held() && job.reason != "JobHeldAdmin" &&
           job.admin_comment.empty() && !job.set_aside && Asks(job).empty();
  }
  // For what that Berth does not look at, in words; "" = nothing.
  std::string Asks(const SlurmJob& job) const;
  // Held by its user after Berth released it?
  bool HeldSinceReleased(const SlurmJob& job) const { return job.held_since_released(options_.user); }
  // Why the nodes of its release hold no longer, in words; "" = they do.
  std::string Overtaken(const LiveJob& job) const;
  // Run as many tasks of its array as may?
  bool AtArrayLimit(const SlurmJob& job) const;
  // Are there GPUs of a type that it may run on, enough of the `free` [types] ones (FreeGpus)?
  bool HasRoom(const LiveJob& job, std::span<const int> free) const;
  std::vector<int> FreeGpus() const;  // [types]
  // Is it among what a scheduler sees?
  bool Shown(const LiveJob& job) const;
  double Steps(const LiveJob& job, double now_s) const;  // done by then
  double now_s() const { return now_s_; }

 private:
  bool Any(LivePhase phase) const {
    return std::any_of(jobs_.begin(), jobs_.end(), [&](const LiveJob& job) { return job.phase == phase; });
  }
  bool InScope(const SlurmJob& job) const;
  // Bits of the types whose nodes all have one of the features: "a", "a|b", "[a|b]". Nothing of other
  // expressions, and where nodes of one type differ in them.
  std::optional<std::uint64_t> Featured(const std::string& features) const;
  // As Find, but -1 where its number was another's, or it ended and waits or runs again: a new row.
  int RowOf(const SlurmJob& job) const;
  bool Ours(const SlurmJob& job) const;
  void BeginAnew(const SlurmState& state);
  void Take(const SlurmJob& said, std::vector<LiveChange>& changes);
  void EndRun(LiveJob& job, double end_s);
  void Arrive(int index);
  void StopRun(LiveJob& job, double end_s, std::vector<LiveChange>& changes);
  bool Lay(LiveJob& job, int index);
  LivePhase PendingPhase(LiveJob& job) const;
  void GuessSteps(LiveJob& job) const;
  void HoldForeign();
  double Total(const LiveJob& job) const;  // steps, more than it has done
  void BuildScenario();
  void FillState(Knowledge granted, const std::vector<int>& withheld);

  SiteFile site_;
  LiveOptions options_;
  double now_s_ = 0.0, origin_s_ = 0.0, decided_s_ = 0.0;
  std::vector<GpuType> types_;
  std::vector<std::string> gpu_types_;
  std::vector<SlurmGpuNode> nodes_;
  std::map<std::string, int> node_number_;
  std::vector<std::map<std::string, int>> featured_;  // [types] how many of its nodes have a feature
  std::vector<int> type_of_node_, first_device_, node_of_, holder_;
  std::vector<int> foreign_;  // of each node: GPUs in use by what is not seen, at the look before
  std::vector<std::vector<double>> speeds_;  // [class][type]
  std::vector<LiveJob> jobs_;
  std::map<std::string, int> index_of_, tasks_of_;  // tasks of arrays that run or were released
  std::vector<int> arrived_, completed_;
  std::vector<Segment> ended_segments_;  // of runs that ended since the last decision, times from the origin
  bool begun_anew_ = true, capacity_changed_ = true, news_ = false;
  int beginnings_ = 0;
  std::size_t capacity_ = 0;
  std::uint64_t looks_ = 1;
  Scenario scenario_;
  SimState state_;
};

}  // namespace berth

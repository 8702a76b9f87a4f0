// What Slurm says of its jobs and nodes: `squeue --json` and `sinfo --json` as rows. The shape is that of the
// OpenAPI plugin v0.0.38 (Slurm 22.05); later shapes (numbers as {"set", "infinite", "number"}, states as
// lists) are read too. From 23.02 on sinfo sums nodes up, and `scontrol -d show nodes --json` has what it
// had.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tools/json.hpp"

namespace berth {

struct SlurmJob {
  std::string id;       // "17", or "17_3" of an array: as scontrol takes it
  std::string array;    // the array that it is a task of, "" = none
  int array_limit = 0;  // of whose tasks no more may run at once (--array=0-9%2); 0 = none
  std::string name, user, partition, state, reason, description, comment, admin_comment, dependency;
  double priority = 0.0;  // 0 = held
  double nice = 0.0;
  double submit_s = 0.0, eligible_s = 0.0, start_s = 0.0;  // s since 1970, 0 = not stated
  // When it ended (a guess while it runs), when it was suspended or resumed last, and how long it had run
  // before it was suspended.
  double end_s = 0.0, suspend_s = 0.0, ran_before_s = 0.0;
  double limit_s = std::numeric_limits<double>::quiet_NaN();  // NaN = none
  int gpus = 0;                                               // in all; 0 = it asks for none
  int per_node = 0;                                           // GPUs on each of its nodes; 0 = as they come
  bool by_node = false;                                       // how many in all hangs on its nodes
  int num_nodes = 1, max_nodes = 0;                           // at least, at most; 0 = as many as it takes
  // Are both as the job asks? Once it has run Slurm says on how many nodes that was and no most, also while
  // it waits again; LiveCluster then puts what it said before.
  bool nodes_said = true;
  // What Slurm keeps of that: -N, which is 1 where it is not stated, or what the tasks take of
  // --ntasks-per-node each; fewer than num_nodes where CPUs take more. 0 = not stated.
  int stated_nodes = 0;
  std::string gpu_type;    // "" = any
  int cpus = 0;            // in all; while it waits without those that come with its GPUs
  int cpus_per_gpu = 0;    // that come with them
  bool unusual = false;    // several types of GPU, part of a heterogeneous job, or not read: not for Berth
  std::string features;    // of nodes, as it asks for them: "a", "a|b", "[a|b]", .. (LiveCluster::Featured)
  std::string asks;        // for what Berth does not look at, in words: a reservation, ..; "" = nothing
  std::string unread;      // what of it cannot be read, "" = nothing
  bool set_aside = false;  // held until its user has looked at it (SPECIAL_EXIT), or has no reservation left
  bool requeue = false;    // may be requeued, as submitted
  int restarts = 0;        // so far
  std::vector<std::string> nodes, required;   // where it runs; where alone it may
  std::vector<std::vector<int>> gpu_indices;  // [nodes] which GPUs of each; empty = not stated

  // Is it the job that `before` was? A number is given again after slurmctld was killed. A requeue sets
  // another time of submission, though only once the nodes are cleaned up; it counts the restart at once.
  bool same_as(const SlurmJob& before) const {
    const bool cleaned_up = before.state == "COMPLETING" && restarts > 0 && restarts == before.restarts;
    return user == before.user && (submit_s == before.submit_s || restarts > before.restarts || cleaned_up);
  }
  bool pending() const { return state == "PENDING"; }
  bool held() const { return pending() && priority == 0.0; }
  // Held or released by Berth, or by job_submit.lua for it. ("berth nice ..." is of --advise, which holds
  // none.)
  bool marked() const {
    return admin_comment.starts_with("berth") && !admin_comment.starts_with("berth nice");
  }
  bool pinned() const { return admin_comment == "berth pinned"; }  // its nodes are Berth's choice
  // Given back to Slurm: a hold of it is its user's.
  bool left() const { return admin_comment == "berth-left"; }
  bool held_by_berth() const { return held() && marked() && !left(); }
  // Held by Slurm itself, which names neither a user nor an admin then: where it was to run it never can
  // (BadConstraints).
  bool held_by_slurm() const {
    return held() && !set_aside && !reason.empty() && !reason.starts_with("JobHeld") && reason != "None" &&
           reason != "Cleaning";
  }
  // Held by its user after Berth released it, where `own` is Berth's user: Slurm tells a user's hold from
  // Berth's, for which it names an admin, or a requeue, and not from one of Berth's on a job of `own`.
  bool held_since_released(const std::string& own) const {
    const bool by_user = pinned() && reason == "JobHeldUser" && description.empty() && user != own;
    return held_by_berth() && (set_aside || by_user);
  }
  // Did its user say where it must run, on all of those nodes?
  bool user_named() const { return !required.empty() && !pinned(); }
  // On so many nodes at least; where its user named some it runs on all of those.
  int least_nodes() const {
    return std::min(user_named() ? static_cast<int>(required.size()) : num_nodes, gpus);
  }
  // While it waits, GPUs on each of its nodes are those of so many.
  void ask_nodes(int least) {
    const std::int64_t all = static_cast<std::int64_t>(gpus) / num_nodes * least;
    if (by_node && pending()) gpus = static_cast<int>(std::min<std::int64_t>(all, 1'000'000'000));
    num_nodes = least;
  }
  int all_cpus() const {
    const std::int64_t come = static_cast<std::int64_t>(gpus) * cpus_per_gpu;
    return std::max(cpus, static_cast<int>(std::min<std::int64_t>(come, 1'000'000'000)));
  }
  bool on_at_most(int count) const { return max_nodes == 0 || count <= max_nodes; }
  // How much of the time since its start it did not run: it was suspended, or had ended and its nodes were
  // cleaned up.
  double rested_s(double now_s) const {
    const bool ended = !state.empty() && !pending() && !running() && state != "STOPPED";
    const double until_s = ended && end_s > 0.0 ? std::min(now_s, end_s) : now_s;
    if (suspend_s <= start_s) return now_s - until_s;
    const double since_s = state == "SUSPENDED" ? 0.0 : std::max(0.0, until_s - suspend_s);
    return std::max(0.0, now_s - start_s - ran_before_s - since_s);
  }
  bool running() const { return state == "RUNNING" || state == "CONFIGURING" || state == "SUSPENDED"; }
  bool suspended() const { return state == "SUSPENDED"; }
  bool holds_gpus() const { return running() || state == "COMPLETING" || state == "STOPPED"; }
};

struct SlurmGpuNode {
  std::string name, gpu_type;  // "gpu" where Slurm names no type
  int gpus = 0, used = 0, idle_cpus = 0;
  std::string state;    // "idle", "mixed+drain"
  std::string reason;   // why it was drained, "" = none stated
  bool usable = true;   // takes new jobs
  bool asleep = false;  // Slurm wakes it for a job, which takes minutes
  bool wakes = false;   // or is on the way to or from that: it comes back by itself
  std::string unread;   // why it is none for Berth: GPUs of several types, or too many; "" = it is
  std::vector<std::string> partitions, features;
};

struct SlurmState {
  std::string version;
  std::vector<SlurmJob> jobs;       // waiting tasks of arrays are jobs each
  std::vector<SlurmGpuNode> nodes;  // those with GPUs, by type, then by name
};

// Throws Error beginning with `what` where Slurm says that it has no answer, and where a key is missing or
// has another form than both known ones; of one job among others, and of nodes, it is said in `unread`
// instead.
std::vector<SlurmJob> JobsOf(const Json& squeue, const std::string& what);
std::vector<SlurmGpuNode> NodesOf(const Json& sinfo, const std::string& what);
// "22.05.8"; throws Error where the text is none of Slurm's JSON.
std::string VersionOf(const Json& answer, const std::string& what);

}  // namespace berth

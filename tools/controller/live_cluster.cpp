#include "tools/controller/live_cluster.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "env/base/check.hpp"
#include "env/base/counted.hpp"
#include "env/base/index.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

constexpr std::size_t kLeastRows = 256;
// s at most for which Slurm has what it requeued wait (cred_expire, 120), and clocks differ: later begin
// times are of users.
constexpr double kRequeueWait = 125.0;
constexpr double kUnknownSize = 3600.0;  // s on the fastest type, of a job of which nothing is said

bool Contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

LiveCluster::LiveCluster(SiteFile site, LiveOptions options)
    : site_(std::move(site)), options_(std::move(options)) {}

bool LiveCluster::InScope(const SlurmJob& job) const {
  return job.gpus > 0 && !job.unusual && InPartitions(job);
}

bool LiveCluster::InPartitions(const SlurmJob& job) const {
  if (options_.partitions.empty()) return true;
  // A job may name several partitions, of which it gets one.
  std::size_t begin = 0;
  while (begin <= job.partition.size()) {
    const std::size_t end = std::min(job.partition.find(',', begin), job.partition.size());
    if (Contains(options_.partitions, job.partition.substr(begin, end - begin))) return true;
    begin = end + 1;
  }
  return false;
}

bool LiveCluster::InPartitions(const SlurmGpuNode& node) const {
  return options_.partitions.empty() || std::ranges::any_of(node.partitions, [&](const std::string& name) {
           return Contains(options_.partitions, name);
         });
}

std::string LiveCluster::Asks(const SlurmJob& job) const {
  if (!job.asks.empty()) return job.asks;
  // Nodes that a job names it gets at the least: Slurm adds others.
  if (job.by_node && job.max_nodes > job.num_nodes) return "GPUs on each of a range of nodes";
  return Featured(job.features) ? "" : "features of nodes";
}

std::optional<std::uint64_t> LiveCluster::Featured(const std::string& features) const {
  if (features.empty()) return ~std::uint64_t{0};
  const bool brackets = features.front() == '[' && features.back() == ']';
  const std::string text = brackets ? features.substr(1, features.size() - 2) : features;
  if (text.find_first_of("[](){}&,*") != std::string::npos) return std::nullopt;
  std::uint64_t types = 0;
  for (std::size_t g = 0; g < featured_.size(); ++g) {
    const int nodes = types_[g].count / std::max(1, types_[g].gpus_per_node);
    bool all = false, any = false;
    for (const std::string& name : SplitOutsideParentheses(text, '|')) {
      const auto found = featured_[g].find(name);
      any = any || found != featured_[g].end();
      all = all || (found != featured_[g].end() && found->second == nodes);
    }
    if (any && !all) return std::nullopt;
    if (all) types |= std::uint64_t{1} << g;
  }
  return types;
}

bool LiveCluster::Ours(const SlurmJob& job) const {
  return !options_.control || job.marked() || Adopts(job) || RowOf(job) >= 0;
}

int LiveCluster::Find(const std::string& id) const {
  const auto found = index_of_.find(id);
  return found == index_of_.end() ? -1 : found->second;
}

int LiveCluster::RowOf(const SlurmJob& job) const {
  const int index = Find(job.id);
  if (index < 0 || !job.same_as(jobs_[U(index)].slurm)) return -1;
  const bool again = jobs_[U(index)].phase == LivePhase::kGone && (job.pending() || job.holds_gpus());
  return again ? -1 : index;
}

// Types, nodes and rows afresh; jobs that are there are taken in again, in order of submission.
void LiveCluster::BeginAnew(const SlurmState& state) {
  types_.clear(), gpu_types_.clear(), node_number_.clear(), type_of_node_.clear(), first_device_.clear(),
      node_of_.clear(), featured_.clear();
  std::map<std::pair<std::string, int>, int> number;
  std::set<std::string> names;  // of GPUs, and of types
  for (const SlurmGpuNode& node : nodes_) names.insert(node.gpu_type);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const SlurmGpuNode& node = nodes_[i];
    const auto [at, is_new] = number.try_emplace({node.gpu_type, node.gpus}, static_cast<int>(types_.size()));
    if (is_new) {
      GpuType type;
      type.name = node.gpu_type, type.gpus_per_node = node.gpus;
      // The first kind of nodes has the GPUs' own name.
      if (std::ranges::count(gpu_types_, node.gpu_type) > 0) {
        do type.name += Join("-", node.gpus);
        while (!names.insert(type.name).second);
      }
      types_.push_back(type), gpu_types_.push_back(node.gpu_type);
    }
    types_[U(at->second)].count += node.gpus;
    type_of_node_.push_back(at->second), first_device_.push_back(static_cast<int>(node_of_.size()));
    node_of_.insert(node_of_.end(), U(node.gpus), static_cast<int>(i));
    node_number_[node.name] = static_cast<int>(i);
  }
  if (types_.size() > 64)
    throw Error(Join("sinfo: expected at most 64 kinds of nodes with GPUs, found ", types_.size()));
  std::vector<LiveJob> kept;
  for (LiveJob& job : jobs_) {
    if (job.phase == LivePhase::kGone) continue;
    if (job.phase == LivePhase::kRunning && job.type >= 0)
      job.steps_done = Steps(job, now_s_), job.steps_at_s = std::max(job.steps_at_s, now_s_),
      job.steps_rested_s = job.rested_s;
    kept.push_back(std::move(job));
  }
  jobs_ = std::move(kept);
  std::stable_sort(jobs_.begin(), jobs_.end(),
                   [](const LiveJob& a, const LiveJob& b) { return a.arrival_s < b.arrival_s; });
  index_of_.clear();
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    LiveJob& job = jobs_[i];
    index_of_[job.slurm.id] = static_cast<int>(i);
    job.devices.clear(), job.type = job.last_type = -1;
  }
  std::size_t in_scope = 0;
  for (const SlurmJob& job : state.jobs) in_scope += InScope(job) && Ours(job) ? 1 : 0;
  capacity_ = std::max(kLeastRows, 2 * std::max(in_scope, jobs_.size()));
  origin_s_ = now_s_;
  for (const SlurmJob& job : state.jobs) {
    if (job.submit_s > 0.0) origin_s_ = std::min(origin_s_, job.submit_s);
  }
  for (const LiveJob& job : jobs_) origin_s_ = std::min(origin_s_, job.arrival_s);
  speeds_.assign(site_.classes.size(), {});
  for (std::size_t c = 0; c < site_.classes.size(); ++c) {
    for (const std::string& type : gpu_types_) {
      const std::map<std::string, double>& said = site_.classes[c].speeds;
      const auto found = said.find(type);
      speeds_[c].push_back(found != said.end() ? found->second : 1.0);
    }
  }
  arrived_.clear(), completed_.clear(), ended_segments_.clear();
  begun_anew_ = capacity_changed_ = true;
  ++beginnings_;
}

std::vector<LiveChange> LiveCluster::Update(const SlurmState& state, double now_s) {
  now_s_ = std::max(now_s, now_s_);
  std::vector<SlurmGpuNode> nodes;
  for (const SlurmGpuNode& node : state.nodes) {
    if (InPartitions(node) && node.unread.empty()) nodes.push_back(node);
  }
  if (nodes.empty()) {
    std::string which;
    for (const std::string& name : options_.partitions)
      which += (which.empty() ? " of partition " : ", ") + name;
    throw Error(Join("sinfo: expected nodes with GPUs (Gres=gpu:TYPE:COUNT)", which, ", found none"));
  }
  std::vector<LiveChange> changes;
  const bool same = nodes.size() == nodes_.size() &&
                    std::equal(nodes.begin(), nodes.end(), nodes_.begin(), [](const auto& a, const auto& b) {
                      return a.name == b.name && a.gpus == b.gpus && a.gpu_type == b.gpu_type;
                    });
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (same && nodes[i].usable == nodes_[i].usable) continue;
    changes.push_back({LiveChange::Kind::kNode, static_cast<int>(i), nodes[i].state});
    capacity_changed_ = true;
  }
  nodes_ = std::move(nodes);
  tasks_of_.clear();
  for (const SlurmJob& job : state.jobs) {
    // Of what waits those that were released, and will run; without control nobody is held.
    const bool will = options_.control && job.pending() && !job.held();
    if (job.array_limit > 0 && (job.running() || will)) ++tasks_of_[job.array];
  }
  std::size_t unknown = 0;
  for (const SlurmJob& job : state.jobs) unknown += InScope(job) && Ours(job) && RowOf(job) < 0 ? 1 : 0;
  if (!same || jobs_.size() + unknown > capacity_) BeginAnew(state);
  featured_.assign(types_.size(), {});
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    for (const std::string& feature : nodes_[n].features) ++featured_[U(type_of_node_[n])][feature];
  }
  holder_.assign(node_of_.size(), kNobody);
  std::vector<const SlurmJob*> shown;
  for (const SlurmJob& job : state.jobs) {
    if (InScope(job) && Ours(job)) shown.push_back(&job);
  }
  // Rows are in order of arrival: new ones by submission, and then by number.
  std::stable_sort(shown.begin(), shown.end(),
                   [](const SlurmJob* a, const SlurmJob* b) { return a->submit_s < b->submit_s; });
  std::vector<bool> seen(capacity_, false);
  for (const SlurmJob* job : shown) {
    Take(*job, changes);
    if (const int index = Find(job->id); index >= 0) seen[U(index)] = true;
  }
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (seen[i] || jobs_[i].phase == LivePhase::kGone) continue;
    SlurmJob gone = jobs_[i].slurm;
    gone.state = "";
    Take(gone, changes);
  }
  HoldForeign();
  return changes;
}

std::uint64_t LiveCluster::AllowedTypes(const LiveJob& job) const {
  std::uint64_t allowed = 0;
  const std::uint64_t featured = Featured(job.slurm.features).value_or(~std::uint64_t{0});
  for (std::size_t g = 0; g < types_.size(); ++g) {
    const std::string& asked = job.slurm.gpu_type;
    const bool named = (asked.empty() || gpu_types_[g] == asked) && (featured >> g & 1) != 0;
    if ((named && job.slurm.per_node <= types_[g].gpus_per_node) || job.type == static_cast<int>(g))
      allowed |= std::uint64_t{1} << g;
  }
  if (!job.slurm.user_named()) return allowed;
  std::uint64_t named = 0;  // by its user
  for (const std::string& name : job.slurm.required) {
    if (const auto node = node_number_.find(name); node != node_number_.end())
      named |= std::uint64_t{1} << TypeOfNode(node->second);
  }
  return allowed & named;
}

std::vector<int> LiveCluster::FreeGpus() const {
  std::vector<int> free(types_.size(), 0);
  for (int device = 0; device < num_devices(); ++device)
    free[U(TypeOf(device))] += Holder(device) == kNobody ? 1 : 0;
  return free;
}

bool LiveCluster::HasRoom(const LiveJob& job, std::span<const int> free) const {
  const std::uint64_t allowed = AllowedTypes(job);
  for (std::size_t g = 0; g < types_.size(); ++g) {
    if ((allowed >> g & 1) != 0 && free[g] >= job.slurm.gpus) return true;
  }
  return false;
}

bool LiveCluster::Shown(const LiveJob& job) const {
  if (job.phase == LivePhase::kWaiting) return true;
  if (job.slurm.suspended()) return false;  // an administrator says when it goes on
  const bool stoppable =
      options_.stops && job.words.checkpoint && job.slurm.requeue && Asks(job.slurm).empty();
  if (options_.preemptive && !stoppable) return false;
  return (job.phase == LivePhase::kOrdered || job.phase == LivePhase::kRunning) && Progresses(job);
}

LivePhase LiveCluster::PendingPhase(LiveJob& job) const {
  const SlurmJob& from = job.slurm;
  const auto blocked = [&](std::string why) {
    job.why = std::move(why);
    return LivePhase::kBlocked;
  };
  if (from.eligible_s > now_s_ + kRequeueWait) job.begin_s = from.eligible_s;
  if (options_.control && !from.held()) {
    // Released by this controller, or by one before it.
    if (job.phase == LivePhase::kOrdered || from.pinned()) return LivePhase::kOrdered;
    job.why = Join("left to Slurm: ", from.reason);
    return LivePhase::kLeft;
  }
  // So did it end that was released, or was by a controller before this one.
  const bool first_seen = !job.arrived && job.not_before_s == 0.0;
  if (options_.control && from.held_by_slurm() &&
      (job.phase == LivePhase::kOrdered || (from.pinned() && (job.phase == LivePhase::kLeft || first_seen))))
    return LivePhase::kOrdered;
  if (from.held() && !Adopts(from) && (!from.held_by_berth() || HeldSinceReleased(from)))
    return blocked(from.held_by_slurm() ? "held by Slurm: " + from.reason : "held by its user");
  if (const std::string asks = Asks(from); !asks.empty()) {
    job.why = "left to Slurm: it asks for " + asks;
    return LivePhase::kLeft;
  }
  // "failed": never satisfied; Slurm keeps such a job until somebody cancels it or changes the dependency.
  if (from.dependency.find("unfulfilled") != std::string::npos ||
      from.dependency.find("failed") != std::string::npos)
    return blocked("waits for " + from.dependency);
  // A requeue sets a begin time too, which the controller takes off.
  const bool users = from.restarts == 0 || from.eligible_s == job.begin_s;
  if (users && (from.eligible_s > now_s_ + 0.5 || from.start_s > now_s_ + 600.0 * 86400.0))
    return blocked("not before its begin time");
  if (AtArrayLimit(from)) return blocked("waits for its array's limit");
  if (job.not_before_s > now_s_) return LivePhase::kBlocked;  // `why` is of the pause
  if (FittingTypes(job) == 0)
    return blocked(Join("no GPU type has ",
                        Counted(from.gpus, from.gpu_type.empty() ? "GPU" : from.gpu_type + " GPU"),
                        " as it asks"));
  return LivePhase::kWaiting;
}

std::string LiveCluster::Overtaken(const LiveJob& job) const {
  if (!job.slurm.pinned()) return "";
  if (job.requeued) return "it was requeued";
  for (const std::string& name : job.slurm.required) {
    const auto found = node_number_.find(name);
    const SlurmGpuNode* const node = found == node_number_.end() ? nullptr : &nodes_[U(found->second)];
    // One that wakes up may do so for this job.
    if (node == nullptr || (!node->usable && !node->wakes)) return "node " + name + " is out of service";
  }
  return "";
}

bool LiveCluster::AtArrayLimit(const SlurmJob& job) const {
  const auto tasks = tasks_of_.find(job.array);
  return job.array_limit > 0 && tasks != tasks_of_.end() && tasks->second >= job.array_limit;
}

std::uint64_t LiveCluster::FittingTypes(const LiveJob& job) const {
  std::uint64_t fitting = AllowedTypes(job);
  const SlurmJob& asks = job.slurm;
  for (std::size_t g = 0; g < types_.size(); ++g) {
    const int on_node = std::max(1, types_[g].gpus_per_node),
              each = asks.per_node > 0 ? asks.per_node : on_node;
    const int nodes = std::max(asks.least_nodes(), (asks.gpus + each - 1) / each);
    if (types_[g].count / on_node < nodes || !asks.on_at_most(nodes) ||
        Speed(job.job_class, static_cast<int>(g)) <= 0.0)
      fitting &= ~(std::uint64_t{1} << g);
  }
  return fitting;
}

void LiveCluster::EndRun(LiveJob& job, double end_s) {
  if (job.phase != LivePhase::kRunning) return;
  const double seconds = std::max(0.0, end_s - job.run_start_s - job.rested_s);
  job.steps_done = Steps(job, end_s), job.steps_at_s = end_s;
  job.attained_s += seconds, job.gpu_seconds += seconds * static_cast<double>(job.devices.size());
  if (job.type >= 0) {
    const double since = std::max(job.run_start_s, decided_s_);
    ended_segments_.push_back({static_cast<int>(&job - jobs_.data()), job.type, std::max(0.0, end_s - since),
                               end_s - origin_s_, false});
  }
  job.last_type = job.type;
}

// At `end_s`, or when its stop was ordered, where that is known to be earlier.
void LiveCluster::StopRun(LiveJob& job, double end_s, std::vector<LiveChange>& changes) {
  EndRun(job, job.stop_ordered_s > job.run_start_s ? std::min(end_s, job.stop_ordered_s) : end_s);
  if (!job.words.checkpoint) job.steps_done = 0.0;
  job.stopped_s = now_s_, job.left_nodes.clear();
  for (const int device : job.devices) job.left_nodes.push_back(NodeOf(device));
  ++job.preemptions, job.devices.clear(), job.type = -1;
  changes.push_back({LiveChange::Kind::kStopped, static_cast<int>(&job - jobs_.data()), job.slurm.state});
}

double LiveCluster::Steps(const LiveJob& job, double now_s) const {
  if (job.phase != LivePhase::kRunning || job.type < 0) return job.steps_done;
  const double seconds = now_s - job.steps_at_s - (job.rested_s - job.steps_rested_s);
  return job.steps_done + std::max(0.0, seconds) * Speed(job.job_class, job.type);
}

void LiveCluster::GuessSteps(LiveJob& job) const {
  job.total_steps = job.words.steps;
  if (job.total_steps > 0.0) return;
  double best = 0.0;
  for (const double speed : speeds_[U(job.job_class)]) best = std::max(best, speed);
  job.total_steps = best * (std::isfinite(job.slurm.limit_s) ? job.slurm.limit_s : kUnknownSize);
}

// It is there for schedulers: an arrival once, and news each time.
void LiveCluster::Arrive(int index) {
  news_ = true;
  if (std::exchange(job(index).arrived, true)) return;
  arrived_.push_back(index);
}

void LiveCluster::Take(const SlurmJob& said, std::vector<LiveChange>& changes) {
  SlurmJob from = said;
  const bool waits = from.pending();
  const bool holds_gpus = from.holds_gpus();
  int index = RowOf(from);
  if (index < 0) {
    const int other = Find(from.id);
    const bool requeued = other >= 0 && from.same_as(jobs_[U(other)].slurm);  // after it ended
    if (other >= 0) {                                                         // it has ended, unseen
      SlurmJob gone = jobs_[U(other)].slurm;
      gone.state = "";
      Take(gone, changes);
    }
    if (!waits && !holds_gpus) return;  // it had ended before it was seen
    index = num_jobs();
    index_of_[from.id] = index;
    LiveJob job;
    job.slurm = from;
    job.words = WordsOf(from.comment), job.job_class = site_.ClassOf(from);
    job.arrival_s = from.submit_s > 0.0 ? from.submit_s : now_s_;
    job.requeued = requeued;
    jobs_.push_back(std::move(job));
    GuessSteps(jobs_.back());
    changes.push_back({LiveChange::Kind::kArrived, index, from.state});
  }
  LiveJob& job = jobs_[U(index)];
  if (from.nodes_said) {
    job.least_nodes = from.num_nodes, job.most_nodes = from.max_nodes, job.stated_nodes = from.stated_nodes;
  } else {
    const int before = job.stated_nodes;
    if (waits && from.stated_nodes > 0) job.stated_nodes = from.stated_nodes;
    if (before > 0 && before != job.stated_nodes)  // its user's change, of which Slurm does not say the most
      job.least_nodes = job.stated_nodes, job.most_nodes = -1;
    if (job.least_nodes > 0) from.ask_nodes(job.least_nodes);
    if (job.most_nodes >= 0) from.max_nodes = job.most_nodes, from.nodes_said = true;
  }
  if (from.restarts > job.slurm.restarts) job.requeued = true;
  if (from.running() || from.held()) job.requeued = false;
  if (from.state == "COMPLETING") {  // it has been requeued, or it ends; its GPUs are not free yet
    // Slurm names only those of its nodes that are not cleaned up yet.
    from.gpus = job.slurm.gpus, from.num_nodes = job.slurm.num_nodes;
    if (!job.slurm.nodes.empty()) from.nodes = job.slurm.nodes, from.gpu_indices = job.slurm.gpu_indices;
    if (job.phase == LivePhase::kRunning && from.restarts != job.slurm.restarts) {
      StopRun(job, now_s_, changes);
      job.phase = LivePhase::kBlocked, job.why = "is being stopped";
    }
    if (job.phase == LivePhase::kBlocked || job.phase == LivePhase::kWaiting) {
      job.slurm = from;
      return;
    }
  }
  const bool elsewhere = job.phase == LivePhase::kRunning && holds_gpus &&
                         (from.nodes != job.slurm.nodes || from.restarts != job.slurm.restarts);
  if (elsewhere) {  // stopped and started again between two looks
    StopRun(job, from.start_s > 0.0 ? std::min(from.start_s, now_s_) : now_s_, changes);
    job.phase = LivePhase::kWaiting;
  }
  const LivePhase before = job.phase;
  const bool ran = before == LivePhase::kRunning, was_shown = Shown(job);
  if (ran && !waits) job.rested_s = (from.state.empty() ? job.slurm : from).rested_s(now_s_);
  job.slurm = from;
  if (waits) {
    if (ran) StopRun(job, now_s_, changes);
    LivePhase phase = PendingPhase(job);
    if (phase != LivePhase::kOrdered) job.devices.clear(), job.type = -1;
    if (phase == LivePhase::kOrdered && job.devices.empty() && !Lay(job, index)) phase = LivePhase::kLeft;
    if (phase == LivePhase::kWaiting && before != LivePhase::kWaiting) Arrive(index), job.why = "";
    if (phase != LivePhase::kWaiting && before == LivePhase::kWaiting) completed_.push_back(index);
    if (phase == LivePhase::kBlocked && before == LivePhase::kOrdered) completed_.push_back(index);
    job.phase = phase;
    for (const int device : job.devices) holder_[U(device)] = index;
  } else if (holds_gpus) {
    if (!ran) {
      job.run_start_s = job.steps_at_s = from.start_s > 0.0 ? std::min(from.start_s, now_s_) : now_s_;
      // Slurm tells whole seconds: of a start that was ordered it is no earlier than the order.
      if (before == LivePhase::kOrdered)
        job.run_start_s = job.steps_at_s = std::max(job.run_start_s, job.ordered_s);
      job.first_start_s = std::min(job.first_start_s, job.run_start_s);
      job.rested_s = from.rested_s(now_s_), job.steps_rested_s = 0.0;
      job.phase = LivePhase::kRunning, job.devices.clear();
    }
    if (!Lay(job, index)) job.devices.clear(), job.type = -1;
    if (ran && Shown(job) != was_shown) news_ = true;
    if (!ran) {
      job.why = "", job.refused_nodes.clear();
      changes.push_back({LiveChange::Kind::kStarted, index, from.state});
      if (before != LivePhase::kOrdered) Arrive(index);  // not by a decision of ours
      if (!Shown(job)) completed_.push_back(index);      // to a scheduler that could not stop it
    }
  } else if (before != LivePhase::kGone) {
    EndRun(job, now_s_);
    if (!ended_segments_.empty() && ended_segments_.back().job == index)
      ended_segments_.back().completed = true;
    job.phase = LivePhase::kGone, job.devices.clear();
    completed_.push_back(index);
    changes.push_back({LiveChange::Kind::kEnded, index, from.state});
  }
}

// On the GPUs that Slurm names, or any of its nodes' that are left; of a job that was released and has not
// started on the nodes where it may. False: they cannot be shown (GPUs of
// several types, or more than a node has left just now); the GPUs then count as somebody else's.
bool LiveCluster::Lay(LiveJob& job, int index) {
  if (!job.devices.empty() && job.type >= 0) {  // as it was
    for (const int device : job.devices) holder_[U(device)] = index;
    return true;
  }
  const SlurmJob& from = job.slurm;
  std::vector<int> devices;
  const std::vector<std::string>& names = from.pending() ? from.required : from.nodes;
  int type = -1, left = from.gpus;
  for (std::size_t n = 0; n < names.size(); ++n) {
    const auto found = node_number_.find(names[n]);
    if (found == node_number_.end()) return false;
    const int node = found->second, first = FirstDevice(node), gpus = nodes_[U(node)].gpus;
    if (type >= 0 && TypeOfNode(node) != type) return false;
    type = TypeOfNode(node);
    const auto nodes_left = static_cast<int>(names.size() - n);
    const std::vector<int>* const stated = from.gpu_indices.empty() ? nullptr : &from.gpu_indices[n];
    const int here = stated != nullptr && !stated->empty() ? static_cast<int>(stated->size())
                     : from.per_node > 0                   ? from.per_node
                                         : std::min((left + nodes_left - 1) / nodes_left, gpus);
    int taken = 0;
    if (stated != nullptr) {
      for (const int k : *stated) {
        if (k < gpus && holder_[U(first + k)] == kNobody)
          devices.push_back(first + k), holder_[U(first + k)] = index, ++taken;
      }
    }
    for (int k = 0; k < gpus && taken < here; ++k) {
      if (holder_[U(first + k)] == kNobody)
        devices.push_back(first + k), holder_[U(first + k)] = index, ++taken;
    }
    left -= taken;
  }
  if (type < 0 || static_cast<int>(devices.size()) != from.gpus) {
    for (const int device : devices) holder_[U(device)] = kNobody;
    return false;
  }
  std::sort(devices.begin(), devices.end());
  job.devices = std::move(devices), job.type = type;
  return true;
}

// Nodes that take no job, and GPUs in use by what is not shown.
void LiveCluster::HoldForeign() {
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const SlurmGpuNode& node = nodes_[n];
    const int first = first_device_[n];
    int running = 0;
    for (int k = 0; k < node.gpus; ++k) {
      const int holder = holder_[U(first + k)];
      running += holder >= 0 && jobs_[U(holder)].phase == LivePhase::kRunning ? 1 : 0;
    }
    int foreign = node.usable ? std::max(0, node.used - running) : node.gpus;
    // sinfo is asked after squeue: what started or ended in between seems somebody's for one look, and may be
    // started on behind it.
    if (n < foreign_.size() && foreign < foreign_[n]) capacity_changed_ = true;
    foreign_.resize(nodes_.size(), 0), foreign_[n] = foreign;
    for (int k = node.gpus - 1; k >= 0 && foreign > 0; --k) {
      if (holder_[U(first + k)] == kNobody) holder_[U(first + k)] = kForeign, --foreign;
    }
  }
}

void LiveCluster::Order(int index, int type, std::vector<int> devices, double now_s) {
  LiveJob& ordered = job(index);
  BERTH_CHECK(ordered.phase == LivePhase::kWaiting, "job ", ordered.slurm.id, " does not wait");
  ordered.phase = LivePhase::kOrdered, ordered.type = type, ordered.ordered_s = now_s;
  ordered.devices = std::move(devices), ordered.why = "";
  if (ordered.slurm.array_limit > 0) ++tasks_of_[ordered.slurm.array];
  for (const int device : ordered.devices) holder_[U(device)] = index;
}

void LiveCluster::Withdraw(int index) {
  LiveJob& waits = job(index);
  for (const int device : waits.devices) holder_[U(device)] = kNobody;
  waits.phase = LivePhase::kWaiting, waits.devices.clear(), waits.type = -1, waits.ordered_s = 0.0;
}

void LiveCluster::Resume(int index, int type, std::vector<int> devices) {
  LiveJob& runs = job(index);
  for (const int device : devices) holder_[U(device)] = index;
  runs.phase = LivePhase::kRunning, runs.type = type, runs.devices = std::move(devices);
}

void LiveCluster::Pause(int index, double until_s, std::string why, const std::vector<std::string>& nodes) {
  LiveJob& paused = job(index);
  std::vector<std::string>& refused = paused.refused_nodes;
  const auto known = [&](const std::string& node) { return Contains(refused, node); };
  if (std::ranges::all_of(nodes, known)) refused.clear();  // all were tried: all over again
  for (const std::string& node : nodes) {
    if (!known(node)) refused.push_back(node);
  }
  for (const int device : paused.devices) holder_[U(device)] = kNobody;
  paused.phase = LivePhase::kBlocked, paused.devices.clear(), paused.type = -1;
  paused.not_before_s = until_s, paused.why = std::move(why);
  completed_.push_back(index);
}

void LiveCluster::SetSpeeds(std::vector<std::vector<double>> speeds) {
  speeds_ = std::move(speeds);
  for (LiveJob& job : jobs_) GuessSteps(job);
}

void LiveCluster::Decided() {
  for (LiveJob& job : jobs_) job.offered = job.offered || job.phase == LivePhase::kWaiting;
  arrived_.clear(), completed_.clear(), ended_segments_.clear();
  begun_anew_ = capacity_changed_ = news_ = false;
  decided_s_ = now_s_;
}

}  // namespace berth

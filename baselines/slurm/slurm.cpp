// What Slurm would do, from its slurm.conf: the order of priority/multifactor, the main scheduler that starts
// jobs in that order and stops, partition by partition, at the first that does not fit, and sched/backfill
// behind it (backfill.hpp). Nodes are Slurm's: a gang takes the fewest that hold it, and which ones follows
// select/cons_tres (nodes.hpp).
//
// A job's partition and QoS stand in its job type, "PARTITION:QOS"; one that slurm.conf does not name is the
// default partition. Its time limit is what the user requested, else the partition's DefaultTime or MaxTime;
// without any the truth or its estimate.
//
// slurmctld looks every look_s, a second, whether there is something to do (_slurmctld_background of
// controller.c, backfill_agent): a start waits for that, half a second on average. The main scheduler then
// runs where GPUs came back, and batch_sched_delay after its last run where only jobs came. Backfill runs
// where anything changed, bf_interval after its last run.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <mutex>
#include <set>

#include "baselines/schedulers.hpp"
#include "baselines/slurm/backfill.hpp"
#include "baselines/slurm/priority.hpp"
#include "env/base/check.hpp"
#include "env/base/counted.hpp"
#include "env/base/index.hpp"
#include "env/base/spec.hpp"
#include "env/predict/run_times.hpp"

namespace berth {
namespace {

constexpr ParamInfo kSlurmParams[] = {
    {"conf", "", "path of a slurm.conf; none = Slurm's defaults: by arrival, with backfill, one partition"},
    {"qos", "", "QoS by priority, which accounting knows and not slurm.conf: urgent:100+low:1"},
    {"gangs", "packed",
     "packed: on the fewest nodes of a type (sbatch -N); spread: wherever it has GPUs (--gpus-per-task, -C "
     "'[a|b]')"},
    {"look_s", "1",
     "s between the moments at which slurmctld looks whether there is something to do; 0 = it always does"},
    {"calc_phase", "0",
     "s from the scenario's second 0 to a moment at which Slurm counts priorities anew (PriorityCalcPeriod)"},
    {"usage", "",
     "GPU-seconds that tenants used before it begins, decayed by then (sshare): a/ann:7200+b/bob:0; in their "
     "names % + , ( ) as %25 %2B %2C %28 %29"},
    {"preempt", "", "which QoS preempts which, with PreemptType=preempt/qos: urgent>low+urgent>normal"},
};

std::vector<SlurmQos> ReadQos(const std::string& levels, const std::string& preempt) {
  std::vector<SlurmQos> qos;
  for (const std::string& entry : SplitOutsideParentheses(levels, '+')) {
    const std::size_t colon = entry.find(':');
    if (colon == std::string::npos || colon == 0)
      throw Error(Join("slurm: parameter 'qos': expected NAME:PRIORITY+..., found '", entry, "'"));
    SlurmQos level;
    level.name = entry.substr(0, colon);
    level.priority = ParseNumber(entry.substr(colon + 1), Join("slurm: parameter 'qos': ", level.name));
    if (!(level.priority >= 0.0 && level.priority <= 4294967295.0))
      throw Error(
          Join("slurm: parameter 'qos': expected a priority of 0 to 4294967295, found '", entry, "'"));
    qos.push_back(level);
  }
  for (const std::string& entry : SplitOutsideParentheses(preempt, '+')) {
    const std::size_t sign = entry.find('>');
    const auto at = std::find_if(qos.begin(), qos.end(),
                                 [&](const SlurmQos& level) { return level.name == entry.substr(0, sign); });
    if (sign == std::string::npos || at == qos.end())
      throw Error(
          Join("slurm: parameter 'preempt': expected NAME>NAME+... of those in 'qos', found '", entry, "'"));
    at->preempts.push_back(entry.substr(sign + 1));
  }
  return qos;
}

using SlurmUsage = std::vector<std::pair<std::string, double>>;

SlurmUsage ReadUsage(const std::string& text) {
  SlurmUsage usage;
  for (const std::string& entry : SplitOutsideParentheses(text, '+')) {
    const std::size_t colon = entry.rfind(':');
    if (colon == std::string::npos)
      throw Error(Join("slurm: parameter 'usage': expected TENANT:GPU-SECONDS+..., found '", entry, "'"));
    usage.emplace_back(Unescaped(entry.substr(0, colon)),
                       ParseNumber(entry.substr(colon + 1), "slurm: parameter 'usage'"));
    if (!(usage.back().second >= 0.0 && usage.back().second < 1e30))
      throw Error(Join("slurm: parameter 'usage': expected GPU-seconds of 0 or more, found '", entry, "'"));
  }
  return usage;
}

// Once a file and program: what of it is not read.
void SayUnread(const std::string& path, const SlurmSettings& settings) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::lock_guard<std::mutex> lock(mutex);
  if ((settings.unread.empty() && settings.other_unread == 0) || !said.insert(path).second) return;
  std::cerr << "slurm: " << path << ": "
            << Counted(settings.unread.size(), "setting of scheduling is", "settings of scheduling are")
            << " not read" << (settings.unread.empty() ? "" : ": ") << Listed(settings.unread) << "; nor "
            << settings.other_unread << " about other things\n";
}

class Slurm final : public Scheduler {
 public:
  Slurm(SlurmSettings settings, std::vector<SlurmQos> qos, SlurmUsage usage)
      : settings_(std::move(settings)),
        qos_(std::move(qos)),
        usage_(std::move(usage)),
        priority_(settings_, qos_),
        backfill_(settings_) {}
  Knowledge knowledge() const override { return Knowledge::kEstimate; }
  bool goes_by_requests() const override { return true; }

  void Reset(const ClusterView& view) override {
    nodes_.Reset(view, settings_);
    classes_ = ClassesOf(view, settings_, qos_);
    priority_.Reset(view);
    for (std::size_t t = 0; t < view.tenants().size(); ++t) {
      for (const auto& [name, gpu_seconds] : usage_) {
        if (name == view.tenants()[t].name) priority_.AddUsage(static_cast<int>(t), gpu_seconds);
      }
    }
    last_main_ = last_backfill_ = -kNever, look_at_ = kNever;
    main_waits_ = changed_ = freed_waits_ = true;
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    nodes_.Observe(view);
    const double update = priority_.next_update();
    priority_.Observe(view, classes_, nodes_);
    freed_waits_ =
        freed_waits_ || !view.completed().empty() || view.capacity_changed() || view.now() >= update;
    main_waits_ = main_waits_ || freed_waits_ || !view.arrived().empty();
    changed_ = changed_ || main_waits_ || !view.changed().empty();
    if (settings_.look_s > 0.0 && view.clock().kind == ClockKind::kEvent) {
      if (look_at_ == kNever && !view.waiting().empty())
        look_at_ = settings_.look_s * std::ceil(view.now() / settings_.look_s - 1e-6);
      if (view.now() < look_at_) {
        decision.wake_at = look_at_;
        return;
      }
      look_at_ = kNever;
    }
    free_ = nodes_.free();
    freed_.assign(U(view.num_gpus()), 0);
    taken_.assign(U(view.num_gpus()), 0);
    FillQueue(view, decision);
    ListRunning(view);
    const double next_main = last_main_ + settings_.batch_sched_delay;
    if (freed_waits_ || view.now() >= next_main || view.running().empty()) MainPass(view, decision);
    const double next_backfill = last_backfill_ + settings_.bf_interval;
    if (settings_.backfill && changed_ && view.now() >= next_backfill && !queue_.empty()) {
      last_backfill_ = view.now();
      changed_ = false;
      backfill_.Pass(view, nodes_, queue_, running_, free_,
                     [&](const SlurmPending& pending, const std::vector<SlurmTake>& takes) {
                       Start(view, pending, takes, decision);
                     });
      std::erase_if(queue_, [&](const SlurmPending& pending) { return started_.count(pending.job) == 1; });
    }
    Wake(view, decision);
  }

 private:
  const SlurmClass& ClassOf(const ClusterView& view, int job) const { return classes_[U(view.JobType(job))]; }
  const SlurmPartitionRules& PartitionOf(const ClusterView& view, int job) const {
    return settings_.partitions[U(ClassOf(view, job).partition)];
  }

  double Limit(const ClusterView& view, int job) const {
    return SlurmLimit(view, job, PartitionOf(view, job));
  }

  // What Slurm refuses, or would keep for ever: beyond the partition's limits, or of no node of it.
  bool Refused(const ClusterView& view, int job) {
    const SlurmPartitionRules& partition = PartitionOf(view, job);
    if (!partition.up || view.Requested(job) > partition.max_time) return true;
    if (settings_.nodes.empty()) return false;
    whole_.clear();
    for (int node = 0; node < nodes_.size(); ++node) whole_.push_back(nodes_.GpusOf(node));
    return !nodes_.Choose(view, job, whole_, nodes_.InPartition(ClassOf(view, job).partition), takes_) ||
           static_cast<double>(takes_.size()) > partition.max_nodes;
  }

  void FillQueue(const ClusterView& view, Decision& decision) {
    queue_.clear();
    started_.clear();
    for (int job : view.waiting()) {
      if (view.LastTypeOf(job) < 0 && Refused(view, job)) {
        decision.Reject(job);
        continue;
      }
      SlurmPending pending{job, ClassOf(view, job).partition, view.TenantOf(job), Limit(view, job), true};
      pending.may_reserve = priority_.Age(view, job) >= settings_.bf_min_age_reserve;
      queue_.push_back(pending);
    }
    // view.waiting() is by arrival; ids are in the order of submission.
    std::stable_sort(queue_.begin(), queue_.end(), [&](const SlurmPending& a, const SlurmPending& b) {
      const int tier_a = settings_.partitions[U(a.partition)].tier,
                tier_b = settings_.partitions[U(b.partition)].tier;
      if (tier_a != tier_b) return tier_a > tier_b;
      if (priority_.Of(a.job) != priority_.Of(b.job)) return priority_.Of(a.job) > priority_.Of(b.job);
      if (view.Arrival(a.job) != view.Arrival(b.job)) return view.Arrival(a.job) < view.Arrival(b.job);
      return view.Id(a.job) < view.Id(b.job);
    });
  }

  void ListRunning(const ClusterView& view) {
    running_.clear();
    for (int job : view.running()) {
      const double requested = view.Requested(job);
      const double end = std::isnan(requested) && PartitionOf(view, job).max_time == kUnlimited
                             ? std::min(EstimatedRelease(view, job), view.now() + kSlurmYear)
                             : view.RunStart(job) + Limit(view, job);
      running_.push_back({end, nodes_.Held(view, job)});
    }
  }

  void MainPass(const ClusterView& view, Decision& decision) {
    last_main_ = view.now();
    main_waits_ = freed_waits_ = false;
    std::vector<char> failed(settings_.partitions.size(), 0), open(U(nodes_.size()), 1), may;
    for (const SlurmPending& pending : queue_) {
      if (failed[U(pending.partition)] != 0) continue;
      const std::vector<char>& its = nodes_.InPartition(pending.partition);
      may = its;
      for (std::size_t n = 0; n < may.size(); ++n) may[n] = may[n] != 0 && open[n] != 0 ? 1 : 0;
      if (nodes_.Choose(view, pending.job, free_, may, takes_) || MakeWay(view, pending, may, decision)) {
        const std::vector<SlurmTake> takes = takes_;
        Start(view, pending, takes, decision);
        running_.push_back({view.now() + pending.limit, takes});
        continue;
      }
      if (!pending.may_reserve || Unreachable(view, pending, may)) continue;
      failed[U(pending.partition)] = 1;  // nobody passes it but by backfill, nor takes its partition's nodes
      for (std::size_t n = 0; n < open.size(); ++n) open[n] = open[n] != 0 && its[n] == 0 ? 1 : 0;
    }
    std::erase_if(queue_, [&](const SlurmPending& pending) { return started_.count(pending.job) == 1; });
  }

  // Could it not start on these nodes even if they were empty, though they are enough? Slurm calls it
  // ESLURM_NODE_NOT_AVAIL then, and who waits for nodes that others have closed closes none (_schedule of
  // job_scheduler.c, _pick_best_nodes of node_scheduler.c).
  bool Unreachable(const ClusterView& view, const SlurmPending& pending, const std::vector<char>& may) {
    whole_.clear();
    for (int node = 0; node < nodes_.size(); ++node) whole_.push_back(nodes_.GpusOf(node));
    if (nodes_.Choose(view, pending.job, whole_, may, takes_)) return false;
    return nodes_.Choose(view, pending.job, whole_, nodes_.InPartition(pending.partition), takes_) &&
           std::count(may.begin(), may.end(), 1) >= static_cast<std::ptrdiff_t>(takes_.size());
  }

  bool MayPreempt(const ClusterView& view, const SlurmPending& pending, int victim) const {
    const SlurmPartitionRules& its = PartitionOf(view, victim);
    if (!its.preempts) return false;
    if (settings_.preempt == SlurmSettings::Preempt::kPartition)
      return its.tier < settings_.partitions[U(pending.partition)].tier;
    const int qos = ClassOf(view, pending.job).qos, other = ClassOf(view, victim).qos;
    if (qos < 0) return false;
    const std::vector<std::string>& below = qos_[U(qos)].preempts;
    return other >= 0 && std::find(below.begin(), below.end(), qos_[U(other)].name) != below.end();
  }

  // Stops running jobs, the least important and latest first, until the job fits; those on other nodes than
  // it takes run on.
  bool MakeWay(const ClusterView& view, const SlurmPending& pending, const std::vector<char>& may,
               Decision& decision) {
    if (settings_.preempt == SlurmSettings::Preempt::kNone || nodes_.types_are_nodes()) return false;
    std::vector<int> victims;
    for (int job : view.running()) {
      if (stopped_.count(job) == 0 && MayPreempt(view, pending, job)) victims.push_back(job);
    }
    const auto rank = [&](int job) {
      const int qos = ClassOf(view, job).qos;
      return settings_.preempt == SlurmSettings::Preempt::kPartition
                 ? PartitionOf(view, job).tier
                 : (qos < 0 ? 0.0 : qos_[U(qos)].priority);
    };
    std::stable_sort(victims.begin(), victims.end(), [&](int a, int b) {
      return rank(a) != rank(b) ? rank(a) < rank(b) : view.RunStart(a) > view.RunStart(b);
    });
    std::vector<int> free = free_;
    for (std::size_t count = 1; count <= victims.size(); ++count) {
      for (const SlurmTake& take : nodes_.Held(view, victims[count - 1])) free[U(take.node)] += take.gpus;
      if (!nodes_.Choose(view, pending.job, free, may, takes_)) continue;
      for (std::size_t v = 0; v < count; ++v) {
        const std::vector<SlurmTake> held = nodes_.Held(view, victims[v]);
        const bool in_the_way = std::any_of(held.begin(), held.end(), [&](const SlurmTake& take) {
          return std::any_of(takes_.begin(), takes_.end(),
                             [&](const SlurmTake& mine) { return mine.node == take.node; });
        });
        if (!in_the_way) continue;
        decision.Stop(victims[v]);
        stopped_.insert(victims[v]);
        for (int device : view.Devices(victims[v])) freed_[U(device)] = view.InService(device);
        for (const SlurmTake& take : held) free_[U(take.node)] += take.gpus;
      }
      return true;
    }
    return false;
  }

  void Start(const ClusterView& view, const SlurmPending& pending, const std::vector<SlurmTake>& takes,
             Decision& decision) {
    for (const SlurmTake& take : takes) free_[U(take.node)] -= take.gpus;
    const int type = nodes_.TypeOf(takes[0].node);
    nodes_.DevicesFor(view, takes, freed_, taken_, devices_);
    if (devices_.empty())
      decision.Start(pending.job, type);
    else
      decision.Start(pending.job, type, devices_);
    started_.insert(pending.job);
  }

  void Wake(const ClusterView& view, Decision& decision) {
    stopped_.clear();
    if (queue_.empty()) return;
    double at = kNever;
    if (main_waits_) at = std::min(at, last_main_ + settings_.batch_sched_delay);
    if (settings_.backfill && changed_) at = std::min(at, last_backfill_ + settings_.bf_interval);
    if (std::any_of(free_.begin(), free_.end(), [](int gpus) { return gpus > 0; }))
      at = std::min(at, priority_.next_update());
    if (at > view.now()) decision.wake_at = at;
  }

  SlurmSettings settings_;
  std::vector<SlurmQos> qos_;
  SlurmUsage usage_;
  SlurmPriority priority_;
  SlurmBackfill backfill_;
  SlurmNodeTable nodes_;
  std::vector<SlurmClass> classes_;    // [job types]
  std::vector<SlurmPending> queue_;    // the best first
  std::vector<SlurmRunning> running_;  // with those that this decision starts
  std::vector<int> free_, whole_;      // [nodes]
  std::vector<char> freed_, taken_;    // [devices]
  std::vector<int> devices_;
  std::vector<SlurmTake> takes_;
  std::set<int> started_, stopped_;                               // by this decision
  double last_main_ = -kNever, last_backfill_ = -kNever;          // s
  double look_at_ = kNever;                                       // s; kNever = when it is asked next
  bool main_waits_ = true, freed_waits_ = true, changed_ = true;  // since those
};

}  // namespace

SchedulerInfo SlurmInfo() {
  return {"slurm",
          "what Slurm does by its slurm.conf: multifactor priority, partitions, backfill; O(n W N) for n "
          "jobs, W windows, N nodes",
          "Slurm 22.05: priority/multifactor, sched/backfill, select/cons_tres; slurm.conf(5)",
          "",
          Knowledge::kEstimate,
          /*preemptive=*/false,
          kSlurmParams,
          [](Params& params) -> std::unique_ptr<Scheduler> {
            const std::string path = params.Text("conf");
            SlurmSettings settings = path.empty() ? DefaultSlurmSettings() : ReadSlurmSettings(path);
            settings.spread = params.Choice("gangs", {"packed", "spread"}) == 1;
            settings.look_s = params.Number("look_s", 0, 3600);
            settings.calc_phase = params.Number("calc_phase", -1e9, 1e9);
            std::vector<SlurmQos> qos = ReadQos(params.Text("qos"), params.Text("preempt"));
            if (!path.empty()) SayUnread(path, settings);
            return std::make_unique<Slurm>(std::move(settings), std::move(qos),
                                           ReadUsage(params.Text("usage")));
          }};
}

}  // namespace berth

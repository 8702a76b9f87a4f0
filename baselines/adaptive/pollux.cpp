// Pollux (Qiao et al., OSDI 2021, section 4.2): every interval the GPUs of each job on each node, for the
// greatest power mean over jobs of how much faster than on its fair share each trains, by the speed that it
// has learned itself and the batch that suits it (env/features/goodput). Without that feature a job's speeds
// are those of its widths.
//
// On several GPU types a job's share is that on the type where it has most GPUs; Pollux knows one type alone.
// Nodes have at most 255 GPUs.
#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "baselines/adaptive/every.hpp"
#include "baselines/adaptive/pollux_genetic.hpp"
#include "baselines/adaptive/pollux_search.hpp"
#include "baselines/elastic/width_plan.hpp"
#include "baselines/placement/in_service.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/features/goodput/goodput.hpp"
#include "env/sim/most_free_nodes.hpp"

namespace berth {
namespace {

constexpr ParamInfo kPolluxParams[] = {
    {"search", "ruin_recreate",
     "ruin_recreate (ours: a fitter allocation in less time) | genetic (the authors')"},
    {"population", "100", "search=genetic: allocations that a generation has"},
    {"generations", "100", "search=genetic: of a decision"},
    {"rounds", "1000", "search=ruin_recreate: tries of a decision"},
    {"exponent", "-1", "of the mean over jobs: 1 = average, 0 = geometric, lower = fairer"},
    {"restart_delay", "30", "s that a restart is taken to cost"},
    {"interval", "60", "s between decisions"},
};

class Pollux final : public Scheduler {
 public:
  struct Settings {
    pollux::GeneticOptions search;
    bool genetic;
    pollux::SearchOptions own;
    double power, restart_delay, interval;
  };
  explicit Pollux(const Settings& settings)
      : settings_(settings), search_(settings.search), every_(settings.interval) {}
  Knowledge knowledge() const override { return Knowledge::kBlind; }
  bool resizes() const override { return true; }

  void Reset(const ClusterView& view) override {
    search_.Forget();
    stream_ = Stream(view.seed(), Purpose::kScheduler);
    every_.Reset();
    nodes_.clear();
    node_of_.clear();
    std::map<std::pair<int, int>, int> known;  // slices of GPUs stand in their node, and are another type
    for (int device = 0; device < view.num_gpus(); ++device) {
      const auto [entry, fresh] = known.try_emplace({view.NodeOf(device), view.TypeOfDevice(device)},
                                                    static_cast<int>(nodes_.size()));
      if (fresh) nodes_.emplace_back();
      nodes_[U(entry->second)].push_back(device);
      node_of_.push_back(entry->second);
    }
    for (const std::vector<int>& node : nodes_) {
      if (static_cast<int>(node.size()) <= pollux::kMostOfNode) continue;
      throw Error(Join("pollux: expected nodes of at most ", pollux::kMostOfNode, " GPUs, found one of ",
                       node.size(), " ", view.types()[U(view.TypeOfDevice(node.front()))].name));
    }
    for (int job = 0; job < view.num_jobs() && !view.some_jobs(); ++job) {
      if (view.MaxGang(job) <= pollux::kMostReplicas) continue;
      throw Error(Join("pollux: job ", job, " of the workload: expected at most ", pollux::kMostReplicas,
                       " GPUs of a job, found ", view.MaxGang(job)));
    }
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    if (!every_.Due(view, decision)) return;
    // Who runs then holds GPUs that are about to go, and has nowhere to move.
    if (std::ranges::all_of(view.types(), [](const GpuType& type) { return type.count == 0; })) return;
    jobs_.assign(view.active().begin(), view.active().end());
    std::stable_sort(jobs_.begin(), jobs_.end(),
                     [&](int a, int b) { return view.AttainedGpuSeconds(a) < view.AttainedGpuSeconds(b); });
    Pose(view);
    const pollux::Objective objective(problem_);
    ids_.assign(jobs_.begin(), jobs_.end());
    pollux::Found found = settings_.genetic
                              ? search_.Solve(objective, ids_, stream_)
                              : pollux::Search(objective, {&problem_.present, 1}, settings_.own, stream_);
    OneTypeEach(view, found.best);
    if (std::ranges::all_of(found.best.all(), [](int gpus) { return gpus == 0; })) {
      if (!view.running().empty()) return;
      StartLeast(view, found.best);
    }
    Emit(view, found.best, decision);
  }

 private:
  int Most(const ClusterView& view, const GoodputState* goodput, int job) const {
    if (goodput == nullptr) return view.MaxGang(job);
    const GoodputState::Job& its = goodput->jobs[U(job)];
    int seen = 0;
    for (const GoodputState::Learned& learned : its.learned) seen = std::max(seen, learned.most_gpus);
    return std::min({std::max(2 * seen, 1), view.num_gpus(), view.MaxGang(job)});
  }

  // The type that the job has learned most of; where it knows none, -1.
  static int TypeKnown(const GoodputState& goodput, int job) {
    const auto& learned = goodput.jobs[U(job)].learned;
    int best = -1;
    for (int type = 0; type < static_cast<int>(learned.size()); ++type) {
      if (learned[U(type)].known() &&
          (best < 0 || learned[U(type)].seen.size() > learned[U(best)].seen.size()))
        best = type;
    }
    return best;
  }

  void Pose(const ClusterView& view) {
    const GoodputState* goodput = view.Find<GoodputState>();
    problem_.power = settings_.power;
    problem_.restart_delay = settings_.restart_delay;
    problem_.node_gpus.clear();
    int gpus = 0;
    for (const std::vector<int>& node : nodes_) {
      problem_.node_gpus.push_back(static_cast<int>(
          std::count_if(node.begin(), node.end(), [&](int device) { return view.InService(device); })));
      gpus += problem_.node_gpus.back();
    }
    const int fair = pollux::FairReplicas(gpus, static_cast<int>(jobs_.size()));
    problem_.jobs.clear();
    problem_.present = pollux::Allocation(static_cast<int>(jobs_.size()), static_cast<int>(nodes_.size()));
    for (int row = 0; row < static_cast<int>(jobs_.size()); ++row) {
      const int job = jobs_[U(row)];
      pollux::Job of;
      of.max_replicas = Most(view, goodput, job);
      of.min_replicas = view.MinGang(job);
      of.age = view.now() - view.Arrival(job);
      const int type = goodput != nullptr ? TypeKnown(*goodput, job) : FastestType(view, job);
      if (goodput != nullptr) of.restarts = std::max(goodput->jobs[U(job)].starts - 1, 0);
      if (goodput == nullptr) {
        of.restarts = view.Preemptions(job);
        const int least = std::clamp(fair, view.MinGang(job), view.MaxGang(job));
        of.speedup = pollux::SpeedupTable(
            1, of.max_replicas, least, [&](int, int replicas) { return view.RateAt(job, type, replicas); });
      } else if (type < 0) {
        of.speedup = pollux::LinearSpeedups(of.max_replicas, fair);
      } else {
        of.node_rows = 2;
        of.speedup = pollux::SpeedupTable(2, of.max_replicas, fair, [&](int on_nodes, int replicas) {
          return goodput->Expected(view.cluster(), job, type, {on_nodes, replicas});
        });
      }
      problem_.jobs.push_back(std::move(of));
      // Who is about to lose a GPU has to move: nothing is kept.
      if (!AllInService(view, job)) continue;
      for (int device : view.Devices(job)) ++problem_.present.row(row)[U(node_of_[U(device)])];
    }
  }

  static int FastestType(const ClusterView& view, int job) {
    int best = 0;
    for (int type = 1; type < view.num_types(); ++type) {
      if (view.Rate(job, type) > view.Rate(job, best)) best = type;
    }
    return best;
  }

  int TypeOfNode(const ClusterView& view, std::size_t node) const {
    return view.TypeOfDevice(nodes_[node].front());
  }

  // On the type where a row has most GPUs, and on as many as the job can have there, as a slice of a GPU is
  // alone.
  void OneTypeEach(const ClusterView& view, pollux::Allocation& allocation) const {
    for (int row = 0; row < allocation.jobs(); ++row) {
      std::vector<int> gpus(U(view.num_types()));
      for (std::size_t node = 0; node < nodes_.size(); ++node)
        gpus[U(TypeOfNode(view, node))] += allocation.row(row)[node];
      const auto type = static_cast<int>(std::max_element(gpus.begin(), gpus.end()) - gpus.begin());
      const bool can = view.RateAt(jobs_[U(row)], type, gpus[U(type)]) > 0.0;
      for (std::size_t node = 0; node < nodes_.size(); ++node) {
        if (TypeOfNode(view, node) != type || !can) allocation.row(row)[node] = 0;
      }
    }
  }

  // The search may find no start at all: of jobs this very second submitted, which gain nothing by it, and of
  // gangs, whose GPUs it must hit upon at once. Then everybody's least, in order.
  void StartLeast(const ClusterView& view, pollux::Allocation& allocation) const {
    std::vector<int> room = problem_.node_gpus;
    for (int row = 0; row < allocation.jobs(); ++row) {
      const int job = jobs_[U(row)];
      int best = -1, needed = 0;
      for (int type = 0; type < view.num_types(); ++type) {
        int there = 0;
        for (std::size_t node = 0; node < nodes_.size(); ++node)
          there += TypeOfNode(view, node) == type ? room[node] : 0;
        const int least = WidthPlan::Least(view, job, type);
        if (least == 0 || least > there) continue;
        if (best < 0 || view.RateAt(job, type, least) > view.RateAt(job, best, needed))
          best = type, needed = least;
      }
      for (std::size_t node = 0; node < nodes_.size() && needed > 0; ++node) {
        const int taken = TypeOfNode(view, node) == best ? std::min(room[node], needed) : 0;
        allocation.row(row)[node] = static_cast<std::uint8_t>(taken);
        room[node] -= taken, needed -= taken;
      }
    }
  }

  void Emit(const ClusterView& view, const pollux::Allocation& allocation, Decision& decision) {
    std::vector<char> taken(U(view.num_gpus()), 0);
    std::vector<int> changed;
    for (int row = 0; row < allocation.jobs(); ++row) {
      const int job = jobs_[U(row)];
      const bool same = std::ranges::equal(allocation.row(row), problem_.present.row(row));
      if (same && AllInService(view, job)) {
        for (int device : view.Devices(job)) taken[U(device)] = 1;
      } else {
        changed.push_back(row);
      }
    }
    std::vector<int> without;
    std::vector<std::size_t> at(nodes_.size(), 0);
    for (int row : changed) {
      const int job = jobs_[U(row)];
      devices_.clear();
      int type = -1;
      for (std::size_t node = 0; node < nodes_.size(); ++node) {
        for (int left = allocation.row(row)[node]; left > 0; ++at[node]) {
          const int device = nodes_[node][at[node]];
          if (taken[U(device)] != 0 || !view.InService(device)) continue;
          devices_.push_back(device), --left;
          taken[U(device)] = 1;
          type = view.TypeOfDevice(device);
        }
      }
      if (devices_.empty()) {
        if (view.IsRunning(job)) without.push_back(job);
        continue;
      }
      view.IsRunning(job) ? decision.Move(job, type, devices_) : decision.Start(job, type, devices_);
      decision.commands.back().width = static_cast<int>(devices_.size());
    }
    for (int job : without) {
      if (!MayRunOn(view, job, taken)) decision.Stop(job);
    }
    ForgetNodesUnlessFree(view, decision);
  }

  Settings settings_;
  pollux::Genetic search_;
  Stream stream_{0, Purpose::kScheduler};
  Every every_;
  std::vector<std::vector<int>> nodes_;  // devices, of one type each
  std::vector<int> node_of_;             // [D] index of nodes_
  std::vector<int> jobs_, devices_;
  std::vector<std::int64_t> ids_;
  pollux::Problem problem_;
};

std::unique_ptr<Scheduler> MakePollux(Params& params) {
  Pollux::Settings settings;
  settings.genetic = params.Choice("search", {"ruin_recreate", "genetic"}) == 1;
  settings.own.rounds = static_cast<int>(params.Integer("rounds", 0, 100000000));
  settings.search.population = static_cast<int>(params.Integer("population", 2, 10000));
  settings.search.generations = static_cast<int>(params.Integer("generations", 1, 100000));
  settings.power = params.Number("exponent", -100.0, 1.0);
  settings.restart_delay = params.Number("restart_delay", 0.0, 1e6);
  settings.interval = params.Number("interval", 0.0, 1e9);
  return std::make_unique<Pollux>(settings);
}

}  // namespace

SchedulerInfo PolluxInfo() {
  return {"pollux",
          "elastic: GPUs on nodes for the greatest mean goodput over fair shares; O(rounds nodes + jobs GPUs "
          "nodes)",
          "Qiao et al., Pollux, OSDI 2021, sec. 4.2; petuum/adaptdl",
          "",
          Knowledge::kBlind,
          /*preemptive=*/true,
          kPolluxParams,
          MakePollux};
}

}  // namespace berth

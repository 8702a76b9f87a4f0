// Node pools: the cluster's nodes are divided, by GPU type or by share, every pool has a scheduler of its
// own, and a rule says into which pool an arrival goes: for good, as partitions of a batch system or node
// pools of a cluster manager are used.
//
// A job is routed to a pool that can run it, on fewer GPUs than its gang where its scheduler resizes: by the
// rule where that is one, otherwise to the next pool in the list. Pools hold devices of their own; only where
// this scheduler works on a part of a cluster, which has no devices of its own, are pools no more than
// numbers of GPUs.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>

#include "baselines/composition/pool_list.hpp"
#include "baselines/composition/shares.hpp"
#include "baselines/placement/in_service.hpp"
#include "baselines/placement/node_limits.hpp"
#include "baselines/queue/score_expression.hpp"
#include "baselines/schedulers.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

constexpr ParamInfo kPoolsParams[] = {
    {"pools", "types",
     "types: a pool for each GPU type | NAME:GPUS[:SCHEDULER]|...: GPUS is TYPE[/SHARE] joined by +, * is "
     "every type, SHARE of its nodes, without one the rest"},
    {"inner", "easy", "the scheduler of pools that name none"},
    {"route", "load",
     "the pool of an arrival: load (least GPUs wanted per GPU) | speed (fastest for it) | tenant (named as "
     "its tenant, otherwise by load) | an expression as of queue(order=expression), with cuts"},
    {"cuts", "none", "where the expression is cut, as in 1|4: up to 1 the first pool, up to 4 the second"},
};
constexpr const char *kWhatPool = "pools: parameter 'pools'", *kWhatInnerOfPools = "pools: parameter 'inner'";

enum class Route { kLoad, kSpeed, kTenant, kExpression };

struct PoolRule {
  Route by = Route::kLoad;
  std::optional<ScoreRule> score;  // kExpression
  std::vector<double> cuts;        // ascending, one less than pools
};

class Pools final : public Scheduler {
 public:
  // No pools: one for each GPU type.
  Pools(std::vector<PoolSpec> pools, std::string inner, PoolRule rule)
      : given_(std::move(pools)), inner_spec_(std::move(inner)), rule_(std::move(rule)) {
    for (const PoolSpec& pool : given_)
      inner_.emplace_back(pool.scheduler == inner_spec_ ? kWhatInnerOfPools : kWhatPool, pool.scheduler);
    if (given_.empty()) inner_.emplace_back(kWhatInnerOfPools, inner_spec_);
  }
  Knowledge knowledge() const override {
    Knowledge most = rule_.score ? rule_.score->knowledge : Knowledge::kNone;
    for (const Inner& inner : inner_) most = std::max(most, inner.knowledge());
    return most;
  }
  bool resizes() const override {
    return std::any_of(inner_.begin(), inner_.end(), [](const Inner& inner) { return inner.resizes(); });
  }

  void Reset(const ClusterView& view) override {
    pools_ = given_.empty() ? PoolPerType(view.types(), inner_spec_) : given_;
    if (given_.empty()) {
      while (inner_.size() < pools_.size()) inner_.push_back(inner_.front().Another());
      while (inner_.size() > std::max<std::size_t>(1, pools_.size())) inner_.pop_back();
    }
    if (rule_.by == Route::kExpression && rule_.cuts.size() + 1 != pools_.size()) {
      throw Error(Join("pools: parameter 'cuts': expected ", pools_.size() - 1, " of them for ",
                       pools_.size(), " pools, found ", rule_.cuts.size()));
    }
    const bool differ = std::any_of(pools_.begin(), pools_.end(), [&](const PoolSpec& pool) {
      return pool.scheduler != pools_.front().scheduler;
    });
    for (Inner& inner : inner_) inner.Reset(view, /*some_jobs=*/differ);
    pool_.assign(U(view.num_jobs()), -1);
    order_.resize(pools_.size());
  }

  void Decide(const ClusterView& view, Decision& decision) override {
    Divide(view);
    Count(view);
    for (int job : view.waiting()) {
      int& pool = pool_[U(job)];
      if (pool >= 0 && CanRun(view, job, pool)) continue;
      if (pool >= 0) wanted_[U(pool)] -= view.Gang(job);
      pool = Choose(view, job);
      if (pool < 0) continue;  // the cluster is short of it at present; it may grow back
      wanted_[U(pool)] += view.Gang(job);
    }
    Ask(view, decision);
    ChooseDevices(view, decision);
  }

 private:
  // [pools, G] how many GPUs each has now.
  void Divide(const ClusterView& view) {
    bounds_ = PoolBounds(pools_, view.types());
    size_.assign(pools_.size(), std::vector<int>(U(view.num_types())));
    for (std::size_t pool = 0; pool < pools_.size(); ++pool) {
      for (std::size_t type = 0; type < size_[pool].size(); ++type)
        size_[pool][type] = std::max(0, bounds_[pool + 1][type] - bounds_[pool][type]);
    }
  }

  // What pools hold, and what the jobs that they have want. Who runs and is not known, after a Reset, belongs
  // to the pool of its first device.
  void Count(const ClusterView& view) {
    held_.assign(pools_.size(), std::vector<int>(U(view.num_types()), 0));
    wanted_.assign(pools_.size(), 0.0);
    for (int job : view.running()) {
      const int type = view.TypeOf(job);
      int& pool = pool_[U(job)];
      if (pool < 0) pool = PoolOfDevice(type, view.Devices(job).front() - view.first_device(type));
      held_[U(pool)][U(type)] += HeldInService(view, job);
    }
    for (int job : view.active()) {
      if (pool_[U(job)] >= 0) wanted_[U(pool_[U(job)])] += view.Gang(job);
    }
  }

  // The last one where no pool has it.
  int PoolOfDevice(int type, int device) const {
    int pool = 0;
    while (pool + 1 < static_cast<int>(pools_.size()) && bounds_[U(pool) + 1][U(type)] <= device) ++pool;
    return pool;
  }

  bool CanRun(const ClusterView& view, int job, int pool) const { return Speed(view, job, pool) > 0.0; }
  double Speed(const ClusterView& view, int job, int pool) const {
    return SpeedWithin(view, inner_[U(pool)], job, size_[U(pool)]);
  }

  int Choose(const ClusterView& view, int job) const {
    const int pools = static_cast<int>(pools_.size());
    int named = -1;
    if (rule_.by == Route::kTenant) named = Named(view, job);
    if (rule_.by == Route::kExpression) {
      const double value = rule_.score->score(view, job);
      named = static_cast<int>(std::lower_bound(rule_.cuts.begin(), rule_.cuts.end(), value) -
                               rule_.cuts.begin());
    }
    for (int i = 0; named >= 0 && i < pools; ++i) {
      if (CanRun(view, job, (named + i) % pools)) return (named + i) % pools;
    }
    int best = -1;
    double load = 0.0, speed = 0.0;
    for (int pool = 0; pool < pools; ++pool) {
      const double its_speed = Speed(view, job, pool), its_load = wanted_[U(pool)] / Gpus(view, pool);
      if (its_speed <= 0.0) continue;
      const bool faster = its_speed > speed, lighter = its_load < load;
      const bool better = rule_.by == Route::kSpeed ? faster || (its_speed == speed && lighter)
                                                    : lighter || (its_load == load && faster);
      if (best < 0 || better) best = pool, load = its_load, speed = its_speed;
    }
    if (best < 0) RefuseIfNever(view, job);
    return best;
  }

  double Gpus(const ClusterView& view, int pool) const {
    double gpus = 0.0;
    for (int type = 0; type < view.num_types(); ++type)
      gpus += size_[U(pool)][U(type)] * view.PartOfGpu(type);
    return gpus;
  }

  int Named(const ClusterView& view, int job) const {
    for (std::size_t pool = 0; pool < pools_.size(); ++pool) {
      if (!view.tenants().empty() && view.tenants()[U(view.TenantOf(job))].name == pools_[pool].name)
        return static_cast<int>(pool);
    }
    return -1;
  }

  // Parts of a cluster grow and shrink; the whole does not.
  void RefuseIfNever(const ClusterView& view, int job) const {
    double gpus = 0.0;
    for (int type = 0; type < view.num_types(); ++type)
      gpus += view.types()[U(type)].count * view.PartOfGpu(type);
    if (gpus < view.num_whole_gpus() - 1e-6) return;
    throw Error(Join("pools: parameter 'pools': expected a pool that can run job ", view.Id(job), " of gang ",
                     view.Gang(job), ", found none: it would wait for ever"));
  }

  void Ask(const ClusterView& view, Decision& decision) {
    jobs_.assign(pools_.size(), {});
    for (int job : view.active()) {
      if (pool_[U(job)] >= 0) jobs_[U(pool_[U(job)])].push_back(job);
    }
    std::iota(order_.begin(), order_.end(), 0);
    std::stable_sort(order_.begin(), order_.end(), [&](int a, int b) {
      return Excess(held_[U(a)], size_[U(a)]) > Excess(held_[U(b)], size_[U(b)]);
    });
    shares_.Begin(view);
    for (int pool : order_) {
      shares_.Ask(view, inner_[U(pool)], jobs_[U(pool)], held_[U(pool)], size_[U(pool)], decision);
    }
  }

  // Every start and move onto idle devices of the pool, or any where those do not suffice, of nodes that hold
  // the job.
  void ChooseDevices(const ClusterView& view, Decision& decision) {
    free_.resize(U(view.num_gpus()));
    for (int device = 0; device < view.num_gpus(); ++device) free_[U(device)] = view.DeviceFree(device);
    limits_.Begin(view);
    for (const Command& command : decision.commands) {
      if (command.kind != CommandKind::kStop && command.kind != CommandKind::kMove) continue;
      limits_.Give(command.job, view.Devices(command.job));
      if (view.Partner(command.job) >= 0) continue;
      for (int device : view.Devices(command.job)) free_[U(device)] = view.InService(device);
    }
    for (Command& command : decision.commands) {
      if (command.kind != CommandKind::kStart && command.kind != CommandKind::kMove) continue;
      const int type = command.type, pool = pool_[U(command.job)];
      const int first = view.first_device(type);
      const int next = U(type) + 1 < view.types().size() ? view.first_device(type + 1) : view.num_gpus();
      command.devices_begin = static_cast<int>(decision.devices.size());
      command.devices_count = WidthOf(view, command);
      int left = command.devices_count;
      const auto take = [&](int from, int to) {
        for (int device = from; device < to && left > 0; ++device) {
          if (!free_[U(device)] || !limits_.Take(command.job, device)) continue;
          free_[U(device)] = false;
          decision.devices.push_back(device);
          --left;
        }
      };
      take(first + bounds_[U(pool)][U(type)], first + bounds_[U(pool) + 1][U(type)]);
      take(first, next);
      if (left == 0) continue;
      // In a part others may free some for it, whoever is around it, and the cluster finds it a node.
      const auto found = std::span<const int>(decision.devices).subspan(U(command.devices_begin));
      limits_.Give(command.job, found);
      for (int device : found) free_[U(device)] = true;
      decision.devices.resize(U(command.devices_begin));
      command.devices_count = 0;
    }
  }

  std::vector<PoolSpec> given_, pools_;
  std::string inner_spec_;
  PoolRule rule_;
  std::vector<Inner> inner_;  // [pools]
  Shares shares_{"pools"};
  std::vector<std::vector<int>> bounds_;       // [pools + 1, G] pool_list.hpp
  std::vector<std::vector<int>> size_, held_;  // [pools, G] GPUs
  std::vector<double> wanted_;                 // [pools] GPUs, by jobs there
  std::vector<std::vector<int>> jobs_;         // [pools]
  std::vector<int> pool_;                      // [J] -1 = not routed
  std::vector<int> order_;
  std::vector<bool> free_;  // [D]
  NodeLimits limits_;
};

PoolRule ReadRule(Params& params, std::size_t pools) {
  PoolRule rule;
  const std::string route = params.Text("route"), cuts = params.Text("cuts");
  const char* const names[] = {"load", "speed", "tenant"};
  const auto named = std::find(std::begin(names), std::end(names), route);
  if (named != std::end(names)) {
    rule.by = static_cast<Route>(named - std::begin(names));
    if (cuts == "none") return rule;
    throw Error(Join("pools: route=", route, " and cuts=", cuts,
                     " contradict each other: cuts are of an "
                     "expression"));
  }
  rule.by = Route::kExpression;
  try {
    rule.score = ParseScore(route);
  } catch (const Error& error) {
    throw Error(
        Join("pools: parameter 'route': expected load, speed, tenant or an expression: ", error.what()));
  }
  if (cuts != "none") {
    for (const std::string& cut : SplitOutsideParentheses(cuts, '|'))
      rule.cuts.push_back(ParseNumber(cut, "pools: parameter 'cuts'"));
  }
  if (!std::is_sorted(rule.cuts.begin(), rule.cuts.end()))
    throw Error(Join("pools: parameter 'cuts': expected numbers in rising order, found ", cuts));
  if (pools > 0 && rule.cuts.size() + 1 != pools) {
    throw Error(Join("pools: parameter 'cuts': expected ", pools - 1, " of them for ", pools,
                     " pools, found ", cuts));
  }
  return rule;
}

}  // namespace

SchedulerInfo PoolsInfo() {
  return {
      "pools",
      "node pools, each with a scheduler of its own, and a rule which job goes where; O(n) + the pools' cost",
      "partitions: Slurm, Yoo, Jette & Grondona, JSSPP 2003; node pools of Kubernetes",
      "",
      Knowledge::kEstimate,
      /*preemptive=*/true,
      kPoolsParams,
      [](Params& params) -> std::unique_ptr<Scheduler> {
        const std::string inner = params.Text("inner");
        std::vector<PoolSpec> pools = ParsePools(params.Text("pools"), inner);
        PoolRule rule = ReadRule(params, pools.size());
        return std::make_unique<Pools>(std::move(pools), inner, std::move(rule));
      }};
}

}  // namespace berth

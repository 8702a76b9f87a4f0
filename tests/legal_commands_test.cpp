// What policies may choose and what the simulator accepts are the same: random commands over random features, each
// against the simulator's own validation of the decision that it would make. What policies see meanwhile is within
// the ranges of its channels.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "env/features/checkpoints/checkpoints.hpp"
#include "env/features/goodput/goodput.hpp"
#include "env/features/partitions/partitions.hpp"
#include "env/features/power/power.hpp"
#include "env/features/services/services.hpp"
#include "env/features/stages/stages.hpp"
#include "env/gym/decision_point.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/channel_ranges.hpp"
#include "tests/drawn_process.hpp"

namespace berth {
namespace {

using test::Below;
using test::DrawnProcess;
using test::DrawProcess;

constexpr int kCommands = 5'000'000;

// What the plan decides so far, without `job`.
Decision Without(const DecisionPoint& point, const ClusterView& view, int job) {
  Decision decision;
  point.plan().Emit(view, decision);
  std::erase_if(decision.commands, [&](const Command& c) { return c.job == job; });
  return decision;
}

// May the job, whatever the plan has of it, run alone on so many GPUs of the type?
bool AcceptsOn(Simulator& simulator, const DecisionPoint& point, const ClusterView& view, int job, int type,
               int width) {
  Decision decision = Without(point, view, job);
  if (view.IsWaiting(job)) {
    decision.StartAt(job, type, width);
    return simulator.Validate(decision).ok();
  }
  if (!point.plan().preemptive()) return false;
  if (type == view.TypeOf(job) && width == view.Width(job)) {
    const int partner = view.Partner(job);
    const bool alone = partner < 0 || std::any_of(decision.commands.begin(), decision.commands.end(),
                                                  [&](const Command& c) { return c.job == partner; });
    if (alone) return simulator.Validate(decision).ok();  // it runs on
  }
  decision.Resize(job, type, width);
  return simulator.Validate(decision).ok();
}

// Kinds that set something: whether it may be, and would be another than now. `put`: (kind, subject) at this point.
using PutCommands = std::set<std::pair<std::string, int>>;
bool ExpectedSetting(Simulator& simulator, const DecisionPoint& point, const ClusterView& view, const std::string& name,
                     int subject, const ActionColumn& column, const PutCommands& put) {
  if (subject < 0 || put.contains({name, subject})) return false;
  if (name == "wait") return true;
  Decision decision;
  if (name == "checkpoint") {  // of who stops after all there is none
    decision.controls.push_back({kSaveControl, subject, 1.0});
    return simulator.Validate(decision).ok();
  }
  point.plan().Emit(view, decision);
  if (name == "offload") {
    const double part = std::vector<double>{0.0, 0.5, 1.0, -1.0}[U(column.level)];
    if (part == view.Find<StageState>()->offload[U(subject)]) return false;
    decision.controls.push_back({kOffloadControl, subject, part});
    return simulator.Validate(decision).ok();
  }
  if (name == "batch") {
    const GoodputState& goodput = *view.Find<GoodputState>();
    const Application& application = goodput.ApplicationOf(subject);
    const double least = application.initial_batch(), most = application.max_batch();
    const int batch = std::vector<int>{0, application.initial_batch(), static_cast<int>(std::sqrt(least * most)),
                                       application.max_batch()}[U(column.level)];
    if (application.fixed_batch > 0 || goodput.jobs[U(subject)].target == batch) return false;
    decision.controls.push_back({kBatchControl, subject, static_cast<double>(batch)});
    return simulator.Validate(decision).ok();
  }
  const PowerState& power = *view.Find<PowerState>();
  double peak = 0.0;
  for (int gpu = power.first_gpu[U(subject)]; gpu < power.first_gpu[U(subject) + 1]; ++gpu)
    peak += power.peak_w[power.type[U(gpu)]];
  const std::vector<double>& all = view.features().Find<PowerSettings>()->node_cap_w;
  const double own = all.empty() ? kNever : all[0];
  const double watts = column.level == 0 ? own : std::vector<double>{0.0, 0.85, 0.7, 0.55}[U(column.level)] * peak;
  if ((column.level > 0 && watts >= own) || watts == power.node_cap_w[U(subject)]) return false;
  decision.controls.push_back({kPowerCapControl, subject, watts});
  return simulator.Validate(decision).ok();
}

bool ExpectedControl(Simulator& simulator, const DecisionPoint& point, const ClusterView& view,
                     const std::string& name, int subject, const ActionColumn& column) {
  if (subject < 0) return false;
  Decision decision;
  point.plan().Emit(view, decision);
  Control control{kReplicasControl, subject, 0.0};
  if (name == "replicas") {
    control.value = ReplicasFor(view, subject, kReplicaTargets[column.level]);
  } else {
    const PowerState& power = *view.Find<PowerState>();
    std::vector<int> types;  // that are no slices
    for (int type = 0; type < view.num_types(); ++type) {
      if (power.type[U(power.GpuOf(view.first_device(type)))] == type) types.push_back(type);
    }
    control = {kClockControl, view.first_device(types[U(subject)]), static_cast<double>(column.level)};
    bool changes = false;  // a clock that all of them have is no command
    for (std::size_t gpu = 0; gpu < power.type.size(); ++gpu) {
      changes = changes || (power.type[gpu] == types[U(subject)] && power.asked[gpu] != column.level);
    }
    if (!changes) return false;
  }
  if (point.plan().IsSet(control.kind, control.index)) return false;
  decision.controls.push_back(control);
  return simulator.Validate(decision).ok();
}

// The best share of its best rate that a job has in a layout.
double ShareIn(const ClusterView& view, const PartitionGroup& group, int layout, int job) {
  const MigLayout& its = group.layouts[U(layout)];
  double best = its.empty() ? view.Rate(job, group.type) : 0.0;
  for (const MigSlice& slice : its) best = std::max(best, view.Rate(job, group.slice_type[U(slice.profile)]));
  return best / view.BestRate(job);
}

// Whether a layout may be offered where validation would have it: somebody who waits would be better off; on a
// GPU that nothing has used since its last change not him alone. `surely`: not only since more would be in it.
bool Helps(const ClusterView& view, std::span<const int> visible, const PartitionState& state, int gpu, int layout,
           bool surely) {
  const PartitionState::Gpu& it = state.gpus[U(gpu)];
  const PartitionGroup& group = state.groups[U(it.group)];
  bool faster = false, more = false, served = false;
  int looked = 0;
  for (int job : visible) {
    if (!view.IsWaiting(job) || ++looked > 16) continue;
    const double would = ShareIn(view, group, layout, job), has = ShareIn(view, group, it.layout, job);
    faster = faster || would > has + 1e-9;
    more = more || would > 0.0;
    served = served || has > 0.0;
  }
  if (surely) return faster && (it.used || !served);
  return more;  // of use to somebody
}

// A layout is offered where, and only where, an idle GPU could have it and it helps.
void CheckLayouts(Simulator& simulator, const DecisionPoint& point, const ClusterView& view) {
  const CommandGrid& grid = *point.grid();
  const PartitionState* state = view.Find<PartitionState>();
  for (int column = 0; column < grid.columns(); ++column) {
    if (std::string(grid.NameOf(column)) != "layout") continue;
    bool offered = false, expected = false, surely = false;
    for (int row = 0; row < grid.rows(); ++row) {
      offered = offered || point.mask().bytes()[U(row * grid.columns() + column)] != 0;
    }
    for (int gpu = 0; gpu < static_cast<int>(state->gpus.size()); ++gpu) {
      const PartitionState::Gpu& it = state->gpus[U(gpu)];
      const PartitionGroup& group = state->groups[U(it.group)];
      if (group.type != grid.column(column).type || it.layout == grid.column(column).level) continue;
      if (it.reconfiguring || it.target >= 0 || point.plan().IsSet(kPartitionControl, gpu)) continue;
      const std::vector<int> devices = DevicesOfGpu(simulator.scenario(), *state, gpu);
      const MigLayout& layout = group.layouts[U(it.layout)];
      const auto busy = [&](int d) {  // in the present layout, and not free
        return simulator.state().device_job[U(d)] >= 0 ||
               ((d == it.device ? layout.empty()
                                : std::any_of(layout.begin(), layout.end(),
                                              [&](const MigSlice& s) {
                                                return SliceDevice(simulator.scenario(), *state, gpu, s) == d;
                                              })) &&
                !view.InService(d));
      };
      if (std::any_of(devices.begin(), devices.end(), busy)) continue;
      Decision decision;
      point.plan().Emit(view, decision);
      decision.controls.push_back({kPartitionControl, gpu, static_cast<double>(grid.column(column).level)});
      if (!simulator.Validate(decision).ok()) continue;
      const int level = grid.column(column).level;
      expected = expected || Helps(view, point.visible(), *state, gpu, level, /*surely=*/false);
      surely = surely || Helps(view, point.visible(), *state, gpu, level, /*surely=*/true);
    }
    INFO("at " << view.now() << ", layout " << grid.column(column).level);
    if (offered && !expected) REQUIRE(expected);
    if (!offered && surely) REQUIRE(offered);
  }
}

// Has the plan a part of a GPU whose device is left to the simulator? It is counted as a whole one.
bool LeavesParts(const ClusterView& view, const Plan& plan, const Decision& decision) {
  return std::any_of(decision.commands.begin(), decision.commands.end(), [&](const Command& c) {
    return plan.Placed(c.job) && view.GpuMilli(c.job) < 1000 && c.devices_count == 0 &&
           (c.kind == CommandKind::kStart || c.kind == CommandKind::kMove);
  });
}

// May the job have its part of a GPU of the type, beside all that `decision` does?
bool ExpectedShare(Simulator& simulator, const DecisionPoint& point, const ClusterView& view, Decision decision,
                   int job, int type) {
  if (view.GpuMilli(job) == 1000 || point.plan().Placed(job)) return false;
  const bool runs = view.IsRunning(job);
  if (runs && !point.plan().preemptive()) return false;
  std::erase_if(decision.commands, [&](const Command& c) { return c.job == job; });
  if (runs && view.TypeOf(job) == type && simulator.Validate(decision).ok()) return true;  // it stays
  const int first = view.first_device(type), count = view.cluster().types[U(type)].count;
  for (int d = first; d < first + count; ++d) {
    Decision with = decision;
    runs ? with.Move(job, type, std::vector<int>{d}) : with.Start(job, type, std::vector<int>{d});
    if (simulator.Validate(with).ok()) return true;
  }
  return false;
}

// A second opinion, from what validation accepts alone.
bool Expected(Simulator& simulator, const DecisionPoint& point, const ClusterView& view, int row, int column,
              const PutCommands& put) {
  const CommandGrid& grid = *point.grid();
  const Plan& plan = point.plan();
  const std::string name = grid.NameOf(column);
  const ActionColumn& it = grid.column(column);
  const int job = grid.JobOf(row);
  const bool of_job = name == "start" || name == "resize" || name == "scale" || name == "pack" || name == "reject" ||
                      name == "gather" || name == "place";
  if (name == "batch" || name == "cap" || name == "checkpoint" || name == "offload" || name == "wait")
    return ExpectedSetting(simulator, point, view, name, grid.Subject(row, column), it, put);
  if (of_job && job < 0) return false;
  if (name == "reject") {
    if (plan.Placed(job)) return false;
    Decision decision = Without(point, view, job);
    decision.Reject(job);
    return simulator.Validate(decision).ok();
  }
  if ((name == "gather" || name == "place") && plan.Placed(job)) return false;
  if (name == "place" && view.IsRunning(job) && view.TypeOf(job) == it.type) return false;  // it stays

  if (name == "pack") {
    if (plan.Placed(job)) return false;
    for (int host : view.active()) {
      const int planned = plan.Placed(host)                              ? plan.TypeOf(host)
                          : !plan.preemptive() && view.IsRunning(host)   ? view.TypeOf(host)
                                                                         : -1;
      if (planned != it.type) continue;
      Decision decision = Without(point, view, job);
      decision.Pack(job, host);
      // Who is beside the host now and is not spoken of would have to leave, which no policy orders.
      if (simulator.Validate(decision).ok() && plan.GuestOf(host) < 0) return true;
    }
    return false;
  }
  if (of_job) {
    // A job in the plan may be widened, alone and where it is.
    const bool placed = plan.Placed(job);
    if (placed && (plan.TypeOf(job) != it.type || plan.HostOf(job) >= 0 || plan.GuestOf(job) >= 0)) return false;
    const int has = placed ? plan.WidthOf(job) : 0;
    int width = view.Gang(job);
    if (name == "scale") width = 1 << it.level;
    if (name == "resize") {
      double best = 0.0;
      width = 0;
      for (int w = view.MinGang(job); w <= view.MaxGang(job); ++w) {
        const double rate = view.RateAt(job, it.type, w);
        if (rate <= best) continue;
        if (it.level == 0) {  // the least
          width = w;
          break;
        }
        if ((w <= has) || AcceptsOn(simulator, point, view, job, it.type, w)) width = w, best = rate;
      }
      if (width == 0) return false;
    }
    return width > has && AcceptsOn(simulator, point, view, job, it.type, width);
  }
  return ExpectedControl(simulator, point, view, name, grid.Subject(row, column), it);
}

struct Played {
  int commands = 0, legal = 0, points = 0;
  std::map<std::string, int> by_kind;  // legal ones
  int shares = 0, shared = 0;  // commands of parts that were compared, and of them offered
};

// Random commands at the points of one run.
Played Play(Stream& stream, std::uint64_t seed) {
  const DrawnProcess drawn = DrawProcess(stream, seed);
  INFO("seed " << seed << ", " << drawn.mdp.ToString() << " on " << ToString(drawn.scenario.data().features));
  const bool divided = drawn.scenario.divides_gpus();
  // Replicas that are ordered have GPUs kept for them, which validation would give to jobs.
  const auto* services = drawn.scenario.data().features.Find<ServiceSettings>();
  const bool kept = services != nullptr && services->share >= 1.0;
  Played played;
  Simulator simulator(drawn.scenario);
  DecisionPoint point(drawn.mdp);
  if (point.grid() == nullptr) return played;
  point.Begin(simulator.View(Knowledge::kOracle));
  const EncoderInfo channels = ObservationOf(drawn.mdp);
  Decision decision;
  while (simulator.AdvanceToDecision()) {
    const ClusterView view = simulator.View(Knowledge::kOracle);
    ++played.points;
    point.Start(view);
    point.Gather(view);
    point.Observe(view, drawn.visible);
    test::RequireRanges(channels, point.layout(), point.observation());
    point.OpenMask(view);
    const CommandGrid& grid = *point.grid();
    PutCommands put;
    for (int tries = 3 * grid.rows(); tries > 0 && grid.rows() > 0; --tries) {
      const int row = Below(stream, grid.rows()), column = Below(stream, grid.columns());
      const int action = row * grid.columns() + column;
      const bool offered = point.mask().bytes()[U(action)] != 0;
      ++played.commands;
      const std::string name = grid.NameOf(column);
      const bool takes_room = name == "start" || name == "resize" || name == "scale" || name == "gather" ||
                              name == "place";
      // More GPUs that would add nothing are not offered.
      const bool adds_nothing =
          name == "scale" && !offered && grid.JobOf(row) >= 0 && point.plan().Placed(grid.JobOf(row));
      if (name != "layout" && !divided && !(kept && takes_room) && !adds_nothing) {
        const bool expected = Expected(simulator, point, view, row, column, put);
        INFO("at " << view.now() << ": " << name << " of row " << row << " (job " << grid.JobOf(row) << ") type "
                   << grid.column(column).type << " level " << grid.column(column).level);
        if (offered != expected) REQUIRE(offered == expected);
      }
      if (name == "share" && !kept && grid.JobOf(row) >= 0) {
        decision.Clear();
        point.Close(view, decision);
        if (!LeavesParts(view, point.plan(), decision)) {
          const bool expected =
              ExpectedShare(simulator, point, view, decision, grid.JobOf(row), grid.column(column).type);
          INFO("at " << view.now() << ": share of row " << row << " (job " << grid.JobOf(row) << ") type "
                     << grid.column(column).type << " level " << grid.column(column).level);
          if (offered != expected) REQUIRE(offered == expected);
          ++played.shares;
          played.shared += offered;
        }
      }
      if (!offered || Below(stream, 3) == 0) continue;
      point.Put(view, action);
      put.insert({name, grid.Subject(row, column)});
      ++played.legal;
      ++played.by_kind[name];
      decision.Clear();
      point.Close(view, decision);
      const ApplyResult result = simulator.Validate(decision);
      INFO(name << " of row " << row << ": " << Explain(result, decision, simulator));
      if (!result.ok()) REQUIRE(result.ok());
    }
    if (grid.rows() > 0 && !kept) CheckLayouts(simulator, point, view);
    decision.Clear();
    point.Close(view, decision);
    if (!view.running().empty() && view.num_waiting() > 0 && decision.commands.empty()) {
      decision.wake_at = view.now() + 500.0;
    }
    REQUIRE(simulator.Apply(decision).ok());
    REQUIRE(CheckInvariants(simulator) == "");
    if (played.points > 400) break;
  }
  return played;
}

}  // namespace

TEST_CASE("policies are offered the commands that the simulator accepts, and no others") {
  Stream stream(1, Purpose::kScheduler);
  Played all;
  std::uint64_t seed = 0;
  for (; all.commands < kCommands; ++seed) {
    const Played played = Play(stream, seed);
    all.commands += played.commands;
    all.legal += played.legal;
    all.points += played.points;
    all.shares += played.shares;
    all.shared += played.shared;
    for (const auto& [name, count] : played.by_kind) all.by_kind[name] += count;
  }
  for (const ActionInfo& info : Actions()) {
    CAPTURE(info.name);
    CHECK(all.by_kind[info.name] > 50);
  }
  INFO(all.legal << " of " << all.commands << " at " << all.points << " points of " << seed << " runs");
  CHECK(all.legal > kCommands / 50);
  CHECK(all.shared > 300);
  CHECK(all.shares > 2 * all.shared);
}

}  // namespace berth

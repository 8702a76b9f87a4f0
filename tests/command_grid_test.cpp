// Commands beside starts: their names, hand-worked decisions, and that walking scores once is what choosing the
// best again and again is.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "data/workloads.hpp"
#include "env/base/index.hpp"
#include "env/features/partitions/partitions.hpp"
#include "env/features/services/services.hpp"
#include "env/features/table.hpp"
#include "env/gym/decision_point.hpp"
#include "env/gym/encoder.hpp"
#include "env/gym/rewards.hpp"
#include "env/gym/score_order.hpp"
#include "env/gym/vec_env.hpp"
#include "env/sim/simulator.hpp"
#include "tests/a100s.hpp"
#include "tests/catch.hpp"
#include "tests/channel_ranges.hpp"
#include "tests/command_points.hpp"
#include "tests/drawn_process.hpp"
#include "tests/errors.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

constexpr int kV = 0;

// Three jobs of gang 2 on four GPUs of one type that run on 1 to 4, twice as fast on twice as many.
Simulator Elastic() {
  ScenarioData data = test::TinyData({{"v", 4}}, {{1.0}}, {{0, 100, 0, 2}, {0, 400, 0, 2}, {0, 900, 0, 2}});
  data.features =
      ParseFeatures("elasticity(min_factor=0.5,max_factor=2,measured=false,scaling=linear,resize_s=0)");
  Simulator simulator{Scenario(std::move(data))};
  REQUIRE(simulator.AdvanceToDecision());
  return simulator;
}

MdpSpec Process(const std::string& actions) {
  MdpSpec mdp;
  mdp.actions = ResolveActions(actions);
  mdp.on_change = false;
  return mdp;
}

bool Legal(const DecisionPoint& point, int action) {
  return point.mask().bytes()[U(action)] != 0;
}

void Open(DecisionPoint& point, const ClusterView& view) {
  point.Begin(view);
  test::OpenPoint(point, view);
}

}  // namespace

TEST_CASE("kinds of commands are named in any order, and wrong ones with the nearest right one") {
  CHECK(ResolveActions("reject,start,pack") == "start,pack(host=together),reject");
  CHECK(ResolveActions("start") == kStartAlone);
  CHECK(test::MessageOf([] { ResolveActions("start,rejct"); }).find("did you mean 'reject'") != std::string::npos);
  CHECK(test::MessageOf([] { ResolveActions("pack"); }).find("'start' among them") != std::string::npos);
  CHECK(test::MessageOf([] { ResolveActions("start,pack,pack"); }).find("twice") != std::string::npos);
  CHECK(ActionsOf(ParseFeatures("elasticity;power")) == "start,resize,clock");
  CHECK(ActionsOf(Features{}) == kStartAlone);
}

TEST_CASE("a command of a feature that is off says so") {
  const Scenario plain{test::TinyData({{"v", 4}}, {{1.0}}, {{0, 100}})};
  for (const ActionInfo& info : Actions()) {
    if (std::string(info.name) == "reject" || std::string(info.name) == "wait") continue;
    const std::string error =
        test::MessageOf([&] { LayoutOf(Process(Join("start,", info.name)), plain); });
    CHECK(error.find(Join("actions: ", info.name, ": expected")) != std::string::npos);
  }
}

TEST_CASE("a job is put on few GPUs and widened, by hand") {
  Simulator simulator = Elastic();
  const ClusterView view = simulator.View(Knowledge::kOracle);
  DecisionPoint point(Process("start,resize"));
  Open(point, view);
  constexpr int kLeast = 0, kMost = 1;
  // All three on one GPU each, which leaves one: enough to widen one of them to two, not to four.
  for (int job : {0, 1, 2}) point.Put(view, test::CommandAt(point, "resize", job, kLeast));
  CHECK(point.plan().room(kV) == 1);
  CHECK(Legal(point, test::CommandAt(point, "start", 1, -1)));  // its gang
  CHECK(Legal(point, test::CommandAt(point, "resize", 1, kMost)));
  CHECK_FALSE(Legal(point, test::CommandAt(point, "resize", 1, kLeast)));
  CHECK(point.mask().starts() == 0);
  point.Put(view, test::CommandAt(point, "resize", 1, kMost));
  CHECK(point.plan().WidthOf(1) == 2);
  CHECK(point.mask().pairs() == 0);
  Decision decision;
  point.Close(view, decision);
  REQUIRE(simulator.Apply(decision).ok());
  CHECK(simulator.state().Width(0) == 1);
  CHECK(simulator.state().Width(1) == 2);
  // At half its gang's rate of 1 step/s the first takes 200 s, as does the second at its own.
  REQUIRE(simulator.AdvanceToDecision());
  CHECK(simulator.now() == 200.0);
}

TEST_CASE("every service has a level before a point is done, and levels follow the load, by hand") {
  // 30 requests/s of 0.03 s each keep 0.9 replicas at work, whatever of them the one that is there can do.
  ScenarioData data = test::TinyData({{"v", 6}}, {{1.0}}, {{0, 100}});
  data.features = ParseFeatures("services(rate_per_s=30,replicas=1)");
  Simulator simulator{Scenario(std::move(data))};
  REQUIRE(simulator.AdvanceToDecision());
  const ClusterView view = simulator.View(Knowledge::kOracle);
  CHECK(ReplicasAtWork(view, 0, view.now()) == Approx(0.9));
  CHECK(ReplicasFor(view, 0, 0.4) == 3);
  CHECK(ReplicasFor(view, 0, 0.8) == 2);
  CHECK(ReplicasFor(view, 0, 1.0) == 1);
  DecisionPoint point(Process("start,replicas"));
  Open(point, view);
  point.Put(view, test::CommandAt(point, "start", 0, -1));
  CHECK_FALSE(point.OfferDone(/*event_follows=*/true));
  const auto row = std::find_if(point.mask().bytes().begin(), point.mask().bytes().end(),
                                [](std::uint8_t legal) { return legal != 0; });
  const int first = static_cast<int>(row - point.mask().bytes().begin());
  CHECK(std::string(point.grid()->NameOf(first % point.grid()->columns())) == "replicas");
  point.Put(view, first);  // 0.4: two more than there are
  CHECK(point.plan().room(kV) == 2);
  CHECK(point.OfferDone(/*event_follows=*/true));
  Decision decision;
  point.Close(view, decision);
  REQUIRE(simulator.Apply(decision).ok());
  CHECK(view.Find<ServiceState>()->services[0].devices.size() == 3);
}

// Five jobs run on five of six GPUs, a replica on the sixth; two more replicas are ordered, and two jobs wait. Of the five
// GPUs that jobs may have, two are kept for the replicas. One job is shown: those hidden keep four or five, so that -1 or
// -2 are left. The service's requests of 0.03 s may take 0.001 s: 30 times as long as they may, and 10 is the most.
TEST_CASE("what commands say of the cluster is within its range where more was promised than there is, by hand") {
  std::vector<test::TinyJob> jobs(5, {0, 99999});
  jobs.insert(jobs.end(), {{10, 99999}, {20, 99999}});
  ScenarioData data = test::TinyData({{"v", 6}}, {{1.0}}, jobs);
  data.features = ParseFeatures("services(rate_per_s=30,replicas=1,slo_s=0.001)");
  Simulator simulator{Scenario(std::move(data))};
  const auto advance_to = [&simulator](double at) {
    REQUIRE(simulator.AdvanceToDecision());
    while (simulator.now() < at) {
      REQUIRE(simulator.Apply(Decision{}).ok());
      REQUIRE(simulator.AdvanceToDecision());
    }
  };
  advance_to(0.0);
  Decision decision;
  for (int job = 0; job < 5; ++job) decision.Start(job, kV);
  REQUIRE(simulator.Apply(decision).ok());
  advance_to(10.0);
  decision.Clear();
  decision.controls.push_back({kReplicasControl, 0, 3.0});
  REQUIRE(simulator.Apply(decision).ok());
  advance_to(20.0);
  const ClusterView view = simulator.View(Knowledge::kOracle);
  MdpSpec mdp = Process("start,replicas");
  mdp.preemptive = true;
  DecisionPoint point(mdp);
  point.Begin(view);
  point.Start(view);
  point.Gather(view);
  point.Observe(view, 1);
  CHECK(point.plan().room(kV) < 0);
  const EncoderInfo info = ObservationOf(mdp);
  const auto at = [](const std::vector<ChannelInfo>& channels, std::string_view name) {
    return std::find_if(channels.begin(), channels.end(), [&](const ChannelInfo& it) { return name == it.name; }) -
           channels.begin();
  };
  const ObservationLayout& layout = point.layout();
  CHECK(point.observation()[U(layout.types_offset() + at(info.type, "room"))] == 0.0F);
  const int service = layout.q - 1;  // its row
  CHECK(point.observation()[U(service * layout.job_channels + at(info.job, "is_service"))] == 1.0F);
  CHECK(point.observation()[U(service * layout.job_channels + at(info.job, "tight"))] == 10.0F);
  test::RequireRanges(info, layout, point.observation());
}

TEST_CASE("a layout is offered to an idle GPU where it helps who waits, and not back again, by hand") {
  // Each can use three of seven compute slices: two at once in two halves, and alone as fast as on the whole.
  Simulator simulator{Scenario(test::A100s(1, {{0, 100}, {0, 100}}, {3.0 / 7.0}, "partitions(reconfig_s=10)"))};
  REQUIRE(simulator.AdvanceToDecision());
  const ClusterView view = simulator.View(Knowledge::kOracle);
  const PartitionState& state = *view.Find<PartitionState>();
  const auto offered = [&](DecisionPoint& point, bool whole) {  // layouts, or that of the whole GPU
    int found = -1;
    const CommandGrid& grid = *point.grid();
    for (int action = 0; action < point.done(); ++action) {
      const int column = action % grid.columns();
      if (point.mask().bytes()[U(action)] == 0 || std::string(grid.NameOf(column)) != "layout") continue;
      const MigLayout& layout = state.groups[0].layouts[U(grid.column(column).level)];
      if (whole ? layout.empty() : layout.size() == 2) found = action;
    }
    return found;
  };
  DecisionPoint point(Process("start,layout"));
  Open(point, view);
  const int halves = offered(point, false);
  REQUIRE(halves >= 0);
  point.Put(view, halves);
  Decision decision;
  point.Close(view, decision);
  REQUIRE(simulator.Apply(decision).ok());
  REQUIRE(simulator.AdvanceToDecision());
  CHECK(simulator.now() == 10.0);
  // Nobody would be better off on the whole GPU.
  point.Start(view);
  point.Gather(view);
  point.Observe(view, 0);
  point.OpenMask(view);
  CHECK(offered(point, true) < 0);
  CHECK(point.mask().starts() > 0);
}

TEST_CASE("the largest slice of a layout is over the compute of its own GPU, by hand") {
  for (const auto& [name, gb, slices, largest] :
       {std::tuple{"a30", 24.0, 2U, 2.0F / 4.0F}, std::tuple{"a100", 80.0, 2U, 4.0F / 7.0F}}) {
    ScenarioData data = test::A100s(1, {{0, 100}}, {1.0}, "partitions");
    data.cluster.types[0].name = name, data.cluster.types[0].memory_gb = gb;
    Simulator simulator{Scenario(std::move(data))};
    REQUIRE(simulator.AdvanceToDecision());
    const ClusterView view = simulator.View(Knowledge::kOracle);
    const std::vector<MigLayout>& layouts = view.Find<PartitionState>()->groups[0].layouts;
    Params none(ParseSpec("layout"), {});
    const auto kind = LayoutAction().make(none);
    std::vector<ActionColumn> columns;
    kind->AddColumns(view, columns);
    float most = 0.0F;  // of two slices
    for (const ActionColumn& column : columns) {
      float f[2] = {};
      kind->WriteColumn(view, column, f);
      if (layouts[U(column.level)].size() == slices) most = std::max(most, f[1]);
    }
    CHECK(most == Approx(largest));
  }
}

TEST_CASE("who is turned away misses its deadline then and there, once") {
  ScenarioData data = test::TinyData({{"v", 1}}, {{1.0}}, {{0, 100}, {0, 100}, {50, 10}});
  data.jobs.deadline = {1000.0, 5000.0, 5000.0};
  Simulator simulator{Scenario(std::move(data))};
  Reward reward("deadline");
  REQUIRE(simulator.AdvanceToDecision());
  reward.Begin(simulator);
  DecisionPoint point(Process("start,reject"));
  const ClusterView view = simulator.View(Knowledge::kOracle);
  Open(point, view);
  point.Put(view, test::CommandAt(point, "reject", 1, 0));
  CHECK_FALSE(Legal(point, test::CommandAt(point, "start", 1, -1)));
  point.Put(view, test::CommandAt(point, "start", 0, -1));
  Decision decision;
  point.Close(view, decision);
  REQUIRE(simulator.Apply(decision).ok());
  simulator.AdvanceToDecision();
  reward.Observe(simulator);
  CHECK(reward.Running(simulator) == 1.0);
  decision.Clear();
  while (simulator.AdvanceToDecision()) {
    reward.Observe(simulator);
    decision.Clear();
    for (int job : simulator.View(Knowledge::kOracle).waiting()) decision.Start(job, kV);
    REQUIRE(simulator.Apply(decision).ok());
  }
  reward.Observe(simulator);
  CHECK(reward.Running(simulator) == 1.0);
}

TEST_CASE("one walk through scores is the best legal command again and again") {
  Stream stream(3, Purpose::kScheduler);
  int points = 0;
  for (std::uint64_t seed = 0; points < 3000; ++seed) {
    const test::DrawnProcess drawn = test::DrawProcess(stream, seed);
    if (drawn.mdp.actions == kStartAlone) continue;
    INFO("seed " << seed << ", " << drawn.mdp.ToString());
    Simulator simulator(drawn.scenario);
    DecisionPoint walked(drawn.mdp), chosen(drawn.mdp);
    walked.Begin(simulator.View(Knowledge::kOracle));
    chosen.Begin(simulator.View(Knowledge::kOracle));
    ScoreOrder order;
    std::vector<float> scores;
    for (int i = 0; i < 200 && simulator.AdvanceToDecision(); ++i, ++points) {
      const ClusterView view = simulator.View(Knowledge::kOracle);
      for (DecisionPoint* point : {&walked, &chosen}) {
        point->Start(view);
        point->Gather(view);
        point->Observe(view, drawn.visible);
      }
      scores.resize(U(walked.done()) + 1);
      for (float& score : scores) score = static_cast<float>(stream.Uniform());
      order.Rank(view, walked, scores, nullptr);
      order.Fill(view, walked, Reserve::kNone);
      chosen.OpenMask(view);
      for (;;) {
        chosen.OfferDone(chosen.Runs(view) || chosen.mask().starts() == 0);
        const int action = BestLegal(chosen.mask().bytes(), scores, nullptr);
        if (action < 0 || action == chosen.done()) break;
        chosen.Put(view, action);
      }
      Decision a, b;
      walked.Close(view, a);
      chosen.Close(view, b);
      const auto listed = [](const Decision& d) {
        std::string text;
        for (const Command& c : d.commands)
          text += Join(" ", static_cast<int>(c.kind), ":", c.job, "@", c.type, "x", c.width, "/", c.host);
        return text;
      };
      const auto placed = [](const DecisionPoint& point) {
        std::string text;
        for (const int job : point.plan().placed()) text += Join(" ", job, "@", point.plan().TypeOf(job));
        return text;
      };
      INFO("at " << view.now() << "\n" << listed(a) << "\n" << listed(b) << "\n" << placed(walked) << "\n"
                 << placed(chosen));
      const auto same = [](const Command& x, const Command& y) {
        return x.kind == y.kind && x.job == y.job && x.type == y.type && x.host == y.host && x.width == y.width;
      };
      REQUIRE(std::equal(a.commands.begin(), a.commands.end(), b.commands.begin(), b.commands.end(), same));
      REQUIRE(a.devices == b.devices);
      REQUIRE(a.controls.size() == b.controls.size());
      REQUIRE(simulator.Apply(a).ok());
    }
  }
}

TEST_CASE("environments with any commands show finite numbers and masks that fit") {
  Stream stream(9, Purpose::kScheduler);
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    test::DrawnProcess drawn = test::DrawProcess(stream, seed);
    INFO("seed " << seed << ", " << drawn.mdp.ToString() << ", " << ToString(drawn.scenario.data().features));
    SchedEnvOptions options;
    options.mdp = drawn.mdp;
    options.mdp.visible = 6;
    options.mdp.encoder = ResolveEncoder(
        RichestEncoder(drawn.scenario.data().features, Semantics::kRedecide, Knowledge::kOracle));
    options.mdp.reread = stream.Below(2) == 0;
    const EncoderInfo shown = ObservationOf(options.mdp);
    const auto source = FixedSource(drawn.scenario, "drawn");
    const auto env = MakeVecEnv(source, options, /*num_envs=*/2, /*threads=*/1);
    const ObservationLayout layout = env->layout();
    CHECK(layout == LayoutOf(options.mdp, drawn.scenario));
    CHECK(layout.job_channels == static_cast<int>(shown.job.size()));
    CHECK(layout.pair_channels == static_cast<int>(shown.pair.size()));
    CHECK(layout.type_channels == static_cast<int>(shown.type.size()));
    REQUIRE(env->num_actions() == layout.q * layout.g + 1);
    StepStorage storage(2, layout.size(), env->num_actions());
    const StepBuffers buffers = storage.buffers();
    env->Reset(buffers);
    std::vector<std::int32_t> actions(2);
    for (int step = 0; step < 300; ++step) {
      for (std::size_t i = 0; i < 2; ++i) {
        const std::size_t count = U(env->num_actions());
        actions[i] = test::DrawLegal(std::span(storage.action_mask).subspan(i * count, count), stream);
      }
      env->Step(actions, buffers);
      REQUIRE(std::all_of(storage.observation.begin(), storage.observation.end(),
                          [](float x) { return std::isfinite(x); }));
    }
    // The same again from its own record.
    StepStorage again(2, layout.size(), env->num_actions());
    const auto copy = MakeVecEnv(source, options, 2, 1);
    copy->LoadState(env->SaveState(), again.buffers());
    CHECK(again.observation == storage.observation);
    CHECK(again.action_mask == storage.action_mask);
  }
}

}  // namespace berth

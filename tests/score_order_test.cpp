// Plans drawn by one walk through scores with noise against draws of one action after the other, each from
// the softmax of what is legal then.
#include "env/gym/score_order.hpp"

#include <cmath>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "env/base/index.hpp"
#include "env/features/table.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/drawn_process.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

void Begin(DecisionPoint& point, const ClusterView& view, int visible) {
  point.Start(view);
  point.Gather(view);
  point.Observe(view, visible);
}

std::vector<std::string> Commands(DecisionPoint& point, const ClusterView& view) {
  Decision decision;
  point.Close(view, decision);
  std::vector<std::string> commands;
  for (const Command& c : decision.commands)
    commands.push_back(Join(static_cast<int>(c.kind), ":", c.job, "@", c.type, "x", c.width, "/", c.host));
  for (const Control& c : decision.controls)
    commands.push_back(Join("control ", static_cast<int>(c.kind), ":", c.index, "=", c.value));
  return commands;
}

// What decisions of an open point have, drawn in both ways: each command, and how many there are.
void CheckDraws(DecisionPoint& point, const ClusterView& view, int visible, std::span<const float> scores,
                int draws, Stream& noise) {
  ScoreOrder order;
  std::map<std::string, int> walked, chosen;  // decisions that have it
  const auto count = [&](std::map<std::string, int>& into) {
    const std::vector<std::string> commands = Commands(point, view);
    for (const std::string& command : commands) ++into[command];
    ++into[Join(commands.size(), " commands")];
  };
  for (int i = 0; i < draws; ++i) {
    Begin(point, view, visible);
    order.Rank(view, point, scores, &noise);
    order.Fill(view, point, Reserve::kNone);
    count(walked);
    Begin(point, view, visible);
    point.OpenMask(view);
    for (;;) {
      const int action = BestLegal(view, point, scores, &noise);
      if (action < 0 || action == point.done()) break;
      point.Put(view, action);
    }
    count(chosen);
  }
  for (const auto& [what, times] : chosen) walked.try_emplace(what, 0);
  for (const auto& [what, times] : walked) {
    INFO(what << ": " << times << " and " << chosen[what]);
    CHECK(std::abs(times - chosen[what]) <= 5.0 * std::sqrt(times + chosen[what] + 1.0));
  }
}

}  // namespace

// Two jobs on two GPUs, all scores equal. `done` is illegal on an empty plan, and was not drawn then.
TEST_CASE("score order: what becomes legal later is drawn then") {
  constexpr int kDraws = 6000;
  for (const char* actions : {"start", "start,reject"}) {
    CAPTURE(actions);
    MdpSpec mdp;
    mdp.actions = ResolveActions(actions);
    mdp.work_conserving = false;
    Simulator simulator(test::Tiny({{"a", 2}}, {{1.0}}, {{0, 10}, {0, 10}}));
    REQUIRE(simulator.AdvanceToDecision());
    const ClusterView view = simulator.View(Knowledge::kOracle);
    DecisionPoint point(mdp);
    point.Begin(view);
    ScoreOrder order;
    Stream noise(1, Purpose::kTest);
    std::map<std::string, int> seen;  // by how many are started and rejected
    for (int i = 0; i < kDraws; ++i) {
      Begin(point, view, /*visible=*/2);
      const std::vector<float> scores(U(point.done()) + 1, 0.5F);
      order.Rank(view, point, scores, &noise);
      order.Fill(view, point, Reserve::kNone);
      Decision decision;
      point.Close(view, decision);
      int started = 0, rejected = 0;
      for (const Command& c : decision.commands) ++(c.kind == CommandKind::kReject ? rejected : started);
      ++seen[Join(started, "+", rejected)];
    }
    // By hand: one is started, then `done` or the other one. With rejections: of four commands one; after a
    // start the other's two or `done`; after a rejection the other's two, as nothing runs and one could.
    const std::map<std::string, double> expected =
        actions == std::string("start")
            ? std::map<std::string, double>{{"1+0", 1 / 2.0}, {"2+0", 1 / 2.0}}
            : std::map<std::string, double>{
                  {"0+2", 1 / 4.0}, {"1+0", 1 / 6.0}, {"1+1", 5 / 12.0}, {"2+0", 1 / 6.0}};
    CHECK(seen.size() == expected.size());
    for (const auto& [plan, share] : expected) {
      INFO(plan);
      CHECK(std::abs(seen[plan] - kDraws * share) < 5.0 * std::sqrt(kDraws * share * (1.0 - share)));
    }
  }
}

// A job may be resized once it is placed: nothing of it is legal before.
TEST_CASE("score order: commands that wait for others are drawn when they are legal") {
  ScenarioData data = test::TinyData({{"v", 4}}, {{1.0}}, {{0, 100, 0, 2}, {0, 400, 0, 2}});
  data.features =
      ParseFeatures("elasticity(min_factor=0.5,max_factor=2,measured=false,scaling=linear,resize_s=0)");
  Simulator simulator{Scenario(std::move(data))};
  REQUIRE(simulator.AdvanceToDecision());
  const ClusterView view = simulator.View(Knowledge::kOracle);
  for (const bool work_conserving : {true, false}) {
    CAPTURE(work_conserving);
    MdpSpec mdp;
    mdp.actions = ResolveActions("start,resize");
    mdp.work_conserving = work_conserving;
    DecisionPoint point(mdp);
    point.Begin(view);
    Begin(point, view, /*visible=*/2);
    Stream noise(3, Purpose::kTest);
    const std::vector<float> scores(U(point.done()) + 1, 0.0F);
    CheckDraws(point, view, /*visible=*/2, scores, /*draws=*/20000, noise);
  }
}

TEST_CASE("score order: a walk with noise draws as drawing again and again does") {
  constexpr int kProcesses = 8;
  Stream stream(4, Purpose::kTest), noise(2, Purpose::kTest);
  int processes = 0;
  for (std::uint64_t seed = 0; processes < kProcesses; ++seed) {
    const test::DrawnProcess drawn = test::DrawProcess(stream, seed);
    Simulator simulator(drawn.scenario);
    if (drawn.mdp.actions == kStartAlone || !simulator.AdvanceToDecision()) continue;
    INFO("seed " << seed << ", " << drawn.mdp.ToString());
    DecisionPoint point(drawn.mdp);
    point.Begin(simulator.View(Knowledge::kOracle));
    ScoreOrder order;
    Decision decision;
    std::vector<float> scores;
    for (int i = 0; i < 6; ++i) {  // until some of the jobs run
      const ClusterView view = simulator.View(Knowledge::kOracle);
      Begin(point, view, drawn.visible);
      scores.assign(U(point.done()) + 1, 0.0F);
      order.Rank(view, point, scores, &noise);
      order.Fill(view, point, Reserve::kNone);
      decision.Clear();
      point.Close(view, decision);
      REQUIRE(simulator.Apply(decision).ok());
      if (!simulator.AdvanceToDecision()) break;
    }
    const ClusterView view = simulator.View(Knowledge::kOracle);
    if (view.active().size() < 3) continue;
    ++processes;
    Begin(point, view, drawn.visible);
    scores.resize(U(point.done()) + 1);
    for (float& score : scores) score = static_cast<float>(stream.Uniform(0.0, 2.0));
    CheckDraws(point, view, drawn.visible, scores, /*draws=*/800, noise);
  }
}

}  // namespace berth

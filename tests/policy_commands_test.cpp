// Frozen policies with more commands than starts: their files, their runs, and clusters that lack what they do.
#include <string>

#include "env/gym/decision_point.hpp"
#include "env/sim/simulator.hpp"
#include "policies/bundle.hpp"
#include "policies/policy_scheduler.hpp"
#include "tests/catch.hpp"
#include "tests/drawn_process.hpp"
#include "tests/errors.hpp"
#include "tests/policies_support.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

PolicyBundle WithCommands(const test::DrawnProcess& drawn, const std::string& network, std::uint64_t seed) {
  MdpSpec mdp = drawn.mdp;
  mdp.visible = 6;
  const ObservationLayout layout = LayoutOf(mdp, drawn.scenario);
  PolicyBundle bundle = test::RandomBundle(network, layout, layout.q * layout.g + 1, seed);
  bundle.mdp = mdp;
  bundle.gpu_types.clear();
  for (const GpuType& type : drawn.scenario.data().cluster.types) bundle.gpu_types.push_back(type.name);
  return bundle;
}

}  // namespace

TEST_CASE("a policy file names its actions, and its policy runs to the end of any cluster that has them") {
  const test::TemporaryFolder folder;
  Stream stream(4, Purpose::kScheduler);
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    test::DrawnProcess drawn = test::DrawProcess(stream, seed);
    drawn.mdp.reread = drawn.mdp.actions != "start" && stream.Below(3) == 0;
    const std::string network = stream.Below(3) == 0 ? "mlp(hidden=8)" : "pair_scorer(width=8,skip=true)";
    INFO("seed " << seed << ", " << network << ", " << drawn.mdp.ToString());
    SaveBundle(WithCommands(drawn, network, seed), folder / "policy.h5");
    PolicyBundle bundle = LoadBundle(folder / "policy.h5");
    CHECK(bundle.mdp.actions == drawn.mdp.actions);
    CHECK(bundle.mdp.reread == drawn.mdp.reread);
    PolicyScheduler policy(std::move(bundle), "policy.h5", /*sample=*/false);
    Simulator simulator(drawn.scenario);
    policy.Reset(simulator.View(Knowledge::kOracle));
    Decision decision;
    for (int i = 0; i < 300 && simulator.AdvanceToDecision(); ++i) {
      decision.Clear();
      policy.Decide(simulator.View(Knowledge::kOracle), decision);
      const ApplyResult result = simulator.Apply(decision);
      INFO(Explain(result, decision, simulator));
      REQUIRE(result.ok());
      REQUIRE(CheckInvariants(simulator) == "");
    }
  }
}

TEST_CASE("a policy in a cluster that lacks its commands says whose and which") {
  Stream stream(5, Purpose::kScheduler);
  for (std::uint64_t seed = 0;; ++seed) {
    const test::DrawnProcess drawn = test::DrawProcess(stream, seed);
    if (drawn.mdp.actions.find("resize") == std::string::npos) continue;
    PolicyScheduler policy(WithCommands(drawn, "pair_scorer(width=8)", 1), "mine.h5", /*sample=*/false);
    const Simulator rigid{Scenario(test::TinyData({{"v100", 4}}, {{1.0}}, {{0, 100}}))};
    const std::string said = test::MessageOf([&] { policy.Reset(rigid.View(Knowledge::kOracle)); });
    CHECK(said.find("mine.h5: actions: ") == 0);
    CHECK(said.find(": expected ") != std::string::npos);
    break;
  }
}

}  // namespace berth

// berth train --from: a run begins with the weights of a policy file, and with nothing else of it by
// accident.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "env/base/check.hpp"
#include "policies/bundle.hpp"
#include "tests/catch.hpp"
#include "tests/learn/shell.hpp"

namespace berth {
namespace {

using test::ReadAll;
using test::Shell;

// The last value of a column of progress.csv.
double Last(const std::string& path, const std::string& column) {
  std::ifstream file(path);
  std::string header, row, line;
  std::getline(file, header);
  while (std::getline(file, line)) row = line;
  std::istringstream names(header), values(row);
  for (std::string name, value; std::getline(names, name, ',');) {
    std::getline(values, value, ',');
    if (name == column) return std::strtod(value.c_str(), nullptr);
  }
  FAIL("no column " << column);
  return 0.0;
}

void CheckSameWeights(const PolicyBundle& a, const PolicyBundle& b) {
  REQUIRE(a.arrays.size() == b.arrays.size());
  for (std::size_t i = 0; i < a.arrays.size(); ++i) CHECK(a.arrays[i].values == b.arrays[i].values);
}

constexpr const char* kSmall = "--envs 4 --threads 1 --episode-jobs 10 --warmup-jobs 4 --validate 0 ";
constexpr const char* kTwoTypes = "--workload 'synthetic(rate=4,jobs=100)' --cluster v100=2,k80=2 ";

}  // namespace

TEST_CASE("train --from begins with the policy's weights, its critic's included, on other sizes too") {
  const Shell berth;
  const std::string first =
      std::string("train --agent 'ppo(n_steps=64,minibatch=64,lr=0.01)' ") + kTwoTypes + kSmall +
      "--network 'pair_scorer(width=8,skip=true)' --encoder ObservationV3 --order shortest "
      "--visible 8 --seed 3 --steps 4096 --out a";
  const int begun = berth(first);
  CAPTURE(berth.log());
  REQUIRE(begun == 0);
  const PolicyBundle policy = berth.Policy("a");

  // A learning rate of 0 leaves what it began with. Network, encoder and process are the policy's; another
  // queue and another number of GPU types are fine. The learner on the device acts by it from the first step
  // on, too: the policy that played is the one that learns, so the first minibatch's ratios are 1.
  for (const std::string agent : {"ppo(n_steps=64,minibatch=64,lr=0)", "reinforce(n_steps=64,lr=0)",
                                  "ppo(learner=device,n_steps=64,minibatch=64,lr=0)"}) {
    CAPTURE(agent);
    const std::string out = agent.find("device") == std::string::npos ? agent.substr(0, 3) : "device";
    const int ran = berth("train --from a.h5 --agent '" + agent +
                          "' --workload 'synthetic(rate=4,jobs=100)' --cluster v100=2,p100=1,k80=2 " +
                          kSmall + "--visible 12 --steps 256 --out " + out);
    CAPTURE(berth.log());
    REQUIRE(ran == 0);
    const PolicyBundle still = berth.Policy(out);
    CheckSameWeights(policy, still);
    CHECK(still.mdp.encoder == policy.mdp.encoder);
    CHECK(still.mdp.order == QueueOrder::kShortest);
    CHECK(still.mdp.visible == 12);
    CHECK(Last(berth / (out + "/progress.csv"), "losses/first_ratio_error") < 1e-4);
  }

  // Continued bit for bit, without the file: the checkpoint has the weights. Schedules stand still, so that
  // half a run is the half of a run.
  const std::string fine =
      "train --from a.h5 --agent 'ppo(n_steps=64,minibatch=64,lr_schedule=constant,ent_schedule=constant)' "
      "--signal reward " +
      std::string(kTwoTypes) + kSmall;
  REQUIRE(berth(fine + "--steps 1024 --out straight") == 0);
  REQUIRE(berth(fine + "--steps 512 --out halves") == 0);
  REQUIRE(std::filesystem::remove(berth / "a.h5"));
  const int resumed = berth("train --resume --steps 1024 --out halves");
  CAPTURE(berth.log());
  REQUIRE(resumed == 0);
  CHECK(ReadAll(berth / "halves/config.ini").find("from=") != std::string::npos);
  const PolicyBundle straight = berth.Policy("straight");
  CheckSameWeights(straight, berth.Policy("halves"));
  CHECK(straight.arrays[0].values != policy.arrays[0].values);
}

TEST_CASE("train --from refuses what the weights do not fit in one line") {
  const Shell berth;
  const std::string end = std::string(kTwoTypes) + kSmall + "--steps 256 --out ";
  REQUIRE(berth("train --agent 'ppo(n_steps=64)' --network 'pair_scorer(width=8)' --encoder ObservationV1 " +
                end + "a") == 0);
  REQUIRE(
      berth("train --agent 'ppo(n_steps=64)' --network 'mlp(hidden=8)' --encoder ObservationV1 --visible 8 " +
            end + "m") == 0);
  berth.Policy("a"), berth.Policy("m");
  const auto refuses = [&](const std::string& options, const std::string& words) {
    CAPTURE(options, words);
    CHECK(berth("train " + options + end + "b") == 2);
    CAPTURE(berth.log());
    CHECK(berth.Said(words));
  };
  refuses("--from a.h5 --network 'pair_scorer(width=16)' ",
          "--network: expected the policy's pair_scorer(width=8");
  refuses("--from a.h5 --encoder ObservationV2 ", "--encoder: expected the policy's ObservationV1");
  refuses("--from a.h5 --semantics commit --preemptive false ",
          "--semantics: expected the policy's redecide with --from");
  refuses("--from a.h5 --agent dqn ", "--from: expected --agent ppo or reinforce with it");
  refuses("--from m.h5 --visible 9 ",
          "expected a policy of the same size as the run's 9 jobs on 2 GPU types, found 8");
  // Its first layer has weights for each type.
  CHECK(berth(std::string("train --from m.h5 --visible 8 --workload 'synthetic(rate=4,jobs=100)' "
                          "--cluster p100=2,k80=2 ") +
              kSmall + "--steps 256 --out b") == 2);
  CHECK(berth.Said("expected a policy of the same GPU types as the run's p100, k80, found v100, k80"));
  refuses("--from nowhere.h5 ", "nowhere.h5");
  refuses("--from a/checkpoint.h5 ", "--from");
  CHECK(berth("train --resume --from a.h5 --out a") == 2);
  CHECK(berth.Said("--from: expected without --resume"));
}

}  // namespace berth

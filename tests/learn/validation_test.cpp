// berth train --validate: what is kept is what did best, and nothing else of the training changes.
#include <algorithm>
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

struct Row {
  std::int64_t steps;
  double value, sampled, gap;
};
std::vector<Row> Rows(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  CHECK(line == "global_step,greedy,sampled,gap,workloads,jobs");
  std::vector<Row> rows;
  for (Row row{}; std::getline(file, line);) {
    char comma = 0;
    std::istringstream(line) >> row.steps >> comma >> row.value >> comma >> row.sampled >> comma >> row.gap;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

TEST_CASE("train --validate keeps the policy that did best, and changes nothing of the training") {
  const Shell berth;
  const std::string task =
      "--agent 'ppo(n_steps=64,minibatch=128)' --workload 'synthetic(rate=4,jobs=100)' --cluster "
      "v100=2,k80=2 "
      "--envs 4 --threads 1 --visible 8 --episode-jobs 10 --warmup-jobs 4 --seed 3 ";
  REQUIRE(berth("train " + task +
                "--steps 4096 --validate 2 --validations 4 --baselines 'srpt;fcfs' --json j.json --out a") ==
          0);
  CAPTURE(berth.log());
  const std::vector<Row> rows = Rows(berth / "a/validation.csv");
  REQUIRE(rows.size() == 4);
  for (std::size_t i = 0; i < rows.size(); ++i) CHECK(rows[i].steps == 1024 * static_cast<int>(i + 1));
  const Row best = *std::min_element(rows.begin(), rows.end(),
                                     [](const Row& x, const Row& y) { return x.value < y.value; });
  CHECK(LoadBundle(berth / "a/best.h5").provenance.steps == best.steps);
  CHECK(ReadAll(berth / "j.json").find("best.h5") != std::string::npos);
  for (const char* key : {"\"greedy_of_srpt\"", "\"sampled_of_fcfs\"", "\"gap\""})
    CHECK(ReadAll(berth / "j.json").find(key) != std::string::npos);
  for (const Row& row : rows) {
    CHECK(row.gap == Approx(row.sampled / row.value - 1.0));
    CHECK(row.sampled != row.value);  // a policy that draws does not do the same
  }
  CHECK(berth.log().find("validated on 2 workloads: greedy ") != std::string::npos);
  CHECK(berth.log().find(" of srpt, ") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(berth / "a/candidate.h5"));

  // The same training without it ends in the same policy.
  REQUIRE(berth("train " + task + "--steps 4096 --out b") == 0);
  REQUIRE(berth("export a --out a.h5") == 0);
  REQUIRE(berth("export b --out b.h5") == 0);
  const PolicyBundle with = LoadBundle(berth / "a.h5"), without = LoadBundle(berth / "b.h5");
  REQUIRE(with.arrays.size() == without.arrays.size());
  for (std::size_t i = 0; i < with.arrays.size(); ++i)
    CHECK(with.arrays[i].values == without.arrays[i].values);

  // A run that is continued knows what was best, and measures at the steps that are left.
  REQUIRE(berth("train --resume --steps 8192 --out a") == 0);
  const std::vector<Row> more = Rows(berth / "a/validation.csv");
  REQUIRE(more.size() == 6);
  CHECK(more[3].value == rows[3].value);
  CHECK(more[4].steps == 6144);
  const Row still = *std::min_element(more.begin(), more.end(),
                                      [](const Row& x, const Row& y) { return x.value < y.value; });
  CHECK(LoadBundle(berth / "a/best.h5").provenance.steps == still.steps);

  // Costs on other workloads would not compare with those that are there. 4 + 2 * 10 jobs each.
  CHECK(ReadAll(berth / "a/validation.csv").find(",2,24\n") != std::string::npos);
  CHECK(berth("train --resume --steps 9216 --validate 5 --out a") == 2);
  CHECK(berth.log().find("--validate: expected 2 workloads of 24 jobs, on which a/best.h5 is the best, found 5 of 24") != std::string::npos);
  CHECK(berth("train --resume --steps 8192 --validate 0 --out a") == 0);

  CHECK(berth("train " + task + "--steps 64 --semantics commit --preemptive false --validate 2 --out c") ==
        2);
  CHECK(berth.log().find("--validate: expected with it --semantics redecide, found commit") !=
        std::string::npos);
  CHECK(berth("train " + task + "--steps 64 --validate two --out c") == 2);
  CHECK(berth("train " + task + "--steps 64 --baselines srtp --out c") == 2);
  CHECK(berth.log().find("--baselines: ") != std::string::npos);
  CHECK(berth.log().find("did you mean 'srpt'") != std::string::npos);
  CHECK(berth("train " + task + "--steps 64 --knowledge blind --baselines srpt --out c") == 2);
  CHECK(berth.log().find("blind, found srpt, which needs estimate") != std::string::npos);
  CHECK(
      berth("evaluate --schedulers srpt --json a/best.h5 --workload 'synthetic(rate=4,jobs=10)' --seeds 1:2 "
            "--schedulers 'srpt;policy(file=a/best.h5)'") == 2);
}

TEST_CASE("train --resume --validate goes on where --validate auto measured, of which no policy was kept") {
  const Shell berth;
  const std::string task =
      "--agent 'ppo(n_steps=64,minibatch=128)' --workload 'synthetic(rate=4,jobs=100)' --cluster v100=2,k80=2 "
      "--envs 4 --threads 1 --visible 8 --episode-jobs 10 --warmup-jobs 4 --seed 3 ";
  REQUIRE(berth("train " + task + "--steps 1024 --validate 0 --out a") == 0);
  // As auto measures, on 4 + 10 jobs; and as it does on a log, of which all workloads are as long. A cost of 1 s is
  // less than any policy's.
  std::ofstream(berth / "a/validation.csv") << "global_step,greedy,sampled,gap,workloads,jobs\n512,1,1,0,8,14\n1024,1,1,0,2,24\n";
  REQUIRE(berth("train --resume --steps 4096 --validate 2 --validations 4 --json j.json --out a") == 0);
  CAPTURE(berth.log());
  const std::vector<Row> rows = Rows(berth / "a/validation.csv");
  REQUIRE(rows.size() == 5);
  const Row best = *std::min_element(rows.begin() + 2, rows.end(), [](const Row& x, const Row& y) { return x.value < y.value; });
  CHECK(LoadBundle(berth / "a/best.h5").provenance.steps == best.steps);
  CHECK(berth.log().find(" validations: after " + std::to_string(best.steps).insert(1, ",") + " steps, ") != std::string::npos);
  // Nothing is left to do, and the row that was kept is known: another number of workloads would not compare.
  CHECK(berth("train --resume --out a") == 0);
  CHECK(berth("train --resume --steps 5120 --validate 3 --out a") == 2);
  std::filesystem::remove(berth / "a/best.h5");
  CHECK(berth("train --resume --steps 5120 --validate 3 --out a") == 0);
  CHECK(std::filesystem::exists(berth / "a/best.h5"));
}

TEST_CASE("train --resume --validate says what it measured where nothing is left to train") {
  const Shell berth;
  REQUIRE(berth("train --agent 'ppo(n_steps=64)' --workload 'synthetic(rate=4,jobs=100)' --cluster v100=2,k80=2 --envs 4 "
                "--threads 1 --visible 8 --episode-jobs 10 --warmup-jobs 4 --steps 256 --validate 0 --out a") == 0);
  const auto resumed = [&] {
    REQUIRE(berth("train --resume --validate 2 --out a") == 0);
    CAPTURE(berth.log());
    CHECK(berth.Said("nothing was left to do: 256 steps"));
    CHECK(Rows(berth / "a/validation.csv").size() == 1);
    return berth.Said("\nvalidated on 2 workloads: greedy ") && berth.Said("\nbest of 1 validation: after 256 steps, ");
  };
  CHECK(resumed());
  CHECK_FALSE(resumed());  // it has its row
}

TEST_CASE("train --validate has no ratio to a rule that leaves jobs undone") {
  const Shell berth;
  REQUIRE(berth("train --agent 'ppo(n_steps=64,minibatch=128)' --workload 'synthetic(rate=4,jobs=100)' --cluster v100=2,k80=2 "
                "--envs 4 --threads 1 --visible 8 --episode-jobs 10 --warmup-jobs 4 --steps 512 --validations 1 --validate 2 "
                "--baselines 'admission(limit=1);srpt' --json j.json --out a") == 0);  // it turns away who finds another
  CAPTURE(berth.log());
  CHECK(berth.log().find(" a job where admission(limit=1) leaves jobs undone, ") != std::string::npos);
  CHECK(berth.log().find(" of srpt; sampled ") != std::string::npos);
  const std::string json = ReadAll(berth / "j.json");
  CHECK(json.find("\"greedy_of_admission(limit=1)\": null") != std::string::npos);
  CHECK(json.find("\"sampled_of_admission(limit=1)\": null") != std::string::npos);
}

TEST_CASE("train --validate on a log says that its pieces were trained on, runs the only one once, and names jobs kept back") {
  const Shell berth;
  const std::string task =
      "train --scenario log.h5 --envs 4 --threads 1 --visible 8 --episode-jobs 10 --warmup-jobs 4 --steps 512 "
      "--agent 'ppo(n_steps=64,minibatch=128)' --validations 1 --validate 3 --baselines srpt ";
  REQUIRE(berth("generate --workload 'synthetic(rate=4,jobs=60)' --cluster v100=2,k80=2 --out log.h5") == 0);
  REQUIRE(berth(task + "--jobs 0:60 --out pieces") == 0);  // of 4 + 2 * 10 jobs
  CAPTURE(berth.log());
  CHECK(berth.log().find("validated on 3 pieces of the jobs that it was trained on: greedy ") != std::string::npos);
  CHECK(berth.log().find(" +- ") != std::string::npos);
  CHECK(berth.Said("\nnext, what it is worth, though on the jobs that it was trained on (--jobs keeps some back):\n"));
  REQUIRE(berth(task + "--jobs 36:60 --out one") == 0);
  CAPTURE(berth.log());
  CHECK(berth.log().find("validated on 1 piece of the jobs that it was trained on: greedy ") != std::string::npos);
  CHECK(berth.log().find(" +- ") == std::string::npos);
  CHECK(berth.Said("\nnext, what it is worth on jobs that it was not trained on:\n"));
  CHECK(berth.Said(" --window 0:36 --schedulers "));
}

TEST_CASE("train --validate auto measures where a tenth of the time affords it, and keeps no best one") {
  const Shell berth;
  // Small workloads, so that a few seconds of training are much beside them.
  const std::string task =
      "--workload 'synthetic(rate=4,jobs=100)' --cluster v100=2,k80=2 --envs 4 --threads 1 --visible 8 "
      "--episode-jobs 10 --warmup-jobs 4 --steps 1000000000 ";
  REQUIRE(berth("train " + task + "--seconds 0.2 --out short") == 0);
  CHECK(berth.log().find("not validated: ") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(berth / "short/validation.csv"));
  REQUIRE(berth("train " + task + "--seconds 8 --out long") == 0);
  CAPTURE(berth.log());
  CHECK(berth.log().find("validated on ") != std::string::npos);  // how many depends on the machine
  CHECK(berth.log().find(" workloads: greedy ") != std::string::npos);
  CHECK(berth.log().find(" of nash_welfare; sampled ") != std::string::npos);
  CHECK(std::filesystem::exists(berth / "long/validation.csv"));
  CHECK_FALSE(std::filesystem::exists(berth / "long/best.h5"));
  CHECK_FALSE(std::filesystem::exists(berth / "long/candidate.h5"));
  // Another process than it can measure: the training goes on without.
  CHECK(berth("train " + task + "--seconds 0.2 --semantics commit --preemptive false --out commit") == 0);
  CHECK(berth.log().find("not validated: with --semantics commit") != std::string::npos);
  CHECK(berth("train " + task + "--seconds 0.2 --reward demand --out demand") == 0);
  CHECK(berth.log().find("not validated: for a term of its reward runs have no metric") != std::string::npos);
}

// Where a GPU type has no price a workload may cost nothing; ratios of means have an error all the same.
TEST_CASE("train --reward cost says of a policy that it loses where a GPU type has no price") {
  const Shell berth;
  std::ofstream(berth / "c.toml") << "[[gpu]]\nname = \"v100\"\ncount = 4\nprice_per_hour = 0\n"
                                     "[[gpu]]\nname = \"k80\"\ncount = 4\nprice_per_hour = 1\n";
  REQUIRE(berth("train --agent 'ppo(n_steps=64,minibatch=128)' --workload 'synthetic(rate=2,jobs=100)' --cluster c.toml --envs 4 "
                "--threads 1 --visible 8 --episode-jobs 10 --warmup-jobs 4 --steps 512 --reward cost --validate 4 --validations 1 "
                "--baselines srpt --out a") == 0);
  CAPTURE(berth.log());
  CHECK(berth.log().find("loses: the greedy policy costs ") != std::string::npos);
  const std::size_t greedy = berth.log().find("validated on 4 workloads: greedy "), rule = berth.log().find(" of srpt; sampled ");
  REQUIRE(greedy < rule);
  CHECK(berth.log().substr(greedy, rule - greedy).find(" +- ") != std::string::npos);
}

TEST_CASE("train --reward deadline wants deadlines, and validates where nobody misses one") {
  const Shell berth;
  const std::string task =
      "--cluster v100=2,k80=2 --envs 4 --threads 1 --visible 8 --episode-jobs 10 --warmup-jobs 4 --steps 2000 "
      "--reward deadline --validate 2 --baselines srpt --out run ";
  CHECK(berth("train " + task + "--workload 'synthetic(rate=1,jobs=100)'") == 2);
  CHECK(berth.log().find("--reward: deadline: expected jobs with deadlines") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(berth / "run"));
  REQUIRE(berth("train " + task + "--workload 'synthetic(rate=0.001,jobs=100,slo=true)'") == 0);
  CAPTURE(berth.log());
  CHECK(berth.log().find(" a job where srpt has ") != std::string::npos);
  CHECK(berth.log().find("inf") == std::string::npos);
}

}  // namespace berth

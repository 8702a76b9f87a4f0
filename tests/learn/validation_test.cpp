// berth train --validate: what is kept is what did best, and nothing else of the training changes.
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "env/base/check.hpp"
#include "policies/bundle.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Row {
  std::int64_t steps;
  double value;
};
std::vector<Row> Rows(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  CHECK(line == "global_step,value");
  std::vector<Row> rows;
  for (Row row{}; std::getline(file, line);) {
    char comma = 0;
    std::istringstream(line) >> row.steps >> comma >> row.value;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

TEST_CASE("train --validate keeps the policy that did best, and changes nothing of the training") {
  const test::TemporaryFolder folder;
  const std::string log = folder / "log";
  const auto berth = [&](const std::string& arguments) {
    return WEXITSTATUS(std::system(
        Join("cd '", folder.path(), "' && '" BERTH_BINARY "' ", arguments, " >'", log, "' 2>&1").c_str()));
  };
  const std::string task =
      "--agent 'ppo(n_steps=64,minibatch=128)' --workload 'synthetic(rate=4,jobs=100)' --cluster "
      "v100=2,k80=2 "
      "--envs 4 --threads 1 --visible 8 --episode-jobs 10 --warmup-jobs 4 --seed 3 ";
  REQUIRE(berth("train " + task + "--steps 4096 --validate 2 --validations 4 --json j.json --out a") == 0);
  CAPTURE(ReadAll(log));
  const std::vector<Row> rows = Rows(folder / "a/validation.csv");
  REQUIRE(rows.size() == 4);
  for (std::size_t i = 0; i < rows.size(); ++i) CHECK(rows[i].steps == 1024 * static_cast<int>(i + 1));
  const Row best = *std::min_element(rows.begin(), rows.end(),
                                     [](const Row& x, const Row& y) { return x.value < y.value; });
  CHECK(LoadBundle(folder / "a/best.h5").provenance.steps == best.steps);
  CHECK(ReadAll(folder / "j.json").find("best.h5") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder / "a/candidate.h5"));

  // The same training without it ends in the same policy.
  REQUIRE(berth("train " + task + "--steps 4096 --out b") == 0);
  REQUIRE(berth("export a --out a.h5") == 0);
  REQUIRE(berth("export b --out b.h5") == 0);
  const PolicyBundle with = LoadBundle(folder / "a.h5"), without = LoadBundle(folder / "b.h5");
  REQUIRE(with.arrays.size() == without.arrays.size());
  for (std::size_t i = 0; i < with.arrays.size(); ++i)
    CHECK(with.arrays[i].values == without.arrays[i].values);

  // A run that is continued knows what was best, and measures at the steps that are left.
  REQUIRE(berth("train --resume --steps 8192 --out a") == 0);
  const std::vector<Row> more = Rows(folder / "a/validation.csv");
  REQUIRE(more.size() == 6);
  CHECK(more[3].value == rows[3].value);
  CHECK(more[4].steps == 6144);
  const Row still = *std::min_element(more.begin(), more.end(),
                                      [](const Row& x, const Row& y) { return x.value < y.value; });
  CHECK(LoadBundle(folder / "a/best.h5").provenance.steps == still.steps);

  CHECK(berth("train " + task + "--steps 64 --semantics commit --preemptive false --validate 2 --out c") ==
        2);
  CHECK(ReadAll(log).find("--validate: expected with it --semantics redecide, found commit") !=
        std::string::npos);
  CHECK(berth("train " + task + "--steps 64 --validate two --out c") == 2);
  CHECK(
      berth("evaluate --schedulers srpt --json a/best.h5 --workload 'synthetic(rate=4,jobs=10)' --seeds 1:2 "
            "--schedulers 'srpt;policy(file=a/best.h5)'") == 2);
}

}  // namespace berth

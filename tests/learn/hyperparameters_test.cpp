// The script that searches hyper-parameters: what it measures is what the verbs say, and it goes on where it
// stopped.
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>

#include "env/base/check.hpp"
#include "tests/catch.hpp"
#include "tests/python.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/json.hpp"

namespace berth {

TEST_CASE("hyper-parameters: a search trains, measures on validation workloads alone, and goes on") {
  const std::string python = test::Python(BERTH_SOURCE_DIR, "json");
  if (python.empty()) return test::Skip("needs Python 3");
  const test::TemporaryFolder folder;
  const std::string log = folder / "log";
  const auto read = [](const std::string& path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string berth = "'" BERTH_BINARY "'";
  const auto run = [&](const std::string& command) {
    return WEXITSTATUS(
        std::system(Join("cd '", folder.path(), "' && ", command, " >'", log, "' 2>&1").c_str()));
  };
  const auto search = [&](const std::string& own, const std::string& agent) {
    return run(Join("'", python,
                    "' '" BERTH_SOURCE_DIR "/tools/reproduce/learned/search_hyperparameters.py' "
                    "--berth ",
                    berth, " --out found --seeds 1 --steps 4000 ", own, " -- --agent '", agent,
                    "' --workload 'synthetic(rate=4,jobs=60)' --cluster v100=2,k80=2 --envs 4 --visible 8 "
                    "--episode-jobs 10 --warmup-jobs 0"));
  };
  const std::string on = " --workload 'synthetic(rate=4,jobs=40) on v100=2,k80=2 window 10:30'";
  const int found = search("--try 'lr=0.001 0.01' --validate 5000:5002" + on, "ppo(n_steps=64,lr={lr})");
  CAPTURE(read(log));
  REQUIRE(found == 0);
  const std::string first = read(log), table = read(folder / "found/search.csv");
  CHECK(table.find("lr=0.001,") != std::string::npos);
  CHECK(table.find("lr=0.01,") != std::string::npos);
  // The figure of one combination is evaluate's own.
  REQUIRE(run(berth +
              " evaluate --schedulers 'srpt;policy(file=found/lr=0.01/seed_1/policy_1.h5)' --workload "
              "'synthetic(rate=4,jobs=40)' --cluster v100=2,k80=2 --seeds 5000:5002 --window 10:30 "
              "--json e.json") == 0);
  const Json rows = Json::parse(read(folder / "e.json"))["schedulers"];
  const double ratio = rows[1]["mean_jct_s"].get<double>() / rows[0]["mean_jct_s"].get<double>();
  const std::size_t at = table.find("lr=0.01,") + 8;
  CHECK(std::stod(table.substr(at)) == Approx(ratio).epsilon(1e-12));
  // Again: nothing is trained anew.
  REQUIRE(run("rm -r found/*/seed_1/run_1") == 0);
  REQUIRE(search("--try 'lr=0.001 0.01' --validate 5000:5002" + on, "ppo(n_steps=64,lr={lr})") == 0);
  CHECK(read(log) == first);

  CHECK(search("--try lr=1 --validate 999:1001" + on, "ppo(lr={lr})") == 2);
  CHECK(read(log).find("--validate: 999:1001 holds test workloads (1000:1020)") != std::string::npos);
  CHECK(search("--try lr=1" + on, "ppo(lr={rl})") == 2);
  CHECK(read(log).find("--try lr: the options behind `--` do not use {lr}") != std::string::npos);
  CHECK(search("--try lr=fast" + on, "ppo(lr={lr})") == 2);
  CHECK(read(log).find("lr") != std::string::npos);
}

}  // namespace berth

// What the file of a search keeps of its options, and how those of older searches are read.
#include "agents/search/cma_es.hpp"
#include "env/base/check.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/tune/tuning.hpp"

namespace berth {

TEST_CASE("tune --resume: what an older search did not say is as it was in its time") {
  const test::TemporaryFolder folder;
  const auto resumed = [&](const std::string& definition, const std::string& name) {
    search::Settings settings;
    settings.budget.generations = 1;
    settings.file = folder / "s.h5";
    settings.definition = definition;
    search::CmaEs optimiser({{1.0}, {1.0}}, 1);
    const auto flat = [](const std::vector<std::vector<double>>& points, int) {
      return search::Costs{std::vector(points.size(), std::vector<double>{1.0}), {1.0}, 0};
    };
    Run(optimiser, {1.0}, flat, settings);
    Options options("tune", "", "");
    AddTuneOptions(options);
    REQUIRE(options.Parse({"--resume", "--state", settings.file}));
    ResumeOptions(options);
    return options.Text(name);
  };
  // New policies were preemptive, and saw ObservationV1.
  const std::string hinges = "hinges=1\nscenario=log.h5\nstart=requested=1\n";
  CHECK(resumed(hinges, "encoder") == "ObservationV1");
  CHECK(resumed(hinges, "preemptive") == "true");
  CHECK(resumed(hinges + "encoder=Batch\npreemptive=false\n", "encoder") == "Batch");
  CHECK(resumed(hinges + "encoder=Batch\npreemptive=false\n", "preemptive") == "false");
  // CMA-ES had 4 candidates at least; mirrored noise has pairs, and is what searches a policy.
  CHECK(resumed(hinges + "population=1\n", "population") == "4");
  CHECK(resumed("population=3\n", "population") == "4");
  CHECK(resumed("population=6\n", "population") == "6");
  CHECK(resumed("population=0\n", "population") == "0");
  CHECK(resumed("optimiser=mirrored_noise\npopulation=2\n", "population") == "2");
  CHECK(resumed("policy=p.h5\npopulation=2\n", "population") == "2");
}

TEST_CASE("tune --state keeps what options resolved to, so that other defaults do not reach it") {
  const test::TemporaryFolder folder;
  const std::string search =
      "tune --parameters size --cluster v100=2 --jobs 20 --workloads 1 --validate 0 --seconds 0 --threads 1 ";
  const auto ran = test::Berth(folder, search + "--optimiser auto --generations 1 --state s.h5");
  CAPTURE(ran.error);
  REQUIRE(ran.code == 0);
  const std::string kept = "\n" + search::ReadDefinition(folder / "s.h5");
  for (const char* line : {"optimiser=auto", "scheduler=tuned", "reference=srpt", "window=5:15", "population=0", "seed=0"}) {
    CAPTURE(kept, line);
    CHECK(kept.find(Join("\n", line, "\n")) != std::string::npos);
  }
  for (const char* other : {"\nencoder=", "\nstate=", "\nresume=", "\ndry-run="}) CHECK(kept.find(other) == std::string::npos);
  CHECK(test::Berth(folder, search + "--optimiser auto --generations 2 --state s.h5 --resume --seed 0").code == 0);
  CHECK(test::Berth(folder, "tune --generations 2 --state s.h5 --resume --reference fcfs").code == 2);
}

}  // namespace berth

// Objectives of allocations against CBC and Clarabel, where Python has them: pip install clarabel mip scipy.
// BERTH_SOLVER_PROBLEMS says how many random problems [100].
#include <cstdlib>
#include <string>

#include "tools/solve/certified.hpp"
#include "env/base/check.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/certified_problems.hpp"
#include "tests/python.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/json.hpp"
#include "tools/output_file.hpp"

namespace berth {

TEST_CASE("objectives of allocations are those of CBC and Clarabel", "[gavel][lp]") {
  const std::string python = test::Python(BERTH_SOURCE_DIR, "clarabel, mip, numpy, scipy");
  if (python.empty()) return test::Skip("needs Python with clarabel, mip, numpy and scipy");
  const char* many = std::getenv("BERTH_SOLVER_PROBLEMS");
  const std::uint32_t rounds = many == nullptr ? 100 : static_cast<std::uint32_t>(std::stoul(many));
  std::string lines;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    const gavel::Problem problem = test::RandomProblem(round);
    Json json = {{"round", round},           {"workers", problem.workers},
                 {"gang", problem.gang},     {"weight", problem.weight},
                 {"price", problem.price},   {"remaining", problem.remaining},
                 {"since", problem.since},   {"throughput", problem.throughput}};
    for (const gavel::CertifiedObjective& objective : gavel::CertifiedObjectives()) {
      gavel::CertifiedAnswer answer;
      const char* why = "";
      INFO("round " << round << ", " << objective.name);
      const bool solved = objective.solve(problem, LpMethod::kEmbedding, answer, why);
      INFO(why);
      REQUIRE(solved);
      CHECK(answer.certificate.gap <= (objective.name == std::string("water_filling") ? 1e-4 : 1e-6));
      json["answers"][objective.name] = {{"value", answer.certificate.value}, {"x", answer.x}};
    }
    lines += json.dump() + "\n";
  }
  const test::TemporaryFolder folder;
  WriteTextFile(folder / "problems.jsonl", lines);
  const std::string command = Join("'", python, "' '", BERTH_SOURCE_DIR, "/tests/independent_solvers.py' '",
                                   (folder / "problems.jsonl"), "' > '", (folder / "said"), "' 2>&1");
  const int status = std::system(command.c_str());
  const std::string said = test::Slurp(folder / "said");
  INFO(said);
  CHECK(status == 0);
  if (many != nullptr) WARN(said);
}

}  // namespace berth

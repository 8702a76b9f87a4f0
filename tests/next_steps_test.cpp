// Every verb ends with what to type next: the last lines are "next, MEANING:" and a command of a verb that
// there is. Training and what reads a run are tests/learn's.
#include "tools/next_steps.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/verbs.hpp"

namespace berth {
namespace {

using test::Berth;
using test::TemporaryFolder;

std::set<std::string> Verbs() {
  std::set<std::string> verbs;
#define BERTH_NAME(verb, function, summary) verbs.insert(verb);
  BERTH_VERBS(BERTH_NAME)
#undef BERTH_NAME
  return verbs;
}

// The command behind the last "next, ...:" where that ends the text, without `berth `; else "".
std::string LastStep(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  if (lines.size() < 2) return "";
  const std::string &meaning = lines[lines.size() - 2], &command = lines.back();
  if (!meaning.starts_with("next, ") || !meaning.ends_with(":")) return "";
  return command.starts_with("  berth ") ? command.substr(8) : "";
}

struct Case {
  std::string arguments, next;  // the next command begins so
};

void CheckCases(const TemporaryFolder& folder, const std::vector<Case>& cases) {
  const std::set<std::string> verbs = Verbs();
  for (const Case& c : cases) {
    const test::Outcome ran = Berth(folder, c.arguments);
    CAPTURE(c.arguments, c.next, ran.out, ran.error);
    CHECK(ran.code == 0);
    const std::string step = LastStep(ran.out);
    CHECK(step.starts_with(c.next));
    CHECK(verbs.count(step.substr(0, step.find(' '))) == 1);
  }
}

}  // namespace

TEST_CASE("next steps: every verb ends with a command to type") {
  const TemporaryFolder folder;
  CheckCases(folder,
             {{"generate --workload toy --out toy.h5", "train --scenario toy.h5 --jobs 0:14 --out run"},
              {"convert --format berth toy.h5 --out t.h5", "train --scenario t.h5 "},
              {"inspect toy.h5", "evaluate --scenario toy.h5 "},
              {"inspect toy.h5 --tables tables", "convert --format table tables/jobs.csv "},
              {"simulate --scenario toy.h5 --scheduler fcfs --events e.h5", "evaluate --scenario "},
              {"inspect e.h5", "simulate --scenario "},
              {"evaluate --scenario toy.h5 --schedulers 'fcfs;las' --out e2.h5", "train --scenario "},
              {"inspect e2.h5", "evaluate --scenario "},
              {"train --dry-run --steps 2000 --out run", "train --steps 2000 --out run"},
              {"tune --scheduler tuned --generations 1 --workloads 2 --jobs 60 --window 20:40 --validate 2 "
               "--out t.ini",
               "evaluate --config t.ini"},
              {"list schedulers --name srpt,las", "evaluate --schedulers 'fcfs;srpt'"},
              {"list schedulers", "evaluate "},
              {"list gpus --name h100", "evaluate "},
              {"list signals --full", "train "},
              {"bench --list", "bench --only "},
              {"bench --only start --repeats 1 --seconds 0.1", "bench --only start/"},
              {"bench --optimality --instances 2 --schedulers fcfs",
               "bench --optimality --instances 2 --schedulers fcfs --json bench.json"},
              {"bench --optimality --instances 2 --schedulers fcfs --json b.json", "bench --list"}});
}

TEST_CASE("next steps: of a policy, the jobs of its log that its training kept back") {
  const TemporaryFolder folder;
  REQUIRE(Berth(folder, "generate --workload toy --out toy.h5").code == 0);
  const std::string file = folder / "toy.h5", trained = "scenario=" + file + "\njobs=";
  const auto next = [&](const std::string& config) { return LastStep(NextOfPolicy("p.h5", config)); };
  const std::string first = "evaluate --scenario " + file, policy = " --schedulers 'fcfs;policy(file=p.h5)'";
  CHECK(next(trained + "0:14\n") == first + " --window 14:20" + policy);
  // What the file says itself is not said again, and what it does not is.
  CHECK(next(trained + "0:14\nclock=rounds(360)\nknowledge=oracle\n") == first + " --window 14:20" + policy);
  CHECK(next(trained + "0:14\nclock=event\n") == first + " --clock event --window 14:20" + policy);
  CHECK(next(trained + "5:20\n") == first + " --window 0:5" + policy);
  CHECK(next(trained + "5:14\n") == first + " --window 14:20" + policy);
  CHECK(next(trained + "0:20\n") == first + policy);
  CHECK(next(trained + "10\npieces=0:14\n") == first + " --window 14:20" + policy);  // of tune
  CHECK(next(trained + "10\npieces=\n") == first + policy);
  CHECK_THAT(NextOfPolicy("p.h5", trained + "0:20\n"), Catch::StartsWith("next, what it is worth on the jobs that it was trained on:\n"));
  CHECK_THAT(NextOfPolicy("p.h5", trained + "5:20\n"), Catch::StartsWith("next, what it is worth on jobs that it was not trained on:\n"));
  CHECK(next(trained + "\n") == first + policy);
  CHECK(next("scenario=a.swf\nformat=swf\njobs=0:14\n") ==
        "evaluate --scenario a.swf --format swf --window 14:N" + policy);
  CHECK(next("scenario=a.swf\nformat=swf\njobs=5:14\n") ==
        "evaluate --scenario a.swf --format swf --window 0:5" + policy);
  CHECK(next("jobs=\n") == "evaluate" + policy);
}

TEST_CASE("next steps: features of a scenario file that were left out stay out") {
  const TemporaryFolder folder;
  REQUIRE(Berth(folder, "generate --workload toy --features 'failures(mtbf_h=500)' --out f.h5").code == 0);
  const auto next = [&](const std::string& features) {
    return LastStep(Berth(folder, "simulate --scenario f.h5 --scheduler fcfs --features " + features).out);
  };
  using Catch::Contains;
  CHECK_THAT(next("none"), Contains(" --features none --schedulers "));
  CHECK_THAT(next("'none;monitoring'"), Contains(" --features 'none;monitoring(interval_s=300)' "));
  // Both are named here, so that it is the same beside the file's own.
  CHECK_THAT(next("monitoring"), Contains(" --features 'failures(mtbf_h=500,") && Contains(";monitoring("));
}

TEST_CASE("next steps: a reproduction says how its figures are kept, or what else there is") {
  const TemporaryFolder folder;
  CheckCases(folder,
             {{"reproduce queueing --replications 5 --jobs 2000 --only 'M/M/1 srpt'",
               "reproduce queueing --replications 5 --jobs 2000 --only 'M/M/1 srpt' --json queueing.json"},
              {"reproduce queueing --replications 5 --jobs 2000 --only 'M/M/1 srpt' --json q.json",
               "reproduce --help"},
              {"reproduce shift --quick --estimate", "reproduce shift --quick --out shift"},
              {"reproduce shift --estimate --out kept", "reproduce shift --out kept"}});
  CHECK(LastStep(Berth(folder, "reproduce shift --help").out).empty());
  CHECK(LastStep(Berth(folder, "reproduce --help").out).empty());
}

TEST_CASE("next steps: of a reproduction, by its arguments") {
  const auto next = [](const std::string& name, const std::vector<std::string>& arguments) {
    return LastStep(NextOfReproduction(name, name == "queueing" ? "json" : "out", arguments));
  };
  CHECK(next("hpc", {}) == "reproduce hpc --out hpc");
  CHECK(next("hpc", {"--traces", "my logs"}) == "reproduce hpc --traces 'my logs' --out hpc");
  CHECK(next("gavel", {"--quick", "--out", "d"}) == "reproduce gavel --out d");
  CHECK(next("gavel", {"--out", "d"}) == "reproduce --help");
  CHECK(next("gavel", {"--set", "out=d"}) == "reproduce --help");
  CHECK(next("gavel", {"--golden", "g.json"}) == "reproduce gavel --quick --estimate");
  CHECK(next("learned", {"--dry-run", "--train", "--out", "d"}) == "reproduce learned --train --out d");
}

TEST_CASE("next steps: shards of an evaluation are merged by one command for all of them") {
  CHECK(LastStep(NextOfShard("a/r.1-of-4.h5")) == "evaluate --merge a/r.*-of-4.h5 --out a/r.h5");
  CHECK(LastStep(NextOfShard("my r.1-of-4.h5")) == "evaluate --merge 'my r'.*-of-4.h5 --out 'my r.h5'");
  CHECK(LastStep(NextOfShard("renamed.h5")) == "evaluate --merge renamed.h5 ... --out all.h5");
}

}  // namespace berth

// The berth binary on bad input: exit code 2 and exactly one line on standard error that names what is wrong.
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "data/hdf5_file.hpp"
#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/child.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/json.hpp"
#include "tools/results.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

using test::Berth;
using test::CheckOneLine;
using test::Outcome;
using test::Slurp;
using test::TemporaryFolder;

const std::string kGood = "LM (batch size 10)\t-\t-\t-\t1\t1000\t1\t1\t-1.000000\t0.000000\n";

}  // namespace

TEST_CASE("cli: generate, simulate, evaluate and inspect agree with one another") {
  const TemporaryFolder folder;
  const Outcome made = Berth(
      folder, "generate --workload 'synthetic(rate=4,jobs=20)' --cluster v100=2,k80=2 --seed 3 --out s.h5");
  CAPTURE(made.error);
  REQUIRE(made.code == 0);
  const Scenario scenario = ReadScenario(folder / "s.h5");
  CHECK(scenario.num_jobs() == 20);
  CHECK(scenario.num_gpus() == 4);
  const Outcome ran = Berth(folder, "simulate --scenario s.h5 --scheduler fcfs --json r.json --events e.h5");
  CAPTURE(ran.error);
  REQUIRE(ran.code == 0);
  const std::string json = Slurp(folder / "r.json");
  for (const char* key : {"scheduler", "knowledge", "jobs", "mean_jct_s", "p50_jct_s", "p99_jct_s",
                          "makespan_s", "utilization", "mean_slowdown", "decision_us_mean", "signature"}) {
    CAPTURE(key, json);
    CHECK(json.find(Join('"', key, '"')) != std::string::npos);
  }
  CHECK(h5::KindOf(folder / "e.h5") == "events");
  CHECK(Berth(folder, "inspect s.h5").code == 0);
  CHECK(Berth(folder, "inspect e.h5").code == 0);
  const Outcome compared = Berth(folder, "evaluate --scenario s.h5 --schedulers 'fcfs;fcfs' --json c.json");
  CHECK(compared.code == 0);
  // The first of those that are equal is named, with its figure: in hours what the run alone has in seconds.
  const double mean_h = nlohmann::json::parse(json)["mean_jct_s"].get<double>() / 3600.0;
  CAPTURE(compared.out);
  CHECK(compared.out.find(Join("\nleast mean JCT: fcfs with ", Fixed(mean_h, 2), " h")) != std::string::npos);
  CHECK(Berth(folder, "inspect s.h5 --json i.json").code == 0);
  CHECK(Berth(folder, "list schedulers --json l.json").code == 0);
  for (const char* file : {"r.json", "c.json", "i.json", "l.json"}) {
    CAPTURE(file);
    CHECK(Slurp(folder / file).find("\"config\"") != std::string::npos);
  }
}

TEST_CASE("cli: evaluate all runs what can run, grouped by knowledge, and names the others") {
  const TemporaryFolder folder;
  const Outcome ran =
      Berth(folder,
            "evaluate --workload 'synthetic(rate=4,jobs=12)' --cluster v100=2,p100=2 --knowledge "
            "blind --seeds 1:3 --schedulers 'las;all' --json all.json");
  CAPTURE(ran.error, ran.out);
  REQUIRE(ran.code == 0);
  const Json json = Json::parse(Slurp(folder / "all.json"));
  std::vector<std::string> names, knowledge, refused;
  for (const Json& row : json["schedulers"]) {
    names.push_back(row["scheduler"].get<std::string>());
    knowledge.push_back(row["knowledge"].get<std::string>());
  }
  for (const Json& row : json["refused"]) refused.push_back(row["scheduler"].get<std::string>());
  const auto has = [](const std::vector<std::string>& list, const char* name) {
    return std::count(list.begin(), list.end(), name) == 1;
  };
  CHECK(names.front() == "las");
  CHECK(std::is_sorted(knowledge.begin() + 1, knowledge.end(), std::greater<>()));  // none, then blind
  CHECK(knowledge[1] == "none");
  CHECK(knowledge.back() == "blind");
  for (const char* name : {"fcfs", "las", "tiresias", "gandiva"}) CHECK(has(names, name));
  for (const char* name : {"srpt", "milp", "policy"}) CHECK(has(refused, name));
  std::size_t registered = 0;
  for (const SchedulerTable& table : AllSchedulers()) registered += table.size();
  CHECK(names.size() + refused.size() == registered);
  CHECK(ran.out.find("srpt is left out: scheduler 'srpt' needs knowledge 'estimate', the scenario grants "
                     "'blind'\n") != std::string::npos);
}

TEST_CASE("cli: workloads may take turns of clusters of any number of GPU types") {
  const TemporaryFolder folder;
  const std::string mixed =
      "--workload 'mix(of=on(cluster=v100=2+p100=2,of=synthetic(rate=0.5,jobs=20));"
      "on(cluster=v100=4,of=synthetic(rate=0.5,jobs=20,gangs=1:0.8/2:0.2)))' ";
  const Outcome ran =
      Berth(folder, Join("evaluate ", mixed, "--schedulers 'fcfs;srpt' --seeds 1:4 --json e.json"));
  CAPTURE(ran.error, ran.out);
  REQUIRE(ran.code == 0);
  CHECK(Json::parse(Slurp(folder / "e.json"))["schedulers"].size() == 2);
  const Outcome tuned =
      Berth(folder, Join("tune ", mixed,
                         "--scheduler tuned --parameters slow --generations 1 --workloads 2 "
                         "--jobs 30 --window 5:25 --validate 2 --out t.ini"));
  CAPTURE(tuned.error, tuned.out);
  CHECK(tuned.code == 0);
}

TEST_CASE("cli: list names sources, and the reference's name of each objective or '-' where it has none") {
  const TemporaryFolder folder;
  const std::string brief = Berth(folder, "list schedulers").out;
  std::size_t registered = 4;  // and what follows the list
  for (const SchedulerTable& table : AllSchedulers()) registered += table.size();
  CHECK(std::count(brief.begin(), brief.end(), '\n') <= static_cast<std::ptrdiff_t>(registered));
  CHECK(Berth(folder, "list schedulers --name easy,srpt").out.rfind("easy: ", 0) == 0);
  const std::string schedulers = Berth(folder, "list schedulers --full").out;
  CAPTURE(schedulers);
  const auto has = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  CHECK(has(schedulers, "max_min_fairness_perf (objective=max_min)"));
  CHECK(has(schedulers, "max_min_fairness (objective=max_min,aware=false)"));
  const std::string fcfs = schedulers.substr(schedulers.find("fcfs:"));
  CHECK(has(fcfs.substr(0, fcfs.find("\npriority:")), "    reference: -\n"));
  // Every row of every list that needs no LibTorch says where it is from: rows start at the margin.
  for (const char* kind : {"schedulers", "encoders", "rewards", "formats", "workloads"}) {
    std::string rows = Join("\n", Berth(folder, Join("list ", kind, " --full")).out);
    rows.resize(rows.find("\nnext, ") + 1);  // what follows the list
    CAPTURE(rows);
    int named = 0, sourced = 0;
    for (std::size_t at = rows.find('\n'); at + 1 < rows.size(); at = rows.find('\n', at + 1)) {
      named += rows[at + 1] != ' ';
      sourced += rows.compare(at + 1, 12, "    source: ") == 0 && rows.compare(at + 13, 2, "-\n") != 0;
    }
    CHECK(named > 0);
    CHECK(sourced == named);
  }
}

TEST_CASE("cli: a wrong word on the command line ends with one line and code 2") {
  const TemporaryFolder folder;
  REQUIRE(Berth(folder, "generate --workload 'synthetic(jobs=10)' --cluster v100=2 --out s.h5").code == 0);
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"simulat --scenario s.h5", "did you mean 'simulate'"},
      {"simulate --scenario s.h5 --scheduler fcsf", "did you mean 'fcfs'"},
      {"simulate --scenario s.h5 --scheduler 'gavel(objectiv=max_min)'", "did you mean 'objective'"},
      {"simulate --scenario s.h5 --scheduler 'gavel(objective=max_mim)'", "did you mean 'max_min'"},
      {"simulate --scenario s.h5 --scheduler 'fcfs(a=1'", "parenthesis"},
      {"simulate --scenario s.h5 --schedular fcfs", "(did you mean '--scheduler'?)"},
      {"evaluate --sheduler fcfs", "(did you mean '--schedulers'?)"},
      {"simulate --scenario none.h5 --scheduler fcfs", "none.h5"},
      {"simulate --scenario s.h5 --scheduler fcfs --clock roundz", "clock"},
      {"simulate --scenario s.h5 --scheduler srpt --knowledge none", "knowledge"},
      {"evaluate --scenario s.h5 --schedulers fcfs --window 5:99", "window"},
      {"evaluate --schedulers fcfs --workload 'synthetic(rate=-1)'", "rate"},
      {"evaluate --schedulers fcfs --workload 'synthetic(gangs=1:0.8/2)'", "found '1:0.8/2'"},
      {"evaluate --schedulers fcfs --workload 'synthetic(gangs=1:0.8/3:0.2)'", "found '3:0.2'"},
      {"evaluate --schedulers fcfs --workload 'synthetic(gangs=1:0.8/2:0.1)'", "probabilities of sum 0.9"},
      {"evaluate --schedulers fcfs --workload 'synthetic(gangs=1:-0.5/2:1)'", "found '1:-0.5'"},
      {"evaluate --schedulers fcfs --workload 'on(cluster=v10=4)'", "did you mean 'v100'"},
      {"evaluate --schedulers fcfs --seeds 5:2", "seeds"},
      {"evaluate --scenario s.h5 --schedulers 'sjf(semantics=commit);saf(semantics=redecide)'",
       "one decision semantics"},
      {"evaluate --scenario s.h5 --schedulers 'guard(policy=sjf(semantics=commit));saf(semantics=redecide)'",
       "one decision semantics"},
      {"generate --workload syntetic --out x.h5", "did you mean 'synthetic'"},
      {"evaluate --scenario s.h5 --schedulers 'pools(pools=a:v100: sjf(semantics=commit)|b:k80:fcfs);"
       "saf(semantics=redecide)'",
       "one decision semantics"},
      {"generate --cluster v10=3 --out x.h5", "did you mean 'v100'"},
      {"generate --cluster H100=8 --out x.h5", "did you mean 'h100'"},
      {"generate --cluster mine.tml --out x.h5", "the name of a file ends in .toml"},
      {"generate --cluster v100=-3 --out x.h5", "v100"},
      {"generate --out no/such/folder/x.h5", "no/such/folder/x.h5"},
      {"simulate --scenario s.h5 --scheduler fcfs --json no/such/r.json", "no/such/r.json"},
      {"simulate --scenario s.h5 --scheduler fcfs --events no/such/e.h5", "no/such/e.h5"},
      {"simulate --scenario s.h5 --scheduler 'policy(file=none.h5)'", "none.h5"},
      {"inspect none.h5", "none.h5"},
      {"list schedulerz", "did you mean 'schedulers'"},
      {"list schedulers --name strp", "did you mean 'srpt'"},
      {"simulate --config none.ini", "none.ini"},
  };
  for (const auto& [arguments, expected] : cases) {
    CAPTURE(arguments);
    CheckOneLine(Berth(folder, arguments), expected);
  }
}

TEST_CASE("cli: a malformed file ends with one line and code 2, and what was written before stays") {
  const TemporaryFolder folder;
  const std::string convert = "convert --format gavel t.trace --cluster v100=2,k80=2 --out s.h5";
  std::ofstream(folder / "t.trace") << kGood;
  REQUIRE(Berth(folder, convert).code == 0);
  const std::string before = Slurp(folder / "s.h5");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {kGood + "LM (batch size 10)\t1\n", "t.trace:2"},
      {"LM (batch size 11)" + kGood.substr(kGood.find('\t')), "did you mean 'LM (batch size 10)'"},
      {kGood + "LM (batch size 10)\t-\t-\t-\t1\t1000\t8\t1\t-1\t1\n",
       "t.trace:2: a gang of 8 GPUs is larger"},
      {"LM (batch size 10)\t-\t-\t-\t1\t1000\t1\t1\t-1\t-5\n", "t.trace:1: arrival"},
      {"LM (batch size 10)\t-\t-\t-\t1\t1000\t1\t1\t-1\tnan\n", "t.trace:1: arrival_time"},
      {"", "t.trace"},
  };
  for (const auto& [text, expected] : cases) {
    CAPTURE(text);
    std::ofstream(folder / "t.trace") << text;
    CheckOneLine(Berth(folder, convert), expected);
    CHECK(Slurp(folder / "s.h5") == before);
  }
  std::ofstream(folder / "cut.h5", std::ios::binary) << before.substr(0, before.size() / 2);
  CheckOneLine(Berth(folder, "simulate --scenario cut.h5 --scheduler fcfs"), "cut.h5");
  std::ofstream(folder / "text.h5") << "not HDF5\n";
  CheckOneLine(Berth(folder, "simulate --scenario text.h5 --scheduler fcfs"), "text.h5");
  CheckOneLine(Berth(folder, "simulate --scenario s.h5 --scheduler 'policy(file=s.h5)'"), "s.h5");
  std::ofstream(folder / "c.ini") << "schedulr = fcfs\n";
  CheckOneLine(Berth(folder, "simulate --config c.ini --scenario s.h5"), "schedul");
}

TEST_CASE("cli: no space is one line and code 2, and the old file stays") {
  const TemporaryFolder folder;
  REQUIRE(Berth(folder, "generate --workload 'toy(jobs=5)' --cluster v100=2 --out s.h5").code == 0);
  const std::string before = Slurp(folder / "s.h5");
  // A file-size limit of 8 KiB stands in for the full disk: SIGXFSZ ignored, the write fails with EFBIG.
  const std::string command =
      "cd '" + folder.path() +
      "' && trap '' XFSZ && ulimit -f 8 && '" BERTH_BINARY
      "' generate --workload 'synthetic(jobs=2000)' --cluster v100=2 --out s.h5 2>error.txt";
  const int status = std::system(("bash -c \"" + command + "\"").c_str());
  CheckOneLine({WEXITSTATUS(status), "", Slurp(folder / "error.txt")}, "s.h5");
  CHECK(Slurp(folder / "s.h5") == before);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    CHECK(entry.path().string().find(".tmp") == std::string::npos);
  }
}

TEST_CASE("cli: what is written is none of the files that are read or written beside it") {
  const TemporaryFolder folder;
  REQUIRE(Berth(folder, "generate --workload 'toy(jobs=5)' --cluster v100=2 --out s.h5").code == 0);
  const std::string before = Slurp(folder / "s.h5");
  CheckOneLine(Berth(folder, "evaluate --scenario s.h5 --schedulers fcfs --out ./s.h5"), "--scenario");
  CheckOneLine(Berth(folder, "simulate --scenario s.h5 --json s.h5"), "s.h5 for both");
  CheckOneLine(Berth(folder, "simulate --scenario s.h5 --json a --events a"), "another file than");
  CHECK(Slurp(folder / "s.h5") == before);
  CheckOneLine(Berth(folder, "simulate --scenario ''"), "--scenario: expected a file's name, found nothing");
  CheckOneLine(Berth(folder, "simulate --scenario s.h5 --json ''"), "--json: expected a file's name");
  CheckOneLine(Berth(folder, "simulate --scenario s.h5 --config ."), ".: expected a file, found a directory");
  CHECK(Berth(folder, "simulate --scenario s.h5 --json /dev/null --events e.h5").code == 0);
  REQUIRE(Berth(folder, "progress 3 --job 7 --folder .").code == 0);
  const std::string steps = Slurp(folder / "7");
  CheckOneLine(Berth(folder, "progress 4 --job 7 --folder . --json 7"), "another file than");
  CHECK(Slurp(folder / "7") == steps);
  std::ofstream(folder / "g.json") << "{}";
  CheckOneLine(Berth(folder, "reproduce gavel --golden g.json --json g.json"), "g.json for both");
}

// Results name it, and their writers take text alone.
TEST_CASE("cli: a file's name that is no UTF-8 is refused before anything is done") {
  const TemporaryFolder folder;
  CheckOneLine(Berth(folder, "simulate --workload toy --events caf\xe9.h5 --json r.json"),
               "--events: expected UTF-8, found 0xe9 as byte 4");
  CheckOneLine(Berth(folder, "evaluate --workload toy --schedulers fcfs srpt '\xe9'"), "--schedulers: expected UTF-8");
  CheckOneLine(Berth(folder, "simulate --set workload=caf\xe9"), "--set workload: expected UTF-8");
  CHECK_FALSE(std::filesystem::exists(folder / "caf\xe9.h5"));
}

TEST_CASE("cli: an option's text that is wrong is named with its option") {
  const TemporaryFolder folder;
  CheckOneLine(Berth(folder, "simulate --scheduler fcsf"),
               "--scheduler: unknown scheduler 'fcsf' (did you mean 'fcfs'");
  CheckOneLine(Berth(folder, "evaluate --schedulers 'fcfs;srtp'"), "--schedulers: unknown scheduler 'srtp'");
  CheckOneLine(Berth(folder, "simulate --clock 'rounds(1e-300)'"),
               "--clock: clock rounds(1e-300): expected a round");
  CheckOneLine(Berth(folder, "simulate --cluster v100=2147483647"),
               "berth simulate: --cluster: v100: expected a count of 1 to");
  CheckOneLine(Berth(folder, "simulate --cluster ''"), "--cluster: expected TYPE=COUNT,..., found nothing");
  CheckOneLine(Berth(folder, "simulate --cluster v10=2"), "--cluster: unknown GPU type 'v10'");
  CheckOneLine(Berth(folder, "simulate --cluster foo-1=4"),
               "'foo-1'; types of your own stand in a file: --cluster cluster.toml");
  CheckOneLine(Berth(folder, "simulate --workload 'synthetic(table=modern)'"),
               "or another cluster, as --cluster a100=8");
  CheckOneLine(Berth(folder, "simulate --clock rouds"), "berth simulate: --clock: expected event, rounds");
  CheckOneLine(Berth(folder, "simulate --knowledge orcale"), "--knowledge: expected none, blind");
  CheckOneLine(Berth(folder, "simulate --workload toy --json /dev/full"), "--json: /dev/full: cannot be written");
  CheckOneLine(Berth(folder, "simulate --knowledge orcale"), "--knowledge: ");
  CheckOneLine(Berth(folder, "simulate extra words"), "found more words");
  CheckOneLine(Berth(folder, "simulate --seed --json x.json"),
               "--seed: expected a value, found the option --json");
  CheckOneLine(Berth(folder, "simulate --json"), "--json: expected a value, found none");
  CheckOneLine(Berth(folder, "train --reward jtc --out run"), "--reward: reward 'jtc': unknown term 'jtc'");
  std::ofstream(folder / "run.ini") << "steps=1000\n  no assignment\n";
  CheckOneLine(Berth(folder, "train --config run.ini --out run"),
               "run.ini:2: expected option=value, found 'no assignment'");
  std::ofstream(folder / "log.swf") << "; MaxProcs: 4\n";
  CheckOneLine(Berth(folder, "simulate --scenario log.swf"), "if it is a log: --format");
  std::ofstream(folder / "a.h5") << "";
  CheckOneLine(Berth(folder, "inspect ."), "expected a file, found the folder .; in it: ./a.h5");
  CheckOneLine(Berth(folder, "evaluate --knowledge blind --schedulers 'fcfs;srpt' --seeds 0:1"),
               "'srpt' needs knowledge");
}

// The version alone, of a file whose content is whole: found where the same file of version 2 differs.
TEST_CASE("cli: inspect of a file whose version was changed names that version and none that there is not") {
  const TemporaryFolder folder;
  for (const int version : {1, 2}) {
    h5::Writer out(folder / Join("v", version, ".h5"), "events", version);
    out.Text("scheduler", "fcfs");
    out.Commit();
  }
  std::string bytes = Slurp(folder / "v1.h5");
  const std::string other = Slurp(folder / "v2.h5");
  REQUIRE(bytes.size() == other.size());
  std::size_t at = bytes.find("berth_version");
  while (at < bytes.size() && !(bytes[at] == 1 && other[at] == 2)) ++at;
  REQUIRE(at < bytes.size());
  bytes[at] = 2;
  std::ofstream(folder / "raised.h5", std::ios::binary) << bytes;
  const Outcome raised = Berth(folder, "inspect raised.h5");
  CheckOneLine(raised,
               "raised.h5: the content does not match its hash: the file was changed or damaged (format "
               "version 2 of 'events', written by Berth ");
  CHECK(raised.error.find("2147483647") == std::string::npos);
  CHECK(Berth(folder, "inspect v2.h5").code == 0);  // another version, whole
}

// Each would take hours and more memory than there is, and say nothing meanwhile.
TEST_CASE("cli: what no machine can hold is refused before it is made") {
  const TemporaryFolder folder;
  CheckOneLine(Berth(folder, "evaluate --seeds 0:99999999999999"),
               "--seeds: expected at most 10000 workloads, found 99999999999999");
  CheckOneLine(Berth(folder, "evaluate --seeds 0:9999 --workload 'synthetic(jobs=20000)' --schedulers fcfs"),
               "--seeds: expected at most 100000000 jobs in all, found 9999 workloads of 20000");
  CheckOneLine(
      Berth(folder, "train --visible 65536 --envs 4096 --out run"),
      "--visible, --envs: expected observations of at most 268435456 numbers in all, found 4096 of ");
  CHECK_FALSE(std::filesystem::exists(folder / "run"));
  const Outcome most =
      Berth(folder, "train --encoder ObservationV1 --visible 128 --envs 65536 --out run --dry-run");
  CAPTURE(most.error);
  CHECK(most.code == 0);
}

TEST_CASE("cli: a GPU that is asked for and absent is refused before anything is written") {
  if (!test::HaveLearners())
    return test::Skip("needs libberth_learn.so beside the binary (target berth_learn)");
  if (std::filesystem::exists("/proc/driver/nvidia/version")) return test::Skip("there is a driver for GPUs");
  const TemporaryFolder folder;
  const Outcome outcome = Berth(folder, "train --visible 8 --device cuda --steps 100 --out run");
  CheckOneLine(outcome, "--device cuda: expected a CUDA GPU, found none; driver: none");
  CHECK(outcome.out == "");
  CHECK_FALSE(std::filesystem::exists(folder / "run"));
}

}  // namespace berth

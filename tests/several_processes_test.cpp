// `berth train` as two processes that meet over TCP and Gloo on this machine: the losses of one process with
// the joined batch, lost and hung ranks, and what the variables may not say. Every wait has an end.
#include <signal.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "env/base/check.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/child.hpp"
#include "tests/free_port.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

using Catch::Matchers::Contains;
using test::HaveLearners;
using test::Slurp;
using test::Start;
using test::TemporaryFolder;
using test::Variables;
using test::Wait;

const std::vector<std::string> kTrain = {"train",
                                         "--workload",
                                         "synthetic(rate=1.8,jobs=60)",
                                         "--cluster",
                                         "v100=2,k80=2",
                                         "--agent",
                                         "ppo(n_steps=32,minibatch=48,epochs=2,lr_schedule=constant)",
                                         "--network",
                                         "mlp(hidden=16)",
                                         "--visible",
                                         "8",
                                         "--episode-jobs",
                                         "12",
                                         "--warmup-jobs",
                                         "4",
                                         "--envs",
                                         "4",
                                         "--threads",
                                         "1",
                                         "--seed",
                                         "3",
                                         "--device",
                                         "cpu"};

std::vector<std::string> With(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

Variables RankOf(int rank, int size, int port) {
  return {{"RANK", std::to_string(rank)},
          {"WORLD_SIZE", std::to_string(size)},
          {"MASTER_ADDR", "127.0.0.1"},
          {"MASTER_PORT", std::to_string(port)}};
}

// Two ranks, each in a folder of its own for what it prints.
struct Pair {
  explicit Pair(const std::vector<std::string>& words) {
    const int port = test::FreePort();
    child[1] = Start(folder[1], words, RankOf(1, 2, port));
    child[0] = Start(folder[0], words, RankOf(0, 2, port));
  }
  ~Pair() {
    for (const pid_t pid : child) {
      if (pid > 0) kill(pid, SIGKILL), Wait(pid);
    }
  }
  int WaitFor(int rank) {
    const int code = Wait(child[rank]);
    child[rank] = -1;
    return code;
  }
  std::string Said(int rank) const { return Slurp(folder[rank] / "error.txt"); }
  TemporaryFolder folder[2];
  pid_t child[2];
};

// Whether this build can train with several processes: it says so before it looks for others.
bool HaveGloo() {
  static const bool have = [] {
    const TemporaryFolder folder;
    Wait(Start(folder, With(kTrain, {"--out", "run", "--dist-timeout", "0.1"}),
               RankOf(1, 2, test::FreePort())));
    return Slurp(folder / "error.txt").find("no Gloo") == std::string::npos;
  }();
  return have;
}

std::string Missing() {
  if (!HaveLearners()) return "needs libberth_learn.so beside the binary (target berth_learn)";
  return HaveGloo() ? "" : "needs libgloo-dev when it is built (tools/setup)";
}

// Name and value of the last row.
std::map<std::string, double> LastProgress(const std::string& run) {
  std::istringstream in(Slurp(run + "/progress.csv"));
  std::string names, line, last;
  std::getline(in, names);
  while (std::getline(in, line)) last = line;
  std::map<std::string, double> row;
  std::istringstream name(names), value(last);
  for (std::string n, v; std::getline(name, n, ',') && std::getline(value, v, ',');)
    row.emplace(n, v == "nan" || v.empty() ? std::nan("") : std::stod(v));
  return row;
}

std::string OneLine(const std::string& text) {
  CHECK(std::count(text.begin(), text.end(), '\n') == 1);
  return text;
}

bool WaitUntil(const std::function<bool()>& reached) {
  for (int tenths = 0; tenths < 600 && !reached(); ++tenths)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  return reached();
}

long long Lines(const std::string& path) {
  const std::string text = Slurp(path);
  return std::count(text.begin(), text.end(), '\n');
}

}  // namespace

TEST_CASE("several processes: two have the losses of one with the joined batch") {
  if (const std::string missing = Missing(); !missing.empty()) return test::Skip(missing);
  const TemporaryFolder folder;
  const std::string one = folder / "one", two = folder / "two";
  REQUIRE(Wait(Start(folder, With(kTrain, {"--steps", "512", "--members", "2", "--out", one}))) == 0);
  Pair pair(With(kTrain, {"--steps", "512", "--members", "2", "--out", two, "--dist-timeout", "60", "--json",
                          "result.json"}));
  const int codes[] = {pair.WaitFor(0), pair.WaitFor(1)};
  CAPTURE(pair.Said(0), pair.Said(1));
  REQUIRE(codes[0] == 0);
  REQUIRE(codes[1] == 0);
  CHECK(Slurp(pair.folder[1] / "out.txt").empty());  // rank 0 alone prints and writes
  CHECK(Slurp(pair.folder[1] / "result.json").empty());
  CHECK_THAT(Slurp(pair.folder[0] / "out.txt"), Contains("2 processes") && Contains("trained 512 steps"));
  // One alone validates too, which several do when they are told to.
  const auto alone = LastProgress(one), joined = LastProgress(two);
  int losses = 0;
  for (const auto& [name, value] : alone) {
    if (name.rfind("losses/", 0) != 0) continue;
    REQUIRE(joined.count(name) == 1);
    CAPTURE(name, value, joined.at(name));
    CHECK(std::abs(value - joined.at(name)) <= 1e-5 * std::max(1.0, std::abs(value)));
    ++losses;
  }
  CHECK(losses >= 10);
}

TEST_CASE("several processes: a killed or hung rank is named by the other, and the checkpoint is kept") {
  if (const std::string missing = Missing(); !missing.empty()) return test::Skip(missing);
  const TemporaryFolder folder;
  const std::string run = folder / "run", progress = run + "/progress.csv";
  REQUIRE(Wait(Start(folder, With(kTrain, {"--steps", "256", "--out", run}))) == 0);  // two go on from one
  const std::string kept = Slurp(run + "/checkpoint.h5");
  for (const int with : {SIGKILL, SIGSTOP}) {
    CAPTURE(with);
    const long long before = Lines(progress);
    Pair pair({"train", "--resume", "--out", run, "--steps", "1000000000", "--dist-timeout", "15"});
    REQUIRE(WaitUntil([&] { return Lines(progress) > before; }));
    kill(pair.child[1], with);
    CHECK(pair.WaitFor(0) == 130);
    const std::string said = OneLine(pair.Said(0));
    CHECK_THAT(said, Contains("rank 1 is lost: no sign of life") &&
                         Contains("/run/checkpoint.h5 holds step 256") && Contains("train --resume --out"));
    CHECK(Slurp(run + "/checkpoint.h5") == kept);
  }
  CHECK(Wait(Start(folder, {"train", "--resume", "--out", run, "--steps", "384"})) == 0);
}

TEST_CASE("several processes: a rank that never comes is named") {
  if (const std::string missing = Missing(); !missing.empty()) return test::Skip(missing);
  const TemporaryFolder folder;
  const auto words = With(kTrain, {"--steps", "256", "--out", "run", "--dist-timeout", "0.5"});
  CHECK(Wait(Start(folder, words, RankOf(0, 2, test::FreePort()))) == 2);
  CHECK_THAT(OneLine(Slurp(folder / "error.txt")),
             Contains("within 0.5 s (--dist-timeout), found that rank 1 has not come"));
}

TEST_CASE("several processes: variables that cannot be are refused by name") {
  struct Case {
    Variables variables;
    const char* expected;
  };
  const Case cases[] = {
      {{{"WORLD_SIZE", "4"}}, "RANK: expected 0 to 3, since WORLD_SIZE is 4, found none"},
      {{{"RANK", "1"}}, "WORLD_SIZE: expected the number of processes, since RANK is 1, found none"},
      {{{"RANK", "4"}, {"WORLD_SIZE", "4"}}, "RANK: expected 0 to 3, since WORLD_SIZE is 4, found 4"},
      {{{"RANK", "one"}, {"WORLD_SIZE", "4"}},
       "RANK: expected a whole number from 0 to 1048576, found 'one'"},
      {{{"RANK", "0"}, {"WORLD_SIZE", "2"}},
       "MASTER_ADDR: expected the host of rank 0, since WORLD_SIZE is 2, found none"},
      {{{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "h"}},
       "MASTER_PORT: expected a free port of that host"},
      {{{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "h"}, {"MASTER_PORT", "99999"}},
       "MASTER_PORT: expected a whole number from 1 to 65535, found '99999'"},
      {RankOf(0, 9, 1234), "--envs: expected at least one for each of 9 processes (WORLD_SIZE), found 4"},
  };
  const TemporaryFolder folder;
  for (const Case& c : cases) {
    CHECK(Wait(Start(folder, With(kTrain, {"--out", "run"}), c.variables)) == 2);
    CHECK_THAT(OneLine(Slurp(folder / "error.txt")), Contains(c.expected));
  }
}

}  // namespace berth

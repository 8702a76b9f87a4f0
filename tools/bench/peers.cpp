#include "tools/bench/peers.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "agents/tasks/classic_control.hpp"
#include "env/base/check.hpp"
#include "tools/bench/bench_rows.hpp"
#include "tools/bench/child.hpp"
#include "tools/bench/measure.hpp"
#include "tools/bench/runner.hpp"
#include "tools/bench/train_work.hpp"
#include "tools/bench/work.hpp"
#include "tools/output_file.hpp"
#include "tools/progress.hpp"
#include "tools/table.hpp"

namespace berth::bench {
namespace {

// Environments alone, without a learner, beside the programs that step those of other libraries.
struct PeerEnvironment {
  const char* name;
  const char* what;
  const char* unit;     // of both sides
  const char* program;  // in the folder of the peers' programs
  double (*ours)(int repeat);
  double (*theirs)(const std::string& output);  // of the program; throws Error where it holds no figure
};

constexpr double kSeconds = 2.0;  // of one repeat, as bench_envpool.py

// Every number that stands behind `key`.
std::vector<double> NumbersAfter(const std::string& output, const std::string& key) {
  std::vector<double> numbers;
  for (std::size_t at = output.find(key); at != std::string::npos; at = output.find(key, at + 1))
    numbers.push_back(std::strtod(output.c_str() + at + key.size(), nullptr));
  if (numbers.empty()) throw Error(Join("expected a line with '", key, "', found '", output, "'"));
  return numbers;
}

// EnvPool states wall time alone, so ours is by wall time too.
double StepCartPole(int repeat) {
  CartPole env(/*num_envs=*/64, /*gamma=*/0.99, static_cast<std::uint64_t>(repeat));
  RandomActor actor(env);
  actor.Step(1000);
  std::int64_t steps = 0;
  const double begin = WallSeconds();
  while (WallSeconds() < begin + kSeconds) steps += actor.Step(1000);
  return static_cast<double>(steps) / (WallSeconds() - begin);
}

double EnvPoolRate(const std::string& output) {
  const std::size_t at = output.find("num_envs=64 batch=64 threads=1:");
  if (at == std::string::npos)
    throw Error(Join("expected a line 'num_envs=64 batch=64 threads=1: ...', found '", output, "'"));
  return NumbersAfter(output.substr(at), "median ").front();
}

double StepCluster(int) {
  const auto env = DefaultEnv(/*num_envs=*/256, /*threads=*/1);
  RandomActor actor(*env);
  return RatesPerCpuSecond(kSeconds, 1, [&] { return actor.Step(64); }).front();
}

double JumanjiRate(const std::string& output) {
  return SpreadOf(NumbersAfter(output, "'steps_per_cpu_s': ")).median;
}

constexpr PeerEnvironment kEnvironments[] = {
    {"env_cartpole", "CartPole-v1 alone, 64 environments on one thread, wall time: EnvPool", "steps/s",
     "bench_envpool.py", StepCartPole, EnvPoolRate},
    {"env_scheduling",
     "256 scheduling environments alone, random legal actions: ours on the default workload with Q=32, "
     "Jumanji's "
     "JobShop on 20 jobs and 10 machines",
     "steps/CPU-s", "bench_jumanji.py", StepCluster, JumanjiRate},
};

constexpr const char* kTrainer = "bench_sb3.py";
constexpr double kInstallLimit = 3600.0, kRunLimit = 1800.0;  // s of wall time

std::string Slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

void MustRun(const std::vector<std::string>& command, const char* what) {
  const ChildResult result = RunCommand(command, kInstallLimit, /*quiet=*/false);
  if (result.failure.empty() && result.exit_code == 0) return;
  throw Error(Join(what, " failed: ", result.failure.empty() ? result.text : result.failure));
}

// The stamp holds what was installed: other packages install again, the same never.
void Install(const PeersSetup& setup) {
  const std::string stamp = setup.venv + "/berth-peers", wanted = Slurp(setup.packages);
  if (wanted.empty()) throw Error(Join("cannot read ", setup.packages));
  if (Slurp(stamp) == wanted) return;
  Progress progress("peers");
  progress.Update(0.0, Join("installing packages in ", setup.venv, " (about 3 GB to fetch)"));
  const std::string python = setup.venv + "/bin/python";
  if (!std::filesystem::exists(python))
    MustRun({"/usr/bin/env", "python3", "-m", "venv", setup.venv}, "python3 -m venv");
  MustRun({python, "-m", "pip", "--disable-pip-version-check", "install", "--no-input", "--quiet", "-r",
           setup.packages},
          "pip install");
  WriteTextFile(stamp, wanted);
}

// One program of the peers; its standard output.
std::string RunPeer(const PeersSetup& setup, const std::string& program,
                    const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {setup.venv + "/bin/python", setup.programs + "/" + program};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const ChildResult result =
      RunCommand(command, kRunLimit, /*quiet=*/false,
                 {{"OMP_NUM_THREADS", "1"}, {"PYTHONDONTWRITEBYTECODE", "1"}, {"JAX_PLATFORMS", "cpu"}});
  if (!result.failure.empty() || result.exit_code != 0) {
    throw Error(Join(program, ": ",
                     result.failure.empty() ? Join("ended with code ", result.exit_code) : result.failure));
  }
  return result.text;
}

double TrainTheirs(const PeersSetup& setup, const TrainCase& of, std::int64_t steps, int repeat) {
  std::istringstream words(of.peer);
  std::vector<std::string> arguments(std::istream_iterator<std::string>(words), {});
  for (const std::string& word :
       {std::string("--steps"), std::to_string(steps), std::string("--threads"), std::string("1"),
        std::string("--repeats"), std::string("1"), std::string("--seed"), std::to_string(repeat)})
    arguments.push_back(word);
  const std::string text = RunPeer(setup, kTrainer, arguments);
  const Json json = Json::parse(text.substr(0, text.find('\n')), nullptr, false);
  if (!json.is_object() || !json.contains("sps_cpu"))
    throw Error(Join(kTrainer, ": expected a line of JSON with sps_cpu, found '", text, "'"));
  return json.at("sps_cpu");
}

double Ours(const std::function<double()>& measure) {
  const ChildResult result = RunInChild([&] { return Json(measure()).dump(); }, kRunLimit);
  if (!result.failure.empty()) throw Error(Join("ours: ", result.failure));
  return Json::parse(result.text);
}

// What is measured in turn.
struct PeerCase {
  std::string name, what, unit, program;
  double target;
  std::function<double(int repeat)> ours, theirs;
};

std::vector<PeerCase> AllCases(const PeersSetup& setup) {
  std::vector<PeerCase> cases;
  for (const TrainCase& of : TrainCases()) {
    const auto steps =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(of.steps) * setup.share));
    cases.push_back({of.name, of.what, "steps/CPU-s", kTrainer, of.peer_target,
                     [&of, steps](int repeat) {
                       const BenchTrainOutcome outcome =
                           Train(of, steps, 1, static_cast<std::uint64_t>(repeat));
                       return static_cast<double>(outcome.steps) / outcome.cpu_s;
                     },
                     [&of, &setup, steps](int repeat) { return TrainTheirs(setup, of, steps, repeat); }});
  }
  for (const PeerEnvironment& of : kEnvironments) {
    cases.push_back({of.name, of.what, of.unit, of.program, /*target=*/0.0, of.ours,
                     [&of, &setup](int) { return of.theirs(RunPeer(setup, of.program, {})); }});
  }
  return cases;
}

std::vector<PeerCase> Chosen(const PeersSetup& setup) {
  const std::vector<PeerCase> cases = AllCases(setup);
  std::vector<std::string> names;
  for (const PeerCase& of : cases) names.push_back(of.name);
  std::vector<PeerCase> chosen;
  for (const std::size_t i : Choose(names, setup.only, "--peers-only")) chosen.push_back(cases[i]);
  for (const PeerCase& of : chosen) {
    if (!std::filesystem::exists(setup.programs + "/" + of.program))
      throw Error(
          Join("--peers: expected a folder that holds ", of.program, ", found '", setup.programs, "'"));
  }
  return chosen;
}

}  // namespace

std::vector<PeerReport> MeasurePeers(const PeersSetup& setup) {
  const std::vector<PeerCase> cases = Chosen(setup);
  Install(setup);
  std::vector<PeerReport> reports;
  Progress progress("peers");
  const double all = static_cast<double>(cases.size()) * setup.repeats;
  for (const PeerCase& of : cases) {
    PeerReport report{of.name, of.what, of.unit, of.target, {}, {}, {}, ""};
    try {
      for (int repeat = 0; repeat < setup.repeats; ++repeat) {
        progress.Update((static_cast<double>(reports.size()) * setup.repeats + repeat) / all, of.name);
        // First: where it cannot run, it says so at once.
        report.ours.push_back(Ours([&] { return of.ours(repeat); }));
        report.theirs.push_back(of.theirs(repeat));
        report.ratios.push_back(report.ours.back() / report.theirs.back());
      }
    } catch (const Error& error) {
      report.failure = error.what();
    }
    reports.push_back(std::move(report));
  }
  return reports;
}

std::string TableOf(const std::vector<PeerReport>& reports) {
  Table table({"case", "unit", "ours", "peer", "ratio", "low", "high", "target", "met"});
  std::string below;
  for (const PeerReport& report : reports) {
    below += Join(report.name, ": ", report.what,
                  report.failure.empty() ? "" : Join("; FAILED: ", report.failure), "\n");
    if (report.ratios.empty()) continue;
    const Spread ratio = SpreadOf(report.ratios);
    table.AddRow({report.name, report.unit, Figure(SpreadOf(report.ours).median),
                  Figure(SpreadOf(report.theirs).median), Figure(ratio.median), Figure(ratio.low),
                  Figure(ratio.high), report.target > 0 ? Join(">= ", report.target) : "-",
                  report.target > 0 ? (ratio.median >= report.target ? "yes" : "NO") : "-"});
  }
  return table.ToString() + "\n" + below;
}

Json JsonOf(const std::vector<PeerReport>& reports) {
  Json list = Json::array();
  for (const PeerReport& report : reports) {
    const bool measured = !report.ratios.empty();
    const Spread ratio = measured ? SpreadOf(report.ratios) : Spread{};
    list.push_back({{"name", report.name},
                    {"what", report.what},
                    {"unit", report.unit},
                    {"ours", report.ours},
                    {"theirs", report.theirs},
                    {"ratio", measured ? Json(ratio.median) : Json(nullptr)},
                    {"low", measured ? Json(ratio.low) : Json(nullptr)},
                    {"high", measured ? Json(ratio.high) : Json(nullptr)},
                    {"target", report.target > 0 ? Json(report.target) : Json(nullptr)},
                    {"failure", report.failure.empty() ? Json(nullptr) : Json(report.failure)}});
  }
  return list;
}

}  // namespace berth::bench

// The Python package beside the bare C++ environments, in turn: what crossing the border costs.
#include <cstdlib>
#include <filesystem>

#include "env/gym/batch_env.hpp"
#include "tools/bench/bench_rows.hpp"
#include "tools/bench/child.hpp"
#include "tools/bench/measure.hpp"
#include "tools/bench/work.hpp"

namespace berth::bench {
namespace {

constexpr int kEnvs = 256;
constexpr double kLimit = 300.0;  // s of wall time, of one repeat
constexpr const char* kScript = BERTH_SOURCE_DIR "/tools/bench/python_steps.py";

double InPython(const std::string& python, double seconds) {
  const ChildResult result =
      RunCommand({python, kScript, std::to_string(kEnvs), std::to_string(seconds)}, kLimit, /*quiet=*/false,
                 {{"OMP_NUM_THREADS", "1"}, {"PYTHONDONTWRITEBYTECODE", "1"}});
  if (!result.failure.empty() || result.exit_code != 0) {
    throw Error(Join("python_steps.py: ",
                     result.failure.empty() ? Join("ended with code ", result.exit_code) : result.failure));
  }
  return std::strtod(result.text.c_str(), nullptr);
}

Measured StepsInPython(const BenchSetup& setup) {
  const std::string python =
      std::filesystem::path(setup.binary).parent_path().parent_path() / "python/bin/python";
  if (!std::filesystem::exists(python)) throw CannotRun("needs " + python + " (tools/test makes it)");
  const auto env = DefaultEnv(kEnvs, /*threads=*/1);
  RandomActor actor(*env);
  Measured measured;
  std::vector<double> bare, bound;
  for (int repeat = 0; repeat < setup.repeats; ++repeat) {
    bare.push_back(RatesPerCpuSecond(setup.seconds, 1, [&] { return actor.Step(64); }).front());
    bound.push_back(InPython(python, setup.seconds));
    measured.values.push_back(bound.back() / bare.back());
  }
  measured.detail = {{"envs", kEnvs},
                     {"steps_per_cpu_s", SpreadOf(bound).median},
                     {"bare_steps_per_cpu_s", SpreadOf(bare).median}};
  measured.note = Join(static_cast<long long>(SpreadOf(bound).median), " of ",
                       static_cast<long long>(SpreadOf(bare).median), " steps/CPU-s");
  return measured;
}

constexpr BenchRow kRows[] = {
    {"python/steps",
     "the Python package's step of 256 environments, default workload, Q=32, random actions; share of the "
     "bare C++ VecEnv's",
     "of C++", Bound::kAtLeast, 0.7, 0, StepsInPython},
};

}  // namespace

std::span<const BenchRow> PythonRows() {
  return kRows;
}

}  // namespace berth::bench

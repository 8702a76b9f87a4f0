// The Python package beside the bare C++ environments, in turn: what crossing the border costs.
#include <filesystem>
#include <iterator>
#include <sstream>

#include "env/gym/batch_env.hpp"
#include "tools/bench/bench_rows.hpp"
#include "tools/bench/child.hpp"
#include "tools/bench/measure.hpp"
#include "tools/bench/work.hpp"
#include "tools/home.hpp"
#include "tools/table.hpp"

namespace berth::bench {
namespace {

constexpr int kPythonEnvs = 256;
constexpr double kLimit = 300.0;  // s of wall time, of one repeat
// The numbers that the script of this folder prints.
std::vector<double> InPython(const std::string& python, const std::string& script,
                             std::vector<std::string> words = {}) {
  words.insert(words.begin(), {python, HomeFile("tools/bench/" + script)});
  const ChildResult result = RunCommand(words, kLimit, /*quiet=*/false,
                                        {{"OMP_NUM_THREADS", "1"}, {"PYTHONDONTWRITEBYTECODE", "1"}});
  if (!result.failure.empty() || result.exit_code != 0) {
    throw Error(Join(script, ": ",
                     result.failure.empty() ? Join("ended with code ", result.exit_code) : result.failure));
  }
  std::istringstream text(result.text);
  std::vector<double> numbers{std::istream_iterator<double>(text), {}};
  if (numbers.empty()) throw Error(Join(script, ": expected numbers, found '", result.text, "'"));
  return numbers;
}

double MedianOf(const std::vector<std::vector<double>>& repeats, std::size_t column) {
  std::vector<double> values;
  for (const std::vector<double>& repeat : repeats) values.push_back(repeat.at(column));
  return SpreadOf(values).median;
}

std::string PythonOf(const BenchSetup& setup) {
  const std::string python =
      std::filesystem::path(setup.binary).parent_path().parent_path() / "python/bin/python";
  if (!std::filesystem::exists(python)) throw CannotRun("needs " + python + " (tools/test makes it)");
  return python;
}

Measured StepsInPython(const BenchSetup& setup) {
  const std::string python = PythonOf(setup);
  const auto env = DefaultEnv(kPythonEnvs, /*threads=*/1);
  RandomActor actor(*env);
  Measured measured;
  std::vector<double> bare, bound;
  for (int repeat = 0; repeat < setup.repeats; ++repeat) {
    bare.push_back(RatesPerCpuSecond(setup.seconds, 1, [&] { return actor.Step(64); }).front());
    bound.push_back(
        InPython(python, "python_steps.py", {std::to_string(kPythonEnvs), std::to_string(setup.seconds)})
            .front());
    measured.values.push_back(bound.back() / bare.back());
  }
  measured.detail = {{"envs", kPythonEnvs},
                     {"steps_per_cpu_s", SpreadOf(bound).median},
                     {"bare_steps_per_cpu_s", SpreadOf(bare).median}};
  measured.note = Join(static_cast<long long>(SpreadOf(bound).median), " of ",
                       static_cast<long long>(SpreadOf(bare).median), " steps/CPU-s");
  return measured;
}

Measured DecisionsInPython(const BenchSetup& setup) {
  const std::string python = PythonOf(setup);
  Measured measured;
  for (int repeat = 0; repeat < setup.repeats; ++repeat)
    measured.values.push_back(InPython(python, "python_decisions.py").front());
  return measured;
}

Measured RunInPython(const BenchSetup& setup) {
  const std::string python = PythonOf(setup);
  Measured measured;
  std::vector<std::vector<double>> said;
  for (int repeat = 0; repeat < setup.repeats; ++repeat) {
    said.push_back(InPython(python, "python_srpt.py"));
    measured.values.push_back(said.back().front());
  }
  const double later = MedianOf(said, 1), pandas = MedianOf(said, 2);
  measured.detail = {{"later_runs_s", later}, {"import_pandas_s", pandas}, {"decisions", MedianOf(said, 3)}};
  measured.note = Join("later runs ", Fixed(later, 2), " s; the first table of a process imports pandas, ",
                       Fixed(pandas, 2), " s");
  return measured;
}

Measured ImportInPython(const BenchSetup& setup) {
  const std::string python = PythonOf(setup);
  Measured measured;
  std::vector<std::vector<double>> said;
  for (int repeat = 0; repeat < setup.repeats; ++repeat) {
    said.push_back(InPython(python, "python_import.py"));
    measured.values.push_back(said.back().front());
  }
  measured.detail = {{"wall_s", MedianOf(said, 1)}};
  measured.note = Join("by wall time ", Fixed(MedianOf(said, 1), 2), " s");
  return measured;
}

constexpr BenchRow kPythonRows[] = {
    {"python/steps",
     "the Python package's step of 256 environments, default workload, Q=32, random actions; share of the "
     "bare C++ VecEnv's",
     "of C++", Bound::kAtLeast, 0.9, 0, StepsInPython},
    {"python/decide",
     "a decision of first come, first served written in Python, on one type of GPU: CPU time beyond that of "
     "the same in C++, 10,000 decisions",
     "us", Bound::kAtMost, 20.0, 0, DecisionsInPython},
    {"python/run",
     "1,000 jobs under SRPT written with NumPy, clock event, default workload: CPU time of the first run of "
     "a "
     "process",
     "s", Bound::kAtMost, 0.3, 0, RunInPython},
    {"python/import", "import berth in a new interpreter, its start included: CPU time, median of ten", "s",
     Bound::kAtMost, 0.3, 0, ImportInPython},
};

}  // namespace

std::span<const BenchRow> PythonRows() {
  return kPythonRows;
}

}  // namespace berth::bench

// How long the program takes to start: it is started, again and again.
#include "tools/bench/bench_rows.hpp"
#include "tools/bench/child.hpp"
#include "tools/bench/measure.hpp"
#include "tools/table.hpp"

namespace berth::bench {
namespace {

constexpr int kStarts = 20;  // a repeat is the median of so many

Measured Start(const BenchSetup& setup, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), setup.binary);
  Measured measured;
  std::vector<double> all_wall;
  for (int repeat = 0; repeat < setup.repeats; ++repeat) {
    std::vector<double> cpu, wall;
    for (int i = 0; i < kStarts; ++i) {
      const ChildResult child = RunCommand(arguments, /*limit_s=*/60.0, /*quiet=*/true);
      if (!child.failure.empty()) throw Error(child.failure);
      if (child.exit_code != 0) throw Error(Join(setup.binary, " ended with code ", child.exit_code));
      cpu.push_back(1e3 * child.cpu_s);
      wall.push_back(1e3 * child.wall_s);
    }
    measured.values.push_back(SpreadOf(cpu).median);
    all_wall.insert(all_wall.end(), wall.begin(), wall.end());
  }
  const Spread spread = SpreadOf(all_wall);
  measured.detail = {{"wall_ms_median", spread.median}, {"wall_ms_low", spread.low}};
  measured.note =
      Join("wall time, median ", Fixed(spread.median, 1), " ms, least ", Fixed(spread.low, 1), " ms");
  return measured;
}

constexpr BenchRow kStartRows[] = {
    {"start/help", "berth --help, from fork to exit, CPU time", "ms CPU", Bound::kAtMost, 30, 0,
     [](const BenchSetup& setup) { return Start(setup, {"--help"}); }},
    {"start/simulate", "berth simulate on a generated workload of 20 jobs, CPU time", "ms CPU",
     Bound::kAtMost, 100, 0,
     [](const BenchSetup& setup) {
       return Start(setup, {"simulate", "--workload", "synthetic(jobs=20)", "--scheduler", "srpt"});
     }},
};

}  // namespace

std::span<const BenchRow> StartRows() {
  return kStartRows;
}

}  // namespace berth::bench

#include "tools/bench/measure.hpp"

#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include "env/base/check.hpp"
#include "env/sim/metrics.hpp"
#include "tools/table.hpp"

namespace berth::bench {
namespace {

double Read(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

// What getrusage counts, but to the nanosecond.
double CpuSeconds() {
  return Read(CLOCK_PROCESS_CPUTIME_ID);
}

double WallSeconds() {
  return Read(CLOCK_MONOTONIC);
}

// Not ru_maxrss: a child inherits its parent's there.
double PeakMemoryBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    double kib = 0.0;
    status >> kib;
    return 1024.0 * kib;
  }
  return 0.0;
}

void ForgetPeakMemory() {
  std::ofstream("/proc/self/clear_refs") << 5;
}

Spread SpreadOf(std::span<const double> values) {
  BERTH_CHECK(!values.empty(), "no values");
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  Spread spread{Quantile(sorted, 0.5), sorted.front(), sorted.back(), 0.0};
  if (spread.median != 0.0) spread.relative = (spread.high - spread.low) / spread.median;
  return spread;
}

std::vector<double> RatesPerCpuSecond(double seconds, int repeats,
                                      const std::function<std::int64_t()>& work) {
  work();
  std::vector<double> rates;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const double begin = CpuSeconds();
    double spent = 0.0;
    std::int64_t units = 0;
    do {
      units += work();
      spent = CpuSeconds() - begin;
    } while (spent < seconds);
    rates.push_back(static_cast<double>(units) / spent);
  }
  return rates;
}

std::vector<double> RatiosInTurn(double seconds, int repeats, const std::function<std::int64_t()>& work,
                                 const std::function<std::int64_t()>& other) {
  std::vector<double> ratios;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const double rate = RatesPerCpuSecond(seconds, 1, work).front();
    ratios.push_back(rate / RatesPerCpuSecond(seconds, 1, other).front());
  }
  return ratios;
}

std::string TwoThreadsNote(double cores_given, double overhead) {
  if (cores_given >= 1.9) return "";
  return Join("the two threads had ", Fixed(cores_given, 2),
              " cores: the machine was busy with other work, so the wall time says little; CPU time of two "
              "threads over one ",
              Fixed(overhead, 2));
}

namespace {

std::string CpuName() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) == 0 && line.find(": ") != std::string::npos)
      return line.substr(line.find(": ") + 2);
  }
  return "unknown";
}

}  // namespace

Json MachineJson() {
  utsname name{};
  uname(&name);
  double load[1] = {0.0};
  if (getloadavg(load, 1) != 1) load[0] = 0.0;
  return {{"cpu", CpuName()},
          {"cores", std::thread::hardware_concurrency()},
          {"memory_bytes",
           static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE))},
          {"kernel", std::string(name.sysname) + " " + name.release},
          {"compiler", "g++ " __VERSION__},
          {"load_1min", load[0]},  // before the first row: others' work
          {"host", name.nodename}};
}

}  // namespace berth::bench

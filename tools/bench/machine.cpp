#include "tools/bench/machine.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>

namespace berth::bench {
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

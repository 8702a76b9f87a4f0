// The outages of a scenario as its feature `failures` has them, for tests of what was read from logs.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/features/table.hpp"

namespace berth::test {

// "v100/0 60000 119999 120": the node takes no new jobs from millisecond 60000 on, its GPUs are gone from 119999 on, and are back
// in second 120. The first two are alike where a node is down. "gpu v100/5 ..." is of one GPU.
inline std::vector<std::string> OutagesTold(const Scenario& scenario) {
  std::vector<std::string> told;
  const std::string features = ToString(scenario.data().features), key = "events=";
  for (std::size_t at = features.find(key); at < features.size(); at = features.find('|', at + 1)) {
    const std::string row = features.substr(at + (features[at] == '|' ? 1 : key.size()));
    double gone = 0.0, up = 0.0, notice = 0.0;
    char kind[20] = "", name[20] = "";
    if (std::sscanf(row.c_str(), "%lf:%lf:%19[a-z]:%19[^:,|)]:%lf", &gone, &up, kind, name, &notice) < 4) return told;
    const std::string of = kind == std::string("node") ? "" : Join(kind, " ");
    told.push_back(Join(of, name, " ", std::lround(1000.0 * (gone - notice)), " ", std::lround(1000.0 * gone), " ", up));
  }
  return told;
}

}  // namespace berth::test

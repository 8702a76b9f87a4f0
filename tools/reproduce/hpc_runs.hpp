// Runs of score rules over the sequences of the published batch-scheduling experiments, each made once.
#pragma once

#include <map>
#include <string>

#include "env/gym/mdp.hpp"
#include "tools/reproduce/hpc_published.hpp"
#include "tools/results.hpp"

namespace berth {

// "sjf", "x=1" -> "sjf(x=1)"; "f(a=1)", "x=1" -> "f(a=1,x=1)".
std::string WithParams(const std::string& spec, const std::string& params);

// Thread rule: one thread at a time.
class HpcRuns {
 public:
  explicit HpcRuns(std::string folder) : folder_(std::move(folder)) {}  // that of the Lublin logs
  // `commit` runs under clock hpc with the published backfilling, `redecide` under clock event with textbook
  // EASY.
  const ResultRow& Get(const HpcSetting& setting, Semantics semantics, bool official,
                       const std::string& spec);
  int count() const { return count_; }
  double seconds() const { return seconds_; }

 private:
  const Scenario& Log(const char* file);
  std::string folder_;
  std::map<std::string, Scenario> logs_;
  std::map<std::string, ResultRow> rows_;
  int count_ = 0;
  double seconds_ = 0.0;
};

}  // namespace berth

#include "tools/validation.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "env/base/check.hpp"
#include "tools/learn_library.hpp"
#include "tools/output_file.hpp"
#include "tools/results.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

constexpr const char* kHeader = "global_step,value\n";

}  // namespace

Validation::Validation(RewardTrials on, int workloads, const std::string& run, bool resume)
    : on_(std::move(on)), workloads_(workloads), run_(run), rows_(kHeader) {
  std::ifstream file(run_ + "/validation.csv");
  if (!resume || !file) return;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream row(line);
    std::int64_t steps = 0;
    char comma = 0;
    std::string value;
    if (!(row >> steps >> comma >> value)) continue;
    rows_ += line + "\n";
    const double found = std::strtod(value.c_str(), nullptr);
    if (!any() || found < best_) best_ = found, best_steps_ = steps;
  }
}

void Validation::Measure(std::int64_t steps) {
  const std::string candidate = run_ + "/candidate.h5";
  OpenLearnLibrary().export_policy({run_, candidate, "", SourceCommit()});
  const auto make = [&] { return MakeScheduler(Join("policy(file=", candidate, ")"), AllSchedulers()); };
  double sum = 0.0;
  const std::vector<std::vector<Metrics>> runs = on_.Validate({make}, workloads_);
  for (const Metrics& run : runs.front()) {
    const double value = on_.Cost(run);
    sum += std::isnan(value) ? HUGE_VAL : std::log(value);
  }
  const double mean = std::exp(sum / workloads_);
  if (!any() || mean < best_) {
    best_ = mean, best_steps_ = steps;
    std::filesystem::rename(candidate, policy());
  } else {
    std::filesystem::remove(candidate);
  }
  std::ostringstream value;
  value.precision(std::numeric_limits<double>::max_digits10);
  value << mean;
  rows_ += Join(steps, ",", value.str(), "\n");
  WriteTextFile(run_ + "/validation.csv", rows_);
}

}  // namespace berth

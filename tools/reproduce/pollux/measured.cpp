#include "tools/reproduce/pollux/measured.hpp"

#include <fstream>
#include <numeric>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/features/goodput/goodput.hpp"
#include "tools/json.hpp"
#include "tools/output_file.hpp"
#include "tools/reproduce/finished_run.hpp"
#include "tools/reproduce/run_cache.hpp"
#include "tools/results.hpp"

namespace berth::pollux {

double Measured::Mean() const {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
}

Measured RunToEnd(const Scenario& scenario, const std::string& scheduler) {
  Measured measured;
  const std::unique_ptr<Scheduler> made = MakeScheduler(scheduler, AllSchedulers());
  const double begin = ThreadCpuSeconds();
  const Simulator end = FinishedRun(scenario, *made, {0, scenario.num_jobs()});
  measured.cpu_s = ThreadCpuSeconds() - begin;
  const auto& goodput = *end.state().features.Find<GoodputState>();
  for (int job = 0; job < scenario.num_jobs(); ++job) {
    measured.seconds.push_back(end.state().completion[U(job)] - scenario.data().jobs.arrival[U(job)]);
    measured.restarts.push_back(goodput.jobs[U(job)].starts - 1);
  }
  return measured;
}

std::optional<Measured> ReadMeasured(const std::string& folder, const std::string& name,
                                     const std::string& key, std::size_t jobs) {
  std::ifstream file(Join(folder, "/", name, ".json"));
  if (!file) return std::nullopt;
  const Json json = Json::parse(file, nullptr, /*allow_exceptions=*/false);
  try {
    if (json.is_discarded() || json.at("source") != RunSource() || json.at("key") != key) return std::nullopt;
    Measured kept{json.at("seconds"), json.at("restarts"), json.at("cpu_s")};
    if (kept.seconds.size() != jobs || kept.restarts.size() != jobs) return std::nullopt;
    return kept;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

void WriteMeasured(const std::string& folder, const std::string& name, const std::string& key,
                   const Measured& measured) {
  const Json json = {{"source", RunSource()},
                     {"key", key},
                     {"seconds", measured.seconds},
                     {"restarts", measured.restarts},
                     {"cpu_s", measured.cpu_s}};
  WriteTextFile(Join(folder, "/", name, ".json"), json.dump() + "\n");
}

}  // namespace berth::pollux

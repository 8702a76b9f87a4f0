#include "tools/reproduce/actions/action_study.hpp"

#include <filesystem>

#include "env/base/check.hpp"

namespace berth {
namespace {

constexpr double kTrainSecondsPerStep = 2.5e-5;  // of one core, about

}  // namespace

Words Joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string ActionStudy::PolicyFile(const std::string& name, std::int64_t seed) const {
  return Join(out, "/policies/", name, "_", seed, ".h5");
}

std::vector<std::string> ActionStudy::Policies(const std::string& name) const {
  std::vector<std::string> specs;
  for (std::int64_t seed = first_seed; seed < last_seed; ++seed) {
    const std::string file = PolicyFile(name, seed);
    if (std::filesystem::exists(file)) specs.push_back(Join("policy(file=", file, ")"));
  }
  return specs;
}

ChildStep ActionStudy::Training(const std::string& name, std::int64_t seed, long long steps,
                                const Words& options) const {
  const std::string run = Join(out, "/runs/", name, "_", seed);
  const Words train = Joined({"train", "--out", run, "--seed", Join(seed), "--threads", "1", "--validate",
                              "0", "--steps", Join(steps)},
                             options);
  return {Join(name, "_", seed),
          {train, {"export", run, "--out", PolicyFile(name, seed)}},
          PolicyFile(name, seed),
          kTrainSecondsPerStep * static_cast<double>(steps),
          run};
}

std::string ActionStudy::ResultFile(const std::string& name) const {
  return Join(out, "/results/", name, ".h5");
}

ChildStep ActionStudy::Evaluation(const std::string& name, const std::vector<std::string>& schedulers,
                                  const std::string& workloads, const std::string& window,
                                  const Words& cluster) const {
  std::string specs;
  for (const std::string& spec : schedulers) specs += (specs.empty() ? "" : ";") + spec;
  return {Join(name, "_evaluate"),
          {Joined({"evaluate", "--schedulers", specs, "--seeds", workloads, "--window", window, "--threads",
                   "1", "--out", ResultFile(name)},
                  cluster)},
          ResultFile(name),
          kEvaluateSeconds};
}

Words ClusterWords(const ActionRow& row) {
  Words words = {"--workload", row.workload, "--cluster",   row.cluster,
                 "--clock",    row.clock,    "--knowledge", row.knowledge};
  if (*row.features != '\0') words.insert(words.end(), {"--features", row.features});
  return words;
}

}  // namespace berth

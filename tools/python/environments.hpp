// The environments that have a name outside of C++, made of keywords that mirror the command line's options.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "env/gym/vec_env.hpp"
#include "tools/options.hpp"
#include "tools/python/extended_environment.hpp"

namespace berth {

// Resolved once, made as often as wanted.
struct NamedEnvironment {
  std::optional<MdpSpec> mdp;          // where it decides as a scheduler does
  std::vector<std::string> gpu_types;  // with it: names, of its first workload's cluster
  bool signal = false;                 // StepBuffers::signal is written
  std::string description;             // every option as resolved, one a line: "name=value"
  std::uint64_t seed;                  // the option `seed`
  std::vector<float> low, high;        // [D] bounds of the observation
  std::function<std::unique_ptr<VecEnv>(std::uint64_t seed, int num_envs, int threads)> make;
  std::shared_ptr<StepMetrics> metrics;  // of the environments last made; null = not asked for
  int tail = 0;                          // floats behind the observation, which count as global channels
};

struct NamedEnvironmentInfo {
  const char* name;  // "HeteroCluster-v0"
  const char* summary;
  NamedEnvironment (*resolve)(const std::map<std::string, std::string>& keywords,
                              const EnvironmentExtras& extras);
  Options (*options)();  // the keywords that there are
};
std::span<const NamedEnvironmentInfo> NamedEnvironments();

// Throws Error with the nearest name.
const NamedEnvironmentInfo& FindEnvironment(const std::string& name);

// Throws Error that names the keyword, or as FindEnvironment.
NamedEnvironment ResolveEnvironment(const std::string& name,
                                    const std::map<std::string, std::string>& keywords,
                                    const EnvironmentExtras& extras = {});

}  // namespace berth

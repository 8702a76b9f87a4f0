#include "tools/reproduce/learned/policies.hpp"

#include <algorithm>
#include <filesystem>

#include "env/base/check.hpp"
#include "tools/reproduce/learned/recipes.hpp"

namespace berth {

std::string TrainedPolicy::Spec(bool sample) const {
  return Join("policy(file=", file, sample ? ",sample=true)" : ")");
}

std::string PolicyShelf::Path(const std::string& name, int seed) const {
  const auto& all = Recipes();
  const auto recipe = std::find_if(all.begin(), all.end(), [&](const Recipe& r) { return name == r.name; });
  const std::string room = recipe == all.end() ? "" : Join(recipe->experiment, "/");
  return Join(folder_, "/", room, name, "_", seed, ".h5");
}

std::vector<TrainedPolicy> PolicyShelf::Find(const std::string& name) const {
  std::vector<TrainedPolicy> found;
  for (int seed = begin_; seed < end_; ++seed) {
    const std::string path = Path(name, seed);
    if (std::filesystem::exists(path)) found.push_back({seed, path});
  }
  return found;
}

std::string PolicyShelf::Missing(const std::string& name) const {
  if (end_ - begin_ > 1 && Find(name).empty())
    return Join(name, "_", begin_, ".h5 to ", name, "_", end_ - 1, ".h5");
  std::string missing;
  for (int seed = begin_; seed < end_; ++seed) {
    const std::string file = Join(name, "_", seed, ".h5");
    if (!std::filesystem::exists(Path(name, seed))) missing += (missing.empty() ? "" : ", ") + file;
  }
  return missing;
}

std::vector<std::string> PolicyShelf::Specs(const std::string& name, bool sample) const {
  std::vector<std::string> specs;
  for (const TrainedPolicy& policy : Find(name)) specs.push_back(policy.Spec(sample));
  return specs;
}

}  // namespace berth

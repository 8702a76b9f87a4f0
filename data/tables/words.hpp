// What readers of tables share: words of Slurm, and lists of names.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "env/base/plain_text.hpp"

namespace berth {

// Of Slurm's states (sacct(1), "JOB STATE CODES"), in any case: does such a job run on, or wait still?
bool IsUnended(const std::string& state);

// Different names, numbered as they come.
class NameList {
 public:
  NameList() = default;
  explicit NameList(const std::vector<std::string>& names) {
    for (const std::string& name : names) Add(name);
  }
  int Add(const std::string& name) {  // its number, of one that is there too
    const auto [at, fresh] = index_.emplace(name, static_cast<int>(names_.size()));
    if (fresh) names_.push_back(name);
    return at->second;
  }
  int Find(const std::string& name) const {  // -1 = not there
    const auto at = index_.find(name);
    return at == index_.end() ? -1 : at->second;
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, int> index_;
};

}  // namespace berth

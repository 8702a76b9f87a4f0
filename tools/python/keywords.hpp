// Python's keywords as options of the command line.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/options.hpp"

namespace berth {

using Keywords = std::map<std::string, std::string>;

// Throws Error that names the keyword.
inline void Give(Options& options, const Keywords& keywords) {
  for (const auto& [keyword, value] : keywords) options.Give(keyword, value);
}

// The same with `schedulers`, none of which = the command line's usual ones.
inline void Give(Options& options, const std::vector<std::string>& schedulers, const Keywords& keywords) {
  std::string all;
  for (const std::string& spec : schedulers) all += (all.empty() ? "" : ";") + spec;
  if (!all.empty()) options.Give("schedulers", all);
  Give(options, keywords);
}

}  // namespace berth

#include "tools/reproduce/chosen.hpp"

#include <algorithm>
#include <set>

#include "env/base/check.hpp"
#include "env/base/spec.hpp"

namespace berth {

std::vector<std::size_t> ChosenParts(const Options& options, const std::string& option,
                                     const std::vector<std::string>& known, const std::string& kind) {
  std::set<std::string> wanted;
  for (const std::string& name : SplitOutsideParentheses(options.Text(option), ',')) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw Error(Join(options.Where(option), ": unknown ", kind, " '", name, "'", DidYouMean(name, known)));
    }
    wanted.insert(name);
  }
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (wanted.empty() || wanted.count(known[i]) > 0) chosen.push_back(i);
  }
  return chosen;
}

}  // namespace berth

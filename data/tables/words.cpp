#include "data/tables/words.hpp"

#include <algorithm>
#include <iterator>

namespace berth {

bool IsUnended(const std::string& state) {
  constexpr const char* kUnended[] = {"pending", "running", "suspended", "requeued_pending", "completing"};
  return std::any_of(std::begin(kUnended), std::end(kUnended),
                     [&](const char* name) { return SameWord(name, state); });
}

}  // namespace berth

// The parts of a reproduction that a user asks for by name.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/options.hpp"

namespace berth {

// Indices of the `known` names that option `option` lists, separated by commas, in the order of `known`; all
// where it lists none. Error for a name that is not known (`kind`: "experiment"), with the nearest one.
std::vector<std::size_t> ChosenParts(const Options& options, const std::string& option,
                                     const std::vector<std::string>& known, const std::string& kind);

}  // namespace berth

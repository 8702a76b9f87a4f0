// Which of a list of names an option means.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace berth::bench {

// Indices, ascending, of the names that `only` lists by commas: "env/steps", or "env" for all of a group; all
// when it is empty. Throws Error with the nearest name; `where` names the option.
std::vector<std::size_t> Choose(const std::vector<std::string>& names, const std::string& only,
                                const std::string& where);

}  // namespace berth::bench

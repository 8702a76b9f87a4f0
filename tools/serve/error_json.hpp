// What every refusal of `berth serve` says.
#pragma once

#include <cstddef>
#include <string>

#include "tools/json.hpp"

namespace berth {

// {"Error": why}. Of a longer reason than this only the beginning is said: a parser's repeats what was asked.
inline std::string ErrorJson(std::string why) {
  constexpr std::size_t kMost = 1000;  // bytes
  const std::string cut = "...";
  if (why.size() > kMost) why.replace(kMost - cut.size(), std::string::npos, cut);
  return Json{{"Error", why}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace berth

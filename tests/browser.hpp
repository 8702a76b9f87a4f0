// The browser that tests open pages in.
#pragma once

#include <cstdlib>
#include <string>

#include "env/base/check.hpp"

namespace berth::test {

// BERTH_BROWSER, or one of those that `tools/setup --browser` looks for; "" where there is none.
inline std::string Browser() {
  if (const char* named = std::getenv("BERTH_BROWSER"); named != nullptr && *named != '\0') return named;
  for (const char* name : {"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"}) {
    if (std::system(Join("command -v ", name, " >/dev/null 2>&1").c_str()) == 0) return name;
  }
  return "";
}

}  // namespace berth::test

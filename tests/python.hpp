// Python in tests: the interpreter of tools/setup, that of `berth bench --peers`, that of tools/setup --python,
// or the system's where it has what is needed. BERTH_TEST_PYTHON names another one to try first.
#pragma once

#include <cstdlib>
#include <string>

#include "env/base/check.hpp"

namespace berth::test {

// "" where no interpreter has all of `modules` ("numpy, onnxruntime"). `root` is the checkout.
inline std::string Python(const std::string& root, const std::string& modules) {
  const char* named = std::getenv("BERTH_TEST_PYTHON");
  for (const std::string& python : {std::string(named != nullptr ? named : ""), root + "/.venv/bin/python",
                                    root + "/build/peers/bin/python", root + "/build/python/bin/python",
                                    std::string("python3")}) {
    if (python.empty()) continue;
    const std::string command = Join("'", python, "' -c 'import ", modules, "' >/dev/null 2>&1");
    if (std::system(command.c_str()) == 0) return python;
  }
  return "";
}

}  // namespace berth::test

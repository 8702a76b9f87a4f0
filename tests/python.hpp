// Python in tests: the interpreter of tools/setup, or the system's where it has what is needed.
#pragma once

#include <cstdlib>
#include <string>

#include "env/check.hpp"

namespace berth::test {

// "" where no interpreter has all of `modules` ("numpy, onnxruntime"). `root` is the checkout.
inline std::string Python(const std::string& root, const std::string& modules) {
  for (const std::string& python : {root + "/.venv/bin/python", std::string("python3")}) {
    const std::string command = Join("'", python, "' -c 'import ", modules, "' >/dev/null 2>&1");
    if (std::system(command.c_str()) == 0) return python;
  }
  return "";
}

}  // namespace berth::test

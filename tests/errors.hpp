// What wrong scenarios are told.
#pragma once

#include <string>

#include "env/base/check.hpp"
#include "env/sim/scenario.hpp"
#include "tests/catch.hpp"

namespace berth::test {

// "" where it is one.
inline std::string ErrorOf(const ScenarioData& data) {
  try {
    Scenario scenario(data);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// In one line.
inline bool Says(const std::string& error, const std::string& part) {
  INFO(error);
  return error.find(part) != std::string::npos && error.find('\n') == std::string::npos;
}

}  // namespace berth::test

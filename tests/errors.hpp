// What is said of what is wrong.
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

// Of what `action` throws.
template <class F>
std::string MessageOf(const F& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "(no error)";
}

// In one line.
inline bool Says(const std::string& error, const std::string& part) {
  INFO(error);
  return error.find(part) != std::string::npos && error.find('\n') == std::string::npos;
}

}  // namespace berth::test

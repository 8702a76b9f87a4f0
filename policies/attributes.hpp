// Attributes of a Berth file that are not to be trusted: within bounds, and parsed with the file's name in
// the error.
#pragma once

#include <cstdint>
#include <string>

#include "data/hdf5_file.hpp"
#include "env/base/check.hpp"

namespace berth {

// The integer attribute, where it is within bounds.
inline std::int64_t BoundedAttribute(const h5::Reader& in, const std::string& name, std::int64_t low,
                                     std::int64_t high) {
  const std::int64_t value = in.Integer(name);
  if (value < low || value > high) {
    throw Error(Join(in.path(), ": attribute '", name, "': expected ", low, " to ", high, ", found ", value));
  }
  return value;
}

// What `parse` makes of a text attribute; where it throws, the Error names the file.
template <class Parse>
auto ParsedAttribute(const h5::Reader& in, const std::string& name, Parse parse) {
  try {
    return parse(in.Text(name));
  } catch (const Error& error) {
    const std::string what = error.what();
    throw Error(what.rfind(in.path(), 0) == 0 ? what : Join(in.path(), ": ", what));
  }
}

}  // namespace berth

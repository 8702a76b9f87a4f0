// An HDF5 file of Berth in memory: read, changed at random, and written with the content hash of what it then holds, so that a reader comes
// to what it checks behind the hash.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "tests/fuzz/input.hpp"

namespace berth::fuzz {

using Values = std::variant<std::vector<double>, std::vector<float>, std::vector<std::int32_t>, std::vector<std::int64_t>,
                            std::vector<std::uint8_t>, std::vector<std::uint64_t>>;
using Attribute = std::variant<double, std::int64_t, std::string>;

struct Dataset {
  Values values;
  std::vector<std::int64_t> shape;
};

// What a file holds but for what h5::Writer adds by itself.
struct Content {
  std::string kind;
  int version = 1;
  std::map<std::string, Dataset> sets;
  std::map<std::string, Attribute> attributes;
};

Content ContentOf(const std::string& path);
void Write(const Content& content, const std::string& path);
void Change(Content& content, Input& in);  // one value, column, attribute or name of it

}  // namespace berth::fuzz

#include "data/tables/toml_keys.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "env/base/check.hpp"
#include "env/base/shortest.hpp"
#include "env/base/spec.hpp"

namespace berth {

toml::table ParseToml(const std::string& text, const std::string& path) try {
  return toml::parse(text);
} catch (const toml::parse_error& error) {
  throw Error(Join(path, ":", error.source().begin.line, ": ", error.description()));
}

Keys::Keys(const std::string& path, const toml::table& table, const std::vector<std::string>& known,
           const std::vector<std::string>& above)
    : path_(path), table_(table) {
  for (const auto& [key, value] : table) {
    const std::string name(key.str());
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const bool elsewhere = std::find(above.begin(), above.end(), name) != above.end();
    throw Error(Join(path, ":", key.source().begin.line, ": unknown key '", name, "'",
                     elsewhere ? ", which belongs above the first [[...]]" : DidYouMean(name, known)));
  }
}

std::string Keys::Where(const char* key) const {
  const toml::node* node = table_.get(key);
  return Join(path_, ":", (node != nullptr ? node->source() : table_.source()).begin.line, ": ", key);
}

std::string Keys::Text(const char* key) const {
  const auto text = table_[key].value_exact<std::string>();
  if (!text || text->empty())
    throw Error(Join(Where(key), ": expected a text in quotes, found ", Has(key) ? Found(key) : "none"));
  return *text;
}

std::string Keys::Word(const char* key) const {
  const std::string text = Text(key);
  if (text.find_first_of("=,;/+() \t\n'\"") != std::string::npos)
    throw Error(
        Join(Where(key), ": expected a name without blanks, quotes or any of =,;/+(), found ", Found(key)));
  return text;
}

std::uint64_t Keys::Seed() const {
  if (!Has("seed")) return 0;
  const auto seed = table_["seed"].value_exact<std::int64_t>();
  if (!seed || *seed < 0)
    throw Error(Join(Where("seed"), ": expected a whole number from 0, found ", Found("seed")));
  return static_cast<std::uint64_t>(*seed);
}

double Keys::Number(const char* key, double otherwise, double low, double high, bool whole) const {
  if (table_.get(key) == nullptr) return otherwise;
  const auto value = table_.get(key)->is_number() ? table_[key].value<double>() : std::nullopt;
  if (!value || !(*value >= low && *value <= high) || (whole && *value != std::floor(*value)))
    throw Error(Join(Where(key), ": expected a ", whole ? "whole " : "", "number from ", InWords(low), " to ",
                     InWords(high), ", found ", Found(key)));
  return *value;
}

std::string Keys::Found(const char* key) const {
  std::ostringstream out;
  table_.get(key)->visit([&](const auto& node) { out << node; });
  std::string text = out.str().substr(0, 40);
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return text;
}

std::vector<double> Keys::Numbers(const char* key, std::size_t least, std::size_t most, double low,
                                  double high, bool ascending) const {
  std::vector<double> numbers;
  const toml::node* node = table_.get(key);
  if (node == nullptr) return numbers;
  const toml::array* array = node->as_array();
  if (array == nullptr || array->size() < least || array->size() > most)
    throw Error(Join(Where(key), ": expected a list of ", least, least == most ? "" : Join(" to ", most),
                     " numbers, found ", array != nullptr ? Join(array->size()) : Found(key)));
  for (const toml::node& element : *array) {
    const auto value = element.is_number() ? element.value<double>() : std::nullopt;
    std::ostringstream found;
    element.visit([&](const auto& it) { found << it; });
    const std::string where = Join(path_, ":", element.source().begin.line, ": ", key);
    if (!value || !(*value >= low && *value <= high))
      throw Error(Join(where, ": expected numbers from ", InWords(low), " to ", InWords(high), ", found ",
                       found.str().substr(0, 40)));
    if (ascending && !numbers.empty() && *value < numbers.back())
      throw Error(Join(where, ": expected numbers that do not fall, found ", InWords(*value), " after ",
                       InWords(numbers.back())));
    numbers.push_back(*value);
  }
  return numbers;
}

std::vector<const toml::table*> TomlTables(const std::string& path, const toml::table& file,
                                           const char* name) {
  std::vector<const toml::table*> tables;
  const toml::node* node = file.get(name);
  if (node == nullptr) return tables;
  const toml::array* array = node->as_array();
  for (std::size_t i = 0; array != nullptr && i < array->size(); ++i)
    tables.push_back(array->get(i)->as_table());
  if (array == nullptr || std::count(tables.begin(), tables.end(), nullptr) > 0)
    throw Error(Join(path, ":", node->source().begin.line, ": ", name, ": expected [[", name,
                     "]] and keys below it"));
  return tables;
}

}  // namespace berth

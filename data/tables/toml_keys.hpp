// TOML files that people write: tables whose keys must all be known, errors that name the line.
#pragma once

// A line end within "[[" comes upon an assertion of its parser where assertions are on, and is refused in
// words a step later: the file is the user's, so it is no bug of ours.
#define TOML_ASSERT(expr) static_assert(true)
#include <toml++/toml.h>

#include <cstdint>
#include <string>
#include <vector>

namespace berth {

// Throws Error "path:line: what is wrong".
toml::table ParseToml(const std::string& text, const std::string& path);

// A table of the file at `path`; both must live as long. Errors are "path:line: key: expected ..., found
// ...".
class Keys {
 public:
  // `above` are the keys of the whole file, of which the error says that they belong elsewhere.
  Keys(const std::string& path, const toml::table& table, const std::vector<std::string>& known,
       const std::vector<std::string>& above = {});

  std::string Where(const char* key) const;
  bool Has(const char* key) const { return table_.get(key) != nullptr; }
  std::string Text(const char* key) const;
  std::string Word(const char* key) const;  // of a type, which options name too: no blanks, no separators
  std::uint64_t Seed() const;               // 0 where there is none
  double Number(const char* key, double otherwise, double low, double high, bool whole = false) const;
  // An array of `least` to `most` numbers; none where there is no such key.
  std::vector<double> Numbers(const char* key, std::size_t least, std::size_t most, double low, double high,
                              bool ascending) const;
  std::string Found(const char* key) const;  // what stands there, on one line

 private:
  const std::string& path_;
  const toml::table& table_;
};

// The tables of [[name]].
std::vector<const toml::table*> TomlTables(const std::string& path, const toml::table& file,
                                           const char* name);

}  // namespace berth

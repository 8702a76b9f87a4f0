// Spec strings name every component: `gavel(objective=max_min,aware=true)`, the same text in CLI, config,
// checkpoint and log. Parameters are typed and strict: unknown, unread or ill-typed ones are errors that name
// the nearest right one.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth {

struct Spec {
  std::string name;
  std::vector<std::pair<std::string, std::string>> params;  // in the order written
  std::string ToString() const;                             // canonical, no spaces
};

// "name" or "name(key=value,...)". A value may hold a nested spec and any text without an unbalanced
// parenthesis or a top-level comma. Throws Error.
Spec ParseSpec(std::string_view text);

std::string Trim(std::string_view text);                 // without blanks at both ends
std::string Listed(std::span<const std::string> names);  // "a, b, c"

// Splits at `separator` outside parentheses, trims blanks, drops empty parts: "fcfs;easy;srpt(x=1)".
std::vector<std::string> SplitOutsideParentheses(std::string_view text, char separator);

// A name as part of a parameter's value: what would split or end the value, blanks and '%' as %XX, and back.
// A
// '%' before anything but two hexadecimal digits stays as it is.
std::string Escaped(std::string_view name);
std::string Unescaped(std::string_view text);

// The candidate closest to `word` (edit distance at most 1 + a third of its length), or "".
std::string Nearest(std::string_view word, std::span<const std::string> candidates);
// " (did you mean 'x'?)" or "".
std::string DidYouMean(std::string_view word, std::span<const std::string> candidates);

// One parameter of a component, kept beside the code that reads it; --help, validation and docs come from it.
struct ParamInfo {
  const char* name;
  const char* default_value;  // as it would be written
  const char* help;           // meaning, unit, allowed values
};

// Strict typed numbers out of text: the whole text must be the value. Throw Error naming `what`.
double ParseNumber(std::string_view text, const std::string& what);
long long ParseInteger(std::string_view text, const std::string& what);
bool ParseBool(std::string_view text, const std::string& what);

// What a component's factory reads its parameters from. Reading a name that is not in `infos` is our mistake
// (BERTH_CHECK); a given name that is not in `infos` is the user's (Error).
class Params {
 public:
  Params(const Spec& spec, std::span<const ParamInfo> infos);

  std::string Text(std::string_view name);
  double Number(std::string_view name, double low, double high);  // inclusive bounds
  long long Integer(std::string_view name, long long low, long long high);
  bool Bool(std::string_view name);
  // Index of the value among `choices`; Error names the nearest one otherwise.
  int Choice(std::string_view name, std::initializer_list<const char*> choices);

  void CheckAllRead() const;     // BERTH_CHECK: every declared parameter was read by the factory
  std::string Resolved() const;  // "name(all=parameters,with=defaults)"

 private:
  const std::string& Value(std::string_view name);
  std::string Where(std::string_view name) const;

  std::string component_;
  std::vector<std::string> names_;
  std::vector<std::string> values_;
  std::vector<bool> read_;
};

}  // namespace berth

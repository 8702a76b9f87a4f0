#include "env/base/spec.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "env/base/check.hpp"
#include "env/base/plain_text.hpp"

namespace berth {
namespace {

// Damerau-Levenshtein restricted to adjacent swaps: what typing errors are made of.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string Trim(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1));
}

std::string Listed(std::span<const std::string> names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

std::string Spec::ToString() const {
  if (params.empty()) return name;
  std::string text = name + "(";
  for (std::size_t i = 0; i < params.size(); ++i) {
    text += (i == 0 ? "" : ",") + params[i].first + "=" + params[i].second;
  }
  return text + ")";
}

std::vector<std::string> SplitOutsideParentheses(std::string_view text, char separator) {
  std::vector<std::string> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '(') ++depth;
    if (i < text.size() && text[i] == ')') --depth;
    if (i == text.size() || (text[i] == separator && depth <= 0)) {
      if (std::string part = Trim(text.substr(begin, i - begin)); !part.empty())
        parts.push_back(std::move(part));
      begin = i + 1;
    }
  }
  return parts;
}

std::string Escaped(std::string_view name) {
  constexpr std::string_view kReserved = "%+,;()\x7f", kDigits = "0123456789ABCDEF";
  std::string text;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > ' ' && kReserved.find(c) == std::string_view::npos)
      text += c;
    else
      text += {'%', kDigits[byte / 16], kDigits[byte % 16]};
  }
  return text;
}

std::string Unescaped(std::string_view text) {
  std::string name;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const char* const digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, byte, /*base=*/16).ptr == digits + 2) {
      name += static_cast<char>(byte);
      i += 2;
    } else {
      name += text[i];
    }
  }
  return name;
}

Spec ParseSpec(std::string_view text) {
  const std::string whole = Trim(text);
  const auto fail = [&](const std::string& why) -> Error {
    return Error(Join("spec '", whole, "': expected name or name(key=value,...), found ", why));
  };
  Spec spec;
  const std::size_t open = whole.find('(');
  spec.name = Trim(std::string_view(whole).substr(0, open));
  if (spec.name.empty()) throw fail("no name");
  for (char c : spec.name) {
    const bool ok =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (!ok) throw fail(Join("'", c, "' in the name"));
  }
  if (open == std::string::npos) return spec;
  if (whole.back() != ')') throw fail("no closing parenthesis at the end");
  const std::string_view inside = std::string_view(whole).substr(open + 1, whole.size() - open - 2);
  int depth = 0;
  for (char c : inside) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (depth < 0) break;
  }
  if (depth != 0) throw fail("unbalanced parentheses");
  for (const std::string& part : SplitOutsideParentheses(inside, ',')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) throw fail(Join("'", part, "' without '='"));
    std::string key = Trim(std::string_view(part).substr(0, equals));
    for (const auto& [other, value] : spec.params) {
      if (other == key) throw fail(Join("'", key, "' twice"));
    }
    spec.params.emplace_back(std::move(key), Trim(std::string_view(part).substr(equals + 1)));
  }
  return spec;
}

// Case does not count: nobody who writes H100 means p100. What is far longer than any name is like none, for
// the table of distances grows as the product of both lengths.
std::string Nearest(std::string_view word, std::span<const std::string> candidates) {
  constexpr std::size_t kLongest = 256;
  std::string best;
  if (word.size() > kLongest) return best;
  std::size_t best_distance = 2 + word.size() / 3;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > 2 * kLongest) continue;
    const std::size_t distance = EditDistance(Lower(std::string(word)), Lower(candidate));
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string DidYouMean(std::string_view word, std::span<const std::string> candidates) {
  const std::string nearest = Nearest(word, candidates);
  return nearest.empty() || nearest == word ? "" : " (did you mean '" + nearest + "'?)";
}

double ParseNumber(std::string_view text, const std::string& what) {
  double value = 0.0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (text.empty() || result.ec != std::errc() || result.ptr != end || std::isnan(value)) {
    throw Error(Join(what, ": expected a number, found '", text, "'"));
  }
  return value;
}

long long ParseInteger(std::string_view text, const std::string& what) {
  long long value = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (text.empty() || result.ec != std::errc() || result.ptr != end) {
    throw Error(Join(what, ": expected a whole number, found '", text, "'"));
  }
  return value;
}

bool ParseBool(std::string_view text, const std::string& what) {
  if (text == "true" || text == "1" || text == "yes") return true;
  if (text == "false" || text == "0" || text == "no") return false;
  throw Error(Join(what, ": expected true or false, found '", text, "'"));
}

Params::Params(const Spec& spec, std::span<const ParamInfo> infos) : component_(spec.name) {
  for (const ParamInfo& info : infos) {
    names_.emplace_back(info.name);
    values_.emplace_back(info.default_value);
  }
  read_.assign(names_.size(), false);
  for (const auto& [key, value] : spec.params) {
    const auto it = std::find(names_.begin(), names_.end(), key);
    if (it == names_.end()) {
      throw Error(Join(component_, ": unknown parameter '", key, "'", DidYouMean(key, names_),
                       names_.empty() ? "; it takes none" : "; it takes " + Listed(names_)));
    }
    values_[static_cast<std::size_t>(it - names_.begin())] = value;
  }
}

const std::string& Params::Value(std::string_view name) {
  const auto it = std::find(names_.begin(), names_.end(), name);
  BERTH_CHECK(it != names_.end(), component_, " reads undeclared parameter ", name);
  const auto i = static_cast<std::size_t>(it - names_.begin());
  read_[i] = true;
  return values_[i];
}

std::string Params::Where(std::string_view name) const {
  return Join(component_, ": parameter '", name, "'");
}

std::string Params::Text(std::string_view name) {
  return Value(name);
}

double Params::Number(std::string_view name, double low, double high) {
  const double value = ParseNumber(Value(name), Where(name));
  if (value < low || value > high) {
    throw Error(Join(Where(name), ": expected a number in [", low, ", ", high, "], found ", Value(name)));
  }
  return value;
}

long long Params::Integer(std::string_view name, long long low, long long high) {
  const long long value = ParseInteger(Value(name), Where(name));
  if (value < low || value > high) {
    throw Error(
        Join(Where(name), ": expected a whole number in [", low, ", ", high, "], found ", Value(name)));
  }
  return value;
}

bool Params::Bool(std::string_view name) {
  return ParseBool(Value(name), Where(name));
}

int Params::Choice(std::string_view name, std::initializer_list<const char*> choices) {
  const std::string& value = Value(name);
  const std::vector<std::string> known(choices.begin(), choices.end());
  const auto it = std::find(known.begin(), known.end(), value);
  if (it != known.end()) return static_cast<int>(it - known.begin());
  throw Error(Join(Where(name), ": expected one of ", Listed(known), ", found '", value, "'",
                   DidYouMean(value, known)));
}

void Params::CheckAllRead() const {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    BERTH_CHECK(read_[i], component_, " declares parameter '", names_[i], "' and does not read it");
  }
}

std::string Params::Resolved() const {
  Spec spec{component_, {}};
  for (std::size_t i = 0; i < names_.size(); ++i) spec.params.emplace_back(names_[i], values_[i]);
  return spec.ToString();
}

}  // namespace berth

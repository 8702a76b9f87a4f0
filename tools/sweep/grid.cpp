#include "tools/sweep/grid.hpp"

#include <algorithm>
#include <cctype>
#include <functional>
#include <iterator>
#include <set>

#include "env/base/check.hpp"
#include "env/base/spec.hpp"
#include "tools/json.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

constexpr std::int64_t kMostValues = 10'000, kLargest = 1'000'000'000'000'000;

bool OfName(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

bool IsName(const std::string& text) {
  return !text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) != 0 &&
         std::all_of(text.begin(), text.end(), OfName);
}

// Parts outside parentheses, empty ones too.
std::vector<std::string> Parts(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == separator && depth <= 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  for (std::string& part : parts) part = Trim(part);
  return parts;
}

bool Matches(const std::string& text) {  // its parentheses
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (depth < 0) return false;
  }
  return depth == 0;
}

bool IsRange(const std::string& text) {
  return text.find("..") != std::string::npos && std::all_of(text.begin(), text.end(), [](char c) {
           return std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.';
         });
}

// What `replace` makes of {name}, in the place of it.
std::string EachPlaceholder(const std::string& text,
                            const std::function<std::string(const std::string&)>& replace) {
  std::string filled;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = text[i] == '{' ? text.find('}', i) : std::string::npos;
    const std::string name = end == std::string::npos ? "" : text.substr(i + 1, end - i - 1);
    if (IsName(name)) {
      filled += replace(name);
      i = end + 1;
    } else {
      filled += text[i++];
    }
  }
  return filled;
}

// Does ParseAxes read the axes out of the text?
bool Says(const std::string& text, const std::vector<Axis>& axes) {
  try {
    const std::vector<Axis> read = ParseAxes(text);
    return std::equal(read.begin(), read.end(), axes.begin(), axes.end(),
                      [](const Axis& a, const Axis& b) { return a.name == b.name && a.values == b.values; });
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::vector<std::string> Counts(const std::string& text, const std::string& what) {
  if (text.find("..") == std::string::npos) return {std::to_string(ParseInteger(text, what))};
  const std::string expected = Join(what, ": expected FIRST..LAST or FIRST..LAST..STEP, found '", text, "'");
  std::vector<std::int64_t> numbers;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find("..", begin), text.size());
    numbers.push_back(ParseInteger(text.substr(begin, end - begin), expected));
    begin = end + 2;
  }
  if (numbers.size() == 2) numbers.push_back(1);
  if (numbers.size() != 3 || numbers[0] < 0 || numbers[1] < numbers[0] || numbers[2] < 1)
    throw Error(expected);
  if (std::max(numbers[1], numbers[2]) > kLargest)  // nor does the sum of two overflow
    throw Error(Join(what, ": expected numbers up to ", kLargest, ", found a larger one in '", text, "'"));
  if ((numbers[1] - numbers[0]) / numbers[2] >= kMostValues)
    throw Error(Join(what, ": expected at most ", kMostValues, " values, found more in '", text, "'"));
  std::vector<std::string> counts;
  for (std::int64_t n = numbers[0]; n <= numbers[1]; n += numbers[2]) counts.push_back(std::to_string(n));
  return counts;
}

std::vector<Axis> ParseAxes(const std::string& text) {
  std::vector<Axis> axes;
  for (const std::string& part : SplitOutsideParentheses(text, ';')) {
    const std::size_t equals = part.find('=');
    Axis axis{Trim(part.substr(0, equals)), {}};
    if (equals == std::string::npos || !IsName(axis.name))
      throw Error(Join("expected NAME=VALUE,VALUE,..., found '", part, "'"));
    const std::string values = part.substr(equals + 1);
    const bool bars = Parts(values, '|').size() > 1;
    for (const std::string& value : Parts(values, bars ? '|' : ',')) {
      if (value.empty() && !bars)
        throw Error(
            Join("axis '", axis.name, "': expected values between commas, found none in '", part, "'"));
      if (!Matches(value))
        throw Error(Join("axis '", axis.name, "': expected parentheses that match, found '", value, "'"));
      if (IsRange(value)) {
        for (std::string& count : Counts(value, Join("axis '", axis.name, "'")))
          axis.values.push_back(std::move(count));
      } else {
        axis.values.push_back(value);
      }
      if (std::ssize(axis.values) > kMostValues)
        throw Error(Join("axis '", axis.name, "': expected at most ", kMostValues, " values, found more"));
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

Grid::Grid(std::vector<Axis> axes, const std::vector<std::string>& taken) : axes_(std::move(axes)) {
  if (axes_.empty()) throw Error("expected an axis NAME=VALUE,VALUE,..., found none");
  for (const Axis& axis : axes_) {
    BERTH_CHECK(IsName(axis.name) && !axis.values.empty(), axis.name);
    if (std::count_if(axes_.begin(), axes_.end(), [&](const Axis& a) { return a.name == axis.name; }) > 1)
      throw Error(Join("axis '", axis.name, "': expected once, found twice"));
    if (std::find(taken.begin(), taken.end(), axis.name) != taken.end())
      throw Error(
          Join("axis '", axis.name, "': expected another name, since the table has a column of this one"));
    std::set<std::string> known;
    for (const std::string& value : axis.values) {
      if (value.find_first_of("\r\n") != std::string::npos)
        throw Error(
            Join("axis '", axis.name, "': expected values on one line, since a table has a line a cell"));
      if (!known.insert(value).second)
        throw Error(Join("axis '", axis.name, "': expected each value once, found '", value, "' twice"));
    }
    size_ *= std::ssize(axis.values);
    if (size_ > kMostCells) throw Error(Join("expected at most ", kMostCells, " cells, found more"));
  }
}

std::vector<std::string> Grid::names() const {
  std::vector<std::string> names;
  for (const Axis& axis : axes_) names.push_back(axis.name);
  return names;
}

std::vector<std::string> Grid::Values(std::int64_t cell) const {
  BERTH_CHECK(cell >= 0 && cell < size_, cell, " of ", size_);
  std::vector<std::string> values(axes_.size());
  for (std::size_t i = axes_.size(); i-- > 0;) {
    const std::int64_t many = std::ssize(axes_[i].values);
    values[i] = axes_[i].values[static_cast<std::size_t>(cell % many)];
    cell /= many;
  }
  return values;
}

std::string Grid::Label(std::int64_t cell) const {
  const std::vector<std::string> values = Values(cell);
  std::string text;
  for (std::size_t i = 0; i < axes_.size(); ++i)
    text += Join(i == 0 ? "" : ", ", axes_[i].name, "=", values[i]);
  return text;
}

std::string Grid::Fill(const std::string& text, std::int64_t cell) const {
  const std::vector<std::string> values = Values(cell);
  return EachPlaceholder(text, [&](const std::string& name) {
    const auto axis = std::find_if(axes_.begin(), axes_.end(), [&](const Axis& a) { return a.name == name; });
    BERTH_CHECK(axis != axes_.end(), name);
    return values[static_cast<std::size_t>(axis - axes_.begin())];
  });
}

std::string Grid::ToString() const {
  std::string text;
  for (const Axis& axis : axes_) {
    const bool bars = std::any_of(axis.values.begin(), axis.values.end(), [](const std::string& value) {
      return Parts(value, ',').size() > 1 || value.empty();
    });
    text += Join(text.empty() ? "" : ";", axis.name, "=");
    for (std::size_t i = 0; i < axis.values.size(); ++i)
      text += Join(i == 0 ? "" : bars ? "|" : ",", axis.values[i]);
  }
  if (Says(text, axes_)) return text;
  Json json = Json::array();
  for (const Axis& axis : axes_) json.push_back({axis.name, axis.values});
  return json.dump();
}

std::vector<std::string> Placeholders(const std::string& text) {
  std::vector<std::string> names;
  EachPlaceholder(text, [&](const std::string& name) {
    names.push_back(name);
    return "";
  });
  return names;
}

}  // namespace berth

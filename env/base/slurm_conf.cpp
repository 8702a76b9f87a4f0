#include "env/base/slurm_conf.hpp"

#include <algorithm>
#include <fstream>
#include <limits>

#include "env/base/check.hpp"
#include "env/base/plain_text.hpp"
#include "env/base/readable.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

// Of one list, and of a name: more is a slip of the pen.
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
constexpr std::size_t kMostHosts =
    2000;  // a million names take a second, in which a fuzzer looks at thousands of other inputs
#else
constexpr std::size_t kMostHosts = 1'000'000;
#endif
constexpr std::size_t kLongestHost = 1024;
constexpr std::ptrdiff_t kMostBrackets = 16;
constexpr const char* kBlanks = " \t\r";

// Splits the words of a line. Blanks may stand around '=', and in a value in quotes.
SlurmLine WordsOf(const std::string& text, int number, const std::string& where) {
  SlurmLine line;
  line.number = number;
  std::size_t at = 0;
  while (true) {
    at = text.find_first_not_of(kBlanks, at);
    if (at == std::string::npos) return line;
    const std::size_t blank = text.find_first_of(kBlanks, at);
    const std::size_t key_end = std::min(text.find('=', at), blank);
    const std::size_t equals = text.find_first_not_of(kBlanks, key_end);
    // "Include FILE" alone has no sign of equality.
    if (Lower(text.substr(at, 8)) == "include " && line.words.empty()) {
      line.words.emplace_back("include", Trim(std::string_view(text).substr(at + 8)));
      return line;
    }
    if (key_end == at || equals == std::string::npos || text[equals] != '=') {
      throw Error(Join(where, ": expected Key=Value, found '", text.substr(at, blank - at), "'"));
    }
    std::string value;
    const std::size_t begin = std::min(text.find_first_not_of(kBlanks, equals + 1), text.size());
    std::size_t end = 0;
    if (begin < text.size() && text[begin] == '"') {
      const std::size_t close = text.find('"', begin + 1);
      if (close == std::string::npos)
        throw Error(Join(where, ": expected a quote that ends, found '", text.substr(at), "'"));
      value = text.substr(begin + 1, close - begin - 1);
      end = close + 1;
    } else {
      end = std::min(text.find_first_of(kBlanks, begin), text.size());
      value = text.substr(begin, end - begin);
    }
    line.words.emplace_back(Lower(text.substr(at, key_end - at)), value);
    at = end;
  }
}

// "1-3,07" behind `prefix`, each with every host of `rest` behind it.
void AddRange(const std::string& prefix, std::string_view range, const std::vector<std::string>& rest,
              const std::string& what, std::vector<std::string>& hosts) {
  const std::size_t dash = range.find('-');
  const std::string first(range.substr(0, dash));
  const std::string last(dash == std::string_view::npos ? range : range.substr(dash + 1));
  const long long begin = ParseInteger(first, what), end = ParseInteger(last, what);
  if (begin < 0 || end < begin)
    throw Error(Join(what, ": expected a range such as 1-3, found '", range, "'"));
  if (end - begin >= static_cast<long long>(kMostHosts))  // also where `rest` is empty
    throw Error(Join(what, ": expected at most ", kMostHosts, " hosts, found more"));
  if (prefix.size() + first.size() > kLongestHost)
    throw Error(Join(what, ": expected names of at most ", kLongestHost, " characters, found a longer one"));
  for (long long i = 0; i <= end - begin; ++i) {
    std::string number = std::to_string(begin + i);
    if (number.size() < first.size()) number.insert(0, first.size() - number.size(), '0');
    for (const std::string& behind : rest) hosts.push_back(prefix + number + behind);
    if (hosts.size() > kMostHosts)
      throw Error(Join(what, ": expected at most ", kMostHosts, " hosts, found more"));
  }
}

// The first # that no backslash escapes, or the line's end. Of two backslashes the first escapes the second.
std::size_t BeginOfComment(const std::string& line) {
  bool escaped = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '#' && !escaped) return i;
    escaped = line[i] == '\\' && !escaped;
  }
  return line.size();
}

// Of one entry, which may have several pairs of brackets.
std::vector<std::string> ExpandOne(std::string_view text, const std::string& what) {
  const std::size_t open = text.find('[');
  if (open == std::string_view::npos) return {std::string(text)};
  const std::size_t close = text.find(']', open);
  if (close == std::string_view::npos)
    throw Error(Join(what, ": expected a ']' behind '['; found '", text, "'"));
  const std::vector<std::string> rest = ExpandOne(text.substr(close + 1), what);
  std::vector<std::string> hosts;
  for (const std::string& range : SplitOutsideParentheses(text.substr(open + 1, close - open - 1), ','))
    AddRange(std::string(text.substr(0, open)), range, rest, what, hosts);
  return hosts;
}

}  // namespace

const std::string* SlurmLine::Find(std::string_view key) const {
  for (const auto& [name, value] : words) {
    if (name == key) return &value;
  }
  return nullptr;
}

std::vector<SlurmLine> ReadSlurmConf(const std::string& path) {
  CheckReadable(path);
  std::ifstream file(path);
  std::vector<SlurmLine> lines;
  std::string raw, whole;
  int number = 0, first = 0;
  while (std::getline(file, raw)) {
    if (++number == 1 && raw.starts_with(kByteOrderMark)) raw.erase(0, kByteOrderMark.size());
    if (whole.empty()) first = number;
    raw.resize(BeginOfComment(raw));
    CheckText(raw, Join(path, ":", number));
    while (!raw.empty() && (raw.back() == '\r' || raw.back() == ' ' || raw.back() == '\t')) raw.pop_back();
    const bool goes_on = !raw.empty() && raw.back() == '\\';
    if (goes_on) raw.back() = ' ';
    whole += raw;
    if (goes_on) continue;
    SlurmLine line = WordsOf(whole, first, Join(path, ":", first));
    if (!line.words.empty()) lines.push_back(std::move(line));
    whole.clear();
  }
  if (!whole.empty())
    throw Error(Join(path, ":", first, ": expected a line behind '\\', found the end of the file"));
  return lines;
}

std::vector<std::string> ExpandHosts(std::string_view text, const std::string& what) {
  std::vector<std::string> hosts;
  std::size_t begin = 0, depth = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '[') ++depth;
    if (i < text.size() && text[i] == ']' && depth > 0) --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    const std::string entry = Trim(text.substr(begin, i - begin));
    begin = i + 1;
    if (entry.empty()) continue;
    if (std::count(entry.begin(), entry.end(), '[') > kMostBrackets)
      throw Error(Join(what, ": expected at most ", kMostBrackets, " pairs of brackets, found more"));
    for (std::string& host : ExpandOne(entry, what)) hosts.push_back(std::move(host));
    if (hosts.size() > kMostHosts)
      throw Error(Join(what, ": expected at most ", kMostHosts, " hosts, found more"));
  }
  return hosts;
}

double ParseSlurmSpan(std::string_view text, const std::string& what) {
  const std::string lower = Lower(std::string(text));
  if (lower == "unlimited" || lower == "infinite" || lower == "-1")
    return std::numeric_limits<double>::infinity();
  double days = 0.0;
  std::string clock = lower;
  const std::size_t dash = lower.find('-');
  if (dash != std::string::npos) {
    days = static_cast<double>(ParseInteger(lower.substr(0, dash), what));
    clock = lower.substr(dash + 1);
  }
  std::vector<double> parts;
  for (std::size_t begin = 0; begin <= clock.size();) {
    const std::size_t end = std::min(clock.find(':', begin), clock.size());
    parts.push_back(static_cast<double>(ParseInteger(clock.substr(begin, end - begin), what)));
    begin = end + 1;
  }
  const bool good = days >= 0.0 && parts.size() <= 3 &&
                    std::all_of(parts.begin(), parts.end(), [](double part) { return part >= 0.0; });
  if (!good) throw Error(Join(what, ": expected minutes, MM:SS, HH:MM:SS or D-HH:MM:SS, found '", text, "'"));
  // Behind days the first part is hours, otherwise one part is minutes and two are minutes and seconds.
  double seconds = 86400.0 * days;
  if (dash != std::string::npos || parts.size() == 3) {
    parts.resize(3, 0.0);
    return seconds + 3600.0 * parts[0] + 60.0 * parts[1] + parts[2];
  }
  parts.resize(2, 0.0);
  return seconds + 60.0 * parts[0] + parts[1];
}

}  // namespace berth

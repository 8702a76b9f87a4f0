#include "tools/options.hpp"

#include <algorithm>
#include <boost/program_options.hpp>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "data/text_file.hpp"
#include "env/base/check.hpp"
#include "env/base/plain_text.hpp"
#include "env/base/shortest.hpp"
#include "env/base/spec.hpp"
#include "env/sim/auditor.hpp"
#include "tools/spec_files.hpp"

namespace po = boost::program_options;

namespace berth {
namespace {

// Not part of a configuration: they say where it comes from or what to do with it.
bool IsMeta(const std::string& name) {
  return name == "help" || name == "help-all" || name == "config" || name == "set" || name == "json";
}

// Boost's reader keeps no line numbers.
std::string AtLine(const std::string& path, int number) {
  return number > 0 ? Join(path, ":", number) : path;
}

// The first line that has `part` in it; 0 = none.
int LineWith(const std::string& text, const std::string& part) {
  std::istringstream in(text);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.find(part) != std::string::npos) return number;
  }
  return 0;
}

// The line that assigns `key`; 0 = none.
int LineOf(const std::string& text, const std::string& key) {
  std::istringstream in(text);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    const auto begin = line.find_first_not_of(" \t");
    if (begin == std::string::npos || line.compare(begin, key.size(), key) != 0) continue;
    const auto after = line.find_first_not_of(" \t", begin + key.size());
    if (after != std::string::npos && line[after] == '=') return number;
  }
  return 0;
}

}  // namespace

Options::Options(std::string verb, std::string usage, std::string summary, OptionNames names)
    : verb_(std::move(verb)), usage_(std::move(usage)), summary_(std::move(summary)), names_(names) {
  if (names_ == OptionNames::kKeywords) return;
  Group(kCommon);
  Switch("help", "show what is used every day");
  Switch("help-all", "show every option");
  Input("config", "INI file of options by their long names");
  Value("set", "", "key=value: sets any option by its long name; may be repeated");
  Output("json", "write the result as JSON to this file");
  Group("Options");
}

void Options::Audits() {
  if (names_ == OptionNames::kKeywords) return;
  const std::string group = std::exchange(group_, kCommon);
  Option option;
  option.name = "audit", option.default_value = AuditOn() ? "true" : "", option.is_switch = true;
  option.help =
      "check every simulated run by books of its own: time, work, capacity, lists; stops at what is broken";
  Declare(std::move(option));
  group_ = group;
}

void Options::StartAudit() {
  if (Lookup("audit") == nullptr || Text("audit").empty() || !Bool("audit") || AuditOn()) return;
  setenv("BERTH_AUDIT", "1", /*replace=*/1);
  std::cout << "audit: every simulated run is checked\n";
}

void Options::Declare(Option option) {
  BERTH_CHECK(Lookup(option.name) == nullptr, "--", option.name, " is declared twice");
  option.value = option.default_value;
  option.group = group_;
  options_.push_back(std::move(option));
}

void Options::Value(const std::string& name, const std::string& default_value, const std::string& help) {
  Option option;
  option.name = name, option.default_value = default_value, option.help = help;
  Declare(std::move(option));
}

void Options::Input(const std::string& name, const std::string& help) {
  Option option;
  option.name = name, option.help = help, option.is_input = true;
  Declare(std::move(option));
}

void Options::InputList(const std::string& name, const std::string& help) {
  Option option;
  option.name = name, option.help = help, option.is_list = true;
  Declare(std::move(option));
}

void Options::Output(const std::string& name, const std::string& help) {
  Option option;
  option.name = name, option.help = help, option.is_output = true;
  Declare(std::move(option));
}

void Options::Inputs(const std::string& name, const std::string& help) {
  Option option;
  option.name = name, option.help = help, option.takes_words = true;
  Declare(std::move(option));
}

void Options::Switch(const std::string& name, const std::string& help) {
  Option option;
  option.name = name, option.default_value = "false", option.help = help, option.is_switch = true;
  Declare(std::move(option));
}

void Options::Positional(const std::string& name, const std::string& help) {
  Option option;
  option.name = name, option.help = help, option.is_positional = true;
  Declare(std::move(option));
}

// Boost takes what follows an option for its value, another option too.
void Options::CheckValuesFollow(const std::vector<std::string>& arguments) const {
  const auto declared = [&](const std::string& word) {
    return std::find_if(options_.begin(), options_.end(),
                        [&](const Option& o) { return "--" + o.name == word; });
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto option = declared(arguments[i]);
    if (option == options_.end() || option->is_switch) continue;
    if (i + 1 == arguments.size()) throw Error(Join(arguments[i], ": expected a value, found none"));
    if (declared(arguments[i + 1]) != options_.end())
      throw Error(Join(arguments[i], ": expected a value, found the option ", arguments[i + 1]));
  }
}

bool Options::Parse(const std::vector<std::string>& arguments) {
  CheckValuesFollow(arguments);
  po::options_description description;
  po::positional_options_description positional;
  for (const Option& option : options_) {
    if (option.is_switch) {
      description.add_options()(option.name.c_str(), po::value<std::string>()->implicit_value("true"));
    } else if (option.takes_words) {
      description.add_options()(option.name.c_str(), po::value<std::vector<std::string>>()->multitoken());
    } else if (option.name == "set") {
      description.add_options()("set", po::value<std::vector<std::string>>());
    } else {
      description.add_options()(option.name.c_str(), po::value<std::string>());
    }
    if (option.is_positional) positional.add(option.name.c_str(), 1);
  }
  std::vector<std::string> assignments;
  try {
    namespace style = po::command_line_style;
    const auto parsed = po::command_line_parser(arguments)
                            .options(description)
                            .positional(positional)
                            .style(style::unix_style & ~style::allow_guessing)
                            .run();
    for (const po::option& given : parsed.options) {
      const std::string& name = given.string_key;
      const std::string value = given.value.empty() ? "true" : given.value[0];
      if (name == "set") {
        assignments.push_back(value);
        continue;
      }
      Option* option = Lookup(name);
      BERTH_CHECK(option != nullptr, "parsed an undeclared option ", name);
      if (!option->origin.empty()) throw Error(Join("--", name, ": expected once, found twice"));
      SetValue(*option, value);
      if (option->takes_words) option->words = given.value;
      option->origin = option->is_positional ? name : "--" + name;
    }
  } catch (const po::unknown_option& error) {
    std::string name = error.get_option_name();
    name.erase(0, name.find_first_not_of('-'));
    const std::string nearest = Nearest(name, Names());
    throw Error(Join("unknown option '--", name, "'",
                     nearest.empty() ? "" : Join(" (did you mean '--", nearest, "'?)"), "; 'berth ", verb_,
                     " --help' lists them"));
  } catch (const po::too_many_positional_options_error&) {
    const bool word =
        std::any_of(options_.begin(), options_.end(), [](const Option& o) { return o.is_positional; });
    throw Error(Join("expected options", word ? " and one word" : "", ", found more words; usage: berth ",
                     verb_, " ", usage_));
  } catch (const po::error& error) {
    throw Error(Join(error.what(), "; usage: berth ", verb_, " ", usage_));
  }
  for (const char* asked : {"help-all", "help"}) {
    if (!Bool(asked)) continue;
    PrintHelp(asked == std::string("help-all"));
    return false;
  }
  for (const std::string& assignment : assignments) SetFromText(assignment);
  if (Given("config")) ReadConfig(Text("config"));
  for (const Option& option : options_) CheckText(option);
  CheckPaths();
  StartAudit();
  return true;
}

// A file may have any bytes as its name, but results, which name it, are text, and are written at the end.
void Options::CheckText(const Option& option) const {
  for (const std::string& text : option.words.empty() ? std::vector{option.value} : option.words) {
    if (const std::string found = NoUtf8In(text); !found.empty())
      throw Error(Join(Where(option.name), ": expected UTF-8, found ", found));
  }
}

std::vector<std::string> Options::PathsOf(const Option& option) const {
  if (option.is_list) return SplitOutsideParentheses(option.value, ';');
  if (option.takes_words) return Words(option.name);
  const bool one = option.is_input || option.is_output || option.is_positional;
  return one && !option.value.empty() ? std::vector{option.value} : std::vector<std::string>();
}

void Options::CheckPaths() const {
  for (const Option& option : options_) {
    if (!option.is_input && !option.is_list && !option.is_output) continue;
    const std::vector<std::string> paths = PathsOf(option);
    if (paths.empty() && !option.origin.empty()) {
      throw Error(Join(option.origin, ": expected a file's name, found nothing"));
    }
    std::error_code ignored;
    for (const std::string& path : paths) {
      if (!option.is_output && std::filesystem::is_directory(path, ignored))
        throw Error(Join(Where(option.name), ": expected a file, found the folder ", path));
    }
  }
  CheckDistinct();
}

std::vector<Options::File> Options::Files() const {
  std::vector<File> files;
  for (const Option& option : options_) {
    for (const std::string& path : PathsOf(option))
      files.push_back({Where(option.name), Where(option.name), path, option.is_output});
  }
  files.insert(files.end(), added_.begin(), added_.end());
  const bool any = std::any_of(files.begin(), files.end(), [](const File& file) { return file.written; });
  for (const Option& option : options_) {
    const bool spec = PathsOf(option).empty() && !option.is_switch && !option.value.empty();
    if (!any || !spec) continue;
    const std::string where = Where(option.name);
    for (const SpecFile& file : SpecFiles(option.value))
      files.push_back(
          {where, Join(file.said, " of ", where), file.path, /*written=*/false, /*in_spec=*/true});
  }
  for (std::size_t i = any ? files.size() : 0; i-- > 0;) {
    File file = files[i];
    if (file.written) continue;
    for (std::string& behind : FilesBehind(file.path)) {
      file.path = std::move(behind);
      files.push_back(file);
    }
  }
  return files;
}

// The one place that knows all that is read and written.
void Options::CheckDistinct() const {
  namespace fs = std::filesystem;
  std::error_code ignored;
  // What a spec names is a file that is read only where there is one.
  const auto same = [&](const File& a, const File& b) {
    if (fs::equivalent(a.path, b.path, ignored)) return true;
    if (a.in_spec || b.in_spec) return false;
    // Absolute first: it leaves a relative path whose first folder is not there as it is.
    const fs::path one = fs::weakly_canonical(fs::absolute(a.path, ignored), ignored);
    return !one.empty() && one == fs::weakly_canonical(fs::absolute(b.path, ignored), ignored);
  };
  const std::vector<File> files = Files();
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!files[i].written || fs::is_other(files[i].path, ignored)) continue;  // a device takes any number
    for (std::size_t k = 0; k < files.size(); ++k) {
      if (k == i || !same(files[i], files[k])) continue;
      throw Error(Join(files[i].where, ": expected another file than ", files[k].of_it, ", found ",
                       files[i].path, " for both"));
    }
  }
}

void Options::AddRead(const std::string& name, const std::string& path) {
  added_.push_back({Where(name), Join("one of ", Where(name)), path, /*written=*/false});
  CheckDistinct();
}

void Options::AddWritten(const std::string& name, const std::string& path) {
  added_.push_back({Where(name), Join("one of ", Where(name)), path, /*written=*/true});
  CheckDistinct();
}

void Options::SetValue(Option& option, const std::string& text) const {
  option.value = text;
  std::error_code none;
  if (text.find_first_of("\n\r") == std::string::npos || !PathsOf(option).empty() ||
      std::filesystem::exists(text, none))
    return;
  for (const char c : {'\n', '\r'}) std::replace(option.value.begin(), option.value.end(), c, ' ');
}

void Options::SetFromText(const std::string& assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string::npos) throw Error(Join("--set: expected key=value, found '", assignment, "'"));
  const std::string key = assignment.substr(0, equals);
  Option* option = Lookup(key);
  if (option == nullptr || IsMeta(key)) {
    throw Error(Join("--set: unknown key '", key, "'", DidYouMean(key, Keys())));
  }
  if (!option->origin.empty()) throw Error(Join("--set ", key, ": expected once, found twice"));
  SetValue(*option, assignment.substr(equals + 1));
  option->origin = "--set " + key;
}

void Options::Give(const std::string& keyword, const std::string& value) {
  std::vector<std::string> known;
  for (Option& option : options_) {
    known.push_back(Called(option.name));
    if (known.back() != keyword) continue;
    SetValue(option, value);
    option.origin = keyword;
    return;
  }
  throw Error(Join(verb_, ": unknown argument '", keyword, "'", DidYouMean(keyword, known)));
}

void Options::ReadConfig(const std::string& path) {
  ReadConfigText(ReadText(path), path);
}

void Options::ReadConfigText(const std::string& text, const std::string& path) {
  std::istringstream in(text);
  try {
    const po::options_description none;
    const auto parsed = po::parse_config_file(in, none, /*allow_unregistered=*/true);
    for (const po::option& given : parsed.options) {
      const std::string& key = given.string_key;
      const std::string where = Join(AtLine(path, LineOf(text, key)), ": ", key);
      Option* option = Lookup(key);
      if (option == nullptr || IsMeta(key)) {
        throw Error(Join(where, ": unknown option of berth ", verb_, DidYouMean(key, Keys())));
      }
      if (option->origin == where) throw Error(Join(where, ": expected once, found twice"));
      if (!option->origin.empty()) continue;  // the command line wins
      option->value = given.value.empty() ? "" : given.value[0];
      option->origin = where;
    }
  } catch (const po::invalid_config_file_syntax& error) {
    const std::string line = error.tokens();
    throw Error(Join(AtLine(path, LineWith(text, line)), ": expected option=value, found '", line, "'"));
  } catch (const po::error& error) {
    throw Error(Join(path, ": ", error.what()));
  }
  CheckDistinct();
  StartAudit();
}

void Options::Assign(const std::string& name, const std::string& value) {
  Option* option = Lookup(name);
  BERTH_CHECK(option != nullptr, "no option --", name);
  option->value = value;
  CheckText(*option);
  CheckDistinct();
}

bool Options::Given(const std::string& name) const {
  return !Find(name).origin.empty();
}

const std::string& Options::Text(const std::string& name) const {
  return Find(name).value;
}

std::vector<std::string> Options::Words(const std::string& name) const {
  const Option& option = Find(name);
  if (!option.takes_words || option.value.empty()) return {};
  return option.words.empty() ? std::vector<std::string>{option.value} : option.words;
}

const std::string& Options::Required(const std::string& name) const {
  const Option& option = Find(name);
  if (option.value.empty()) {
    const bool flags = names_ == OptionNames::kFlags;
    throw Error(Join(option.is_positional ? name : Called(name), ": expected a value (", option.help,
                     "), found none", flags ? Join("; usage: berth ", verb_, " ", usage_) : ""));
  }
  return option.value;
}

double Options::Number(const std::string& name, double low, double high) const {
  const double value = ParseNumber(Text(name), Where(name));
  if (!(value >= low && value <= high)) {
    throw Error(Join(Where(name), ": expected a number from ", InWords(low), " to ", InWords(high),
                     ", found ", Text(name)));
  }
  return value;
}

std::int64_t Options::Integer(const std::string& name, std::int64_t low, std::int64_t high) const {
  const std::int64_t value = ParseInteger(Text(name), Where(name));
  if (value < low || value > high) {
    throw Error(
        Join(Where(name), ": expected a whole number from ", low, " to ", high, ", found ", Text(name)));
  }
  return value;
}

bool Options::Bool(const std::string& name) const {
  return ParseBool(Text(name), Where(name));
}

std::pair<std::int64_t, std::int64_t> Options::Range(const std::string& name) const {
  const std::string& text = Text(name);
  const auto colon = text.find(':');
  const std::string expected = Join(Where(name), ": expected a half-open range A:B");
  if (colon == std::string::npos) throw Error(Join(expected, ", found '", text, "'"));
  const std::int64_t begin = ParseInteger(text.substr(0, colon), expected);
  const std::int64_t end = ParseInteger(text.substr(colon + 1), expected);
  if (begin < 0 || end <= begin) throw Error(Join(expected, " with 0 <= A < B, found '", text, "'"));
  return {begin, end};
}

std::string Options::Where(const std::string& name) const {
  const Option& option = Find(name);
  return option.origin.empty() ? Called(name) : option.origin;
}

std::string Options::Called(const std::string& name) const {
  if (names_ == OptionNames::kFlags) return "--" + name;
  std::string keyword = name;
  std::replace(keyword.begin(), keyword.end(), '-', '_');
  return keyword;
}

std::vector<std::pair<std::string, std::string>> Options::Resolved() const {
  std::vector<std::pair<std::string, std::string>> values;
  for (const Option& option : options_) {
    if (!IsMeta(option.name) && !option.value.empty()) values.emplace_back(option.name, option.value);
  }
  return values;
}

std::string Options::ResolvedIni() const {
  std::string text = "# berth " + verb_ + " --config reads this\n";
  for (const auto& [name, value] : Resolved()) text += name + "=" + value + "\n";
  return text;
}

const Options::Option& Options::Find(const std::string& name) const {
  const auto it =
      std::find_if(options_.begin(), options_.end(), [&](const Option& o) { return o.name == name; });
  BERTH_CHECK(it != options_.end(), "no option --", name);
  return *it;
}

Options::Option* Options::Lookup(const std::string& name) {
  const auto it =
      std::find_if(options_.begin(), options_.end(), [&](const Option& o) { return o.name == name; });
  return it == options_.end() ? nullptr : &*it;
}

std::vector<std::string> Options::Keys() const {
  std::vector<std::string> names;
  for (const Option& option : options_) {
    if (!IsMeta(option.name)) names.push_back(option.name);
  }
  return names;
}

std::vector<std::string> Options::Names() const {
  std::vector<std::string> names;
  for (const Option& option : options_) names.push_back(option.name);
  return names;
}

}  // namespace berth

// What --help and --help-all print.
#include <algorithm>
#include <iostream>

#include "env/base/check.hpp"
#include "tools/options.hpp"

namespace berth {
namespace {

constexpr std::size_t kColumns = 100;

// `first` and `words` in lines of kColumns, all but the first indented. What has no blank, such as a long
// spec, is broken behind a comma.
std::string Wrapped(const std::string& first, std::string words, std::size_t indent) {
  std::string text, line = first;
  while (line.size() + words.size() > kColumns) {
    const std::size_t room = kColumns - line.size();
    const std::size_t blank = words.rfind(' ', room), comma = words.rfind(',', room - 1);
    if (blank == std::string::npos && comma == std::string::npos) break;
    const std::size_t end = blank != std::string::npos ? blank : comma + 1;
    text += line + words.substr(0, end) + "\n";
    words.erase(0, blank != std::string::npos ? end + 1 : end);
    line = std::string(indent, ' ');
  }
  return text + line + words + "\n";
}

}  // namespace

void Options::Everyday(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    Option* option = Lookup(name);
    BERTH_CHECK(option != nullptr, "no option --", name);
    option->everyday = true;
  }
}

std::string Options::HelpOf(const Option& option, std::size_t width) const {
  const std::string label = option.is_positional ? option.name : Called(option.name);
  const bool shows = !option.is_switch && !option.default_value.empty();
  const std::string words = option.help + (shows ? " [" + option.default_value + "]" : "");
  const std::string first = "  " + label + std::string(width + 2 - label.size(), ' ');
  return Wrapped(first, words, first.size());
}

std::string Options::Help(bool all) const {
  const bool choose = !all && std::any_of(options_.begin(), options_.end(),
                                          [](const Option& option) { return option.everyday; });
  const auto shown = [&](const Option& option) {
    return !choose || option.everyday;
  };
  std::size_t width = 0;
  std::vector<std::string> headings;
  for (const Option& option : options_) {
    if (!shown(option)) continue;
    width = std::max(width, Called(option.name).size());
    if (std::find(headings.begin(), headings.end(), option.group) == headings.end())
      headings.push_back(option.group);
  }
  // What every verb has is declared first and read last.
  if (!headings.empty() && headings[0] == kCommon)
    std::rotate(headings.begin(), headings.begin() + 1, headings.end());
  std::string text;
  for (const std::string& heading : headings) {
    if (headings.size() > 1) text += (text.empty() ? "" : "\n") + heading + "\n";
    for (const Option& option : options_) {
      if (option.group == heading && shown(option)) text += HelpOf(option, width);
    }
  }
  return text;
}

void Options::PrintHelp(bool all) const {
  std::cout << Wrapped("", "berth " + verb_ + " " + summary_ + ".", 0) << "\n"
            << Wrapped("usage: berth " + verb_ + " ", usage_, 7) << "\n"
            << Help(all);
  if (!note_.empty()) std::cout << "\n" << Wrapped("", note_, 0);
  const bool more = !all && Help(true).size() > Help(false).size();
  if (more) {
    std::cout << "\nberth " << verb_ << " --help-all shows every option, among them those of every verb: "
              << "--config FILE,\n--set key=value, --json FILE.\n";
  }
}

}  // namespace berth

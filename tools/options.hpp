// The options of one verb: declared once beside the code that reads them; --help, --config, --set, validation
// and the resolved configuration come from the declaration.
//
//   Options options("simulate", "--scenario FILE --scheduler SPEC", "runs one scheduler");
//   options.Group("Scheduler");
//   options.Value("scheduler", "fcfs", "spec of the scheduler");
//   if (!options.Parse(arguments)) return 0;   // --help was printed
//   options.Text("scheduler");
//
// A value comes from the command line (flag or --set), else from --config, else it is the default. Unknown
// names are Errors that name the nearest right one.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "env/base/check.hpp"

namespace berth {

// How messages name an option: --episode-jobs on a command line, episode_jobs where Python calls.
enum class OptionNames { kFlags, kKeywords };

class Options {
 public:
  // Declares --help, --help-all, --config, --set and --json too, where they are flags.
  Options(std::string verb, std::string usage, std::string summary, OptionNames names = OptionNames::kFlags);

  // The heading in --help of what is declared next, until the next Group.
  void Group(const std::string& heading) { group_ = heading; }
  // The options that --help shows, where all of them do not fit a screen; --help-all shows the others too.
  void Everyday(const std::vector<std::string>& names);
  void Note(std::string note) { note_ = std::move(note); }  // a paragraph that help ends with

  void Value(const std::string& name, const std::string& default_value, const std::string& help);
  // Files that the verb reads and writes. Given, they must be named; what is written must be none of the
  // others, nor one that a spec among the values names (policy(file=...)), nor one of AddRead and AddWritten,
  // nor what stands behind their names: an archive, the tables in a folder (spec_files.hpp).
  void Input(const std::string& name, const std::string& help);
  void InputList(const std::string& name, const std::string& help);  // any number, separated by ';'
  void Output(const std::string& name, const std::string& help);
  void Inputs(const std::string& name, const std::string& help);      // one or more words behind the flag
  void Switch(const std::string& name, const std::string& help);      // --name alone means true
  void Positional(const std::string& name, const std::string& help);  // the word without a flag

  // --audit, of verbs that simulate: from Parse or ReadConfig on, this process audits (env/sim/auditor.hpp).
  void Audits();

  // False when --help or --help-all was asked for and printed.
  bool Parse(const std::vector<std::string>& arguments);
  // A keyword's value, in place of Parse. Error for a name that is not declared, naming the nearest one.
  void Give(const std::string& keyword, const std::string& value);
  // Values for whatever is still at its default, as --config gives them. Call after Parse.
  void ReadConfig(const std::string& path);
  // A file that the verb reads or writes because of option `name`, such as the checkpoint in the folder of a
  // run. Error where an output is that file or, of one written, an input. Call after Parse.
  void AddRead(const std::string& name, const std::string& path);
  void AddWritten(const std::string& name, const std::string& path);
  // The same of a text, which messages call `where`.
  void ReadConfigText(const std::string& text, const std::string& where);
  // Replaces the value, e.g. a path made absolute before the configuration is recorded.
  void Assign(const std::string& name, const std::string& value);

  bool Given(const std::string& name) const;  // not at its default
  const std::string& Text(const std::string& name) const;
  std::vector<std::string> Words(const std::string& name) const;          // of Inputs
  const std::string& Required(const std::string& name) const;             // Error when empty
  double Number(const std::string& name, double low, double high) const;  // inclusive bounds
  std::int64_t Integer(const std::string& name, std::int64_t low, std::int64_t high) const;
  bool Bool(const std::string& name) const;
  // "A:B", half open, 0 <= A < B.
  std::pair<std::int64_t, std::int64_t> Range(const std::string& name) const;
  std::string Where(const std::string& name) const;  // "--steps", or "run.ini:3: steps", or "steps"

  const std::string& verb() const { return verb_; }
  std::vector<std::pair<std::string, std::string>> Resolved() const;  // every value that is set, in order
  std::string Help(bool all = true) const;  // options under their headings, with defaults
  std::string ResolvedIni() const;          // the same as --config reads it

 private:
  static constexpr const char* kCommon = "In every verb";  // the constructor's heading
  struct Option {
    std::string name, value, help;
    std::string default_value, group;
    std::string origin;  // empty = default
    bool everyday = false;
    bool is_switch = false, is_positional = false, is_input = false, is_list = false, is_output = false;
    std::vector<std::string> words;
    bool takes_words = false;
  };
  struct File {
    std::string where, of_it, path;  // how messages name it, and how where another one is the wrong one
    bool written = false, in_spec = false;
  };
  void Declare(Option option);
  void StartAudit();
  const Option& Find(const std::string& name) const;
  Option* Lookup(const std::string& name);
  std::string Called(const std::string& name) const;  // as OptionNames says
  std::vector<std::string> Names() const;
  std::vector<std::string> Keys() const;  // of configurations: all but the constructor's
  std::vector<std::string> PathsOf(const Option& option) const;
  std::vector<File> Files() const;  // every one that is read or written, and values of specs that may be one
  void CheckValuesFollow(const std::vector<std::string>& arguments) const;
  void CheckText(const Option& option) const;
  void CheckPaths() const;
  void CheckDistinct() const;
  // Line breaks of what is no file are blanks: a configuration has a line a value, and so have tables.
  void SetValue(Option& option, const std::string& text) const;
  void SetFromText(const std::string& assignment);
  std::string HelpOf(const Option& option, std::size_t width) const;
  void PrintHelp(bool all) const;

  std::string verb_, usage_, summary_, group_, note_;
  OptionNames names_;
  std::vector<Option> options_;
  std::vector<File> added_;
};

// What `make` makes of an option's text; its Error says which option it was.
template <class F>
auto InOption(const Options& options, const std::string& name, const F& make) {
  try {
    return make();
  } catch (const Error& error) {
    const std::string what = error.what(), own = name + ": ";  // which it may say itself
    throw Error(Join(options.Where(name), ": ", what.starts_with(own) ? what.substr(own.size()) : what));
  }
}

}  // namespace berth

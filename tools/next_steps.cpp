#include "tools/next_steps.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <regex>
#include <sstream>

#include "data/hdf5_file.hpp"
#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

using Given = std::map<std::string, std::string>;

// What holds where there is no file and nothing is said.
bool Default(const std::string& name, const std::string& value) {
  return (name == "workload" && value == kDefaultWorkload) ||
         (name == "cluster" && value == kDefaultCluster) || (name == "clock" && value == "rounds(360)") ||
         (name == "knowledge" && value == "oracle");
}

std::string Words(const Given& given) {
  std::string words;
  for (const char* name : {"scenario", "format", "workload", "cluster", "clock", "knowledge", "sigma",
                           "checkpoint-cost", "restore-cost", "migration-cost", "features"}) {
    const auto found = given.find(name);
    if (found == given.end() || (given.count("scenario") == 0 && Default(name, found->second))) continue;
    words += Join(" --", name, " ", ForShell(found->second));
  }
  return words;
}

Given GivenIn(const std::string& config) {
  Given given;
  std::istringstream lines(config);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    if (equals != std::string::npos) given[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return given;
}

std::string ValueOf(const Given& given, const std::string& name) {
  const auto found = given.find(name);
  return found == given.end() ? "" : found->second;
}

// Of a scenario's file the number of jobs, and what it says itself need not be said; 0 where it is a log of
// another format, or not there.
int ForgetDefaults(Given& given) {
  const std::string file = ValueOf(given, "scenario");
  if (!ValueOf(given, "format").empty() || h5::IfKindOf(file) != "scenario") return 0;
  try {
    const Scenario scenario = ReadScenario(file);
    if (ValueOf(given, "clock") == scenario.data().clock.ToString()) given.erase("clock");
    if (ValueOf(given, "knowledge") == ToString(scenario.data().knowledge)) given.erase("knowledge");
    return scenario.num_jobs();
  } catch (const Error&) {
    return 0;
  }
}

// The words that say which jobs, and these options with them.
std::string Again(const std::string& config, std::initializer_list<const char*> names) {
  const Given given = GivenIn(config);
  std::string words = Words(given);
  for (const char* name : names) {
    const auto found = given.find(name);
    if (found != given.end() && !found->second.empty())
      words += Join(" --", name, " ", ForShell(found->second));
  }
  return words;
}

// Is the option among a verb's arguments, as a flag or by --set?
bool Has(const std::vector<std::string>& arguments, const std::string& name) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "--" + name || word.starts_with("--" + name + "=")) return true;
    if (i > 0 && arguments[i - 1] == "--set" && word.starts_with(name + "=")) return true;
  }
  return false;
}

}  // namespace

std::string ForShell(const std::string& word) {
  constexpr const char* kBare = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=.,:/@%";
  if (!word.empty() && word.find_first_not_of(kBare) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string SameJobs(const Options& options) {
  Given given;
  for (const auto& [name, value] : options.Resolved()) {
    if (options.Given(name)) given[name] = value;
  }
  return Words(given);
}

std::string SameJobs(const std::string& config) {
  return Words(GivenIn(config));
}

std::string NextOfEvaluation(const std::string& config) {
  return NextStep(
      "pictures of it",
      Join("evaluate", Again(config, {"seeds", "window", "max-time", "schedulers"}), " --report page"));
}

std::string NextOfEvents(const std::string& config) {
  return NextStep(
      "the same run as a timeline",
      Join("simulate", Again(config, {"seed", "window", "max-time", "scheduler"}), " --timeline run.json"));
}

std::string NextOfReport(const std::string& config) {
  return NextStep(
      "who held which GPU when, which ui.perfetto.dev shows",
      Join("evaluate", Again(config, {"seeds", "window", "max-time", "schedulers"}), " --timeline run.json"));
}

std::string NextOfShard(const std::string& file) {
  // r.1-of-4.h5: the shell finds r.*-of-4.h5.
  static const std::regex kShard("(.*)[.][0-9]+(-of-[0-9]+)([.][^./]*)");
  std::smatch parts;
  const bool named = std::regex_match(file, parts, kShard);
  return NextStep("when all shards are there, the evaluation that they are parts of",
                  named ? Join("evaluate --merge ", ForShell(parts[1]), ".*", parts[2].str(), parts[3].str(),
                               " --out ", ForShell(parts[1].str() + parts[3].str()))
                        : Join("evaluate --merge ", ForShell(file), " ... --out all.h5"));
}

std::string SameCommand(const std::string& verb, const std::vector<std::string>& arguments,
                        const std::vector<std::string>& without) {
  std::string words = verb;
  for (const std::string& word : arguments) {
    if (std::find(without.begin(), without.end(), word) == without.end()) words += " " + ForShell(word);
  }
  return words;
}

std::string NextOfReproduction(const std::string& name, const std::string& keeps,
                               const std::vector<std::string>& arguments) {
  const std::string verb = "reproduce " + name;
  const std::string kept = Join(" --", keeps, " ", name, keeps == "json" ? ".json" : "");
  if (Has(arguments, "estimate") || Has(arguments, "dry-run")) {
    return NextStep("to make what is listed", SameCommand(verb, arguments, {"--estimate", "--dry-run"}) +
                                                  (Has(arguments, keeps) ? "" : kept));
  }
  if (Has(arguments, "golden") || Has(arguments, "mechanism"))
    return NextStep("its experiments, and how long they take", verb + " --quick --estimate");
  if (!Has(arguments, keeps)) {
    return NextStep(keeps == "json" ? "the same, kept in a file" : "the same, kept as a page in a folder",
                    SameCommand(verb, arguments) + kept);
  }
  if (Has(arguments, "quick"))
    return NextStep("all of it, which takes longer", SameCommand(verb, arguments, {"--quick"}));
  return NextStep("what else can be rerun", "reproduce --help");
}

std::string FirstLook(Knowledge knowledge) {
  if (knowledge >= Knowledge::kEstimate) return "fcfs;easy;srpt;las";
  return knowledge == Knowledge::kBlind ? "fcfs;las;tuned_blind" : "fcfs;best_fit";
}

std::string TrainingPart(int num_jobs) {
  constexpr int kFewest = 10;  // jobs that can be divided at all
  return num_jobs < kFewest ? "" : Join(" --jobs 0:", num_jobs * 7 / 10);
}

std::string KeptBack(const std::string& jobs, int num_jobs) {
  const std::size_t colon = jobs.find(':');
  if (colon == std::string::npos) return "";
  const long long begin = std::strtoll(jobs.c_str(), nullptr, 10);
  const long long end = std::strtoll(jobs.c_str() + colon + 1, nullptr, 10);
  if (end < num_jobs) return Join(" --window ", end, ":", num_jobs);
  if (begin > 0) return Join(" --window 0:", begin);
  return num_jobs > 0 ? "" : Join(" --window ", end, ":N");
}

std::string NextStep(const std::string& meaning, const std::string& words) {
  return Join("next, ", meaning, ":\n  ", CommandName(), " ", words, "\n");
}

std::string NextOfScenario(const std::string& file, const Scenario& scenario) {
  return NextStep("what schedulers make of it", Join("evaluate --scenario ", ForShell(file), " --schedulers ",
                                                     ForShell(FirstLook(scenario.data().knowledge))));
}

std::string NextOfPolicy(const std::string& file, const std::string& config) {
  Given given = GivenIn(config);
  std::string meaning = "what it is worth on jobs that it was not trained on", window;
  if (!ValueOf(given, "scenario").empty()) {
    // Of a search --pieces says which, and --jobs how many at a time.
    const std::string pieces = ValueOf(given, "pieces");
    const bool searched = pieces.find(':') != std::string::npos;
    window = KeptBack(searched ? pieces : ValueOf(given, "jobs"), ForgetDefaults(given));
    if (window.empty()) meaning = "what it is worth on the jobs that it was trained on";
    if (window.ends_with('N')) meaning += ", with their number in the place of N";
  }
  return NextStep(meaning, Join("evaluate", Words(given), window, " --schedulers ",
                                ForShell(Join("fcfs;policy(file=", file, ")"))));
}

}  // namespace berth

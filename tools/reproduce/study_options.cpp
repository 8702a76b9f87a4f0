#include "tools/reproduce/study_options.hpp"

#include <algorithm>
#include <iostream>
#include <set>
#include <thread>

#include "env/base/counted.hpp"
#include "env/base/spec.hpp"
#include "tools/interrupt.hpp"
#include "tools/next_steps.hpp"
#include "tools/plot_script.hpp"
#include "tools/progress.hpp"

namespace berth {

void AddThreads(Options& options, const char* what) {
  options.Value("threads", std::to_string(std::max(1U, std::thread::hardware_concurrency())),
                Join("runs at once; ", what, " not depend on it"));
}

void AddRunOptions(Options& options) {
  options.Switch("no-pictures", "only the page and the .csv files");
  options.Switch("estimate", "list the runs and the time they take, and stop");
}

std::vector<std::uint64_t> SeedList(const Options& options, const std::string& option) {
  const auto [begin, end] = options.Range(option);
  std::vector<std::uint64_t> seeds;
  for (std::int64_t seed = begin; seed < end; ++seed) seeds.push_back(static_cast<std::uint64_t>(seed));
  return seeds;
}

std::vector<std::size_t> ChosenParts(const Options& options, const std::string& option,
                                     const std::vector<std::string>& known, const std::string& kind) {
  std::set<std::string> wanted;
  for (const std::string& name : SplitOutsideParentheses(options.Text(option), ',')) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw Error(Join(options.Where(option), ": unknown ", kind, " '", name, "'", DidYouMean(name, known)));
    }
    wanted.insert(name);
  }
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (wanted.empty() || wanted.count(known[i]) > 0) chosen.push_back(i);
  }
  return chosen;
}

std::optional<int> MakeRuns(const Options& options, ReproductionRuns& runs) {
  const bool only_estimate = options.Bool("estimate");
  const int threads = Threads(options);
  runs.ReadKept();
  if (only_estimate) std::cout << runs.Listing();
  for (const auto& [spec, why] : runs.missing()) std::cout << "not available: " << why << "\n";
  std::cout << Counted(runs.planned(), "run") << ", " << runs.planned() - runs.to_do()
            << " of them kept, about " << Duration(runs.estimate_s()) << " of one core left\n";
  if (only_estimate) return 0;
  std::cout.flush();
  if (runs.Execute(threads)) return std::nullopt;
  std::cerr << "interrupted: the runs that ended are kept, the same command goes on\n";
  return kExitInterrupted;
}

std::string MadeBy(const Options& options, std::initializer_list<const char*> names) {
  std::string command = "berth " + options.verb();
  for (const char* name : names) {
    const std::string& value = options.Text(name);
    if (!options.Given(name)) continue;
    command += Join(" --", name, value == "true" ? "" : value == "false" ? "=false" : " " + ForShell(value));
  }
  return command + " --out DIR";
}

void DrawPictures(const Options& options, const std::string& script, const std::string& folder) {
  const std::string why = options.Bool("no-pictures") ? "" : RunPlotScript(script, {folder});
  if (!why.empty()) std::cout << why << "\n";
}

}  // namespace berth

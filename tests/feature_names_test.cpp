// A feature is a module: nobody outside of its folder names it, but for the table, the schedulers that use
// it, studies and benchmarks about it, tests and documentation. Counts names in the code of the whole tree
// (comments aside): includes of its folder, its settings and its state, and its name in a string.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "env/features/table.hpp"
#include "tests/catch.hpp"
#include "tests/sanitized.hpp"
#include "tests/skip.hpp"

namespace berth {
namespace {

namespace fs = std::filesystem;

// Files, or folders that end in '/', that may name these features. Who is listed and names none fails too.
const std::map<std::string, std::set<std::string>> kMayName = {
    // the table
    {"env/features/table.hpp", {"*"}},
    // schedulers that use them
    {"baselines/adaptive/", {"goodput"}},
    {"baselines/composition/anticipate.cpp", {"latency"}},
    {"baselines/composition/replay.cpp", {"elasticity", "partitions", "services", "sharing", "stages"}},
    {"baselines/composition/reservation.cpp", {"forecast"}},
    {"baselines/dependencies/", {"stages"}},
    {"baselines/elastic/optimus_tuned.cpp", {"goodput"}},
    {"baselines/fairness/batch_forecast.hpp", {"batch_schedule"}},
    {"baselines/partitioning/gpu_shares.cpp", {"sharing"}},
    {"baselines/partitioning/mig.cpp", {"partitions", "services"}},
    {"baselines/partitioning/mig_static.cpp", {"partitions"}},
    {"baselines/placement/", {"topology"}},
    {"baselines/power/", {"power", "monitoring"}},
    {"baselines/preemptive/service_distribution.hpp", {"services"}},  // a parameter of that name
    {"baselines/ranking.cpp", {"checkpoints", "topology"}},
    {"baselines/services/", {"services"}},
    // a workload whose jobs say nothing without it, and the options to learn from it
    {"data/adaptive_jobs.cpp", {"goodput"}},
    {"tools/train_recipes.cpp", {"goodput"}},
    // logs whose jobs change batches
    {"data/gavel_trace.cpp", {"batch_schedule"}},
    // a log that says who waited for whom and which nodes failed
    {"data/sacct/", {"failures", "stages"}},
    {"data/decisions/", {"failures"}},
    // a check of schedulers of that name
    {"tools/scheduler_checks.cpp", {"estimates"}},
    // Slurm's partitions
    {"tools/controller/slurm_state.cpp", {"partitions"}},
    // when jobs start: a verb and an option of that name, and moments that it cannot go on from
    {"tools/forecast.cpp", {"forecast"}},
    {"tools/serve_slurm.cpp", {"forecast"}},
    {"tools/verbs.hpp", {"forecast"}},
    {"tools/forecast/", {"elasticity", "failures", "partitions", "services", "sharing"}},
    // lists of blocks that shipped policies were trained on
    {"env/gym/encoder_presets.hpp", {"*"}},
    // documentation: the reference of observations, commands of the verbs' pages
    {"tools/docs/examples.hpp", {"failures", "forecast"}},
    {"tools/docs/pages.cpp", {"power"}},
    // studies and benchmarks about them
    {"tools/reproduce/", {"*"}},
    {"tools/bench/", {"*"}},
};

// Most files hold not even `literal`, and std::regex is slow.
struct Trace {
  std::string literal;
  std::regex whole;
  bool In(const std::string& code) const {
    return code.find(literal) != std::string::npos && std::regex_search(code, whole);
  }
};

struct Feature {
  std::string name;
  std::vector<Trace> traces;
};

std::string Read(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool IsSource(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".hpp" || extension == ".cpp" || extension == ".cu";
}

// Without comments; strings stay.
std::string Code(const std::string& text) {
  std::string code;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!quoted && text.compare(i, 2, "//") == 0) {
      i = std::min(text.find('\n', i), text.size() - 1);
    } else if (quoted && text[i] == '\\') {
      code += text[i++];
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (text[i] == '\n') {
      quoted = false;  // of a quote that was a character
    }
    code += text[i];
  }
  return code;
}

std::vector<Feature> ShippedTraces(const fs::path& root) {
  std::vector<Feature> features;
  for (const FeatureModule& module : ShippedFeatures()) {
    const std::string name = module.name;
    Feature feature{name, {}};
    const auto add = [&](const std::string& literal, const std::string& whole) {
      feature.traces.push_back({literal, std::regex(whole)});
    };
    add("env/features/" + name + "/", "env/features/" + name + "/");
    add("\"" + name, "\"" + name + "(\"|\\()");   // alone, or with settings
    add(name + "(", "[;:'] ?" + name + "\\(");  // among others
    add(name + ":", "\\b" + name + ":[0-9]");    // as a block of an observation
    for (const auto& entry : fs::directory_iterator(root / "env/features" / name)) {
      if (entry.path().extension() != ".hpp") continue;
      const std::string text = Read(entry.path());
      static const std::regex kType(R"(\w+ (\w+) final : (public )?(SettingsOf|StateOf)<)");
      for (std::sregex_iterator it(text.begin(), text.end(), kType), end; it != end; ++it)
        add((*it)[1].str(), "\\b" + (*it)[1].str() + "\\b");
    }
    features.push_back(std::move(feature));
  }
  return features;
}

}  // namespace

TEST_CASE("features: no file names one that is not its own") {
  if (test::kSanitized) return test::Skip("reads sources alone, for two minutes: nothing for a sanitizer");
  const fs::path root = BERTH_SOURCE_DIR;
  const std::vector<Feature> features = ShippedTraces(root);
  std::set<std::string> used;  // of kMayName
  int found = 0;
  for (const char* folder : {"env", "data", "baselines", "policies", "agents", "tools"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (!IsSource(entry.path())) continue;
      const std::string path = fs::relative(entry.path(), root).string();
      const std::string code = Code(Read(entry.path()));
      for (const Feature& feature : features) {
        if (path.rfind("env/features/" + feature.name + "/", 0) == 0) continue;
        const bool names =
            std::any_of(feature.traces.begin(), feature.traces.end(),
                        [&](const Trace& trace) { return trace.In(code); });
        if (!names) continue;
        ++found;
        bool may = false;
        for (const auto& [where, which] : kMayName) {
          const bool here = where.back() == '/' ? path.rfind(where, 0) == 0 : path == where;
          if (!here || (which.count("*") == 0 && which.count(feature.name) == 0)) continue;
          may = true;
          used.insert(where + " " + feature.name), used.insert(where + " *");
        }
        INFO(path << " names the feature " << feature.name);
        CHECK(may);
      }
    }
  }
  CHECK(found > 20);  // the schedulers do
  for (const auto& [where, which] : kMayName) {
    for (const std::string& feature : which) {
      INFO(where << " may name " << feature << ", and does not");
      CHECK((used.count(where + " " + feature) == 1 || where == "env/features/table.hpp" ||
             where == "tools/bench/"));
    }
  }
}

// The words in `code` quotes of the row "| hooks ...", and those that the feature's state overrides.
TEST_CASE("features: the page of each names the hooks that it listens to") {
  const fs::path root = BERTH_SOURCE_DIR;
  for (const FeatureModule& module : ShippedFeatures()) {
    CAPTURE(module.name);
    const fs::path folder = root / "env/features" / module.name;
    std::set<std::string> overridden, named;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() != ".hpp") continue;
      const std::string text = Read(entry.path());
      const std::size_t begin = text.find("public StateOf<");
      if (begin == std::string::npos) continue;
      const std::string state = text.substr(begin, text.find("\n};", begin) - begin);
      static const std::regex kOverride(R"((\w+)\([^()]*\)\s*(const )?override)");
      for (std::sregex_iterator it(state.begin(), state.end(), kOverride), end; it != end; ++it)
        overridden.insert((*it)[1].str());
    }
    const std::string page = Read(folder / "README.md");
    const std::size_t row = page.find("| hooks (`env/sim/feature.hpp`) |");
    const std::string hooks =
        row == std::string::npos ? "" : page.substr(row + 33, page.find('\n', row) - row - 33);
    static const std::regex kName("`(\\w+)`");
    for (std::sregex_iterator it(hooks.begin(), hooks.end(), kName), end; it != end; ++it)
      named.insert((*it)[1].str());
    CHECK(overridden == named);
  }
}

TEST_CASE("features: nobody is a friend") {
  const fs::path root = BERTH_SOURCE_DIR;
  for (const auto& entry : fs::recursive_directory_iterator(root / "env")) {
    if (!IsSource(entry.path())) continue;
    INFO(entry.path().string());
    CHECK(Code(Read(entry.path())).find("friend class") == std::string::npos);
  }
}

}  // namespace berth

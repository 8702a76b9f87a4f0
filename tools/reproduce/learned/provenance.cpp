// What is shipped and where it came from: the attributes of the policies' own files, and the command that
// trains each.
#include <set>

#include "env/base/check.hpp"
#include "policies/bundle.hpp"
#include "tools/reproduce/learned/experiments.hpp"
#include "tools/reproduce/learned/recipes.hpp"

namespace berth {
namespace {

using Cells = ReproductionPage::Cells;

// One value, or all that there are: training seeds of one name should agree.
std::string Joined(const std::set<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += Join(text.empty() ? "" : "; ", value);
  return text;
}

std::string Commands(const Recipe& recipe) {
  std::string commands;
  for (const RecipeStep& step : recipe.steps) {
    const bool trains = step.verb == RecipeStep::Verb::kTrain, goes_on = !commands.empty();
    std::string command = Join("berth ", ToString(step.verb));
    for (const auto& [name, value] : step.options) {
      const bool bare = value.find_first_of(" ();*") == std::string::npos;
      command += Join(" --", name, " ", bare ? value : Join("'", value, "'"));
    }
    command +=
        Join(" --seed SEED", goes_on ? " --policy BEFORE.h5" : "", " --out ", trains ? "RUN" : "NEXT.h5");
    commands += Join(commands.empty() ? "" : ", then ", "`", command, "`");
  }
  return commands;
}

}  // namespace

void PlanPolicies(const LearnedSettings&, ReproductionRuns&) {}

void ReportPolicies(const LearnedSettings& settings, const ReproductionRuns&, LearnedPage& out) {
  out.page.Heading("The policies");
  out.page.Paragraph(
      "As their files say (`berth inspect`); the commands are those of the recipes, which `--train` runs and "
      "`berth export` freezes.");
  std::vector<Cells> rows;
  std::string commands;
  for (const Recipe& recipe : Recipes()) {
    std::set<std::string> networks, agents, knowledge, workloads, steps, commits;
    std::string seeds;
    std::int64_t parameters = 0;
    for (const TrainedPolicy& policy : settings.policies.Find(recipe.name)) {
      const PolicyBundle bundle = LoadBundle(policy.file);
      networks.insert(bundle.network), agents.insert(bundle.provenance.agent);
      knowledge.insert(
          Join(bundle.mdp.encoder, ", ", ToString(bundle.mdp.knowledge), ", ", bundle.mdp.reward));
      workloads.insert(bundle.provenance.workload), commits.insert(bundle.provenance.commit);
      steps.insert(std::to_string(bundle.provenance.steps));
      parameters = bundle.parameters();
      seeds += Join(seeds.empty() ? "" : ", ", bundle.provenance.seed);
    }
    commands += Join("- `", recipe.name, "`: ", Commands(recipe), "\n");
    if (seeds.empty()) continue;
    rows.push_back({Join("`", recipe.name, "`"), seeds, Joined(agents),
                    Join(Joined(networks), ", ", parameters, " numbers"), Joined(knowledge), Joined(steps),
                    Joined(workloads), Joined(commits)});
  }
  if (rows.empty()) {
    out.page.Paragraph("Not available: no policy of any recipe is there.");
  } else {
    out.page.Rows({"policy", "training seeds", "agent", "network", "sees, knows, is paid", "steps",
                   "workload", "commit"},
                  rows);
  }
  out.page.Paragraph(commands);
}

}  // namespace berth

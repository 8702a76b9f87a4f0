// berth explain: what a policy considered at one moment of a run, what it chose, and what of its observation
// that hung on.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "data/workloads.hpp"
#include "env/base/index.hpp"
#include "policies/policy_scheduler.hpp"
#include "tools/explain_page.hpp"
#include "tools/explained.hpp"
#include "tools/next_steps.hpp"
#include "tools/output_file.hpp"
#include "tools/progress.hpp"
#include "tools/report/gantt_data.hpp"
#include "tools/results.hpp"
#include "tools/scenario_options.hpp"
#include "tools/table.hpp"
#include "tools/verbs.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

// The commands that were legal as the point began or that were chosen, best first.
std::vector<ExplainedCommand> Ranked(const Explained& explained, const std::vector<int>& taken) {
  std::vector<ExplainedCommand> ranked;
  for (int action = 0; action <= explained.done(); ++action) {
    const auto order = std::find(taken.begin(), taken.end(), action);
    if (explained.legal()[U(action)] == 0 && order == taken.end()) continue;
    const int chosen = order == taken.end() ? 0 : static_cast<int>(order - taken.begin()) + 1;
    ranked.push_back({explained.Text(action), explained.scores()[U(action)], chosen});
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const ExplainedCommand& a, const ExplainedCommand& b) { return a.score > b.score; });
  return ranked;
}

// Empty where nothing was chosen.
std::vector<ExplainedBlock> Occluded(Explained& explained, const std::vector<int>& taken) {
  std::vector<ExplainedBlock> blocks;
  if (taken.empty()) return blocks;
  for (const Explained::Without& it : explained.Occlude(taken[0])) {
    const std::string best = it.best < 0 ? "-" : explained.Text(it.best);
    blocks.push_back({it.block, it.change, it.best == taken[0] ? "the same" : best});
  }
  return blocks;
}

void PrintExplained(const ExplainPage& page) {
  std::cout << page.scenario << "\nat " << Fixed(page.time_s, 0) << " s: " << page.waiting << " jobs wait, "
            << page.running << " run; " << page.commands.size() << " commands were considered\n\n";
  Table commands({"command", "score", "chosen"});
  for (std::size_t i = 0; i < std::min(page.top, page.commands.size()); ++i) {
    const ExplainedCommand& it = page.commands[i];
    commands.AddRow({it.text, Fixed(it.score, 3), it.chosen > 0 ? Join(it.chosen) : ""});
  }
  std::cout << commands.ToString();
  if (page.commands.size() > page.top)
    std::cout << "and " << page.commands.size() - page.top << " more (--top)\n";
  for (const ExplainedCommand& it : page.commands) {
    if (it.chosen != 1) continue;
    std::cout << "\nWhat \"" << it.text << "\" hangs on: with the numbers of each block at 0\n\n";
    Table blocks({"block", "score", "first would be"});
    for (const ExplainedBlock& of : page.blocks)
      blocks.AddRow({of.block, Join(of.change < 0.0 ? "" : "+", Fixed(of.change, 3)), of.first});
    std::cout << blocks.ToString();
  }
  std::cout << "\nthe decision: " << page.decision << "\n";
}

Json ExplainedJson(const ExplainPage& page, const std::string& file) {
  Json json = {{"time_s", page.time_s}, {"policy", file}, {"decision", page.decision}};
  for (const ExplainedCommand& it : page.commands) {
    const std::string chosen = it.chosen > 0 ? Join(it.chosen) : "";
    json["commands"].push_back({{"command", it.text}, {"score", it.score}, {"chosen", chosen}});
  }
  for (const ExplainedBlock& it : page.blocks)
    json["blocks"].push_back({{"block", it.block}, {"change", it.change}, {"first", it.first}});
  return json;
}

// The whole run under the policy, as the chart shows it: what the moment came from and what it led to.
Json WholeRun(const Scenario& scenario, const PolicyBundle& bundle, const std::string& file,
              const std::string& name, double moment_s) {
  PolicyScheduler policy(bundle, file, /*sample=*/false);
  RunRecorder recorder(scenario);
  RunOptions run;
  run.keep_events = true;
  RunResult result;
  {
    Progress progress("explain");
    run.notice = [&](const std::string& words) { progress.Say(words); };
    run.progress = [&](const Simulator& simulator) {
      recorder.Observe(simulator);
      const int done = simulator.arrived_jobs() - simulator.jobs_in_system();
      progress.Update(static_cast<double>(done) / scenario.num_jobs(), Join(done, " jobs done"));
      return true;
    };
    result = Run(scenario, policy, file, run);
  }
  return GanttData(scenario, name, recorder.Finish(result), moment_s);
}

}  // namespace

int RunExplain(const std::vector<std::string>& arguments) {
  Options options(
      "explain",
      "--policy FILE [--at SECONDS] [--scenario FILE | --workload SPEC --cluster CLUSTER] [--html FILE] "
      "[--json FILE]",
      "shows what a policy considered at one moment, what it chose, and why");
  options.Group("Policy");
  options.Value("policy", "", "the policy (.h5)");
  options.Value("until-then", "", "scheduler spec: who decides until then [the policy]");
  options.Value("at", "0", "the first decision at or after this time, s, at which it decides anything");
  options.Value("top", "15", "commands that are shown, best first");
  AddScenarioOptions(options);
  options.Group("Jobs");
  options.Value("seed", "1000", "of the generated workload, where no --scenario is given");
  options.Group("Results");
  options.Output("html", "write a page to this file (.html): the same beside who held which GPU when");
  if (!options.Parse(arguments)) return 0;
  CheckJsonWritable(options);
  const std::string html = options.Text("html");
  CheckWritable(html, options.Where("html"));
  const std::string file = options.Required("policy");
  const PolicyBundle bundle = InOption(options, "policy", [&] { return LoadBundle(file); });
  if (bundle.layout.q == 0 || bundle.mdp.semantics == Semantics::kCommit ||
      bundle.reserve != Reserve::kNone) {
    throw Error(Join(options.Where("policy"), ": ", file,
                     ": expected one for clusters, of semantics redecide, that reserves nothing, found ",
                     bundle.mdp.ToString()));
  }
  const double at = options.Number("at", 0.0, 1e15);
  const auto top = static_cast<std::size_t>(options.Integer("top", 1, 100000));
  const auto seed = static_cast<std::uint64_t>(options.Integer("seed", 0, INT64_MAX));
  const Scenario scenario = EvaluationScenario(*ResolveWorkload(options).source, seed);
  if (bundle.mdp.knowledge > scenario.data().knowledge) {
    throw Error(Join(options.Where("policy"), ": ", file, " needs knowledge '",
                     ToString(bundle.mdp.knowledge), "', the scenario grants '",
                     ToString(scenario.data().knowledge), "'"));
  }

  Simulator simulator(scenario);
  PolicyScheduler policy(bundle, file, /*sample=*/false);
  policy.Reset(simulator.View(bundle.mdp.knowledge));
  const std::string& until_then = options.Text("until-then");
  const std::unique_ptr<Scheduler> before =
      until_then.empty()
          ? nullptr
          : InOption(options, "until-then", [&] { return MakeScheduler(until_then, AllSchedulers()); });
  if (before) before->Reset(simulator.View(before->knowledge()));
  Decision decision;
  for (;;) {
    if (!simulator.AdvanceToDecision()) {
      throw Error(Join(options.Where("at"), ": expected a time before the run ends at ", simulator.now(),
                       " s, found ", at));
    }
    const ClusterView view = simulator.View(bundle.mdp.knowledge);
    if (simulator.now() >= at && !policy.point().PassesOver(view)) break;
    decision.Clear();
    if (before)
      before->Decide(simulator.View(before->knowledge()), decision);
    else
      policy.Decide(view, decision);
    if (const ApplyResult applied = simulator.Apply(decision); !applied.ok())
      throw Error(Join(file, ": ", Explain(applied, decision, simulator)));
  }

  const ClusterView view = simulator.View(bundle.mdp.knowledge);
  Explained explained(bundle, view, policy.StateAt(view));
  const std::vector<int> taken = explained.Choose();
  ExplainPage page;
  page.policy = std::filesystem::path(file).filename();
  page.scenario = ScenarioText(scenario);
  page.command = CommandName() + " explain";
  for (const std::string& word : arguments) page.command += " " + ForShell(word);
  page.time_s = simulator.now();
  page.waiting = view.num_waiting(), page.running = static_cast<int>(view.running().size());
  page.commands = Ranked(explained, taken);
  page.top = top;
  page.blocks = Occluded(explained, taken);
  page.decision = DecisionText(view, explained.Decide());
  PrintExplained(page);
  Json json = ExplainedJson(page, file);
  json["config"] = ConfigJson(options);
  WriteJson(options, json);
  if (!html.empty()) {
    page.gantt = WholeRun(scenario, bundle, file, page.policy, page.time_s);
    WriteTextFile(html, ExplainHtml(page));
    std::cout << "page: " << html << "\n";
  }
  std::cout << NextStep("the whole run", Join("evaluate", SameJobs(options), " --schedulers ",
                                              ForShell(Join("srpt;policy(file=", file, ")"))));
  return 0;
}

}  // namespace berth

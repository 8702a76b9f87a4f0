// berth explain: what a policy considered at one moment of a run, what it chose, and what of its observation
// that hung on.
#include <algorithm>
#include <filesystem>
#include <iostream>

#include "data/workloads.hpp"
#include "env/base/counted.hpp"
#include "tools/explain_page.hpp"
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

void PrintExplained(const ExplainPage& page) {
  std::cout << page.scenario << "\nat " << Fixed(page.time_s, 0)
            << " s: " << Counted(page.waiting, "job waits", "jobs wait") << ", "
            << Counted(page.running, "runs", "run") << "; "
            << Counted(page.commands.size(), "command was", "commands were") << " considered\n\n";
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

// The run that the moment is one of, as the chart shows it: what it came from and what it led to.
Json WholeRun(const Options& options, const Scenario& scenario, const PolicyBundle& bundle,
              const std::string& file, const ExplainPage& page) {
  RunToMoment scheduler(options, scenario, bundle, file);
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
      progress.Update(static_cast<double>(done) / scenario.num_jobs(), Join(Counted(done, "job"), " done"));
      return true;
    };
    result = Run(scenario, scheduler, file, run);
  }
  return GanttData(scenario, page.policy, recorder.Finish(result), page.time_s);
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
  AddMomentOptions(options);
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
  CheckExplained(bundle, options.Where("policy"), file);
  const auto top = static_cast<std::size_t>(options.Integer("top", 1, 100000));
  const auto seed = static_cast<std::uint64_t>(options.Integer("seed", 0, INT64_MAX));
  const Scenario scenario = EvaluationScenario(*ResolveWorkload(options).source, seed);
  ExplainPage page;
  static_cast<Explanation&>(page) = ExplainMoment(options, scenario, bundle, options.Where("policy"), file);
  page.policy = std::filesystem::path(file).filename();
  page.before = options.Text("until-then");
  page.scenario = ScenarioText(scenario);
  page.command = CommandName() + " explain";
  for (const std::string& word : arguments) page.command += " " + ForShell(word);
  page.top = top;
  PrintExplained(page);
  Json json = ExplanationJson(page, file);
  json["config"] = ConfigJson(options);
  WriteJson(options, json);
  if (!html.empty()) {
    page.gantt = WholeRun(options, scenario, bundle, file, page);
    WriteTextFile(html, ExplainHtml(page));
    std::cout << "page: " << html << "\n";
  }
  std::cout << NextStep("the whole run", Join("evaluate", SameJobs(options), " --schedulers ",
                                              ForShell(Join("srpt;policy(file=", file, ")"))));
  return 0;
}

}  // namespace berth

#include "tools/explanation.hpp"

#include <algorithm>
#include <utility>

#include "env/base/index.hpp"
#include "env/sim/metrics.hpp"
#include "env/sim/simulator.hpp"
#include "tools/explained.hpp"
#include "tools/results.hpp"

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

}  // namespace

void CheckExplained(const PolicyBundle& bundle, const std::string& where, const std::string& file) {
  if (bundle.layout.q > 0 && bundle.mdp.semantics != Semantics::kCommit && bundle.reserve == Reserve::kNone)
    return;
  throw Error(Join(where, ": ", file,
                   ": expected one for clusters, of semantics redecide, that reserves nothing, found ",
                   bundle.mdp.ToString()));
}

Explanation Explain(const PolicyBundle& bundle, const ClusterView& view, std::span<const float> state) {
  Explained explained(bundle, view, state);
  const std::vector<int> taken = explained.Choose();
  Explanation found;
  found.time_s = view.now();
  found.waiting = view.num_waiting(), found.running = static_cast<int>(view.running().size());
  found.commands = Ranked(explained, taken);
  found.blocks = Occluded(explained, taken);
  found.decision = DecisionText(view, explained.Decide());
  return found;
}

void AddMomentOptions(Options& options) {
  options.Value("until-then", "", "scheduler spec: who decides until then [the policy]");
  options.Value("at", "0", "the first decision at or after this time, s, at which it decides anything");
}

RunToMoment::RunToMoment(const Options& options, const Scenario& scenario, const PolicyBundle& bundle,
                         const std::string& file)
    : policy_(bundle, file, /*sample=*/false), whose_(file), at_s_(options.Number("at", 0.0, 1e15)) {
  const std::string& spec = options.Text("until-then");
  if (spec.empty()) return;
  before_ = InOption(options, "until-then", [&] {
    std::unique_ptr<Scheduler> made = MakeScheduler(spec, AllSchedulers());
    CheckRunnable(scenario, *made, spec);
    return made;
  });
  whose_ = Join(options.Where("until-then"), ": scheduler '", spec, "'");
}

Knowledge RunToMoment::knowledge() const {
  return before_ ? std::max(before_->knowledge(), policy_.knowledge()) : policy_.knowledge();
}

void RunToMoment::Reset(const ClusterView& view) {
  reached_ = false;
  policy_.Reset(view.Granting(policy_.knowledge()));
  if (before_) before_->Reset(view.Granting(before_->knowledge()));
}

bool RunToMoment::Reached(const ClusterView& view) {
  reached_ = reached_ || (view.now() >= at_s_ && !policy_.point().PassesOver(view));
  return reached_;
}

void RunToMoment::Decide(const ClusterView& view, Decision& decision) {
  Scheduler& who = before_ && !Reached(view) ? *before_ : policy_;
  who.Decide(view.Granting(who.knowledge()), decision);
}

Explanation ExplainMoment(const Options& options, const Scenario& scenario, const PolicyBundle& bundle,
                          const std::string& where, const std::string& file) {
  if (bundle.mdp.knowledge > scenario.data().knowledge) {
    throw Error(Join(where, ": ", file, " needs knowledge '", ToString(bundle.mdp.knowledge),
                     "', the scenario grants '", ToString(scenario.data().knowledge), "'"));
  }
  RunToMoment run(options, scenario, bundle, file);
  Simulator simulator(scenario);
  run.Reset(simulator.View(run.knowledge()));
  Decision decision;
  for (;;) {
    if (!simulator.AdvanceToDecision()) {
      throw Error(Join(options.Where("at"), ": expected a time before the run ends at ", simulator.now(),
                       " s, found ", options.Text("at")));
    }
    const ClusterView view = simulator.View(run.knowledge());
    if (run.Reached(view))
      return Explain(bundle, view.Granting(bundle.mdp.knowledge), run.policy().StateAt(view));
    decision.Clear();
    run.Decide(view, decision);
    if (const ApplyResult applied = simulator.Apply(decision); !applied.ok()) {
      throw Error(Join(run.whose(), " decides illegally at ", simulator.now(),
                       " s: ", Explain(applied, decision, simulator)));
    }
  }
}

Json ExplanationJson(const Explanation& explanation, const std::string& file) {
  Json json = {{"time_s", explanation.time_s}, {"policy", file}, {"decision", explanation.decision}};
  for (const ExplainedCommand& it : explanation.commands) {
    const std::string chosen = it.chosen > 0 ? Join(it.chosen) : "";
    json["commands"].push_back({{"command", it.text}, {"score", it.score}, {"chosen", chosen}});
  }
  for (const ExplainedBlock& it : explanation.blocks)
    json["blocks"].push_back({{"block", it.block}, {"change", it.change}, {"first", it.first}});
  return json;
}

}  // namespace berth

// berth explain: what a policy considered at one moment of a run, what it chose, and what of its observation
// that hung on.
#include <algorithm>
#include <iostream>
#include <map>
#include <optional>

#include "data/workloads.hpp"
#include "env/base/index.hpp"
#include "env/gym/decision_point.hpp"
#include "env/gym/encoder.hpp"
#include "env/gym/score_order.hpp"
#include "policies/architecture.hpp"
#include "policies/bundle.hpp"
#include "policies/inference.hpp"
#include "policies/policy_scheduler.hpp"
#include "tools/next_steps.hpp"
#include "tools/results.hpp"
#include "tools/scenario_options.hpp"
#include "tools/table.hpp"
#include "tools/verbs.hpp"

namespace berth {
namespace {

std::string TypeName(const ClusterView& view, int type) {
  return view.types()[U(type)].name;
}

// What a column of the grid says of itself: ", widest 1.00". `channels`: EncoderInfo::Describe of the
// process.
std::string ColumnText(const DecisionPoint& point, const std::vector<std::string>& channels, int column) {
  const ObservationLayout& layout = point.layout();
  const std::string owner = Join("types action:", point.grid()->NameOf(column), " ");
  std::string text;
  int channel = 0;
  for (const std::string& line : channels) {
    if (!line.starts_with("types ")) continue;
    const std::size_t at = U(layout.types_offset() + column * layout.type_channels + channel++);
    if (!line.starts_with(owner)) continue;
    const std::string name = line.substr(owner.size(), line.find(':', owner.size()) - owner.size());
    if (name != "is_of_kind") text += Join(", ", name, " ", Fixed(point.observation()[at], 2));
  }
  return text;
}

// "start job 17 on v100", "clock 2, clock 0.80", "done".
std::string CommandText(const ClusterView& view, const DecisionPoint& point,
                        const std::vector<std::string>& channels, int action) {
  if (action == point.done()) return "done";
  const int columns = point.layout().g, row = action / columns, column = action % columns;
  const CommandGrid* grid = point.grid();
  const std::string name = grid == nullptr ? kStartAlone : grid->NameOf(column);
  const int job = grid == nullptr ? point.visible()[U(row)] : grid->JobOf(row);
  const int type = grid == nullptr ? column : grid->column(column).type;
  const std::string more = grid == nullptr ? "" : ColumnText(point, channels, column);
  if (job < 0) return Join(name, " ", grid->Subject(row, column), more);
  const bool stays = name == kStartAlone && view.IsRunning(job) && view.TypeOf(job) == type;
  std::string text = Join(stays ? "keep" : name, " job ", view.Id(job));
  if (type >= 0) text += Join(" on ", TypeName(view, type));
  return text + more;
}

std::string DecisionText(const ClusterView& view, const Decision& decision) {
  constexpr const char* kNames[] = {"start", "stop", "move", "reject", "pack"};
  std::string text;
  for (const Command& c : decision.commands) {
    text += Join(text.empty() ? "" : ", ", kNames[static_cast<int>(c.kind)], " ", view.Id(c.job));
    if (c.type >= 0) text += Join(" on ", TypeName(view, c.type));
    if (c.width > 0) text += Join(" x ", c.width);
    if (c.host >= 0) text += Join(" beside ", view.Id(c.host));
  }
  if (!decision.controls.empty())
    text += Join(text.empty() ? "" : ", ", decision.controls.size(), " settings of features");
  return text.empty() ? "leave everything as it is" : text;
}

// One point, scored.
class Explained {
 public:
  Explained(const PolicyBundle& bundle, const ClusterView& view)
      : bundle_(bundle), view_(view), network_(Freeze(bundle)), point_(bundle.mdp) {
    const bool any_size = FindArchitecture(ParseSpec(bundle.network).name).any_size;
    point_.Begin(view);
    point_.Start(view);
    point_.Gather(view);
    point_.Observe(view, any_size ? 0 : bundle.mdp.visible);
    scores_ = Score(point_.observation());
    point_.OpenMask(view);
    BestLegal(view, point_, scores_, nullptr);  // offers `done`
    legal_.assign(point_.mask().bytes().begin(), point_.mask().bytes().end());
  }

  // Takes the best command again and again; the actions in that order.
  std::vector<int> Choose() {
    std::vector<int> taken;
    std::vector<float> scores = scores_;
    for (;;) {
      const int action = BestLegal(view_, point_, scores, nullptr);
      if (action < 0) return taken;
      taken.push_back(action);
      if (action == point_.done()) return taken;
      point_.Put(view_, action);
      if (bundle_.mdp.reread) scores = Score(point_.observation());
    }
  }
  Decision Decide() {
    Decision decision;
    point_.Close(view_, decision);
    return decision;
  }

  // With the channels of each block at 0: how the score of `action` changes, and what would be best.
  struct Without {
    std::string block;
    double change = 0.0;
    int best = -1;
  };
  std::vector<Without> Occlude(int action) {
    std::map<std::string, std::vector<std::size_t>> floats;  // of the observation, by block
    std::vector<std::string> order;
    const ObservationLayout& layout = point_.layout();
    std::map<std::string, int> channel;  // so far, by part
    for (const std::string& line : channels_) {
      const std::string part = line.substr(0, line.find(' '));
      const std::size_t at = part.size() + 1;
      const std::string block = line.substr(at, line.find(' ', at) - at);
      if (floats.find(block) == floats.end()) order.push_back(block);
      const int index = channel[part]++;
      const auto add = [&](int offset, int rows, int width) {
        for (int row = 0; row < rows; ++row) floats[block].push_back(U(offset + row * width + index));
      };
      if (part == "jobs") add(layout.jobs_offset(), layout.q, layout.job_channels);
      if (part == "pairs") add(layout.pairs_offset(), layout.q * layout.g, layout.pair_channels);
      if (part == "types") add(layout.types_offset(), layout.g, layout.type_channels);
      if (part == "global") add(layout.global_offset(), 1, layout.global_channels);
    }
    std::vector<Without> found;
    for (const std::string& block : order) {
      if (block == "encoder") continue;  // whether a row is there
      std::vector<float> observation = first_;
      for (const std::size_t i : floats[block]) observation[i] = 0.0F;
      const std::vector<float> scores = Score(observation);
      found.push_back({block, static_cast<double>(scores[U(action)]) - scores_[U(action)],
                       BestLegal(legal_, scores, nullptr)});
    }
    return found;
  }

  std::string Text(int action) const { return CommandText(view_, point_, channels_, action); }
  const DecisionPoint& point() const { return point_; }
  std::span<const float> scores() const { return scores_; }
  std::span<const std::uint8_t> legal() const { return legal_; }

 private:
  std::vector<float> Score(std::span<const float> observation) {
    if (first_.empty()) first_.assign(observation.begin(), observation.end());
    std::vector<float> scores(U(point_.done()) + 1);
    network_->Evaluate(observation, point_.layout(), scores);
    return scores;
  }

  const PolicyBundle& bundle_;
  const ClusterView& view_;
  std::unique_ptr<FrozenNetwork> network_;
  DecisionPoint point_;
  std::vector<std::string> channels_ = ObservationOf(bundle_.mdp).Describe();
  std::vector<float> first_, scores_;  // as the point begins
  std::vector<std::uint8_t> legal_;
};

}  // namespace

int RunExplain(const std::vector<std::string>& arguments) {
  Options options(
      "explain",
      "--policy FILE [--at SECONDS] [--scenario FILE | --workload SPEC --cluster CLUSTER] [--json FILE]",
      "shows what a policy considered at one moment, what it chose, and why");
  options.Group("Policy");
  options.Value("policy", "", "the policy (.h5) that runs until then");
  options.Value("at", "0", "the first decision at or after this time, s, at which it decides anything");
  options.Value("top", "15", "commands that are shown, best first");
  AddScenarioOptions(options);
  options.Group("Jobs");
  options.Value("seed", "1000", "of the generated workload, where no --scenario is given");
  if (!options.Parse(arguments)) return 0;
  CheckJsonWritable(options);
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
  Decision decision;
  for (;;) {
    if (!simulator.AdvanceToDecision()) {
      throw Error(Join(options.Where("at"), ": expected a time before the run ends at ", simulator.now(),
                       " s, found ", at));
    }
    const ClusterView view = simulator.View(bundle.mdp.knowledge);
    if (simulator.now() >= at && !policy.point().PassesOver(view)) break;
    decision.Clear();
    policy.Decide(view, decision);
    if (const ApplyResult applied = simulator.Apply(decision); !applied.ok())
      throw Error(Join(file, ": ", Explain(applied, decision, simulator)));
  }

  const ClusterView view = simulator.View(bundle.mdp.knowledge);
  Explained explained(bundle, view);
  const DecisionPoint& point = explained.point();
  const std::vector<int> taken = explained.Choose();
  std::vector<int> ranked;
  for (int action = 0; action <= point.done(); ++action) {
    const bool chosen = std::find(taken.begin(), taken.end(), action) != taken.end();
    if (explained.legal()[U(action)] != 0 || chosen) ranked.push_back(action);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [&](int a, int b) { return explained.scores()[U(a)] > explained.scores()[U(b)]; });
  std::cout << ScenarioText(scenario) << "\nat " << Fixed(simulator.now(), 0) << " s: " << view.num_waiting()
            << " jobs wait, " << view.running().size() << " run; " << ranked.size()
            << " commands were considered\n\n";
  Json json = {{"time_s", simulator.now()}, {"policy", file}};
  Table commands({"command", "score", "chosen"});
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    const auto order = std::find(taken.begin(), taken.end(), ranked[i]);
    const std::string chosen = order == taken.end() ? "" : Join(order - taken.begin() + 1);
    const std::string text = explained.Text(ranked[i]);
    const double score = explained.scores()[U(ranked[i])];
    if (i < top) commands.AddRow({text, Fixed(score, 3), chosen});
    json["commands"].push_back({{"command", text}, {"score", score}, {"chosen", chosen}});
  }
  std::cout << commands.ToString();
  if (ranked.size() > top) std::cout << "and " << ranked.size() - top << " more (--top)\n";
  if (!taken.empty()) {
    std::cout << "\nWhat \"" << explained.Text(taken[0])
              << "\" hangs on: with the numbers of each block at 0\n\n";
    Table blocks({"block", "score", "first would be"});
    for (const Explained::Without& it : explained.Occlude(taken[0])) {
      const std::string best = it.best < 0 ? "-" : explained.Text(it.best);
      blocks.AddRow({it.block, Join(it.change < 0.0 ? "" : "+", Fixed(it.change, 3)),
                     it.best == taken[0] ? "the same" : best});
      json["blocks"].push_back({{"block", it.block}, {"change", it.change}, {"first", best}});
    }
    std::cout << blocks.ToString();
  }
  const std::string decided = DecisionText(view, explained.Decide());
  json["decision"] = decided;
  json["config"] = ConfigJson(options);
  WriteJson(options, json);
  std::cout << "\nthe decision: " << decided << "\n"
            << NextStep("the whole run", Join("evaluate", SameJobs(options), " --schedulers ",
                                              ForShell(Join("srpt;policy(file=", file, ")"))));
  return 0;
}

}  // namespace berth

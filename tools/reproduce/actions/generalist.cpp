#include <algorithm>
#include <cmath>
#include <cstdint>

#include "env/base/check.hpp"
#include "env/gym/actions/action_set.hpp"
#include "env/sim/statistics.hpp"
#include "tools/progress.hpp"
#include "tools/reproduce/actions/action_results.hpp"
#include "tools/reproduce/actions/combinations.hpp"
#include "tools/reproduce/actions/sections.hpp"
#include "tools/reproduce/learned/experiments.hpp"

namespace berth {
namespace {

using Cells = ReproductionPage::Cells;

constexpr const char* kGeneralist = "generalist";  // of --only

constexpr long long kGeneralistSteps = 6'000'000;
constexpr const char* kActions = "start,pack?,resize?,gather?";
constexpr const char* kTraining[] = {"--actions", kActions, "--visible", "32",
                                     "--envs",    "96",     "--members", "2"};
// The same with two networks.
struct Variant {
  const char* name;  // in files
  const char* network;
  std::int64_t seeds;  // the first of those of the study, at most
};
constexpr Variant kPlain = {"generalist", "pair_scorer(width=16,skip=true)", INT64_MAX};
constexpr Variant kAttention = {"generalist_attention", "set_attention(width=32,blocks=1)", 4};
constexpr const char* kWindow = "300:700";
constexpr const char* kHeldOutSeeds = "1000:1005";  // workloads of each combination
constexpr double kNear = 1.05;                      // of a row's own policies

// Whatever a specialist is for, it runs everywhere: where its feature is off it is what stands inside it.
constexpr const char* kFixed[] = {"srpt",
                                  "tuned",
                                  "matching",
                                  "las",
                                  "gavel",
                                  "gavel(packed=true)",
                                  "elastic_srpt",
                                  "optimus",
                                  "critical_path",
                                  "defragment(inner=srpt)",
                                  "defragment(inner=elastic_srpt)",
                                  "evacuate(inner=srpt)",
                                  "evacuate(inner=tuned)",
                                  "evacuate(inner=elastic_srpt)",
                                  "evacuate(inner=critical_path)",
                                  "evacuate(inner=defragment(inner=srpt))",
                                  "evacuate(inner=defragment(inner=elastic_srpt))"};

// The generalist's own commands, where they have what they need.
bool HasAllOf(const std::string& actions) {
  const std::vector<ActionUse> own = ParseActions(kActions), wanted = ParseActions(actions);
  return std::all_of(wanted.begin(), wanted.end(), [&](const ActionUse& it) {
    return std::any_of(own.begin(), own.end(), [&](const ActionUse& use) { return use.info == it.info; });
  });
}

// Rows of the same reward, all of whose commands it has.
std::vector<const ActionRow*> RowsOf(const ActionStudy& study) {
  std::vector<const ActionRow*> rows;
  for (const ActionRow& row : ActionRows()) {
    const bool same = std::string_view(row.metric.key) == kMeanJct.key &&
                      std::string_view(row.training).find("--reward") == std::string_view::npos &&
                      HasAllOf(row.actions);
    if (same && !study.Policies(row.name).empty()) rows.push_back(&row);
  }
  return rows;
}

std::string ByRow(const ActionRow& row) {
  return Join(kGeneralist, "_", row.name);
}
std::string ByCombination(std::size_t i) {
  return Join(kGeneralist, "_held_out_", i + 1);
}

std::vector<std::string> FixedSchedulers() {
  return {std::begin(kFixed), std::end(kFixed)};
}

std::vector<ChildStep> GeneralistTrainings(const ActionStudy& study) {
  const std::string mix = MixOf(TrainingCombinations());
  std::vector<ChildStep> steps;
  for (std::int64_t seed = study.first_seed; seed < study.last_seed; ++seed) {
    for (const Variant& variant : {kPlain, kAttention}) {
      if (seed - study.first_seed >= variant.seeds) continue;
      Words options(std::begin(kTraining), std::end(kTraining));
      options.insert(options.end(), {"--network", variant.network, "--workload", mix});
      steps.push_back(study.Training(variant.name, seed, kGeneralistSteps, options));
    }
  }
  return steps;
}

std::vector<ChildStep> GeneralistEvaluations(const ActionStudy& study) {
  const std::vector<std::string> policies =
      Joined(study.Policies(kPlain.name), study.Policies(kAttention.name));
  std::vector<ChildStep> steps;
  for (const ActionRow* row : RowsOf(study)) {
    steps.push_back(study.Evaluation(ByRow(*row), Joined(study.Policies(row->name), policies), study.seeds,
                                     row->window, ClusterWords(*row)));
  }
  const std::vector<Combination> held_out = HeldOutCombinations();
  for (std::size_t i = 0; i < held_out.size(); ++i) {
    Words words = {"--workload", held_out[i].workload, "--cluster", held_out[i].cluster};
    if (!held_out[i].features.empty()) words.insert(words.end(), {"--features", held_out[i].features});
    steps.push_back(study.Evaluation(ByCombination(i), Joined(FixedSchedulers(), policies), kHeldOutSeeds,
                                     kWindow, words));
  }
  return steps;
}

void ReportGeneralist(const ActionStudy& study, ReproductionPage& page) {
  const std::vector<std::string> policies = study.Policies(kPlain.name),
                                 attending = study.Policies(kAttention.name);
  page.Heading(Join("One policy for all of them (`", kGeneralist, "`)"));
  std::string text;
  for (const char* word : kTraining) text += (text.empty() ? "" : " ") + std::string(word);
  page.Paragraph(Join("Trained on ", TrainingCombinations().size(),
                      " clusters, loads and sets of features in turn, drawn together: `", text, "`, ",
                      Thousands(static_cast<double>(kGeneralistSteps)), " steps a seed, with `--network ",
                      kPlain.network, "`, and beside it from ", attending.size(), " of the seeds with `",
                      kAttention.network,
                      "`. Of the rows it can be held to those of completion times: against each row's own "
                      "policies, all seeds of both, near where the mean is within 5%. Intervals are over "
                      "workloads and its seeds, beside the mean of the others. What carries the mark † on "
                      "either side is not compared."));
  std::vector<Cells> rows;
  int near = 0, held = 0;
  for (const ActionRow* row : RowsOf(study)) {
    const ActionResults results(study.ResultFile(ByRow(*row)));
    const std::vector<std::string> own = study.Policies(row->name);
    const bool compared = results.keep_up(policies) && results.keep_up(own),
               is_near = results.Ratio(policies, own, row->metric).mean <= kNear;
    held += compared, near += compared && is_near;
    rows.push_back({Join("`", row->name, "`"), results.RatioCell(policies, own, row->metric),
                    !compared ? "not compared"
                    : is_near ? "near"
                              : "not near",
                    results.RatioCell(attending, own, row->metric)});
  }
  page.Rows({"row", "of its own policies' mean JCT", "", "with attention"}, rows);
  page.Paragraph(Join("**Near in ", near, " of ", held, ".**"));

  const std::vector<Combination> held_out = HeldOutCombinations();
  std::vector<ActionResults> results;
  for (std::size_t i = 0; i < held_out.size(); ++i) results.emplace_back(study.ResultFile(ByCombination(i)));
  // The fixed one whose mean JCTs are the least, over all combinations, as ratios to srpt's.
  std::string fixed;
  double least = 0.0;
  for (const char* spec : kFixed) {
    double logs = 0.0;
    for (const ActionResults& it : results)
      logs += std::log(it.MeanOf(spec, kMeanJct) / it.MeanOf(kFixed[0], kMeanJct));
    if (fixed.empty() || logs < least) fixed = spec, least = logs;
  }
  page.Paragraph(
      Join("Held out: ten other draws, none of which is among those that were trained on, workloads ",
           kHeldOutSeeds,
           " of each. The best fixed combination of specialists, by the mean of the "
           "logarithms of its mean JCTs, is `",
           fixed, "`, of ", std::size(kFixed), ":"));
  rows.clear();
  std::vector<double> logs, attending_logs;
  int ahead = 0;
  held = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string best = results[i].Best(FixedSchedulers(), kMeanJct);
    if (results[i].keep_up(policies) && results[i].keep_up(attending) && results[i].keeps_up(fixed)) {
      const double ratio = results[i].Ratio(policies, fixed, kMeanJct).mean;
      ++held, ahead += ratio < 1.0;
      logs.push_back(std::log(ratio));
      attending_logs.push_back(std::log(results[i].Ratio(attending, fixed, kMeanJct).mean));
    }
    rows.push_back(
        {Join(i + 1),
         Join("`", held_out[i].cluster, "` `", held_out[i].workload, "`",
              held_out[i].features.empty() ? std::string() : Join(" `", held_out[i].features, "`")),
         results[i].RatioCell(policies, {fixed}, kMeanJct),
         results[i].RatioCell(attending, {fixed}, kMeanJct), Join("`", best, "`"),
         results[i].RatioCell(policies, {best}, kMeanJct)});
  }
  page.Rows({"", "combination", "of the fixed one", "with attention", "best there", "of it"}, rows);
  const auto geometric = [](const std::vector<double>& of) {
    if (of.empty()) return std::string("-");
    const Interval mean = BootstrapMean(of, /*seed=*/1);
    return WithInterval({std::exp(mean.mean), std::exp(mean.low), std::exp(mean.high)}, 3);
  };
  page.Paragraph(Join("**Ahead of the fixed one in ", ahead, " of ", held, " that all carry",
                      "; geometric mean of the ratios ", geometric(logs), ", with attention ",
                      geometric(attending_logs), ".**"));
}

}  // namespace

ActionSection GeneralistSection() {
  return {kGeneralist, GeneralistTrainings, GeneralistEvaluations, ReportGeneralist};
}

}  // namespace berth

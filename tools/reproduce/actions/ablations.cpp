#include <algorithm>

#include "env/base/check.hpp"
#include "env/base/spec.hpp"
#include "tools/progress.hpp"
#include "tools/reproduce/actions/action_results.hpp"
#include "tools/reproduce/actions/sections.hpp"
#include "tools/reproduce/learned/experiments.hpp"

namespace berth {
namespace {

using Cells = ReproductionPage::Cells;

constexpr const char* kAblations = "ablations";  // of --only

struct Ablation {
  const char* row;   // of ActionRows()
  const char* name;  // of the variant, in files
  const char* what;
  const char* options;  // of `berth train`, in place of the row's own where they say the same, by blanks
  // Of the training that it is compared with: its name, "" = the row's own at as many steps, and its options.
  const char *beside = "", *beside_options = "";
};

// Steps of both: those of one member, so that what is compared learns from as many rows.
constexpr long long kAblationSteps = 1'000'000;
constexpr const char* kBoth = "--members 1";
constexpr const char* kPlainNetwork = "pair_scorer";
// What is hidden can be remembered only by who knows little: of jobs what they have done.
constexpr const char* kBlind = "--knowledge blind";
constexpr const char* kBlindWithMemory =
    "--knowledge blind --network pair_scorer(width=8,skip=true,memory=8)";

// Two kinds of workloads in turn, which nothing says: one whose jobs all take ten hours, so that who has run
// long is soon done, and one of many short jobs and a few very long ones, where it is the other way round.
// What has ended tells which of them it is, and is no longer to be seen.
const ActionRow& HiddenSizes() {
  static const ActionRow kRow = {
      .name = "hidden_sizes",
      .title = "Two kinds of workloads",
      .cluster = "v100=2",
      .workload =
          "mix(of=queueing(rate=0.18,mean=36000,sizes=deterministic);"
          "queueing(rate=1.8,sizes=hyperexponential(scv=10)))",
      .knowledge = "blind",
  };
  return kRow;
}

// What `--encoder auto` shows in each of these rows, and entities beside it.
#define BERTH_SHOWN(more) \
  "--encoder observation(blocks=queue:1+sizes:1+ranks:1+prices:1+assignment:1+" more ")"

constexpr Ablation kParts[] = {
    {"topology", "start", "`start` alone, without `gather`", "--actions start"},
    {"elasticity", "start", "`start` alone, without `resize`", "--actions start"},
    {"packing", "start", "`start` alone, without `pack`", "--actions start"},
    {"topology", "attention", "jobs attend to one another", "--network set_attention(width=32,blocks=1)"},
    {"packing", "attention", "jobs attend to one another", "--network set_attention(width=32,blocks=1)"},
    {"stages", "attention", "jobs attend to one another", "--network set_attention(width=32,blocks=1)"},
    {"topology", "nodes", "nodes have rows", BERTH_SHOWN("topology:1+nodes:1")},
    {"failures", "nodes", "nodes have rows", BERTH_SHOWN("checkpoints:1+failures:1+nodes:1")},
    {"fractions", "devices", "GPUs in parts have rows", BERTH_SHOWN("sharing:1+devices:1")},
    {"tenants", "tenants", "tenants have rows", BERTH_SHOWN("tenants:1")},
    {"stages", "messages", "jobs that wait for others have rows, and send messages to those",
     "--network messages " BERTH_SHOWN("stages:1+descendants:1+held_back:1")},
    {"failures", "memory", "blind, with memory", kBlindWithMemory, "blind", kBlind},
    {"services", "memory", "blind, with memory", kBlindWithMemory, "blind", kBlind},
    {"hidden_sizes", "memory", "blind, with memory", kBlindWithMemory, "blind", kBlind},
};

const ActionRow& RowOf(const Ablation& ablation) {
  if (std::string_view(HiddenSizes().name) == ablation.row) return HiddenSizes();
  for (const ActionRow& row : ActionRows()) {
    if (std::string_view(row.name) == ablation.row) return row;
  }
  BERTH_CHECK(false, "no row ", ablation.row);
  return ActionRows().front();
}

std::string NameOf(const ActionRow& row, const std::string& variant) {
  return Join("ablation_", row.name, "_", variant);
}

// The row's options, but where `more` says another.
Words OptionsOf(const ActionRow& row, const std::string& more) {
  Words given = {"--actions", row.actions};
  for (const std::string& text : {std::string(row.training), std::string(kBoth), more}) {
    const std::vector<std::string> words = SplitOutsideParentheses(text, ' ');
    for (std::size_t i = 0; i + 1 < words.size(); i += 2) {
      std::size_t at = 0;
      while (at < given.size() && given[at] != words[i]) at += 2;
      given.resize(std::max(given.size(), at + 2));
      given[at] = words[i], given[at + 1] = words[i + 1];
    }
  }
  const Words cluster = ClusterWords(row);
  for (std::size_t i = 0; i < cluster.size(); i += 2) {
    bool said = false;
    for (std::size_t k = 0; k < given.size(); k += 2) said = said || given[k] == cluster[i];
    if (!said) given.insert(given.end(), {cluster[i], cluster[i + 1]});
  }
  return given;
}

std::string BesideOf(const Ablation& ablation) {
  return *ablation.beside == '\0' ? kPlainNetwork : ablation.beside;
}

// The rows of the table, each once.
std::vector<const ActionRow*> Rows() {
  std::vector<const ActionRow*> rows;
  for (const Ablation& ablation : kParts) {
    const ActionRow* row = &RowOf(ablation);
    if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(row);
  }
  return rows;
}

std::vector<ChildStep> AblationTrainings(const ActionStudy& study) {
  std::vector<ChildStep> steps;
  for (std::int64_t seed = study.first_seed; seed < study.last_seed; ++seed) {
    for (const Ablation& it : kParts) {
      const ActionRow& row = RowOf(it);
      // Once, however many are compared with it.
      const auto same = [&](const Ablation& other) {
        return &RowOf(other) == &row && BesideOf(other) == BesideOf(it);
      };
      if (&*std::find_if(std::begin(kParts), std::end(kParts), same) == &it)
        steps.push_back(study.Training(NameOf(row, BesideOf(it)), seed, kAblationSteps,
                                       OptionsOf(row, it.beside_options)));
      steps.push_back(study.Training(NameOf(row, it.name), seed, kAblationSteps, OptionsOf(row, it.options)));
    }
  }
  return steps;
}

std::vector<ChildStep> AblationEvaluations(const ActionStudy& study) {
  std::vector<ChildStep> steps;
  for (const ActionRow* row : Rows()) {
    std::vector<std::string> specs, names;
    for (const Ablation& it : kParts) {
      if (&RowOf(it) != row) continue;
      for (const std::string& name : {BesideOf(it), std::string(it.name)}) {
        if (std::find(names.begin(), names.end(), name) != names.end()) continue;
        names.push_back(name);
        specs = Joined(specs, study.Policies(NameOf(*row, name)));
      }
    }
    steps.push_back(
        study.Evaluation(NameOf(*row, "all"), specs, study.seeds, row->window, ClusterWords(*row)));
  }
  return steps;
}

void ReportAblations(const ActionStudy& study, ReproductionPage& page) {
  page.Heading(Join("What each part gives (`", kAblations, "`)"));
  page.Paragraph(Join(
      "The row's own training at ", Thousands(static_cast<double>(kAblationSteps)), " steps and `", kBoth,
      "`, with one thing otherwise: its metric over that without the change, all seeds of both; intervals "
      "are over workloads and the seeds of the former, beside the mean of the latter's. "
      "Above 1 what was taken away helps, below 1 what was added does. What is blind is compared with the "
      "same that is blind too. `",
      HiddenSizes().name, "` is no row of the page: on `", HiddenSizes().cluster, "` with `",
      HiddenSizes().workload, "`, whose two kinds nothing tells apart but what has come and gone."));
  std::vector<Cells> rows;
  for (const Ablation& it : kParts) {
    const ActionRow& row = RowOf(it);
    const ActionResults results(study.ResultFile(NameOf(row, "all")));
    rows.push_back({Join("`", row.name, "`"), it.what, Join("`", it.options, "`"), row.metric.name,
                    results.RatioCell(study.Policies(NameOf(row, it.name)),
                                      study.Policies(NameOf(row, BesideOf(it))), row.metric)});
  }
  page.Rows({"row", "otherwise", "options", "metric", "of the same without"}, rows);
}

}  // namespace

ActionSection AblationsSection() {
  return {kAblations, AblationTrainings, AblationEvaluations, ReportAblations};
}

}  // namespace berth

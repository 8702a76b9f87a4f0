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
};

// Steps of both: those of one member, so that what is compared learns from as many rows.
constexpr long long kSteps = 1'000'000;
constexpr const char* kBoth = "--members 1";
constexpr const char* kPlain = "pair_scorer";

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
};

const ActionRow& RowOf(const Ablation& ablation) {
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
  return Joined(given, ClusterWords(row));
}

// The rows of the table, each once.
std::vector<const ActionRow*> Rows() {
  std::vector<const ActionRow*> rows;
  for (const ActionRow& row : ActionRows()) {
    for (const Ablation& ablation : kParts) {
      if (std::string_view(ablation.row) != row.name) continue;
      rows.push_back(&row);
      break;
    }
  }
  return rows;
}

std::vector<ChildStep> Trainings(const ActionStudy& study) {
  std::vector<ChildStep> steps;
  for (std::int64_t seed = study.first_seed; seed < study.last_seed; ++seed) {
    for (const ActionRow* row : Rows())
      steps.push_back(study.Training(NameOf(*row, kPlain), seed, kSteps, OptionsOf(*row, "")));
    for (const Ablation& it : kParts) {
      const ActionRow& row = RowOf(it);
      steps.push_back(study.Training(NameOf(row, it.name), seed, kSteps, OptionsOf(row, it.options)));
    }
  }
  return steps;
}

std::vector<ChildStep> Evaluations(const ActionStudy& study) {
  std::vector<ChildStep> steps;
  for (const ActionRow* row : Rows()) {
    std::vector<std::string> specs = study.Policies(NameOf(*row, kPlain));
    for (const Ablation& it : kParts) {
      if (&RowOf(it) == row) specs = Joined(specs, study.Policies(NameOf(*row, it.name)));
    }
    steps.push_back(
        study.Evaluation(NameOf(*row, "all"), specs, study.seeds, row->window, ClusterWords(*row)));
  }
  return steps;
}

void Report(const ActionStudy& study, ReproductionPage& page) {
  page.Heading(Join("What each part gives (`", kAblations, "`)"));
  page.Paragraph(
      Join("The row's own training at ", Thousands(static_cast<double>(kSteps)), " steps and `", kBoth,
           "`, with one thing otherwise: its metric over that without the change, all seeds of both. "
           "Above 1 what was taken away helps, below 1 what was added does."));
  std::vector<Cells> rows;
  for (const Ablation& it : kParts) {
    const ActionRow& row = RowOf(it);
    const ActionResults results(study.ResultFile(NameOf(row, "all")));
    rows.push_back({Join("`", row.name, "`"), it.what, Join("`", it.options, "`"), row.metric.name,
                    WithInterval(results.Ratio(study.Policies(NameOf(row, it.name)),
                                               study.Policies(NameOf(row, kPlain)), row.metric),
                                 3)});
  }
  page.Rows({"row", "otherwise", "options", "metric", "of the row's training"}, rows);
}

}  // namespace

ActionSection AblationsSection() {
  return {kAblations, Trainings, Evaluations, Report};
}

}  // namespace berth

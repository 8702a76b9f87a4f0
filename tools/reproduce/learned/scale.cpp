// Row 1 of the page's targets, one policy for all sizes: trained on at most 24 GPUs, used on 108 and on 1,080
// unchanged.
#include <algorithm>

#include "env/base/check.hpp"
#include "tools/reproduce/learned/experiments.hpp"
#include "tools/reproduce/learned/load_grid.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

using Cells = ReproductionPage::Cells;

constexpr int kScales[] = {1, 10};
constexpr std::size_t kScaleWorkloads = 3;

struct Part {
  const char* name;
  const char* policy;
  std::vector<std::string> opponents;
};
const std::vector<Part>& Parts() {
  static const std::vector<Part> parts = {
      {"oracle", "hetero_oracle", {"srpt", "tuned", "matching", "nash_welfare", "gavel"}},
      {"blind", "hetero_blind", {"las", "tuned_blind", "gavel", "gavel(aware=false)"}}};
  return parts;
}

LoadGrid ScaleGrid(const LearnedSettings& settings, int scale) {
  LoadGrid grid;
  grid.loads = {kLoads[1], kLoads[4]};
  grid.seeds = settings.workloads;
  grid.seeds.resize(std::min(grid.seeds.size(), settings.quick ? std::size_t{2} : kScaleWorkloads));
  grid.scale = scale;
  // Fewer jobs than row 1 at both sizes: ten times the jobs on ten times the GPUs cost a hundred times as
  // much.
  grid.drawn = 4000, grid.begin = 1500, grid.end = 2000;
  return grid;
}

}  // namespace

void PlanScale(const LearnedSettings& settings, ReproductionRuns& runs) {
  for (const int scale : kScales) {
    const LoadGrid grid = ScaleGrid(settings, scale);
    for (const Part& part : Parts()) {
      for (const std::string& spec : part.opponents) grid.Plan(runs, spec);
      for (const std::string& spec : settings.policies.Specs(part.policy)) grid.Plan(runs, spec);
    }
  }
}

void ReportScale(const LearnedSettings& settings, const ReproductionRuns& runs, LearnedPage& out) {
  ReproductionPage& page = out.page;
  page.Heading("The same policies on 108 and on 1,080 GPUs");
  page.Paragraph(Join(
      "Mean JCT in hours at 5.6 single-GPU and 2.6 gang jobs an hour on 36 GPUs of each type, and at ten "
      "times the rates on 360; jobs 1500 to 2000 and 15000 to 20000. In brackets learned over it, with "
      "the 95% interval over training seeds and workloads. The target is the mean over both loads, carried "
      "or not. ",
      LoadMarks()));
  for (const Part& part : Parts()) {
    const std::vector<std::string> policies = settings.policies.Specs(part.policy);
    page.Paragraph(Join("**Knowledge ", part.name, "**"));
    if (const std::string missing = settings.policies.Missing(part.policy); !missing.empty())
      page.Paragraph(Join("Not available: ", missing, "."));
    Cells header = {"scheduler"};
    const std::vector<TrainedPolicy> seeds = settings.policies.Find(part.policy);
    const std::size_t first = 1 + seeds.size();  // row of the opponents
    std::vector<Cells> rows(first + part.opponents.size());
    rows[0] = {Join("**learned**, mean of ", seeds.size())};
    for (std::size_t i = 0; i < seeds.size(); ++i) rows[i + 1] = {Join("seed ", seeds[i].seed)};
    for (std::size_t i = 0; i < part.opponents.size(); ++i)
      rows[first + i] = {Join("`", part.opponents[i], "`")};
    for (const int scale : kScales) {
      const LoadGrid grid = ScaleGrid(settings, scale);
      const std::vector<Grid> learned = Grids(grid, runs, policies);
      for (std::size_t load = 0; load < grid.loads.size(); ++load) {
        header.push_back(Join(108 * scale, " GPUs, ", scale, " x ", grid.loads[load].Name()));
        rows[0].push_back(learned.empty() ? "-" : WithInterval(LearnedMean(learned, load), 2, 3600.0));
        for (std::size_t i = 0; i < seeds.size(); ++i)
          rows[i + 1].push_back(ResultAt(grid, runs, load, seeds[i].Spec()).Cell());
        for (std::size_t i = 0; i < part.opponents.size(); ++i) {
          const std::string cell = ResultAt(grid, runs, load, part.opponents[i]).Cell();
          const std::string ratio =
              learned.empty()
                  ? "-"
                  : WithInterval(CompareAt(learned, grid.MeanJcts(runs, part.opponents[i]), {load}).overall,
                                 3);
          rows[first + i].push_back(Join(cell, " (", ratio, ")"));
        }
      }
    }
    page.Rows(header, rows);
    const LoadGrid large = ScaleGrid(settings, kScales[1]);
    const std::vector<Grid> learned = Grids(large, runs, policies);
    const std::string asked = Join("on 1,080 GPUs unchanged: below `", part.opponents[0], "`");
    const std::string row = Join("1, scale, ", part.name);
    if (learned.empty()) {
      out.targets.push_back(NotMeasured(row, asked, "no policies"));
    } else {
      const Comparison all = CompareAt(learned, large.MeanJcts(runs, part.opponents[0]), {0, 1});
      out.targets.push_back(RatioTarget(row, asked, all.overall, 1.0, /*surely=*/true));
    }
  }
}

}  // namespace berth

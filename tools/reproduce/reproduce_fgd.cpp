// berth reproduce fgd: the allocation experiment of "Beware of Fragmentation" (Weng et al., USENIX ATC
// 2023), published and measured side by side.
#include <iostream>
#include <thread>

#include "env/base/check.hpp"
#include "env/base/spec.hpp"
#include "env/base/thread_team.hpp"
#include "tools/file_lock.hpp"
#include "tools/home.hpp"
#include "tools/json.hpp"
#include "tools/plot_script.hpp"
#include "tools/progress.hpp"
#include "tools/reproduce/fgd/run.hpp"
#include "tools/reproduce/page.hpp"
#include "tools/reproduce/reproductions.hpp"
#include "tools/reproduce/study_options.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

using fgd::Spread;

constexpr const char* kFolder = "/alibaba-gpu-v2023-openb";
constexpr const char* kPrefix = "openb_pod_list_";
constexpr const char* kDefault = "default,gpushare100,gpuspec33,multigpu50";
constexpr const char* kPublishedOf[] = {  // the workloads of which runs are published
    "default",    "cpu050",     "cpu100",      "cpu200",     "cpu250",    "gpushare40",
    "gpushare60", "gpushare80", "gpushare100", "gpuspec10",  "gpuspec20", "gpuspec25",
    "gpuspec33",  "multigpu20", "multigpu30",  "multigpu40", "multigpu50"};

struct Cell {  // a policy on a workload
  std::string workload;
  const fgd::Policy* policy;
  const fgd::Workload* pods;
  std::vector<fgd::RunOutcome> runs;  // [seeds]
  double cpu_seconds = 0.0;           // of all
};

std::vector<std::string> ChosenWorkloads(const Options& options) {
  const std::vector<std::string> known(std::begin(kPublishedOf), std::end(kPublishedOf));
  if (options.Text("workloads") == "all") return known;
  const auto chosen = SplitOutsideParentheses(options.Text("workloads"), ',');
  for (const std::string& name : chosen) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw Error(Join(options.Where("workloads"), ": expected all or some of ", kDefault, ",... , found '",
                       name, "'", DidYouMean(name, known)));
    }
  }
  return chosen;
}

std::vector<double> At(const std::vector<fgd::RunOutcome>& runs, std::vector<double> fgd::RunOutcome::*curve,
                       int percent) {
  std::vector<double> values;
  for (const auto& run : runs) values.push_back((run.*curve)[static_cast<std::size_t>(percent)]);
  return values;
}
std::vector<double> At(const std::vector<fgd::PublishedRun>& runs, const Cell& cell, int percent) {
  std::vector<double> values;
  for (const auto& run : runs) {
    if (run.workload == kPrefix + cell.workload && run.policy == cell.policy->published)
      values.push_back(run.by_percent[static_cast<std::size_t>(percent)]);
  }
  return values;
}

std::string MeanSd(const Spread& spread) {
  return spread.runs == 0 ? "-" : Fixed(spread.mean, 2) + " ± " + Fixed(spread.sd, 2);
}

void WriteFgdPage(const std::string& out, const std::string& command, const std::vector<Cell>& cells,
                  const ReproductionPage::Cells& header, const std::vector<ReproductionPage::Cells>& rows,
                  const std::vector<fgd::PublishedRun>& allocation, int seeds) {
  ReproductionPage page;
  page.Paragraph("# The allocation experiment of \"Beware of Fragmentation\" (FGD, USENIX ATC 2023)");
  page.Paragraph(Join(
      "Written by `", command,
      "`: 1,213 nodes, 6,212 GPUs; pods in random order, drawn again until "
      "130% "
      "of the GPUs are asked for, placed one by one, none leaves, what fits nowhere is dropped. ",
      seeds,
      " runs of each; GPU allocated and fragmented in % of capacity when pods for 100% of it have "
      "arrived, mean ± standard deviation. Published: the ten runs of the authors' artefact; a mean within "
      "the range of those ten is within the published spread (\"held\")."));
  page.Paragraph(
      "Ties: of the nodes with the highest whole-numbered score the one whose name sorts first, where every "
      "run deals the names anew (the authors' code prefixes them with a random permutation); of a node's "
      "GPUs the first. With names as in the file, clustering and packing come out 0.7 points lower.");
  page.Rows(header, rows);
  ReproductionPage::Cells columns = {"workload", "policy", "percent", "measured", "published", "low", "high"};
  std::vector<ReproductionPage::Cells> points;
  for (const Cell& cell : cells) {
    for (int percent = 0; percent < fgd::kPercents; ++percent) {
      const Spread measured = fgd::SpreadOf(At(cell.runs, &fgd::RunOutcome::allocated, percent));
      const Spread published = fgd::SpreadOf(At(allocation, cell, percent));
      if (measured.runs == 0) continue;
      const auto known = [&](double x) { return published.runs > 0 ? Fixed(x, 3) : std::string(); };
      points.push_back({cell.workload, cell.policy->name, std::to_string(percent), Fixed(measured.mean, 3),
                        known(published.mean), known(published.low), known(published.high)});
    }
  }
  page.Csv("fgd.csv", columns, std::move(points));
  page.Picture(
      "fgd.png",
      "GPU allocated by GPU arrived: lines measured, bands the published range, dots published means");
  page.Write(out, "fgd.md");
}

}  // namespace

int ReproduceFgd(const std::vector<std::string>& arguments) {
  Options options("reproduce fgd", "[options]",
                  "the allocation experiment of FGD (ATC 2023): six policies, published and measured; exit "
                  "code 1 when a mean lies outside the published runs");
  options.Value("traces", "", "folder of the public traces, not shipped [one beside the sources, if there]");
  options.Value("workloads", kDefault,
                "pod lists, separated by commas, or all 17 of which runs are published");
  options.Value("seeds", "10", "runs of each, seeds from 42");
  AddThreads(options, "the results do");
  options.Value("out", "", "folder for fgd.md, fgd.csv and fgd.png [only the table is printed]");
  options.Audits();
  if (!options.Parse(arguments)) return 0;
  const int seeds = static_cast<int>(options.Integer("seeds", 2, 10000));
  CheckJsonWritable(options);
  const std::string out = options.Text("out");
  if (!out.empty()) HoldFolder(out, options.Where("out"), "berth reproduce");
  const std::string folder =
      (options.Text("traces").empty() ? HomeFile("../shared/traces") : options.Text("traces")) + kFolder;
  const OpenbNodes nodes = ReadOpenbNodes(folder + "/openb_node_list_gpu_node.csv.gz");
  const auto allocation = fgd::ReadPublishedRuns(folder + "/expected_results/analysis_allo_discrete.csv.gz");
  const auto fragmentation =
      fgd::ReadPublishedRuns(folder + "/expected_results/analysis_frag_discrete.csv.gz");

  const std::vector<std::string> names = ChosenWorkloads(options);
  std::vector<fgd::Workload> workloads;
  workloads.reserve(names.size());
  std::vector<Cell> cells;
  for (const std::string& name : names) {
    const std::string path = folder + "/" + kPrefix + name + ".csv.gz";
    workloads.push_back(fgd::WorkloadOf(nodes, ReadOpenbPods(path, nodes)));
    for (const fgd::Policy& policy : fgd::Policies())
      cells.push_back(
          {name, &policy, &workloads.back(), std::vector<fgd::RunOutcome>(static_cast<std::size_t>(seeds))});
  }
  {
    Progress progress("fgd");
    ThreadTeam team(Threads(options));
    std::size_t done = 0;
    for (Cell& cell : cells) {
      progress.Update(static_cast<double>(done++) / static_cast<double>(cells.size()),
                      cell.workload + ", " + cell.policy->name);
      std::vector<double> seconds(cell.runs.size());
      team.Run(seeds, [&](int part) {
        const double begin = ThreadCpuSeconds();
        const auto at = static_cast<std::size_t>(part);
        cell.runs[at] = fgd::RunPolicy(*cell.pods, *cell.policy, 42 + static_cast<std::uint64_t>(part));
        seconds[at] = ThreadCpuSeconds() - begin;
      });
      for (double s : seconds) cell.cpu_seconds += s;
    }
  }

  const ReproductionPage::Cells header = {"workload",    "policy",   "published, %",          "range",
                                          "measured, %", "held",     "fragmented: published", "measured",
                                          "held",        "CPU s/run"};
  Table table(header);
  std::vector<ReproductionPage::Cells> rows;
  Json json = Json::array();
  int compared = 0, outside = 0;
  for (const Cell& cell : cells) {
    const Spread published = fgd::SpreadOf(At(allocation, cell, 100));
    const Spread measured = fgd::SpreadOf(At(cell.runs, &fgd::RunOutcome::allocated, 100));
    const Spread its_fragments = fgd::SpreadOf(At(fragmentation, cell, 100));
    const Spread fragments = fgd::SpreadOf(At(cell.runs, &fgd::RunOutcome::fragmented, 100));
    const bool held = published.Holds(measured.mean), fragments_held = its_fragments.Holds(fragments.mean);
    for (const Spread* spread : {&published, &its_fragments}) compared += spread->runs > 0;
    outside += (published.runs > 0 && !held) + (its_fragments.runs > 0 && !fragments_held);
    const auto says = [](const Spread& spread, bool yes) {
      return std::string(spread.runs == 0 ? "-" : yes ? "yes" : "NO");
    };
    rows.push_back({cell.workload, cell.policy->name, MeanSd(published),
                    published.runs == 0 ? "-" : Range(published.low, published.high, 2), MeanSd(measured),
                    says(published, held), MeanSd(its_fragments), MeanSd(fragments),
                    says(its_fragments, fragments_held), Fixed(cell.cpu_seconds / seeds, 3)});
    table.AddRow(rows.back());
    json.push_back({{"workload", cell.workload},
                    {"policy", cell.policy->name},
                    {"published_mean", published.mean},
                    {"published_low", published.low},
                    {"published_high", published.high},
                    {"measured_mean", measured.mean},
                    {"measured_sd", measured.sd},
                    {"held", held},
                    {"published_fragmented", its_fragments.mean},
                    {"measured_fragmented", fragments.mean},
                    {"fragmented_held", fragments_held},
                    {"cpu_seconds_per_run", cell.cpu_seconds / seeds}});
  }
  std::cout << "GPU allocated when pods for 100% of the GPUs have arrived, % of capacity: mean and standard "
               "deviation of runs\n\n"
            << table.ToString() << "\n"
            << compared - outside << " of " << compared << " means lie within the published runs\n";
  WriteJson(options, {{"config", ConfigJson(options)}, {"cells", json}, {"outside", outside}});
  if (!out.empty()) {
    WriteFgdPage(out, MadeBy(options, {"traces", "workloads", "seeds"}), cells, header, rows, allocation,
                 seeds);
    const std::string failed = RunPlotScript("reproduce/fgd/plot_fgd.py", {out});
    std::cout << (failed.empty() ? "" : failed + "\n") << "results in " << out << "\n";
  }
  return outside > 0 ? 1 : 0;
}

}  // namespace berth

// berth reproduce gavel: the reference's golden answers and recorded rounds, its own simulations, and the
// published experiments, published and measured side by side.
#include <filesystem>
#include <iostream>

#include "env/base/check.hpp"
#include "tools/file_lock.hpp"
#include "tools/home.hpp"
#include "tools/json.hpp"
#include "tools/options.hpp"
#include "tools/output_file.hpp"
#include "tools/reproduce/gavel_experiments.hpp"
#include "tools/reproduce/gavel_golden.hpp"
#include "tools/reproduce/gavel_mechanism.hpp"
#include "tools/reproduce/reproductions.hpp"
#include "tools/reproduce/study_options.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

constexpr const char* kGavelPage = "gavel.md";

struct Experiment {
  const char* name;
  void (*plan)(const GavelSettings&, ReproductionRuns&);
  bool (*report)(const GavelSettings&, const ReproductionRuns&, ReproductionPage&);
  const char* summary;
};
#define BERTH_ROW(name, Name, summary) {name, Plan##Name, Report##Name, summary},
constexpr Experiment kExperiments[] = {BERTH_GAVEL_EXPERIMENTS(BERTH_ROW)};
#undef BERTH_ROW

void AddOptions(Options& options) {
  options.Input("golden", "check the policies against a file of golden vectors (.json), nothing else");
  options.Value("mechanism", "", "replay a folder of recorded rounds, nothing else");
  options.Value("reference", "",
                "folder of records of Gavel's code, not shipped [one beside the sources, if there]");
  options.Value("traces", "", "folder of the traces to rerun [REFERENCE/sim/traces_public]");
  options.Input("results", "the reference's results on them (.csv) [REFERENCE/sim/results_public.csv]");
  AddOnly(options, kExperiments);
  options.Value("seeds", "0:3", "of generated workloads; the paper has three");
  options.Switch("packed", "also the policies that share GPUs by an LP over pairs of jobs: hours");
  options.Switch("quick", "fewer points and only the default solver: a look, not the reproduction");
  AddRunOptions(options);
  AddThreads(options, "the page does");
  options.Value("out", "", "folder for the page gavel.md, its .csv and .png files, and runs/ (kept results)");
}

std::string Existing(const Options& options, const char* name, const std::string& otherwise) {
  const std::string& given = options.Text(name);
  if (given.empty()) return std::filesystem::exists(otherwise) ? otherwise : "";
  if (!std::filesystem::exists(given)) throw Error(Join(options.Where(name), ": ", given, " is not there"));
  return given;
}

GavelSettings ResolveSettings(const Options& options) {
  GavelSettings settings;
  const std::string reference = Existing(options, "reference", HomeFile("../shared/gavel"));
  settings.traces = Existing(options, "traces", reference + "/sim/traces_public");
  settings.results = Existing(options, "results", reference + "/sim/results_public.csv");
  if (settings.traces.empty() != settings.results.empty()) {
    throw Error(Join("expected traces and the reference's results on them, found only ",
                     settings.traces.empty() ? settings.results : settings.traces));
  }
  settings.seeds = SeedList(options, "seeds");
  settings.quick = options.Bool("quick");
  settings.packed = options.Bool("packed");
  return settings;
}

std::string MakeFolders(const Options& options) {
  const std::string& out = options.Required("out");
  const std::string runs = out + "/runs";
  HoldFolder(out, options.Where("out"), "berth reproduce", {"runs"});
  CheckWritable(out + "/" + kGavelPage, options.Where("out"));
  return runs;
}

int RunExperiments(const Options& options) {
  const std::vector<Experiment> chosen = ChosenExperiments(options, kExperiments);
  const GavelSettings settings = ResolveSettings(options);
  ReproductionRuns runs("reproduce gavel",
                        options.Bool("estimate") ? options.Text("out") + "/runs" : MakeFolders(options));
  for (const Experiment& experiment : chosen) experiment.plan(settings, runs);
  if (const auto ended = MakeRuns(options, runs)) return *ended;
  ReproductionPage page;
  page.Paragraph("# Gavel (Narayanan et al., OSDI 2020): published and measured");
  page.Paragraph(Join(
      "Made by `", MadeBy(options, {"only", "reference", "traces", "results", "seeds", "packed", "quick"}),
      "` from source ", SourceCommit(),
      ". Cluster of 36 V100, 36 P100, 36 K80, one GPU a server, clock `reference_rounds`, unless "
      "stated. Workloads are drawn by Berth from the paper's distributions (other jobs than the "
      "reference's seeds give). \"Not available\": a policy that this binary does not have; \"not "
      "run\": one that `--packed` adds."));
  bool held = true;
  for (const Experiment& experiment : chosen) held = experiment.report(settings, runs, page) && held;
  const std::string& out = options.Text("out");
  page.Write(out, kGavelPage);
  DrawPictures(options, "reproduce/plot_reproduction.py", out);
  std::cout << out << "/" << kGavelPage
            << (held ? ": all that is held is within its tolerance\n"
                     : ": something is out of its tolerance, marked OUT or failed\n");
  return held ? 0 : 1;
}

}  // namespace

int ReproduceGavel(const std::vector<std::string>& arguments) {
  Options options(
      "reproduce gavel",
      "[--only NAME,...] [--seeds A:B] [--quick] --out DIR | --golden FILE | --mechanism DIR",
      "reruns the experiments of Gavel (OSDI 2020), or checks policies and rounds against its records");
  AddOptions(options);
  options.Audits();
  if (!options.Parse(arguments)) return 0;
  if (options.Given("golden") && options.Given("mechanism")) {
    throw Error("expected --golden or --mechanism, found both");
  }
  if (options.Given("out")) options.AddWritten("out", options.Text("out") + "/" + kGavelPage);
  CheckJsonWritable(options);
  const int code = options.Given("golden")      ? CheckGavelGolden(options.Text("golden"))
                   : options.Given("mechanism") ? CheckGavelMechanism(options.Text("mechanism"))
                                                : RunExperiments(options);
  if (code <= 1 && !options.Bool("estimate"))  // else nothing was compared
    WriteJson(options, {{"held", code == 0}, {"config", ConfigJson(options)}});
  return code;
}

}  // namespace berth

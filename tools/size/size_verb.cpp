// berth size: the smallest or cheapest cluster that keeps stated levels.
#include <algorithm>
#include <iostream>

#include "data/csv_file.hpp"
#include "env/base/check.hpp"
#include "env/base/counted.hpp"
#include "tools/evaluation_table.hpp"
#include "tools/json.hpp"
#include "tools/next_steps.hpp"
#include "tools/output_file.hpp"
#include "tools/reproduce/study_options.hpp"
#include "tools/size/size.hpp"
#include "tools/studies/studies.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

void AddSizeOptions(Options& options) {
  AddSizePlan(options);
  options.Group("Results");
  options.Output("csv", "write what was tried to this file: a row a cluster and scheduler");
  options.Note(
      "A level is met where the upper end of the 95% interval over the seeds meets it (of one with >=, "
      "the lower): take 10 seeds or more. Largest values (max_*), and figures of one workload, count "
      "as they are. Every measured job must finish and the cluster keep up. Of several schedulers one "
      "has to meet all levels. What has no more GPUs of any type than a cluster with too few is not "
      "tried, nor, of a level that GPUs harm (util>=), what has no fewer; of cost, energy and faults "
      "nothing follows.");
  options.Everyday({"types", "meet", "schedulers", "scenario", "workload", "knowledge", "features", "seeds",
                    "window", "threads", "csv"});
}

// With the level's own unit: "0.52 [0.41, 0.63]".
std::string FigureText(const SizedRow& row, const std::vector<Level>& levels, std::size_t i) {
  return WithInterval(row.figures[i], levels[i].metric.unit, std::max(2, levels[i].metric.decimals));
}

std::string Why(const SizedRow& row) {
  if (row.meets) return "yes";
  if (row.unfinished > 0) return Join("no: ", Counted(row.unfinished, "job"), " unfinished");
  return row.unstable ? "no: does not keep up" : "no";
}

std::string PriceText(const SizeRequest& request, const Mix& mix) {
  return request.types[0].priced ? Join(", ", Fixed(mix.price, 2), " an hour") : "";
}

// The cluster, its price, and who meets the levels there.
std::string Answer(const SizeRequest& request, const SizedMix& sized) {
  std::string who;
  for (const SizedRow& row : sized.rows) {
    if (row.meets) who += Join(who.empty() ? "" : ", ", row.scheduler);
  }
  return Join(sized.cluster, PriceText(request, sized.mix), ", under ", who);
}

void PrintSize(const SizeRequest& request, const SizeResult& result) {
  const bool priced = !PriceText(request, {}).empty();
  std::vector<std::string> header = {"cluster"};
  if (priced) header.emplace_back("price/h");
  header.emplace_back("scheduler");
  for (const Level& level : request.levels) header.push_back(level.text);
  header.emplace_back("meets");
  Table table(header);
  for (const SizedMix& sized : result.tried) {
    for (const SizedRow& row : sized.rows) {
      std::vector<std::string> cells = {sized.cluster};
      if (priced) cells.push_back(Fixed(sized.mix.price, 2));
      cells.push_back(row.scheduler);
      for (std::size_t i = 0; i < request.levels.size(); ++i)
        cells.push_back(FigureText(row, request.levels, i));
      cells.push_back(Why(row));
      table.AddRow(cells);
    }
  }
  std::cout << result.tried.size() << " of " << Counted(result.mixes, "cluster") << " tried, "
            << Counted(result.seeds, "workload")
            << (result.seeds > 1 ? " each; in brackets 95% intervals\n\n" : ", so without intervals\n\n")
            << table.ToString();
  for (const SizedMix& sized : result.tried) {
    if (!sized.refused.empty())
      std::cout << sized.cluster << " cannot run these jobs: " << sized.refused << "\n";
  }
  std::cout << "\n";
  if (!result.best) {
    const SizedMix& largest = result.tried.back();
    std::cout << "none meets the levels"
              << (largest.fit().too_few ? Join(": not even ", largest.cluster)
                  : result.tried.size() == result.mixes
                      ? ""
                      : "; those not tried have no more GPUs than one that has too few, or no fewer than one "
                        "that has too many")
              << "\n";
    return;
  }
  std::cout << (priced ? "cheapest: " : "smallest: ") << Answer(request, result.tried[*result.best]) << "\n";
  if (result.runner_up)
    std::cout << "runner-up: " << Answer(request, result.tried[*result.runner_up]) << "\n";
  if (!result.monotone) {
    std::cout
        << "a neighbour was not as expected (more GPUs that are too few, or one ruled out that meets the "
           "levels): others that were not tried may meet them too; more --seeds narrow the intervals\n";
  }
}

std::string SizeCsv(const SizeRequest& request, const SizeResult& result) {
  std::vector<std::string> header = {"cluster",    "gpus",     "price_per_h", "scheduler",
                                     "unfinished", "unstable", "meets"};
  for (const Level& level : request.levels) {
    const std::string key = level.metric.field->key;
    header.insert(header.end(), {key, key + "_low", key + "_high"});
  }
  std::string text = CsvLine(header);
  for (const SizedMix& sized : result.tried) {
    for (const SizedRow& row : sized.rows) {
      std::vector<std::string> line = {sized.cluster,
                                       std::to_string(sized.mix.gpus),
                                       ExactCell(sized.mix.price),
                                       row.scheduler,
                                       std::to_string(row.unfinished),
                                       row.unstable ? "true" : "false",
                                       row.meets ? "true" : "false"};
      for (const Interval& figure : row.figures)
        line.insert(line.end(), {ExactCell(figure.mean), ExactCell(figure.low), ExactCell(figure.high)});
      text += CsvLine(line);
    }
  }
  return text;
}

Json SizeJson(const SizeRequest& request, const SizeResult& result, const Options& options) {
  Json json;
  json["levels"] = Json::array();
  for (const Level& level : request.levels)
    json["levels"].push_back(
        {{"figure", level.metric.field->key}, {"at_most", level.at_most}, {"bound", level.bound}});
  json["mixes"] = result.mixes;
  json["monotone"] = result.monotone;
  json["best"] = result.best ? Json(result.tried[*result.best].cluster) : Json();
  json["runner_up"] = result.runner_up ? Json(result.tried[*result.runner_up].cluster) : Json();
  json["tried"] = Json::array();
  for (const SizedMix& sized : result.tried) {
    Json one = {{"cluster", sized.cluster}, {"gpus", sized.mix.gpus}, {"price_per_h", sized.mix.price}};
    one["meets"] = sized.meets();
    one["refused"] = sized.refused.empty() ? Json() : Json(sized.refused);
    one["schedulers"] = Json::array();
    for (const SizedRow& row : sized.rows) {
      Json figures = Json::array();
      for (std::size_t i = 0; i < row.figures.size(); ++i) {
        const MetricField& field = *request.levels[i].metric.field;
        figures.push_back({{"figure", field.key},
                           {"mean", FigureJson(field, row.figures[i].mean)},
                           {"low", FigureJson(field, row.figures[i].low)},
                           {"high", FigureJson(field, row.figures[i].high)},
                           {"met", static_cast<bool>(row.met[i])}});
      }
      one["schedulers"].push_back({{"scheduler", row.scheduler},
                                   {"unfinished", row.unfinished},
                                   {"unstable", row.unstable},
                                   {"meets", row.meets},
                                   {"figures", figures}});
    }
    json["tried"].push_back(one);
  }
  json["config"] = ConfigJson(options);
  return json;
}

}  // namespace

int Size(const std::vector<std::string>& given) {
  const std::vector<std::string> arguments = JoinLists(given, {"schedulers", "meet"});
  Options options(
      "size",
      "--types 'TYPE=FIRST..LAST@PRICE,...' --meet 'FIGURE<=NUMBER;...' [--schedulers 'SPEC;SPEC;...'] "
      "[--workload SPEC | --scenario FILE --format FORMAT] [--seeds A:B] [--json FILE]",
      "finds the smallest or cheapest cluster that meets stated levels");
  AddSizeOptions(options);
  if (!options.Parse(arguments)) return 0;
  const SizeRequest request = ResolveSize(options);
  CheckJsonWritable(options);
  const std::string csv = options.Text("csv");
  if (!IsSpecialFile(csv)) CheckWritable(csv, options.Where("csv"));
  const SizeResult result = SizeCluster(request);
  if (!csv.empty()) InOption(options, "csv", [&] { WriteTextFile(csv, SizeCsv(request, result)); });
  WriteJson(options, SizeJson(request, result, options));
  PrintSize(request, result);
  if (!result.best) return 1;
  std::cout << NextStep(
      request.types[0].priced ? "all figures of it, by known prices (a cluster's file states others)"
                              : "all figures of it",
      Join("evaluate", SameJobs(options), " --cluster ", result.tried[*result.best].cluster,
           options.Given("schedulers") ? Join(" --schedulers ", ForShell(options.Text("schedulers"))) : "",
           options.Given("seeds") ? Join(" --seeds ", options.Text("seeds")) : "",
           options.Given("window") ? Join(" --window ", options.Text("window")) : ""));
  return 0;
}

}  // namespace berth

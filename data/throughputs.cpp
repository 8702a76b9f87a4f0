#include "data/throughputs.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "data/shipped_csv.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

constexpr const char* kWhat = "shipped throughput table";
constexpr const char* kGavel = "gavel";

// Job types in the order of the rows, rates as the figures say.
ThroughputTable AloneTable(const std::vector<ThroughputFigure>& figures, const ClusterSpec& cluster) {
  const std::size_t types = cluster.types.size();
  ThroughputTable table;
  table.gang_sizes = {1, 2, 4, 8};
  std::map<std::string_view, std::size_t> index, column;
  for (std::size_t g = 0; g < types; ++g) column.emplace(cluster.types[g].name, g);
  for (const ThroughputFigure& figure : figures) {
    if (index.emplace(figure.job_type, index.size()).second) table.job_types.push_back(figure.job_type);
  }
  table.alone.assign(index.size() * 4 * types, 0.0);
  for (const ThroughputFigure& figure : figures) {
    const auto at = column.find(figure.gpu_type);
    if (at == column.end()) continue;
    const auto size = std::find(table.gang_sizes.begin(), table.gang_sizes.end(), figure.gang);
    const auto s = static_cast<std::size_t>(size - table.gang_sizes.begin());
    table.alone[(index.at(figure.job_type) * 4 + s) * types + at->second] = figure.steps_per_s;
  }
  return table;
}

// What "gavel" knows beside: gangs spread over nodes, pairs on one GPU.
void AddGavelColumns(const ClusterSpec& cluster, ThroughputTable& table) {
  const auto alone = ShippedRows(kAloneCsv), pairs = ShippedRows(kPairsCsv);
  const std::size_t types = cluster.types.size(), jobs = table.job_types.size();
  std::map<std::string_view, int> index;
  for (std::size_t t = 0; t < jobs; ++t) index.emplace(table.job_types[t], static_cast<int>(t));
  table.unconsolidated.assign(jobs * 4 * types, 0.0);
  table.pairs.assign(jobs * jobs * types * 2, 0.0);
  for (std::size_t r = 1; r < alone.size(); ++r) {
    const auto gang = ParseInteger(alone[r][1], kWhat);
    const auto s = static_cast<std::size_t>(
        std::find(table.gang_sizes.begin(), table.gang_sizes.end(), gang) - table.gang_sizes.begin());
    for (std::size_t g = 0; g < types; ++g)
      table.unconsolidated[(U(index.at(alone[r][0])) * 4 + s) * types + g] =
          ShippedNumber(alone[r], ShippedColumn(alone.front(), cluster.types[g].name + "_unconsolidated"));
  }
  for (std::size_t r = 1; r < pairs.size(); ++r) {
    const std::size_t a = U(index.at(pairs[r][0])), b = U(index.at(pairs[r][1]));
    for (std::size_t g = 0; g < types; ++g) {
      const int column = ShippedColumn(pairs.front(), cluster.types[g].name);
      const double first = ShippedNumber(pairs[r], column), second = ShippedNumber(pairs[r], column + 1);
      table.pairs[((a * jobs + b) * types + g) * 2] = table.pairs[((b * jobs + a) * types + g) * 2 + 1] =
          first;
      table.pairs[((a * jobs + b) * types + g) * 2 + 1] = table.pairs[((b * jobs + a) * types + g) * 2] =
          second;
    }
  }
}

std::vector<ThroughputFigure> FiguresOf(const char* csv, const char* source) {
  const auto rows = ShippedRows(csv);
  std::vector<ThroughputFigure> figures;
  for (std::size_t r = 1; r < rows.size(); ++r) {
    for (const char* type : {"k80", "p100", "v100"})
      figures.push_back({std::string(rows[r][0]), type, static_cast<int>(ParseInteger(rows[r][1], kWhat)),
                         ShippedNumber(rows[r], ShippedColumn(rows.front(), type)), source});
  }
  return figures;
}

std::vector<ThroughputFigure> ModernFigures() {
  const auto rows = ShippedRows(kModernCsv);
  std::vector<ThroughputFigure> figures;
  for (std::size_t r = 1; r < rows.size(); ++r)
    figures.push_back({std::string(rows[r][0]), std::string(rows[r][1]),
                       static_cast<int>(ParseInteger(rows[r][2], kWhat)), ShippedNumber(rows[r], 3),
                       std::string(rows[r][4])});
  return figures;
}

bool Has(const ShippedThroughputs& table, const std::string& gpu_type) {
  return std::find(table.gpu_types.begin(), table.gpu_types.end(), gpu_type) != table.gpu_types.end();
}

ShippedThroughputs Shipped(const char* name, const char* summary, const char* source, const char* reference,
                           std::vector<ThroughputFigure> figures) {
  ShippedThroughputs table{name, summary, source, reference, {}, std::move(figures)};
  for (const ThroughputFigure& figure : table.figures) {
    if (!Has(table, figure.gpu_type)) table.gpu_types.push_back(figure.gpu_type);
  }
  return table;
}

}  // namespace

std::span<const ShippedThroughputs> ThroughputTables() {
  static const std::vector<ShippedThroughputs> kTables = {
      Shipped(
          kGavel,
          "26 job types on K80, P100 and V100, in gangs of 1 to 8, spread over nodes, and in pairs on one "
          "GPU; all measured",
          "Narayanan et al., OSDI 2020, simulation_throughputs.json", "v100",
          FiguresOf(kAloneCsv, "Narayanan et al., OSDI 2020")),
      Shipped(
          "modern",
          "14 job types on T4, V100, A10, L4, L40S, RTX A6000, 4090 and 6000 Ada, A100, H100, H200 and B200 "
          "in gangs of 1 to 8; half measured, the others by a model",
          "Lambda, github.com/lambdal/deeplearning-benchmark, runs of NVIDIA's Deep Learning Examples; "
          "model: "
          "data/throughputs/modern.py",
          "a100", ModernFigures()),
  };
  return kTables;
}

const ShippedThroughputs& FindThroughputs(const std::string& name) {
  std::vector<std::string> names;
  for (const ShippedThroughputs& table : ThroughputTables()) {
    if (name == table.name) return table;
    names.emplace_back(table.name);
  }
  throw Error(
      Join("expected a table of throughputs, gavel or modern, found '", name, "'", DidYouMean(name, names)));
}

const GpuType* ShippedThroughputs::Lacking(const ClusterSpec& cluster) const {
  const auto found = std::find_if(cluster.types.begin(), cluster.types.end(),
                                  [this](const GpuType& type) { return !Has(*this, type.name); });
  return found == cluster.types.end() ? nullptr : &*found;
}

ThroughputTable ShippedThroughputs::Table(const ClusterSpec& cluster) const {
  if (const GpuType* type = Lacking(cluster)) {
    throw Error(Join("cluster: no measured throughputs for GPU type '", type->name, "'; there are some for ",
                     Listed(gpu_types)));
  }
  ThroughputTable table = AloneTable(figures, cluster);
  if (name == std::string_view(kGavel)) AddGavelColumns(cluster, table);
  return table;
}

const ShippedThroughputs& ShockwaveThroughputs() {
  static const ShippedThroughputs kTable =
      Shipped("shockwave", "the job types of gavel, alone, as measured for Shockwave",
              "Zheng et al., NSDI 2023, scheduler/tacc_throughputs.json", "v100",
              FiguresOf(kShockwaveCsv, "Zheng et al., NSDI 2023"));
  return kTable;
}

ThroughputTable PublishedThroughputs(const ClusterSpec& cluster) {
  return FindThroughputs(kGavel).Table(cluster);
}

int JobTypeIndex(const ThroughputTable& table, const std::string& name, const std::string& where) {
  const auto it = std::find(table.job_types.begin(), table.job_types.end(), name);
  if (it == table.job_types.end()) {
    throw Error(Join(where, ": unknown job type '", name, "'", DidYouMean(name, table.job_types)));
  }
  return static_cast<int>(it - table.job_types.begin());
}

double AloneRate(const ThroughputTable& table, int job_type, int gang, int gpu_type, int num_gpu_types) {
  const auto it = std::find(table.gang_sizes.begin(), table.gang_sizes.end(), gang);
  if (it == table.gang_sizes.end()) return 0.0;
  const auto s = static_cast<std::size_t>(it - table.gang_sizes.begin());
  return table.alone[(U(job_type) * table.gang_sizes.size() + s) * U(num_gpu_types) + U(gpu_type)];
}

namespace {

ThroughputTable OnV100(const ShippedThroughputs& shipped) {
  ClusterSpec v100;
  v100.types.resize(1);
  v100.types[0].name = "v100";
  return shipped.Table(v100);
}

}  // namespace

double V100Rate(int job_type, int gang) {
  static const ThroughputTable kTable = OnV100(FindThroughputs(kGavel));
  return AloneRate(kTable, job_type, gang, 0, 1);
}

double ShockwaveV100Rate(int job_type, int gang) {
  static const ThroughputTable kTable = OnV100(ShockwaveThroughputs());
  return AloneRate(kTable, job_type, gang, 0, 1);
}

}  // namespace berth

#include "data/tables/speeds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "data/csv_file.hpp"
#include "env/base/check.hpp"
#include "env/base/counted.hpp"
#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"
#include "env/base/shortest.hpp"
#include "env/base/spec.hpp"
#include "env/predict/estimation/low_rank.hpp"
#include "env/predict/estimation/rate_matrix.hpp"

namespace berth {
namespace {

constexpr double kMostSpeed = 1e12;  // steps/s
// Spreading a gang may help, where its workers want more of a node than it has: Gavel's published table has
// 44 such figures, up to 1.36 times the speed on one node. Twice is a column taken for another.
constexpr double kMostGain = 2.0;
constexpr double kSame = 1e-3;  // of each other, two figures that are one, rounded
constexpr const char* kRequired[] = {"job_type", "gpu_type"};
constexpr const char* kKnown[] = {"job_type",   "gpu_type",           "gpus", "steps_per_s",
                                  "s_per_step", "spread_steps_per_s", "with", "source"};

// Steps/s, one of the two columns.
double Rate(const CsvFile& file) {
  const bool steps = file.Has("steps_per_s");
  const char* column = steps ? "steps_per_s" : "s_per_step";
  const double value = file.Number(column);
  if (steps ? !(value >= 0.0 && value <= kMostSpeed) : !(value >= 1.0 / kMostSpeed && value <= kMostSpeed))
    throw Error(Join(file.Where(column), ": expected ",
                     steps ? "a number from 0 to " : "more than 0, at most ", InWords(kMostSpeed), ", found ",
                     Shortest(value)));
  return steps ? value : 1.0 / value;
}

}  // namespace

Speeds::Speeds(const std::string& path) : path_(path) {
  CsvFile file(path, kRequired, Separator::kGuess);
  if (file.Has("steps_per_s") == file.Has("s_per_step"))
    throw Error(Join(file.Where(), ": expected a column 'steps_per_s' or one 's_per_step', found ",
                     file.Has("steps_per_s") ? "both" : "neither"));
  const std::vector<std::string> known(std::begin(kKnown), std::end(kKnown));
  for (const std::string& name : file.names()) {
    if (!name.empty() && std::find(known.begin(), known.end(), name) == known.end())
      throw Error(Join(file.Where(), ": unknown column '", name, "'", DidYouMean(name, known)));
  }
  while (file.Next()) {
    for (const char* column : kRequired) {
      if (file.Text(column).empty())
        throw Error(Join(file.Where(column), ": expected a name, found nothing"));
    }
    const int gang = file.Has("gpus") ? file.Integer("gpus") : 1;
    if (gang < 1) throw Error(Join(file.Where("gpus"), ": expected at least 1, found ", gang));
    const int type = job_types_.Add(file.Text("job_type"));
    const std::string gpu = Lower(file.Text("gpu_type"));
    const double rate = Rate(file);
    const std::string other = file.Has("with") ? file.Text("with") : "";
    bool fresh = false;
    if (other.empty()) {
      Cell cell{rate, gang == 1 ? rate : 0.0};
      if (file.Has("spread_steps_per_s") && !file.Text("spread_steps_per_s").empty()) {
        cell.spread = file.Number("spread_steps_per_s"), spread_ = true;
        if (!(cell.spread >= 0.0 && cell.spread <= kMostSpeed))
          throw Error(Join(file.Where("spread_steps_per_s"), ": expected 0 or more, found ", cell.spread));
        if (rate == 0.0 && cell.spread > 0.0)
          throw Error(Join(file.Where("spread_steps_per_s"),
                           ": expected 0, since the job type cannot run there on one node, found ",
                           cell.spread));
        if (gang == 1 && cell.spread != 0.0) {
          if (std::abs(cell.spread - rate) > kSame * rate)
            throw Error(Join(file.Where("spread_steps_per_s"),
                             ": expected nothing, since a gang of 1 is on one node, found ", cell.spread));
          cell.spread = rate;
        }
        if (cell.spread > kMostGain * rate)
          throw Error(Join(file.Where("spread_steps_per_s"), ": expected at most ", kMostGain,
                           " times the speed on one node, ", rate, ", found ", cell.spread));
      }
      fresh = cells_.emplace(Key{type, gang, gpu}, cell).second;
    } else {
      if (gang != 1)
        throw Error(Join(file.Where("with"), ": expected gangs of 1 to share a GPU, found ", gang));
      fresh = pairs_.emplace(PairKey{type, job_types_.Add(other), gpu}, rate).second;
    }
    if (!fresh) throw Error(Join(file.Where(), ": expected each speed once, found it again"));
  }
  if (cells_.empty()) throw Error(Join(path, ": expected a speed a line, found none"));
}

const Speeds::Cell* Speeds::Find(int job_type, int gang, const std::string& gpu_type) const {
  const auto found = cells_.find({job_type, gang, Lower(gpu_type)});
  return found == cells_.end() ? nullptr : &found->second;
}

double Speeds::Measured(int job_type, int gang, const std::string& gpu_type) const {
  const Cell* cell = Find(job_type, gang, gpu_type);
  return cell == nullptr ? std::numeric_limits<double>::quiet_NaN() : cell->alone;
}

std::vector<std::string> Speeds::GpuTypes() const {
  std::set<std::string> names;
  for (const auto& [key, cell] : cells_) names.insert(std::get<2>(key));
  return {names.begin(), names.end()};
}

// By low-rank completion of the logarithms of what was measured, with the defaults of the feature
// `estimates`.
void Speeds::Estimate(const std::vector<Missing>& missing, const ClusterSpec& cluster,
                      ThroughputTable& table) const {
  const auto types = static_cast<int>(cluster.types.size());
  ThroughputTable alone = table;
  alone.unconsolidated.clear();
  const PartialMatrix known = RateMatrix(alone, types);
  std::vector<char> of_column(U(known.columns), 0), of_job(U(known.rows), 0);
  for (std::size_t at = 0; at < known.known.size(); ++at) {
    if (known.known[at] != 0) of_column[at % U(known.columns)] = of_job[at / U(known.columns)] = 1;
  }
  for (const Missing& cell : missing) {
    const std::size_t job = cell.at / U(known.columns), column = cell.at % U(known.columns);
    if (of_column[column] != 0 && of_job[job] != 0) continue;
    throw Error(Join(path_, ": expected, to estimate ", cell.name, ", a speed of ",
                     of_job[job] == 0 ? "that job type" : "any job type with as many GPUs there",
                     ", found none"));
  }
  const std::vector<double> logs = CompleteLowRank(known, {});
  for (const Missing& cell : missing) {
    table.alone[cell.at] = Exp(logs[cell.at]);
    const std::size_t size = cell.at / U(types) % table.gang_sizes.size();
    if (spread_ && table.gang_sizes[size] == 1) table.unconsolidated[cell.at] = table.alone[cell.at];
  }
}

ThroughputTable Speeds::Table(const ClusterSpec& cluster, std::span<const std::pair<int, int>> used,
                              std::vector<std::string>* estimated) const {
  std::set<int> sizes;
  for (const auto& [type, gang] : used) sizes.insert(gang);
  for (const auto& [key, cell] : cells_) sizes.insert(std::get<1>(key));
  if (!pairs_.empty()) sizes.insert(1);
  ThroughputTable table;
  table.job_types = job_types();
  table.gang_sizes.assign(sizes.begin(), sizes.end());
  const std::size_t types = cluster.types.size(), jobs = job_types().size(), count = sizes.size();
  table.alone.assign(jobs * count * types, 0.0);
  if (spread_) table.unconsolidated = table.alone;
  for (std::size_t j = 0; j < jobs; ++j) {
    for (std::size_t s = 0; s < count; ++s) {
      for (std::size_t g = 0; g < types; ++g) {
        const Cell* cell = Find(static_cast<int>(j), table.gang_sizes[s], cluster.types[g].name);
        if (cell == nullptr) continue;
        table.alone[(j * count + s) * types + g] = cell->alone;
        if (spread_) table.unconsolidated[(j * count + s) * types + g] = cell->spread;
      }
    }
  }
  std::vector<Missing> missing;
  for (const auto& [type, gang] : used) {
    const auto size = std::lower_bound(table.gang_sizes.begin(), table.gang_sizes.end(), gang);
    for (std::size_t g = 0; g < types; ++g) {
      if (gang > cluster.types[g].count || Find(type, gang, cluster.types[g].name) != nullptr) continue;
      missing.push_back(
          {(U(type) * count + static_cast<std::size_t>(size - table.gang_sizes.begin())) * types + g,
           Join("'", job_types()[U(type)], "' with ", Counted(gang, "GPU"), " on ", cluster.types[g].name)});
    }
  }
  if (estimated != nullptr) {
    Estimate(missing, cluster, table);
    for (const Missing& cell : missing)
      estimated->push_back(Join(cell.name, ": ", table.alone[cell.at], " steps/s"));
  } else if (!missing.empty()) {
    const std::size_t more = missing.size() - 1;
    throw Error(Join(path_,
                     ": expected the speeds of all jobs on all types (steps_per_s 0 = cannot run there; "
                     "--estimate-missing estimates), found none of ",
                     missing.front().name, more > 0 ? Join(" and of ", more, " more") : ""));
  }
  if (pairs_.empty()) return table;
  table.pairs.assign(jobs * jobs * types * 2, 0.0);
  for (const auto& [key, rate] : pairs_) {
    const auto& [type, other, gpu] = key;
    const auto back = pairs_.find({other, type, gpu});
    if (back == pairs_.end())
      throw Error(Join(path_, ": expected the speed of '", job_types()[U(other)], "' with '",
                       job_types()[U(type)], "' on ", gpu, ", found only the other way round"));
    for (std::size_t g = 0; g < types; ++g) {
      if (Lower(cluster.types[g].name) != gpu) continue;
      const std::size_t at = ((U(type) * jobs + U(other)) * types + g) * 2;
      table.pairs[at] = rate, table.pairs[at + 1] = back->second;
    }
  }
  return table;
}

}  // namespace berth

#include "data/throughputs.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

std::vector<std::string_view> Split(std::string_view line, char separator) {
  std::vector<std::string_view> fields;
  for (std::size_t begin = 0;;) {
    const std::size_t end = line.find(separator, begin);
    fields.push_back(line.substr(begin, end - begin));
    if (end == std::string_view::npos) return fields;
    begin = end + 1;
  }
}

// Rows of a shipped table; the first is its header. What is compiled in is well-formed or our mistake.
std::vector<std::vector<std::string_view>> Rows(const char* csv) {
  std::vector<std::vector<std::string_view>> rows;
  for (std::string_view line : Split(csv, '\n')) {
    if (!line.empty()) rows.push_back(Split(line, ','));
    BERTH_CHECK(rows.empty() || rows.back().size() == rows.front().size(), line);
  }
  return rows;
}

int ColumnOf(const std::vector<std::string_view>& header, const std::string& name) {
  const auto it = std::find(header.begin(), header.end(), name);
  return it == header.end() ? -1 : static_cast<int>(it - header.begin());
}

double Cell(const std::vector<std::string_view>& row, int column) {
  return ParseNumber(row[U(column)], "shipped throughput table");
}

}  // namespace

ThroughputTable PublishedThroughputs(const ClusterSpec& cluster) {
  const auto alone = Rows(kAloneCsv);
  const auto pairs = Rows(kPairsCsv);
  const std::size_t types = cluster.types.size();
  for (const GpuType& type : cluster.types) {
    if (ColumnOf(pairs.front(), type.name) < 0) {
      throw Error(Join("cluster: no measured throughputs for GPU type '", type.name,
                       "'; there are some for k80, p100 and v100"));
    }
  }
  ThroughputTable table;
  table.gang_sizes = {1, 2, 4, 8};
  std::map<std::string_view, int> index;
  for (std::size_t r = 1; r < alone.size(); ++r) {
    if (index.emplace(alone[r][0], static_cast<int>(index.size())).second) {
      table.job_types.emplace_back(alone[r][0]);
    }
  }
  const std::size_t jobs = table.job_types.size();
  table.alone.assign(jobs * 4 * types, 0.0);
  table.unconsolidated.assign(jobs * 4 * types, 0.0);
  table.pairs.assign(jobs * jobs * types * 2, 0.0);
  for (std::size_t r = 1; r < alone.size(); ++r) {
    const auto gang = ParseInteger(alone[r][1], "shipped throughput table");
    const auto s = static_cast<std::size_t>(
        std::find(table.gang_sizes.begin(), table.gang_sizes.end(), gang) - table.gang_sizes.begin());
    for (std::size_t g = 0; g < types; ++g) {
      const std::size_t at = (U(index.at(alone[r][0])) * 4 + s) * types + g;
      table.alone[at] = Cell(alone[r], ColumnOf(alone.front(), cluster.types[g].name));
      table.unconsolidated[at] =
          Cell(alone[r], ColumnOf(alone.front(), cluster.types[g].name + "_unconsolidated"));
    }
  }
  for (std::size_t r = 1; r < pairs.size(); ++r) {
    const std::size_t a = U(index.at(pairs[r][0])), b = U(index.at(pairs[r][1]));
    for (std::size_t g = 0; g < types; ++g) {
      const int column = ColumnOf(pairs.front(), cluster.types[g].name);
      const double first = Cell(pairs[r], column), second = Cell(pairs[r], column + 1);
      table.pairs[((a * jobs + b) * types + g) * 2] = table.pairs[((b * jobs + a) * types + g) * 2 + 1] =
          first;
      table.pairs[((a * jobs + b) * types + g) * 2 + 1] = table.pairs[((b * jobs + a) * types + g) * 2] =
          second;
    }
  }
  return table;
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

double V100Rate(int job_type, int gang) {
  static const ThroughputTable kTable = [] {
    ClusterSpec v100;
    v100.types.resize(1);
    v100.types[0].name = "v100";
    return PublishedThroughputs(v100);
  }();
  return AloneRate(kTable, job_type, gang, 0, 1);
}

}  // namespace berth

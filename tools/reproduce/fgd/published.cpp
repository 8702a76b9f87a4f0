#include "tools/reproduce/fgd/published.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/csv_file.hpp"
#include "tools/reproduce/fgd/run.hpp"

namespace berth::fgd {

std::vector<PublishedRun> ReadPublishedRuns(const std::string& path) {
  static constexpr const char* kColumns[] = {"workload", "sc_policy", "seed", "0", "130"};
  CsvFile file(path, kColumns);
  std::vector<PublishedRun> runs;
  while (file.Next()) {
    PublishedRun run{file.Text("workload"), file.Text("sc_policy"), {}};
    for (int percent = 0; percent < kPercents; ++percent) {
      const std::string column = std::to_string(percent);
      run.by_percent.push_back(file.Text(column).empty() ? std::numeric_limits<double>::quiet_NaN()
                                                         : file.Number(column));
    }
    runs.push_back(std::move(run));
  }
  return runs;
}

Spread SpreadOf(const std::vector<double>& values) {
  Spread spread;
  double sum = 0.0;
  for (double x : values) {
    if (std::isnan(x)) continue;
    spread.low = spread.runs == 0 ? x : std::min(spread.low, x);
    spread.high = spread.runs == 0 ? x : std::max(spread.high, x);
    sum += x;
    ++spread.runs;
  }
  if (spread.runs == 0) return spread;
  spread.mean = sum / spread.runs;
  double squares = 0.0;
  for (double x : values) {
    if (!std::isnan(x)) squares += (x - spread.mean) * (x - spread.mean);
  }
  spread.sd = spread.runs > 1 ? std::sqrt(squares / (spread.runs - 1)) : 0.0;
  return spread;
}

}  // namespace berth::fgd

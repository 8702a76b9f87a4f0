#include "env/predict/estimation/rate_matrix.hpp"

#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"

namespace berth {
namespace {

// Calls visit(row, column, rate) for every entry: `rate` belongs to `table`, of its constness. A pair's rates
// stand twice in a table, once from each side; a visit is of the side that comes first.
template <class Table, class Visit>
void ForEach(Table& table, int num_types, const Visit& visit) {
  const int jobs = static_cast<int>(table.job_types.size());
  const int alone = AloneColumns(table, num_types);
  const int spread = table.unconsolidated.empty() ? 0 : alone;
  for (int i = 0; i < jobs; ++i) {
    for (int c = 0; c < alone; ++c) visit(i, c, table.alone[U(i * alone + c)]);
    for (int c = 0; c < spread; ++c) visit(i, alone + c, table.unconsolidated[U(i * alone + c)]);
    if (table.pairs.empty()) continue;
    for (int other = 0; other < jobs; ++other) {
      for (int g = 0; g < num_types; ++g) {
        visit(i, alone + spread + other * num_types + g,
              table.pairs[U(((i * jobs + other) * num_types + g) * 2)]);
      }
    }
  }
}

int Columns(const ThroughputTable& table, int num_types) {
  const int alone = AloneColumns(table, num_types);
  return alone + (table.unconsolidated.empty() ? 0 : alone) +
         (table.pairs.empty() ? 0 : static_cast<int>(table.job_types.size()) * num_types);
}

}  // namespace

PartialMatrix RateMatrix(const ThroughputTable& table, int num_types) {
  PartialMatrix matrix;
  matrix.rows = static_cast<int>(table.job_types.size());
  matrix.columns = Columns(table, num_types);
  matrix.value.assign(U(matrix.rows) * U(matrix.columns), 0.0);
  matrix.known.assign(matrix.value.size(), 0);
  for (int c = 0; c < matrix.columns; ++c) matrix.group.push_back(c % num_types);
  ForEach(table, num_types, [&](int row, int column, const double& rate) {
    if (rate <= 0.0) return;
    matrix.value[matrix.At(row, column)] = Log(rate);
    matrix.known[matrix.At(row, column)] = 1;
  });
  return matrix;
}

ThroughputTable WithRates(const ThroughputTable& table, int num_types, const std::vector<double>& log_rates) {
  ThroughputTable result = table;
  const std::size_t columns = U(Columns(table, num_types));
  ForEach(result, num_types, [&](int row, int column, double& rate) {
    if (rate > 0.0) rate = Exp(log_rates[U(row) * columns + U(column)]);
  });
  const int jobs = static_cast<int>(table.job_types.size());
  for (int a = 0; a < jobs && !table.pairs.empty(); ++a) {  // the other side of each pair
    for (int b = 0; b < jobs; ++b) {
      for (int g = 0; g < num_types; ++g) {
        double& second = result.pairs[U(((a * jobs + b) * num_types + g) * 2 + 1)];
        if (second > 0.0) second = result.pairs[U(((b * jobs + a) * num_types + g) * 2)];
      }
    }
  }
  return result;
}

std::vector<int> ColumnGpus(const ThroughputTable& table, int num_types) {
  std::vector<int> gpus;
  const int alone = AloneColumns(table, num_types);
  for (int c = 0; c < Columns(table, num_types); ++c) {
    const bool gang = c < (table.unconsolidated.empty() ? alone : 2 * alone);
    gpus.push_back(gang ? table.gang_sizes[U(c % alone / num_types)] : 1);
  }
  return gpus;
}

}  // namespace berth

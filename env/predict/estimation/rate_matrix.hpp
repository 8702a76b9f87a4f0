// A table of throughputs as one matrix of logarithms, for the estimators: a row a job type, a column a way to
// run: alone by gang size and GPU type, the same spread over nodes, and (gang size 1) beside each other job
// type on each GPU type. Logarithms, because throughputs are products of what the job is and what the GPU is,
// and so that errors are relative. Which entries are 0 (cannot run: memory, not distributed) is known without
// running.
#pragma once

#include "env/predict/estimation/partial_matrix.hpp"
#include "env/sim/scenario.hpp"

namespace berth {

// Known where the table has a rate above 0. Columns of one GPU type are a group.
PartialMatrix RateMatrix(const ThroughputTable& table, int num_types);

// The table with `log_rates` [rows, columns of RateMatrix] in place of its rates above 0; zeros stay.
ThroughputTable WithRates(const ThroughputTable& table, int num_types, const std::vector<double>& log_rates);

// GPUs that hold the gang of each column: a profiling run of it takes that many. [columns]
std::vector<int> ColumnGpus(const ThroughputTable& table, int num_types);

// The columns of jobs alone, which come first.
inline int AloneColumns(const ThroughputTable& table, int num_types) {
  return static_cast<int>(table.gang_sizes.size()) * num_types;
}

}  // namespace berth

// The result file of berth evaluate, HDF5 of kind "evaluation": what pictures are drawn from (tools/report/).
//
// K schedulers, S workloads (seeds), W jobs of the window; s = seconds. NaN = unfinished, or never started.
//   attributes      workload, scenario, semantics, window ("A:B"), config (INI), command, source_commit
//   schedulers      [K] specs            knowledge     [K] what each uses of a job's future
//   seeds           [S]                  signatures    [K, S]
//   unstable        [K] 1 where the cluster does not keep up (ResultRow::Unstable)
//   jct_s           [K, S, W]            mean_jct_s    [K, S]
//   mean_jct_ci95_s [K, 2], jct_ratio [K, 3] mean, low, high to the first row; NaN for a single workload
//   arrival_s, alone_s [S, W] (alone = on the fastest type), arrivals_per_h [S], gang [S, W] GPUs
//   tenant [S, W], tenants: index and names, where the scenario has several
//   metrics/KEY     [K, S] the figures of a run, keys as in the JSON (tools/FORMATS.md); those of jobs, and
//                   mean_jct_s, are NaN where no job finished
//   table/{keys, titles, units, decimals} [C] columns of the page's table beside the mean JCT: a key,
//                   its heading, what a cell is the figure over, its decimals; table/values [K, C] the
//                   figures over all workloads, as in the JSON; NaN = none, or of a feature that is off
// With --report, or --out and --timeline, also
//   wait_s, ftf     [K, S, W]; ftf = finish-time fairness rho (FinishTimeFairness in env/sim/metrics.hpp)
//   decision_us/edges [B + 1], decision_us/counts [K, B], decision_us/mean [K] over all workloads
//   recording/      the first workload, second by second: who held which GPU (tools/report/run_record.hpp)
//     types, type_counts [G]; job_types [T]; jobs/{id, arrival_s, gang, job_type} [J]
//     spans/{scheduler, job, begin_s, end_s, devices_begin, devices_count, end, marks} [N]; devices [M]; ends
//     (names of spans/end), mark_names (of the bits of spans/marks, least first); outages/{scheduler, device,
//     begin_s, end_s, why, end}: a device takes no job; absences (names of why; a replica's end is one of
//     ends); end_s, unseen_gangs [K]; jobs_in_system/{scheduler, time_s, change}: +1 a job arrives, -1 it is
//     done or rejected
// Datasets were added to version 1 as time went by: a reader asks whether gang, tenant, table, ftf,
// outages/{why, end}, absences and spans/marks are there.
#pragma once

#include <string>
#include <vector>

#include "tools/evaluation.hpp"
#include "tools/metric_columns.hpp"
#include "tools/options.hpp"

namespace berth {

inline constexpr int kEvaluationVersion = 1;

struct EvaluationText {
  std::string workload, semantics, command;
  std::vector<MetricColumn> columns;  // of the page's table
};

// `recordings` null or one a row. Error where the file cannot be written.
void WriteEvaluation(const EvaluationPlan& plan, const std::vector<ResultRow>& rows,
                     const std::vector<Recording>* recordings, const EvaluationText& text,
                     const Options& options, const std::string& path);

}  // namespace berth

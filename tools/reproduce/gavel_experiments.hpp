// The published experiments that `berth reproduce gavel` reruns: one file and one line each. An experiment
// plans its runs; when all are done it writes its part of the page.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/reproduce/page.hpp"
#include "tools/reproduce/runs.hpp"

namespace berth {

struct GavelSettings {
  std::string traces, results;       // folder of traces and table of the reference's runs; "" = not there
  std::vector<std::uint64_t> seeds;  // of generated workloads
  bool quick = false;                // fewer points
  bool packed = false;               // also the LPs over pairs of jobs, which take hours
};

// X(name, Name, summary): PlanName and ReportName. In the order of the page. A report returns false when
// something that is held was out of its tolerance.
#define BERTH_GAVEL_EXPERIMENTS(X)                                                                       \
  X("headline", Headline, "the published claims: JCT, makespan, cost, sustained load")                   \
  X("simulations", Simulations, "the reference's own traces and policies, held within 3% (makespan 1%)") \
  X("makespan", Makespan, "static multi-GPU workloads of 100 to 700 jobs")                               \
  X("load", Load, "mean JCT against load, single and multi GPU, aware against agnostic")                 \
  X("ftf", Ftf, "the same under finish-time fairness: some of its runs take many minutes each")          \
  X("priorities", Priorities, "mean JCT by priority, multi GPU")                                         \
  X("cdf", Cdf, "distribution of JCTs at 5.6 single-GPU jobs an hour")                                   \
  X("hierarchy", Hierarchy, "shares of three tenants and their jobs over time")                          \
  X("cost", Cost, "cost and missed deadlines, with and without SLOs")

#define BERTH_DECLARE_EXPERIMENT(name, Name, summary)                     \
  void Plan##Name(const GavelSettings& settings, ReproductionRuns& runs); \
  bool Report##Name(const GavelSettings& settings, const ReproductionRuns& runs, ReproductionPage& page);
BERTH_GAVEL_EXPERIMENTS(BERTH_DECLARE_EXPERIMENT)
#undef BERTH_DECLARE_EXPERIMENT

}  // namespace berth

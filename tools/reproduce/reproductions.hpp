// What `berth reproduce NAME` can rerun: one file and one line each, as the verbs (verbs.hpp).
#pragma once

#include <string>
#include <vector>

namespace berth {

// X(name, function, summary)
#define BERTH_REPRODUCTIONS(X)                                                                      \
  X("fgd", ReproduceFgd, "the GPU allocation experiment of FGD (fragmentation), USENIX ATC 2023")   \
  X("gavel", ReproduceGavel, "the policies, round mechanism and experiments of Gavel, OSDI 2020")   \
  X("hpc", ReproduceHpc, "the published batch-scheduling tables (RLScheduler protocol)")            \
  X("learned", ReproduceLearned, "learned policies against every scheduler, from shipped policies") \
  X("prediction", ReproducePrediction, "forecasts and predicted run times on public logs")          \
  X("queueing", ReproduceQueueing, "queues with closed forms: theory and simulator side by side")   \
  X("realism", ReproduceRealism, "what each feature of a real cluster does, measured and drawn")    \
  X("shift", ReproduceShift, "learned policies where they were not trained, alone and guarded")

// Each takes the words after its name and returns the exit code: 0 all held, 1 something was out of its
// tolerance. Bad input is thrown as Error.
#define BERTH_DECLARE_REPRODUCTION(name, function, summary) \
  int function(const std::vector<std::string>& arguments);
BERTH_REPRODUCTIONS(BERTH_DECLARE_REPRODUCTION)
#undef BERTH_DECLARE_REPRODUCTION

}  // namespace berth

// What `berth reproduce NAME` can rerun: one file and one line each, as the verbs (verbs.hpp).
#pragma once

#include <string>
#include <vector>

namespace berth {

// X(name, function, keeps, summary): `keeps` is the option that names where the figures are kept.
#define BERTH_REPRODUCTIONS(X)                                                                             \
  X("actions", ReproduceActions, "out", "policies that do all a cluster can, against specialists")         \
  X("fgd", ReproduceFgd, "out", "the GPU allocation experiment of FGD (fragmentation), USENIX ATC 2023")   \
  X("gavel", ReproduceGavel, "out", "the policies, round mechanism and experiments of Gavel, OSDI 2020")   \
  X("hpc", ReproduceHpc, "out", "the published batch-scheduling tables (RLScheduler protocol)")            \
  X("learned", ReproduceLearned, "out", "learned policies against every scheduler, from shipped policies") \
  X("like", ReproduceLike, "out", "jobs drawn from models of public logs, beside weeks held out")          \
  X("pollux", ReproducePollux, "out", "the policies of the Pollux artifact, OSDI 2021, job by job")       \
  X("prediction", ReproducePrediction, "out", "forecasts and predicted run times on public logs")          \
  X("queueing", ReproduceQueueing, "json", "queues with closed forms: theory and simulator side by side")  \
  X("realism", ReproduceRealism, "out", "what each feature of a real cluster does, measured and drawn")    \
  X("shift", ReproduceShift, "out", "learned policies where they were not trained, alone and guarded")     \
  X("sia", ReproduceSia, "out", "the integer programs and the simulator of Sia, SOSP 2023")

// Each takes the words after its name and returns the exit code: 0 all held, 1 something was out of its
// tolerance. Bad input is thrown as Error.
#define BERTH_DECLARE_REPRODUCTION(name, function, keeps, summary) \
  int function(const std::vector<std::string>& arguments);
BERTH_REPRODUCTIONS(BERTH_DECLARE_REPRODUCTION)
#undef BERTH_DECLARE_REPRODUCTION

}  // namespace berth

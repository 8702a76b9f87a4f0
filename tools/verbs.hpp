// The verbs of the command line: one file and one line each. A line without its file does not link, a file
// without its line does not compile (-Wmissing-declarations).
#pragma once

#include <string>
#include <vector>

namespace berth {

// X(verb, function, summary), in the order of `berth --help`.
#define BERTH_VERBS(X)                                                                             \
  X("generate", RunGenerate, "make a scenario file from a workload generator")                     \
  X("convert", RunConvert, "make a scenario file from a trace, tables of yours or another one")    \
  X("simulate", RunSimulate, "run one scheduler over one scenario")                                \
  X("train", RunTrain, "train a scheduler by reinforcement learning, or continue")                 \
  X("tune", RunTune, "search a scheduler's numbers or a policy's weights, without gradients")      \
  X("evaluate", RunEvaluate, "compare schedulers on the same workloads, with intervals")           \
  X("sweep", RunSweep, "evaluate over a grid of loads, clusters, features, schedulers, ...")       \
  X("size", RunSize, "find the smallest or cheapest cluster that meets stated levels")             \
  X("export", RunExport, "freeze a trained scheduler as policy.h5 and ONNX")                       \
  X("solve", RunSolve,                                                                             \
    "an objective's allocation for a table of speeds, with the proof that none is better")         \
  X("explain", RunExplain, "show what a policy considered at one moment, what it chose, and why")  \
  X("forecast", RunForecast, "say when jobs that wait will start, with an interval")               \
  X("serve", RunServe, "schedule a real Slurm, or answer Kubernetes' scheduler")                   \
  X("progress", RunProgress, "say, inside a Slurm job, how far it is")                             \
  X("inspect", RunInspect, "say what a Berth file holds")                                          \
  X("bench", RunBench, "measure how fast this build is on this machine")                           \
  X("reproduce", RunReproduce, "rerun published experiments, published and measured side by side") \
  X("list", RunList, "list what can be named: schedulers, agents, signals, features, formats, workloads, ...")

// Each takes the words after the verb and returns the exit code: 0 done, 1 a comparison did not hold, 130
// interrupted with state saved. Bad input is thrown as Error, which main turns into exit code 2.
#define BERTH_DECLARE_VERB(name, function, summary) int function(const std::vector<std::string>& arguments);
BERTH_VERBS(BERTH_DECLARE_VERB)
#undef BERTH_DECLARE_VERB

// `berth evolve` is part of `berth tune`: throws Error with the line to type instead.
[[noreturn]] void RefuseEvolve(const std::vector<std::string>& arguments);

}  // namespace berth

// The one list of fuzz targets: X(name, what it reads). A target is a function in NAME.cpp of this folder, a line here, and a folder
// tests/corpus/NAME.
#pragma once

#include <span>

#include "tests/fuzz/input.hpp"

#define BERTH_FUZZ_TARGETS(X)                                                                \
  X(text, "trace formats, tables, clusters, speeds, models, Slurm's files")                  \
  X(spec, "specs, clusters, features, clocks, levels, axes, spans of time, lists of hosts")  \
  X(scheduler, "specs of schedulers")                                                        \
  X(json, "the extender's requests and table, Slurm's answers, site, speeds and decision log") \
  X(http, "bytes on the socket of serve --extender and of the page for operators")           \
  X(c_api, "clusters and details handed to a policy by libberth.so")                         \
  X(hdf5, "scenarios, policies, searches and event logs, changed and hashed anew")           \
  X(decisions, "commands in random clusters: auditor, invariants and the model of pairs")    \
  X(schedules, "every scheduler in random clusters with features and outages")

namespace berth::fuzz {

// False = the input says nothing that is worth keeping. Throws where something is wrong.
#define BERTH_FUZZ_DECLARE(name, what) bool Run_##name(Bytes bytes);
BERTH_FUZZ_TARGETS(BERTH_FUZZ_DECLARE)
#undef BERTH_FUZZ_DECLARE

struct Target {
  const char* name;
  const char* what;
  bool (*run)(Bytes bytes);
};
std::span<const Target> Targets();

}  // namespace berth::fuzz

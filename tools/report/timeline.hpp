// Runs as a trace that Perfetto (ui.perfetto.dev) and chrome://tracing open: Google's Trace Event Format,
// JSON object form (https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU).
//
// One process a GPU type (named "SCHEDULER: TYPE" where there are several schedulers), one thread a GPU, one
// slice ("X") a job or a service's replica that holds it, with how it "ended" (SpanEnd) and, of a job that is
// resized, packed, on part of a GPU or moved, its "marks" (SpanMark), or a time in which
// it takes no job (Absence); GPUs that several jobs share have a thread a lane. Arrivals and failures are
// instants ("i"), waiting and running jobs counters ("C"). What features have to show has rows of its own.
// Microseconds of simulated time.
#pragma once

#include <string>
#include <vector>

#include "tools/report/run_record.hpp"

namespace berth {

inline constexpr const char* kTimelineHelp =
    "write who held which GPU when to this file (.json), for Perfetto or chrome://tracing";

struct TimelineRun {
  std::string scheduler;
  const RunRecord* record;  // not owned
};

// All runs are of `scenario`. Error where the file cannot be written.
void WriteTimeline(const std::string& path, const Scenario& scenario, const std::vector<TimelineRun>& runs);

}  // namespace berth

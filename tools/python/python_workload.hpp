// Workloads that a generator of Python yields, job by job (berth.Jobs).
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "env/gym/scenario_source.hpp"
#include "tools/options.hpp"
#include "tools/python/extended_environment.hpp"
#include "tools/python/python_scheduler.hpp"

namespace berth {

// `jobs` is berth.jobs.Jobs: name, throughputs ("" = none; a file; a table of `berth list throughputs`) and
// text(seed, most), a table of jobs as CSV. Each scenario is what such a table gives, on the cluster and
// under the settings of `options`, into which defaults are written. The jobs of an evaluation's seed are
// text(seed); those of an episode text of a number drawn from (seed, environment, episode). Errors name the
// job, from 0. Ctrl-C reaches the generator by `calls`, which may be null. REQUIRES: the GIL; the source
// takes it by itself.
std::shared_ptr<const ScenarioSource> MakePythonWorkload(nanobind::object jobs, Options& options,
                                                         std::shared_ptr<PythonCalls> calls = nullptr);

// An environment whose workload is `jobs`, which may be None: the options' then. REQUIRES: the GIL.
EnvironmentExtras WithPythonJobs(nanobind::object jobs);

}  // namespace berth

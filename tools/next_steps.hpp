// What verbs end with: the commands that a user may type next.
#pragma once

#include <string>
#include <vector>

#include "env/sim/scenario.hpp"
#include "tools/options.hpp"

namespace berth {

std::string ForShell(const std::string& word);  // in quotes where a shell needs them

// Of options that AddScenarioOptions declared those that were given and are not what holds anyway, as words
// of a command: " --scenario a.h5 --knowledge blind", or nothing. Of a configuration that a run or a policy
// keeps, lines name=value, the same.
std::string SameJobs(const Options& options);
std::string SameJobs(const std::string& config);

// Schedulers for a first look, the least knowing first, of those that need to know no more.
std::string FirstLook(Knowledge knowledge);

// " --jobs 0:K", K seven tenths of a fixed scenario's jobs, so that the others can be compared on.
std::string TrainingPart(int num_jobs);

// " --window A:B", jobs of a fixed scenario's `num_jobs` that a training on `jobs`, --jobs as it was given,
// kept back: those behind where there are any, else those before; "" where it kept none. Where their number
// is not known, 0, N stands for it.
std::string KeptBack(const std::string& jobs, int num_jobs);

// What schedulers make of a scenario's file; what a policy's is worth on the jobs that it was trained for,
// by the configuration that it keeps.
std::string NextOfScenario(const std::string& file, const Scenario& scenario);
std::string NextOfPolicy(const std::string& file, const std::string& config);

// The pictures of an evaluation, and the timeline of a run, by the configuration that their files keep; the
// timeline of an evaluation that has its pictures.
std::string NextOfEvaluation(const std::string& config);
std::string NextOfEvents(const std::string& config);
std::string NextOfReport(const std::string& config);

// The evaluation of all shards, by the file of one of them.
std::string NextOfShard(const std::string& file);

// What goes beyond one run of `berth reproduce NAME ARGUMENTS`: what it listed, a file that keeps its figures
// (the option `keeps`, "out" or "json"), all of it instead of a part, or what else there is.
std::string NextOfReproduction(const std::string& name, const std::string& keeps,
                               const std::vector<std::string>& arguments);

// "VERB ARGUMENTS" for a shell, without the flags `without`.
std::string SameCommand(const std::string& verb, const std::vector<std::string>& arguments,
                        const std::vector<std::string>& without = {});

// "next, MEANING:\n  berth WORDS\n".
std::string NextStep(const std::string& meaning, const std::string& words);

}  // namespace berth

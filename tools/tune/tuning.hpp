// The options of `berth tune`, and what they resolve to: what is searched, by which optimiser, and how a
// candidate is measured. Any of the three kinds of candidates goes with either optimiser.
#pragma once

#include <memory>
#include <string>

#include "agents/search/search.hpp"
#include "tools/options.hpp"
#include "tools/tune/trials.hpp"
#include "tools/tune/tunable.hpp"

namespace berth {

struct Tuning {
  std::unique_ptr<Trials> trials;
  std::unique_ptr<Tunable> candidates;           // null in a dry run
  std::unique_ptr<search::Optimiser> optimiser;  // null in a dry run
  search::Budget budget;
  std::string optimiser_name;
  std::string cost;    // the heading of Trials::Cost
  bool hours = false;  // a cost is in seconds, and shown in hours
  int validate = 0;    // workloads that the answer is measured on
};

void AddTuneOptions(Options& options);
// Writes what was resolved back into `options`. `dry`: no policy is read. Throws Error naming the option.
Tuning ResolveTuning(Options& options, bool dry);
// The search in words, for those who find its answer.
std::string SearchText(const Options& options, const Tuning& tuning, int generations);

// What a kept search must agree on to be resumed: the options that were given, but those of its budget and
// outputs; as an INI text. `all`: with those too, for the file.
std::string SearchDefinition(const Options& options, bool all);
// The same and what the others resolved to, so that new defaults do not reach a search that goes on.
std::string WithResolved(std::string definition, const Options& options);
// Takes what was not given from the search that --state keeps, of an older one by the defaults of its time.
// Error where what was given is another search.
void ResumeOptions(Options& options);

}  // namespace berth

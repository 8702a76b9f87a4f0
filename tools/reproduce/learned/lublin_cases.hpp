// The tables of rows 2 and 3: the Lublin logs as sequences of jobs, and the rules that run them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tools/reproduce/hpc.hpp"
#include "tools/reproduce/learned/experiments.hpp"

namespace berth {

// One table of the page: a log, semantics, with or without backfilling.
struct LublinCase {
  const HpcSetting* setting;
  Semantics semantics;
  std::string policy;                 // trained on the other log
  double bar_official, bar_disjoint;  // below these means; NaN = none is set
  const char* bar_text;
};
std::vector<LublinCase> LublinCases();

// Of the logs in the folder of public traces; "" where they are not there.
std::string LublinFolder(const LearnedSettings& settings);
std::shared_ptr<const Scenario> ReadLublin(const std::string& folder, const LublinCase& c);  // a whole log
std::string SequenceName(const LublinCase& c, int start);
PlannedWorkload SequenceWorkload(const std::shared_ptr<const Scenario>& log, const LublinCase& c, int start);

// Of a rule's run, a job, where 1 is one under max-min on 108 GPUs; a policy takes 20 times that.
inline constexpr double kSequenceCost = 0.002;

struct ScoreRule {
  const char* name;
  const char* spec;
};
std::span<const ScoreRule> ScoreRules();
std::string RuleSpec(const ScoreRule& rule, const LublinCase& c);

}  // namespace berth

// Rows 2 and 3: tools/tune/LUBLIN.md says how these were chosen. Loads: half to 1.1 times what the cluster
// can do, which is another factor for each log. A start is what longer searches on the same log came to,
// rounded; from the area rule a short search ends in either of two basins.
#include "tools/reproduce/learned/recipe_tables.hpp"

namespace berth::recipes {
namespace {

Options LogOf(bool first) {
  const char* const file = first ? "lublin_256.swf.gz" : "lublin_256_new2.swf.gz";
  return {
      {"scenario", Join(kPlace, "/rlscheduler-lublin/", file)}, {"format", "swf"}, {"preemptive", "false"}};
}
std::vector<RecipeStep> SearchLublin(bool first, const Options& process, const Options& log) {
  const Options options = {{"load", first ? "0.5:1.1" : "0.8:1.7"},
                           {"run-time", "0.1:10"},
                           {"gang", "0.25:2"},
                           {"hinges", "0"},
                           {"pieces", "0:7500"},
                           {"held-out", "7500:10000"},
                           {"seconds", "0"}};
  return {{RecipeStep::Verb::kTune, LogOf(first) + options + process + log}};
}
const Options kRules = {{"encoder", "Batch"}};
const Options kLookahead = {{"encoder", "Lookahead"}};
// What lies further ahead is what lengthens waits, and the mean slowdown alone does not ask who they are of.
const Options kPatient = {{"encoder", "Lookahead(future=4,oldest=4,tried=12,hour=30)"}};
const Options kCommitOptions = {
    {"semantics", "commit"}, {"clock", "hpc"}, {"reference", "saf(semantics=commit)"}, {"step", "0.1"}};
const Options kLong = {{"generations", "15"}, {"workloads", "10"}};
const Options kBrief = {{"generations", "8"}, {"workloads", "8"}, {"choose", "32"}};
const Options kCommitEasy = {{"semantics", "commit"},
                             {"clock", "hpc"},
                             {"commit-backfill", "true"},
                             {"reference", "saf(semantics=commit,backfill=easy)"},
                             {"step", "0.1"}};
const Options kRedecideOptions = {
    {"clock", "event"}, {"work-conserving", "true"}, {"reserve", "head"}, {"reference", "saf"},
    {"penalty", "1"},   {"workloads", "10"},         {"step", "0.1"},     {"choose", "32"}};
const Options kRedecideEasy = {
    {"clock", "event"}, {"work-conserving", "true"}, {"reserve", "easy"}, {"reference", "f3(backfill=easy)"},
    {"penalty", "1"},   {"generations", "5"},        {"workloads", "6"},  {"step", "0.1"},
    {"choose", "32"}};
// What is expected to cost least, where the difference is beyond its standard error.
constexpr const char* kExpected = "gain=-1,doubt=1,place=0.05";
Options From(const char* start) {
  return {{"start", start}};
}

// By gradient on the other log as it is. Few steps, since each sees what every job would delay. There is none
// with EASY's reservation, which `berth train` does not offer.
std::vector<RecipeStep> LublinByGradient(bool first, const Options& process) {
  return Train(LogOf(first) + process + Options{{"reward", "slowdown"}, {"steps", "300000"}});
}
const Options kPlainCommit = {{"semantics", "commit"}, {"clock", "hpc"}};
const Options kPlainCommitEasy = kPlainCommit + Options{{"commit-backfill", "true"}};
const Options kPlainRedecide = {{"clock", "event"}, {"work-conserving", "true"}};

}  // namespace

std::vector<Recipe> Lublin() {
  return {
      {"lublin1_commit", "lublin", 5,
       SearchLublin(true, kCommitOptions + kRules + kLong,
                    From("request=1,gang=0.5,fits=0.8,drag=1.4,overdue=-0.5"))},
      {"lublin1_commit_easy", "lublin", 5,
       SearchLublin(true, kCommitEasy + kLookahead + kBrief, From(kExpected))},
      {"lublin1_redecide", "lublin", 5,
       SearchLublin(
           true, kRedecideOptions + kRules,
           From("request=1,gang=0.85,wait=-0.25,overdue=0.15,fits=-0.25,delay=-0.25,drag=0.1,idled=0.1") +
               Options{{"generations", "10"}, {"margin", "1.1"}})},
      {"lublin1_redecide_easy", "lublin", 5, SearchLublin(true, kRedecideEasy + kPatient, From(kExpected))},
      {"lublin2_commit", "lublin", 5,
       SearchLublin(false, kCommitOptions + kLookahead + kBrief,
                    From("request=1,gang=0.6,fits=0.65,drag=1.1,overdue=-0.3,gain=-5,doubt=5"))},
      {"lublin2_commit_easy", "lublin", 5,
       SearchLublin(false, kCommitEasy + kLookahead + kBrief, From(kExpected))},
      {"lublin2_redecide", "lublin", 5,
       SearchLublin(false, kRedecideOptions + kRules,
                    From("request=1,gang=0.75,fits=-0.1,drag=0.45") + Options{{"generations", "15"}})},
      {"lublin2_redecide_easy", "lublin", 5, SearchLublin(false, kRedecideEasy + kPatient, From(kExpected))},
      {"lublin1_commit_gradient", "lublin", 3, LublinByGradient(true, kPlainCommit)},
      {"lublin1_commit_easy_gradient", "lublin", 3, LublinByGradient(true, kPlainCommitEasy)},
      {"lublin1_redecide_gradient", "lublin", 3, LublinByGradient(true, kPlainRedecide)},
      {"lublin2_commit_gradient", "lublin", 3, LublinByGradient(false, kPlainCommit)},
      {"lublin2_commit_easy_gradient", "lublin", 3, LublinByGradient(false, kPlainCommitEasy)},
      {"lublin2_redecide_gradient", "lublin", 3, LublinByGradient(false, kPlainRedecide)},
  };
}

}  // namespace berth::recipes

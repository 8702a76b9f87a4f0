// What is said of a training that goes nowhere or drifts: each rule, and runs of which nothing is said.
#include "tools/training_words.hpp"

#include <cmath>

#include "tests/catch.hpp"

namespace berth {
namespace {

TrainProgress At(double fraction, double entropy_share, double kl, double arrivals = 0.05,
                 double backlog = 30.0) {
  TrainProgress now;
  now.steps = static_cast<std::int64_t>(1e6 * fraction), now.total_steps = 1000000;
  now.backlog_end = backlog;
  now.losses = {
      {"losses/entropy_share", entropy_share}, {"losses/approx_kl", kl}, {"losses/arrivals_share", arrivals}};
  return now;
}

// On four workloads that differ by themselves.
Validation::Row Row(std::int64_t steps, double greedy, double noise = 0.0) {
  Validation::Row row;
  row.steps = steps, row.greedy = greedy, row.sampled = 1.1 * greedy;
  for (const double off : {-1.0, 1.0, 2.0, -2.0}) row.costs.push_back(greedy * std::exp(off + noise * off));
  return row;
}

// Of missed deadlines, of which a workload may have none.
Validation::Row Missed(std::int64_t steps, std::vector<double> shares) {
  Validation::Row row;
  row.steps = steps, row.may_be_none = true;
  for (const double share : shares) row.greedy += share / static_cast<double>(shares.size());
  row.costs = std::move(shares);
  return row;
}

std::string Said(const TrainingWords& words, const std::vector<Validation::Row>& validations = {}) {
  std::string text;
  for (const std::string& line : words.Say(validations)) text += line + "\n";
  return text;
}

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("training words: of one that learns nothing is said, nor before a quarter of it") {
  TrainingWords words({.load = 0.8});
  CHECK(Said(words).empty());
  words.Add(At(0.1, 0.999, 1e-9));
  CHECK(Said(words).empty());  // too early
  words.Add(At(0.3, 0.7, 3e-3));
  words.Add(At(1.0, 0.6, 1e-10));  // at the end the learning rate is 0
  CHECK(Said(words, {Row(1, 100.0), Row(2, 90.0), Row(3, 91.0)}).empty());
}

TEST_CASE("training words: updates after which little is left of the policy") {
  TrainingWords words({.load = 0.8});
  words.Add(At(0.1, 0.9, 0.02));
  CHECK(Said(words).empty());
  words.Add(At(0.2, 1e-9, 382.0));
  words.Add(At(1.0, 1e-9, 1e-6));
  CHECK(Has(Said(words), "jumps: an update moved the policy by a KL of 3.8e+02"));
  words.Finish();
  Validation::Row last = Row(5, 300.0);
  last.rule = "srpt", last.over = 3.0, last.over_error = 0.1;
  CHECK(Has(Said(words, {last}), "of srpt's; updates are too large: a smaller lr of --agent"));
}

TEST_CASE("training words: goes nowhere, by likely cause") {
  const auto nowhere = [](const TrainingFacts& facts, double kl, double arrivals) {
    TrainingWords words(facts);
    words.Add(At(0.3, 0.985, kl, arrivals));
    return Said(words);
  };
  CHECK(Has(nowhere({.load = 1.25}, 4e-4, 0.4), "goes nowhere"));
  CHECK(Has(nowhere({.load = 1.25}, 4e-4, 0.4), "the load is 1.25 of what the cluster can work off at best"));
  CHECK(Has(nowhere({.load = 0.8}, 2e-10, 0.4), "a larger lr of --agent"));
  CHECK(Has(nowhere({.load = 0.8}, 4e-4, 0.4), "40% or more of the advantage: --signal auto"));
  CHECK(Has(nowhere({.load = 0.8, .signal_is_reward = false}, 4e-4, 0.4), "more --envs"));
  CHECK(Has(nowhere({.load = 0.8}, 4e-4, 0.1), "a richer --encoder"));
  CHECK(Has(nowhere({.load = 0.8}, 4e-4, std::nan("")), "a richer --encoder"));
  CHECK(nowhere({.load = 0.8}, 2e-3, 0.4).empty());  // it moves
}

TEST_CASE("training words: near uniform, but the best action has become better") {
  TrainingWords words({});
  words.Add(At(0.5, 0.98, 4e-4));
  CHECK_FALSE(Said(words, {Row(1, 100.0), Row(2, 99.0)}).empty());
  CHECK(Said(words, {Row(1, 100.0), Row(2, 90.0)}).empty());
}

TEST_CASE("training words: an agent without these figures is not judged by them") {
  TrainingWords words({.load = 2.0});
  TrainProgress now = At(0.9, 1.0, 0.0);
  now.losses = {{"losses/td_loss", 1.0}};
  words.Add(now);
  CHECK(Said(words).empty());
}

TEST_CASE("training words: drifts, where two validations in a row are worse by more than noise") {
  TrainingWords words({});
  words.Add(At(0.5, 0.5, 1e-3));
  const std::string text =
      Said(words, {Row(1000, 120.0), Row(2000, 100.0), Row(3000, 110.0), Row(4000, 112.0)});
  CHECK(Has(text, "drifts: the greedy policy is 12% worse than after 2000 steps, two validations in a row"));
  CHECK(Has(text, "--validate 8, which keeps the best as best.h5"));
  TrainingWords keeps({.keeps_best = true});  // another number of workloads would not compare with what it has
  keeps.Add(At(0.5, 0.5, 1e-3));
  CHECK(Has(Said(keeps, {Row(1, 100.0), Row(2, 112.0), Row(3, 112.0)}), "or best.h5, which is the best of them"));
  CHECK(Said(words, {Row(1000, 100.0), Row(2000, 112.0), Row(3000, 101.0)}).empty());  // once
  CHECK(Said(words, {Row(1000, 100.0), Row(2000, 112.0)}).empty());
  // Differences of -0.9, 1.1, 2.1 and -1.9 about log(1.12) = 0.11: a standard error of 0.9.
  CHECK(Said(words, {Row(1000, 100.0), Row(2000, 112.0, 1.0), Row(3000, 112.0, 1.0)}).empty());
  TrainingWords wild({});
  wild.Add(At(0.5, 0.5, 0.025));
  CHECK(Has(Said(wild, {Row(1, 100.0), Row(2, 112.0), Row(3, 112.0)}), "updates are large (KL 0.025)"));
}

TEST_CASE("training words: drifts by differences, where nobody misses a deadline in some workload") {
  TrainingWords words({});
  words.Add(At(0.5, 0.5, 1e-3));
  const Validation::Row best = Missed(1000, {0.0, 0.125, 0.25, 0.125});
  // Differences of 0, 0, 0.125 and 0: 0.03125 in the mean with a standard error of as much.
  const std::vector<double> noise = {0.0, 0.125, 0.375, 0.125};
  CHECK(Said(words, {best, Missed(2000, noise), Missed(3000, noise)}).empty());
  // Of 0 and three times 0.125: 0.09375, again with an error of 0.03125.
  const std::vector<double> worse = {0.0, 0.25, 0.375, 0.25};
  CHECK(Has(Said(words, {best, Missed(2000, worse), Missed(3000, worse)}), "drifts: the greedy policy is 75% worse than after 1000 steps"));
}

TEST_CASE("training words: a policy that leaves jobs undone is worse than one that does not, and no worse than another such") {
  TrainingWords words({});
  words.Add(At(0.5, 0.5, 1e-3));
  Validation::Row undone = Row(3, 100.0);
  undone.greedy = undone.costs[1] = INFINITY;
  CHECK(Has(Said(words, {Row(1, 100.0), undone, undone}), "drifts: the greedy policy leaves jobs undone, unlike after 1 steps"));
  CHECK(Said(words, {undone, undone, undone}).empty());
}

TEST_CASE("training words: loses, where the end costs more than the best rule by more than noise") {
  const auto loses = [](const TrainingFacts& facts, double over, double error, double sampled,
                        bool finished) {
    TrainingWords words(facts);
    words.Add(At(0.6, 0.5, 1e-3));  // a run that time ends has steps left
    if (finished) words.Finish();
    Validation::Row row = Row(1000, 100.0);
    row.sampled = sampled, row.rule = "srpt", row.over = over, row.over_error = error;
    return Said(words, {row});
  };
  const TrainingFacts shaped = {.load = 0.8, .signal_is_reward = false};
  CHECK(Has(loses(shaped, 1.3, 0.1, 101.0, true),
            "loses: the greedy policy costs 1.30 +- 0.10 of srpt's; more --steps"));
  CHECK(Has(loses(shaped, 1.3, 0.1, 101.0, true), "fallback=srpt"));
  CHECK(Has(loses(shaped, 1.3, 0.1, 72.0, true), "costs 28% less than its best action"));
  CHECK(Has(loses({.load = 0.8}, 1.3, 0.1, 101.0, true), "--signal auto"));
  CHECK(Has(loses({.load = 1.4}, 1.3, 0.1, 101.0, true), "the load is 1.40"));
  CHECK(loses(shaped, 1.3, 0.1, 101.0, false).empty());  // under way
  CHECK(loses(shaped, 1.3, 0.2, 101.0, true).empty());   // within noise
  CHECK(Has(loses(shaped, INFINITY, std::nan(""), 101.0, true), "leaves jobs undone that srpt does"));
  CHECK(loses(shaped, 1.015, 0.001, 101.0, true).empty());       // level
  CHECK(loses(shaped, 1.3, std::nan(""), 101.0, true).empty());  // of one workload nobody can say
}

TEST_CASE("training words: members that had no turn, at the end") {
  const auto said = [](int member, bool learnt, bool finished) {
    TrainingWords words({.load = 0.8});
    TrainProgress now = At(1.0, 0.5, 1e-3);
    now.member = member, now.members = 4;
    if (!learnt) now.losses.clear();
    words.Add(now);
    if (finished) words.Finish();
    return Said(words);
  };
  CHECK(said(2, true, true).starts_with("has 2 of its 4 members: "));
  CHECK(said(2, false, true).starts_with("has 2 of its 4 members: "));  // as of dqn that still fills its buffer
  CHECK(said(2, true, false).empty());  // under way, or interrupted
  CHECK(said(4, true, true).empty());
}

TEST_CASE("training words: a backlog that grows, of too much load or of the policy") {
  for (const double load : {0.8, 1.3}) {
    TrainingWords words({.load = load});
    words.Add(At(0.1, 0.5, 1e-3, 0.05, 30.0));
    words.Add(At(0.5, 0.5, 1e-3, 0.05, 44.0));
    CHECK(Said(words).empty());  // 1.47 times
    words.Add(At(0.9, 0.5, 1e-3, 0.05, 60.0));
    CHECK(Has(Said(words), "lets its backlog grow: episodes end with 60 jobs in the system, at first with 30; "));
    CHECK(Has(Said(words), load > 1.0 ? "the load is 1.30" : "the policy leaves jobs behind"));
  }
  TrainingWords few({});
  few.Add(At(0.1, 0.5, 1e-3, 0.05, 2.0)), few.Add(At(0.9, 0.5, 1e-3, 0.05, 5.0));
  CHECK(Said(few).empty());  // three jobs are nothing
}

}  // namespace berth

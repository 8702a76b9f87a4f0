// What --validate auto affords, worked out by hand.
#include "tools/validation_budget.hpp"

#include <cmath>

#include "env/gym/mdp.hpp"
#include "tests/catch.hpp"
#include "tools/results.hpp"
#include "tools/validation.hpp"

namespace berth {

TEST_CASE("validation budget: nothing for a training of less than two seconds") {
  const ValidationBudget budget(2);
  CHECK_FALSE(budget.WantsPlan(0.1, 0.1));  // 1 s in all
  CHECK(budget.WantsPlan(0.3, 0.1));
  CHECK_FALSE(budget.WantsPlan(0.3, 0.0));
  CHECK_FALSE(budget.Affords(100.0, 1.0));  // nobody knows yet what it costs
}

TEST_CASE("validation budget: workloads for a tenth of the time, those of the end first") {
  // 10 s of training, of which 1 s: a run takes 0.05 s, a first validation of a workload 2 + 2 runs. A tenth
  // less the run that was timed is 0.95 s, 19 runs: enough for the 8 of two workloads, not for five times
  // that.
  ValidationBudget budget(2);
  budget.Spend(0.05, /*validation=*/false);
  budget.Plan(1.0, 0.1, 0.05);
  CHECK(budget.workloads() == 2);
  CHECK_FALSE(budget.Affords(1.0, 0.1));  // 0.05 + 0.4 > 0.1
  CHECK(budget.Affords(5.0, 0.5));        // 0.45 <= 0.5, and 0.2 for the last one
  CHECK(budget.Affords(10.0, 1.0));

  // 100 s: 199 runs, of which three validations of eight workloads are 64; the first takes 1.6 s, each after
  // it 0.8 s.
  ValidationBudget more(2);
  more.Spend(0.05, false);
  more.Plan(10.0, 0.1, 0.05);
  CHECK(more.workloads() == 8);
  CHECK_FALSE(more.Affords(10.0, 0.1));
  CHECK(more.Affords(20.0, 0.2));
  more.Spend(1.6, true);
  CHECK_FALSE(more.Affords(20.0, 0.2));  // 1.65 + 0.8 > 2
  CHECK(more.Affords(30.0, 0.3));
  more.Spend(7.0, true);                 // it took longer than expected
  CHECK_FALSE(more.Affords(90.0, 0.9));  // 8.65 + 0.8 > 9
  CHECK(more.Affords(100.0, 1.0));

  // Workloads that take long beside the training.
  ValidationBudget none(2);
  none.Plan(1.0, 0.1, 0.2);  // 1 / 0.8 is one: too few to say anything
  CHECK(none.workloads() == 0);
  CHECK_FALSE(none.Affords(10.0, 1.0));
  CHECK_FALSE(none.WantsPlan(5.0, 0.5));
  CHECK(none.WantsPlan(10.0, 1.0));
}

TEST_CASE("validation: the baselines of a process exist and need no more than it may know") {
  for (const bool preemptive : {true, false}) {
    for (const Knowledge knowledge :
         {Knowledge::kNone, Knowledge::kBlind, Knowledge::kEstimate, Knowledge::kOracle}) {
      MdpSpec mdp;
      mdp.preemptive = preemptive, mdp.knowledge = knowledge;
      const std::vector<std::string> specs = DefaultBaselines(mdp);
      CHECK(specs.size() == 2);
      for (const std::string& spec : specs)
        CHECK(MakeScheduler(spec, AllSchedulers())->knowledge() <= knowledge);
    }
  }
}

TEST_CASE("validation: the standard error of a ratio of means") {
  // Arithmetic: 3 of 2, R = 1.5; costs less R times the others' are 0.5 and -0.5, so sqrt(0.5 / 2) = 0.5, of 2.
  CHECK(RatioError({2.0, 4.0}, {1.0, 3.0}, /*may_be_none=*/true) == Approx(0.25));
  CHECK(RatioError({0.0, 3.0}, {0.0, 2.0}, true) == Approx(0.0).margin(1e-12));  // R holds of each pair
  // Geometric: the logarithms' differences are log 2 and log 8, so R = 4; their mean's error is log(4) / 2.
  CHECK(RatioError({2.0, 8.0}, {1.0, 1.0}, false) == Approx(4.0 * std::log(2.0)));
  CHECK(std::isnan(RatioError({2.0}, {1.0}, true)));
}

}  // namespace berth

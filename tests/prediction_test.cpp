// Predicted sizes by hand, `predicted` with each of them, and errors on logs small enough to work out.
#include <cmath>
#include <filesystem>
#include <fstream>

#include "env/predict/prediction/kind_history.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny.hpp"
#include "tools/reproduce/prediction.hpp"

namespace berth {
namespace {

using test::TinyData;

// Three job types of which nothing but the numbers below matter.
PredictionLog LogOf(ScenarioData data, double split, int first_test) {
  return {"tiny", "", Scenario(std::move(data)), split, first_test, {}};
}

double ErrorOfSpec(const std::vector<SizeError>& errors, const std::string& predictor) {
  for (const SizeError& error : errors) {
    if (error.predictor == predictor) return error.mean_absolute;
  }
  FAIL("no " << predictor);
  return 0.0;
}

}  // namespace

TEST_CASE("predictors: the narrowest kind that has been seen often enough answers", "[prediction]") {
  const auto predictor = MakeSizePredictor("recent(statistic=mean,window=2,least=2)");
  const JobKind a{/*job_type=*/0, /*gang=*/1, /*tenant=*/5}, wide{0, 4, 5}, other{0, 1, 6}, fresh{9, 9, 9};
  CHECK(predictor->Predict(a, 0.0) == 0.0);  // nothing is known
  predictor->Add(a, 10.0);
  CHECK(predictor->Predict(fresh, 0.0) == 10.0);  // all, though it has only one
  predictor->Add(a, 20.0);
  CHECK(predictor->Predict(a, 0.0) == 15.0);
  predictor->Add(wide, 70.0);
  CHECK(predictor->Predict(a, 0.0) == 15.0);                 // its own kind has two
  CHECK(predictor->Predict(wide, 0.0) == 45.0);              // of tenant 5 and type 0: 20, 70
  CHECK(predictor->Predict(JobKind{3, 1, 5}, 0.0) == 45.0);  // of tenant 5
  CHECK(predictor->Predict(other, 0.0) == 15.0);             // of type 0 with gang 1
  CHECK(predictor->Predict(JobKind{0, 2, 6}, 0.0) == 45.0);  // of type 0
  predictor->Add(a, 40.0);                                   // the window forgets 10
  CHECK(predictor->Predict(a, 0.0) == 30.0);
  CHECK(predictor->Predict(a, 30.0) == 60.0);  // outran it: as much again
  predictor->Forget();
  CHECK(predictor->Predict(a, 0.0) == 0.0);
}

TEST_CASE("predictors: statistics by hand", "[prediction]") {
  const std::vector<double> values = {8, 1, 2, 4};
  CHECK(Statistic(values, RecentStatistic::kMean, 0) == 3.75);
  CHECK(Statistic(values, RecentStatistic::kMedian, 0) == 3.0);
  CHECK(Statistic(values, RecentStatistic::kGeometric, 0) == Approx(std::pow(64.0, 0.25)).epsilon(1e-14));
  CHECK(Statistic(values, RecentStatistic::kQuantile, 0.9) == Approx(4.0 + 0.7 * 4.0));  // at 2.7 of 0..3
}

TEST_CASE("predictors: requests are adjusted by what was used of them", "[prediction]") {
  const auto adjusted = MakeSizePredictor("request(least=1)"),
             plain = MakeSizePredictor("request(adjust=false)");
  const auto kind = [](double requested) { return JobKind{0, 1, 0, requested}; };
  for (SizePredictor* predictor : {adjusted.get(), plain.get()}) {
    CHECK(predictor->Predict(kind(100.0), 0.0) == 100.0);
    predictor->Add(kind(100.0), 20.0);  // ratios 0.2, 0.5, 0.8
    predictor->Add(kind(50.0), 25.0);
    predictor->Add(kind(10.0), 8.0);
  }
  CHECK(adjusted->Predict(kind(60.0), 0.0) == 30.0);
  CHECK(plain->Predict(kind(60.0), 0.0) == 60.0);
  CHECK(adjusted->Predict(kind(60.0), 40.0) == 80.0);
  CHECK(adjusted->Predict(JobKind{}, 0.0) == 20.0);  // asks for nothing: the median size
}

TEST_CASE("predictors: the residual is the mean of what is larger", "[prediction]") {
  const auto predictor = MakeSizePredictor("residual");
  for (double size : {10.0, 20.0, 60.0}) predictor->Add({1, 1, 0}, size);
  predictor->Add({2, 1, 0}, 500.0);
  CHECK(predictor->Predict({1, 1, 0}, 0.0) == 30.0);
  CHECK(predictor->Predict({1, 1, 0}, 10.0) == 40.0);
  CHECK(predictor->Predict({1, 1, 0}, 60.0) == 500.0);    // outran its kind: its tenant's
  CHECK(predictor->Predict({1, 1, 0}, 500.0) == 1000.0);  // outran all
}

TEST_CASE("predicted: with requests that are exact it is srpt on the truth", "[prediction]") {
  // One GPU of 1 step/s; requests are the sizes.
  ScenarioData data = TinyData({{"a", 1}}, {{1.0}}, {{0, 50}, {1, 9}, {2, 5}, {3, 30}, {4, 2}, {60, 7}});
  data.jobs.requested_s = data.jobs.total_steps;
  const Scenario scenario(std::move(data));
  CHECK(test::Decisions("predicted(predictor=request(adjust=false))", scenario) ==
        test::Decisions("srpt", scenario));
  // A job that is thought to take 20 s like all before it and takes 50 is overtaken by one thought to take 1.
  for (const char* spec : {"residual", "recent", "request", "recent(statistic=quantile,q=0.9)"}) {
    CAPTURE(spec);
    const std::vector<double> ends = test::Ends(Join("predicted(predictor=", spec, ")"), scenario);
    CHECK(*std::max_element(ends.begin(), ends.end()) == 103.0);  // work conserving
  }
  CHECK_THROWS_WITH(test::Make("predicted(predictor=recnet)"),
                    "predicted: parameter 'predictor': unknown predictor 'recnet' (did you mean 'recent'?)");
  CHECK_THROWS_WITH(test::Make("predicted(predictor=recent(statistic=mode))"), Catch::Contains("median"));
}

TEST_CASE("prediction errors: series and run times by hand", "[prediction]") {
  // Arrivals at 0, 100, 3600 and 8000 s: 2, 1 and 1 an hour. GPUs: job 0 holds 1 for 5400 s, job 1 holds 2
  // for 1700 s, job 2 holds 1 for 360 s, job 3 holds 4 for 7200 s, 2800 of which are within the log's hours.
  ScenarioData data =
      TinyData({{"a", 4}}, {{1.0}}, {{0, 5400}, {100, 1700, 0, 2}, {3600, 360}, {8000, 7200, 0, 4}});
  const PredictionLog log = LogOf(std::move(data), 3600.0, 2);
  CHECK(ArrivalsAnHour(log) == std::vector<double>{2, 1, 1});
  const std::vector<double> demand = DemandedGpus(log);
  CHECK(demand[0] == Approx(1.0 + 2.0 * 1700 / 3600));
  CHECK(demand[1] == Approx(0.5 + 0.1));
  CHECK(demand[2] == Approx(4.0 * 2800 / 3600));
  // One step ahead from 6, 2 and from 6, 2, 4: last |2 - 4| and |4 - 8|, mean |4 - 4| and |4 - 8|.
  const std::vector<double> series = {6, 2, 4, 8};
  const std::vector<ForecastError> errors = ForecastErrors(series, 2, 1);
  CHECK(errors[0].forecaster == "last");
  CHECK(errors[0].mean_absolute == 3.0);
  CHECK(errors[1].forecaster == "mean");
  CHECK(errors[1].mean_absolute == 2.0);
  CHECK(ForecastErrors(series, 2, 2)[0].mean_absolute == 6.0);  // only 8 is two after 2
  // Job 2 is predicted when job 1 (1700 s) has ended and job 0 has not; job 3 when all have ended, job 2 last
  // (at 3960; job 0 at 5400, so job 0's 5400 s is the last).
  const std::vector<SizeError> sizes = SizeErrors(log);
  CHECK(ErrorOfSpec(sizes, "recent(window=1,least=1), of all jobs") ==
        ((1700.0 - 360.0) + (7200.0 - 5400.0)) / 2.0);
  // By gang: job 2 falls back on job 1 of its tenant; of gang 4 there is none: the last of its tenant.
  CHECK(ErrorOfSpec(sizes, "recent(window=1,least=1)") == ((1700.0 - 360.0) + (7200.0 - 5400.0)) / 2.0);
}

TEST_CASE("prediction errors: a run time is known when its job has ended, by its recorded start", "[prediction]") {
  // Job 0 waits for 3600 s and holds 1 GPU in the second hour; it ends at 5400, after job 1 (4300).
  ScenarioData data = TinyData({{"a", 4}}, {{1.0}}, {{0, 1800}, {3700, 600}, {6000, 900}});
  PredictionLog log = LogOf(std::move(data), 3600.0, 2);
  const auto last = [&] { return ErrorOfSpec(SizeErrors(log), "recent(window=1,least=1), of all jobs"); };
  CHECK(last() == 300.0);  // job 1 ended last, at 4300
  CHECK(DemandedGpus(log)[0] == 0.5);
  log.wait_s = {3600.0, 0.0, 0.0};
  CHECK(last() == 900.0);  // job 0 did, at 5400
  CHECK(DemandedGpus(log)[0] == 0.0);
  CHECK(DemandedGpus(log)[1] == Approx((1800.0 + 600.0 + 900.0) / 3600.0));
}

TEST_CASE("prediction logs: starts are read where the format has them", "[prediction]") {
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder / "alcf-theta-mira");
  std::ofstream(folder / "alcf-theta-mira/theta_canonical.swf.gz")  // plain text is read too
      << "; MaxProcs: 4\n"
         "2 50 7 60 1 -1 -1 1 90 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
         "1 0 -1 60 1 -1 -1 1 90 -1 1 -1 -1 -1 -1 -1 -1 -1\n";
  std::vector<std::string> skipped;
  const std::vector<PredictionLog> logs = PredictionLogs(folder.path(), 0.5, skipped);
  REQUIRE(logs.size() == 1);
  CHECK(logs[0].wait_s == std::vector<double>{0.0, 7.0});
  CHECK(logs[0].start(1) == logs[0].jobs.data().jobs.arrival[1] + 7.0);
}

TEST_CASE("cli: reproduce prediction names what it lacks, and runs on what is there", "[prediction][cli]") {
  const test::TemporaryFolder folder;
  test::CheckOneLine(test::Berth(folder, "reproduce prediction --traces none"),
                     "--traces: expected a folder that holds philly");
  const std::string philly = BERTH_SOURCE_DIR "/../shared/traces/microsoft-itp-elasticflow";
  if (!std::filesystem::exists(philly)) return test::Skip("needs Microsoft's ITP logs (not shipped)");
  std::filesystem::create_directories(folder / "t");
  std::filesystem::create_symlink(philly, folder / "t/microsoft-itp-elasticflow");
  const test::Outcome run =
      test::Berth(folder, "reproduce prediction --traces t --out p --no-pictures --json p.json");
  CAPTURE(run.error);
  CHECK(run.code == 0);
  CHECK(run.out.find("skipped: Philly") != std::string::npos);
  CHECK(test::Slurp(folder / "p/prediction.md").find("| ITP 02 | GPUs | at once | 3440 | 2338 |") != std::string::npos);
  CHECK(test::Slurp(folder / "p.json").find("\"median_factor\"") != std::string::npos);
  CHECK(std::filesystem::exists(folder / "p/run_time_errors.csv"));
}

}  // namespace berth

// Estimated throughputs: least squares, completion, matching and profiling by hand and by exact recovery; the
// stated error on the shipped table.
#include <algorithm>
#include <cmath>

#include "data/throughputs.hpp"
#include "data/workloads.hpp"
#include "env/base/least_squares.hpp"
#include "env/base/rng.hpp"
#include "env/predict/estimation/estimator.hpp"
#include "env/predict/estimation/low_rank.hpp"
#include "env/predict/estimation/nearest_reference.hpp"
#include "env/predict/estimation/rate_matrix.hpp"
#include "tests/catch.hpp"

namespace berth {
namespace {

PartialMatrix Matrix(int rows, int columns, const std::vector<double>& values) {  // NaN = not known
  PartialMatrix matrix{rows, columns, values, {}, {}};
  for (double value : values) matrix.known.push_back(!std::isnan(value));
  return matrix;
}

const double kUnknown = std::nan("");

ThroughputTable Shipped() {
  return PublishedThroughputs(ParseCluster("v100=1,p100=1,k80=1"));
}

// Median of |estimate / truth - 1| over what was not measured.
double MedianError(const RateEstimates::Table& estimated, const ThroughputTable& truth, int columns) {
  const PartialMatrix believed = RateMatrix(estimated.believed, 3), right = RateMatrix(truth, 3);
  std::vector<double> errors;
  for (int i = 0; i < right.rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      if (!right.Known(i, j) || estimated.profile.measured.Known(i, j)) continue;
      errors.push_back(std::abs(std::exp(believed.value[right.At(i, j)] - right.value[right.At(i, j)]) - 1));
    }
  }
  std::nth_element(errors.begin(), errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2),
                   errors.end());
  return errors[errors.size() / 2];
}

}  // namespace

TEST_CASE("least squares: lines, ridges and unknowns that nothing determines", "[estimation]") {
  NormalEquations line(2);  // through (0, 1), (1, 3), (2, 5): 1 + 2 x
  for (double x : {0.0, 1.0, 2.0}) line.Add(std::vector<double>{1.0, x}, 1.0 + 2.0 * x);
  const std::vector<double> w = line.Solve(0.0);
  CHECK(w[0] == Approx(1.0).epsilon(1e-12));
  CHECK(w[1] == Approx(2.0).epsilon(1e-12));
  NormalEquations mean(1);  // (2 + 4) / (2 + ridge 1)
  mean.Add(std::vector<double>{1.0}, 2.0);
  mean.Add(std::vector<double>{1.0}, 4.0);
  CHECK(mean.Solve(1.0)[0] == Approx(2.0).epsilon(1e-12));
  NormalEquations twice(3);  // the second unknown is the first again, the third never occurs
  twice.Add(std::vector<double>{1.0, 1.0, 0.0}, 3.0);
  CHECK(twice.Solve(0.0) == std::vector<double>{3.0, 0.0, 0.0});
}

TEST_CASE("low rank: without factors it is the additive table, by hand", "[estimation]") {
  // Rows differ by 3, columns by 1: 1 2 / 4 -> 5.
  LowRankOptions options;
  options.rank = 0;
  options.offset_ridge = 1e-9;
  options.sweeps = 200;
  const std::vector<double> values = CompleteLowRank(Matrix(2, 2, {1.0, 2.0, 4.0, kUnknown}), options);
  CHECK(values[3] == Approx(5.0).epsilon(1e-6));
  CHECK(values[0] == Approx(1.0).epsilon(1e-6));
}

TEST_CASE("low rank: a matrix of low rank is recovered exactly", "[estimation]") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    Stream stream(seed, Purpose::kTest);
    const int rows = 40, columns = 30, rank = 2;
    std::vector<double> u, v;
    for (int i = 0; i < rows * rank; ++i) u.push_back(stream.Normal());
    for (int j = 0; j < columns * rank; ++j) v.push_back(stream.Normal());
    std::vector<double> truth, seen;
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        truth.push_back(u[2 * i] * v[2 * j] + u[2 * i + 1] * v[2 * j + 1]);
        seen.push_back(stream.Uniform() < 0.5 ? truth.back() : kUnknown);
      }
    }
    LowRankOptions options;
    options.rank = rank;
    options.factor_ridge = options.offset_ridge = 1e-8;
    options.sweeps = 400;
    const std::vector<double> found = CompleteLowRank(Matrix(rows, columns, seen), options);
    double worst = 0.0;
    for (std::size_t at = 0; at < truth.size(); ++at)
      worst = std::max(worst, std::abs(found[at] - truth[at]));
    CHECK(worst < 1e-5);  // what ridge and a finite number of sweeps leave; entries are of size 1
  }
}

TEST_CASE("low rank: columns of a group are pulled together", "[estimation]") {
  // Column 2 is never seen: with its group it is thought to be as column 1, 10 above column 0; alone, as the
  // mean.
  PartialMatrix matrix = Matrix(2, 3, {0.0, 10.0, kUnknown, 0.0, 10.0, kUnknown});
  LowRankOptions options;
  options.rank = 0;
  options.offset_ridge = options.group_ridge = 1e-6;
  options.sweeps = 2000;
  CHECK(CompleteLowRank(matrix, options)[2] == Approx(5.0).epsilon(1e-3));
  matrix.group = {0, 1, 1};
  CHECK(CompleteLowRank(matrix, options)[2] == Approx(10.0).epsilon(1e-3));
}

TEST_CASE("nearest reference: by hand", "[estimation]") {
  const PartialMatrix references = Matrix(3, 3, {0, 1, 2, 0, 2, 4, 9, 9, kUnknown});
  const PartialMatrix row = Matrix(1, 3, {5, 7, kUnknown});
  // Differences to reference 0: 5, 6; to 1: 5, 5; to 2: -4, -2. The second varies least: 4 + 5.
  CHECK(CompleteByReference(row, references, {-1}) == std::vector<double>{5, 7, 9});
  // Its own row is no reference: then the first, 2 + 5.5.
  CHECK(CompleteByReference(row, references, {1})[2] == 7.5);
  // Who shares nothing is as the references are on average, (2 + 4) / 2.
  CHECK(CompleteByReference(Matrix(1, 3, {kUnknown, kUnknown, kUnknown}), references, {-1})[2] == 3.0);
  // The nearest is asked where it knows, the next elsewhere: differences to 2 are equal, but it knows no
  // third entry, so 0 answers (6, 5; those to 1 are 6, 4): 2 + 5.5.
  CHECK(CompleteByReference(Matrix(1, 3, {6, 6, kUnknown}), references, {-1})[2] == 7.5);
}

TEST_CASE("rate matrix: there and back, zeros stay", "[estimation]") {
  const ThroughputTable truth = Shipped();
  const PartialMatrix matrix = RateMatrix(truth, 3);
  CHECK(matrix.rows == 26);
  CHECK(matrix.columns == 12 + 12 + 26 * 3);
  CHECK(matrix.Known(0, 0));
  CHECK_FALSE(matrix.Known(0, 3));  // A3C is not distributed
  const ThroughputTable back = WithRates(truth, 3, matrix.value);
  for (const auto& [a, b] : {std::pair{&truth.alone, &back.alone}, std::pair{&truth.pairs, &back.pairs},
                             std::pair{&truth.unconsolidated, &back.unconsolidated}}) {
    for (std::size_t i = 0; i < a->size(); ++i) {
      CHECK(((*a)[i] > 0.0) == ((*b)[i] > 0.0));
      CHECK((*b)[i] == Approx((*a)[i]).epsilon(1e-14));
    }
  }
  const std::vector<int> gpus = ColumnGpus(truth, 3);
  CHECK(std::vector<int>(gpus.begin(), gpus.begin() + 12) ==
        std::vector<int>{1, 1, 1, 2, 2, 2, 4, 4, 4, 8, 8, 8});
  CHECK(gpus[23] == 8);
  CHECK(gpus[24] == 1);
}

TEST_CASE("profiling: what a run costs, what it learns, and how wrongly", "[estimation]") {
  ThroughputTable table;  // one job type, gangs 1 and 2, types of 2 and 0.05 steps/s
  table.job_types = {"a"};
  table.gang_sizes = {1, 2};
  table.alone = {2.0, 0.05, 3.0, 0.0};
  const Profile profile = ProfileRates(table, 2, {1.0, 10.0, 0.0, 0});
  CHECK(profile.runs == 3);                            // 0 = cannot run is not tried
  CHECK(profile.gpu_seconds == 10.0 + 10.0 + 2 * 10);  // the slow one is tried in vain
  CHECK(profile.measured.known == std::vector<char>{1, 0, 1, 0});
  CHECK(profile.measured.value[0] == Approx(std::log(2.0)).epsilon(1e-14));
  // Relative errors: mean 0 and deviation 0.2 / sqrt(20 steps) = 0.0447. Of 2,000 runs the deviation is found
  // within 5% with far more than 99.9%.
  double squares = 0.0;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const double rate = std::exp(ProfileRates(table, 2, {1.0, 10.0, 0.2, seed}).measured.value[0]);
    squares += (2.0 / rate - 1.0) * (2.0 / rate - 1.0);
  }
  CHECK(std::sqrt(squares / 2000) == Approx(0.2 / std::sqrt(20.0)).epsilon(0.05));
  // Nested: what 30% know, 50% know; and about that many of the 2,157 or so.
  const Profile less = ProfileRates(Shipped(), 3, {0.3, 0.0, 0.1, 7}),
                more = ProfileRates(Shipped(), 3, {0.5, 0.0, 0.1, 7});
  int known = 0, all = 0;
  const PartialMatrix truth = RateMatrix(Shipped(), 3);
  for (std::size_t at = 0; at < truth.known.size(); ++at) {
    all += truth.known[at], known += less.measured.known[at];
    CHECK(less.measured.known[at] <= more.measured.known[at]);
  }
  CHECK(known == Approx(0.3 * all).epsilon(0.1));
}

TEST_CASE("estimates of the shipped table: below 10% in the median with 30% measured", "[estimation]") {
  const ThroughputTable truth = Shipped();
  std::vector<double> completion;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    RateEstimates estimates("completion");
    estimates.plan.seed = seed;
    completion.push_back(MedianError(estimates.Estimate(truth, 3), truth, 102));
    CHECK(completion.back() < 0.115);  // the worst of ten; measured 0.07 to 0.10
  }
  double mean = 0.0;
  for (double error : completion) mean += error / 10.0;
  CHECK(mean < 0.10);
  // Offsets alone, without factors, do far worse: there is something to complete.
  CHECK(MedianError(RateEstimates("completion(rank=0,seed=1)").Estimate(truth, 3), truth, 102) > 0.15);
}

TEST_CASE("estimates: what was measured stays, what cannot run stays so, all else is positive",
          "[estimation]") {
  const ThroughputTable truth = Shipped();
  for (const EstimatorInfo& info : Estimators()) {
    for (const char* observed : {"0", "0.05", "0.6", "1"}) {
      CAPTURE(info.name, observed);
      const RateEstimates estimates(Join(info.name, "(seconds=0,observed=", observed, ")"));
      const RateEstimates::Table table = estimates.Estimate(truth, 3);
      const PartialMatrix believed = RateMatrix(table.believed, 3), right = RateMatrix(truth, 3);
      CHECK(believed.known == right.known);
      for (std::size_t at = 0; at < right.known.size(); ++at) {
        if (table.profile.measured.known[at] != 0)
          CHECK(believed.value[at] == Approx(right.value[at]).epsilon(1e-12).margin(1e-12));
        if (right.known[at] != 0) CHECK(std::isfinite(believed.value[at]));
      }
    }
  }
}

TEST_CASE("estimators: bad input is one line", "[estimation]") {
  CHECK_THROWS_WITH(RateEstimates("completon"), "unknown estimator 'completon' (did you mean 'completion'?)");
  CHECK_THROWS_WITH(RateEstimates("completion(observed=1.5)"), Catch::Contains("observed"));
  CHECK_THROWS_WITH(RateEstimates("reference(rank=2)"), Catch::Contains("rank"));
  ThroughputTable one;
  one.job_types = {"a"}, one.gang_sizes = {1}, one.alone = {1.0};
  CHECK_THROWS_WITH(RateEstimates("reference").Estimate(one, 1),
                    "reference: expected a table of at least 2 job types, found 1");
}

}  // namespace berth

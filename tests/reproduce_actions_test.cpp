// berth reproduce actions: ratios and verdicts on made-up evaluations worked by hand.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "data/hdf5_file.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/evaluation_file.hpp"
#include "tools/reproduce/actions/action_results.hpp"

namespace berth {

TEST_CASE("actions: the interval of several policies is over training seeds and workloads") {
  const test::TemporaryFolder folder;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kHour = 3600.0;
  // Of `rule` policy a has 0.8 on every workload, b 1, the lazy one does nothing on the last.
  h5::Writer out(folder / "row.h5", "evaluation", kEvaluationVersion);
  out.Strings("schedulers", std::vector<std::string>{"rule", "a", "b", "lazy", "late"});
  out.Array("seeds", std::vector<std::int64_t>{1000, 1001, 1002});
  out.Array("unstable", std::vector<std::uint8_t>{0, 0, 0, 0, 1});
  std::vector<double> hours = {10, 20, 30, 8, 16, 24, 10, 20, 30, 5, 10, kNan, 9, 18, 27};
  for (double& it : hours) it *= kHour;
  out.Array("mean_jct_s", hours, {5, 3});
  out.Commit();
  const ActionResults results(folder / "row.h5");
  const std::vector<std::string> policies = {"a", "b"};
  // Both policies: 0.9, and with probability 1/4 each a resample has one of them alone.
  const Interval both = results.Ratio(policies, "rule", kMeanJct);
  CHECK(both.mean == Approx(0.9).epsilon(1e-12));
  CHECK(both.low == Approx(0.8).epsilon(1e-12));
  CHECK(both.high == Approx(1.0).epsilon(1e-12));
  // What they are held against is taken as it is: 1 / 0.9.
  const Interval against = results.Ratio({"rule"}, policies, kMeanJct);
  CHECK(against.low == Approx(1.0 / 0.9).epsilon(1e-12));
  CHECK(against.high == Approx(1.0 / 0.9).epsilon(1e-12));
  CHECK(std::isnan(results.Ratio({"a", "lazy"}, "rule", kMeanJct).mean));
  CHECK(results.RatioCell({"a"}, {"rule"}, kMeanJct) == "0.800 [0.800, 0.800]");
  CHECK(results.RatioCell({"late"}, {"rule"}, kMeanJct) == "0.900 [0.900, 0.900]†");
  CHECK(results.RatioCell({"rule"}, {"a", "late"}, kMeanJct) == "1.176 [1.176, 1.176]†");
  CHECK(results.keep_up({"rule", "a", "b"}));
  CHECK_FALSE(results.keep_up({"a", "late"}));
}

TEST_CASE("actions: a row is won by its whole interval, and not compared where work piles up") {
  CHECK(JudgeRow({0.93, 0.88, 0.99}, true, true) == RowVerdict::kWon);
  CHECK(JudgeRow({0.93, 0.84, 1.03}, true, true) == RowVerdict::kLevel);
  CHECK(JudgeRow({0.93, 0.88, 0.99}, /*holds=*/false, true) == RowVerdict::kLost);
  CHECK(JudgeRow({1.05, 1.02, 1.09}, true, true) == RowVerdict::kLevel);  // lost by no more than 2%
  CHECK(JudgeRow({1.05, 1.03, 1.09}, true, true) == RowVerdict::kLost);
  for (const bool holds : {true, false}) {
    CHECK(JudgeRow({0.93, 0.88, 0.99}, holds, /*keep_up=*/false) == RowVerdict::kNotCompared);
    CHECK(JudgeRow({1.05, 1.03, 1.09}, holds, /*keep_up=*/false) == RowVerdict::kNotCompared);
  }
  const double nan = std::nan("");
  CHECK(JudgeRow({nan, nan, nan}, true, true) == RowVerdict::kNotCompared);
  CHECK(std::string(ToString(RowVerdict::kNotCompared)) == "not compared");
}

}  // namespace berth

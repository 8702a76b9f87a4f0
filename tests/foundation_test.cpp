// Random numbers, portable mathematics, spec strings, statistics: what everything else stands on.
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>
#include <vector>

#include "env/base/check.hpp"
#include "env/base/counted.hpp"
#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"
#include "env/base/rng.hpp"
#include "env/base/spec.hpp"
#include "env/base/thread_team.hpp"
#include "env/sim/event_queue.hpp"
#include "env/sim/metrics.hpp"
#include "env/sim/scenario.hpp"
#include "env/sim/statistics.hpp"
#include "env/sim/thinned_sample.hpp"
#include "tests/catch.hpp"

namespace berth {
namespace {

// Distance in units in the last place.
double Ulps(double a, double b) {
  if (a == b) return 0.0;
  return std::abs(a - b) /
         (std::nextafter(std::abs(b), std::numeric_limits<double>::infinity()) - std::abs(b));
}

}  // namespace

TEST_CASE("Philox4x32-10 gives Random123's known answers") {
  using Block = std::array<std::uint32_t, 4>;
  CHECK(Philox4x32({0, 0, 0, 0}, {0, 0}) == Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(Philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) ==
        Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(Philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("streams differ by every part of their key and resume where they stood") {
  const auto first = [](Stream stream) { return std::pair(stream.Bits(), stream.Bits()); };
  const auto base = first(Stream(1, Purpose::kJobs, Split::kTrain, 2, 3));
  CHECK(base == first(Stream(1, Purpose::kJobs, Split::kTrain, 2, 3)));
  CHECK(base != first(Stream(2, Purpose::kJobs, Split::kTrain, 2, 3)));
  CHECK(base != first(Stream(1, Purpose::kArrivals, Split::kTrain, 2, 3)));
  CHECK(base != first(Stream(1, Purpose::kJobs, Split::kEvaluate, 2, 3)));
  CHECK(base != first(Stream(1, Purpose::kJobs, Split::kTrain, 3, 2)));
  // Run 42's environment 1 is not run 43's environment 0.
  CHECK(first(Stream(42, Purpose::kJobs, Split::kTrain, 1)) !=
        first(Stream(43, Purpose::kJobs, Split::kTrain, 0)));
  for (int draws : {0, 1, 2, 3, 4, 7}) {
    Stream stream(9, Purpose::kTest);
    for (int i = 0; i < draws; ++i) stream.Bits();
    Stream resumed(9, Purpose::kTest);
    resumed.Seek(stream.position());
    for (int i = 0; i < 9; ++i) REQUIRE(stream.Bits() == resumed.Bits());
  }
}

TEST_CASE("distributions have their moments") {
  Stream stream(11, Purpose::kTest);
  const int n = 200000;
  double uniform = 0, exponential = 0, normal = 0, square = 0;
  std::vector<int> counts(7);
  for (int i = 0; i < n; ++i) {
    uniform += stream.Uniform() / n;
    exponential += stream.Exponential(3.0) / n;
    const double z = stream.Normal();
    normal += z / n;
    square += z * z / n;
    ++counts[stream.Below(7)];
  }
  // Five standard errors: sd / sqrt(n) of 0.289, 3, 1, sqrt 2 and sqrt(n p q).
  CHECK(std::abs(uniform - 0.5) < 5 * 0.289 / std::sqrt(n));
  CHECK(std::abs(exponential - 3.0) < 5 * 3.0 / std::sqrt(n));
  CHECK(std::abs(normal) < 5 / std::sqrt(n));
  CHECK(std::abs(square - 1.0) < 5 * std::sqrt(2.0 / n));
  for (int count : counts) CHECK(std::abs(count - n / 7.0) < 5 * std::sqrt(n * 6.0 / 49.0));
}

TEST_CASE("portable log and exp agree with libm to 2 units in the last place") {
  Stream stream(12, Purpose::kTest);
  double worst_log = 0, worst_exp = 0;
  for (int i = 0; i < 200000; ++i) {
    const double x = std::ldexp(stream.Uniform(0.5, 1.0), static_cast<int>(stream.Below(200)) - 100);
    worst_log = std::max(worst_log, Ulps(Log(x), std::log(x)));
    const double near_one = stream.Uniform(0.5, 2.0);
    worst_log = std::max(worst_log, Ulps(Log(near_one), std::log(near_one)));
    const double y = stream.Uniform(-700.0, 700.0);
    worst_exp = std::max(worst_exp, Ulps(Exp(y), std::exp(y)));
  }
  CHECK(worst_log <= 2.0);
  CHECK(worst_exp <= 2.0);
  CHECK(Log(1.0) == 0.0);
  CHECK(Exp(0.0) == 1.0);
  CHECK(Log(0.0) == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(Log(-1.0)));
  CHECK(Exp(1000.0) == std::numeric_limits<double>::infinity());
  CHECK(Exp(-1000.0) == 0.0);
  CHECK(Pow(10.0, 3.7) == Approx(std::pow(10.0, 3.7)).epsilon(1e-14));
  CHECK(Pow(0.0, 0.0) == 1.0);
}

TEST_CASE("spec: any name is part of a value, and is read again") {
  CHECK(Escaped("a/ann:x-1.é") == "a/ann:x-1.é");
  CHECK(Escaped("R+D, 5%(b);") == "R%2BD%2C%205%25%28b%29%3B");
  CHECK(Unescaped("5% %2g %2") == "5% %2g %2");
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  CHECK(Unescaped(Escaped(all)) == all);
  CHECK(ParseSpec("x(a=" + Escaped(all) + ",b=1)").params.front().second == Escaped(all));
}

TEST_CASE("portable log2 is exact at powers of two") {
  for (int exponent = -1074; exponent <= 1023; ++exponent) {
    CAPTURE(exponent);
    CHECK(Log2(std::ldexp(1.0, exponent)) == exponent);
  }
  for (double x : {1e-300, 0.3, 3.0, 7.0, 1000.0}) CHECK(Log2(x) == Approx(std::log2(x)).epsilon(1e-15));
  CHECK(Log2(0.0) == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(Log2(-8.0)));
}

TEST_CASE("spec strings parse, nest and print canonically") {
  CHECK(ParseSpec(" fcfs ").ToString() == "fcfs");
  CHECK(ParseSpec("gavel( objective = max_min , aware=true )").ToString() ==
        "gavel(objective=max_min,aware=true)");
  const Spec nested = ParseSpec("hierarchical(outer=fair_share,inner=srpt(x=1,y=(2,3)))");
  REQUIRE(nested.params.size() == 2);
  CHECK(nested.params[1].second == "srpt(x=1,y=(2,3))");
  CHECK(ParseSpec("policy(file=/a b/c-d.h5)").params[0].second == "/a b/c-d.h5");
  CHECK(SplitOutsideParentheses("fcfs; easy ;gavel(a=1;2);", ';') ==
        std::vector<std::string>{"fcfs", "easy", "gavel(a=1;2)"});
  for (const char* bad : {"", "(a=1)", "x(a=1", "x(a)", "x(a=1,a=2)", "x(a=1))", "x y"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(ParseSpec(bad), Error);
  }
}

TEST_CASE("parameters are typed and strict, and errors name the nearest right one") {
  static constexpr ParamInfo kInfos[] = {
      {"objective", "max_min", ""}, {"rounds", "3", ""}, {"alpha", "0.5", ""}};
  const auto message = [](const char* spec, auto&& read) -> std::string {
    try {
      Params params(ParseSpec(spec), kInfos);
      read(params);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const auto all = [](Params& p) {
    p.Choice("objective", {"max_min", "makespan"});
    p.Integer("rounds", 1, 10);
    p.Number("alpha", 0.0, 1.0);
  };
  CHECK(message("x(rounds=4)", all).empty());
  CHECK(message("x(objectiv=makespan)", all).find("did you mean 'objective'") != std::string::npos);
  CHECK(message("x(objective=makespann)", all).find("did you mean 'makespan'") != std::string::npos);
  CHECK(message("x(rounds=4.5)", all).find("whole number") != std::string::npos);
  CHECK(message("x(rounds=40)", all).find("[1, 10]") != std::string::npos);
  CHECK(message("x(alpha=nan)", all).find("expected a number") != std::string::npos);
  Params params(ParseSpec("x(rounds=4)"), kInfos);
  CHECK(params.Resolved() == "x(objective=max_min,rounds=4,alpha=0.5)");
}

TEST_CASE("completions order by time, then job") {
  EventQueue queue;
  for (int job : {5, 3, 9, 1}) queue.Push({job == 9 ? 1.0 : 2.0, 0, job, 0});
  std::vector<int> order;
  for (; !queue.empty(); queue.Pop()) order.push_back(queue.top().job);
  CHECK(order == std::vector<int>{9, 1, 3, 5});
}

TEST_CASE("clocks and knowledge parse what they print") {
  for (const char* text :
       {"event", "hpc", "reference_rounds", "rounds(360)", "rounds(12.5)", "reference_rounds(60)"}) {
    CHECK(Clock::Parse(text).ToString() == text);
  }
  for (const char* bad : {"", "round", "rounds(0)", "rounds(-1)", "rounds(x)", "events"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(Clock::Parse(bad), Error);
  }
  for (const char* text : {"none", "blind", "estimate", "oracle"})
    CHECK(ToString(ParseKnowledge(text)) == std::string(text));
  CHECK_THROWS_WITH(ParseKnowledge("orcale"), Catch::Contains("did you mean 'oracle'"));
}

TEST_CASE("quantiles interpolate as NumPy's default does") {
  const std::vector<double> x = {1, 2, 3, 4};
  CHECK(Quantile(x, 0.0) == 1.0);
  CHECK(Quantile(x, 0.5) == 2.5);  // numpy.quantile([1,2,3,4], .5)
  CHECK(Quantile(x, 0.9) == Approx(3.7));
  CHECK(Quantile(x, 1.0) == 4.0);
  // Some values are infinite: half-way is index 1.5 of four and index 1 of three.
  const std::vector<double> endless = {1.0, 2.0, kNever, kNever};
  CHECK(Quantile(endless, 0.5) == kNever);
  CHECK(Quantile(std::vector<double>{1.0, 2.0, kNever}, 0.5) == 2.0);
  CHECK(Quantile(endless, 0.9) == kNever);
  CHECK(Quantile(endless, 1.0) == kNever);
}

TEST_CASE("bootstrap intervals cover as often as they say, and pairing cancels what workloads share") {
  // 95% intervals of the mean of 30 exponentials cover the true mean in about 93% of 400 trials (skew costs
  // some).
  Stream stream(13, Purpose::kTest);
  int covered = 0;
  const int trials = 150;
  for (int t = 0; t < trials; ++t) {
    std::vector<double> values(30);
    for (double& v : values) v = stream.Exponential(1.0);
    const Interval interval = BootstrapMean(values, static_cast<std::uint64_t>(t));
    covered += interval.low <= 1.0 && 1.0 <= interval.high;
  }
  CHECK(covered > 0.85 * trials);
  CHECK(covered < trials);
  std::vector<double> a, b;
  for (int i = 0; i < 20; ++i) {
    const double workload = stream.Exponential(100.0);
    a.push_back(0.9 * workload);
    b.push_back(workload);
  }
  const Interval ratio = BootstrapRatio(a, b, 1);
  CHECK(ratio.low == Approx(0.9));
  CHECK(ratio.high == Approx(0.9));
  CHECK(BootstrapMean(std::vector<double>{5.0}, 1).low == 5.0);
  // A workload that has no figure leaves none of all.
  a[7] = std::nan("");
  for (const Interval& none : {BootstrapMean(a, 1), BootstrapRatio(a, b, 1), BootstrapRatio(b, a, 1)}) {
    CHECK(std::isnan(none.mean));
    CHECK(std::isnan(none.low));
    CHECK(std::isnan(none.high));
  }
  // A quarter of the resamples is of the second workload alone, which has no ratio; all others' is 2.
  const Interval ratio_of_some = BootstrapRatio(std::vector<double>{2.0, 0.0}, std::vector<double>{1.0, 0.0}, 1);
  CHECK(ratio_of_some.low == 2.0);
  CHECK(ratio_of_some.high == 2.0);
}

TEST_CASE("a thread team runs every part once, whatever its size") {
  for (int size : {1, 2, 4}) {
    std::atomic<int> begun{0};
    ThreadTeam team(size, [&] { ++begun; });
    for (int parts : {1, 2, 3, 17}) {
      std::vector<int> calls(static_cast<std::size_t>(parts));
      for (int round = 0; round < 500; ++round) {
        team.Run(parts, [&](int part) { ++calls[static_cast<std::size_t>(part)]; });
      }
      CHECK(calls == std::vector<int>(static_cast<std::size_t>(parts), 500));
      // all parts run although some throw, and the lowest is told of
      CHECK_THROWS_WITH(team.Run(parts,
                                 [&](int part) {
                                   ++calls[static_cast<std::size_t>(part)];
                                   throw Error(Join("part ", part));
                                 }),
                        "part 0");
      CHECK(calls == std::vector<int>(static_cast<std::size_t>(parts), 501));
    }
    team.Run(0, [](int) { FAIL("no part to run"); });
    while (begun < size) std::this_thread::yield();  // a thread may begin after all work is done
    CHECK(begun == size);
  }
}

TEST_CASE("a part that a thread of the team has not begun waits for nobody") {
  // One thread is held in part 1 until part 0 and all others are done: with parts dealt out beforehand to two
  // threads this would never end.
  ThreadTeam team(2);
  std::atomic<int> done{0};
  constexpr int kParts = 8;
  team.Run(kParts, [&](int part) {
    if (part == kParts - 1) {
      while (done < kParts - 1) std::this_thread::yield();
    }
    ++done;
  });
  CHECK(done == kParts);
}

// Whole numbers below 2^24 are exact as floats. Of 4 kMost of them every fourth is left.
TEST_CASE("a thinned sample holds all values, then every k-th") {
  ThinnedSample sample;
  CHECK((sample.Mean() == 0.0 && sample.Quantile(0.99) == 0.0));
  const auto most = static_cast<int>(ThinnedSample::kMost);
  for (int i = 0; i < most; ++i) sample.Add(static_cast<float>(i));
  CHECK(static_cast<int>(sample.kept().size()) == most);
  CHECK(sample.Quantile(0.5) == most / 2 - 1);  // rank 0.5 (kMost - 1), rounded down
  for (int i = most; i < 4 * most; ++i) sample.Add(static_cast<float>(i));
  CHECK(sample.count() == 4 * most);
  CHECK(sample.Mean() == (4.0 * most - 1) / 2);
  REQUIRE(static_cast<int>(sample.kept().size()) == most);
  for (int i = 0; i < most; i += 1000) CHECK(sample.kept()[U(i)] == 4.0F * static_cast<float>(i));
}

TEST_CASE("one of what is counted has no s") {
  CHECK(Counted(0, "job") == "0 jobs");
  CHECK(Counted(std::size_t{1}, "job") == "1 job");
  CHECK(Counted(std::int64_t{-1}, "job") == "-1 jobs");
  CHECK(Counted(1, "job waits", "jobs wait") == "1 job waits");
  CHECK(Counted(2, "job waits", "jobs wait") == "2 jobs wait");
}

}  // namespace berth

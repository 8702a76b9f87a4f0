// berth size: levels and mixes by hand; clusters of queueing theory by Erlang's formulas.
#include "tools/size/size.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/features/table.hpp"
#include "env/sim/statistics.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/sanitized.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/json.hpp"
#include "tools/reproduce/queueing_theory.hpp"
#include "tools/size/prices.hpp"

namespace berth {
namespace {

using test::Berth;
using test::CheckOneLine;
using test::Slurp;
using test::TemporaryFolder;

Options SizeSettings(const std::vector<std::string>& words) {
  Options settings("size", "", "");
  AddEvaluationPlan(settings);
  REQUIRE(settings.Parse(words));
  return settings;
}

}  // namespace

TEST_CASE("size: levels and types by hand") {
  const std::vector<Level> levels =
      ParseLevels("mean_jct_h<=12; p99_wait_s <= 90;deadline_misses<=1%;util>=60%;jct<=2;utilization>=0.5");
  REQUIRE(levels.size() == 6);
  const double bounds[] = {43200.0, 90.0, 0.01, 0.6, 7200.0, 0.5};
  for (std::size_t i = 0; i < 6; ++i) CHECK(levels[i].bound == Approx(bounds[i]).epsilon(1e-15));
  CHECK(levels[0].at_most);
  CHECK_FALSE(levels[3].at_most);
  CHECK(levels[2].metric.field->key == std::string("deadline_miss_rate"));
  CHECK_THROWS_WITH(ParseLevels("mean_jct_h<12"),
                    Catch::Contains("expected FIGURE<=NUMBER or FIGURE>=NUMBER"));
  CHECK_THROWS_WITH(ParseLevels("mean_jt_h<=12"), Catch::Contains("did you mean 'mean_jct_h'?"));
  CHECK_THROWS_WITH(ParseLevels("deadline_misses<=1"),
                    Catch::Contains("a share with its sign, such as 1%, found '1'"));
  CHECK_THROWS_WITH(ParseLevels("wait<=1%"), Catch::Contains("without %"));
  CHECK_THROWS_WITH(ParseLevels("wait<=x"), Catch::Contains("wait: expected a number, found 'x'"));
  CHECK_THROWS_WITH(ParseLevels(";"), Catch::Contains("expected FIGURE<=NUMBER"));

  // v100 at 2.5: 0, 4, 8 in nodes of 4; a100 at 4: 0, 1, 2. By price: 4, 8, 10, 14, 18, 20, 24, 28, without
  // 0.
  const std::vector<TypeRange> types = ParseTypes("v100=0..8..4/4@2.5,a100=0..2@4");
  const std::vector<Mix> mixes = AllMixes(types);
  const double prices[] = {4, 8, 10, 14, 18, 20, 24, 28};
  REQUIRE(mixes.size() == 8);
  for (std::size_t i = 0; i < 8; ++i) CHECK(mixes[i].price == prices[i]);
  CHECK(MixText(types, mixes[0]) == "a100=1");
  CHECK(MixText(types, mixes[4]) == "v100=4/4,a100=2");
  CHECK(ParseTypes("v100=3")[0].counts == std::vector<int>{3});
  CHECK_THROWS_WITH(ParseTypes("v100=0..4,a100=0..2@4"), Catch::Contains("a price of each type"));
  CHECK_THROWS_WITH(ParseTypes("v100=4..0"), Catch::Contains("v100: expected FIRST..LAST"));
  CHECK_THROWS_WITH(ParseTypes("v100=1..2@0"), Catch::Contains("a price above 0"));
  CHECK_THROWS_WITH(AllMixes(ParseTypes("v100=0..0")), Catch::Contains("a type with a GPU"));
}

// M/M/c: `rate` jobs an hour of one GPU, an hour each on average, in the order of arrival. Erlang C gives the
// mean wait on c GPUs (hours). The level lies at the geometric mean of what the right size and the next
// smaller one give, so that neither is within the interval of the level; the smallest size that keeps it is
// then known.
TEST_CASE("size: the smallest cluster is that of Erlang's formula") {
  const struct {
    double rate;
    int size;  // sought; size - 1 keeps up too, or the level is twice the wait on `size`
  } kCases[] = {{2.5, 4}, {4.0, 6}, {8.0, 10}, {4.0, 5}};
  const int jobs = test::kSanitized ? 4000 : 20000;
  for (const auto& [rate, size] : kCases) {
    const double wait = WaitMMc(size, rate, 1.0);
    const double level = size - 1 > rate ? std::sqrt(wait * WaitMMc(size - 1, rate, 1.0)) : 2.0 * wait;
    CAPTURE(rate, size, wait, level);
    SizeRequest request{
        ParseTypes("v100=1..16"), ParseLevels(Join("mean_wait_h<=", level)),
        SizeSettings({"--workload", Join("queueing(rate=", rate, ",jobs=", jobs, ")"), "--clock", "event",
                      "--schedulers", "fcfs", "--seeds", "0:10", "--window", Join(jobs / 10, ":", jobs)})};
    const SizeResult result = SizeCluster(request);
    CHECK(result.monotone);
    CHECK(result.mixes == 16);
    REQUIRE(result.best);
    REQUIRE(result.runner_up);
    CHECK(result.tried[*result.best].cluster == Join("v100=", size));
    CHECK(result.tried[*result.runner_up].cluster == Join("v100=", size + 1));
    int compared = 0;
    for (const SizedMix& sized : result.tried) {
      const int c = sized.mix.gpus;
      CAPTURE(c);
      CHECK(sized.meets() == (c >= size));
      if (c <= rate) continue;  // no steady state
      // Twice the half width of the 95% interval is about four standard errors. In the largest clusters next to
      // nobody waits.
      const Interval figure = sized.rows[0].figures[0];
      const double half = 3600.0 * 1e-6 + (figure.high - figure.low);
      CHECK(std::abs(figure.mean - 3600.0 * WaitMMc(c, rate, 1.0)) <= half);
      ++compared;
    }
    CHECK(compared >= 3);
  }
}

TEST_CASE("size: the interval that decides is as wide for few seeds as Student's, by hand and by how often it covers") {
  // t(97.5%) of 1, 2 and 9 degrees is 12.7062, 4.30265 and 2.26216; by sqrt(n / (n - 1)) / 1.95996.
  CHECK(StudentT(0.95, 1) == Approx(12.7062).epsilon(1e-5));
  CHECK(StudentT(0.95, 2) == Approx(4.30265).epsilon(1e-5));
  CHECK(StudentT(0.95, 9) == Approx(2.26216).epsilon(1e-5));
  const Interval two = Widened({2.0, 1.0, 3.0}, 2);
  CHECK(two.mean == 2.0);
  CHECK(two.low == Approx(2.0 - 9.16817).epsilon(1e-5));
  CHECK(two.high == Approx(2.0 + 9.16817).epsilon(1e-5));
  CHECK(Widened({0.0, -1.0, 2.0}, 3).high == Approx(2.0 * 2.68865).epsilon(1e-5));
  CHECK(Widened({0.0, -1.0, 2.0}, 10).low == Approx(-1.21662).epsilon(1e-5));
  // One workload, figures without an interval, and those beyond what is measured stay as they are.
  CHECK(Widened({2.0, 1.0, 3.0}, 1).high == 3.0);
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN(), kBeyond = std::numeric_limits<double>::infinity();
  CHECK(std::isnan(Widened({2.0, kNone, kNone}, 5).low));
  CHECK(Widened({kBeyond, 7.0, kBeyond}, 5).low == 7.0);
  CHECK(Widened({kBeyond, 7.0, kBeyond}, 5).high == kBeyond);

  // Of 200 means of 2 and 3 normal values about 188 are covered, within four standard deviations; by the bootstrap
  // alone 100 and 150.
  std::mt19937 random(3);
  std::normal_distribution<double> normal;
  for (const std::size_t n : {2, 3}) {
    int covered = 0, drawn_covers = 0;
    for (int round = 0; round < 200; ++round) {
      std::vector<double> values;
      while (values.size() < n) values.push_back(normal(random));
      const Interval drawn = BootstrapMean(values, /*seed=*/0), wide = Widened(drawn, n);
      covered += wide.low <= 0.0 && wide.high >= 0.0;
      drawn_covers += drawn.low <= 0.0 && drawn.high >= 0.0;
    }
    CAPTURE(n, covered, drawn_covers);
    CHECK(covered >= 175);
    CHECK(drawn_covers < 175);
  }
}

// Two workloads wait 247 and 481 s on average, and the bootstrap's interval is that. The level is far above both,
// but two say so little that it is not met; ten settle it.
TEST_CASE("size: two seeds do not settle what ten do") {
  for (const char* seeds : {"0:2", "0:10"}) {
    CAPTURE(seeds);
    const SizeResult result = SizeCluster(
        {ParseTypes("v100=3"), ParseLevels("mean_wait_h<=0.3"),
         SizeSettings({"--workload", "queueing(rate=2,jobs=200)", "--clock", "event", "--schedulers", "srpt", "--seeds", seeds,
                       "--window", "20:200"})});
    const bool ten = result.seeds == 10;
    REQUIRE(result.tried.size() == 1);
    const Interval figure = result.tried[0].rows[0].figures[0];
    CHECK(figure.mean == Approx(ten ? 273.488 : 363.828).epsilon(1e-5));
    if (!ten) CHECK(figure.high == Approx(363.828 + 9.16817 * (481.062 - 363.828)).epsilon(1e-5));
    CHECK(result.best.has_value() == ten);
  }
}

// Six jobs of an hour at time 0 in order: on n GPUs they end in ceil(6 / n) hours. No seed differs, so
// intervals are points. Mean JCT: 3.5, 2, 1.5, 8/6 (four after 1, two after 2), 7/6, 1 h.
TEST_CASE("size: who meets, who comes next, and what is written of it, by hand") {
  const TemporaryFolder folder;
  const std::string run =
      "size --workload 'queueing(rate=0,jobs=6,sizes=deterministic)' --clock event --schedulers "
      "fcfs srpt --seeds 0:2 ";
  test::Outcome outcome =
      Berth(folder, run + "--types v100=1..8 --meet 'jct<=1.5;makespan_s<=7200' --json j --csv c");
  CAPTURE(outcome.out, outcome.error);
  REQUIRE(outcome.code == 0);
  CHECK_THAT(outcome.out,
             Catch::Contains("smallest: v100=3, under fcfs, srpt\nrunner-up: v100=4, under fcfs, srpt\n"));
  const Json json = Json::parse(Slurp(folder / "j"));
  CHECK(json.at("best") == "v100=3");
  for (const Json& tried : json.at("tried")) {
    const double gpus = tried.at("gpus"), each = std::ceil(6.0 / gpus);
    CAPTURE(gpus);
    CHECK(tried.at("meets") == (gpus >= 3));
    CHECK(tried.at("schedulers")[0].at("figures")[1].at("mean").get<double>() ==
          Approx(3600 * each).epsilon(1e-12));
  }
  CHECK_THAT(Slurp(folder / "c"),
             Catch::StartsWith("cluster,gpus,price_per_h,scheduler,unfinished,unstable,meets,"
                               "mean_jct_s,mean_jct_s_low,mean_jct_s_high,makespan_s,"));
  // Two types that are equal for these jobs: p100 costs half, but there are only two of them. The cheapest
  // three GPUs are p100=2,v100=1; three v100 cost 3, and p100=1,v100=2 costs 2.5; that with a GPU more, 3, is
  // dearer.
  outcome = Berth(folder, run + "--types v100=0..4@1,p100=0..2@0.5 --meet 'jct<=1.5'");
  CAPTURE(outcome.out, outcome.error);
  REQUIRE(outcome.code == 0);
  CHECK_THAT(outcome.out, Catch::Contains("cheapest: v100=1,p100=2, 2.00 an hour, under fcfs, srpt\n"
                                          "runner-up: v100=2,p100=1, 2.50 an hour"));
  // Gangs of up to 8 GPUs of one type: a cluster of 4 cannot run them at all, which is no mistake.
  outcome = Berth(folder,
                  "size --workload 'synthetic(rate=0.1,jobs=20,gangs=multi)' --schedulers fcfs --seeds 0:2 "
                  "--types v100=4..16..4 --meet 'makespan<=100000'");
  CAPTURE(outcome.out, outcome.error);
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out,
             Catch::Contains("\nv100=4 cannot run these jobs: ") && Catch::Contains("smallest: v100=8,"));
  outcome = Berth(folder, run + "--types v100=1..4 --meet 'jct<=1'");
  CHECK(outcome.code == 1);
  CHECK_THAT(outcome.out, Catch::Contains("none meets the levels: not even v100=4"));
  // Of n GPUs 6 / (n ceil(6 / n)) are busy: 1, 1, 1, 0.75, 0.6. The largest keeps the JCT and not the share.
  outcome = Berth(folder, run + "--types v100=1..5 --meet 'jct<=1.5;util>=90%' --json j");
  CAPTURE(outcome.out, outcome.error);
  CHECK(outcome.code == 0);
  CHECK_THAT(outcome.out, Catch::Contains("\nsmallest: v100=3, under fcfs, srpt\n") && !Catch::Contains("runner-up"));
  CHECK(Json::parse(Slurp(folder / "j")).at("monotone") == true);
  outcome = Berth(folder, run + "--types v100=1..5 --meet 'jct<=1.4;util>=80%'");
  CHECK(outcome.code == 1);
  CHECK_THAT(outcome.out, Catch::Contains("none meets the levels; those not tried have no more GPUs"));
}

// Six GPU-hours, at 100 an hour; a V100 costs 2.48 where nobody says what.
TEST_CASE("size: cost counts by the prices of --types") {
  const TemporaryFolder folder;
  const std::string run =
      "size --workload 'queueing(rate=0,jobs=6,sizes=deterministic)' --clock event --schedulers fcfs --seeds 0:2 ";
  test::Outcome outcome = Berth(folder, run + "--types v100=1..2@100 --meet 'cost<=600.1' --json j");
  CAPTURE(outcome.out, outcome.error);
  REQUIRE(outcome.code == 0);
  CHECK_THAT(outcome.out, Catch::Contains("cheapest: v100=1, 100.00 an hour") && Catch::Contains("by known prices"));
  const Json figure = Json::parse(Slurp(folder / "j")).at("tried")[0].at("schedulers")[0].at("figures")[0];
  CHECK(figure.at("mean").get<double>() == Approx(600.0));
  CHECK(Berth(folder, run + "--types v100=1..2@100 --meet 'cost<=599'").code == 1);
  CHECK(Berth(folder, run + "--types v100=1..2 --meet 'cost<=14.9'").code == 0);
}

TEST_CASE("size: slices of a GPU cost their part of its price") {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("a100=1,v100=1");
  settings.features = ParseFeatures("partitions");
  const auto known = MakeWorkload("queueing(rate=1,jobs=3)", settings);
  const auto priced = WithPrices(known, ParseTypes("a100=1..1@7,v100=1..1@3"));
  const ClusterSpec cluster = priced->Make(0, Split::kEvaluate, 0, 0).data().cluster;
  REQUIRE(cluster.types.size() > 2);
  for (const GpuType& type : cluster.types) {
    CAPTURE(type.name);
    const double price = type.name == "v100" ? 3.0 : type.part.whole < 0 ? 7.0 : type.part.compute;  // of 7
    CHECK(type.price_per_hour == Approx(price));
  }
  CHECK(WithPrices(known, ParseTypes("a100=1..2")) == known);
}

// A replica answers a request each 5 s and two come a second.
TEST_CASE("size: a figure beyond what is measured is said as evaluate says it") {
  const TemporaryFolder folder;
  const test::Outcome outcome =
      Berth(folder, "size --types v100=3..3 --meet 'service_p99_s<=10' --schedulers fcfs --workload 'queueing(rate=100,jobs=5)' "
                    "--clock event --seeds 0:2 --features 'services(rate_per_s=2,base_s=5,max_batch=1,replicas=1)' --json j");
  CHECK(outcome.code == 1);
  const Json figure = Json::parse(Slurp(folder / "j")).at("tried")[0].at("schedulers")[0].at("figures")[0];
  for (const char* key : {"mean", "low", "high"}) CHECK(figure.at(key) == ">10000");
  CHECK(figure.at("met") == false);
}

TEST_CASE("size: what is wrong is one line and exit code 2") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& words, const std::string& expected) {
    CAPTURE(words);
    CheckOneLine(Berth(folder, "size --seeds 0:1 " + words), expected);
  };
  refused("--meet 'jct<=1'", "--types: expected a value");
  refused("--types v100=1..4", "--meet: expected a value");
  refused("--types v10=1..4 --meet 'jct<=1'", "did you mean 'v100'?");
  refused("--types v100=1..4 --meet 'jt<=1'",
          "--meet: expected names of figures, found 'jt' (did you mean 'jct'?)");
  refused("--types v100=1..4 --meet 'jct<=1' --cluster v100=3",
          "--cluster: expected nothing, since --types says which");
  refused("--types v100=1..4 --meet 'jct<=1' --scenario s.h5", "--scenario: expected a trace with --format");
  refused("--types v100=8..9 --meet 'deadline_misses<=1%' --workload 'queueing(jobs=5)'",
          "--meet: deadline_misses<=1%: expected a figure that the workload has");
  refused("--types v100=8..9 --meet 'jct<=1' --schedulers fcsf", "did you mean 'fcfs'?");
}

}  // namespace berth

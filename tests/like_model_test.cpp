// `like`: distributions by hand, models that are recovered from what they draw, their file, and small logs.
#include <cmath>
#include <map>
#include <vector>

#include "data/like/draw.hpp"
#include "data/like/fit_memory.hpp"
#include "data/like/workload.hpp"
#include "env/base/check.hpp"
#include "tests/catch.hpp"
#include "tests/skip.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

ScenarioSettings LikeSettings(const std::string& cluster = "v100=64") {
  ScenarioSettings settings;
  settings.cluster = ParseCluster(cluster);
  return settings;
}

Scenario DrawnLike(const LikeModel& model, int jobs, double load = 1.0, std::uint64_t seed = 1) {
  return LikeSource(model, load, jobs, LikeSettings(), "test").Make(seed, Split::kEvaluate, 0, 0, 0);
}

// Gaps of an exponential distribution: -ln(1 - i / 64), but for the last as much as its mean needs.
LikeModel PlainLike() {
  LikeModel model;
  model.per_hour = 10.0;
  model.hours.assign(24, 1.0), model.days.assign(7, 1.0);
  for (int i = 0; i < 64; ++i) model.gaps.values.push_back(-std::log(1.0 - i / 64.0));
  model.gaps.values.push_back(7.0);
  LikeClass of;
  of.run_s.values = {10.0, 1000.0};
  model.classes = {of};
  return model;
}

// Two users and classes of their own, one of anybody's; half of the jobs like one before.
LikeModel UsersLike() {
  LikeModel model = PlainLike();
  model.users = {{"a", 100.0}, {"b", 300.0}};
  LikeClass of_a, of_b, shared = model.classes[0];
  of_a.user = 0, of_a.gpus = 4, of_a.jobs = 400.0, of_a.run_s.values = {100.0, 200.0, 10000.0};
  of_b.user = 1, of_b.gpus = 1, of_b.jobs = 200.0;
  of_b.limit_s.values = {600.0, 600.0, 900.0}, of_b.limit_used.values = {0.1, 0.5, 1.0};
  shared.gpus = 2, shared.jobs = 7.0;
  model.classes = {of_a, of_b, shared};
  model.job_memory = {0.5, 1.5, 0.8};
  return model;
}

double Share(const Scenario& scenario, int gpus) {
  double count = 0.0;
  for (int gang : scenario.data().jobs.gang) count += gang == gpus ? 1.0 : 0.0;
  return count / scenario.num_jobs();
}

double MeanRun(const Scenario& scenario) {
  double sum = 0.0;
  for (std::size_t job = 0; job < scenario.data().jobs.arrival.size(); ++job)
    sum += LikeRunSeconds(scenario.data(), job);
  return sum / scenario.num_jobs();
}

}  // namespace

TEST_CASE("like: a distribution by its values at equal steps", "[like]") {
  const LikeQuantiles three{{0.0, 4.0, 16.0}};
  CHECK(three.At(0.0) == 0.0);
  CHECK(three.At(0.25) == 2.0);  // half-way from 0 to 4, the lower one being 0
  CHECK(three.At(0.5) == 4.0);
  CHECK(three.At(0.75) == Approx(8.0).epsilon(1e-14));  // half-way from 4 to 16 by logarithm
  CHECK(three.At(1.0) == 16.0);
  // (0 + 4) / 2 and (16 - 4) / ln 4 = 8.656170, half each.
  CHECK(three.Mean() == Approx(0.5 * (2.0 + 8.656170)).epsilon(1e-6));
  const LikeQuantiles one{{7.0}};
  CHECK(one.At(0.3) == 7.0);
  CHECK(one.Mean() == 7.0);
  CHECK(LikeQuantiles{{5.0, 5.0, 5.0}}.Mean() == 5.0);
}

TEST_CASE("like: the normal distribution is that of the tables", "[like]") {
  CHECK(NormalShare(0.0) == 0.5);
  CHECK(NormalShare(1.0) == Approx(0.8413447460685429).epsilon(1e-14));
  CHECK(NormalShare(-1.96) == Approx(0.024997895148220435).epsilon(1e-12));
  CHECK(NormalShare(4.0) == Approx(0.9999683287581669).epsilon(1e-14));
  CHECK(NormalShare(-9.0) == 0.0);
  CHECK(NormalShare(9.0) == 1.0);
  for (double share : {0.001, 0.3, 0.5, 0.975}) CHECK(NormalShare(NormalScore(share)) == Approx(share).epsilon(1e-10));
}

TEST_CASE("like: arrivals follow the hours and days, and load scales them alone", "[like]") {
  LikeModel model = PlainLike();
  for (int hour = 0; hour < 24; ++hour) model.hours[static_cast<std::size_t>(hour)] = hour < 12 ? 1.5 : 0.5;
  model.days = {0, 1.4, 1.4, 1.4, 1.4, 1.4, 0};
  const LikeTables tables(model);
  LikeDraw draw(tables, 1.0, Stream(3, Purpose::kArrivals), Stream(3, Purpose::kJobs));
  // 20,000 jobs at ten an hour are 11.9 weeks: three quarters of them within twelve hours of each day, none on two
  // days of the week. The draw begins somewhere in a week, so gaps of two days say where the days are.
  std::vector<double> arrival;
  for (int i = 0; i < 20000; ++i) arrival.push_back(draw.Next().arrival);
  CHECK(arrival[0] == 0.0);
  CHECK(std::abs(arrival.back() / 3600.0 / 1999.9 - 1.0) < 0.1);  // whole weeks apart from a part of one
  double monday = 0.0;
  for (std::size_t i = 1; i < arrival.size() && monday == 0.0; ++i) {
    if (arrival[i] - arrival[i - 1] > 47.9 * 3600.0) monday = std::floor(arrival[i] / 3600.0) * 3600.0;
  }
  REQUIRE(monday > 0.0);
  double early = 0.0, all = 0.0;
  for (double at : arrival) {
    const double day = std::fmod(at - monday, 86400.0);
    if (at < monday + 3600.0) continue;
    all += 1.0, early += day < 43200.0 + 3600.0 ? 1.0 : 0.0;
  }
  // 0.75 of them by the twelfth hour, 0.79 by the thirteenth; where the day begins is known to an hour.
  CHECK(early / all > 0.74);
  CHECK(early / all < 0.81);
  // Twice the load: the same jobs, gaps half as long where no hour differs.
  const Scenario once = DrawnLike(PlainLike(), 500), twice = DrawnLike(PlainLike(), 500, 2.0);
  CHECK(once.data().jobs.total_steps == twice.data().jobs.total_steps);
  for (std::size_t i = 0; i < 500; ++i)
    REQUIRE(twice.data().jobs.arrival[i] == Approx(once.data().jobs.arrival[i] / 2.0).epsilon(1e-9));
}

// With 1e-17 an hour times passed 2^53 hours, where the next hour is the same number: a draw never ended.
TEST_CASE("like: a rate too small to draw is refused, the least one is drawn", "[like]") {
  LikeModel model = PlainLike();
  model.per_hour = 1e-17;
  const std::string expected = "expected per_hour times load of 0 or at least 1e-06 (a job in 114 years), found 1e-17";
  CHECK_THROWS_WITH(DrawnLike(model, 10), expected);
  model.per_hour = 0.5;
  CHECK_THROWS_WITH(DrawnLike(model, 10, 1e-6), Catch::Contains("found 5e-07"));
  model.per_hour = 1e-6;
  // 100 gaps of 1e6 h on average, whose sum errs by 1 / sqrt(100).
  const Scenario rare = DrawnLike(model, 101);
  CHECK(rare.data().jobs.arrival.back() / 3600.0 == Approx(1e8).epsilon(5.0 / std::sqrt(100.0)));
  model.per_hour = 0.0;
  CHECK(DrawnLike(model, 10).data().jobs.arrival.back() == 0.0);
}

// 60 hours with 100 an hour in hours 0 to 11 and 10 in hours 12 to 23 of a day: three days and two nights. Whole days have
// 55 an hour, the log has 64. Regular arrivals, every 36 or 360 s: hours are 100 / 55 and 10 / 55, all gaps are then
// 36 x 100 / 55 s of the time at the mean rate, and 3600 / 65.4545 = 55. (1.81818, six digits of 100 / 55: 2e-6 off.)
TEST_CASE("like: the rate of a log of three days and two nights is that of whole days", "[like]") {
  const auto per_hour = [](int hour) { return hour % 24 < 12 ? 100 : 10; };
  std::vector<test::TinyJob> regular, poisson;
  for (int hour = 0; hour < 60; ++hour) {
    for (int i = 0; i < per_hour(hour); ++i) regular.push_back({hour * 3600.0 + i * 3600.0 / per_hour(hour), 10.0});
  }
  const LikeModel even = FitLike(test::Tiny({{"v100", 1}}, {{1.0}}, regular));
  CHECK(even.per_hour == Approx(55.0).epsilon(5e-6));
  CHECK(even.hours[3] == Approx(100.0 / 55.0).epsilon(5e-6));
  CHECK(even.hours[20] == Approx(10.0 / 55.0).epsilon(5e-6));
  // Of a Poisson process some 3,840 arrivals, whose mean gap errs by 1 / sqrt(3,840).
  Stream random(5, Purpose::kArrivals);
  double now = 0.0;
  const auto end_of_hour = [&now] { return (std::floor(now / 3600.0) + 1.0) * 3600.0; };
  while (now < 60 * 3600.0) {
    double left = -std::log(1.0 - random.Uniform());  // of a mean of 1
    const auto rate = [&] { return per_hour(static_cast<int>(now / 3600.0)) / 3600.0; };
    while (left > rate() * (end_of_hour() - now)) left -= rate() * (end_of_hour() - now), now = end_of_hour();
    now += left / rate();
    if (now < 60 * 3600.0) poisson.push_back({now, 10.0});
  }
  const LikeModel found = FitLike(test::Tiny({{"v100", 1}}, {{1.0}}, poisson));
  CHECK(found.per_hour == Approx(55.0).epsilon(5.0 / std::sqrt(3840.0)));
}

// Every expectation within five standard errors of what 20,000 independent draws give; job_memory makes shares
// of users and classes err more: by sqrt((1 + r) / (1 - r)) with autocorrelations that sum up to about 1, threefold.
TEST_CASE("like: a model is recovered from the jobs that it draws", "[like]") {
  const LikeModel truth = UsersLike();
  const Scenario log = DrawnLike(truth, 20000);
  const LikeModel found = FitLike(log);
  CHECK(found.per_hour == Approx(10.0).epsilon(5.0 / std::sqrt(20000.0)));
  for (double hour : found.hours) CHECK(std::abs(hour - 1.0) < 5.0 * std::sqrt(24.0 / 20000.0));
  for (double day : found.days) CHECK(std::abs(day - 1.0) < 5.0 * std::sqrt(7.0 / 20000.0));
  CHECK(found.gap_memory.again == 0.0);
  // The median of an exponential distribution, over its mean, is ln 2; its standard error is 1 / sqrt(n).
  CHECK(std::abs(found.gaps.At(0.5) - std::log(2.0)) < 5.0 / std::sqrt(20000.0));
  CHECK(found.job_memory.again == Approx(0.5).margin(0.03));
  CHECK(found.job_memory.recency == Approx(1.5).margin(0.26));  // a step of the grid
  CHECK(found.job_memory.same == Approx(0.8).margin(0.11));     // likewise
  REQUIRE(found.users.size() == 2);
  CHECK(found.users[1].name == "b");
  // 400 of 500 jobs of a are its own, and a has 500 of 1,000.
  std::map<int, double> jobs;
  for (const LikeClass& of : found.classes) jobs[of.user < 0 ? 2 : of.gpus] += of.jobs / 20000.0;
  // Classes of anybody need not stay so: each user has enough of them to call them its own.
  CHECK(found.users[0].shared + found.users[1].shared == 0.0);
  CHECK(Share(log, 4) == Approx(0.4).margin(3 * 5 * std::sqrt(0.24 / 20000.0)));
  CHECK(jobs[4] == Approx(Share(log, 4)).epsilon(1e-9));
  for (const LikeClass& of : found.classes) {
    CAPTURE(of.gpus, of.user);
    if (of.gpus == 4) {
      CHECK(of.user == 0);
      // An error of 0.017 in the share, three standard errors of one in three of 8,000 draws that are
      // independent, is 14% above the median and 2% below it.
      CHECK(of.run_s.At(0.5) == Approx(200.0).epsilon(0.15));
      CHECK(of.run_s.At(0.25) == Approx(std::sqrt(100.0 * 200.0)).epsilon(0.03));
    } else if (of.gpus == 1) {
      CHECK(of.limit_s.values.front() >= 600.0);
      CHECK(of.limit_used.At(0.5) == Approx(0.5).epsilon(0.1));
    }
  }
  // What the model found draws has the same load: the mean run time of a class does not change.
  const Scenario again = DrawnLike(found, 20000, 1.0, 2);
  CHECK(Share(again, 4) == Approx(0.4).margin(2 * 3 * 5 * std::sqrt(0.24 / 20000.0)));
  CHECK(MeanRun(again) == Approx(MeanRun(log)).epsilon(0.15));
}

// Arrivals that cluster are told from a Poisson process, and cluster as much again: the variance of hourly counts
// over their mean, 1 of a Poisson process, is within a third of the log's.
TEST_CASE("like: bursts come again", "[like]") {
  LikeModel truth = PlainLike();
  truth.gap_memory = {0.9, 1.5, 0.9};
  const auto dispersion = [](const Scenario& scenario) {
    std::vector<double> counts(static_cast<std::size_t>(scenario.data().jobs.arrival.back() / 3600.0), 0.0);
    for (double at : scenario.data().jobs.arrival) {
      if (at / 3600.0 < static_cast<double>(counts.size())) counts[static_cast<std::size_t>(at / 3600.0)] += 1.0;
    }
    double sum = 0.0, squares = 0.0;
    for (double count : counts) sum += count, squares += count * count;
    const double n = static_cast<double>(counts.size());
    return (squares / n - sum / n * (sum / n)) / (sum / n);
  };
  const Scenario log = DrawnLike(truth, 20000), plain = DrawnLike(PlainLike(), 20000);
  const LikeModel found = FitLike(log);
  CHECK(found.gap_memory.again > 0.0);
  const double of_log = dispersion(log), of_found = dispersion(DrawnLike(found, 20000, 1.0, 2));
  CAPTURE(of_log, of_found);
  CHECK(dispersion(plain) < 1.2);
  CHECK(of_log > 2.0);
  CHECK(of_found > of_log / 1.5);
  CHECK(of_found < of_log * 1.5);
}

TEST_CASE("like: a table of speeds and other columns come along", "[like]") {
  const auto source = MakeWorkload("synthetic(gangs=multi,rate=5)", LikeSettings("v100=16,k80=16"));
  const Scenario log = source->Make(1, Split::kEvaluate, 0, 0, 4000);
  const LikeModel model = FitLike(log);
  CHECK(model.users.empty());
  const LikeSource like(model, 1.0, 4000, LikeSettings("k80=16,v100=16"), "test");
  const Scenario drawn = like.Make(2, Split::kEvaluate, 0, 0, 0);
  CHECK(Share(drawn, 1) == Approx(0.7).margin(0.05));
  CHECK(MeanRun(drawn) == Approx(MeanRun(log)).epsilon(0.1));
  // The speeds are the log's, whatever the order of the types.
  const auto rate = [](const Scenario& scenario, const std::string& job_type, std::size_t gpu) {
    const std::vector<std::string>& names = scenario.data().throughputs.job_types;
    const auto t = static_cast<std::size_t>(std::find(names.begin(), names.end(), job_type) - names.begin());
    const std::size_t sizes = scenario.data().throughputs.gang_sizes.size();
    return scenario.data().throughputs.alone[t * sizes * 2 + gpu];
  };
  for (const char* type : {"ResNet-18 (batch size 16)", "LM (batch size 20)"}) {
    CHECK(rate(drawn, type, 0) == Approx(rate(log, type, 1)).epsilon(1e-12));
    CHECK(rate(drawn, type, 1) == Approx(rate(log, type, 0)).epsilon(1e-12));
  }
  CHECK_THROWS_WITH(LikeSource(model, 1.0, 10, LikeSettings("h100=16"), ""),
                    Catch::Contains("expected GPU types that the model has speeds of, k80, v100, found 'h100'"));
  CHECK_THROWS_WITH(LikeSource(model, 1.0, 10, LikeSettings("v100=4,k80=4"), ""),
                    Catch::Contains("jobs of 8 GPUs and type"));
  // What is left out is said.
  ScenarioData data = log.data();
  data.jobs.weight.assign(4000, 2.0);
  data.jobs.deadline.assign(4000, 1e9);
  CHECK(LikeLeavesOut(Scenario(data)) == "weights, deadlines");
  CHECK(LikeLeavesOut(log).empty());
}

TEST_CASE("like: small logs have models, and one without jobs is an error", "[like]") {
  const auto log = [](std::vector<test::TinyJob> jobs) { return test::Tiny({{"v100", 4}}, {{2.0}}, std::move(jobs)); };
  CHECK_THROWS_WITH(FitLike(log({})), Catch::Contains("tiny: expected jobs to be like, found none"));
  // One job: it comes at once, again and again.
  const LikeModel one = FitLike(log({{50, 100}}));
  CHECK(one.per_hour == 0.0);
  const LikeSource source(ParseLike(LikeToml(one, ""), "m"), 1.0, 3, LikeSettings("v100=4"), "");
  const Scenario three = source.Make(1, Split::kTrain, 0, 0, 0);
  CHECK(three.data().jobs.arrival == std::vector<double>{0, 0, 0});
  for (std::size_t job : {0U, 1U, 2U}) CHECK(LikeRunSeconds(three.data(), job) == 50.0);  // 100 steps at 2 a second
  // Two: an hour apart.
  const LikeModel two = FitLike(log({{0, 100}, {3600, 100, 0, 2}}));
  CHECK(two.per_hour == 1.0);
  CHECK(two.gaps.values == std::vector<double>{1.0});
  CHECK(two.classes.size() == 2);
  // A day of one user: no pattern, no memory.
  std::vector<test::TinyJob> day;
  for (int i = 0; i < 24; ++i) day.push_back({i * 3600.0, 10.0 + i});
  const LikeModel of_day = FitLike(log(day));
  CHECK(of_day.hours == std::vector<double>(24, 1.0));
  CHECK(of_day.days == std::vector<double>(7, 1.0));
  CHECK(of_day.gap_memory.again == 0.0);
  CHECK(of_day.users.empty());
  REQUIRE(of_day.classes.size() == 1);
  CHECK(of_day.classes[0].run_s.values.front() == 5.0);
  CHECK(of_day.classes[0].run_s.values.size() == 4);  // a step for eight jobs
}

TEST_CASE("like: the file gives the model back, and what it draws", "[like]") {
  for (const LikeModel& model : {UsersLike(), FitLike(DrawnLike(UsersLike(), 3000)), ReadLike("")}) {
    const std::string text = LikeToml(model, "# a comment\n");
    const LikeModel read = ParseLike(text, "model.toml");
    CHECK(LikeToml(read, "# a comment\n") == text);
    CHECK(DrawnLike(read, 300).Hash() == DrawnLike(model, 300).Hash());
  }
  // What may be left out: everything but the version and a class.
  const LikeModel least = ParseLike("version = 1\n[[class]]\nrun_s = [60]\n", "m");
  CHECK(least.classes[0].gpus == 1);
  CHECK(DrawnLike(least, 2).data().jobs.total_steps == std::vector<double>{60, 60});
  // A user's name may have anything in it.
  LikeModel named = UsersLike();
  named.users[0].name = "a \"b\" \\c";
  CHECK(ParseLike(LikeToml(named, ""), "m").users[0].name == named.users[0].name);
}

TEST_CASE("like: a file that is edited wrongly names its line", "[like]") {
  const std::string head = "version = 1\n", one = "[[class]]\nrun_s = [60]\n";
  const std::string zeros = "hours = [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]\n";
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"version = 2\n" + one, "m.toml:1: version: expected 1, found 2"},
           {one, "version: expected 1, found none"},
           {head + "[[class]\n", "m.toml:2: "},
           {head, "m.toml: expected a [[class]] of more than 0 jobs, found none"},
           {head + "clas = 1\n" + one, "m.toml:2: unknown key 'clas' (did you mean 'class'?)"},
           {head + "arrivals = 3\n" + one, "m.toml:2: arrivals: expected [arrivals] and keys below it"},
           {head + "class = 3\n", "m.toml:2: class: expected [[class]] and keys below it"},
           {head + "[arrivals]\nper_hour = -1\n" + one, "m.toml:3: per_hour: expected a number from 0 to 1000000000, found -1"},
           {head + "[arrivals]\nper_hour = 'x'\n" + one, "m.toml:3: per_hour: expected a number from 0"},
           {head + "[arrivals]\nhours = [1, 2]\n" + one, "m.toml:3: hours: expected a list of 24 numbers, found 2"},
           {head + "[arrivals]\n" + zeros + one, "m.toml:3: hours: expected a number above 0 among them, found none"},
           {head + "[arrivals]\ndays = 1\n" + one, "m.toml:3: days: expected a list of 7 numbers, found 1"},
           {head + "[arrivals]\ngaps = [2, 1]\n" + one, "m.toml:3: gaps: expected numbers that do not fall, found 1 after 2"},
           {head + "[arrivals]\ngaps = [0, 0]\n" + one, "m.toml:3: gaps: expected a number above 0 at its end, found 0"},
           {head + "[arrivals]\nagain = 1\n" + one, "m.toml:3: again: expected a number from 0 to 0.999, found 1"},
           {head + "[arrivals]\nrecency = -1\n" + one, "m.toml:3: recency: expected a number from 0 to 100, found -1"},
           {head + "[repeats]\nsame = 2\n" + one, "m.toml:3: same: expected a number from 0 to 0.999, found 2"},
           {head + "[repeats]\nsome = 0\n" + one, "m.toml:3: unknown key 'some' (did you mean 'same'?)"},
           {head + "[[user]]\nshared = 1\n" + one, "m.toml:2: name: expected a text in quotes, found none"},
           {head + "[[user]]\nname = 'a'\nshared = 1\n[[user]]\nname = 'a'\n" + one, "m.toml:6: name: expected each user once, found 'a' twice"},
           {head + "[[user]]\nname = 'a'\n" + one, "m.toml: expected a [[user]] of more than 0 jobs, found none"},
           {head + "[[user]]\nname = 'vision'\nshared = 1\n[[class]]\nuser = 'vison'\nrun_s = [1]\n",
            "m.toml:6: user: expected the name of a [[user]], found 'vison' (did you mean 'vision'?)"},
           {head + "[[user]]\nname = 'a'\nshared = 1\n[[class]]\nuser = 'a'\nrun_s = [1]\n",
            "m.toml: user 'a': expected shared = 0 where every [[class]] names a user, found 1"},
           {head + "[[class]]\ngpus = 0\nrun_s = [60]\n", "m.toml:3: gpus: expected a whole number from 1"},
           {head + "[[class]]\ngpus = 1.5\nrun_s = [60]\n", "m.toml:3: gpus: expected a whole number from 1"},
           {head + "[[class]]\ngpu_milli = 1001\nrun_s = [60]\n", "m.toml:3: gpu_milli: expected a whole number from 1 to 1000"},
           {head + "[[class]]\njobs = -3\nrun_s = [60]\n", "m.toml:3: jobs: expected a number from 0"},
           {head + "[[class]]\njob_type = 3\nrun_s = [60]\n", "m.toml:3: job_type: expected a text in quotes, found 3"},
           {head + "[[class]]\njobs = 3\n", "m.toml:2: run_s: expected a list of numbers, found none"},
           {head + "[[class]]\nrun_s = []\n", "m.toml:3: run_s: expected a list of 1 to 65 numbers, found 0"},
           {head + "[[class]]\nrun_s = [1,\n'b']\n", "m.toml:4: run_s: expected numbers from 0 to 100000000000000, found 'b'"},
           {head + "[[class]]\nrun_s = [nan]\n", "m.toml:3: run_s: expected numbers from 0"},
           {head + "[[class]]\nlimit_s = [60]\n", "m.toml:2: limit_used: expected a list of numbers, found none"},
           {head + "[[class]]\nlimit_used = [1]\n", "m.toml:2: limit_s: expected a list of numbers, found none"},
           {head + "[[class]]\nlimit_s = [0, 60]\nlimit_used = [1]\n", "m.toml:3: limit_s: expected numbers above 0, found 0"},
           {head + "[[class]]\nlimit_s = [60]\nlimit_used = [1]\nrun_s = [1]\n", "m.toml:5: run_s: expected none beside limit_s"},
           {head + one + "[[speed]]\ngpus = 1\n", "m.toml:4: steps_per_s: expected {TYPE = NUMBER, ...}, found none"},
           {head + one + "[[speed]]\nsteps_per_s = {v100 = -1}\n", "m.toml:5: v100: expected a number from 0"},
           {head + one + "[[speed]]\nsteps_per_s = {v100 = 0}\n", "m.toml:5: steps_per_s: expected a number above 0, found none"},
           {head + one + "[[speed]]\ngpus = 2\nsteps_per_s = {v100 = 1}\n", "m.toml: expected a [[speed]] of every [[class]], found none of job_type '' on 1 GPU"},
           {head + one + "[[speed]]\nsteps_per_s = {v100 = 1}\n[[speed]]\nsteps_per_s = {v100 = 1}\n", "m.toml: expected each [[speed]] once"}}) {
    CAPTURE(text);
    CHECK_THROWS_WITH(ParseLike(text, "m.toml"), Catch::Contains(expected));
  }
}

// Scores of 1, 1, 2: the equal ones have the two lowest ranks in some order.
TEST_CASE("like: memory by hand", "[like]") {
  const std::vector<double> scores = LikeScores({1.0, 1.0, 2.0});
  CHECK(scores[2] == Approx(NormalScore(5.0 / 6.0)));
  CHECK(scores[0] + scores[1] == Approx(NormalScore(1.0 / 6.0)).margin(1e-9));
  CHECK(scores[0] != scores[1]);
  // Keys that never come in a row, and keys that always do.
  std::vector<int> apart, together;
  std::vector<double> none;
  Stream stream(1, Purpose::kTest);
  for (int i = 0; i < 600; ++i) apart.push_back(i % 2), together.push_back(i / 300), none.push_back(stream.Normal());
  const std::vector<double> half(600, 0.5);
  CHECK(FitJobMemory(together, half, none).again > 0.9);
  std::vector<int> random;
  for (int i = 0; i < 600; ++i) random.push_back(static_cast<int>(stream.Below(2)));
  CHECK(FitJobMemory(random, half, none).again == 0.0);
  // A history of always the last: once one is drawn it stays.
  LikeHistory history({0.999, 100.0, 0.0});
  LikeKind kind = history.Next(stream);
  CHECK(kind.user == -1);
  kind.user = 3;
  history.Add(kind);
  int same = 0;
  for (int i = 0; i < 1000; ++i) same += history.Next(stream).user == 3 ? 1 : 0;
  CHECK(same > 980);  // 999 expected, standard deviation 1
}

}  // namespace berth

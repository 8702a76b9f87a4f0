// Policies with reservations against the rules that they are with known weights, and `berth evolve`.
#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include "data/sequence.hpp"
#include "data/workloads.hpp"
#include "env/features/table.hpp"
#include "env/sim/metrics.hpp"
#include "policies/inference.hpp"
#include "policies/schedulers.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny.hpp"
#include "tools/evolve/evolution.hpp"
#include "tools/evolve/examples.hpp"

namespace berth {
namespace {

// Areas (request x gang) that differ by at least 0.2%, far beyond float32's rounding, so that no tie decides;
// no job is below 10 s.
Scenario Areas(std::uint64_t seed, int jobs, Clock clock) {
  Stream stream(seed, Purpose::kTest);
  std::vector<test::TinyJob> list;
  double now = 0.0;
  const int shift = static_cast<int>(stream.Below(900));
  for (int i = 0; i < jobs; ++i) {
    now += stream.Below(3) == 0 ? 0.0 : static_cast<double>(stream.Below(40));
    const int gang = 1 << static_cast<int>(stream.Below(3));
    const double area = 40.0 * std::pow(1.002, (i * 617 + shift) % 900);
    list.push_back({now, area / gang, 0, gang});
  }
  return test::Tiny({{"a", 7}}, {{1.0}}, list, clock);
}

MdpSpec Process(Semantics semantics) {
  MdpSpec mdp;
  mdp.encoder = "Batch";
  mdp.semantics = semantics;
  mdp.preemptive = false;
  mdp.work_conserving = semantics == Semantics::kRedecide;
  mdp.visible = 16;
  return mdp;
}

// ln(request x gang) of a cluster of 7: request is ln(r / 10) / 5, gang is ln(n) / ln(7).
constexpr const char* kArea = "request=5,gang=1.9459101490553132";

PolicyBundle AsSaf(const MdpSpec& mdp, Reserve reserve, int hinges = 0) {
  const HingeScorer scorer(mdp, reserve, hinges, {"a"});
  Stream stream(1, Purpose::kTest);
  return scorer.Bundle(scorer.Start(kArea, stream));
}

std::uint64_t SignatureOf(const PolicyBundle& bundle, const Scenario& scenario) {
  return Run(scenario, *MakePolicyScheduler(bundle, "test", false), "policy", {}).signature;
}

Evolution Small(const Scenario& log) {
  Evolution evolution;
  evolution.mdp = Process(Semantics::kRedecide);
  evolution.reserve = Reserve::kEasy;
  evolution.hinges = 1;
  evolution.start = "gang=1";
  evolution.reference = "saf(backfill=easy)";
  evolution.log = &log;
  evolution.window = {0, 150};
  evolution.jobs = 60;
  evolution.pieces = 3;
  evolution.low = {0.5, 0.5, 0.5};
  evolution.high = {1.5, 2.0, 2.0};
  evolution.penalty = 1.0;
  evolution.generations = 4;
  evolution.seed = 3;
  return evolution;
}

}  // namespace

TEST_CASE("a policy with the weights of SAF and reservations is SAF with them, event by event") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    const Scenario scenario = Areas(seed, 120, {ClockKind::kEvent});
    const auto rule = [&](const char* spec) { return test::RunOf(spec, scenario).signature; };
    const MdpSpec mdp = Process(Semantics::kRedecide);
    const std::uint64_t head = rule("saf"), easy = rule("saf(backfill=easy)");
    CHECK(head != easy);
    CHECK(SignatureOf(AsSaf(mdp, Reserve::kHead), scenario) == head);
    CHECK(SignatureOf(AsSaf(mdp, Reserve::kEasy), scenario) == easy);
    CHECK(SignatureOf(AsSaf(mdp, Reserve::kEasy, /*hinges=*/2), scenario) == easy);  // v = 0: no matter
    CHECK(SignatureOf(AsSaf(mdp, Reserve::kNone), scenario) == rule("saf(overtake=true)"));
  }
}

TEST_CASE("a policy with the weights of SAF is SAF under commit, with and without backfilling") {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Scenario scenario = Areas(seed, 120, {ClockKind::kHpc});
    for (const bool backfill : {false, true}) {
      CAPTURE(seed, backfill);
      MdpSpec mdp = Process(Semantics::kCommit);
      mdp.commit_backfill = backfill;
      const char* spec = backfill ? "saf(semantics=commit,backfill=easy)" : "saf(semantics=commit)";
      CHECK(SignatureOf(AsSaf(mdp, Reserve::kNone), scenario) == test::RunOf(spec, scenario).signature);
    }
  }
}

TEST_CASE("a bundle keeps its reservations, and only a process that can have them takes them") {
  const Scenario scenario = Areas(2, 120, {ClockKind::kEvent});
  for (const Reserve reserve : {Reserve::kNone, Reserve::kHead, Reserve::kEasy}) {
    PolicyBundle bundle = AsSaf(Process(Semantics::kRedecide), reserve);
    AddExamples(scenario, bundle);
    CHECK(bundle.examples.count == 15);  // 120 starts, every eighth
    const test::TemporaryFolder folder;
    SaveBundle(bundle, folder / "p.h5");
    const PolicyBundle loaded = LoadBundle(folder / "p.h5");
    CHECK(loaded.reserve == reserve);
    CHECK(SignatureOf(loaded, scenario) == SignatureOf(bundle, scenario));
  }
  CHECK_THROWS_WITH(MakePolicyScheduler(AsSaf(Process(Semantics::kCommit), Reserve::kHead), "p.h5", false),
                    Catch::Contains("p.h5: reserve") && Catch::Contains("redecide"));
  CHECK_THROWS_WITH(ParseReserve("easi"), Catch::Contains("did you mean 'easy'"));
}

TEST_CASE("a hinge adds v relu(b x + c) to a linear score") {
  // One channel of each kind has a weight: score = -(2 request) + 3 relu(0.5 gang - 0.1).
  const HingeScorer scorer(Process(Semantics::kCommit), Reserve::kNone, 1, {"a"});
  std::vector<double> numbers(static_cast<std::size_t>(scorer.size()), 0.0);
  const auto n = static_cast<std::size_t>(scorer.inputs());
  CHECK(n == 9);
  numbers[0] = 2.0;
  numbers[n + 1] = 0.5;
  numbers[n + n] = -0.1;
  numbers[n + n + 1] = 3.0;
  const PolicyBundle bundle = scorer.Bundle(numbers);
  const auto network = Freeze(bundle);
  const ObservationLayout layout = EncoderOf("Batch").Layout(2, 1);
  std::vector<float> observation(static_cast<std::size_t>(layout.size()), 0.0F), scores(2);
  for (int row = 0; row < 2; ++row) {
    float* f = observation.data() + row * layout.job_channels;
    f[0] = 1.0F, f[1] = 0.25F, f[2] = row == 0 ? 0.1F : 0.8F;
  }
  network->Evaluate(observation, layout, scores);
  CHECK(scores[0] == Approx(-0.5));              // 0.05 - 0.1 < 0
  CHECK(scores[1] == Approx(-0.5 + 3.0 * 0.3));  // 0.4 - 0.1
}

TEST_CASE("evolve: the same policy on any number of threads, and a better one than the start") {
  const Scenario log = Areas(5, 200, {ClockKind::kEvent});
  Evolution evolution = Small(log);
  const PolicyBundle one = Evolve(evolution).bundle;
  evolution.threads = 3;
  const PolicyBundle three = Evolve(evolution).bundle;
  for (std::size_t i = 0; i < one.arrays.size(); ++i) CHECK(one.arrays[i].values == three.arrays[i].values);
  CHECK(ReplayExamples(one) == 0.0);
  // From largest gangs last alone it finds that requests matter, on jobs that no generation saw.
  evolution.threads = 1;
  evolution.penalty = 0.0;
  evolution.generations = 15;
  const auto slowdown = [&](const PolicyBundle& bundle) {
    double sum = 0.0;
    for (int begin : {150, 160, 170}) {
      sum += Run(Piece(log, begin, 30, {2.0, 1.0, 1.0}), *MakePolicyScheduler(bundle, "t", false), "t", {})
                 .metrics.hpc_bounded_slowdown;
    }
    return sum;
  };
  const PolicyBundle found = Evolve(evolution).bundle;
  evolution.generations = 0;
  CHECK(slowdown(found) < slowdown(Evolve(evolution).bundle));
}

TEST_CASE("evolve: the start is the answer where the search ends behind it") {
  // From smallest area first, with steps so large and two generations of two candidates so few that the end
  // is anywhere: mostly behind.
  const Scenario log = Areas(7, 200, {ClockKind::kEvent});
  Evolution evolution = Small(log);
  evolution.start = kArea;
  evolution.penalty = 0.0;
  evolution.hinges = 0;
  evolution.population = 2;
  evolution.step = 30.0;
  evolution.jobs = 50;
  evolution.choose_window = {150, 200};
  const auto same = [](const PolicyBundle& a, const PolicyBundle& b) {
    for (std::size_t i = 0; i < a.arrays.size(); ++i) {
      if (a.arrays[i].values != b.arrays[i].values) return false;
    }
    return true;
  };
  const auto search = [&](int generations, int choose) {
    evolution.generations = generations;
    evolution.choose = choose;
    return Evolve(evolution);
  };
  int starts = 0;
  for (evolution.seed = 1; evolution.seed <= 6; ++evolution.seed) {
    CAPTURE(evolution.seed);
    const Evolved end = search(2, 0), chosen = search(2, 8);
    CHECK(end.chosen == 2);
    CHECK(same(chosen.bundle, search(chosen.chosen, 0).bundle));
    CHECK(same(chosen.bundle, end.bundle) == (chosen.chosen == 2));
    if (chosen.chosen == 0) ++starts;
  }
  CHECK(starts >= 3);
  // The end is the answer where the start is the worst there is.
  evolution.start = "request=-5,gang=-1.9459101490553132";
  evolution.population = 0;
  evolution.step = 1.0;
  CHECK(search(8, 8).chosen > 0);
  evolution.choose_window = {160, 200};
  CHECK_THROWS_WITH(search(1, 8), Catch::Contains("expected at least 50 jobs to choose on, found 40"));
}

TEST_CASE("evolve: interrupted within a run, it answers with what it had") {
  // GPUs fail every 7 s: hardly any job gets through, and no run ends.
  ScenarioData data = Areas(7, 200, {ClockKind::kEvent}).data();
  data.features = ParseFeatures("failures(mtbf_h=0.002,repair_h=0.002)");
  const Scenario log(std::move(data));
  Evolution evolution = Small(log);
  evolution.generations = 2;
  std::atomic<bool> stop{false};
  evolution.interrupted = &stop;
  std::thread timer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stop = true;
  });
  const Evolved found = Evolve(evolution);
  timer.join();
  CHECK(found.generations == 0);
  CHECK(found.chosen == 0);
  CHECK(found.choices.empty());
}

TEST_CASE("evolve: a piece of a log is that sequence, scaled") {
  // Gangs are 1, 2 or 4, and so is the table: twice as large they are 2, 4 and 4, half as large 1, 1, 2;
  // thrice as large 3, 6 and 12, of which the table has 2, 4 and 4. Times between arrivals grow by run x gang
  // / load.
  const Scenario log = Areas(6, 50, {ClockKind::kHpc});
  const Scenario sequence = Sequence(log, 10, 20, log.data().clock);
  const auto check = [&](const Scales& scales, int one, int two, int four, double stretch) {
    const Scenario piece = Piece(log, 10, 20, scales);
    REQUIRE(piece.num_jobs() == 20);
    const JobTable &is = piece.data().jobs, &was = sequence.data().jobs;
    for (std::size_t i = 0; i < 20; ++i) {
      CHECK(is.arrival[i] ==
            Approx(was.arrival[0] + stretch * (was.arrival[i] - was.arrival[0])).epsilon(1e-12));
      CHECK(is.total_steps[i] == Approx(was.total_steps[i] * scales.run).epsilon(1e-12));
      CHECK(is.gang[i] == (was.gang[i] == 1 ? one : was.gang[i] == 2 ? two : four));
    }
  };
  check({1.0, 1.0, 1.0}, 1, 2, 4, 1.0);
  check({0.5, 3.0, 2.0}, 2, 4, 4, 12.0);
  check({2.0, 0.25, 0.5}, 1, 1, 2, 0.0625);
  check({1.0, 1.0, 3.0}, 2, 4, 4, 3.0);
}

TEST_CASE("evolve says which channel it does not know") {
  const HingeScorer scorer(Process(Semantics::kCommit), Reserve::kNone, 0, {"a"});
  Stream stream(1, Purpose::kTest);
  CHECK_THROWS_WITH(scorer.Start("reqest=1", stream), Catch::Contains("did you mean 'request'"));
}

}  // namespace berth

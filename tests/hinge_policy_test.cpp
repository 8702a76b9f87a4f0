// Policies with reservations against the rules that they are with known weights, and `berth tune --hinges`.
#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <set>
#include <thread>

#include "data/sequence.hpp"
#include "data/workloads.hpp"
#include "env/features/table.hpp"
#include "env/sim/metrics.hpp"
#include "policies/inference.hpp"
#include "policies/schedulers.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/search_support.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/tiny.hpp"
#include "tools/tune/batch_trials.hpp"
#include "tools/tune/hinge_scorer.hpp"

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

struct Small {
  TrialSettings on;
  BatchTerms terms{{0.5, 0.5, 0.5}, {1.5, 2.0, 2.0}, /*penalty=*/1.0, /*margin=*/1.0};
  std::string start = "gang=1";
  int hinges = 1, population = 0;
  double step = 0.3;

  explicit Small(const Scenario& log) {
    on.reference = "saf(backfill=easy)";
    on.source = FixedSource(log, "a log");
    on.pieces = {0, 150};
    on.jobs = 60;
    on.workloads = 3;
    on.seed = 3;
  }
  HingeScorer Scorer() const { return {Process(Semantics::kRedecide), Reserve::kEasy, hinges, {"a"}}; }
  search::Found Search(int generations) const {  // 0: the start
    const BatchTrials trials(on, terms);
    const HingePolicy policy(Scorer(), start, on.seed, Piece(trials.log(), 0, on.jobs, {}));
    if (generations == 0) return {.point = policy.Space().start, .choices = {}, .told = {}};
    return test::SearchByCmaEs(policy, trials, generations, step, population);
  }
};

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

TEST_CASE("tune --hinges: the same policy on any number of threads, and a better one than the start") {
  const Scenario log = Areas(5, 200, {ClockKind::kEvent});
  Small search(log);
  const search::Found one = search.Search(4);
  search.on.threads = 3;
  CHECK(one.point == search.Search(4).point);
  // From largest gangs last alone it finds that requests matter, on jobs that no generation saw.
  search.on.threads = 1;
  search.terms.penalty = 0.0;
  const auto slowdown = [&](const std::vector<double>& point) {
    const PolicyBundle bundle = search.Scorer().Bundle(point);
    double sum = 0.0;
    for (int begin : {150, 160, 170}) {
      sum += Run(Piece(log, begin, 30, {2.0, 1.0, 1.0}), *MakePolicyScheduler(bundle, "t", false), "t", {})
                 .metrics.hpc_bounded_slowdown;
    }
    return sum;
  };
  CHECK(slowdown(search.Search(15).point) < slowdown(search.Search(0).point));
}

TEST_CASE("tune --hinges: the start is the answer where the search ends behind it") {
  // From smallest area first, with steps so large and two generations of four candidates so few that the end
  // is anywhere: mostly behind.
  Small search(Areas(7, 200, {ClockKind::kEvent}));
  search.start = kArea;
  search.terms.penalty = 0.0;
  search.hinges = 0;
  search.population = 4;
  search.step = 30.0;
  search.on.jobs = 50;
  search.on.held_out = Window{150, 200};
  const auto found = [&](int generations, int choices) {
    search.on.choices = choices;
    return search.Search(generations);
  };
  int starts = 0;
  for (search.on.seed = 1; search.on.seed <= 6; ++search.on.seed) {
    CAPTURE(search.on.seed);
    const search::Found end = found(2, 0), chosen = found(2, 8);
    CHECK(end.chosen == 2);
    CHECK(chosen.point == found(chosen.chosen, 0).point);
    CHECK((chosen.point == end.point) == (chosen.chosen == 2));
    if (chosen.chosen == 0) ++starts;
  }
  CHECK(starts >= 3);
  // The end is the answer where the start is the worst there is.
  search.start = "request=-5,gang=-1.9459101490553132";
  search.population = 0;
  search.step = 1.0;
  CHECK(found(8, 8).chosen > 0);
  search.on.held_out = Window{160, 200};
  CHECK_THROWS_WITH(found(1, 8), Catch::Contains("expected at least 50 jobs to choose on, found 40"));
}

TEST_CASE("tune --hinges: interrupted within a run, it answers with what it had") {
  // GPUs fail every 7 s: hardly any job gets through, and no run ends.
  ScenarioData data = Areas(7, 200, {ClockKind::kEvent}).data();
  data.features = ParseFeatures("failures(mtbf_h=0.002,repair_h=0.002)");
  Small search(Scenario(std::move(data)));
  std::atomic<bool> stop{false};
  search.on.interrupted = &stop;
  std::thread timer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stop = true;
  });
  const search::Found found = search.Search(2);
  timer.join();
  CHECK(found.generations == 0);
  CHECK(found.chosen == 0);
  CHECK(found.choices.empty());
}

TEST_CASE("tune --hinges: a piece of a log is that sequence, scaled") {
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

TEST_CASE("tune --hinges: what is chosen on has no piece of a log twice, unless it is scaled by chance") {
  Small small(Areas(1, 62, {ClockKind::kEvent}));
  small.on.pieces = {0, 62};  // of 60 jobs: three
  const auto unlike = [&](int generation) {
    std::set<std::uint64_t> hashes;
    for (const Scenario& piece : BatchTrials(small.on, small.terms).Draw(generation, 8)) hashes.insert(piece.Hash());
    return hashes.size();
  };
  CHECK(unlike(search::kChoice) == 8);
  small.terms.low = small.terms.high = Scales{};
  CHECK(unlike(search::kChoice) == 3);
  CHECK(BatchTrials(small.on, small.terms).Draw(search::kChoice, 8).size() == 3);
  CHECK(BatchTrials(small.on, small.terms).Draw(0, 8).size() == 8);
}

TEST_CASE("tune --hinges says which channel it does not know") {
  const HingeScorer scorer(Process(Semantics::kCommit), Reserve::kNone, 0, {"a"});
  Stream stream(1, Purpose::kTest);
  CHECK_THROWS_WITH(scorer.Start("reqest=1", stream), Catch::Contains("did you mean 'request'"));
}

// Trained on a log by the command line: the answer is a policy file that replays, and an interrupted search
// that goes on writes the same bytes of weights.
TEST_CASE("tune --hinges --resume: by the command line; and evolve names the line to type") {
  const test::TemporaryFolder folder;
  WriteScenario(Areas(5, 200, {ClockKind::kEvent}), folder / "log.h5");
  const std::string search =
      "tune --hinges 1 --scenario log.h5 --reserve easy --pieces 0:150 "
      "--held-out 150:200 --jobs 40 --workloads 2 --seconds 0 --threads 1 --seed 2 ";
  const auto whole = test::Berth(folder, search + "--generations 3 --curve c.csv --out a.h5");
  CAPTURE(whole.out, whole.error);
  REQUIRE(whole.code == 0);
  CHECK_THAT(whole.out, Catch::Contains("reference") && Catch::Contains("bounded slowdown"));
  REQUIRE(test::Berth(folder, search + "--generations 2 --state s.h5 --out b.h5").code == 0);
  REQUIRE(test::Berth(folder, "tune --resume --state s.h5 --generations 3 --out b.h5").code == 0);
  const PolicyBundle one = LoadBundle(folder / "a.h5"), two = LoadBundle(folder / "b.h5");
  for (std::size_t i = 0; i < one.arrays.size(); ++i) CHECK(one.arrays[i].values == two.arrays[i].values);
  CHECK_THAT(one.provenance.agent, Catch::Contains("cma_es(generations=3"));
  // Its resolved configuration is one that --config reads.
  std::ofstream(folder / "c.ini") << one.provenance.config;
  CHECK(test::Berth(folder, "tune --config c.ini --out d.h5 --dry-run").code == 0);
  const auto other = test::Berth(folder, "tune --resume --state s.h5 --seed 3 --generations 3");
  CHECK(other.code == 2);
  CHECK_THAT(other.error, Catch::Contains("--seed") && Catch::Contains("s.h5"));
  const auto evolve = test::Berth(
      folder,
      "evolve --scenario log.h5 --jobs 0:150 --piece 40 --pieces=2 --set validate=150:200 --out e.h5");
  CHECK(evolve.code == 2);
  CHECK_THAT(evolve.error,
             Catch::Contains("tune --scenario log.h5 --pieces 0:150 --jobs 40 --workloads=2 --set "
                             "held-out=150:200 --out e.h5 --hinges 0 --generations 60 --seconds 0\n"));
  CHECK(test::Berth(folder, "tune --hinges 1 --scenario log.h5 --out e.h5 --window 0:9").code == 2);
  CHECK(test::Berth(folder, "tune --penalty 1 --out e.h5").code == 2);
  const auto commands = test::Berth(folder, search + "--actions start,wait --generations 1 --out e.h5");
  CHECK(commands.code == 2);
  CHECK_THAT(commands.error, Catch::Contains("--actions: expected start") && Catch::Contains("found start,wait"));
}

}  // namespace berth

// berth reproduce learned --only seeds,ablations: verdicts on made-up figures worked by hand, what is
// planned, what counts as kept, and a training that is interrupted and goes on.
#include <signal.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "policies/bundle.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/child.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/reproduce/learned/gradient/gradient_shelf.hpp"
#include "tools/reproduce/learned/gradient/seed_figures.hpp"
#include "tools/reproduce/learned/gradient/training_sets.hpp"

namespace berth {
namespace {

namespace fs = std::filesystem;
using test::Outcome;
using test::Slurp;
using test::TemporaryFolder;

const SeedTarget kTarget = {"row", "asked"};

SeedFigures Figures(double worst, std::size_t seeds = kSeedsAsked) {
  SeedFigures figures;
  for (std::size_t i = 0; i < seeds; ++i) figures.seeds.push_back(static_cast<int>(i) + 1);
  figures.ratios.assign(seeds, 0.90);
  figures.ratios.back() = worst;
  figures.mean = {0.91, 0.90, 0.92};
  return figures;
}

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

GradientChoice Choice(const std::string& out, std::int64_t steps_up_to) {
  GradientChoice choice;
  choice.out = out, choice.begin = 1, choice.end = 3, choice.steps_up_to = steps_up_to;
  return choice;
}

// Of one set, one seed, trained here.
void Put(const GradientShelf& shelf, const Training& training, const std::string& key,
         const std::string& source) {
  fs::create_directories(fs::path(shelf.PolicyFile(training)).parent_path());
  std::ofstream(shelf.PolicyFile(training)) << "a policy";
  WriteRecord(shelf.RecordFile(training), {key, source, 2.5});
}

}  // namespace

TEST_CASE("gradient: every seed counts beside its own mean, on the baseline's workloads") {
  // Means over both workloads: 90 and 110 of 100.
  const Grid baseline = {{80, 120}};
  const std::vector<Grid> policies = {{{70, 110}}, {{100, 120}}};
  const std::vector<Grid> drawn = {{{77, 121}}, {{100, 120}}};  // 1.1 times the first, the second itself
  const auto figures = FiguresOf({3, 5}, policies, drawn, baseline);
  REQUIRE(figures);
  CHECK(figures->seeds == std::vector<int>{3, 5});
  CHECK(figures->ratios[0] == Approx(0.9).epsilon(1e-12));
  CHECK(figures->ratios[1] == Approx(1.1).epsilon(1e-12));
  CHECK(figures->mean.mean == Approx(1.0).epsilon(1e-12));
  CHECK(figures->Worst() == Approx(1.1).epsilon(1e-12));
  CHECK(figures->Each() == "0.900 1.100");
  REQUIRE(figures->sampled.size() == 2);
  CHECK(figures->sampled[0] == Approx(1.1).epsilon(1e-12));
  CHECK(figures->SampledText() == "1.050, 1.100");
  CHECK_FALSE(FiguresOf({}, {}, {}, baseline));
  // One workload is no mean with an interval; a policy that left jobs undone has no value there.
  CHECK_FALSE(FiguresOf({3}, std::vector<Grid>{{{70, std::nan("")}}}, {}, baseline));
  // Drawing that was measured of one seed alone is not measured.
  CHECK(FiguresOf({3, 5}, policies, std::vector<Grid>{drawn[0]}, baseline)->sampled.empty());
}

TEST_CASE("gradient: the worst seed decides, and all must be there for a target to be met") {
  CHECK(EverySeed(kTarget, Figures(0.94), 0.94).verdict == Verdict::kMet);
  const Target missed = EverySeed(kTarget, Figures(0.9401), 0.94);
  CHECK(missed.verdict == Verdict::kNotMet);
  CHECK(missed.measured == "worst 0.940 (seed 16) = 0.94010, mean 0.910 [0.900, 0.920]");
  const Target few = EverySeed(kTarget, Figures(0.94, 15), 0.94);
  CHECK(few.verdict == Verdict::kNotMeasured);
  CHECK(Has(few.measured, "15 of 16 seeds"));
  CHECK(EverySeed(kTarget, Figures(0.95, 2), 0.94).verdict ==
        Verdict::kNotMet);  // one seed is enough to miss
  CHECK(EverySeed({"row", "asked", false}, Figures(0.95), 0.94).verdict == Verdict::kNotMeasured);
}

TEST_CASE("gradient: means, the spread of seeds, and drawing beside greedy") {
  CHECK(MeanOfSeeds(kTarget, Figures(0.9), 0.91).verdict == Verdict::kMet);
  CHECK(MeanOfSeeds(kTarget, Figures(0.9), 0.909).verdict == Verdict::kNotMet);
  CHECK(MeanOfSeeds(kTarget, Figures(0.9, 4), 0.909).verdict ==
        Verdict::kNotMeasured);                                                    // others may mend a mean
  CHECK(SpreadOfSeeds(kTarget, Figures(0.918), 1.0201).verdict == Verdict::kMet);  // 0.918 / 0.90 = 1.02
  CHECK(SpreadOfSeeds(kTarget, Figures(0.919), 1.0201).verdict == Verdict::kNotMet);
  SeedFigures figures = Figures(0.9);
  CHECK(SampledOfSeeds(kTarget, figures, 0.05).verdict == Verdict::kNotMeasured);
  figures.sampled.assign(kSeedsAsked, 1.04);
  CHECK(SampledOfSeeds(kTarget, figures, 0.05).verdict == Verdict::kMet);
  figures.sampled[3] = 0.94;  // better by 6% is as far from greedy
  CHECK(SampledOfSeeds(kTarget, figures, 0.05).verdict == Verdict::kNotMet);
  CHECK(RatioOfSeeds(kTarget, 16, {0.97, 0.95, 0.99}, 1.0, /*surely=*/true).verdict == Verdict::kMet);
  CHECK(RatioOfSeeds(kTarget, 16, {0.97, 0.95, 1.01}, 1.0, /*surely=*/true).verdict == Verdict::kNotMet);
}

TEST_CASE("gradient: more steps are worse when they are 1% above the least before them, not the last") {
  const auto at = [](double mean) {
    SeedFigures figures = Figures(0.9);
    figures.mean = {mean, mean, mean};
    return std::optional(figures);
  };
  CHECK(NeverWorse(kTarget, {{1'000'000, at(0.90)}, {2'000'000, at(0.908)}}, 0.01).verdict == Verdict::kMet);
  // 0.914 is within 1% of 0.908 and 1.6% above 0.90.
  const Target drifts =
      NeverWorse(kTarget, {{1'000'000, at(0.90)}, {2'000'000, at(0.908)}, {5'000'000, at(0.914)}}, 0.01);
  CHECK(drifts.verdict == Verdict::kNotMet);
  CHECK(drifts.measured == "1M 0.900, 2M 0.908, 5M 0.914");
  const Target part = NeverWorse(kTarget, {{500'000, at(0.90)}, {20'000'000, std::nullopt}}, 0.01);
  CHECK(part.verdict == Verdict::kNotMeasured);
  CHECK(part.measured == "500k 0.900; not trained: 20M");
  CHECK(NeverWorse(kTarget, {{500'000, at(0.90)}, {1'000'000, at(0.95)}, {20'000'000, std::nullopt}}, 0.01)
            .verdict == Verdict::kNotMet);
  CHECK(NeverWorse(kTarget, {{500'000, std::nullopt}}, 0.01).verdict == Verdict::kNotMeasured);
}

TEST_CASE("gradient: what is trained: every seed of every set up to the steps, short ones first") {
  std::set<std::string> names;
  for (const TrainingSet& set : TrainingSets()) CHECK(names.insert(set.name).second);
  const GradientChoice choice = Choice("o", 2'000'000);
  std::set<std::string> planned;
  double before = 0.0;
  for (const Training& training : TrainingsOf(choice, "seeds")) {
    CHECK(planned.insert(training.Name()).second);
    CHECK(training.Seconds() >= before);
    before = training.Seconds();
  }
  CHECK(planned.count("gangs_1000000_1") == 1);
  CHECK(planned.count("gangs_1000000_2") == 1);
  CHECK(planned.count("gangs_1000000_3") == 0);
  CHECK(planned.count("gangs_5000000_1") == 0);
  CHECK(TrainingsOf(Choice("o", 0), "seeds").empty());
  GradientChoice quick = choice;
  quick.quick = true;
  CHECK(TrainingsOf(quick, SetNamed("gangs"), 1'000'000)[0].Name() == "gangs_20000_1");
  const std::string key = TrainingsOf(choice, SetNamed("blind"), 2'000'000)[1].Key();
  CHECK(key ==
        "berth train --recipe many_clusters --knowledge blind --steps 2000000 --seed 2 --validate 0 "
        "--threads 1");
}

TEST_CASE("gradient: a policy is kept by its options and by the source that trained it") {
  const TemporaryFolder folder;
  const GradientChoice choice = Choice(folder.path(), 1'000'000);
  const GradientShelf shelf(choice);
  const TrainingSet& set = SetNamed("gangs");
  const std::vector<Training> both = TrainingsOf(choice, set, 1'000'000);
  CHECK(shelf.Missing(set, 1'000'000) == "not trained");
  CHECK(shelf.Missing(set, 20'000'000) == "not trained; `--steps-up-to 20000000` does");
  Put(shelf, both[0], both[0].Key(), LearnerSource());
  CHECK(shelf.Missing(set, 1'000'000) == "not trained: seeds 2");
  Put(shelf, both[1], both[1].Key() + " --envs 16", LearnerSource());  // another recipe's
  CHECK(shelf.Find(set, 1'000'000).size() == 1);
  Put(shelf, both[1], both[1].Key(), "another build");
  CHECK(shelf.Find(set, 1'000'000).size() == 1);
  GradientChoice any = choice;
  any.any_source = true;
  CHECK(GradientShelf(any).Find(set, 1'000'000).size() == 2);
  CHECK(Has(GradientShelf(any).SourcesText("seeds"), "another build"));
  CHECK(Has(GradientShelf(any).SourcesText("seeds"), LearnerSource()));
  CHECK(shelf.SourcesText("seeds") == " Trained by " + LearnerSource() + ".");
  CHECK(GradientShelf(any).SourcesText("ablations").empty());
  CHECK(GradientShelf(any).MeanCpuSeconds(set, 1'000'000) == 2.5);
  fs::remove(shelf.PolicyFile(both[0]));
  CHECK(shelf.Find(set, 1'000'000).empty());
  // Longer ones that are there are measured, whether these options would train them or not.
  const Training longer = TrainingsOf(choice, set, 20'000'000)[0];
  Put(shelf, longer, longer.Key(), LearnerSource());
  CHECK(shelf.Find(set, 20'000'000).size() == 1);
}

TEST_CASE("gradient: --dry-run resolves every set, --estimate says what is left out and trains nothing") {
  const TemporaryFolder folder;
  const auto reproduce = [&](const std::string& words) {
    return test::Berth(folder, "reproduce learned --only ablations,seeds " + words);
  };
  const Outcome dry = reproduce("--dry-run --out o");
  CAPTURE(dry.out, dry.error);
  CHECK(dry.code == 0);
  // A recipe's jobs and cluster are what is trained on, not the defaults of an option not given.
  const std::string oracle = dry.out.substr(dry.out.find("== oracle"), 1500);
  CHECK(Has(oracle, "workload mix(of=synthetic(rate=0.9"));
  CHECK(Has(oracle, "cluster v100=20,p100=2,k80=2"));  // of the mix's first workload
  std::size_t sets = 0;
  for (std::size_t at = dry.out.find("\n== "); at != std::string::npos; at = dry.out.find("\n== ", at + 1))
    ++sets;
  CHECK(sets == TrainingSets().size());
  const Outcome estimate =
      reproduce("--estimate --gradient-seeds 1:2 --steps-up-to 500000 --seeds 1000:1002 --out o");
  CAPTURE(estimate.out, estimate.error);
  CHECK(estimate.code == 0);
  CHECK(Has(estimate.out, "13 trainings, 0 of them kept"));  // single jobs by PPO and DQN, eleven ablations
  CHECK(Has(estimate.out, "left out by --steps-up-to 500000: singles 1,000,000, singles 10,000,000, gangs"));
  CHECK_FALSE(fs::exists(folder / "o"));
  test::CheckOneLine(reproduce("--gradient-seeds 3 --out o"), "--gradient-seeds");
  test::CheckOneLine(reproduce("--steps-up-to some --out o"), "--steps-up-to");
}

TEST_CASE("gradient: without learners what is not trained is not measured, and nothing else fails") {
  const TemporaryFolder folder;
  fs::create_directories(folder / "none");
  setenv("BERTH_LEARN_LIBRARY", (folder / "nowhere.so").c_str(), 1);
  const Outcome ran =
      test::Berth(folder,
                  "reproduce learned --only ablations --policies none --quick --gradient-seeds 1:2 "
                  "--seeds 1000:1002 --no-pictures --threads 1 --out o");
  unsetenv("BERTH_LEARN_LIBRARY");
  CAPTURE(ran.out, ran.error);
  CHECK(ran.code == 0);  // ablations have no targets
  CHECK(Has(Slurp(folder / "o/learned.md"), "nowhere.so"));
  CHECK(Has(Slurp(folder / "o/learned.md"), "| the defaults | - | 0 | - | - | - | - | not measured |"));
}

TEST_CASE("gradient: interrupted trainings go on, to the same policies") {
  if (!test::HaveLearners())
    return test::Skip("needs libberth_learn.so beside the binary (target berth_learn)");
  const TemporaryFolder folder;
  fs::create_directories(folder / "none");
  const std::vector<std::string> words = {
      "reproduce",        "learned", "--only",  "ablations", "--policies", "none",
      "--gradient-seeds", "1:2",     "--seeds", "1000:1002", "--threads",  "1",
      "--no-pictures",    "--out",   "o"};
  // To the first that is on its way: half a million steps, so that it is not over before the signal.
  const std::string name = "ablation_defaults_500000_1", run = folder / ("o/training/seeds/" + name);
  const auto until = [&](const std::string& file) {
    const pid_t child = test::Start(folder, words);
    for (int tenths = 0; tenths < 600 && !fs::exists(file) && !test::Ended(child); ++tenths)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (!test::Ended(child)) kill(child, SIGTERM);
    return test::Wait(child);
  };
  CHECK(until(run + "/progress.csv") == 130);
  CAPTURE(Slurp(folder / "error.txt"));
  REQUIRE(fs::exists(run + "/checkpoint.h5"));
  CHECK_FALSE(fs::exists(folder / ("o/policies/seeds/" + name + ".json")));
  CHECK(until(folder / ("o/policies/seeds/" + name + ".json")) == 130);
  CHECK_FALSE(fs::exists(run));
  CHECK(Slurp(folder / ("o/policies/seeds/" + name + ".csv")).starts_with("global_step,wall_s,metric\n"));
  REQUIRE(test::Berth(folder, "train --steps 500000 --seed 1 --threads 1 --validate 0 --out whole").code ==
          0);
  REQUIRE(test::Berth(folder, "export whole --out whole.h5").code == 0);
  const PolicyBundle resumed = LoadBundle(folder / ("o/policies/seeds/" + name + ".h5"));
  const PolicyBundle whole = LoadBundle(folder / "whole.h5");
  CHECK(resumed.provenance.steps == whole.provenance.steps);
  REQUIRE(resumed.arrays.size() == whole.arrays.size());
  for (std::size_t i = 0; i < whole.arrays.size(); ++i)
    CHECK(resumed.arrays[i].values == whole.arrays[i].values);
}

}  // namespace berth

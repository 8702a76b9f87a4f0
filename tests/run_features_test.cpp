// What a run's config.ini says of features: --resume and --config read the same again.
#include <fstream>
#include <string>
#include <vector>

#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/child.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {

using test::HaveLearners;
using test::Slurp;
using test::Start;
using test::TemporaryFolder;
using test::Wait;

TEST_CASE("cli: a run goes on with the features that it began with, whatever its file has itself") {
  if (!HaveLearners()) return test::Skip("needs libberth_learn.so beside the binary (target berth_learn)");
  const TemporaryFolder folder;
  const auto berth = [&](const std::vector<std::string>& words) {
    const int code = Wait(Start(folder, words));
    CAPTURE(words, Slurp(folder / "error.txt"));
    CHECK(code == 0);
  };
  const auto train = [&](const std::string& out, const std::vector<std::string>& more) {
    std::vector<std::string> words = {"train", "--episode-jobs", "5", "--warmup-jobs", "0", "--envs", "2", "--threads", "1",
                                      "--device", "cpu", "--agent", "ppo(n_steps=16)", "--steps", "32", "--out", out};
    words.insert(words.end(), more.begin(), more.end());
    berth(words);
  };
  const auto go_on = [&](const std::string& out, const char* steps) { berth({"train", "--resume", "--out", out, "--steps", steps}); };
  berth({"generate", "--workload", "toy(jobs=20)", "--cluster", "v100=2", "--features", "failures(mtbf_h=500)", "--out", "s.h5"});
  for (const std::string features : {"none", "none;monitoring"}) {
    const std::string out = features == "none" ? "alone" : "other";
    train(out, {"--scenario", "s.h5", "--features", features});
    const std::string config = Slurp(folder / (out + "/config.ini"));
    const std::size_t said = config.find("\nfeatures=" + features);
    REQUIRE(said != std::string::npos);
    go_on(out, "64");
    // As versions before 0.2.0 wrote it: without none, and nothing where that was all.
    std::string before = config;
    before.erase(said, features == "none" ? std::string("\nfeatures=none").size() : 0);
    if (features != "none") before.erase(before.find("none;"), std::string("none;").size());
    std::ofstream(folder / (out + "/config.ini")) << before;
    go_on(out, "96");
  }
  // A log's reader finds outages and dependencies, which config.ini names too.
  train("log", {"--scenario", BERTH_SOURCE_DIR "/tests/slurm/sacct.txt", "--format", "sacct"});
  CHECK(Slurp(folder / "log/config.ini").find("\nfeatures=failures(") != std::string::npos);
  go_on("log", "64");
}

}  // namespace berth

// The run of the Sia artifact's simulator from what it chose: every job's batches, restarts and completion follow
// from its choices of configurations alone.
#include <filesystem>
#include <fstream>

#include "env/base/index.hpp"
#include "env/features/goodput/goodput.hpp"
#include "tests/catch.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/reproduce/finished_run.hpp"
#include "tools/reproduce/sia/playback.hpp"
#include "tools/reproduce/sia/recorded.hpp"

namespace berth {
namespace {

std::string PlaybackError(const std::string& text) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() + "/rounds.json";
  std::ofstream(path) << text;
  try {
    berth::sia::Playback(path, {"a", "b"});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("sia: a run ends job by job as recorded when its choices are played back") {
  const std::string sia = BERTH_SOURCE_DIR "/../shared/anchors/sia", pollux = BERTH_SOURCE_DIR "/../shared/anchors/pollux";
  if (!std::filesystem::exists(sia) || !std::filesystem::exists(pollux)) return test::Skip("needs " + sia + " and " + pollux);
  const berth::sia::Folder folder(sia, pollux + "/profiles");
  const Scenario scenario = folder.Workload("helios-saturn", 1, 60.0, "best");
  const std::vector<std::string> names = folder.Names();
  REQUIRE(names.size() == 160);
  berth::sia::Playback playback(folder.Choices(), names);
  const Simulator end = FinishedRun(scenario, playback, {0, scenario.num_jobs()});
  const berth::sia::RecordedRun recorded = folder.Recorded("sia");
  const auto& goodput = *end.state().features.Find<GoodputState>();
  for (int job = 0; job < scenario.num_jobs(); ++job) {
    CAPTURE(names[U(job)]);
    CHECK(end.state().completion[U(job)] - scenario.data().jobs.arrival[U(job)] ==
          recorded.seconds[U(job)]);
    CHECK(goodput.jobs[U(job)].starts - 1 == recorded.restarts[U(job)]);
  }
}

TEST_CASE("sia: choices that cannot be played back are said in a line") {
  CHECK(PlaybackError("[[60, {\"a\": 0}], [120, {\"a\": 0, \"b\": 3}]]") == "");
  CHECK_THAT(PlaybackError("[[60, {\"c\": 0}]]"), Catch::Contains("rounds.json") && Catch::Contains("'c'"));
  CHECK_THAT(PlaybackError("[[60, {\"a\": -1}]]"), Catch::Contains("found -1 for 'a'"));
  CHECK_THAT(PlaybackError("[[60, {}], [60, {}]]"), Catch::Contains("found 60 twice or late"));
  CHECK_THAT(PlaybackError("{\"a\": 1}"), Catch::Contains("found no list"));
}

}  // namespace berth

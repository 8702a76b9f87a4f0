// How fast classes of jobs are, learned from jobs; and berth progress, by which they say how far they are.
#include <algorithm>
#include <cmath>
#include <fstream>

#include "policies/schedulers.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/child.hpp"
#include "tests/errors.hpp"
#include "tests/fake_slurm.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/controller/controller.hpp"
#include "tools/controller/learned_speeds.hpp"
#include "tools/results.hpp"

namespace berth {
namespace {

SiteFile SiteOf(const test::TemporaryFolder& folder, const std::string& text) {
  std::ofstream(folder / "site.json") << text;
  return ReadSiteFile(folder / "site.json");
}

Reported ReportedOf(const test::TemporaryFolder& folder, const std::string& text) {
  std::ofstream(folder / "7") << text;
  return ReadReported(folder / "7");
}

const std::vector<std::string> kTypes = {"k80", "v100"};

}  // namespace

TEST_CASE("learned speeds: the mean of what was measured, what the site states, and the rest filled in", "[slurm]") {
  const test::TemporaryFolder folder;
  const SiteFile site = SiteOf(folder, R"({"classes": [{"name": "a"}, {"name": "b"}, {"name": "c", "steps_per_s": {"v100": 3, "k80": 0}}]})");
  REQUIRE(site.classes.size() == 4);  // and "job", of whoever fits none
  LearnedSpeeds speeds(site, folder / "speeds.json");
  // Of c is known what it says; the rest follows from the only number there is.
  CHECK(speeds.Table(kTypes)[2] == std::vector<double>{0.0, 3.0});
  speeds.Add(0, "v100", 100.0, 10.0);
  speeds.Add(0, "k80", 20.0, 10.0);
  speeds.Add(1, "v100", 10.0, 10.0);
  CHECK(speeds.changed());
  auto table = speeds.Table(kTypes);
  CHECK(table[0][0] == Approx(2.0));
  CHECK(table[0][1] == Approx(10.0));
  CHECK(table[1][1] == Approx(1.0));
  // b was never measured on a k80: slower there, as a is, and above 0.
  CHECK(table[1][0] > 0.0);
  CHECK(table[1][0] < table[1][1]);
  // The mean: 100 + 50 steps in 10 + 10 s.
  speeds.Add(0, "v100", 50.0, 10.0);
  CHECK(speeds.Table(kTypes)[0][1] == Approx(7.5));
  // What cannot be counts for nothing.
  speeds.Add(0, "v100", 0.0, 10.0), speeds.Add(0, "v100", 10.0, 0.0), speeds.Add(0, "v100", -1.0, 10.0), speeds.Add(0, "v100", NAN, 1.0);
  CHECK(speeds.Table(kTypes)[0][1] == Approx(7.5));
  // Kept from one run to the next.
  speeds.Save();
  CHECK_FALSE(speeds.changed());
  const LearnedSpeeds again(site, folder / "speeds.json");
  CHECK(again.Table(kTypes) == speeds.Table(kTypes));
  // Old measurements fade: after much more than 20 times as much at 1 step/s it is about that.
  for (int i = 0; i < 400; ++i) speeds.Add(0, "v100", 10.0, 10.0);
  CHECK(speeds.Table(kTypes)[0][1] == Approx(1.0).margin(0.01));
}

TEST_CASE("learned speeds: where nothing is known it is 1 step/s, but for what the site rules out", "[slurm]") {
  const test::TemporaryFolder folder;
  const SiteFile site = SiteOf(folder, R"({"classes": [{"name": "a", "steps_per_s": {"h100": 2, "k80": 0}}]})");
  const LearnedSpeeds speeds(site, "");
  CHECK(speeds.Table(kTypes)[0] == std::vector<double>{0.0, 1.0});
  CHECK(speeds.Table(kTypes)[1] == std::vector<double>{1.0, 1.0});
}

TEST_CASE("learned speeds: GPU types whose names begin alike are types of their own", "[slurm]") {
  const test::TemporaryFolder folder;
  const SiteFile site = SiteOf(folder, R"({"classes": [{"name": "a", "steps_per_s": {"a100": 0, "h100": 1}}, {"name": "b"}]})");
  LearnedSpeeds speeds(site, "");
  speeds.Add(1, "a100", 80.0, 10.0);
  // Nodes with 4 and with 8 a100, and nodes with a100-sxm.
  const auto table = speeds.Table({"a100", "a100", "a100-sxm"});
  CHECK((table[0][0] == 0.0 && table[0][1] == 0.0));
  CHECK(table[0][2] > 0.0);  // that it cannot run on an a100 says nothing of this one
  CHECK((table[1][0] == 8.0 && table[1][1] == 8.0));
  speeds.Add(1, "a100-sxm", 30.0, 10.0);
  CHECK(speeds.Table({"a100", "a100", "a100-sxm"})[1] == std::vector<double>{8.0, 8.0, 3.0});
}

TEST_CASE("learned speeds: a file that is none of its own is named", "[slurm]") {
  const test::TemporaryFolder folder;
  const SiteFile site = ReadSiteFile("");
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"[]", "speeds.json: expected an object, found array"},
           {R"({"a": {"v100": 3}})", "speeds.json: a: v100: expected [steps, seconds], found 3"},
           {R"({"a": {"v100": [1, "x"]}})", "speeds.json: a: v100: expected [steps, seconds]"},
           {R"({"a": 3})", "speeds.json: a: expected an object, found number"},
           {R"({"a": {"v100": [1, 0]}})", "speeds.json: a: v100: expected [steps, seconds]"},
       }) {
    std::ofstream(folder / "speeds.json") << text;
    CHECK(test::Says(test::MessageOf([&] { LearnedSpeeds(site, folder / "speeds.json"); }), expected));
  }
}

TEST_CASE("progress: half lines, steps back and lines too close together", "[slurm]") {
  const test::TemporaryFolder folder;
  CHECK(ReadReported(folder / "none").at_s == 0.0);
  CHECK(ReportedOf(folder, "").at_s == 0.0);
  const Reported two = ReportedOf(folder, "100 10\n110 30\n");
  CHECK(two.at_s == 110.0);
  CHECK(two.steps == 30.0);
  CHECK(two.before_s == 100.0);
  CHECK(two.before_steps == 10.0);
  // A line that is being written, words, what cannot be.
  for (const char* more : {"120", "120 ", "x y\n", "120 -4\n", "120 inf\n", "nan 40\n"}) {
    const Reported same = ReportedOf(folder, std::string("100 10\n110 30\n") + more);
    INFO(more);
    CHECK(same.at_s == 110.0);
    CHECK(same.steps == 30.0);
  }
  // Within a second it is the same moment; back in time it is left out.
  const Reported close = ReportedOf(folder, "100 10\n110 30\n110.5 31\n105 99\n");
  CHECK(close.at_s == 110.0);
  CHECK(close.before_s == 100.0);
  // It went on from a checkpoint, which lies behind.
  const Reported back = ReportedOf(folder, "100 10\n110 30\n150 20\n");
  CHECK(back.steps == 20.0);
  CHECK(back.before_steps == 30.0);
}

TEST_CASE("berth progress writes a line for the job that it runs in", "[slurm][binary]") {
  const test::TemporaryFolder folder;
  const auto says = [&](std::vector<std::string> arguments, const test::Variables& variables) {
    arguments.insert(arguments.begin(), "progress");
    const int code = test::Wait(test::Start(folder, arguments, variables));
    return std::to_string(code) + " " + test::Slurp(folder / "error.txt");
  };
  const std::string here = folder.path();
  CHECK(says({"40"}, {{"SLURM_JOB_ID", "17"}, {"BERTH_PROGRESS", here}}) == "0 ");
  CHECK(says({"60.5", "--folder", here}, {{"SLURM_JOB_ID", "17"}}) == "0 ");
  CHECK(says({"3", "--folder", here}, {{"SLURM_JOB_ID", "21"}, {"SLURM_ARRAY_JOB_ID", "20"}, {"SLURM_ARRAY_TASK_ID", "5"}}) == "0 ");
  const Reported reported = ReadReported(folder / "17");
  CHECK(reported.steps == 60.5);
  CHECK(reported.at_s > 1.7e9);
  CHECK(ReadReported(folder / "20_5").steps == 3.0);
  CHECK(says({"70", "--folder", here, "--job", "22", "--json", here + "/said.json"}, {}) == "0 ");
  const Json json = ReadJson(folder / "said.json");
  CHECK((json["job"] == "22" && json["steps"] == 70.0 && json["file"] == here + "/22" && json["config"]["job"] == "22"));
  for (const auto& [arguments, expected] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"--folder", here}, "steps"},
           {{"-4", "--folder", here}, ""},
           {{"4x", "--folder", here}, "steps"},
           {{"4"}, "--folder: expected a folder, or BERTH_PROGRESS in the environment, found neither"},
           {{"4", "--folder", here}, "--job: expected a job's number, or SLURM_JOB_ID in the environment, found ''"},
           {{"4", "--folder", here, "--job", "../x"}, "--job: expected a job's number"},
           {{"4", "--folder", here + "/none", "--job", "1"}, "expected a file to append to, found No such file"},
       }) {
    const std::string said = says(arguments, {});
    INFO(said);
    CHECK(said.starts_with("2 berth progress: "));
    CHECK(said.find(expected) != std::string::npos);
    CHECK(std::count(said.begin(), said.end(), '\n') == 1);
  }
}

TEST_CASE("the controller learns from who ended and from what jobs report", "[slurm]") {
  const test::FakeSlurm slurm;
  slurm.AddNode("v1", "v100", 4);
  double now = test::FakeSlurm::kNow;
  ControllerOptions options;
  options.scheduler = "fcfs", options.mode = ControlMode::kControl, options.out = slurm / "out", options.now = [&] { return now; };
  StatusBoard board;
  const test::TemporaryFolder folder;
  const SiteFile site = SiteOf(folder, R"({"classes": [{"name": "a", "pattern": "a*"}, {"name": "b", "pattern": "b*"}]})");
  auto controller = std::make_unique<Controller>(options, site, MakeScheduler("fcfs", AllSchedulers()), board);
  const auto look = [&](double apart) {
    now += apart;
    slurm.Set("now", now);
    controller->Cycle();
  };
  slurm.AddJob(1, {{"name", "a1"}, {"comment", "steps=400"}});
  slurm.AddJob(2, {{"name", "b1"}, {"comment", "steps=4000"}});
  look(1), look(1);
  CHECK(controller->live().Speed(0, 0) == 1.0);  // nothing known
  // Job 1 ended after 100 s: 4 steps/s. Job 2 says 100 steps by then, and 300 ten seconds later: 20 steps/s.
  std::ofstream(options.out + "/progress/2") << std::fixed << now + 90.0 << " 100\n" << now + 100.0 << " 300\n";
  slurm.End(1);
  look(100);
  const double ran = now - controller->live().job(0).first_start_s;
  CHECK(controller->live().Speed(0, 0) == Approx(400.0 / ran));
  CHECK(controller->live().Speed(1, 0) == Approx(20.0));
  CHECK(controller->live().Steps(controller->live().job(1), now) == Approx(300.0));
  // A new one goes on with it.
  controller = std::make_unique<Controller>(options, site, MakeScheduler("fcfs", AllSchedulers()), board);
  look(1);
  CHECK(controller->live().Speed(1, 0) == Approx(20.0));
}

}  // namespace berth

// `berth serve --slurm`, the binary, against a Slurm of files: what it is told wrongly ends it in one line before a job is touched.
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/child.hpp"
#include "tests/fake_slurm.hpp"
#include "tests/policies_support.hpp"

namespace berth {
namespace {

// A Slurm with a job that waits for Berth, which bad input must not touch.
struct Waiting {
  test::FakeSlurm slurm;
  Waiting() {
    Json state = slurm.State();
    state["now"] = nullptr;  // the clock of the machine
    slurm.Save(state);
    slurm.AddNode("v1", "v100", 4);
    slurm.AddJob(1);
  }
  test::Outcome Serve(const std::string& arguments) const {
    return test::Berth(slurm.folder(), "serve --slurm --once --out out " + arguments);
  }
  void Refuses(const std::string& arguments, const std::string& expected) const {
    INFO(arguments);
    test::CheckOneLine(Serve(arguments), expected);
    CHECK(slurm.Calls().empty());
  }
};

}  // namespace

TEST_CASE("serve --slurm: one look says what would start, by itself or in control", "[slurm][binary]") {
  const Waiting w;
  const test::Outcome dry = w.Serve("");
  CHECK(dry.code == 0);
  CHECK(dry.out.find("start job 1 on v1\n1 job waits, 0 run on 1 node with GPUs") != std::string::npos);
  CHECK(w.slurm.Calls().empty());
  w.slurm.Set("late", true);
  const test::Outcome control = w.Serve("--control --only partition=gpu");
  INFO(control.error);
  CHECK(control.code == 0);
  CHECK(w.slurm.Calls().size() == 2);
  const test::Outcome release = test::Berth(w.slurm.folder(), "serve --slurm --release --json released.json");
  INFO(release.error);
  CHECK(release.code == 0);
  CHECK(ReadJson(w.slurm / "released.json")["released"] == 1);
  CHECK(release.out == "berth serve: 1 job given back to Slurm's own order\n");
  CHECK(w.slurm.Calls() == std::vector<std::string>{"update JobId=1 ReqNodeList= AdminComment=berth-left"});
}

TEST_CASE("serve --slurm: --json says where its page is, once it listens", "[slurm][binary]") {
  const Waiting w;
  const pid_t child = test::Start(w.slurm.folder(), {"serve", "--slurm", "--forecast", "fcfs", "--port", "0", "--json", "listens.json"});
  for (int i = 0; i < 600 && !std::filesystem::exists(w.slurm / "listens.json") && !test::Ended(child); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  kill(child, SIGINT);
  CHECK(test::Wait(child) == 0);
  const Json json = ReadJson(w.slurm / "listens.json");
  CHECK(json["host"] == "127.0.0.1");
  CHECK(json["port"] > 0);
  CHECK(json["url"] == Join("http://127.0.0.1:", json["port"].get<int>()));
  CHECK(json["config"]["scheduler"] == "srpt");
}

TEST_CASE("serve --slurm: options that cannot be", "[slurm][binary]") {
  const Waiting w;
  w.Refuses("--scheduler srtp", "--scheduler: unknown scheduler 'srtp'");
  w.Refuses("--only gpu", "--only: expected partition=NAME[,NAME], found 'gpu'");
  w.Refuses("--control --advise", "expected one of --dry-run, --advise and --control, found several");
  w.Refuses("--holds some", "--holds: expected marked or all, found 'some'");
  w.Refuses("--clock 'rounds(0)'", "--clock");
  w.Refuses("--poll 60", "--poll: expected");
  w.Refuses("--changes 0", "--changes: expected");
  w.Refuses("--starve -1", "--starve: expected");
  w.Refuses("--writable", "--writable: expected --token-file or --socket too");
  w.Refuses("--recorded . --control", "--recorded: expected --once without --advise and --control");
  w.Refuses("--recorded nowhere", "nowhere/squeue.json");
  w.Refuses("--forecast easyy", "--forecast: unknown scheduler 'easyy'");
  test::CheckOneLine(test::Berth(w.slurm.folder(), "serve --slurm --control"), "--out: expected a folder");
  CHECK(w.slurm.Calls().empty());
}

TEST_CASE("serve --slurm: a site file that cannot be", "[slurm][binary]") {
  const Waiting w;
  w.Refuses("--site nowhere.json", "nowhere.json");
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"{", "site.json:1: expected JSON, found its end"},
           {"[]", "site.json: expected an object, found array"},
           {R"({"clases": []})", "site.json: unknown key 'clases' (did you mean 'classes'?)"},
           {R"({"classes": [{"name": "a", "patern": "x"}]})", "site.json: classes[0]: unknown key 'patern' (did you mean 'pattern'?)"},
           {R"({"classes": [{"pattern": "x"}]})", "site.json: classes[0]: name: expected a text, found none"},
           {R"({"classes": [{"name": "a"}, {"name": "a"}]})", "site.json: classes[1]: name: expected another"},
           {R"({"classes": [{"name": "a", "steps_per_s": {"v100": -1}}]})", "steps_per_s: v100: expected steps/s >= 0, found -1"},
           {R"({"classes": [{"name": "a", "steps_per_s": {"v100": 0}}]})", "expected a type with more than 0 steps/s"},
           {R"({"classes": [{"name": "resnet"}], "default_class": "resnte"})", "default_class: expected one of the classes, found 'resnte' (did you mean 'resnet'?)"},
       }) {
    std::ofstream(w.slurm / "site.json") << text;
    w.Refuses("--site site.json", expected);
  }
}

TEST_CASE("serve --slurm: a Slurm that cannot be", "[slurm][binary]") {
  const Waiting w;
  const auto with = [&](const char* key, const Json& value, const std::string& arguments, const std::string& expected) {
    const Json before = w.slurm.State();
    w.slurm.Set(key, value);
    w.Refuses(arguments, expected);
    w.slurm.Save(before);
  };
  with("version", "20.11.9", "", "Slurm: expected version 21.08 or later, which answers in JSON, found 20.11.9");
  with("silent", true, "--control", "scontrol: expected success, found exit code 1: Unable to contact slurm controller");
  with("nodes", Json::array(), "--control", "sinfo: expected nodes with GPUs (Gres=gpu:TYPE:COUNT), found none");
  with("skew", -3600.0, "--control", "clock: expected that of slurmctld's machine to within 3 s, found -3");
  with("config", {{"PriorityType", "priority/basic"}}, "--advise", "--advise: expected PriorityType=priority/multifactor");
  w.Refuses("--control --only partition=gpuu", "sinfo: expected nodes with GPUs (Gres=gpu:TYPE:COUNT) of partition gpuu, found none");
  // No Slurm at all.
  const std::string path = std::getenv("PATH");
  const std::string without = w.slurm / "none";
  std::filesystem::create_directories(without);
  for (const char* tool : {"sh", "timeout", "env"})
    std::filesystem::create_symlink(std::string("/usr/bin/") + tool, without + "/" + tool);
  setenv("PATH", without.c_str(), 1);
  w.Refuses("", "scontrol: expected Slurm's commands on PATH, found none");
  setenv("PATH", path.c_str(), 1);
}

TEST_CASE("serve --slurm: a policy that was trained on other GPU types", "[slurm][binary]") {
  const Waiting w;
  PolicyBundle bundle = test::RandomBundle("mlp(hidden=4)", ObservationV1::Layout(2, 1), 3, 1);
  bundle.gpu_types = {"h100"};
  SaveBundle(bundle, w.slurm / "h100.h5");
  w.Refuses("--control --scheduler 'policy(file=h100.h5)'",
            "an mlp runs only on what it was trained on: GPU type 0 is 'h100', found 'v100'");
  w.Refuses("--control --scheduler 'policy(file=none.h5)'", "none.h5");
  w.Refuses("--control --any-types --scheduler 'policy(file=h100.h5)'", "an mlp runs only on what it was trained on");
}

TEST_CASE("serve --slurm: a policy of pairs that was trained on none of the GPU types runs only where that is asked for", "[slurm][binary]") {
  const Waiting w;
  PolicyBundle bundle = test::RandomBundle("pair_scorer(width=4)", ObservationV1::Layout(2, 2), 5, 1);
  const auto knows = [&](std::vector<std::string> types) {
    bundle.gpu_types = std::move(types);
    SaveBundle(bundle, w.slurm / "pair.h5");
  };
  const std::string with = "--scheduler 'policy(file=pair.h5)'";
  knows({"h100", "v100-sxm"});
  for (const char* mode : {"", "--advise ", "--control "})
    w.Refuses(mode + with, "pair.h5: expected a GPU type that it was trained on (h100, v100-sxm), found v100; --any-types runs it all the same");
  const std::string warns = "berth serve: warning: pair.h5 was trained on h100, v100-sxm, not on v100\n";
  const test::Outcome asked = w.Serve("--any-types " + with);
  CHECK(asked.code == 0);
  CHECK(asked.error == warns);
  // One of the types is known: it runs, and says which is not.
  w.slurm.AddNode("p1", "p100", 4);
  knows({"v100", "h100"});
  const test::Outcome some = w.Serve(with);
  CHECK(some.code == 0);
  CHECK(some.error == "berth serve: warning: pair.h5 was trained on v100, h100, not on p100\n");
  knows({"v100", "p100", "h100"});
  CHECK(w.Serve(with).error.empty());
  knows({});  // it does not say
  CHECK(w.Serve(with).error.empty());
}

}  // namespace berth

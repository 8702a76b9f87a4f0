// berth serve --slurm: a scheduler for a real Slurm.
#include "tools/controller/serve_slurm.hpp"

#include <malloc.h>
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <thread>

#include "baselines/schedulers.hpp"
#include "env/base/counted.hpp"
#include "env/base/spec.hpp"
#include "policies/bundle.hpp"
#include "policies/schedulers.hpp"
#include "tools/controller/controller.hpp"
#include "tools/file_lock.hpp"
#include "tools/interrupt.hpp"
#include "tools/json.hpp"
#include "tools/operators/operators.hpp"
#include "tools/results.hpp"
#include "tools/spec_files.hpp"

namespace berth {
namespace {

bool IsPreemptive(const std::string& spec) {
  const std::string name = ParseSpec(spec).name;
  for (const SchedulerTable& table : AllSchedulers()) {
    for (const SchedulerInfo& info : table) {
      if (name == info.name) return info.preemptive;
    }
  }
  return false;
}

// --only partition=gpu,debug
std::vector<std::string> Partitions(const Options& options) {
  const std::string& text = options.Text("only");
  std::vector<std::string> names;
  if (text.empty()) return names;
  const std::string key = "partition=";
  if (!text.starts_with(key) || text.size() == key.size())
    throw Error(Join(options.Where("only"), ": expected partition=NAME[,NAME], found '", text, "'"));
  std::size_t begin = key.size();
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    names.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

ControlMode ModeOf(const Options& options) {
  const int given = static_cast<int>(options.Bool("dry-run")) + static_cast<int>(options.Bool("advise")) +
                    static_cast<int>(options.Bool("control"));
  if (given > 1) throw Error("expected one of --dry-run, --advise and --control, found several");
  if (options.Bool("control")) return ControlMode::kControl;
  return options.Bool("advise") ? ControlMode::kAdvise : ControlMode::kDryRun;
}

std::string ForecastSpec(const Options& options, const ControllerOptions& made) {
  const std::string& given = options.Text("forecast");
  if (!given.empty()) {
    (void)InOption(options, "forecast", [&] { return MakeScheduler(given, AllSchedulers()); });
    return given;
  }
  if (made.mode == ControlMode::kControl) return made.scheduler;
  const char* const set = std::getenv("SLURM_CONF");
  const std::string conf = set == nullptr ? "/etc/slurm/slurm.conf" : set;
  return std::filesystem::exists(conf) ? "slurm(conf=" + conf + ")" : "easy";
}

struct NamedPolicy {
  std::string file;
  PolicyBundle bundle;
};

std::vector<NamedPolicy> PoliciesOf(const std::string& spec) {
  std::vector<NamedPolicy> policies;
  for (const SpecFile& file : SpecFiles(spec)) {
    if (file.path.ends_with(".h5")) policies.push_back({file.path, LoadBundle(file.path)});
  }
  return policies;
}

// Facts of the first policy that a spec names, for whoever looks at the page.
Json CardOf(const std::vector<NamedPolicy>& policies) {
  if (policies.empty()) return nullptr;
  const PolicyBundle& bundle = policies.front().bundle;
  return {{"file", policies.front().file},
          {"network", bundle.network},
          {"trained for GPU types", Listed(bundle.gpu_types)},
          {"decides", bundle.mdp.ToString()},
          {"trained by", bundle.provenance.agent},
          {"training seed", bundle.provenance.seed},
          {"steps", bundle.provenance.steps}};
}

// A scorer of pairs takes GPUs of any type, since it sees how fast jobs are on them. What it learned of how
// types compare need not hold for others: on none of its own it runs only where that was asked for.
void CheckTrainedTypes(const std::vector<NamedPolicy>& policies, const LiveCluster& live, bool any) {
  for (const auto& [file, bundle] : policies) {
    const std::vector<std::string>& knows = bundle.gpu_types;
    if (knows.empty()) continue;
    std::vector<std::string> found, others;
    for (std::size_t g = 0; g < live.types().size(); ++g) {
      const std::string& gpus = live.gpu_types()[g];
      if (std::ranges::count(found, gpus) > 0) continue;
      found.push_back(gpus);
      const bool known =
          std::ranges::count(knows, gpus) > 0 || std::ranges::count(knows, live.types()[g].name) > 0;
      if (!known) others.push_back(gpus);
    }
    if (others.empty()) continue;
    if (others.size() == found.size() && !any)
      throw Error(Join(file, ": expected a GPU type that it was trained on (", Listed(knows), "), found ",
                       Listed(found), "; --any-types runs it all the same"));
    std::cerr << "berth serve: warning: " << file << " was trained on " << Listed(knows) << ", not on "
              << Listed(others) << std::endl;
  }
}

}  // namespace

void DeclareSlurm(Options& options) {
  options.Group("Slurm");
  options.Switch("slurm", "schedule the Slurm that SLURM_CONF names: tools/controller/README.md");
  options.Value("scheduler", "srpt", "spec of the scheduler: see berth list schedulers");
  options.Switch("any-types",
                 "run a policy though the site has none of the GPU types that it was trained on");
  options.Switch("dry-run", "only read, and say what it would do: so it is unless told otherwise");
  options.Switch("advise", "set the priorities of waiting jobs, by their nice value");
  options.Switch("control",
                 "release jobs that arrive held, to nodes of its choice; requeue those that may be");
  options.Switch("release", "give all that Berth holds back to Slurm's own order, and end");
  options.Value("only", "", "partition=NAME[,NAME]: leave the jobs and nodes of others alone");
  options.Value("holds", "marked",
                "of --control: marked = jobs that job_submit.lua held; all = whoever is held");
  options.Input("site", "classes of jobs and their speeds (.json)");
  options.Value(
      "forecast", "",
      "spec of the scheduler by which starts are forecast [its own in --control, else slurm by SLURM_CONF]");
  options.Value("clock", "event", "when it decides: event, or rounds(SECONDS)");
  options.Value("poll", "0.5", "seconds from one look at Slurm to the next");
  options.Value("starve", "24", "hours of waiting after which a job goes first");
  options.Value("changes", "600", "most changes that it asks of Slurm in a minute");
  options.Value("out", "", "folder for decisions.jsonl, the heartbeat and jobs' progress");
  options.Value("recorded", "",
                "folder with squeue.json and sinfo.json to read in place of a Slurm; with --once");
  options.Switch("once", "look once, say what it would do, and end");
  options.Switch("writable", "let the page switch the mode");
}

int ServeSlurm(Options& options) {
  // Threads that forecast and that answer come and go. Each would take one of sixteen heaps, of which each
  // grows to a megabyte and more in the course of hours.
  mallopt(M_ARENA_MAX, 2);
  ControllerOptions made;
  made.scheduler = options.Text("scheduler");
  std::unique_ptr<Scheduler> scheduler =
      InOption(options, "scheduler", [&] { return MakeScheduler(made.scheduler, AllSchedulers()); });
  made.preemptive = IsPreemptive(made.scheduler);
  made.mode = ModeOf(options);
  made.partitions = Partitions(options);
  if (const std::string& holds = options.Text("holds"); holds != "marked" && holds != "all")
    throw Error(Join(options.Where("holds"), ": expected marked or all, found '", holds, "'"));
  made.all_holds = options.Text("holds") == "all";
  made.clock = InOption(options, "clock", [&] { return Clock::Parse(options.Text("clock")); });
  if (made.clock.kind != ClockKind::kEvent && made.clock.kind != ClockKind::kRounds)
    throw Error(Join(options.Where("clock"), ": expected event or rounds(SECONDS), found '",
                     options.Text("clock"), "'"));
  made.poll_s = options.Number("poll", 0.05, 2.0);  // the heartbeat goes with it
  made.starve_s = 3600.0 * options.Number("starve", 0.0, 1e6);
  made.changes_per_minute = static_cast<int>(options.Integer("changes", 1, 1000000));
  made.out = options.Text("out"), made.recorded = options.Text("recorded");
  if (made.mode != ControlMode::kDryRun && made.out.empty())
    throw Error("--out: expected a folder, whose heartbeat tells the watchdog that Berth lives, found none");
  if (!made.recorded.empty() && (made.mode != ControlMode::kDryRun || !options.Bool("once")))
    throw Error(
        "--recorded: expected --once without --advise and --control, since what is recorded does not change");
  made.forecast = ForecastSpec(options, made);
  const std::vector<NamedPolicy> policies = PoliciesOf(made.scheduler);
  made.card = CardOf(policies);
  const ListenOptions listen = ReadListening(options);
  if (options.Bool("writable") && listen.token.empty() && listen.socket.empty())
    throw Error(
        "--writable: expected --token-file or --socket too, so that not everybody on this machine may "
        "switch");
  const SiteFile site = ReadSiteFile(options.Text("site"));
  for (const char* file : {"decisions.jsonl", "speeds.json", "heartbeat", "lock", "progress"})
    if (!made.out.empty()) options.AddWritten("out", made.out + "/" + file);
  for (const char* file : {"squeue.json", "sinfo.json"})
    if (options.Given("recorded")) options.AddRead("recorded", options.Text("recorded") + "/" + file);
  CheckJsonWritable(options);

  StatusBoard board(options.Bool("writable"));
  const bool release = options.Bool("release");
  // Two would undo each other's orders. --once and --release may be asked for beside one.
  if (!made.out.empty() && !release && !options.Bool("once"))
    HoldFolder(made.out, options.Where("out"), "berth serve");
  if (release) made.mode = ControlMode::kControl;  // whose rights it needs
  Controller controller(made, site, std::move(scheduler), board);
  if (release) {
    int pinned = 0;
    const int released = controller.Release(&pinned);
    WriteJson(options, {{"released", released}, {"pinned", pinned}, {"config", ConfigJson(options)}});
    std::cout << "berth serve: " << Counted(released, "job") << " given back to Slurm's own order"
              << std::endl;
    if (pinned > 0)
      std::cout << "berth serve: " << pinned
                << " more run on nodes that Berth chose, and would wait for them if they were requeued: keep "
                   "the watchdog until they have ended"
                << std::endl;
    return 0;
  }
  CheckTrainedTypes(policies, controller.TryScheduler(), options.Bool("any-types"));
  if (options.Bool("once")) {
    controller.Cycle();
    const Json status = board.Read();
    Json json = {
        {"decision", controller.last_decision()}, {"status", status}, {"config", ConfigJson(options)}};
    WriteJson(options, json);
    for (const Json& stop : controller.last_decision()["stops"])
      std::cout << "stop job " << stop["id"].get<std::string>() << "\n";
    for (const Json& start : controller.last_decision()["starts"]) {
      std::cout << "start job " << start["id"].get<std::string>() << " on";
      for (const Json& node : start["nodes"]) std::cout << ' ' << node.get<std::string>();
      std::cout << "\n";
    }
    std::cout << Counted(status["queue"].size(), "job waits", "jobs wait") << ", "
              << Counted(status["running"].size(), "runs", "run") << " on "
              << Counted(status["nodes"].size(), "node") << " with GPUs; looked and decided in "
              << controller.cycle_s() << " s" << std::endl;
    return 0;
  }
  const std::atomic<bool>& stop = WatchInterrupts();
  std::atomic<bool> ended{false};
  std::exception_ptr failed;
  std::thread cycles([&] {
    try {
      controller.Run(stop);
    } catch (...) {
      failed = std::current_exception();
    }
    ended = true;
  });
  try {
    ServeOperators(board, listen, ended, [&](int port) {
      const std::string url = HttpListener(listen).Url(port);
      WriteJson(options,
                {{"url", url}, {"host", listen.host}, {"port", port}, {"config", ConfigJson(options)}});
      std::cout << "berth serve: " << made.scheduler << " in mode " << ToString(made.mode)
                << "; the page: " << url << "; Ctrl-C ends it" << std::endl;
    });
  } catch (...) {
    // Without its page it must not go on unseen.
    std::cerr.flush();
    raise(SIGTERM);
    cycles.join();
    throw;
  }
  cycles.join();
  if (failed) std::rethrow_exception(failed);
  std::cout
      << "berth serve: ended; jobs that it holds go on by the watchdog, or by berth serve --slurm --release"
      << std::endl;
  return 0;
}

}  // namespace berth

// JSON that others send: kube-scheduler's calls, Slurm's answers, and the files that `serve` reads and keeps.
#include <vector>

#include "tests/fuzz/served.hpp"
#include "tests/fuzz/targets.hpp"
#include "tools/controller/learned_speeds.hpp"
#include "tools/controller/live_cluster.hpp"
#include "tools/operators/operators.hpp"
#include "tools/solve/certified.hpp"
#include "tools/solve/solve_table.hpp"

namespace berth::fuzz {
namespace {

// Calls of one extender, each 'f', 'p' or 'e' and a body.
void CallExtender(const TextRow&, const std::string& text) {
  Extender extender = MakeExtender();
  double now = kNow;
  for (const std::string& call : Parts(text)) {
    if (call.empty()) continue;
    const std::string body = call.substr(1);
    ExtenderReply reply;
    switch (call[0]) {
      case 'f':
        reply = extender.Filter(body, now);
        break;
      case 'p':
        reply = extender.Prioritize(body, now);
        break;
      case 'e':
        reply = extender.Preempt(body, now);
        break;
      default:
        continue;
    }
    if (reply.status != 200 && reply.status != 400 && reply.status != 404) Fail(Join("status ", reply.status));
    if (!Json::accept(reply.body)) Fail("an answer that is no JSON: " + reply.body);
    now += 100.0;
  }
}

void ReadTable(const TextRow&, const std::string& text) {
  const std::string path = File("read.json", text);
  Accepted([&] {
    const ExtenderTable table = ReadExtenderTable(path);
    for (const int gang : {1, 3}) table.RatesOf("ResNet-50 (batch size 32)", gang);
  });
}

// squeue, sinfo, then later ones.
void LookAtSlurm(const TextRow&, const std::string& text) {
  const std::vector<std::string> parts = Parts(text);
  LiveOptions options;
  options.control = parts.size() % 2 == 0;
  options.preemptive = parts.size() > 3;
  options.user = "berth";
  LiveCluster live(Site(), options);
  double now = kNow;
  for (std::size_t i = 0; i + 1 < parts.size(); i += 2) {
    Accepted([&] {
      const Json squeue = ReadJson(File("squeue.json", parts[i])), sinfo = ReadJson(File("sinfo.json", parts[i + 1]));
      SlurmState state;
      state.version = VersionOf(squeue, "squeue");
      state.jobs = JobsOf(squeue, "squeue");
      state.nodes = NodesOf(sinfo, "sinfo");
      live.Update(state, now);
      const ClusterView view = live.View(Knowledge::kEstimate);
      for (const int job : view.active()) {
        for (int type = 0; type < view.num_types(); ++type) view.RemainingSeconds(job, type);
      }
      live.Decided();
    });
    now += 10.0;
  }
}

void ReadSite(const TextRow&, const std::string& text) {
  const std::string path = File("site.json", text);
  Accepted([&] {
    const SiteFile site = ReadSiteFile(path);
    SlurmJob job;
    job.name = "resnet-50", job.comment = "class=job steps=100";
    if (const int found = site.ClassOf(job); found < 0 || found >= static_cast<int>(site.classes.size())) Fail("no such class");
  });
}

void ReadLearned(const TextRow&, const std::string& text) {
  const std::string path = File("speeds.json", text);
  const SiteFile site = Site();
  Accepted([&] {
    LearnedSpeeds speeds(site, path);
    speeds.Add(0, "k80", 100.0, 60.0);
    for (const std::vector<double>& row : speeds.Table({"v100", "p100", "k80", "a100"})) {
      for (const double speed : row) {
        if (!(speed >= 0.0)) Fail(Join("a speed of ", speed));
      }
    }
  });
}

void ShowStatus(const TextRow&, const std::string& text) {
  Accepted([&] {
    const Json status = ReadJson(File("status.json", text));
    OperatorMetrics(status, 1.0, "", "version=\"0\"");
  });
}

void ReadProgress(const TextRow&, const std::string& text) {
  const std::string path = File("17", text);
  Accepted([&] { ReadReported(path); });
}

// jobs, workers, pairs.
void ReadSolve(const TextRow&, const std::string& text) {
  const std::vector<std::string> parts = Parts(text);
  const std::string jobs = File("jobs.csv", parts[0]);
  const std::string workers = parts.size() > 1 ? File("workers.csv", parts[1]) : "v100=4,k80=8";
  const std::string pairs = parts.size() > 2 ? File("pairs.csv", parts[2]) : "";
  const gavel::CertifiedObjective reads_all = {"all", "", true, true, true, nullptr, nullptr};
  Accepted([&] { ReadSolveTable(jobs, workers, pairs, reads_all); });
}

}  // namespace

bool Run_json(Bytes bytes) {
  static const std::vector<TextRow> rows = {{"extender", CallExtender}, {"table", ReadTable},   {"slurm", LookAtSlurm},
                                            {"site", ReadSite},         {"speeds", ReadLearned}, {"status", ShowStatus},
                                            {"progress", ReadProgress}, {"solve", ReadSolve}};
  return RunRow(rows, bytes);
}

}  // namespace berth::fuzz

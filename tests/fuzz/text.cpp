// Readers of text files: the public functions that `convert`, `--cluster`, `--throughputs`, `generate --like` and features call.
#include <vector>

#include "data/decisions/decisions.hpp"
#include "data/like/model.hpp"
#include "data/like/workload.hpp"
#include "data/sacct/accounting.hpp"
#include "data/sacct/node_outages.hpp"
#include "data/sacct/reservations.hpp"
#include "data/tables/cluster_file.hpp"
#include "data/tables/job_table.hpp"
#include "data/tables/speeds.hpp"
#include "data/tables/write_tables.hpp"
#include "data/text_file.hpp"
#include "data/workloads.hpp"
#include "env/base/slurm_conf.hpp"
#include "env/features/table.hpp"
#include "tests/fuzz/targets.hpp"

namespace berth::fuzz {
namespace {

ScenarioSettings OnSomething() {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=8/4,p100=4/2,k80=3");
  return settings;
}

// What a cluster file says beside its GPUs, as options take it (tools/scenario_options.cpp).
ScenarioSettings SettingsOfFile(const ClusterFile& file) {
  ScenarioSettings settings;
  settings.cluster = file.cluster, settings.tenants = file.tenants, settings.job_types = file.job_types;
  settings.origin_s = file.origin_s, settings.seed = file.seed;
  return settings;
}

void ReadCluster(const TextRow&, const std::string& text) {
  const std::string path = File("cluster.toml", text);
  Accepted([&] {
    const ClusterFile file = ReadClusterFile(path);
    MakeWorkload("toy(jobs=2)", SettingsOfFile(file))->Make(1, Split::kEvaluate, 0, 0);
  });
}

// jobs, speeds, columns, cluster: those that are there.
void ReadTableOfJobs(const TextRow&, const std::string& text) {
  const std::vector<std::string> parts = Parts(text);
  JobTableRequest request;
  request.skip_bad = 2;
  request.estimate_missing = parts.size() % 2 == 0;
  const std::string jobs = File("jobs.csv", parts[0]);
  if (parts.size() > 1 && !parts[1].empty()) request.speeds = File("speeds.csv", parts[1]);
  if (parts.size() > 2) request.columns = parts[2];
  Accepted([&] {
    ScenarioSettings settings = OnSomething();
    if (parts.size() > 3) settings = SettingsOfFile(ReadClusterFile(File("cluster.toml", parts[3])));
    const JobTableScenario read = ReadJobTable(jobs, request, settings);
    if (read.scenario.num_jobs() > 1000) return;
    // As tables and back it is the same, where tables can say it (tests/write_tables_test.cpp).
    const ScenarioTables tables = TablesOf(read.scenario);
    JobTableRequest again;
    again.speeds = File("again_speeds.csv", tables.speeds);
    const std::string path = File("again.csv", tables.jobs), cluster = File("again.toml", tables.cluster);
    try {
      ScenarioSettings back = SettingsOfFile(ReadClusterFile(cluster));
      ReadJobTable(path, again, back);
    } catch (const Error& error) {
      Fail(Join("what inspect --tables writes is refused: ", error.what()));
    }
  });
}

void ReadSpeeds(const TextRow&, const std::string& text) {
  const std::string path = File("speeds.csv", text);
  Accepted([&] {
    const Speeds speeds(path);
    std::vector<std::pair<int, int>> used;
    for (int t = 0; t < static_cast<int>(speeds.job_types().size()); ++t) used.emplace_back(t, 1);
    std::vector<std::string> estimated;
    speeds.Table(ParseCluster("v100=8/4,p100=4"), used, &estimated);
  });
}

void ReadModel(const TextRow&, const std::string& text) {
  Accepted([&] {
    const LikeModel model = ParseLike(text, "model.toml");
    const std::string toml = LikeToml(model, "");
    if (LikeToml(ParseLike(toml, "again.toml"), "") != toml) Fail("a model is another one once it is written and read");
    ScenarioSettings settings = OnSomething();
    LikeSource(model, 1.0, 20, settings, "like").Make(1, Split::kEvaluate, 0, 0, 20);
  });
}

void ReadEvents(const TextRow&, const std::string& text) {
  const std::vector<std::string> parts = Parts(text);
  const std::string path = File("events.txt", parts[0]);
  Accepted([&] {
    const std::vector<NodeEvent> events = ReadNodeEvents(path);
    std::vector<SlurmNode> nodes;
    if (parts.size() > 1) nodes = NodesOf(ReadSlurmConf(File("slurm.conf", parts[1])), "slurm.conf").nodes;
    OutagesOf(events, nodes, 1.7e9);
  });
}

void ReadReserved(const TextRow&, const std::string& text) {
  const std::string path = File("reservations.txt", text);
  Accepted([&] { ReadReservations(path); });
}

void ReadConf(const TextRow&, const std::string& text) {
  const std::string path = File("slurm.conf", text);
  Accepted([&] {
    const std::vector<SlurmLine> lines = ReadSlurmConf(path);
    const SlurmNodes nodes = NodesOf(lines, path);
    PartitionsOf(lines, nodes, path);
  });
}

void ReadStarts(const TextRow&, const std::string& text) {
  const std::string path = File("decisions.jsonl", text);
  Accepted([&] { StartsCsv(ReadDecisionStarts(path)); });
}

void ReadPacked(const TextRow&, const std::string& text) {
  const std::string gzip = File("t.csv.gz", text), tar = File("t.tar.gz", text);
  Accepted([&] { ReadText(gzip); });
  Accepted([&] {
    TextFile file(tar + ":a.csv");
    std::string line;
    while (file.Next(line)) {
    }
  });
}

void ReadFailureLog(const TextRow&, const std::string& text) {
  const std::string path = File("failures.csv", text);
  Accepted([&] {
    ScenarioSettings settings = OnSomething();
    settings.features = ParseFeatures("failures(log=" + path + ")");
    MakeWorkload("synthetic(jobs=5)", settings)->Make(1, Split::kEvaluate, 0, 0);
  });
}

// Of the table of formats: 'n' = without --cluster; then the file, and those that lie beside it.
void ReadTrace(const TextRow& row, const std::string& text) {
  if (text.empty()) return;
  const std::vector<std::string> parts = Parts(text.substr(1));
  std::vector<std::string> beside;
  std::string name = "trace.log";
  if (row.name == "pai") {
    name = "pai_task_table.csv";
    beside = {"pai_job_table.csv", "pai_machine_spec.csv", "pai_instance_table.csv", "pai_group_tag_table.csv"};
  } else if (row.name == "openb") {
    beside = {"openb_node_list_gpu_node.csv"};
  } else if (row.name == "sacct") {
    name = text[0] == 'j' ? "sacct.json" : "sacct.txt";
    beside = {"slurm.conf", "events.txt", "reservations.txt"};
  }
  ClearFiles();
  const std::string path = File(name, parts[0]);
  for (std::size_t i = 0; i < beside.size() && i + 1 < parts.size(); ++i) File(beside[i], parts[i + 1]);
  Accepted([&] {
    ScenarioSettings settings;
    if (text[0] != 'n') settings = OnSomething();
    const Scenario scenario = FindFormat(row.name).read(path, settings);
    scenario.Hash();
  });
  ClearFiles();
}

std::vector<TextRow> Rows() {
  std::vector<TextRow> rows = {{"cluster", ReadCluster},   {"jobs", ReadTableOfJobs}, {"speeds", ReadSpeeds},
                               {"model", ReadModel},       {"events", ReadEvents},    {"reservations", ReadReserved},
                               {"slurm.conf", ReadConf},   {"starts", ReadStarts},    {"packed", ReadPacked},
                               {"failures", ReadFailureLog}};
  for (const FormatInfo& format : Formats()) rows.push_back({format.name, ReadTrace});
  return rows;
}

}  // namespace

bool Run_text(Bytes bytes) {
  static const std::vector<TextRow> rows = Rows();
  return RunRow(rows, bytes);
}

}  // namespace berth::fuzz

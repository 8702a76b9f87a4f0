// Scenarios and event logs as HDF5.
//   cluster/{name, count, gpus_per_node, memory_gb, idle_power_w, peak_power_w, price_per_hour}, and
//   cluster/bandwidth_gb_s, which files of before 0.2.0 lack (0 = not stated)
//   throughputs/{job_types, gang_sizes, alone [T, S, G], unconsolidated, pairs}, and optional ones that
//   schedulers believe: throughputs/{believed_alone, believed_pairs}
//   jobs/{id, arrival, job_type, gang, total_steps, ...}: optional columns are absent
//   job_types/{checkpoint_gb, ...} [T]: optional (NaN in checkpoint_gb and gradient_gb: not stated of that
//   type); features: spec strings, absent when none is on
//   tenants/{name, weight, inner_policy}; attributes name, clock, knowledge, estimate_sigma, costs, seed,
//   provenance
// Event logs: kinds, events/{time, kind, job, type, device}; with a feature that keeps series those too,
//   such as monitoring/{time, utilization [S, G], ...}
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "data/hdf5_file.hpp"
#include "data/workloads.hpp"
#include "env/base/check.hpp"
#include "env/base/spec.hpp"
#include "env/base/whole_file.hpp"
#include "env/features/table.hpp"
#include "env/sim/simulator.hpp"

namespace berth {
namespace {

constexpr int kScenarioVersion = 1;
constexpr int kEventsVersion = 1;
constexpr const char* kCosts[] = {"checkpoint_s", "restore_s", "migration_s"};

void WriteCluster(h5::Writer& out, const std::vector<GpuType>& types) {
  out.Strings("cluster/name", ColumnOf(types, &GpuType::name));
  out.Array("cluster/count", ColumnOf(types, &GpuType::count));
  out.Array("cluster/gpus_per_node", ColumnOf(types, &GpuType::gpus_per_node));
  out.Array("cluster/memory_gb", ColumnOf(types, &GpuType::memory_gb));
  out.Array("cluster/bandwidth_gb_s", ColumnOf(types, &GpuType::bandwidth_gb_s));
  out.Array("cluster/idle_power_w", ColumnOf(types, &GpuType::idle_power_w));
  out.Array("cluster/peak_power_w", ColumnOf(types, &GpuType::peak_power_w));
  out.Array("cluster/price_per_hour", ColumnOf(types, &GpuType::price_per_hour));
}

ClusterSpec ReadCluster(const h5::Reader& in) {
  const std::vector<std::string> names = in.Strings("cluster/name");
  const auto n = std::ssize(names);
  const auto count = in.Array<std::int32_t>("cluster/count", n);
  const auto per_node = in.Array<std::int32_t>("cluster/gpus_per_node", n);
  const auto memory = in.Array<double>("cluster/memory_gb", n);
  std::vector<double> bandwidth(names.size(), 0.0);
  if (in.Has("cluster/bandwidth_gb_s")) bandwidth = in.Array<double>("cluster/bandwidth_gb_s", n);
  const auto idle = in.Array<double>("cluster/idle_power_w", n);
  const auto peak = in.Array<double>("cluster/peak_power_w", n);
  const auto price = in.Array<double>("cluster/price_per_hour", n);
  ClusterSpec cluster;
  for (std::size_t g = 0; g < names.size(); ++g) {
    cluster.types.push_back(
        {names[g], count[g], per_node[g], memory[g], bandwidth[g], idle[g], peak[g], price[g]});
  }
  return cluster;
}

JobTable ReadJobs(const h5::Reader& in) {
  JobTable jobs;
  jobs.arrival = in.Array<double>("jobs/arrival");
  const auto n = std::ssize(jobs.arrival);
  ForEachColumn(jobs, [&]<class T>(const char* name, std::vector<T>& column, bool optional) {
    const std::string path = std::string("jobs/") + name;
    if (!optional || in.Has(path)) column = in.Array<T>(path, n);
  });
  if (in.Has("jobs/demand")) jobs.demand = in.Array<double>("jobs/demand");
  return jobs;
}

}  // namespace

void WriteScenario(const Scenario& scenario, const std::string& path) {
  const ScenarioData& d = scenario.data();
  h5::Writer out(path, "scenario", kScenarioVersion);
  out.Text("name", d.name);
  out.Text("provenance", d.provenance);
  out.Text("clock", d.clock.ToString());
  out.Number("round_s", d.clock.round_s);
  out.Text("knowledge", ToString(d.knowledge));
  out.Number("estimate_sigma", d.estimate_sigma);
  const double costs[] = {d.costs.checkpoint_s, d.costs.restore_s, d.costs.migration_s};
  for (std::size_t i = 0; i < 3; ++i) out.Number(kCosts[i], costs[i]);
  out.Integer("seed", static_cast<std::int64_t>(d.seed));
  WriteCluster(out, d.cluster.types);

  const ThroughputTable& t = d.throughputs;
  const auto types = std::ssize(d.cluster.types), jobs = std::ssize(t.job_types),
             sizes = std::ssize(t.gang_sizes);
  out.Strings("throughputs/job_types", t.job_types);
  out.Array("throughputs/gang_sizes", t.gang_sizes);
  out.Array("throughputs/alone", t.alone, {jobs, sizes, types});
  if (!t.unconsolidated.empty())
    out.Array("throughputs/unconsolidated", t.unconsolidated, {jobs, sizes, types});
  if (!t.pairs.empty()) out.Array("throughputs/pairs", t.pairs, {jobs, jobs, types, 2});
  // Features add types to throughputs, and not to what schedulers believe of them.
  if ((!d.believed.alone.empty() && d.believed.alone.size() != t.alone.size()) ||
      (!d.believed.pairs.empty() && d.believed.pairs.size() != t.pairs.size()))
    throw Error(Join(
        path,
        ": expected believed throughputs of every GPU type, also of those that features add, found fewer"));
  if (!d.believed.alone.empty())
    out.Array("throughputs/believed_alone", d.believed.alone, {jobs, sizes, types});
  if (!d.believed.pairs.empty())
    out.Array("throughputs/believed_pairs", d.believed.pairs, {jobs, jobs, types, 2});

  ForEachColumn(d.jobs, [&](const char* name, const auto& column, bool optional) {
    if (!optional || !column.empty()) out.Array(std::string("jobs/") + name, column);
  });
  if (!d.jobs.demand.empty()) out.Array("jobs/demand", d.jobs.demand);
  ForEachColumn(d.traits, [&](const char* name, const std::vector<double>& column) {
    if (!column.empty()) out.Array(std::string("job_types/") + name, column);
  });
  if (d.features.any()) out.Strings("features", SplitOutsideParentheses(ToString(d.features), ';'));

  if (!d.tenants.empty()) {
    out.Strings("tenants/name", ColumnOf(d.tenants, &Tenant::name));
    out.Array("tenants/weight", ColumnOf(d.tenants, &Tenant::weight));
    out.Strings("tenants/inner_policy", ColumnOf(d.tenants, &Tenant::inner_policy));
  }
  out.Commit();
}

namespace {

Scenario ReadScenarioFrom(const h5::Reader& in) {
  const std::string& path = in.path();
  ScenarioData d;
  d.name = in.Text("name");
  d.provenance = in.Text("provenance");
  d.cluster = ReadCluster(in);
  d.throughputs.job_types = in.Strings("throughputs/job_types");
  d.throughputs.gang_sizes = in.Array<std::int32_t>("throughputs/gang_sizes");
  d.throughputs.alone = in.Array<double>("throughputs/alone");
  if (in.Has("throughputs/unconsolidated"))
    d.throughputs.unconsolidated = in.Array<double>("throughputs/unconsolidated");
  if (in.Has("throughputs/pairs")) d.throughputs.pairs = in.Array<double>("throughputs/pairs");
  if (in.Has("throughputs/believed_alone")) d.believed.alone = in.Array<double>("throughputs/believed_alone");
  if (in.Has("throughputs/believed_pairs")) d.believed.pairs = in.Array<double>("throughputs/believed_pairs");
  d.jobs = ReadJobs(in);
  ForEachColumn(d.traits, [&](const char* name, std::vector<double>& column) {
    const std::string dataset = std::string("job_types/") + name;
    if (in.Has(dataset)) column = in.Array<double>(dataset, std::ssize(d.throughputs.job_types));
  });
  if (in.Has("tenants/name")) {
    const std::vector<std::string> names = in.Strings("tenants/name");
    const auto weights = in.Array<double>("tenants/weight", std::ssize(names));
    const std::vector<std::string> inner = in.Strings("tenants/inner_policy");
    if (inner.size() != names.size())
      throw Error(Join(path, ": tenants/inner_policy: expected ", names.size(), " entries"));
    for (std::size_t i = 0; i < names.size(); ++i) d.tenants.push_back({names[i], weights[i], inner[i]});
  }
  d.estimate_sigma = in.Number("estimate_sigma");
  d.costs = {in.Number(kCosts[0]), in.Number(kCosts[1]), in.Number(kCosts[2])};
  d.seed = static_cast<std::uint64_t>(in.Integer("seed"));
  const auto in_file = [&](auto&& part) {
    try {
      return part();
    } catch (const Error& error) {
      throw Error(Join(path, ": ", error.what()));
    }
  };
  if (in.Has("features")) {
    std::string text;
    for (const std::string& feature : in.Strings("features")) text += feature + ";";
    d.features = in_file([&] { return ParseFeatures(text); });
  }
  const auto attribute = [&](const char* name, const auto& parse) {
    const std::string text = in.Text(name);
    try {
      return parse(text);
    } catch (const Error& error) {
      throw Error(Join(path, ": ", name, ": ", error.what()));
    }
  };
  d.clock = attribute("clock", Clock::Parse);
  d.clock.round_s = in.Number("round_s");
  d.knowledge = attribute("knowledge", ParseKnowledge);
  return in_file([&] { return Scenario(std::move(d)); });
}

}  // namespace

Scenario ReadScenario(const std::string& path) {
  return ReadScenarioFrom(h5::Reader(path, "scenario", kScenarioVersion));
}

void RehashScenario(const std::string& path) {
  const h5::Reader edited(path, "scenario", kScenarioVersion, /*edited=*/true);
  const std::string written = path + ".rehashed" + std::to_string(getpid());
  const struct Removed {  // unless it has moved
    const std::string& path;
    ~Removed() { std::remove(path.c_str()); }
  } removed{written};
  WriteScenario(ReadScenarioFrom(edited), written);
  const h5::Reader fresh(written, "scenario", kScenarioVersion);
  const auto check = [&](const char* what, const std::vector<std::string>& names,
                         const std::vector<std::string>& known) {
    for (const std::string& name : names) {
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      throw Error(Join(path, ": a scenario has no ", what, " '", name, "'", DidYouMean(name, known)));
    }
  };
  check("dataset", edited.Datasets(), fresh.Datasets());
  check("attribute", edited.Attributes(), fresh.Attributes());
  MoveWhole(written, path);
}

void WriteEvents(const RunResult& result, const Scenario& scenario, const std::string& scheduler,
                 const std::string& config, const std::string& path) {
  h5::Writer out(path, "events", kEventsVersion);
  out.Text("scheduler", scheduler);
  out.Text("scenario", scenario.data().name);
  out.Text("clock", scenario.data().clock.ToString());
  out.Text("config", config);
  out.Integer("scenario_hash", static_cast<std::int64_t>(scenario.Hash()));
  out.Integer("signature", static_cast<std::int64_t>(result.signature));
  std::vector<std::string> kinds;
  for (int k = 0; k <= static_cast<int>(EventKind::kUp); ++k)
    kinds.emplace_back(ToString(static_cast<EventKind>(k)));
  out.Strings("kinds", kinds);  // what the numbers of events/kind mean
  out.Array("events/time", ColumnOf(result.events, &Event::time));
  out.Array("events/kind", ColumnOf(result.events, [](const Event& event) {
              return static_cast<std::uint8_t>(event.kind);
            }));
  out.Array("events/job", ColumnOf(result.events, &Event::job));
  out.Array("events/type", ColumnOf(result.events, [](const Event& event) { return int{event.type}; }));
  out.Array("events/device", ColumnOf(result.events, &Event::device));
  for (const FeatureStates::Entry& feature : result.series.entries()) {
    feature.state->EachSeries([&](const char* name, const std::vector<double>& column, int wide) {
      std::vector<std::int64_t> shape;
      if (wide > 1) shape = {std::ssize(column) / wide, wide};
      out.Array(Join(feature.module->name, "/", name), column, std::move(shape));
    });
  }
  out.Commit();
}

}  // namespace berth

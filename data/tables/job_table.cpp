#include "data/tables/job_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>
#include <optional>
#include <set>

#include "data/tables/job_rows.hpp"
#include "data/throughputs.hpp"
#include "data/workload_list.hpp"
#include "env/base/check.hpp"
#include "env/base/counted.hpp"
#include "env/base/index.hpp"

namespace berth {
namespace {

// Where nothing is measured: every type alike, so that steps are seconds.
ThroughputTable AllAlike(const std::vector<std::string>& job_types, const std::vector<JobRow>& rows,
                         std::size_t types) {
  std::set<int> sizes;
  for (const JobRow& row : rows) sizes.insert(row.gang);
  ThroughputTable table;
  table.job_types = job_types;
  table.gang_sizes.assign(sizes.begin(), sizes.end());
  table.alone.assign(job_types.size() * sizes.size() * types, 1.0);
  return table;
}

ThroughputTable Measured(const Speeds& speeds, const std::vector<JobRow>& rows, const ClusterSpec& cluster,
                         std::vector<std::string>* estimated) {
  std::set<std::pair<int, int>> used;  // job type, gang
  for (const JobRow& row : rows) used.emplace(row.type, row.gang);
  return speeds.Table(cluster, std::vector<std::pair<int, int>>(used.begin(), used.end()), estimated);
}

// Steps/s of the fastest type that can run the gang, and may; 0 = none.
double Fastest(const JobRow& row, const ThroughputTable& table, const ClusterSpec& cluster) {
  const std::size_t types = cluster.types.size();
  double best = 0.0;
  for (std::size_t type = 0; type < types; ++type) {
    if (cluster.types[type].count < row.gang || !row.MayRunOn(type)) continue;
    best =
        std::max(best, AloneRate(table, row.type, row.gang, static_cast<int>(type), static_cast<int>(types)));
  }
  return best;
}

// Fills in steps; rows that nothing can run, or that ran where they cannot, are refused.
std::vector<JobRow> WithSteps(std::vector<JobRow> rows, const ThroughputTable& table,
                              const ClusterSpec& cluster, const std::string& path, JobRows& reader) {
  std::vector<JobRow> kept;
  for (JobRow& row : rows) {
    const double fastest = Fastest(row, table, cluster);
    double measured = std::isnan(row.ran_at) ? fastest : row.ran_at;
    if (row.ran_on >= 0)
      measured = AloneRate(table, row.type, row.gang, row.ran_on, static_cast<int>(cluster.types.size()));
    if (std::isnan(row.steps)) row.steps = row.duration * measured;
    if (fastest > 0.0 && row.steps > 0.0) {
      kept.push_back(std::move(row));
      continue;
    }
    reader.Refuse(Join(path, ":", row.line, ": expected a speed above 0 of '",
                       reader.job_types()[U(row.type)], "' with ", Counted(row.gang, "GPU"), " ",
                       fastest > 0.0 ? "where it ran" : "anywhere that it may run", ", found 0"));
  }
  return kept;
}

// The first that cannot be read, where more are than may be left out.
void CheckRefused(const std::vector<std::string>& refused, int skip_bad) {
  const int more = static_cast<int>(refused.size()) - 1;
  if (more < skip_bad || refused.empty()) return;
  throw Error(Join(refused.front(),
                   more == 0 ? ""
                             : Join("; and ", Counted(more, "row"), " more, which berth convert --skip-bad ",
                                    more + 1, " leaves out")));
}

// The jobs' own numbers where all have different ones; otherwise none.
std::vector<std::int64_t> OwnIds(const std::vector<JobRow>& rows) {
  std::vector<std::int64_t> ids;
  std::set<std::int64_t> seen;
  for (const JobRow& row : rows) {
    std::int64_t id = 0;
    const char* const end = row.id.data() + row.id.size();
    const auto read = std::from_chars(row.id.data(), end, id);
    if (row.id.empty() || read.ec != std::errc() || read.ptr != end || id < 0 || !seen.insert(id).second)
      return {};
    ids.push_back(id);
  }
  return ids;
}

// A column that the table has is a column of the scenario. Whether the jobs keep their own numbers.
bool FillJobs(const std::vector<JobRow>& rows, const JobColumns& columns, double origin, ScenarioData& data) {
  JobTable& jobs = data.jobs;
  jobs.id = OwnIds(rows);
  const bool own = !jobs.id.empty();
  const auto fill = [&](JobField field, auto& column, const auto& value) {
    if (!columns.Has(field)) return;
    for (const JobRow& row : rows) column.push_back(value(row));
  };
  for (const JobRow& row : rows) {
    if (!own) jobs.id.push_back(static_cast<std::int64_t>(jobs.id.size()));
    jobs.arrival.push_back(row.arrival - origin);
    jobs.job_type.push_back(row.type);
    jobs.gang.push_back(row.gang);
    jobs.total_steps.push_back(row.steps);
    jobs.demand.insert(jobs.demand.end(), row.demand.begin(), row.demand.end());
  }
  fill(JobField::kWeight, jobs.weight, [](const JobRow& row) { return row.weight; });
  fill(JobField::kDeadline, jobs.deadline, [&](const JobRow& row) { return row.deadline - origin; });
  fill(JobField::kLimit, jobs.requested_s, [](const JobRow& row) { return row.limit; });
  fill(JobField::kTenant, jobs.tenant, [](const JobRow& row) { return row.tenant; });
  fill(JobField::kGpusMin, jobs.gang_min,
       [](const JobRow& row) { return row.gang_min > 0 ? row.gang_min : row.gang; });
  fill(JobField::kGpusMax, jobs.gang_max,
       [](const JobRow& row) { return row.gang_max > 0 ? row.gang_max : row.gang; });
  fill(JobField::kShare, jobs.gpu_milli, [](const JobRow& row) { return row.gpu_milli; });
  fill(JobField::kBatch, jobs.batch_size, [](const JobRow& row) { return row.batch_size; });
  fill(JobField::kQos, jobs.qos, [](const JobRow& row) { return static_cast<int>(row.qos); });
  fill(JobField::kAllowed, jobs.allowed, [](const JobRow& row) { return row.allowed; });
  return own;
}

// What a column says of a type that states nothing where others do: what it would without the column.
double Unstated(const std::string& column) {
  if (column == "utilization") return 1.0;
  return column == "checkpoint_gb" || column == "gradient_gb" ? std::nan("") : 0.0;
}

// By job type; a column that no row states stays empty. Error for a type that the jobs and speeds do not
// name.
void FillTraits(const std::vector<JobTypeFacts>& facts, ScenarioData& data) {
  const std::vector<std::string>& names = data.throughputs.job_types;
  for (const JobTypeFacts& fact : facts) {
    const auto found = std::find(names.begin(), names.end(), fact.name);
    if (found == names.end())
      throw Error(Join(fact.where, ": name: expected a type that jobs or speeds name, found '", fact.name,
                       "'", DidYouMean(fact.name, names)));
    ForEachColumn(data.traits, [&](const std::string& name, std::vector<double>& column) {
      const auto value = fact.traits.find(name);
      if (value == fact.traits.end()) return;
      column.resize(names.size(), Unstated(name));
      column[static_cast<std::size_t>(found - names.begin())] = value->second;
    });
  }
}

// Those of the settings first, then those that the table alone names; `place[t]` is where the table's t-th
// is.
std::vector<Tenant> TenantsOf(const JobRows& reader, const ScenarioSettings& settings,
                              std::vector<int>& place) {
  std::vector<Tenant> tenants = settings.tenants;
  NameList names;
  for (const Tenant& tenant : tenants) names.Add(tenant.name);
  for (const std::string& name : reader.tenants()) {
    place.push_back(names.Add(name));
    if (names.names().size() > tenants.size()) tenants.push_back({name});
  }
  return tenants;
}

std::string WorkNote(const JobColumns& columns, const std::vector<JobRow>& rows, bool speeds) {
  if (columns.Has(JobField::kSteps))
    return Join("work: steps as stated",
                speeds ? "" : ", at 1 step/s on every GPU type, since no speeds are given");
  if (!speeds)
    return Join("work: the duration, on every GPU type alike, since no speeds are given",
                columns.Has(JobField::kRanOn)
                    ? Join("; the type in '", columns.Of(JobField::kRanOn), "' is not asked for then")
                    : "");
  if (!columns.Has(JobField::kRanOn)) return "work: duration x speed on the fastest type";
  const auto elsewhere =
      std::count_if(rows.begin(), rows.end(), [](const JobRow& row) { return !std::isnan(row.ran_at); });
  return Join(
      "work: duration x speed on the type in '", columns.Of(JobField::kRanOn),
      "', on the fastest where it states none",
      elsewhere == 0 ? "" : Join("; of ", Counted(elsewhere, "row"), " it is no type of the cluster"));
}

// "2024-03-01T10:00:00Z", where the times are epochs or dates.
std::string DateOf(double seconds) {
  const std::time_t time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  char text[32];
  gmtime_r(&time, &parts);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::vector<std::string> NotesOn(const JobRows& reader, const std::vector<JobRow>& rows, bool speeds,
                                 bool own_ids, const std::vector<Tenant>& tenants) {
  constexpr double kEpoch = 1e9;  // s: nobody counts from 0 for thirty years
  std::vector<std::string> notes = {"columns: " + reader.columns().Describe()};
  std::string unread;
  for (const std::string& name : reader.columns().Unread(reader.header()))
    unread += Join(unread.empty() ? "" : ", ", "'", name, "'");
  if (!unread.empty()) notes.push_back("not read: " + unread);
  notes.push_back(WorkNote(reader.columns(), rows, speeds));
  if (reader.columns().Has(JobField::kShare) && !reader.columns().Has(JobField::kSteps))
    notes.emplace_back(
        "durations count as measured on the shares: share_suffices=true (feature sharing) runs jobs so; "
        "without it a share gives that part of the speed, and they take as much longer");
  if (reader.dates() || rows.front().arrival >= kEpoch)
    notes.push_back(
        Join("arrivals from ", DateOf(rows.front().arrival), " to ", DateOf(rows.back().arrival)));
  if (!own_ids && reader.columns().Has(JobField::kId))
    notes.emplace_back("jobs are numbered from 0, since their ids are not different numbers");
  if (reader.job_steps() > 0)
    notes.push_back(
        Join("left out as steps of a job, such as 12.batch: ", Counted(reader.job_steps(), "row")));
  if (reader.never_ran() > 0)
    notes.push_back(Join("left out, since their elapsed time is 0: ", Counted(reader.never_ran(), "row")));
  if (reader.unended() > 0)
    notes.push_back(
        Join("left out, since by their state they have not ended: ", Counted(reader.unended(), "row")));
  if (reader.without_gpu() > 0)
    notes.push_back(Join("left out, since they have no GPU: ", Counted(reader.without_gpu(), "row")));
  for (const Tenant& tenant : tenants) {
    if (std::find(reader.tenants().begin(), reader.tenants().end(), tenant.name) == reader.tenants().end())
      notes.push_back(
          Join("tenant '", tenant.name, "' has no job", DidYouMean(tenant.name, reader.tenants())));
  }
  return notes;
}

}  // namespace

JobTableScenario ReadJobTable(const std::string& path, const JobTableRequest& request,
                              const ScenarioSettings& settings) {
  const ClusterSpec& cluster = settings.cluster;
  if (cluster.types.empty())
    throw Error(Join(path, ": a table of jobs says nothing of its cluster: give --cluster"));
  std::optional<Speeds> speeds;
  if (!request.speeds.empty()) speeds.emplace(request.speeds);
  JobRows reader(path, request.columns, speeds ? &*speeds : nullptr, cluster);
  std::vector<JobRow> rows = reader.Read();
  CheckRefused(reader.refused(), request.skip_bad);  // before what they lack is missed
  ScenarioData data = BaseScenario(settings, path.substr(path.find_last_of("/:") + 1), path);
  std::vector<std::string> estimated;
  data.throughputs = speeds
                         ? Measured(*speeds, rows, cluster, request.estimate_missing ? &estimated : nullptr)
                         : AllAlike(reader.job_types(), rows, cluster.types.size());
  rows = WithSteps(std::move(rows), data.throughputs, cluster, path, reader);
  CheckRefused(reader.refused(), request.skip_bad);
  if (rows.empty()) throw Error(Join(path, ": expected a job with a GPU a line, found none"));
  // Seconds may look so by chance, as one in thirty does of those that begin with a year: not all of a
  // table's, but for the few jobs of a scenario that was written as a table, which states its origin.
  if (reader.digits() && !settings.origin_s)
    throw Error(
        Join(path, ": column '", reader.columns().Of(JobField::kArrival),
             "': expected seconds, or dates such as 2024-03-01, found dates without '-' in every row"));
  std::stable_sort(rows.begin(), rows.end(),
                   [](const JobRow& a, const JobRow& b) { return a.arrival < b.arrival; });
  const double origin = OriginOf(settings, rows.front().arrival, path);
  if (reader.columns().Has(JobField::kTenant)) {
    std::vector<int> place;
    data.tenants = TenantsOf(reader, settings, place);
    for (JobRow& row : rows) row.tenant = place[U(row.tenant)];
  }
  const bool own_ids = FillJobs(rows, reader.columns(), origin, data);
  FillTraits(settings.job_types, data);
  std::vector<std::string> notes = NotesOn(reader, rows, speeds.has_value(), own_ids, settings.tenants);
  for (const std::string& speed : estimated) notes.push_back("estimated: " + speed);
  return {Scenario(std::move(data), [&](int job) { return Join(path, ":", rows[U(job)].line); }),
          std::move(notes), reader.refused()};
}

FormatInfo TableFormatInfo() {
  return {"table",
          "any table of jobs with a header line: CSV, or by ';', '|' or tabs, plain or gzip; columns are "
          "guessed, or "
          "named to berth convert",
          "one's own",
          {ClockKind::kEvent, 360.0},
          [](const std::string& path, const ScenarioSettings& settings) {
            return ReadJobTable(path, {}, settings).scenario;
          }};
}

}  // namespace berth

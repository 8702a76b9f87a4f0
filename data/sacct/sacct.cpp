// A site's Slurm accounting as a scenario. The file to name is what `sacct -a -D -X -P --format=...` or
// `sacct -a -D --json` wrote; beside it may lie slurm.conf (the nodes, where --cluster names none) and
// events.txt, of `sacctmgr show event -P`, and reservations.txt, of `sacctmgr show reservation -P` or
// `scontrol show reservation`, also with --json.
//
// - job: one run of a job or of an array's task; its id is JobIDRaw, of the k-th run after requeues plus k
// 10^12
// - arrival: when it was submitted; when it became eligible, where something held it that is not in the
// scenario, also beside others that it waits for
// - run time: what it ran, whatever became of it, and while it was suspended: it held its GPUs
// - request: its time limit
// - GPUs: those of AllocTRES; types: the one that ReqTRES names, or those that a constraint names, else its
//   partition's
// - job type: "PARTITION:QOS", as the scheduler slurm reads it; all run at 1 step/s on every type
// - tenant: "ACCOUNT/USER"
// - waits for: --dependency=afterok, afterany and aftercorr of jobs in the file (feature stages)
// - nodes: DOWN: outages; DRAIN, FAIL, MAINT: outages that are announced for as long as they last (feature
//   failures)
//
// A run that ended by NODE_FAIL or PREEMPTED and was queued again is one job with the run behind it, where
// that one ran and has ended: in the scenario nodes fail, and schedulers preempt, by themselves. Times
// without zone count as UTC.
//
// What a scenario cannot say is counted, a line each, in its provenance.
#include <algorithm>
#include <cmath>
#include <map>

#include "data/rigid_trace.hpp"
#include "data/sacct/accounting.hpp"
#include "data/sacct/json_fields.hpp"
#include "data/sacct/node_outages.hpp"
#include "data/sacct/reservations.hpp"
#include "data/sacct/site.hpp"
#include "data/tables/words.hpp"
#include "data/text_file.hpp"
#include "data/workload_list.hpp"
#include "env/base/check.hpp"
#include "env/base/spec.hpp"
#include "env/features/table.hpp"

namespace berth {
namespace {

constexpr std::int64_t kNextRun = 1'000'000'000'000;  // between ids of a job's runs
// s, within which Slurm sees that a dependency is fulfilled: its main scheduler runs so often
// (sched_interval).
constexpr double kSeesDependency = 60.0;

// Figures that may be 0, in the order in which they are said.
class Counts {
 public:
  void Add(const std::string& what, int many = 1) {
    for (auto& [words, count] : counts_) {
      if (words == what) return void(count += many);
    }
    counts_.emplace_back(what, many);
  }
  std::string Lines() const {
    std::string text;
    for (const auto& [words, count] : counts_) {
      if (count > 0) text += Join("\n  ", count, " ", words);
    }
    return text;
  }

 private:
  std::vector<std::pair<std::string, int>> counts_;
};

int Total(const std::map<std::string, int>& gpus) {
  const auto all = gpus.find("");
  if (all != gpus.end()) return all->second;
  int total = 0;
  for (const auto& [type, count] : gpus) total += count;
  return total;
}

std::uint64_t TypesNamed(const Site& site, const std::string& name) {
  std::uint64_t bits = 0;
  for (std::size_t g = 0; g < site.asked_as.size(); ++g) {
    if (SameWord(site.asked_as[g], name)) bits |= std::uint64_t{1} << g;
  }
  return bits;
}

// Of a constraint: "v100", "v100|p100", "[v100|p100]", "v100&ib". `all_said` = bits of types are all of it.
std::uint64_t TypesOf(const Site& site, const std::string& constraint, bool& all_said) {
  std::string text;
  for (const char c : constraint)
    if (c != '[' && c != ']') text += c == ',' ? '&' : c;
  const bool either = text.find('|') != std::string::npos, both = text.find('&') != std::string::npos;
  all_said = !(either && both) && text.find_first_of("(*") == std::string::npos;
  if (!all_said) return ~std::uint64_t{0};
  std::uint64_t any = 0, all = ~std::uint64_t{0};
  for (const std::string& name : SplitOutsideParentheses(text, either ? '|' : '&')) {
    const std::uint64_t bits = TypesNamed(site, Trim(name));
    all_said = all_said && bits != 0;
    any |= bits;
    if (bits != 0) all &= bits;
  }
  return either ? (all_said ? any : ~std::uint64_t{0}) : all;
}

class Reader {
 public:
  Reader(const SacctTable& table, const Site& site) : table_(table), site_(site) {}

  void Read() {
    std::map<std::int64_t, std::vector<const SacctRow*>> runs;
    for (const SacctRow& row : table_.rows) runs[row.id].push_back(&row);
    for (auto& [id, of_job] : runs) {
      std::stable_sort(of_job.begin(), of_job.end(),
                       [](const SacctRow* a, const SacctRow* b) { return a->submit < b->submit; });
      ReadJob(of_job);
    }
    for (std::size_t k = 0; k < jobs.size(); ++k) Place(k);
    first = kNever;
    for (const RigidJob& job : jobs) first = std::min(first, job.submit);
    for (RigidJob& job : jobs) job.submit -= first;
    for (const SacctRow& row : table_.rows) {
      if (!row.reservation.empty()) counts.Add("jobs ran in a reservation, and run as others do");
    }
  }

  // What maintenance keeps nodes for, and reservations in which no job of the log ran, keep new jobs away:
  // but for those that left their nodes to others, as Slurm lets them (some cores of a node, FLEX).
  std::vector<NodeEvent> Closed(const std::vector<Reservation>& reservations) {
    std::vector<NodeEvent> events;
    for (const Reservation& one : reservations) {
      counts.Add("reservations repeat, and only one of their times is known: sacctmgr tells those that were",
                 one.more_times ? 1 : 0);
      bool used = false, shared = false;
      for (const SacctRow& row : table_.rows) {
        if (row.elapsed <= 0.0 || !(row.start < one.end && row.start + row.elapsed > one.start)) continue;
        if (row.reservation == one.name)
          used = true;
        else if (row.reservation == SacctRow::kUnnamed)
          used = used || RanOn(row, one.nodes);
        else if (row.reservation.empty() && row.start > one.start)
          shared = shared || RanOn(row, one.nodes);
      }
      if (used && !one.maintenance) {
        counts.Add("reservations are not in the scenario: jobs of the accounting ran in them");
      } else if (one.nodes.empty()) {
        counts.Add("reservations name no nodes and are left out");
      } else if (shared) {
        counts.Add("reservations are not in the scenario: other jobs started on their nodes meanwhile");
      } else {
        for (const std::string& node : one.nodes)
          events.push_back({one.line, node, "MAINT", one.start, one.end});
      }
    }
    return events;
  }

  std::vector<RigidJob> jobs;
  std::vector<Tenant> tenants;
  std::vector<std::string> kinds;
  std::string after;  // child>parent:...
  double first = 0.0;
  Counts counts;

 private:
  static bool RanOn(const SacctRow& row, const std::vector<std::string>& nodes) {
    return std::ranges::any_of(ExpandHosts(row.nodes, row.where), [&](const std::string& node) {
      return std::ranges::find(nodes, node) != nodes.end();
    });
  }

  // What is said of a run that is one job with the run behind it; null = they are two.
  static const char* OneWithNext(const std::string& state) {
    if (state == "NODE_FAIL")
      return "runs ended with their node and were queued again: one job with the run behind them";
    if (state == "PREEMPTED") return "runs were preempted and queued again: one job with the run behind them";
    if (state == "RESIZING")
      return "changes of the size of a running job: here it has the last one all the time";
    return nullptr;
  }

  void ReadJob(const std::vector<const SacctRow*>& runs) {
    std::size_t first_of = 0;  // the run that queued what is one job
    for (std::size_t k = 0; k < runs.size(); ++k) {
      const SacctRow& row = *runs[k];
      if (k + 1 < runs.size() && OneWithNext(row.state) != nullptr && !std::isnan(row.start)) continue;
      if (row.state == "REQUEUED") counts.Add("runs were requeued: the run behind each is a job of its own");
      // The last of them that ran: behind a node's failure it may have been cancelled while it waited.
      const auto keep = [&](std::size_t run) {
        return Keep(*runs[run], *runs[first_of], static_cast<int>(run), first_of > 0);
      };
      const char* left_out = keep(k);
      std::size_t last = k;
      for (const char* why = left_out; why != nullptr && last > first_of;) why = keep(--last);
      for (std::size_t joined = first_of; joined < last; ++joined)
        counts.Add(OneWithNext(runs[joined]->state));
      if (left_out != nullptr) counts.Add(left_out);
      first_of = k + 1;
    }
  }

  // Null = it is a job of the scenario, else why not.
  const char* Keep(const SacctRow& row, const SacctRow& from, int run, bool requeued) {
    const int gang = Total(row.given.empty() ? row.asked : row.given);
    if (gang == 0) return "jobs without GPU are left out";
    if (IsUnended(row.state)) return "jobs had not ended and are left out";
    // Who was cancelled while it waited started, as Slurm 22.05 tells it, when it ended, on nothing.
    if (std::isnan(row.start) || (row.given.empty() && row.elapsed <= 0.0)) {
      return row.state == "CANCELLED"
                 ? "jobs were cancelled before they started and are left out, though they stood in the queue"
                 : "jobs never started and are left out";
    }
    if (row.elapsed <= 0.0) return "jobs ran no second and are left out";
    RigidJob job;
    if (const char* why = FindAllowed(row, gang, job.allowed)) return why;
    job.id = row.id + run * kNextRun;
    job.seconds = row.elapsed;
    job.gang = gang;
    if (std::isfinite(row.limit)) job.requested = row.limit;
    if (std::isinf(row.limit)) counts.Add("jobs have no time limit");
    if (row.suspended > 0.0)
      counts.Add("jobs were suspended for a while: that counts as run time, since they held their GPUs");
    if (row.heterogeneous)
      counts.Add("jobs are parts of a heterogeneous job, which start together: here each starts by itself");
    job.line = row.line;
    job.tenant = TenantNamed(
        Join(row.account.empty() ? "default" : row.account, "/", row.user.empty() ? "default" : row.user),
        tenants);
    const std::string kind =
        Join(row.partition.empty() ? "default" : row.partition, ":", row.qos.empty() ? "normal" : row.qos);
    const auto at = std::find(kinds.begin(), kinds.end(), kind);
    job.kind = static_cast<int>(at - kinds.begin());
    if (at == kinds.end()) kinds.push_back(kind);
    CountSpread(row, gang, job.allowed);
    if (std::count_if(row.given.begin(), row.given.end(),
                      [](const auto& of) { return !of.first.empty() && of.second > 0; }) > 1)
      counts.Add("jobs ran on GPUs of several types at once: here each has one type");
    jobs.push_back(job);
    rows_.push_back(&from);
    requeued_.push_back(requeued);
    kept_[row.id] = job.id;
    ends_[job.id] = row.end;
    if (row.array_job != 0) tasks_[row.array_job][row.array_task] = job.id;
    return nullptr;
  }

  // The types that it may run on; else why it is left out.
  const char* FindAllowed(const SacctRow& row, int gang, std::uint64_t& bits) {
    bits = site_.cluster.types.size() == 64 ? ~std::uint64_t{0}
                                            : (std::uint64_t{1} << site_.cluster.types.size()) - 1;
    int typed = 0;
    for (const auto& [type, count] : row.asked) {
      if (type.empty()) continue;
      ++typed;
      bits &= TypesNamed(site_, type);
    }
    if (typed > 1) return "jobs asked for GPUs of several types at once and are left out";
    if (typed == 0 && !row.constraints.empty()) {
      bool all_said = true;
      bits &= TypesOf(site_, row.constraints, all_said);
      if (!all_said)
        counts.Add("jobs have constraints that name more than GPU types, which are not in the scenario");
    }
    if (const auto at = site_.of_partition.find(row.partition); at != site_.of_partition.end())
      bits &= at->second;
    if (bits == 0)
      return "jobs asked for GPU types that the cluster or their partition lacks and are left out";
    for (std::size_t g = 0; g < site_.cluster.types.size(); ++g) {
      if ((bits >> g & 1U) != 0 && site_.cluster.types[g].count >= gang) return nullptr;
    }
    return "jobs are larger than every GPU type that they may run on and are left out";
  }

  void CountSpread(const SacctRow& row, int gang, std::uint64_t bits) {
    if (row.num_nodes <= 1) return;
    for (std::size_t g = 0; g < site_.cluster.types.size(); ++g) {
      const int per_node = site_.cluster.types[g].gpus_per_node;
      if ((bits >> g & 1U) != 0 && (gang + per_node - 1) / per_node == row.num_nodes) return;
    }
    counts.Add("jobs were spread over more nodes than their GPUs need: the scenario does not say so");
  }

  // Dependencies, and from them the arrival.
  void Place(std::size_t k) {
    RigidJob& job = jobs[k];
    const SacctRow& row = *rows_[k];
    job.submit = row.submit;
    const bool later = row.eligible > row.submit;
    if (!requeued_[k] && !row.dependency.empty()) {
      std::vector<std::int64_t> parents;
      if (Parents(row, parents)) {
        double free = row.submit;  // when the last of them had ended
        for (std::int64_t parent : parents) {
          after += Join(after.empty() ? "" : ":", job.id, ">", parent);
          free = std::max(free, ends_.at(parent));
        }
        counts.Add("jobs wait for others by --dependency", parents.empty() ? 0 : 1);
        if (!(row.eligible > free + kSeesDependency)) return;
        counts.Add(
            "jobs that wait for others were held beyond that, or to begin later: they arrive when eligible");
      } else {
        counts.Add("jobs have a --dependency that the scenario cannot say, and arrive when it was fulfilled");
      }
    } else if (later && requeued_[k]) {
      counts.Add("jobs were requeued and held for a while: they arrive when they became eligible");
    } else if (later && row.array_limit) {
      counts.Add("array tasks waited for their array's limit: they arrive when they became eligible");
    } else if (later) {
      counts.Add(
          table_.says_dependencies
              ? "jobs were held, to begin later or waited for what a line #SBATCH of their script says: they "
                "arrive when they became eligible"
              : "jobs were held, to begin later or waited for others, which only a column SubmitLine tells "
                "apart: they arrive when they became eligible");
    }
    if (later) job.submit = row.eligible;
  }

  // False where something of it cannot be said.
  bool Parents(const SacctRow& row, std::vector<std::int64_t>& parents) const {
    if (row.dependency.find('?') != std::string::npos) return false;
    for (const std::string& part : SplitOutsideParentheses(row.dependency, ',')) {
      const std::vector<std::string> words = SplitOutsideParentheses(part, ':');
      const std::string& kind = words[0];
      if (words.size() < 2 || (kind != "afterok" && kind != "afterany" && kind != "aftercorr")) return false;
      for (std::size_t i = 1; i < words.size(); ++i) {
        if (!AddParents(words[i], kind == "aftercorr" ? row.array_task : -1, parents)) return false;
      }
    }
    return true;
  }

  // "17", a whole array's id, or "2_7".
  bool AddParents(const std::string& text, std::int64_t same_task, std::vector<std::int64_t>& parents) const {
    if (text.empty() || text.find_first_not_of("0123456789_") != std::string::npos) return false;
    const std::size_t under = text.find('_');
    const std::int64_t id = ParseInteger(text.substr(0, under), "a dependency");
    const auto array = tasks_.find(id);
    if (array == tasks_.end()) {
      const auto at = kept_.find(id);
      if (at == kept_.end() || under != std::string::npos) return false;
      parents.push_back(at->second);
      return true;
    }
    if (under != std::string::npos) same_task = ParseInteger(text.substr(under + 1), "a dependency");
    for (const auto& [task, parent] : array->second) {
      if (same_task < 0 || task == same_task) parents.push_back(parent);
    }
    return same_task < 0 || array->second.count(same_task) == 1;
  }

  const SacctTable& table_;
  const Site& site_;
  std::vector<const SacctRow*> rows_;  // of jobs: what queued it
  std::vector<bool> requeued_;
  std::map<std::int64_t, std::int64_t> kept_;                           // by JobIDRaw: the last run's id
  std::map<std::int64_t, double> ends_;                                 // s since 1970, by that
  std::map<std::int64_t, std::map<std::int64_t, std::int64_t>> tasks_;  // by array and task
};

Scenario Read(const std::string& path, const ScenarioSettings& given) {
  const SacctTable table = LooksLikeJson(ReadText(path)) ? ReadSacctJson(path) : ReadSacctText(path);
  const Site site = SiteOf(path, given);
  Reader reader(table, site);
  reader.Read();
  if (reader.jobs.empty())
    throw Error(Join(path, ": expected a job with GPUs that ended, found none:", reader.counts.Lines()));
  reader.counts.Add("nodes of slurm.conf have State=FUTURE and are not in the cluster", site.future_nodes);
  std::string features;
  if (!reader.after.empty()) features += Join("stages(after=", reader.after, ")");
  std::string gone;  // outages
  const std::string events_path = Beside(path, "events.txt");
  if (!events_path.empty()) {
    const NodeOutages outages = OutagesOf(ReadNodeEvents(events_path), site.nodes, reader.first);
    reader.counts.Add("node outages from events.txt", outages.down);
    reader.counts.Add("drains: nodes take no new job meanwhile; what still runs when one ends is stopped",
                      outages.drained);
    reader.counts.Add(
        "node events are not in the scenario, whose cluster is not that of a slurm.conf beside the "
        "accounting",
        outages.unplaced);
    reader.counts.Add("node events are of nodes without GPUs or that slurm.conf does not name, and left out",
                      outages.unknown);
    reader.counts.Add(
        "node events ended before the first job, took no time or are of a state that changes nothing, and "
        "left out",
        outages.irrelevant);
    gone = outages.text;
  }
  if (const std::string path_of = Beside(path, "reservations.txt"); !path_of.empty()) {
    const NodeOutages closed = OutagesOf(reader.Closed(ReadReservations(path_of)), site.nodes, reader.first);
    reader.counts.Add(
        "times of a node in a reservation for maintenance, or that no job used: it takes no new job "
        "meanwhile; what still runs when one ends is stopped",
        closed.drained);
    reader.counts.Add(
        "times of a node in a reservation are not in the scenario, whose cluster is not that of a slurm.conf "
        "beside the accounting",
        closed.unplaced);
    reader.counts.Add(
        "times in a reservation are of nodes without GPUs or that slurm.conf does not name, or ended before "
        "the first job, and left out",
        closed.unknown + closed.irrelevant);
    if (!closed.text.empty()) gone += Join(gone.empty() ? "" : "|", closed.text);
  }
  if (!gone.empty()) features += Join(features.empty() ? "" : ";", "failures(mtbf_h=0,events=", gone, ")");
  ScenarioSettings settings = given;
  settings.features = ParseFeaturesBeside(ParseFeatures(features), ToString(settings.features));
  settings.origin_s = 0.0;  // of the jobs and outages as they are now
  std::string note = reader.counts.Lines();
  if (!note.empty()) note = Join(" (", note, ")");
  return RigidScenario(path, settings, site.cluster, std::move(reader.jobs), std::move(reader.tenants), note,
                       std::move(reader.kinds));
}

std::vector<std::string> SacctFilesBeside(const std::string& path) {
  std::vector<std::string> files;
  for (const char* name : {"slurm.conf", "events.txt", "reservations.txt"}) {
    if (std::string file = Beside(path, name); !file.empty()) files.push_back(std::move(file));
  }
  return files;
}

}  // namespace

FormatInfo SacctFormatInfo() {
  return {
      "sacct",
      "a site's Slurm accounting, of sacct -P or sacct --json; beside it slurm.conf, events.txt (sacctmgr "
      "show event -P) and reservations.txt (sacctmgr or scontrol show reservation)",
      "sacct(1), sacctmgr(1), slurm.conf(5), Slurm 22.05",
      {ClockKind::kEvent, 360.0},
      Read,
      SacctFilesBeside};
}

}  // namespace berth

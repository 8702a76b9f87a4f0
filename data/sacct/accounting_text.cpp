// `sacct -P` and `sacctmgr show event -P`.
#include <algorithm>
#include <optional>
#include <string_view>

#include "data/sacct/accounting.hpp"
#include "data/sacct/pipe_file.hpp"
#include "env/base/check.hpp"
#include "env/base/slurm_conf.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

// TimelimitRaw is in minutes, Timelimit as [D-]HH:MM:SS.
double Limit(const PipeFile& file) {
  for (const char* name : {"TimelimitRaw", "Timelimit"}) {
    const std::string text = file.Text(name);
    if (text.empty() || text == "Partition_Limit") continue;
    return ParseSlurmSpan(text, file.Where(name));
  }
  return SacctRow::kUnknown;
}

double Elapsed(const PipeFile& file) {
  if (!file.Text("ElapsedRaw").empty()) return static_cast<double>(file.Whole("ElapsedRaw"));
  return file.Text("Elapsed").empty() ? 0.0 : ParseSlurmSpan(file.Text("Elapsed"), file.Where("Elapsed"));
}

// "2_7" of task 7; "2_[8-9%2]" of those that still wait. "2+1" is a part of a heterogeneous job.
void ReadArray(const PipeFile& file, SacctRow& row) {
  const std::string text = file.Text("JobID");
  row.heterogeneous = text.find('+') != std::string::npos;
  const std::size_t under = text.find('_');
  if (under == std::string::npos) return;
  row.array_job = ParseInteger(text.substr(0, under), file.Where("JobID"));
  if (text[under + 1] != '[') row.array_task = ParseInteger(text.substr(under + 1), file.Where("JobID"));
}

// A long option of sbatch, salloc or srun.
struct LongOption {
  std::string name;
  bool value;  // may be the next word; of others it stands behind '=' alone
};

std::vector<LongOption> MakeLongOptions() {
  const std::string flags =
      "async bcast bell compress consolidate-segments contiguous debugger-test disable-status exact "
      "exclusive external external-launcher get-user-env help hold ignore-pbs immediate interactive "
      "kill-command kill-on-bad-exit label multi-prog nice no-allocate no-bell no-kill no-requeue "
      "no-shell oom-kill-step overcommit overlap oversubscribe parsable preserve-env propagate pty "
      "quiet quit-on-interrupt reboot requeue resv-ports send-libs share spread-job spread-segments "
      "stepmgr test-only unbuffered usage use-min-nodes verbose version wait wait-for-children whole "
      "x11";
  const std::string with_value =
      "accel-bind account acctg-freq array batch bb bbf bcast-exclude begin chdir cluster "
      "cluster-constraint clusters comment constraint container container-id context core-spec "
      "cores-per-socket cpu-bind cpu-freq cpus-per-gpu cpus-per-task deadline delay-boot dependency "
      "distribution environment epilog error exclude export export-file extra extra-node-info gid "
      "gpu-bind gpu-freq gpus gpus-per-node gpus-per-socket gpus-per-task gres gres-flags het-group "
      "hint ignore-signals input job-name jobid kill-on-invalid-dep licenses mail-type mail-user "
      "mcs-label mem mem-bind mem-per-cpu mem-per-gpu mem-update mincpus mpi msg-timeout network "
      "nodefile nodelist nodes ntasks ntasks-per-core ntasks-per-gpu ntasks-per-node ntasks-per-socket "
      "ntasks-per-tres open-mode output pack-group partition power prefer priority profile prolog qos "
      "relative reservation resources runtime segment signal slurmd-debug sockets-per-node switches "
      "task-epilog task-prolog tasks-per-node thread-spec threads threads-per-core time time-min tmp "
      "treewidth tres-bind tres-per-task uid wait-all-nodes wckey wrap";
  std::vector<LongOption> options{{"--", false}};
  for (const std::string& name : SplitAt(flags, ' ')) options.push_back({"--" + name, false});
  for (const std::string& name : SplitAt(with_value, ' ')) options.push_back({"--" + name, true});
  std::sort(options.begin(), options.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return options;
}

// The option of this name or, as sbatch takes it, the only one that begins so; null = none.
const LongOption* FindLongOption(std::string_view name) {
  static const std::vector<LongOption> options = MakeLongOptions();
  const auto found =
      std::lower_bound(options.begin(), options.end(), name,
                       [](const LongOption& option, std::string_view its) { return option.name < its; });
  if (found == options.end() || !found->name.starts_with(name)) return nullptr;
  const bool several = found + 1 != options.end() && (found + 1)->name.starts_with(name);
  return found->name == name || !several ? &*found : nullptr;
}

// Where in a word as "-d" the letter stands that has a value, behind those without one, as in "-Hvd"; npos =
// nowhere.
std::size_t ValueLetter(const std::string& word) {
  return word.starts_with('-') ? word.find_first_not_of("EHOQVWXZhlsuv", 1) : std::string::npos;
}

// Whether `next`, the word behind this option, is its value.
bool ValueIsNext(const std::string& option, const std::string& next) {
  if (option.starts_with("--")) {
    if (option.find('=') != std::string::npos) return false;
    const LongOption* known = FindLongOption(option);
    return known != nullptr ? known->value : !next.starts_with('-');
  }
  const std::size_t last = ValueLetter(option);
  // Values of k, I and K are never apart.
  return last + 1 == option.size() && std::string("kIK").find(option[last]) == std::string::npos;
}

}  // namespace

std::map<std::string, int> GpusOf(const std::string& tres, const std::string& what) {
  std::map<std::string, int> gpus;
  for (const std::string& entry : SplitOutsideParentheses(tres, ',')) {
    if (entry.rfind("gres/gpu", 0) != 0) continue;
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos || (entry[8] != '=' && entry[8] != ':')) {
      if (equals != std::string::npos) continue;  // gres/gpuutil, gres/gpumem
      throw Error(Join(what, ": expected gres/gpu[:TYPE]=COUNT, found '", entry, "'"));
    }
    const long long count = ParseInteger(entry.substr(equals + 1), what);
    if (count < 0 || count > 1'000'000)
      throw Error(Join(what, ": expected 0 to 1000000 GPUs, found ", count));
    gpus[entry[8] == ':' ? entry.substr(9, equals - 9) : ""] += static_cast<int>(count);
  }
  return gpus;
}

std::string OptionOf(const std::string& submit_line, const std::string& name, const std::string& letter) {
  const std::vector<std::string> words = SplitAt(submit_line, ' ');
  std::optional<std::string> found;
  bool behind = false;  // the script's name, or what looks like it
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const std::string next = i + 1 < words.size() ? words[i + 1] : "";
    const std::size_t equals = word.find('=');
    const LongOption* option =
        word.starts_with("--") ? FindLongOption(std::string_view(word).substr(0, equals)) : nullptr;
    if (option != nullptr && option->name == "--wrap") break;  // the job's own words follow
    if (option != nullptr && option->name == name) {
      found = equals != std::string::npos ? word.substr(equals + 1) : next;
    } else if (const std::size_t at = ValueLetter(word);
               at != std::string::npos && !letter.empty() && word[at] == letter[1]) {
      found = at + 1 < word.size() ? word.substr(at + 1) : next;
    }
    if (behind && found) break;
    if (behind || i == 0 || word.empty()) continue;
    if (word[0] != '-') {
      if (found) break;
      behind = true;
    } else if (ValueIsNext(word, next)) {
      ++i;
    }
  }
  return found.value_or("");
}

void ReadSubmitLine(const std::string& line, SacctRow& row) {
  if (row.reservation.empty()) row.reservation = OptionOf(line, "--reservation", "");
  // A script may have an option -d of its own.
  const std::string dependency = OptionOf(line, "--dependency", "-d");
  if (dependency.starts_with("after") || dependency.starts_with("singleton")) row.dependency = dependency;
  if (OptionOf(line, "--array", "-a").find('%') != std::string::npos) row.array_limit = true;
  // Slurm 22.05 states what was only preferred, and was given, as a constraint.
  if (row.constraints == OptionOf(line, "--prefer", "")) row.constraints.clear();
}

SacctTable ReadSacctText(const std::string& path) {
  PipeFile file(path);
  for (const char* name : {"JobIDRaw", "State", "Submit", "Start", "End", "AllocTRES"}) file.Need(name);
  if (!file.Has("ElapsedRaw")) file.Need("Elapsed");
  SacctTable table;
  table.says_dependencies = file.Has("SubmitLine");
  while (file.Next()) {
    const std::string id = file.Text("JobIDRaw");
    if (id.find('.') != std::string::npos) {  // "17.batch", "17.0"
      ++table.steps;
      continue;
    }
    SacctRow row;
    row.where = file.Where();
    row.line = file.line();
    row.id = file.Whole("JobIDRaw");
    ReadArray(file, row);
    row.user = file.Text("User");
    row.account = file.Text("Account");
    row.partition = file.Text("Partition");
    row.qos = file.Text("QOS");
    row.state = file.Text("State").substr(0, file.Text("State").find(' '));  // "CANCELLED by 1000"
    if (row.state.empty())
      throw Error(Join(file.Where("State"), ": expected a state such as COMPLETED, found nothing"));
    row.nodes = file.Text("NodeList");
    row.reservation = file.Text("Reservation");
    row.constraints = file.Text("Constraints");
    row.submit = file.Moment("Submit", SacctRow::kUnknown);
    if (row.submit != row.submit) {
      throw Error(Join(file.Where("Submit"), ": expected a time such as 2026-03-01T14:05:06, found '",
                       file.Text("Submit"), "'"));
    }
    row.eligible = file.Moment("Eligible", SacctRow::kUnknown);
    row.start = file.Moment("Start", SacctRow::kUnknown);
    row.end = file.Moment("End", SacctRow::kUnknown);
    if (!file.Text("Suspended").empty())
      row.suspended = ParseSlurmSpan(file.Text("Suspended"), file.Where("Suspended"));
    row.elapsed = Elapsed(file) + row.suspended;
    row.limit = Limit(file);
    if (!file.Text("NNodes").empty()) row.num_nodes = static_cast<int>(file.Whole("NNodes"));
    row.asked = GpusOf(file.Text("ReqTRES"), file.Where("ReqTRES"));
    row.given = GpusOf(file.Text("AllocTRES"), file.Where("AllocTRES"));
    ReadSubmitLine(file.Text("SubmitLine"), row);
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<NodeEvent> ReadNodeEvents(const std::string& path) {
  PipeFile file(path);
  for (const char* name : {"NodeName", "TimeStart", "TimeEnd", "State"}) file.Need(name);
  std::vector<NodeEvent> events;
  while (file.Next()) {
    NodeEvent event;
    event.line = file.line();
    event.node = file.Text("NodeName");
    if (event.node.empty()) continue;
    event.state = file.Text("State");
    event.start = file.Moment("TimeStart", SacctRow::kUnknown);
    if (event.start != event.start) {
      throw Error(Join(file.Where("TimeStart"), ": expected a time such as 2026-03-01T14:05:06, found '",
                       file.Text("TimeStart"), "'"));
    }
    event.end = file.Moment("TimeEnd", std::numeric_limits<double>::infinity());
    if (event.end < event.start) {
      throw Error(Join(file.Where("TimeEnd"), ": expected a time from ", file.Text("TimeStart"),
                       " on, found '", file.Text("TimeEnd"), "'"));
    }
    events.push_back(std::move(event));
  }
  return events;
}

}  // namespace berth

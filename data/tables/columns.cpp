#include "data/tables/columns.hpp"

#include <algorithm>
#include <cctype>

#include "env/base/check.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

std::string Plain(const std::string& name) {
  std::string plain;
  for (const char c : name) {
    if (std::string("_- .").find(c) == std::string::npos)
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return plain;
}

std::string Guess(const JobFieldInfo& info, const std::vector<std::string>& header) {
  for (const char* usual : info.usual) {
    for (const std::string& column : header) {
      if (Plain(column) == Plain(usual)) return column;
    }
  }
  return "";
}

}  // namespace

std::span<const JobFieldInfo> JobFields() {
  // sacct, Kubernetes exports, Philly, ITP, Helios, PAI, Gavel: as their headers have them.
  static const std::vector<JobFieldInfo> fields = {
      {JobField::kId, "id", "the job's number or name", {"id", "job_id", "jobidraw", "pod", "pod_name", "uid"}},
      {JobField::kArrival,
       "arrival",
       "when it was submitted: s, epoch or ISO 8601",
       {"arrival", "arrival_time", "arrival_s", "submit", "submit_time", "submit_s", "submit_ts", "submitted",
        "submitted_at", "submission_time", "created", "created_at", "creation_timestamp", "creation_time", "queued_at"}},
      {JobField::kDuration,
       "duration",
       "how long it ran: s, 1-02:03:04 or 1h30m",
       {"duration", "duration_s", "elapsed", "elapsed_raw", "runtime", "run_time", "run_s", "run_seconds",
        "execution_time"}},
      {JobField::kStart,
       "start",
       "when it began to run, of which and end the duration follows",
       {"start", "start_time", "started", "started_at", "start_ts"}},
      {JobField::kEnd,
       "end",
       "when it ended",
       {"end", "end_time", "ended_at", "finished", "finished_at", "finish_time", "completed_at", "completion_time", "end_ts"}},
      {JobField::kSteps, "steps", "its work, in place of a duration", {"steps", "total_steps", "num_steps"}},
      {JobField::kGpus,
       "gpus",
       "GPUs at once: a number, or gres/gpu=4 among others",
       {"gpus", "num_gpus", "n_gpus", "ngpus", "num_gpu", "n_gpu", "gpu_num", "gpu_count", "gpu", "alloc_tres", "req_tres",
        "alloc_gres", "req_gres", "gres", "scale_factor"}},
      {JobField::kGpusMin, "gpus_min", "the fewest that it can run on, where it is elastic", {"gpus_min", "min_gpus"}},
      {JobField::kGpusMax, "gpus_max", "the most", {"gpus_max", "max_gpus"}},
      {JobField::kShare, "share", "thousandths of each of its GPUs", {"share", "gpu_milli"}},
      {JobField::kQos, "qos", "of a share: guaranteed, burstable or best_effort", {"qos"}},
      {JobField::kAllowed, "allowed", "GPU types that it may run on: a100+h100", {"allowed", "allowed_types"}},
      {JobField::kDemand, "demand", "of a node's further resources, of each member: 4+16.5", {"demand"}},
      {JobField::kType, "type", "what it trains, by which its speed is known", {"type", "job_type", "model", "model_name"}},
      {JobField::kTenant,
       "tenant",
       "whose it is",
       {"tenant", "team", "vc", "virtual_cluster", "project", "namespace", "account", "group", "user", "user_id",
        "username"}},
      {JobField::kWeight, "weight", "its weight in weighted means, above 0", {"weight", "priority_weight"}},
      {JobField::kDeadline, "deadline", "when it should be done, as arrival is written", {"deadline", "due", "due_at"}},
      {JobField::kLimit,
       "limit",
       "run time that the user asked for, as duration is written",
       {"limit", "time_limit", "timelimit_raw", "walltime", "requested_time", "requested_s"}},
      {JobField::kRanOn,
       "ran_on",
       "GPU type that the duration was measured on",
       {"ran_on", "gpu_type", "gpu_model", "accelerator", "device_type"}},
  };
  return fields;
}

JobColumns::JobColumns(const std::string& text, const std::vector<std::string>& header)
    : choices_(JobFields().size()) {
  std::vector<std::string> known;
  for (const JobFieldInfo& info : JobFields()) known.emplace_back(info.name);
  for (const std::string& part : SplitOutsideParentheses(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string field = part.substr(0, equals);
    const auto found = std::find(known.begin(), known.end(), field);
    if (equals == std::string::npos || found == known.end())
      throw Error(Join("expected FIELD=COLUMN with a field of ", known.front(), " to ", known.back(), ", found '", part,
                       "'", DidYouMean(field, known)));
    const std::string column = part.substr(equals + 1);
    if (!column.empty() && std::find(header.begin(), header.end(), column) == header.end())
      throw Error(Join(field, ": the table has no column '", column, "'", DidYouMean(column, header)));
    Choice& choice = choices_[static_cast<std::size_t>(found - known.begin())];
    if (choice.named) throw Error(Join(field, ": expected once, found twice"));
    choice = {column, true};
  }
  std::vector<std::string> free;  // a column says one thing
  for (const std::string& column : header) {
    if (std::none_of(choices_.begin(), choices_.end(), [&](const Choice& c) { return c.column == column; }))
      free.push_back(column);
  }
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    if (!choices_[i].named) choices_[i].column = Guess(JobFields()[i], free);
  }
}

const std::string& JobColumns::Of(JobField field) const {
  return choices_[static_cast<std::size_t>(field)].column;
}

std::string JobColumns::Describe() const {
  std::string text;
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    if (choices_[i].column.empty()) continue;
    text += Join(text.empty() ? "" : ", ", JobFields()[i].name, " from '", choices_[i].column, "'",
                 choices_[i].named ? "" : " (guessed)");
  }
  return text;
}

std::vector<std::string> JobColumns::Unread(const std::vector<std::string>& header) const {
  std::vector<std::string> unread;
  for (const std::string& column : header) {
    if (std::none_of(choices_.begin(), choices_.end(), [&](const Choice& c) { return c.column == column; }))
      unread.push_back(column);
  }
  return unread;
}

}  // namespace berth

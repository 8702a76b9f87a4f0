#include "data/tables/columns.hpp"

#include <algorithm>

#include "data/tables/words.hpp"
#include "env/base/check.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

std::string Plain(const std::string& name) {
  std::string plain = Lower(name);
  std::erase_if(plain, [](char c) { return std::string_view("_- ./").find(c) != std::string_view::npos; });
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

// The field of this name, or of the columns that usually have it: -1 = none.
int FieldNamed(const std::string& name) {
  const std::span<const JobFieldInfo> fields = JobFields();
  auto found =
      std::find_if(fields.begin(), fields.end(), [&](const auto& info) { return name == info.name; });
  if (found == fields.end()) {
    found = std::find_if(fields.begin(), fields.end(),
                         [&](const auto& info) { return !Guess(info, {name}).empty(); });
  }
  return found == fields.end() ? -1 : static_cast<int>(found - fields.begin());
}

}  // namespace

std::span<const JobFieldInfo> JobFields() {
  // sacct, Kubernetes exports, Philly, ITP, Helios, PAI, Gavel: as their headers have them.
  static const std::vector<JobFieldInfo> fields = {
      {JobField::kId, "id", {"id", "job_id", "jobidraw", "pod", "pod_name", "uid"}},
      {JobField::kArrival,
       "arrival",
       {"arrival", "arrival_time", "arrival_s", "submit", "submit_time", "submit_s", "submit_ts", "submitted",
        "submitted_at", "submission_time", "created", "created_at", "creation_timestamp", "creation_time",
        "queued_at", "submitted_time", "metadata.creation_timestamp"}},
      {JobField::kDuration,
       "duration",
       {"duration", "duration_s", "elapsed", "elapsed_raw", "runtime", "run_time", "run_s", "run_seconds",
        "execution_time"}},
      {JobField::kStart,
       "start",
       {"start", "start_time", "started", "started_at", "start_ts", "status.start_time"}},
      {JobField::kEnd,
       "end",
       {"end", "end_time", "ended_at", "finished", "finished_at", "finish_time", "completed_at",
        "completion_time", "end_ts", "status.completion_time"}},
      {JobField::kSteps, "steps", {"steps", "total_steps", "num_steps"}},
      {JobField::kGpus,
       "gpus",
       {"gpus", "num_gpus", "n_gpus", "ngpus", "num_gpu", "n_gpu", "gpu_num", "gpu_count", "gpu",
        "alloc_tres", "req_tres", "scale_factor", "nvidia.com/gpu", "limits.nvidia.com/gpu",
        "requests.nvidia.com/gpu", "resources.limits.nvidia.com/gpu", "resources.requests.nvidia.com/gpu",
        "amd.com/gpu"}},
      {JobField::kGpusMin, "gpus_min", {"gpus_min", "min_gpus"}},
      {JobField::kGpusMax, "gpus_max", {"gpus_max", "max_gpus"}},
      {JobField::kShare, "share", {"share", "gpu_milli"}},
      {JobField::kBatch, "batch_size", {"batch_size"}},
      {JobField::kQos, "qos", {"share_qos"}},  // Slurm's column of that name is something else
      {JobField::kAllowed, "allowed", {"allowed", "allowed_types"}},
      {JobField::kDemand, "demand", {"demand"}},
      {JobField::kType, "type", {"type", "job_type", "model", "model_name"}},
      {JobField::kTenant,
       "tenant",
       {"tenant", "team", "vc", "virtual_cluster", "project", "namespace", "account", "group", "user",
        "user_id", "username"}},
      {JobField::kWeight, "weight", {"weight", "priority_weight"}},
      {JobField::kDeadline, "deadline", {"deadline", "deadline_s", "due", "due_at"}},
      {JobField::kLimit,
       "limit",
       {"limit", "limit_s", "time_limit", "walltime", "requested_time", "requested_s"}},
      {JobField::kRanOn, "ran_on", {"ran_on", "gpu_type", "gpu_model", "accelerator", "device_type"}},
      {JobField::kState, "state", {"state", "job_state"}},
  };
  return fields;
}

std::string JobFieldNames() {
  std::vector<std::string> names;
  for (const JobFieldInfo& info : JobFields()) names.emplace_back(info.name);
  return Listed(names);
}

JobColumns::JobColumns(const std::string& text, const std::vector<std::string>& header)
    : choices_(JobFields().size()) {
  std::vector<std::string> known;
  for (const JobFieldInfo& info : JobFields()) known.emplace_back(info.name);
  for (const std::string& part : SplitOutsideParentheses(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string field = part.substr(0, equals);
    const int found = FieldNamed(field);
    if (equals == std::string::npos || found < 0) {
      throw Error(Join("columns: expected FIELD=COLUMN with a field of ", JobFieldNames(), "; found '", part,
                       "'", DidYouMean(field, known)));
    }
    const std::string column = part.substr(equals + 1);
    if (!column.empty() && std::find(header.begin(), header.end(), column) == header.end())
      throw Error(
          Join("columns: ", field, ": the table has no column '", column, "'", DidYouMean(column, header)));
    Choice& choice = choices_[static_cast<std::size_t>(found)];
    if (choice.named)
      throw Error(Join("columns: ", known[static_cast<std::size_t>(found)], ": expected once, found twice"));
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
  ChooseWork();
}

// The work is said once: by what is named, else by a duration, which is measured, else by a start and an end.
void JobColumns::ChooseWork() {
  const auto at = [&](JobField field) -> Choice& { return choices_[static_cast<std::size_t>(field)]; };
  const auto named = [&](JobField field) { return at(field).named && !at(field).column.empty(); };
  const bool between = Has(JobField::kStart) && Has(JobField::kEnd);
  const bool by_steps =
      named(JobField::kSteps) || (Has(JobField::kSteps) && !Has(JobField::kDuration) && !between);
  const bool by_duration =
      !by_steps && Has(JobField::kDuration) &&
      (named(JobField::kDuration) || !(named(JobField::kStart) && named(JobField::kEnd)));
  if (!by_steps) at(JobField::kSteps) = {};
  if (!by_duration) at(JobField::kDuration) = {};
  if (by_steps || by_duration) at(JobField::kStart) = at(JobField::kEnd) = {};
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

#include "data/tables/job_rows.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>

#include "data/tables/times.hpp"
#include "env/base/check.hpp"
#include "env/base/counted.hpp"
#include "env/base/index.hpp"
#include "env/base/spec.hpp"

namespace berth {
namespace {

constexpr double kMostGpus = 1e7;
constexpr double kLatest = 1e11;  // s: the year 5138; milliseconds of today are above it
constexpr const char* kNoLimit[] = {"unlimited", "infinite", "partition_limit", "n/a", "none"};

// The numbers behind each `key` of "billing=8,gres/gpu=4", added up; -1 = there is none.
double SumOf(std::string_view text, std::string_view key, char separator, const std::string& what) {
  double sum = -1.0;
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    const std::string_view item = text.substr(at, text.find(',', at) - at);
    const std::size_t begin = item.rfind(separator);
    if (begin == std::string_view::npos || begin + 1 < key.size()) continue;
    sum = std::max(sum, 0.0) + ParseNumber(item.substr(begin + 1), what);
  }
  return sum;
}

// 4; or of Slurm's trackable resources "billing=8,gres/gpu=4,gres/gpu:a100=4" the GPUs in all; or of
// "gpu:a100:4".
double GpusOf(const std::string& text, const std::string& what) {
  if (text.find('=') != std::string::npos) {
    const double all = SumOf(text, "gres/gpu=", '=', what);
    return std::max(0.0, all >= 0.0 ? all : SumOf(text, "gres/gpu:", '=', what));
  }
  if (text.rfind("gpu:", 0) == 0) return SumOf(text, "gpu:", ':', what);
  return ParseNumber(text, what);
}

}  // namespace

JobRows::JobRows(const std::string& path, const std::string& columns, const Speeds* speeds,
                 const ClusterSpec& cluster)
    : path_(path),
      cluster_(cluster),
      speeds_(speeds),
      file_(path, {}, Separator::kGuess),
      columns_(columns, file_.names()) {
  CheckColumns();
  if (!Has(JobField::kType)) {
    job_types_.Add("job");
  } else if (speeds_ != nullptr) {
    job_types_ = NameList(speeds_->job_types());
  }
}

std::vector<JobRow> JobRows::Read() {
  std::vector<JobRow> rows;
  for (;;) {
    try {
      if (!file_.Next()) break;
      if (IsJobStep()) {
        ++job_steps_;
      } else {
        AddRow(rows);
      }
    } catch (const UnclosedQuote&) {
      throw;  // what follows may stand inside the quotes
    } catch (const Error& error) {
      Refuse(error.what());
    }
    if (Has(JobField::kId) && !IsJobStep()) last_id_ = Text(JobField::kId);
  }
  return rows;
}

void JobRows::AddRow(std::vector<JobRow>& rows) {
  if (NeverRan()) {
    ++never_ran_;
    return;
  }
  if (HasNotEnded()) {
    ++unended_;
    return;
  }
  row_dates_ = dates_;
  std::optional<JobRow> row = ReadRow();
  if (!row.has_value()) {
    ++without_gpu_;
    return;
  }
  dates_ = row_dates_;
  if (Has(JobField::kDemand)) resources_ = row->demand.size();
  rows.push_back(std::move(*row));
}

void JobRows::CheckColumns() const {
  const auto need = [&](bool there, const char* what) {
    if (there) return;
    std::string found;
    for (const std::string& name : header()) {
      found += Join(found.empty() ? "" : ", ", name);
      for (const JobFieldInfo& field : JobFields()) {
        if (!name.empty() && columns_.Of(field.field) == name) found += Join(" (taken for ", field.name, ")");
      }
    }
    throw Error(Join(file_.Where(), ": expected a column of ", what, ", found ", found,
                     "; berth convert --columns FIELD=COLUMN says which it is"));
  };
  need(Has(JobField::kArrival), "arrival");
  need(Has(JobField::kGpus), "gpus");
  need(Has(JobField::kSteps) || Has(JobField::kDuration) || (Has(JobField::kStart) && Has(JobField::kEnd)),
       "duration, of start and end, or of steps");
  if (speeds_ != nullptr) need(Has(JobField::kType), "type, by which speeds are known");
}

// sacct without -X lists each job's steps behind it, as 12.batch and 12.0.
bool JobRows::IsJobStep() const {
  if (!Has(JobField::kId)) return false;
  const std::string column = Lower(columns_.Of(JobField::kId));
  const std::string& id = Text(JobField::kId);
  const std::size_t dot = id.find('.');
  if ((column != "jobid" && column != "jobidraw") || dot == std::string::npos) return false;
  const std::string step = id.substr(dot + 1);
  return step == "batch" || step == "extern" || step == "interactive" || id.substr(0, dot) == last_id_;
}

// As sacct lists jobs that were cancelled while they waited, or wait still.
bool JobRows::NeverRan() const {
  return Stated(JobField::kDuration) && Lower(columns_.Of(JobField::kDuration)).starts_with("elapsed") &&
         ParseSpan(Text(JobField::kDuration), Where(JobField::kDuration)) == 0.0;
}

// Then its duration is what it ran so far; steps are the work that it has.
bool JobRows::HasNotEnded() const {
  return Stated(JobField::kState) && !Has(JobField::kSteps) && IsUnended(Text(JobField::kState));
}

double JobRows::Moment(JobField field) {
  const std::string& text = Text(field);
  if (text.empty()) throw Error(Join(Where(field), ": expected a time, found nothing"));
  const bool date = LooksLikeDate(text);
  if (row_dates_.has_value() && *row_dates_ != date)
    throw Error(Join(Where(field), ": expected ", *row_dates_ ? "a date" : "seconds", " as before, found '",
                     text, "'"));
  const double seconds = ParseMoment(text, Where(field));
  if (!(std::abs(seconds) < kLatest))
    throw Error(Join(Where(field), ": expected seconds or a date, found '", text,
                     "' (milliseconds, or a date without '-'?)"));
  row_dates_ = date;
  return seconds;
}

double JobRows::AboveZero(double value, JobField field) const {
  if (!(value > 0.0) || std::isinf(value))
    throw Error(Join(Where(field), ": expected more than 0, found '", Text(field), "'"));
  return value;
}

double JobRows::Number(JobField field) const {
  return AboveZero(ParseNumber(Text(field), Where(field)), field);
}

double JobRows::Span(JobField field) const {
  return AboveZero(ParseSpan(Text(field), Where(field)), field);
}

int JobRows::Whole(JobField field, double low, double high) const {
  const double value = ParseNumber(Text(field), Where(field));
  if (!(value >= low && value <= high) || value != std::floor(value))
    throw Error(Join(Where(field), ": expected a whole number from ", low, " to ", high, ", found '",
                     Text(field), "'"));
  return static_cast<int>(value);
}

// As sacct has it of jobs that never started: no resources, no time; Kubernetes of pods without GPUs.
// Elsewhere a blank is a gap in the table.
bool JobRows::MayLackGpus() const {
  const std::string column = Lower(columns_.Of(JobField::kGpus));
  if (column.find("tres") != std::string::npos || column.find(".com/") != std::string::npos) return true;
  if (Has(JobField::kSteps)) return !Stated(JobField::kSteps);
  if (!Has(JobField::kDuration)) return !Stated(JobField::kStart) || !Stated(JobField::kEnd);
  return !Stated(JobField::kDuration) ||
         ParseSpan(Text(JobField::kDuration), Where(JobField::kDuration)) == 0.0;
}

int JobRows::Gpus() const {
  const std::string& text = Text(JobField::kGpus);
  if (text.empty() && MayLackGpus()) return 0;
  const double value = GpusOf(text, Where(JobField::kGpus));
  if (!(value >= 0.0) || value > kMostGpus || value != std::floor(value))
    throw Error(Join(Where(JobField::kGpus), ": expected a whole number of GPUs, found '", text, "'"));
  return static_cast<int>(value);
}

std::optional<JobRow> JobRows::ReadRow() {
  JobRow row;
  row.line = file_.line();
  row.gang = Gpus();
  if (row.gang == 0) return std::nullopt;
  if (Has(JobField::kId)) row.id = Text(JobField::kId);
  row.arrival = Moment(JobField::kArrival);
  digits_ = digits_ && IsDateOfDigits(Text(JobField::kArrival));
  ReadWork(row);
  if (Stated(JobField::kWeight)) row.weight = Number(JobField::kWeight);
  if (Stated(JobField::kDeadline)) {
    row.deadline = Moment(JobField::kDeadline);
    if (row.deadline < row.arrival)
      throw Error(Join(Where(JobField::kDeadline), ": expected no earlier than the arrival, found '",
                       Text(JobField::kDeadline), "'"));
  }
  if (Stated(JobField::kLimit)) {
    const std::string limit = Lower(Text(JobField::kLimit));
    if (std::find(std::begin(kNoLimit), std::end(kNoLimit), limit) == std::end(kNoLimit))
      row.limit = Span(JobField::kLimit);
  }
  ReadPlace(row);
  row.type = Type();
  ReadRanOn(row);
  if (Has(JobField::kTenant)) {
    const std::string& tenant = Text(JobField::kTenant);
    row.tenant = tenants_.Add(tenant.empty() ? kNoName : tenant);
  }
  return row;
}

void JobRows::ReadWork(JobRow& row) {
  if (Has(JobField::kSteps)) {
    row.steps = Number(JobField::kSteps);
  } else if (Has(JobField::kDuration)) {
    row.duration = Span(JobField::kDuration);
  } else {
    row.duration = Moment(JobField::kEnd) - Moment(JobField::kStart);
    if (!(row.duration > 0.0))
      throw Error(Join(Where(JobField::kEnd), ": expected a moment after the start '", Text(JobField::kStart),
                       "', found '", Text(JobField::kEnd), "'"));
  }
}

// On how many GPUs, and which parts of them, of which types, with what of their nodes.
void JobRows::ReadPlace(JobRow& row) {
  if (Stated(JobField::kGpusMin)) row.gang_min = Whole(JobField::kGpusMin, 1, row.gang);
  if (Stated(JobField::kGpusMax)) row.gang_max = Whole(JobField::kGpusMax, row.gang, kMostGpus);
  if (Stated(JobField::kShare)) row.gpu_milli = Whole(JobField::kShare, 1, 1000);
  if (Stated(JobField::kBatch)) row.batch_size = Whole(JobField::kBatch, 1, 1'000'000'000);
  if (Stated(JobField::kQos)) {
    const std::vector<std::string> names(kQosNames.begin(), kQosNames.end());
    const auto found = std::find(names.begin(), names.end(), Text(JobField::kQos));
    if (found == names.end())
      throw Error(Join(Where(JobField::kQos), ": expected guaranteed, burstable or best_effort, found '",
                       Text(JobField::kQos), "'", DidYouMean(Text(JobField::kQos), names)));
    row.qos = static_cast<Qos>(found - names.begin());
  }
  if (Stated(JobField::kAllowed)) {
    row.allowed = 0;
    for (const std::string& name : SplitOutsideParentheses(Text(JobField::kAllowed), '+'))
      row.allowed |= std::uint64_t{1} << GpuTypeOf(name, JobField::kAllowed);
  }
  if (Has(JobField::kDemand)) {
    for (const std::string& part : SplitOutsideParentheses(Text(JobField::kDemand), '+'))
      row.demand.push_back(ParseNumber(part, Where(JobField::kDemand)));
    const std::size_t expected = resources_.value_or(std::max<std::size_t>(1, row.demand.size()));
    if (row.demand.size() != expected)
      throw Error(Join(Where(JobField::kDemand), ": expected a number for each of ",
                       Counted(expected, "resource"), ", found '", Text(JobField::kDemand), "'"));
  }
  CheckFits(row);
}

int JobRows::Type() {
  if (!Has(JobField::kType)) return 0;
  const std::string& name = Text(JobField::kType);
  if (speeds_ == nullptr) return job_types_.Add(name.empty() ? kNoName : name);
  const int type = job_types_.Find(name);
  if (type < 0)
    throw Error(Join(Where(JobField::kType), ": expected a job type of ", speeds_->path(), ", found '", name,
                     "'", DidYouMean(name, job_types())));
  return type;
}

// A log is of the cluster of its day: any type will do whose speed is known. Without speeds all types are
// alike, and of steps it says nothing.
void JobRows::ReadRanOn(JobRow& row) {
  if (speeds_ == nullptr || Has(JobField::kSteps) || !Stated(JobField::kRanOn)) return;
  const std::string& name = Text(JobField::kRanOn);
  row.ran_on = FindGpuType(name);
  if (row.ran_on >= 0) return;
  row.ran_at = speeds_->Measured(row.type, row.gang, name);
  if (!std::isnan(row.ran_at)) return;
  std::vector<std::string> known = speeds_->GpuTypes();
  if (std::find(known.begin(), known.end(), Lower(name)) != known.end())
    throw Error(Join(Where(JobField::kRanOn), ": expected a type with a speed of '", job_types()[U(row.type)],
                     "' with ", Counted(row.gang, "GPU"), " in ", speeds_->path(), ", found '", name, "'"));
  for (const GpuType& type : cluster_.types) known.push_back(type.name);
  throw Error(Join(Where(JobField::kRanOn), ": expected a GPU type of the cluster or of ", speeds_->path(),
                   ", found '", name, "'", DidYouMean(name, known)));
}

int JobRows::FindGpuType(const std::string& name) const {
  for (std::size_t g = 0; g < cluster_.types.size(); ++g) {
    if (SameWord(cluster_.types[g].name, name)) return static_cast<int>(g);
  }
  return -1;
}

int JobRows::GpuTypeOf(const std::string& name, JobField field) const {
  if (const int type = FindGpuType(name); type >= 0) return type;
  std::vector<std::string> known;
  for (const GpuType& type : cluster_.types) known.push_back(type.name);
  throw Error(Join(Where(field), ": expected a GPU type of the cluster, found '", name, "'",
                   DidYouMean(name, known)));
}

void JobRows::CheckFits(const JobRow& row) const {
  int most = 0;
  for (std::size_t g = 0; g < cluster_.types.size(); ++g) {
    if (row.MayRunOn(g)) most = std::max(most, cluster_.types[g].count);
  }
  if (row.gang > most)
    throw Error(Join(Where(JobField::kGpus), ": expected at most ", most,
                     ", the cluster's most of one type that it may run on, found ", row.gang));
}

}  // namespace berth

#include "data/tables/job_rows.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "data/tables/times.hpp"
#include "env/base/check.hpp"

namespace berth {
namespace {

int IndexIn(const std::string& name, std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<int>(found - names.begin());
  names.push_back(name);
  return static_cast<int>(names.size()) - 1;
}

bool SameWord(const std::string& a, const std::string& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

constexpr double kMostGpus = 1e7;

Qos QosOf(const std::string& text, const std::string& what) {
  static const std::vector<std::string> names = {"guaranteed", "burstable", "best_effort"};
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end())
    throw Error(Join(what, ": expected guaranteed, burstable or best_effort, found '", text, "'", DidYouMean(text, names)));
  return static_cast<Qos>(found - names.begin());
}

// 4, or of "billing=8,cpu=8,gres/gpu=4,gres/gpu:a100=4" and "gpu:a100:4" the number of GPUs.
int ParseGpus(const std::string& text, const std::string& what) {
  constexpr std::string_view kTrackable = "gres/gpu=";
  std::string_view digits = text;
  if (const std::size_t at = text.find(kTrackable); at != std::string::npos) {
    digits.remove_prefix(at + kTrackable.size());
    digits = digits.substr(0, digits.find(','));
  } else if (text.find('=') != std::string::npos) {
    digits = "0";  // trackable resources without a GPU
  } else if (text.rfind("gpu:", 0) == 0) {
    digits.remove_prefix(text.rfind(':') + 1);
  }
  const double value = ParseNumber(digits, what);
  if (!(value >= 1.0) || value > kMostGpus || value != std::floor(value))
    throw Error(Join(what, ": expected a whole number of GPUs from 1, found '", text, "'"));
  return static_cast<int>(value);
}

}  // namespace

JobRows::JobRows(const std::string& path, const std::string& columns, const Speeds* speeds,
                 const ClusterSpec& cluster, int skip_bad)
    : path_(path), cluster_(cluster), speeds_(speeds), skip_bad_(skip_bad), file_(path, {}, Separator::kGuess),
      columns_(columns, file_.names()) {
  CheckColumns();
  if (!Has(JobField::kType)) {
    job_types_ = {"job"};
  } else if (speeds_ != nullptr) {
    job_types_ = speeds_->job_types();
  }
}

std::vector<JobRow> JobRows::Read() {
  std::vector<JobRow> rows;
  for (;;) {
    try {
      if (!file_.Next()) return rows;
      if (IsStep()) {
        ++steps_of_jobs_;
      } else {
        rows.push_back(ReadRow());
      }
    } catch (const Error& error) {
      Refuse(error.what());
    }
  }
}

void JobRows::Refuse(const std::string& why) {
  refused_.push_back(why);
  if (static_cast<int>(refused_.size()) <= skip_bad_) return;
  if (skip_bad_ == 0) throw Error(why);
  throw Error(Join(path_, ": expected at most ", skip_bad_, " rows that cannot be read, found more; the first: ",
                   refused_.front()));
}

void JobRows::CheckColumns() const {
  const auto need = [&](bool there, const char* what) {
    if (there) return;
    std::string header;
    for (const std::string& name : names()) header += Join(header.empty() ? "" : ", ", name);
    throw Error(Join(file_.Where(), ": expected a column of ", what, ", found ", header,
                     "; FIELD=COLUMN says which it is"));
  };
  need(Has(JobField::kArrival), "arrival");
  need(Has(JobField::kGpus), "gpus");
  need(Has(JobField::kSteps) || Has(JobField::kDuration) || (Has(JobField::kStart) && Has(JobField::kEnd)),
       "duration, of start and end, or of steps");
  if (speeds_ != nullptr) need(Has(JobField::kType), "type, by which speeds are known");
}

// sacct without -X lists each job's steps too, as 12.batch and 12.0.
bool JobRows::IsStep() const {
  return Has(JobField::kId) && SameWord(columns_.Of(JobField::kId), "jobid") &&
         Text(JobField::kId).find('.') != std::string::npos;
}

double JobRows::Moment(JobField field) {
  const std::string& text = Text(field);
  if (text.empty()) throw Error(Join(Where(field), ": expected a time, found nothing"));
  const bool date = LooksLikeDate(text);
  if (dates_.has_value() && *dates_ != date)
    throw Error(Join(Where(field), ": expected ", *dates_ ? "a date" : "seconds", " as before, found '", text, "'"));
  const double seconds = ParseMoment(text, Where(field));
  dates_ = date;
  return seconds;
}

double JobRows::AboveZero(double value, JobField field) const {
  if (!(value > 0.0) || std::isinf(value))
    throw Error(Join(Where(field), ": expected more than 0, found '", Text(field), "'"));
  return value;
}

JobRow JobRows::ReadRow() {
  const auto number = [&](JobField field) { return AboveZero(ParseNumber(Text(field), Where(field)), field); };
  const auto span = [&](JobField field) { return AboveZero(ParseSpan(Text(field), Where(field)), field); };
  JobRow row;
  row.line = file_.line();
  if (Has(JobField::kId)) row.id = Text(JobField::kId);
  row.arrival = Moment(JobField::kArrival);
  row.gang = ParseGpus(Text(JobField::kGpus), Where(JobField::kGpus));
  if (Has(JobField::kSteps)) {
    row.steps = number(JobField::kSteps);
  } else if (Has(JobField::kDuration)) {
    row.duration = span(JobField::kDuration);
  } else {
    row.duration = AboveZero(Moment(JobField::kEnd) - Moment(JobField::kStart), JobField::kEnd);
  }
  if (Stated(JobField::kWeight)) row.weight = number(JobField::kWeight);
  if (Stated(JobField::kDeadline)) row.deadline = Moment(JobField::kDeadline);
  // "UNLIMITED" and "Partition_Limit" are none.
  if (Stated(JobField::kLimit) && std::isalpha(static_cast<unsigned char>(Text(JobField::kLimit)[0])) == 0)
    row.limit = span(JobField::kLimit);
  const auto whole = [&](JobField field, double low, double high) {
    const double value = ParseNumber(Text(field), Where(field));
    if (!(value >= low && value <= high) || value != std::floor(value))
      throw Error(Join(Where(field), ": expected a whole number from ", low, " to ", high, ", found '", Text(field), "'"));
    return static_cast<int>(value);
  };
  if (Stated(JobField::kGpusMin)) row.gang_min = whole(JobField::kGpusMin, 1, row.gang);
  if (Stated(JobField::kGpusMax)) row.gang_max = whole(JobField::kGpusMax, row.gang, kMostGpus);
  if (Stated(JobField::kShare)) row.gpu_milli = whole(JobField::kShare, 1, 1000);
  if (Stated(JobField::kQos)) row.qos = QosOf(Text(JobField::kQos), Where(JobField::kQos));
  if (Stated(JobField::kAllowed)) row.allowed = Allowed();
  if (Has(JobField::kDemand)) row.demand = Demand();
  if (Stated(JobField::kRanOn)) row.ran_on = GpuTypeOf(Text(JobField::kRanOn), JobField::kRanOn);
  CheckFits(row);
  row.type = Type();
  if (Has(JobField::kTenant)) row.tenant = IndexIn(Text(JobField::kTenant), tenants_);
  return row;
}

int JobRows::Type() {
  if (!Has(JobField::kType)) return 0;
  const std::string& name = Text(JobField::kType);
  if (speeds_ == nullptr) return IndexIn(name, job_types_);
  const auto found = std::find(job_types_.begin(), job_types_.end(), name);
  if (found == job_types_.end())
    throw Error(Join(Where(JobField::kType), ": expected a job type of ", speeds_->path(), ", found '", name, "'",
                     DidYouMean(name, job_types_)));
  return static_cast<int>(found - job_types_.begin());
}

int JobRows::GpuTypeOf(const std::string& name, JobField field) const {
  std::vector<std::string> known;
  for (const GpuType& type : cluster_.types) {
    if (SameWord(type.name, name)) return static_cast<int>(known.size());
    known.push_back(type.name);
  }
  throw Error(
      Join(Where(field), ": expected a GPU type of the cluster, found '", name, "'", DidYouMean(name, known)));
}

std::uint64_t JobRows::Allowed() const {
  std::uint64_t allowed = 0;
  for (const std::string& name : SplitOutsideParentheses(Text(JobField::kAllowed), '+'))
    allowed |= std::uint64_t{1} << GpuTypeOf(name, JobField::kAllowed);
  return allowed;
}

std::vector<double> JobRows::Demand() {
  std::vector<double> demand;
  for (const std::string& part : SplitOutsideParentheses(Text(JobField::kDemand), '+'))
    demand.push_back(ParseNumber(part, Where(JobField::kDemand)));
  if (demand.empty() || demand.size() != resources_.value_or(demand.size()))
    throw Error(Join(Where(JobField::kDemand), ": expected ", resources_.value_or(1), " numbers, found ", demand.size()));
  resources_ = demand.size();
  return demand;
}

void JobRows::CheckFits(const JobRow& row) const {
  int most = 0;
  for (const GpuType& type : cluster_.types) most = std::max(most, type.count);
  if (row.gang > most)
    throw Error(Join(Where(JobField::kGpus), ": expected at most ", most,
                     ", the cluster's most of one type, found ", row.gang));
}

}  // namespace berth

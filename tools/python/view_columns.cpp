#include "tools/python/view_columns.hpp"

#include <algorithm>

namespace berth {
namespace {

using I = std::int64_t;

constexpr JobColumnInfo<double> kNumbers[] = {
    {"arrival", "float64 [n] s: when it arrived", [](const ClusterView& v, int j) { return v.Arrival(j); }},
    {"weight", "float64 [n]: of the job, 1 unless stated",
     [](const ClusterView& v, int j) { return v.Weight(j); }},
    {"deadline", "float64 [n] s: when it should be done; inf = none",
     [](const ClusterView& v, int j) { return v.Deadline(j); }},
    {"requested_s", "float64 [n] s: the run time that its user asked for; nan = none",
     [](const ClusterView& v, int j) { return v.Requested(j); }},
    {"remaining", "float64 [n] steps left, of an estimate with its error; knowledge 'estimate' or 'oracle'",
     [](const ClusterView& v, int j) { return v.RemainingSteps(j); }, true, Knowledge::kEstimate},
    {"attained_s", "float64 [n] s that it was on GPUs, a gang once; knowledge 'blind' or more",
     [](const ClusterView& v, int j) { return v.AttainedSeconds(j); }, true, Knowledge::kBlind},
    {"attained_gpu_s", "float64 [n] GPU-s that it held; knowledge 'blind' or more",
     [](const ClusterView& v, int j) { return v.AttainedGpuSeconds(j); }, true, Knowledge::kBlind},
    {"attained_steps", "float64 [n] steps done; knowledge 'blind' or more",
     [](const ClusterView& v, int j) { return v.AttainedSteps(j); }, true, Knowledge::kBlind},
    {"run_start", "float64 [n] s: when its present run began, of jobs that run",
     [](const ClusterView& v, int j) { return v.RunStart(j); }, true},
};

constexpr JobColumnInfo<I> kIndices[] = {
    {"id", "int64 [n]: its number in the trace", [](const ClusterView& v, int j) { return v.Id(j); }},
    {"job_type", "int64 [n]: which row of the table of speeds",
     [](const ClusterView& v, int j) -> I { return v.JobType(j); }},
    {"gang", "int64 [n] GPUs that it needs at once",
     [](const ClusterView& v, int j) -> I { return v.Gang(j); }},
    {"min_gang", "int64 [n] fewest GPUs that it may run on",
     [](const ClusterView& v, int j) -> I { return v.MinGang(j); }},
    {"max_gang", "int64 [n] most GPUs that it may run on",
     [](const ClusterView& v, int j) -> I { return v.MaxGang(j); }},
    {"tenant", "int64 [n]: whose it is", [](const ClusterView& v, int j) -> I { return v.TenantOf(j); }},
    {"type_of", "int64 [n]: GPU type that it runs on; -1 = does not run",
     [](const ClusterView& v, int j) -> I { return v.TypeOf(j); }, true},
    {"last_type", "int64 [n]: GPU type that it last ran on; -1 = none",
     [](const ClusterView& v, int j) -> I { return v.LastTypeOf(j); }, true},
    {"width", "int64 [n] GPUs that it holds", [](const ClusterView& v, int j) -> I { return v.Width(j); },
     true},
    {"partner", "int64 [n]: the job on the same GPU; -1 = none",
     [](const ClusterView& v, int j) -> I { return v.Partner(j); }, true},
    {"preemptions", "int64 [n]: how often it was stopped by a decision",
     [](const ClusterView& v, int j) -> I { return v.Preemptions(j); }, true},
    {"interruptions", "int64 [n]: how often the cluster stopped it",
     [](const ClusterView& v, int j) -> I { return v.Interruptions(j); }, true},
};

void Assign(std::vector<I>& into, std::span<const int> jobs) {
  into.assign(jobs.begin(), jobs.end());
}

// What `of` says of each device.
template <class F>
void EachDevice(const ClusterView& view, std::vector<I>& into, const F& of) {
  for (int device = 0; device < view.num_gpus(); ++device) into.push_back(of(device));
}

constexpr ListInfo kLists[] = {
    {"waiting", "int64 [.] jobs that wait, in order of arrival",
     [](const ClusterView& v, std::vector<I>& into) { Assign(into, v.waiting()); }},
    {"running", "int64 [.] jobs that run, in order of arrival",
     [](const ClusterView& v, std::vector<I>& into) { Assign(into, v.running()); }},
    {"active", "int64 [.] jobs that wait or run, in order of arrival",
     [](const ClusterView& v, std::vector<I>& into) { Assign(into, v.active()); }},
    {"arrived",
     "int64 [.] jobs that arrived since the previous decision; who waits for others (stages) once "
     "these are done",
     [](const ClusterView& v, std::vector<I>& into) { Assign(into, v.arrived()); }},
    {"completed", "int64 [.] jobs that ended since the previous decision",
     [](const ClusterView& v, std::vector<I>& into) { Assign(into, v.completed()); }},
    {"free_gpus", "int64 [G] whole idle GPUs of each type",
     [](const ClusterView& v, std::vector<I>& into) { Assign(into, v.free_gpus()); }},
    {"gpus", "int64 [G] GPUs of each type in service",
     [](const ClusterView& v, std::vector<I>& into) {
       for (const GpuType& type : v.types()) into.push_back(type.count);
     }},
    {"device_type", "int64 [D]: GPU type of each device",
     [](const ClusterView& v, std::vector<I>& into) {
       EachDevice(v, into, [&](int d) { return v.TypeOfDevice(d); });
     }},
    {"device_node", "int64 [D]: node of each device",
     [](const ClusterView& v, std::vector<I>& into) {
       EachDevice(v, into, [&](int d) { return v.NodeOf(d); });
     }},
    {"device_free", "int64 [D]: 1 where the device is idle and in service",
     [](const ClusterView& v, std::vector<I>& into) {
       EachDevice(v, into, [&](int d) { return v.DeviceFree(d) ? 1 : 0; });
     }},
};

}  // namespace

std::span<const JobColumnInfo<double>> NumberColumns() {
  return kNumbers;
}
std::span<const JobColumnInfo<I>> IndexColumns() {
  return kIndices;
}
std::span<const ListInfo> Lists() {
  return kLists;
}

ViewColumns::ViewColumns()
    : numbers_(std::size(kNumbers)), indices_(std::size(kIndices)), lists_(std::size(kLists)) {}

void ViewColumns::BeginPoint(const ClusterView& view) {
  ++point_;
  // Index is order of arrival, so whoever came before the last one is there too.
  for (const std::span<const int> jobs : {view.arrived(), view.active()}) {
    if (!jobs.empty()) arrived_ = std::max(arrived_, jobs.back() + 1);
  }
}

template <class T>
nanobind::object ViewColumns::Read(const ClusterView& view, const JobColumnInfo<T>& info, Column<T>& column) {
  if (view.granted() < info.needs) {
    throw Error(Join("view.", info.name, ": expected a scheduler with knowledge '", ToString(info.needs),
                     "', found one with '", ToString(view.granted()), "'"));
  }
  if (!column.made()) column.Make(U(view.num_jobs()));
  if (!info.changes) {
    T* const data = column.data();
    for (; column.filled < U(arrived_); ++column.filled)
      data[column.filled] = info.read(view, static_cast<int>(column.filled));
  } else if (column.written != point_) {
    T* const data = column.Own();
    // Of jobs that have gone, what is left of them.
    for (const int job : column.jobs) data[job] = info.read(view, job);
    for (; column.filled < U(arrived_); ++column.filled)
      data[column.filled] = info.read(view, static_cast<int>(column.filled));
    const std::span<const int> active = view.active();
    column.jobs.assign(active.begin(), active.end());
    for (const int job : active) data[job] = info.read(view, job);
    column.written = point_;
  }
  return column.First(U(arrived_));
}

nanobind::object ViewColumns::Numbers(const ClusterView& view, std::size_t column) {
  return Read(view, kNumbers[column], numbers_[column]);
}

nanobind::object ViewColumns::Indices(const ClusterView& view, std::size_t column) {
  return Read(view, kIndices[column], indices_[column]);
}

nanobind::object ViewColumns::List(const ClusterView& view, std::size_t list) {
  Column<I>& column = lists_[list];
  if (column.written != point_) {
    list_.clear();
    kLists[list].read(view, list_);
    if (!column.made()) column.Make(U(std::max({view.num_jobs(), view.num_gpus(), view.num_types()})));
    std::copy(list_.begin(), list_.end(), column.Own());
    column.written = point_, column.filled = list_.size();
  }
  return column.First(column.filled);
}

nanobind::object ViewColumns::Rates(const ClusterView& view) {
  const std::size_t types = U(view.num_types());
  if (!rates_.made()) rates_.Make(U(view.num_jobs()), types);
  if (rates_.of_version != view.rates_version()) {  // they are estimates, and others now
    rates_.Own();
    rates_.filled = 0, rates_.of_version = view.rates_version();
  }
  double* const data = rates_.data();
  for (; rates_.filled < U(arrived_); ++rates_.filled) {
    const std::span<const double> rates = view.Rates(static_cast<int>(rates_.filled));
    std::copy(rates.begin(), rates.end(), data + rates_.filled * types);
  }
  return rates_.First(U(arrived_));
}

}  // namespace berth

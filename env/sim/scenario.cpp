#include "env/sim/scenario.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"
#include "env/base/rng.hpp"
#include "env/base/shortest.hpp"
#include "env/base/spec.hpp"
#include "env/sim/physical_gpus.hpp"

namespace berth {
namespace {

// So that boundaries, multiples of the round, are whole numbers that 64 bits and a double hold.
constexpr double kShortestRound = 1e-3, kLongestTime = 1e12;  // s
constexpr std::int64_t kMostGpus = 10'000'000;

// FNV-1a over 64-bit words, finished by a multiplication-free fold: enough to tell contents apart, not to
// resist.
class Hasher {
 public:
  void Add(std::uint64_t word) {
    for (int byte = 0; byte < 8; ++byte) {
      hash_ = (hash_ ^ ((word >> (8 * byte)) & 0xff)) * 0x100000001b3ULL;
    }
  }
  void Add(double x) { Add(std::bit_cast<std::uint64_t>(x)); }
  void Add(int x) { Add(static_cast<std::uint64_t>(static_cast<std::int64_t>(x))); }
  void Add(std::int64_t x) { Add(static_cast<std::uint64_t>(x)); }
  void Add(std::string_view text) {
    Add(static_cast<std::uint64_t>(text.size()));
    for (char c : text) Add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
  }
  template <class T>
  void Add(const std::vector<T>& values) {
    Add(static_cast<std::uint64_t>(values.size()));
    for (const T& value : values) Add(value);
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

std::uint64_t HashOf(const ScenarioData& d) {
  Hasher h;
  for (const GpuType& t : d.cluster.types) {
    h.Add(std::string_view(t.name));
    h.Add(t.count), h.Add(t.gpus_per_node), h.Add(t.memory_gb), h.Add(t.idle_power_w);
    h.Add(t.peak_power_w), h.Add(t.price_per_hour);
  }
  for (const std::string& name : d.throughputs.job_types) h.Add(std::string_view(name));
  h.Add(d.throughputs.gang_sizes), h.Add(d.throughputs.alone), h.Add(d.throughputs.unconsolidated);
  h.Add(d.throughputs.pairs);
  const JobTable& j = d.jobs;
  h.Add(j.id), h.Add(j.arrival), h.Add(j.job_type), h.Add(j.gang), h.Add(j.gang_min), h.Add(j.gang_max);
  h.Add(j.total_steps), h.Add(j.weight), h.Add(j.deadline), h.Add(j.tenant), h.Add(j.allowed),
      h.Add(j.demand);
  if (!j.gpu_milli.empty()) h.Add(std::string_view("gpu_milli")), h.Add(j.gpu_milli);
  if (!j.qos.empty()) h.Add(std::string_view("qos")), h.Add(j.qos);
  if (!j.batch_size.empty()) h.Add(std::string_view("batch_size")), h.Add(j.batch_size);
  h.Add(static_cast<std::uint64_t>(j.requested_s.size()));
  for (double r : j.requested_s) h.Add(std::isnan(r) ? -1.0 : r);  // one NaN is as good as another
  for (const Tenant& t : d.tenants) {
    h.Add(std::string_view(t.name)), h.Add(t.weight), h.Add(std::string_view(t.inner_policy));
  }
  h.Add(static_cast<int>(d.clock.kind)), h.Add(d.clock.round_s), h.Add(static_cast<int>(d.knowledge));
  h.Add(d.estimate_sigma), h.Add(d.costs.checkpoint_s), h.Add(d.costs.restore_s), h.Add(d.costs.migration_s);
  h.Add(d.seed);
  // Whatever is not there leaves the hash as it was before there was such a thing.
  ForEachColumn(d.traits, [&](std::string_view name, const std::vector<double>& column) {
    if (column.empty()) return;
    h.Add(name), h.Add(static_cast<std::uint64_t>(column.size()));
    for (double x : column) h.Add(std::isnan(x) ? -1.0 : x);
  });
  // Nothing but traffic_gb asks for the bandwidth of GPUs, and every shipped type states it.
  if (!d.traits.traffic_gb.empty()) {
    for (const GpuType& t : d.cluster.types) h.Add(t.bandwidth_gb_s);
  }
  if (d.features.any()) h.Add(std::string_view(ToString(d.features)));
  if (!d.believed.alone.empty()) h.Add(std::string_view("believed")), h.Add(d.believed.alone);
  if (!d.believed.pairs.empty()) h.Add(std::string_view("believed pairs")), h.Add(d.believed.pairs);
  return h.value();
}

void CheckCluster(const ClusterSpec& cluster) {
  if (cluster.types.size() > 64)
    throw Error(Join("cluster: at most 64 GPU types, found ", cluster.types.size()));
  std::set<std::string> names;
  std::int64_t gpus = 0;
  for (const GpuType& t : cluster.types) {
    if ((gpus += t.count) > kMostGpus)
      throw Error(Join("cluster: at most ", kMostGpus, " GPUs, found ", gpus));
    if (t.name.empty()) throw Error("cluster: a GPU type has no name");
    if (!names.insert(t.name).second) throw Error(Join("cluster: GPU type '", t.name, "' is named twice"));
    if (t.count < 1) throw Error(Join("cluster: ", t.name, ": expected at least 1 GPU, found ", t.count));
    if (t.gpus_per_node < 1) {
      throw Error(Join("cluster: ", t.name, ": expected at least 1 GPU per node, found ", t.gpus_per_node));
    }
    for (double x : {t.memory_gb, t.bandwidth_gb_s, t.idle_power_w, t.peak_power_w, t.price_per_hour}) {
      if (!(x >= 0.0) || std::isinf(x)) {
        throw Error(
            Join("cluster: ", t.name, ": expected memory, bandwidth, power and price >= 0, found ", x));
      }
    }
  }
}

void CheckThroughputs(const ThroughputTable& table, std::size_t types) {
  const std::size_t cells = table.job_types.size() * table.gang_sizes.size() * types;
  const std::set<std::string> names(table.job_types.begin(), table.job_types.end());
  if (names.size() != table.job_types.size()) throw Error("throughputs: a job type is named twice");
  for (std::size_t s = 0; s < table.gang_sizes.size(); ++s) {
    if (table.gang_sizes[s] < 1 || (s > 0 && table.gang_sizes[s] <= table.gang_sizes[s - 1])) {
      throw Error(Join("throughputs: gang sizes must ascend from 1, found ", table.gang_sizes[s]));
    }
  }
  const auto check = [&](const std::vector<double>& column, const char* name, std::size_t size,
                         bool optional) {
    if (optional && column.empty()) return;
    if (column.size() != size) {
      throw Error(Join("throughputs: ", name, ": expected ", size, " entries, found ", column.size()));
    }
    for (double x : column) {
      if (!(x >= 0.0) || std::isinf(x))
        throw Error(Join("throughputs: ", name, ": expected steps/s >= 0, found ", x));
    }
  };
  check(table.alone, "alone", cells, false);
  check(table.unconsolidated, "unconsolidated", cells, true);
  check(table.pairs, "pairs", table.job_types.size() * table.job_types.size() * types * 2, true);
}

// Their values only matter where a feature asks for them, and then are its to check.
void CheckBelieved(const BelievedRates& believed, const ThroughputTable& table) {
  const auto check = [](const std::vector<double>& column, const char* name, std::size_t expected) {
    if (!column.empty() && column.size() != expected)
      throw Error(
          Join("believed throughputs: ", name, ": expected ", expected, " entries, found ", column.size()));
  };
  check(believed.alone, "alone", table.alone.size());
  check(believed.pairs, "pairs", table.pairs.size());
}

template <class T>
void CheckLength(const std::vector<T>& column, const char* name, std::size_t expected, bool optional) {
  if (optional && column.empty()) return;
  if (column.size() != expected) {
    throw Error(Join("jobs: column ", name, ": expected ", expected, " entries, found ", column.size()));
  }
}

void CheckColumns(const ScenarioData& data) {
  const JobTable& j = data.jobs;
  const std::size_t n = j.arrival.size();
  ForEachColumn(j, [&](const char* name, const auto& column, bool optional) {
    CheckLength(column, name, n, optional);
  });
  if (n > 0 && j.demand.size() % n != 0) {
    throw Error(Join("jobs: column demand: expected a multiple of ", n, " entries, found ", j.demand.size()));
  }
  ForEachColumn(data.traits, [&](const char* name, const std::vector<double>& column) {
    if (!column.empty() && column.size() != data.throughputs.job_types.size()) {
      throw Error(Join("job types: column ", name, ": expected ", data.throughputs.job_types.size(),
                       " entries, found ", column.size()));
    }
    const bool gaps = &column == &data.traits.checkpoint_gb || &column == &data.traits.gradient_gb;
    for (double x : column) {
      if (gaps && std::isnan(x)) continue;
      if (!(x >= 0.0) || std::isinf(x))
        throw Error(Join("job types: column ", name, ": expected a number >= 0, found ", x));
      if (&column == &data.traits.bandwidth && x > 1.0)
        throw Error(Join("job types: column ", name, ": expected a share of the GPU's, 0 to 1, found ", x));
    }
  });
  for (double x : j.demand) {
    if (!(x >= 0.0) || std::isinf(x))
      throw Error(Join("jobs: column demand: expected numbers >= 0, found ", x));
  }
}

// A step cannot move more than the memory lets through at the speed that was measured. On one GPU: there the
// share has an effect, and speeds of gangs are of steps that each of their GPUs does a part of, or all of.
void CheckTraffic(const ScenarioData& data) {
  const std::vector<double>& traffic = data.traits.traffic_gb;
  const ThroughputTable& table = data.throughputs;
  const std::size_t types = data.cluster.types.size(), sizes = table.gang_sizes.size();
  if (sizes == 0 || table.gang_sizes.front() != 1) return;
  for (std::size_t t = 0; t < traffic.size(); ++t) {
    for (std::size_t g = 0; g < types; ++g) {
      const double most = data.cluster.types[g].bandwidth_gb_s;
      const double rate = table.alone[t * sizes * types + g], uses = traffic[t] * rate;
      if (most == 0.0 || uses <= most * (1.0 + 1e-9)) continue;  // a slice's may be rounded
      throw Error(Join("job type '", table.job_types[t], "' on ", data.cluster.types[g].name, ": traffic_gb ",
                       InWords(traffic[t]), " at ", InWords(rate),
                       " steps/s: expected at most the bandwidth_gb_s ", InWords(most), ", found ",
                       InWords(uses), " GB/s"));
    }
  }
}

// One job's own values, without regard to the cluster.
void CheckJob(const ScenarioData& data, int job, const std::string& where) {
  const JobTable& j = data.jobs;
  const double arrival = j.arrival[U(job)];
  if (!(arrival >= 0.0) || std::isinf(arrival)) {
    throw Error(Join(where, ": arrival: expected seconds >= 0, found ", arrival));
  }
  if (arrival > kLongestTime) {
    throw Error(Join(where, ": arrival: expected at most ", kLongestTime, " seconds, found ", arrival));
  }
  if (job > 0 && arrival < j.arrival[U(job - 1)]) {
    throw Error(Join(where, ": arrival ", arrival, " lies before the previous job's ", j.arrival[U(job - 1)],
                     "; jobs must be sorted by arrival"));
  }
  const double steps = j.total_steps[U(job)];
  if (!(steps > 0.0) || std::isinf(steps))
    throw Error(Join(where, ": total_steps: expected > 0, found ", steps));
  const int type = j.job_type[U(job)];
  if (type < 0 || U(type) >= data.throughputs.job_types.size()) {
    throw Error(Join(where, ": job_type: expected an index below ", data.throughputs.job_types.size(),
                     ", found ", type));
  }
  const int gang = j.gang[U(job)];
  if (gang < 1) throw Error(Join(where, ": gang: expected at least 1 GPU, found ", gang));
  const int low = j.gang_min.empty() ? gang : j.gang_min[U(job)];
  const int high = j.gang_max.empty() ? gang : j.gang_max[U(job)];
  if (low < 1 || low > gang || high < gang) {
    throw Error(
        Join(where, ": expected 1 <= gang_min <= gang <= gang_max, found ", low, ", ", gang, ", ", high));
  }
  if (!j.weight.empty() && (!(j.weight[U(job)] > 0.0) || std::isinf(j.weight[U(job)]))) {
    throw Error(Join(where, ": weight: expected > 0, found ", j.weight[U(job)]));
  }
  constexpr double kRounding = 1e-6;
  if (!j.deadline.empty() && !(j.deadline[U(job)] >= arrival - kRounding)) {
    throw Error(Join(where, ": deadline: expected no earlier than the arrival, ", Shortest(arrival),
                     " s, or infinity, found ", Shortest(j.deadline[U(job)])));
  }
  if (!j.gpu_milli.empty() && (j.gpu_milli[U(job)] < 1 || j.gpu_milli[U(job)] > 1000)) {
    throw Error(Join(where, ": gpu_milli: expected 1 to 1000, found ", j.gpu_milli[U(job)]));
  }
  if (!j.qos.empty() && (j.qos[U(job)] < 0 || j.qos[U(job)] > static_cast<int>(Qos::kBestEffort))) {
    throw Error(Join(where, ": qos: expected 0 (guaranteed), 1 (burstable) or 2 (best effort), found ",
                     j.qos[U(job)]));
  }
  if (!j.batch_size.empty() && j.batch_size[U(job)] < 0)
    throw Error(Join(where, ": batch_size: expected samples >= 0, found ", j.batch_size[U(job)]));
  if (!j.requested_s.empty() && !(std::isnan(j.requested_s[U(job)]) || j.requested_s[U(job)] > 0.0)) {
    throw Error(Join(where, ": requested_s: expected seconds > 0 or NaN, found ", j.requested_s[U(job)]));
  }
  const int tenants = std::max(1, static_cast<int>(data.tenants.size()));
  if (!j.tenant.empty() && (j.tenant[U(job)] < 0 || j.tenant[U(job)] >= tenants)) {
    throw Error(Join(where, ": tenant: expected an index below ", tenants, ", found ", j.tenant[U(job)]));
  }
}

// Fills rate[0..G) and says why the job can run nowhere, if so.
void FillRates(const ScenarioData& data, int job, const std::string& where, double* rate) {
  const auto& types = data.cluster.types;
  const ThroughputTable& table = data.throughputs;
  const int gang = data.jobs.gang[U(job)];
  const int job_type = data.jobs.job_type[U(job)];
  const std::size_t row = AloneRow(data, job);
  const auto size = std::lower_bound(table.gang_sizes.begin(), table.gang_sizes.end(), gang);
  int largest = 0;
  bool any = false;
  for (std::size_t g = 0; g < types.size(); ++g) {
    largest = std::max(largest, types[g].count);
    rate[g] = 0.0;
    const bool allowed = data.jobs.allowed.empty() || (data.jobs.allowed[U(job)] >> g & 1) != 0;
    if (types[g].count < gang || !allowed || size == table.gang_sizes.end() || *size != gang) continue;
    if (data.features.any() && data.features.LargestGang(data, job, static_cast<int>(g)) < gang) continue;
    rate[g] = table.alone[row + g];
    any = any || rate[g] > 0.0;
  }
  if (any) return;
  if (gang > largest) {
    throw Error(Join(where, ": a gang of ", gang,
                     " GPUs is larger than every GPU type of the cluster (largest: ", largest, ")"));
  }
  for (const Features::On& on : data.features.on()) {
    for (int g = 0; g < static_cast<int>(types.size()); ++g) {
      if (types[U(g)].count >= gang && on.settings->LargestGang(data, job, g) < gang)
        throw Error(Join(where, ": a gang of ", gang, " ", on.settings->WhyTooLarge()));
    }
  }
  throw Error(Join(where, ": job type '", table.job_types[U(job_type)], "' with a gang of ", gang,
                   " runs on none of the cluster's GPU types"));
}

}  // namespace

Clock Clock::Parse(const std::string& text) {
  if (text == "event") return {ClockKind::kEvent};
  if (text == "hpc") return {ClockKind::kHpc};
  if (text == "reference_rounds") return {ClockKind::kReferenceRounds};
  if (text == "rounds") return {ClockKind::kRounds};
  if ((text.starts_with("rounds(") || text.starts_with("reference_rounds(")) && text.back() == ')') {
    const std::size_t open = text.find('(');
    const std::string inside = text.substr(open + 1, text.size() - open - 2);
    const double seconds = ParseNumber(inside, "clock " + text);
    if (!(seconds >= kShortestRound && seconds <= kLongestTime)) {
      throw Error(Join("clock ", text, ": expected a round of ", kShortestRound, " to ", kLongestTime,
                       " seconds, found ", inside));
    }
    return {open == 6 ? ClockKind::kRounds : ClockKind::kReferenceRounds, seconds};
  }
  static const std::vector<std::string> kKnown = {"event", "rounds(360)", "reference_rounds", "hpc"};
  throw Error(Join("expected event, rounds(SECONDS), reference_rounds or hpc, found '", text, "'",
                   DidYouMean(text, kKnown)));
}

std::string Clock::ToString() const {
  switch (kind) {
    case ClockKind::kEvent:
      return "event";
    case ClockKind::kHpc:
      return "hpc";
    case ClockKind::kRounds:
      return Join("rounds(", round_s, ")");
    case ClockKind::kReferenceRounds:
      break;
  }
  return round_s == 360.0 ? "reference_rounds" : Join("reference_rounds(", round_s, ")");
}

const char* ToString(Knowledge knowledge) {
  static constexpr const char* kNames[] = {"none", "blind", "estimate", "oracle"};
  return kNames[static_cast<std::size_t>(knowledge)];
}

Knowledge ParseKnowledge(const std::string& text) {
  static const std::vector<std::string> kNames = {"none", "blind", "estimate", "oracle"};
  const auto it = std::find(kNames.begin(), kNames.end(), text);
  if (it == kNames.end()) {
    throw Error(
        Join("expected none, blind, estimate or oracle, found '", text, "'", DidYouMean(text, kNames)));
  }
  return static_cast<Knowledge>(it - kNames.begin());
}

std::size_t AloneRow(const ScenarioData& data, int job) {
  const std::vector<int>& sizes = data.throughputs.gang_sizes;
  const auto size = std::lower_bound(sizes.begin(), sizes.end(), data.jobs.gang[U(job)]);
  return (U(data.jobs.job_type[U(job)]) * sizes.size() + static_cast<std::size_t>(size - sizes.begin())) *
         data.cluster.types.size();
}

double BandwidthShare(const ScenarioData& data, int job_type, int gpu_type, double steps_per_s) {
  const JobTypeTraits& traits = data.traits;
  const double traffic = traits.traffic_gb.empty() ? 0.0 : traits.traffic_gb[U(job_type)];
  const double peak = data.cluster.types[U(gpu_type)].bandwidth_gb_s;
  if (traffic > 0.0 && peak > 0.0) return std::min(1.0, traffic * steps_per_s / peak);
  return traits.bandwidth.empty() ? 0.0 : traits.bandwidth[U(job_type)];
}

Scenario::Scenario() : body_(std::make_shared<const Body>()) {}

Scenario::Scenario(ScenarioData data, const JobLabel& label) {
  CheckCluster(data.cluster);
  CheckThroughputs(data.throughputs, data.cluster.types.size());
  CheckBelieved(data.believed, data.throughputs);
  CheckColumns(data);
  for (GpuType& type : data.cluster.types) type.part = {};
  for (const Features::On& on : data.features.on()) on.settings->AddTypes(data);
  CheckTraffic(data);
  for (const Tenant& tenant : data.tenants) {
    if (!(tenant.weight > 0.0) || std::isinf(tenant.weight)) {
      throw Error(Join("tenant '", tenant.name, "': weight: expected > 0, found ", tenant.weight));
    }
  }
  if (!(data.clock.round_s > 0.0) || std::isinf(data.clock.round_s)) {
    throw Error(Join("clock: expected a round of more than 0 seconds, found ", data.clock.round_s));
  }
  for (double cost : {data.costs.checkpoint_s, data.costs.restore_s, data.costs.migration_s}) {
    if (!(cost >= 0.0) || std::isinf(cost)) throw Error(Join("costs: expected seconds >= 0, found ", cost));
  }
  if (!(data.estimate_sigma >= 0.0) || std::isinf(data.estimate_sigma)) {
    throw Error(Join("estimate sigma: expected a number >= 0, found ", data.estimate_sigma));
  }

  auto body = std::make_shared<Body>();
  std::vector<int> whole;  // slices stand in the nodes of their GPUs
  for (int g = 0; g < static_cast<int>(data.cluster.types.size()); ++g) {
    const GpuType& type = data.cluster.types[U(g)];
    whole.push_back(PartOf(data, g).whole);
    body->first_device.push_back(body->num_gpus);
    body->first_node.push_back(body->num_nodes);
    body->num_gpus += type.count;
    if (whole.back() != g) continue;
    body->num_whole_gpus += type.count;
    body->num_nodes += (type.count - 1) / type.gpus_per_node + 1;
  }
  for (std::size_t g = 0; g < whole.size(); ++g) body->first_node[g] = body->first_node[U(whole[g])];
  const int jobs = data.jobs.size();
  const std::size_t types = data.cluster.types.size();
  body->rate.resize(U(jobs) * types);
  body->best_rate.resize(U(jobs));
  const auto where = [&](int job) { return label ? label(job) : Join("job ", job); };
  for (int job = 0; job < jobs; ++job) {
    try {
      CheckJob(data, job, "");
      FillRates(data, job, "", body->rate.data() + U(job) * types);
    } catch (const Error& error) {
      throw Error(where(job) + error.what());
    }
    const double* rates = body->rate.data() + U(job) * types;
    body->best_rate[U(job)] = *std::max_element(rates, rates + types);
  }
  std::vector<std::int64_t> ids(data.jobs.id);
  std::sort(ids.begin(), ids.end());
  const auto twice = std::adjacent_find(ids.begin(), ids.end());
  if (twice != ids.end()) {
    const auto last = std::find(data.jobs.id.rbegin(), data.jobs.id.rend(), *twice);
    const auto job = static_cast<int>(data.jobs.id.rend() - last) - 1;
    throw Error(Join(where(job), ": id ", *twice, " is used twice"));
  }
  if (data.knowledge == Knowledge::kEstimate) {
    Stream stream(data.seed, Purpose::kEstimate);
    for (int job = 0; job < jobs; ++job) body->estimate.push_back(Exp(data.estimate_sigma * stream.Normal()));
  }
  CheckFeatures(data.features, data);
  body->plain = !data.features.any();
  body->divides_gpus = data.features.DivideGpus();
  bool believed = false;
  for (const Features::On& on : data.features.on()) {
    if (auto widths = on.settings->Widths(data)) body->widths = std::move(widths);
    believed = on.settings->Believe(data, body->believed) || believed;
  }
  if (believed) {
    for (int job = 0; job < jobs; ++job) {
      const double* rates = body->rate.data() + U(job) * types;
      const double* told = body->believed.alone.data() + AloneRow(data, job);
      body->told_best_rate.push_back(0.0);
      for (std::size_t g = 0; g < types; ++g) {
        body->told_rate.push_back(rates[g] > 0.0 ? told[g] : 0.0);
        body->told_best_rate.back() = std::max(body->told_best_rate.back(), body->told_rate.back());
      }
    }
  }
  body->hash = HashOf(data);
  body->data = std::move(data);
  body_ = std::move(body);
}

double Scenario::PairRate(int job, int other, int type) const {
  return PairRate(job, other, type, body_->data.throughputs.pairs);
}

double Scenario::PairRate(int job, int other, int type, const std::vector<double>& pairs) const {
  const ThroughputTable& table = body_->data.throughputs;
  const JobTable& jobs = body_->data.jobs;
  if (pairs.empty() || jobs.gang[U(job)] != 1 || jobs.gang[U(other)] != 1) return 0.0;
  // Who holds a part of a GPU shares it by the rules of the feature that divides it.
  if (body_->divides_gpus && (HoldsPart(job) || HoldsPart(other))) return 0.0;
  const auto guaranteed = [&](int j) { return jobs.qos[U(j)] == static_cast<int>(Qos::kGuaranteed); };
  if (body_->divides_gpus && !jobs.qos.empty() && (guaranteed(job) || guaranteed(other))) return 0.0;
  const double memory = body_->data.cluster.types[U(type)].memory_gb;
  if (memory > 0.0 && !HoldsGb(memory, MemoryGb(job) + MemoryGb(other), memory)) return 0.0;
  if (Rate(job, type) <= 0.0 || Rate(other, type) <= 0.0) return 0.0;  // not allowed there at all
  const std::size_t first = U(jobs.job_type[U(job)]), second = U(jobs.job_type[U(other)]);
  const std::size_t types = body_->data.cluster.types.size();
  const double* rates = &pairs[((first * table.job_types.size() + second) * types + U(type)) * 2];
  return rates[1] > 0.0 ? rates[0] : 0.0;
}

int Scenario::TypeOfDevice(int device) const {
  const auto& first = body_->first_device;
  return static_cast<int>(std::upper_bound(first.begin(), first.end(), device) - first.begin()) - 1;
}

int Scenario::NodeOf(int device) const {
  const int type = TypeOfDevice(device);
  return body_->first_node[U(type)] +
         (device - first_device(type)) / body_->data.cluster.types[U(type)].gpus_per_node;
}

double Scenario::WorkingGpus(int job) const {
  return body_->data.jobs.gang[U(job)] * (body_->data.features.PartsSuffice() ? GpuMilli(job) / 1000.0 : 1.0);
}

double Scenario::MemoryGb(int job) const {
  const std::vector<double>& stated = body_->data.traits.memory_gb;
  return stated.empty() ? 0.0 : stated[U(body_->data.jobs.job_type[U(job)])];
}

double Scenario::BandwidthShare(int job, int type) const {
  const JobTable& jobs = body_->data.jobs;
  return berth::BandwidthShare(body_->data, jobs.job_type[U(job)], type, Rate(job, type) / jobs.gang[U(job)]);
}

double Scenario::Demand(int job, int resource) const {
  const JobTable& jobs = body_->data.jobs;
  const std::size_t resources = jobs.demand.size() / U(jobs.size());
  return U(resource) < resources ? jobs.demand[U(job) * resources + U(resource)] : 0.0;
}

int Scenario::MinGang(int job) const {
  return body_->widths ? body_->widths->Min(job) : body_->data.jobs.gang[U(job)];
}

int Scenario::MaxGang(int job) const {
  return body_->widths ? body_->widths->Max(job) : body_->data.jobs.gang[U(job)];
}

double Scenario::RateAt(int job, int type, int width) const {
  if (body_->widths) return body_->widths->Rate(job, type, width);
  return width == body_->data.jobs.gang[U(job)] ? Rate(job, type) : 0.0;
}

std::span<const double> Scenario::RateCurve(int job, int type) const {
  if (body_->widths) return body_->widths->Curve(job, type);
  return Rates(job).subspan(U(type), 1);
}

Scenario WithClock(const Scenario& scenario, const Clock& clock) {
  ScenarioData data = scenario.data();
  data.clock = clock;
  return Scenario(std::move(data));
}

Scenario WithKnowledge(const Scenario& scenario, Knowledge knowledge, double sigma) {
  ScenarioData data = scenario.data();
  data.knowledge = knowledge;
  data.estimate_sigma = sigma;
  return Scenario(std::move(data));
}

Scenario WithCosts(const Scenario& scenario, const Costs& costs) {
  ScenarioData data = scenario.data();
  data.costs = costs;
  return Scenario(std::move(data));
}

Scenario WithFeatures(const Scenario& scenario, const Features& features) {
  ScenarioData data = scenario.data();
  data.features = features;
  Scenario changed(std::move(data));
  for (int g = 0; g < scenario.num_types(); ++g) {  // else its slices were GPUs of their own
    if (PartOf(scenario.data(), g).whole == g || PartOf(changed.data(), g).whole != g) continue;
    throw Error(Join("features: expected partitions as in the scenario, whose '",
                     scenario.data().cluster.types[U(g)].name, "' are slices, found '", ToString(features),
                     "'"));
  }
  return changed;
}

Scenario Slice(const Scenario& scenario, int begin, int end) {
  BERTH_CHECK(0 <= begin && begin < end && end <= scenario.num_jobs(), begin, ":", end);
  ScenarioData data = scenario.data();
  JobTable& jobs = data.jobs;
  const double origin = jobs.arrival[U(begin)];
  const std::size_t per_job = jobs.demand.size() / U(jobs.size());
  const auto cut = [&](auto& column, std::size_t width = 1) {
    if (column.empty()) return;
    column.erase(column.begin() + static_cast<std::ptrdiff_t>(U(end) * width), column.end());
    column.erase(column.begin(), column.begin() + static_cast<std::ptrdiff_t>(U(begin) * width));
  };
  cut(jobs.demand, per_job);
  ForEachColumn(jobs, [&](const char*, auto& column, bool) { cut(column); });
  for (double& arrival : jobs.arrival) arrival -= origin;
  for (double& deadline : jobs.deadline) deadline -= origin;
  data.features = data.features.OfJobs(jobs, origin);
  return Scenario(std::move(data));
}

}  // namespace berth

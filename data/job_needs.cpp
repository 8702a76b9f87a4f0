#include "data/job_needs.hpp"

#include <algorithm>
#include <cmath>

#include "data/throughputs.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"

namespace berth {
namespace {

using Shares = JobNeeds::Shares;
using Bounds = JobNeeds::Bounds;

constexpr double kSlack = 1e-9;  // of probabilities: ten tenths are one

// Each parameter has a part of the stream of its own.
enum Draw : std::uint64_t {
  kTenants,
  kParts,
  kQos,
  kRequests,
  kOnly,
  kCores,
  kMemory,
  kGpuMemory,
  kBandwidth,
  kUtilization
};
Stream At(Stream stream, Draw draw) {
  stream.Seek(std::uint64_t{draw} << 36);
  return stream;
}

double LogUniform(Stream& stream, const Bounds& bounds) {
  return bounds.low * Exp(stream.Uniform() * Log(bounds.high / bounds.low));
}

Error Expected(const std::string& name, const std::string& what, const std::string& found) {
  return Error(Join("synthetic: ", name, ": expected off or ", what, ", found '", found, "'"));
}

// "NAME:SHARE/...", shares of sum 1, or less where the rest is something else.
Shares ParseShares(const std::string& name, const std::string& text, const std::string& what, bool all) {
  Shares shares;
  if (text == kOff) return shares;
  double sum = 0.0;
  for (const std::string& part : SplitOutsideParentheses(text, '/')) {
    const std::size_t colon = part.find(':');
    if (colon == std::string::npos || colon == 0) throw Expected(name, what, text);
    const double share = ParseNumber(part.substr(colon + 1), Join("synthetic: ", name));
    if (!(share > 0.0 && share <= 1.0)) throw Expected(name, what, text);
    const std::string key = part.substr(0, colon);
    if (std::any_of(shares.begin(), shares.end(), [&](const auto& other) { return other.first == key; }))
      throw Error(Join("synthetic: ", name, ": expected each once, found '", key, "' twice"));
    sum += share;
    shares.emplace_back(key, sum);
  }
  if (sum > 1.0 + kSlack || (all && sum < 1.0 - kSlack)) throw Expected(name, what, text);
  if (sum > 1.0 - kSlack) shares.back().second = 1.0;
  return shares;
}

// The index of what is drawn; the number of shares for the rest.
std::size_t Pick(const Shares& shares, Stream& stream) {
  const double u = stream.Uniform();
  const auto at =
      std::find_if(shares.begin(), shares.end(), [&](const auto& share) { return u < share.second; });
  return static_cast<std::size_t>(at - shares.begin());
}

Bounds ParseBounds(Params& params, const char* name, double least, double most) {
  const std::string text = params.Text(name);
  if (text == kOff) return {};
  const std::string what = Join("LOW:HIGH with ", least, " <= LOW <= HIGH <= ", most);
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) throw Expected(name, what, text);
  const std::string where = Join("synthetic: ", name);
  const Bounds bounds{ParseNumber(text.substr(0, colon), where), ParseNumber(text.substr(colon + 1), where)};
  if (!(bounds.low >= least && bounds.low <= bounds.high && bounds.high <= most))
    throw Expected(name, what, text);
  return bounds;
}

double ParseShare(Params& params, const char* name, double most) {
  const std::string text = params.Text(name);
  if (text == kOff) return 0.0;
  const double value = ParseNumber(text, Join("synthetic: ", name));
  if (!(value > 0.0 && value <= most)) throw Expected(name, Join("a number above 0 and up to ", most), text);
  return value;
}

Shares ParseTenants(const std::string& text) {
  const std::string what = "a number of tenants up to 1000, or NAME:SHARE/... of sum 1";
  if (text == kOff || text.find(':') != std::string::npos)
    return ParseShares("tenants", text, what, /*all=*/true);
  const double count = ParseNumber(text, "synthetic: tenants");
  if (!(count >= 1.0 && count <= 1000.0 && count == std::floor(count))) throw Expected("tenants", what, text);
  Shares shares;
  for (int i = 1; i <= static_cast<int>(count); ++i) shares.emplace_back(Join("tenant", i), i / count);
  shares.back().second = 1.0;
  return shares;
}

// Steps/s; 0 where the type cannot run the gang or is too small.
double RateOn(const ScenarioData& data, int job, std::size_t type) {
  const int gang = data.jobs.gang[U(job)];
  if (data.cluster.types[type].count < gang) return 0.0;
  return AloneRate(data.throughputs, data.jobs.job_type[U(job)], gang, static_cast<int>(type),
                   static_cast<int>(data.cluster.types.size()));
}

bool HoldsPart(const ScenarioData& data, int job, std::size_t type) {
  const double memory = data.cluster.types[type].memory_gb;
  return memory == 0.0 || data.traits.memory_gb.empty() ||
         data.traits.memory_gb[U(data.jobs.job_type[U(job)])] <= memory;
}

bool IsPart(const JobTable& jobs, int job) {
  return !jobs.gpu_milli.empty() && jobs.gpu_milli[U(job)] < 1000;
}

// As Qos; 3 = none of them.
int ClassNamed(const std::string& name) {
  return static_cast<int>(std::find(kQosNames.begin(), kQosNames.end(), name) - kQosNames.begin());
}

}  // namespace

JobNeeds JobNeeds::Parse(Params& params) {
  JobNeeds needs;
  needs.tenants_ = ParseTenants(params.Text("tenants"));
  needs.parts_ =
      ParseShares("parts", params.Text("parts"), "THOUSANDTHS:SHARE/... of 1 to 999", /*all=*/false);
  for (const auto& [part, share] : needs.parts_) {
    const double milli = ParseNumber(part, "synthetic: parts");
    if (!(milli >= 1.0 && milli <= 999.0 && milli == std::floor(milli)))
      throw Expected("parts", "THOUSANDTHS:SHARE/... of 1 to 999", part);
  }
  needs.qos_ = ParseShares("qos", params.Text("qos"), "CLASS:SHARE/... of sum 1", /*all=*/true);
  for (const auto& [name, share] : needs.qos_) {
    if (ClassNamed(name) == static_cast<int>(kQosNames.size()))
      throw Expected("qos", "classes guaranteed, burstable, best_effort", name);
  }
  needs.elastic_ = ParseBounds(params, "elastic", 0.01, 100.0);
  if (needs.elastic_.on() && (needs.elastic_.low > 1.0 || needs.elastic_.high < 1.0))
    throw Expected("elastic", "LOW:HIGH with LOW <= 1 <= HIGH", params.Text("elastic"));
  needs.requests_ = ParseBounds(params, "requests", 0.01, 1000.0);
  needs.only_ = ParseShare(params, "only", 1.0);
  needs.cores_ = ParseBounds(params, "cores", 0.001, 1e4);
  needs.memory_ = ParseBounds(params, "memory", 0.001, 1e5);
  needs.gpu_memory_ = ParseBounds(params, "gpu_memory", 0.001, 1e4);
  needs.bandwidth_ = ParseBounds(params, "bandwidth", 0.0, 1.0);
  needs.utilization_ = ParseBounds(params, "utilization", 0.001, 1.0);
  return needs;
}

void JobNeeds::AddTo(ScenarioData& data, std::uint64_t seed, Split split, std::uint32_t env,
                     std::uint32_t episode) const {
  JobTable& jobs = data.jobs;
  const int count = jobs.size();
  const std::size_t types = data.cluster.types.size();
  const Stream stream(seed, Purpose::kNeeds, split, env, episode);
  const Stream of_kinds(0, Purpose::kNeeds);  // facts of job types, in training and evaluation alike
  Stream gigabytes = At(of_kinds, kGpuMemory), traffic = At(of_kinds, kBandwidth),
         use = At(of_kinds, kUtilization);
  for (std::size_t kind = 0; kind < data.throughputs.job_types.size(); ++kind) {
    if (gpu_memory_.on()) data.traits.memory_gb.push_back(LogUniform(gigabytes, gpu_memory_));
    if (bandwidth_.on()) data.traits.bandwidth.push_back(traffic.Uniform(bandwidth_.low, bandwidth_.high));
    if (utilization_.on())
      data.traits.utilization.push_back(use.Uniform(utilization_.low, utilization_.high));
  }
  for (const auto& [name, share] : tenants_) data.tenants.push_back({name, 1.0, "fairness"});
  Stream draw = At(stream, kTenants);
  for (int job = 0; !tenants_.empty() && job < count; ++job)
    jobs.tenant.push_back(static_cast<int>(Pick(tenants_, draw)));
  AddParts(data, stream);
  draw = At(stream, kQos);
  for (int job = 0; !qos_.empty() && job < count; ++job)
    jobs.qos.push_back(ClassNamed(qos_[Pick(qos_, draw)].first));
  for (int job = 0; elastic_.on() && job < count; ++job) {
    const int gang = jobs.gang[U(job)];
    jobs.gang_min.push_back(std::max(1, static_cast<int>(std::floor(gang * elastic_.low))));
    jobs.gang_max.push_back(IsPart(jobs, job) ? 1 : static_cast<int>(std::ceil(gang * elastic_.high)));
  }
  draw = At(stream, kRequests);
  for (int job = 0; requests_.on() && job < count; ++job) {
    double best = 0.0;
    for (std::size_t g = 0; g < types; ++g) best = std::max(best, RateOn(data, job, g));
    jobs.requested_s.push_back(jobs.total_steps[U(job)] / best * LogUniform(draw, requests_));
  }
  draw = At(stream, kOnly);
  for (int job = 0; only_ > 0.0 && job < count; ++job) {
    std::vector<std::size_t> able;
    for (std::size_t g = 0; g < types; ++g) {
      if (RateOn(data, job, g) > 0.0 && (!IsPart(jobs, job) || HoldsPart(data, job, g))) able.push_back(g);
    }
    const bool limited = draw.Uniform() < only_;
    const std::size_t one = able[draw.Below(static_cast<std::uint32_t>(able.size()))];
    const std::uint64_t all = types == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << types) - 1;
    jobs.allowed.push_back(limited ? std::uint64_t{1} << one : all);
  }
  Stream cores = At(stream, kCores), memory = At(stream, kMemory);
  for (int job = 0; (cores_.on() || memory_.on()) && job < count; ++job) {
    jobs.demand.push_back(cores_.on() ? LogUniform(cores, cores_) : 0.0);
    jobs.demand.push_back(memory_.on() ? LogUniform(memory, memory_) : 0.0);
  }
}

// Jobs whose memory no GPU holds that runs them hold whole ones: their rate there was measured.
void JobNeeds::AddParts(ScenarioData& data, Stream stream) const {
  if (parts_.empty()) return;
  JobTable& jobs = data.jobs;
  stream = At(stream, kParts);
  for (int job = 0; job < jobs.size(); ++job) {
    const std::size_t i = Pick(parts_, stream);
    bool part = false;
    for (std::size_t g = 0; g < data.cluster.types.size() && i < parts_.size() && jobs.gang[U(job)] == 1; ++g)
      part = part || (RateOn(data, job, g) > 0.0 && HoldsPart(data, job, g));
    jobs.gpu_milli.push_back(part ? std::stoi(parts_[i].first) : 1000);
  }
}

std::string WithoutOff(const std::string& spec) {
  std::string text = spec;
  for (const ParamInfo& param : kJobNeedsParams) {
    const std::string off = Join(",", param.name, "=", kOff);
    const std::size_t at = text.find(off), end = at + off.size();
    if (at != std::string::npos && end < text.size() && (text[end] == ',' || text[end] == ')'))
      text.erase(at, off.size());
  }
  return text;
}

}  // namespace berth

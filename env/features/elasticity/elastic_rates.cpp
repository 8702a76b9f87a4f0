// How fast an elastic job runs on how many GPUs (elasticity.hpp).
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"
#include "env/features/elasticity/elasticity.hpp"
#include "env/sim/physical_gpus.hpp"
#include "env/sim/scenario.hpp"

namespace berth {
namespace {

// Points at 1, 2, 4, ..., linear between.
double OnCurve(std::span<const double> points, double n) {
  double from = 1.0;
  for (std::size_t k = 0; k < points.size(); ++k, from *= 2.0) {
    if (n == from) return points[k];
    if (n < 2.0 * from && k + 1 < points.size())
      return points[k] + (points[k + 1] - points[k]) * (n - from) / from;
  }
  return 0.0;
}

// Did somebody measure the job type with several gangs? One speed of all of them on each GPU type is how logs
// say that steps are seconds, or state a speed without saying of how many GPUs: not that a gang loses nothing
// with the GPUs that it gives away.
bool MeasuredByGang(const ScenarioData& d, std::size_t job_type) {
  const std::size_t sizes = d.throughputs.gang_sizes.size(), types = d.cluster.types.size();
  for (std::size_t type = 0; type < types; ++type) {
    if (PartOf(d, static_cast<int>(type)).whole != static_cast<int>(type)) continue;
    double one = 0.0;
    for (std::size_t size = 0; size < sizes; ++size) {
      const double rate = d.throughputs.alone[(job_type * sizes + size) * types + type];
      if (rate <= 0.0) continue;
      if (one > 0.0 && rate != one) return true;
      one = rate;
    }
  }
  return false;
}

// Rates of one job type with one gang on one GPU type.
class WidthRates {
 public:
  WidthRates(const ElasticitySettings& settings, const ScenarioData& d, int job_type, int gang,
             std::size_t type)
      : d_(d),
        settings_(settings),
        job_type_(U(job_type)),
        gang_(gang),
        type_(type),
        measured_(settings.measured && MeasuredByGang(d, U(job_type))),
        slice_(PartOf(d, static_cast<int>(type)).whole != static_cast<int>(type)) {
    const double memory = d.traits.memory_gb.empty() ? 0.0 : d.traits.memory_gb[job_type_];
    const double gpu = d.cluster.types[type].memory_gb;
    group_ = ModelParallelGroup(settings_,
                                memory > 0.0 && gpu > 0.0 ? static_cast<int>(std::ceil(memory / gpu)) : 1);
  }

  double At(int width) const {
    if (width == gang_ || (measured_ && Table(width) > 0.0)) return Table(width);
    if (slice_ && width > 1) return 0.0;  // instances on slices cannot talk to each other
    if (width % group_.gpus() != 0) return 0.0;
    int below = 0, above = 0;  // measured
    for (int size : d_.throughputs.gang_sizes) {
      if ((!measured_ && size != gang_) || Table(size) <= 0.0) continue;
      if (size < width) below = size;
      if (size > width && above == 0) above = size;
    }
    if (below > 0 && above > 0) {
      return Table(below) + (Table(above) - Table(below)) * (width - below) / (above - below);
    }
    const int known = below > 0 ? below : above;
    const double relative = known > 0 ? Speed(known) : 0.0;
    return relative > 0.0 ? Table(known) * Speed(width) / relative : 0.0;
  }

 private:
  double Table(int size) const {
    const auto& sizes = d_.throughputs.gang_sizes;
    const auto at = std::lower_bound(sizes.begin(), sizes.end(), size);
    if (at == sizes.end() || *at != size) return 0.0;
    const std::size_t s = static_cast<std::size_t>(at - sizes.begin());
    return d_.throughputs.alone[(job_type_ * sizes.size() + s) * d_.cluster.types.size() + type_];
  }
  // Over one GPU; what does not make a whole group is idle.
  double Speed(int width) const {
    const int groups = width / group_.gpus();
    return groups > 0 ? group_.speed * DataParallelSpeedup(settings_, groups) : 0.0;
  }

  const ScenarioData& d_;
  const ElasticitySettings& settings_;
  std::size_t job_type_;
  int gang_;
  std::size_t type_;
  bool measured_;  // the table's other sizes too
  bool slice_;
  ModelParallel group_;
};

}  // namespace

double DataParallelSpeedup(const ElasticitySettings& settings, double n) {
  if (!settings.curve.empty()) return OnCurve(settings.curve, n);
  if (settings.scaling == "linear") return n;
  if (settings.scaling == "amdahl") return 1.0 / (1.0 - settings.parallel + settings.parallel / n);
  // 29 h to 1 h: NVIDIA's news of the paper, 2017; its abstract has ~90% of linear from 8 to 256 (29/32 =
  // 91%).
  if (settings.scaling == "imagenet_256") return Pow(n, Log(29.0) / Log(256.0 / 8.0));
  if (settings.scaling == "large_512") return Pow(n, Log(46.5) / Log(512.0));
  static constexpr double kDataParallel[] = {1.0, 1.7, 3.5, 6.2};
  return OnCurve(kDataParallel, n);
}

ModelParallel ModelParallelGroup(const ElasticitySettings& settings, int gpus) {
  ModelParallel group;
  group.tensor = std::min(gpus, settings.tensor);
  group.stages = (gpus - 1) / group.tensor + 1;
  const double t = group.tensor, p = group.stages, m = settings.micro_batches;
  group.speed = t / (1.0 + 2.0 * settings.tensor_traffic * (t - 1.0)) * p * m / (m + p - 1.0);
  return group;
}

std::shared_ptr<const RatesByWidth> ElasticitySettings::Widths(const ScenarioData& d) const {
  auto widths = std::make_shared<RatesByWidth>();
  const JobTable& jobs = d.jobs;
  const bool parts = d.features.DivideGpus() && !jobs.gpu_milli.empty();
  int largest = 0;
  for (const GpuType& type : d.cluster.types) largest = std::max(largest, type.count);
  std::vector<int> room(d.cluster.types.size());  // the largest gang of the job on each type
  std::map<std::tuple<int, int, std::uint64_t, int, int, std::vector<int>>, std::size_t> known;
  for (int job = 0; job < jobs.size(); ++job) {
    const int gang = jobs.gang[U(job)], job_type = jobs.job_type[U(job)];
    const std::uint64_t allowed = jobs.allowed.empty() ? ~std::uint64_t{0} : jobs.allowed[U(job)];
    int low = jobs.gang_min.empty()
                  ? std::max(1, static_cast<int>(std::ceil(gang * std::min(min_factor, 1.0))))
                  : jobs.gang_min[U(job)];
    int high =
        jobs.gang_max.empty() ? static_cast<int>(std::min(gang * max_factor, 1e6)) : jobs.gang_max[U(job)];
    high = std::max(gang, std::min(high, largest));
    low = std::min(low, gang);
    if (parts && jobs.gpu_milli[U(job)] < 1000) low = high = gang;
    for (std::size_t g = 0; g < room.size(); ++g)
      room[g] = std::min(high, d.features.LargestGang(d, job, static_cast<int>(g)));
    const auto [entry, fresh] =
        known.try_emplace({job_type, gang, allowed, low, high, room}, widths->classes.size());
    widths->class_of.push_back(entry->second);
    if (!fresh) continue;
    // Bounds are those of the widths that some type can run.
    std::vector<std::vector<double>> rates(d.cluster.types.size());
    int least = gang, most = gang;
    for (std::size_t g = 0; g < rates.size(); ++g) {
      const WidthRates at(*this, d, job_type, gang, g);
      for (int width = low; width <= high; ++width) {
        const bool can = (allowed >> g & 1) != 0 && width <= room[g];
        rates[g].push_back(can ? at.At(width) : 0.0);
        if (rates[g].back() > 0.0) least = std::min(least, width), most = std::max(most, width);
      }
    }
    widths->classes.push_back({least, most, widths->rates.size()});
    for (const std::vector<double>& of_type : rates)
      widths->rates.insert(widths->rates.end(), of_type.begin() + (least - low),
                           of_type.begin() + (most - low + 1));
  }
  return widths;
}

}  // namespace berth

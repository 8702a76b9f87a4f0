#include "tools/forecast/run_sample.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace berth {
namespace {

constexpr std::size_t kEnough = 10;  // runs
constexpr double kOutran = 2.0;      // times as long as so far: who outran all that are known
constexpr int kAny = -1000000, kFours = 10000;
constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

bool HasLimit(const KnownRun& run) {
  return run.requested_s > 0.0 && std::isfinite(run.requested_s);
}

// The most like it first. Limits count by powers of two, of four and of sixteen: of those who ask for long
// fewer use it all.
std::array<std::array<int, 4>, 7> KeysOf(const KnownRun& run) {
  int two = kAny, four = kAny, sixteen = kAny;
  if (HasLimit(run)) {
    const double octave = std::log2(run.requested_s);
    two = static_cast<int>(std::floor(octave));
    four = kFours + static_cast<int>(std::floor(octave / 2.0));
    sixteen = 2 * kFours + static_cast<int>(std::floor(octave / 4.0));
  }
  return {{{run.job_type, run.gang, run.tenant, two},
           {run.job_type, run.gang, kAny, two},
           {kAny, kAny, run.tenant, two},
           {kAny, kAny, kAny, two},
           {kAny, kAny, kAny, four},
           {kAny, kAny, kAny, sixteen},
           {kAny, kAny, kAny, kAny}}};
}

}  // namespace

RunSample::RunSample(const std::vector<KnownRun>& runs) {
  std::map<Key, std::vector<Entry>> shares, seconds;
  for (const KnownRun& run : runs) {
    if (run.seconds <= 0.0) continue;
    for (const Key& key : KeysOf(run)) {
      seconds[key].push_back({run.seconds, run.ended});
      if (HasLimit(run)) shares[key].push_back({run.seconds / run.requested_s, run.ended});
    }
  }
  for (auto& [key, entries] : shares) shares_[key] = CurveOf(std::move(entries));
  for (auto& [key, entries] : seconds) seconds_[key] = CurveOf(std::move(entries));
}

RunSample::Curve RunSample::CurveOf(std::vector<Entry> entries) {
  // Of equals those that ended first: who goes on was there then.
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.value != b.value ? a.value < b.value : a.ended > b.ended;
  });
  Curve curve;
  double survive = 1.0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].ended) continue;
    survive *= 1.0 - 1.0 / static_cast<double>(entries.size() - i);
    curve.values.push_back(entries[i].value);
    curve.survive.push_back(survive);
  }
  return curve;
}

double RunSample::Draw(const Curve& curve, double least, std::size_t enough, Stream& stream) {
  const auto first = std::upper_bound(curve.values.begin(), curve.values.end(), least);
  const auto left = static_cast<std::size_t>(curve.values.end() - first);
  if (left < enough) return kNothing;
  const auto at = static_cast<std::size_t>(first - curve.values.begin());
  const double now = at == 0 ? 1.0 : curve.survive[at - 1];
  const double aim = now * stream.Uniform();  // the share that lasts longer than what is drawn
  const auto drawn = std::partition_point(curve.survive.begin() + static_cast<std::ptrdiff_t>(at),
                                          curve.survive.end(), [&](double share) { return share > aim; });
  // Longer than any that ended: those that go on say no more than that.
  if (drawn == curve.survive.end()) return std::numeric_limits<double>::infinity();
  return curve.values[static_cast<std::size_t>(drawn - curve.survive.begin())];
}

const RunSample::Curve* RunSample::Find(bool share, const Key& key) const {
  const std::map<Key, Curve>& curves = share ? shares_ : seconds_;
  const auto at = curves.find(key);
  return at == curves.end() ? nullptr : &at->second;
}

double RunSample::Draw(const KnownRun& job, Stream& stream) const {
  const bool share = HasLimit(job);
  const double unit = share ? job.requested_s : 1.0;
  double least = job.seconds / unit, drawn = kNothing;
  const auto keys = KeysOf(job);
  for (const Key& key : keys) {
    const Curve* curve = Find(share, key);
    if (curve == nullptr) continue;
    drawn = Draw(*curve, least, key == keys.back() ? 1 : kEnough, stream);
    if (std::isfinite(drawn)) break;
    // Longer than any that ended of these: more of them say how much longer.
    if (std::isinf(drawn)) least = std::max(least, curve->values.back());
  }
  if (!std::isfinite(drawn) && share && least < 1.0) drawn = stream.Uniform(least, 1.0);
  if (!std::isfinite(drawn) && least > 0.0)
    drawn = least * (share ? 1.05 : stream.Uniform(1.0, 2.0 * kOutran - 1.0));
  return std::isnan(drawn) ? drawn : std::max(drawn, least * (1.0 + 1e-6)) * unit;
}

}  // namespace berth

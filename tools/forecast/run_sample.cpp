#include "tools/forecast/run_sample.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace berth {
namespace {

constexpr std::size_t kEnough = 10;  // runs that ended later
constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
constexpr double kAnyLimit = std::numeric_limits<double>::infinity();

bool HasLimit(const KnownRun& run) {
  return run.requested_s > 0.0 && std::isfinite(run.requested_s);
}

}  // namespace

double RunChance::Draw(Stream& stream) const {
  const double aim = stream.Uniform();  // the chance to last longer than what is drawn
  const auto at = std::partition_point(survive_.begin(), survive_.end(), [&](double s) { return s > aim; });
  double drawn = 0.0;
  if (at != survive_.end())
    drawn = values_[static_cast<std::size_t>(at - survive_.begin())];
  else if (share_ && from_ < 1.0)
    drawn = stream.Uniform(from_, 1.0);
  else if (share_)
    drawn = 1.05 * from_;  // beyond its limit: it is about to be ended
  else if (from_ > 0.0)
    drawn = from_ * stream.Uniform(1.0, 3.0);
  else
    return std::numeric_limits<double>::quiet_NaN();
  return drawn * unit_;
}

RunSample::RunSample(const std::vector<KnownRun>& runs) {
  for (const KnownRun& run : runs) {
    if (run.seconds <= 0.0) continue;
    for (const Key& key :
         {Key{run.job_type, run.gang, run.tenant}, Key{-1, -1, run.tenant}, Key{-1, -1, -1}}) {
      seconds_[key].push_back({0.0, run.seconds, run.ended});
      if (HasLimit(run))
        shares_[key].push_back({std::log2(run.requested_s), run.seconds / run.requested_s, run.ended});
    }
  }
  for (auto& [key, entries] : shares_)
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& a, const Entry& b) { return a.octave < b.octave; });
}

std::vector<RunSample::Entry> RunSample::Nearest(const Runs& runs, const Key& key, double octave,
                                                 std::size_t most, double apart) {
  const auto found = runs.find(key);
  if (found == runs.end()) return {};
  const std::vector<Entry>& all = found->second;
  const auto at = std::lower_bound(all.begin(), all.end(), octave,
                                   [](const Entry& entry, double value) { return entry.octave < value; });
  auto first = at, last = at;
  while (static_cast<std::size_t>(last - first) < most) {
    const double below = first == all.begin() ? kAnyLimit : octave - (first - 1)->octave;
    const double above = last == all.end() ? kAnyLimit : last->octave - octave;
    if (std::min(below, above) > apart || (first == all.begin() && last == all.end())) break;
    if (below <= above)
      --first;
    else
      ++last;
  }
  return {first, last};
}

RunChance RunSample::Of(const KnownRun& job) const {
  RunChance chance;
  chance.share_ = HasLimit(job);
  chance.unit_ = chance.share_ ? job.requested_s : 1.0;
  chance.from_ = job.seconds / chance.unit_;
  const Runs& runs = chance.share_ ? shares_ : seconds_;
  const double octave = chance.share_ ? std::log2(job.requested_s) : 0.0;
  const std::size_t few = chance.share_ ? 40 : kAll;
  const Key own{job.job_type, job.gang, job.tenant}, tenant{-1, -1, job.tenant}, any{-1, -1, -1};
  struct Level {
    const Key& key;
    std::size_t most;
    double apart;  // octaves
  };
  double left = 1.0;  // the chance of what is still unsaid
  for (const Level& level :
       {Level{own, few, 0.5}, Level{tenant, few, 0.5}, Level{any, few, 1.0},
        Level{any, chance.share_ ? 160 : kAll, kAnyLimit}, Level{any, kAll, kAnyLimit}}) {
    std::vector<Entry> entries = Nearest(runs, level.key, octave, level.most, level.apart);
    std::erase_if(entries, [&](const Entry& entry) { return entry.value <= chance.from_; });
    const auto later = std::count_if(entries.begin(), entries.end(), [](const Entry& e) { return e.ended; });
    if (later < static_cast<std::ptrdiff_t>(level.most == kAll ? 1 : kEnough)) continue;
    // Of equals those that ended first: who goes on was there then.
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return a.value != b.value ? a.value < b.value : a.ended > b.ended;
    });
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (!entries[i].ended) continue;
      left *= 1.0 - 1.0 / static_cast<double>(entries.size() - i);
      chance.values_.push_back(entries[i].value);
      chance.survive_.push_back(left);
    }
    chance.from_ = chance.values_.back();
    if (left <= 0.0) break;  // else more of them say how much longer
  }
  return chance;
}

}  // namespace berth

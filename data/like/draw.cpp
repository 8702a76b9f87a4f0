#include "data/like/draw.hpp"

#include <algorithm>
#include <cmath>

#include "env/base/check.hpp"
#include "env/base/portable_math.hpp"

namespace berth {
namespace {

constexpr double kWeek = 168.0 * LikeModel::kHour;
constexpr double kLeastRun = 1e-3;  // s: jobs of no work are none

}  // namespace

void LikeTables::Weights::Add(double weight, int what) {
  if (weight <= 0.0) return;
  up_to.push_back(sum() + weight);
  of.push_back(what);
}

int LikeTables::Weights::Draw(double uniform) const {
  const auto at = std::upper_bound(up_to.begin(), up_to.end(), uniform * sum());
  return of[std::min(static_cast<std::size_t>(at - up_to.begin()), of.size() - 1)];
}

LikeTables::LikeTables(const LikeModel& model) : model_(model) {
  own_.resize(std::max<std::size_t>(1, model.users.size()));
  for (std::size_t i = 0; i < model.classes.size(); ++i) {
    const LikeClass& of = model.classes[i];
    (of.user < 0 ? shared_ : own_[static_cast<std::size_t>(of.user)]).Add(of.jobs, static_cast<int>(i));
  }
  if (model.users.empty()) own_[0].Add(shared_.sum(), -1);
  for (std::size_t user = 0; user < model.users.size(); ++user) own_[user].Add(model.users[user].shared, -1);
  for (std::size_t user = 0; user < own_.size(); ++user) users_.Add(own_[user].sum(), static_cast<int>(user));
  double sum = 0.0;
  for (double day : model.days) {
    for (double hour : model.hours) rate_.push_back(day * hour), sum += day * hour;
  }
  for (double& rate : rate_) rate *= static_cast<double>(rate_.size()) / sum;
}

LikeHistory::LikeHistory(const LikeMemory& memory)
    : memory_(memory), own_(std::sqrt(1.0 - memory.same * memory.same)) {
  double sum = 0.0;
  for (int k = 1; k <= LikeMemory::kBack && memory.again > 0.0; ++k)
    up_to_.push_back(sum += Pow(static_cast<double>(k), -memory.recency));
  ring_.resize(up_to_.size());
}

LikeKind LikeHistory::Next(Stream& stream) const {
  LikeKind kind;
  kind.score = stream.Normal();
  if (ring_.empty() || stream.Uniform() >= memory_.again) return kind;
  const auto at = std::upper_bound(up_to_.begin(), up_to_.end(), stream.Uniform() * up_to_.back());
  const auto back = std::min(static_cast<std::size_t>(at - up_to_.begin()), ring_.size() - 1) + 1;
  if (back > count_) return kind;
  const LikeKind& like = ring_[(count_ - back) % ring_.size()];
  return {like.user, like.of, memory_.same * like.score + own_ * kind.score};
}

void LikeHistory::Add(const LikeKind& kind) {
  if (!ring_.empty()) ring_[count_++ % ring_.size()] = kind;
}

LikeDraw::LikeDraw(const LikeTables& tables, double load, Stream arrivals, Stream jobs)
    : tables_(tables),
      arrivals_(arrivals),
      jobs_(jobs),
      gaps_(tables.model_.gap_memory),
      kinds_(tables.model_.job_memory) {
  const LikeModel& model = tables.model_;
  if (model.per_hour > 0.0) mean_gap_s_ = LikeModel::kHour / (model.per_hour * load) / model.gaps.Mean();
  Advance(arrivals_.Uniform() * kWeek);
  begin_ = now_;
}

// By as much time as passes at the mean rate. A whole week is a week.
void LikeDraw::Advance(double rescaled_s) {
  const double weeks = std::floor(rescaled_s / kWeek);
  now_ += weeks * kWeek;
  rescaled_s -= weeks * kWeek;
  for (;;) {
    const double hour = std::floor(now_ / LikeModel::kHour);
    const double rate = tables_.rate_[static_cast<std::size_t>(std::fmod(hour, 168.0))];
    const double end = (hour + 1.0) * LikeModel::kHour;
    if (rate > 0.0 && now_ + rescaled_s / rate <= end) {
      now_ += rescaled_s / rate;
      return;
    }
    rescaled_s = std::max(0.0, rescaled_s - rate * (end - now_));
    now_ = end;
  }
}

double LikeDraw::NextArrival() {
  if (first_ || mean_gap_s_ == 0.0) {
    first_ = false;
    return now_ - begin_;
  }
  const LikeKind gap = gaps_.Next(arrivals_);
  gaps_.Add(gap);
  Advance(tables_.model_.gaps.At(NormalShare(gap.score)) * mean_gap_s_);
  return now_ - begin_;
}

LikeJob LikeDraw::Next() {
  const LikeModel& model = tables_.model_;
  LikeJob job;
  job.arrival = NextArrival();
  LikeKind kind = kinds_.Next(jobs_);
  if (kind.user < 0) {
    kind.user = tables_.users_.Draw(jobs_.Uniform());
    kind.of = tables_.own_[static_cast<std::size_t>(kind.user)].Draw(jobs_.Uniform());
    if (kind.of < 0) kind.of = tables_.shared_.Draw(jobs_.Uniform());
  }
  kinds_.Add(kind);
  job.user = kind.user;
  const double share = NormalShare(kind.score);
  job.of = &model.classes[static_cast<std::size_t>(kind.of)];
  if (!job.of->limit_s.values.empty()) {
    job.limit_s = job.of->limit_s.At(jobs_.Uniform());
    job.run_s = job.limit_s * job.of->limit_used.At(share);
  } else {
    job.run_s = job.of->run_s.At(share);
  }
  job.run_s = std::max(job.run_s, kLeastRun);
  return job;
}

}  // namespace berth

#include "env/sim/job_list.hpp"

#include <algorithm>
#include <bit>

#include "env/base/check.hpp"

namespace berth {
namespace {

constexpr std::ptrdiff_t kNear = 2048;  // entries that are moved at once rather than later

}  // namespace

void JobList::Reset(int num_jobs) {
  size_ = 0;
  bits_.assign(Word(num_jobs) + 1, 0);
  summary_.assign(bits_.size() / 64 + 1, 0);
  list_.clear();
  stale_ = false;
}

void JobList::Insert(int job) {
  BERTH_DCHECK(!Contains(job), "job ", job, " is listed");
  bits_[Word(job)] |= std::uint64_t{1} << (job % 64);
  summary_[Word(job) / 64] |= std::uint64_t{1} << (Word(job) % 64);
  ++size_;
  if (stale_) return;
  if (list_.empty() || list_.back() < job) return list_.push_back(job);
  const auto at = std::lower_bound(list_.begin(), list_.end(), job);
  if (list_.end() - at > kNear) {
    stale_ = true;
  } else {
    list_.insert(at, job);
  }
}

void JobList::Erase(int job) {
  BERTH_DCHECK(Contains(job), "job ", job, " is not listed");
  std::uint64_t& word = bits_[Word(job)];
  word &= ~(std::uint64_t{1} << (job % 64));
  if (word == 0) summary_[Word(job) / 64] &= ~(std::uint64_t{1} << (Word(job) % 64));
  --size_;
  if (stale_) return;
  const auto at = std::lower_bound(list_.begin(), list_.end(), job);
  if (list_.end() - at > kNear) {
    stale_ = true;
  } else {
    list_.erase(at);
  }
}

void JobList::Rewrite() const {
  list_.clear();
  for (std::size_t s = 0; s < summary_.size(); ++s) {
    for (std::uint64_t words = summary_[s]; words != 0; words &= words - 1) {
      const std::size_t w = s * 64 + static_cast<std::size_t>(std::countr_zero(words));
      for (std::uint64_t jobs = bits_[w]; jobs != 0; jobs &= jobs - 1) {
        list_.push_back(static_cast<int>(w) * 64 + std::countr_zero(jobs));
      }
    }
  }
  stale_ = false;
}

}  // namespace berth

// The workload `like(file=model.toml)`: jobs drawn from a LikeModel.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "data/like/draw.hpp"
#include "data/workloads.hpp"

namespace berth {

// Immutable, and safe to call from any thread.
class LikeSource : public ScenarioSource {
 public:
  // Throws Error where the cluster lacks a GPU type's speed or room for a gang that may be drawn, and where
  // arrivals are so rare that their times would not be exact.
  LikeSource(LikeModel model, double load, int jobs, const ScenarioSettings& settings,
             std::string description);

  Scenario Make(std::uint64_t seed, Split split, std::uint32_t env, std::uint32_t episode,
                int jobs) const override;
  // The jobs of `seconds`, of which there may be none, instead of so many; episode `episode` of split
  // kEvaluate. They are of the second stretch of that length: an arrival, with which a draw begins, is more
  // often in a burst than a moment is.
  Scenario MakeUntil(std::uint64_t seed, std::uint32_t episode, double seconds) const;
  bool fixed() const override { return false; }
  std::string Describe() const override { return description_; }

 private:
  void Add(const LikeJob& job, JobTable& jobs) const;

  LikeModel model_;
  LikeTables tables_;
  double load_;
  int jobs_;
  std::string description_;
  ScenarioData base_;                     // all but the jobs
  std::vector<int> job_type_;             // [classes] index into the table's
  std::vector<double> reference_;         // [classes] steps/s to which run times belong
  bool limits_ = false, shares_ = false;  // does any class have them?
};

}  // namespace berth

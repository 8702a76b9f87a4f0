// Jobs drawn from a LikeModel, one after the other.
//
//   LikeDraw draw(model, /*load=*/1.0, Stream(seed, Purpose::kArrivals, ...), Stream(seed, Purpose::kJobs,
//   ...)); while (...) { const LikeJob job = draw.Next(); ... }   // arrival 0 first
#pragma once

#include <vector>

#include "data/like/model.hpp"
#include "env/base/rng.hpp"

namespace berth {

struct LikeJob {
  double arrival = 0.0;  // s, ascending
  int user = 0;          // index into users; 0 where there are none
  const LikeClass* of = nullptr;
  double run_s = 0.0;    // > 0, on the GPU type that is fastest for it
  double limit_s = 0.0;  // asked for; 0 = none
};

// What every draw of one model shares. Immutable; the model must live as long.
class LikeTables {
 public:
  explicit LikeTables(const LikeModel& model);
  const LikeModel& model() const { return model_; }

 private:
  friend class LikeDraw;
  struct Weights {
    std::vector<double> up_to;  // cumulated
    std::vector<int> of;        // what each stands for
    void Add(double weight, int what);
    double sum() const { return up_to.empty() ? 0.0 : up_to.back(); }
    int Draw(double uniform) const;  // uniform in [0, 1)
  };
  const LikeModel& model_;
  Weights users_, shared_;
  std::vector<Weights> own_;  // [users, or 1]; -1 = one of any user
  std::vector<double> rate_;  // [168] by the hour of the week, of mean 1
};

// What comes with a LikeMemory: numbers of users and classes, and a normal score.
struct LikeKind {
  int user = -1, of = -1;
  double score = 0.0;
};

class LikeHistory {
 public:
  explicit LikeHistory(const LikeMemory& memory);
  // Like one of the last; of user -1 where it is to be drawn anew, the score being drawn already. Then Add
  // it.
  LikeKind Next(Stream& stream) const;
  void Add(const LikeKind& kind);

 private:
  LikeMemory memory_;
  double own_;                 // share of a score that is not the other's
  std::vector<double> up_to_;  // cumulated weights of the last, the last but one, ...
  std::vector<LikeKind> ring_;
  std::size_t count_ = 0;
};

// Gaps between arrivals are of a time that runs by the rate of the hour of the week (time rescaling), and
// remember the gaps before them. It begins at an arrival somewhere in a week. One thread at a time.
class LikeDraw {
 public:
  // `load` > 0 times the model's arrivals an hour. The tables must live as long.
  LikeDraw(const LikeTables& tables, double load, Stream arrivals, Stream jobs);
  LikeJob Next();

 private:
  double NextArrival();
  void Advance(double rescaled_s);

  const LikeTables& tables_;
  Stream arrivals_, jobs_;
  double mean_gap_s_ = 0.0;
  double begin_ = 0.0, now_ = 0.0;  // s since the week's begin
  bool first_ = true;
  LikeHistory gaps_, kinds_;
};

}  // namespace berth

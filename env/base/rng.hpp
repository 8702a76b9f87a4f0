// Counter-based randomness: Philox4x32-10 (Salmon et al., SC 2011), keyed by (seed, purpose, env, episode).
// Adding a draw to one stream moves no other, and any number of threads gives the same bits.
//
//   Stream arrivals(seed, Purpose::kArrivals, Split::kTrain, /*env=*/3, /*episode=*/12);
//   double gap = arrivals.Exponential(/*mean=*/750.0);
//
// Distributions are our own: the standard fixes engines, not distributions.
#pragma once

#include <array>
#include <cstdint>

namespace berth {

// What a stream is for. Persistent: new purposes are added at the end. Those of features are in the headers
// of their modules: numbers of this type that no line here has.
enum class Purpose : std::uint8_t {
  kArrivals,
  kJobs,
  kEstimate,
  kWarmup,
  kExplore,
  kInit,
  kShuffle,
  kScheduler,
  kBootstrap,
  kTest,
  kReplay,
  kLookahead = 13,  // 11, 12 and 16 are features'
  kGuard,
  kNeeds,
};

// Training and evaluation never share a stream, whatever their seeds.
enum class Split : std::uint8_t { kTrain, kEvaluate };

// One block of Philox4x32-10: a pure function of counter and key (known-answer test in tests/).
std::array<std::uint32_t, 4> Philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

// A value type; copy it to fork, keep `position` to resume.
class Stream {
 public:
  Stream(std::uint64_t seed, Purpose purpose, Split split = Split::kTrain, std::uint32_t env = 0,
         std::uint32_t episode = 0);

  std::uint32_t Bits();                     // 32 uniform bits
  double Uniform();                         // [0, 1), 53 bits
  double Uniform(double low, double high);  // [low, high)
  std::uint32_t Below(std::uint32_t n);     // {0..n-1}, unbiased; n >= 1
  double Exponential(double mean);          // mean > 0
  double Normal();                          // mean 0, variance 1 (Marsaglia polar method)

  std::uint64_t position() const { return position_; }  // 32-bit words drawn
  void Seek(std::uint64_t position);                    // continue from there

 private:
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> block_{};
  std::uint64_t position_ = 0;
};

}  // namespace berth

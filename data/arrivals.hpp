// Arrival processes of the generators, by spec: "poisson", "mmpp(burst=10,share=0.1,burst_s=3600)",
// "diurnal(swing=0.8,period_h=24)". All have the mean rate that they are asked for.
//
//   const ArrivalModel model = ArrivalModel::Parse(params.Text("arrivals"), rate);
//   ArrivalProcess process(model, Stream(seed, Purpose::kArrivals, split, env, episode));
//   while (...) job.arrival = process.Next();   // 0 first
//
// poisson  exponential gaps.
// mmpp     two-state Markov-modulated Poisson process (Heffes & Lucantoni, IEEE JSAC 1986; Fischer &
//          Meier-Hellstern, Performance Evaluation 1993): quiet and burst phases of exponential length,
//          `burst` times as many arrivals a second in the latter.
// diurnal  Poisson with rate(t) = rate (1 + swing sin(2 pi t / period)), by thinning (Lewis & Shedler 1979).
#pragma once

#include <cstdint>
#include <string>

#include "env/base/rng.hpp"
#include "env/base/spec.hpp"

namespace berth {

inline constexpr ParamInfo kArrivalsParam = {
    "arrivals", "poisson",
    "poisson | mmpp(burst=10,share=0.1,burst_s=3600): burst times the quiet rate for a share of the time, in "
    "bursts of burst_s on average | diurnal(swing=0.8,period_h=24): sinusoidal rate"};

// An immutable value.
struct ArrivalModel {
  enum class Kind : std::uint8_t { kPoisson, kMmpp, kDiurnal };

  // `per_hour` >= 0; 0 = everything arrives at time 0. Throws Error with the nearest right name.
  static ArrivalModel Parse(const std::string& spec, double per_hour);

  Kind kind = Kind::kPoisson;
  std::string spec;           // with every parameter
  double mean_gap_s = 0.0;    // 1 / mean rate; 0 = everything at time 0
  double rate[2] = {0, 0};    // kMmpp: arrivals/s in the quiet and the burst phase
  double leave[2] = {0, 0};   // kMmpp: phase changes/s out of them
  double burst_share = 0.0;   // kMmpp: share of time in bursts
  double swing = 0.0;         // kDiurnal: amplitude over the mean, 0 to 1
  double period_s = 86400.0;  // kDiurnal

  double RateAt(double time_s) const;  // kDiurnal: arrivals/s
};

// Arrival times in ascending order. One thread at a time.
class ArrivalProcess {
 public:
  ArrivalProcess(const ArrivalModel& model, Stream stream);
  // s. The first is 0: an arrival of the stationary process, so an MMPP is then in a burst as often as any
  // arrival finds it there.
  double Next();

 private:
  double NextMmpp();
  double NextDiurnal();

  ArrivalModel model_;
  Stream stream_;
  double now_ = 0.0;
  int phase_ = 0;  // kMmpp: 1 in a burst
  bool first_ = true;
};

}  // namespace berth

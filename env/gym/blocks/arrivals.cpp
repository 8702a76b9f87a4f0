// arrivals: how many jobs are expected to come, from those that were shown as candidates so far, whom it
// counts: the one block that remembers.
#include "env/base/index.hpp"
#include "env/gym/block_table.hpp"
#include "env/predict/forecast/arrival_forecast.hpp"

namespace berth {
namespace {

constexpr ChannelInfo kArrivalsGlobal[] = {
    {"arrivals_ahead", "ln(1 + jobs expected to arrive in the next hour) / 5, by exponential smoothing", 0,
     4},
};

class Arrivals final : public ObservationBlock {
 public:
  explicit Arrivals(const BlockSetup& /*setup*/) {}

  void Begin(const ClusterView& view) override {
    forecast_.Reset(view.now());
    met_.assign(U(view.num_jobs()), 0);
    for (int job : view.active()) met_[U(job)] = 1;
  }

  void Write(const ObservationInput& input, const BlockOutput& out) override {
    forecast_.Advance(input.view.now());
    for (int job : input.candidates) {  // each is one when it has just arrived
      if (met_[U(job)] == 0) forecast_.Count(1.0);
      met_[U(job)] = 1;
    }
    out.global[0] = static_cast<float>(Log(1.0 + forecast_.Expected(3600.0)) / 5.0);
  }

 private:
  ArrivalForecast forecast_{"exponential", 3600.0};
  std::vector<char> met_;  // [J] counted as an arrival, or there from the start
};

}  // namespace

BlockInfo ArrivalsBlock() {
  BlockInfo info{"arrivals", 1, "how many jobs are expected to come"};
  info.global = kArrivalsGlobal;
  info.make = MakeBlock<Arrivals>;
  return info;
}

}  // namespace berth

// spending: what a job's steps cost on each type, in money and in energy, over where they cost least. What a
// policy needs to know that is paid for `cost` or `energy`: rates alone do not say it.
#include <algorithm>
#include <limits>

#include "env/gym/block_table.hpp"
#include "env/gym/blocks/candidate_sizes.hpp"

namespace berth {
namespace {

constexpr ChannelInfo kSpendingPair[] = {
    {"dearer", "ln(price of a step here / where it is cheapest), at most 5; 5 where it cannot run", 0, 5},
    {"dearer_load", "dearer x load", -15, 15},
    {"hungrier", "the same of the energy of a step, watts above idle", 0, 5},
    {"hungrier_load", "hungrier x load", -15, 15},
};
constexpr ChannelInfo kSpendingType[] = {
    {"rent", "price of a GPU hour over the dearest type's", 0, 1},
    {"draw", "watts of a GPU above idle over the hungriest type's", 0, 1},
};
constexpr double kMostAbove = 5.0;

class Spending final : public ObservationBlock {
 public:
  explicit Spending(const BlockSetup& setup) : sizes_(setup.shared.Get<CandidateSizes>(setup)) {}

  void Begin(const ClusterView& view) override {
    rent_.clear(), draw_.clear();
    for (const GpuType& type : view.cluster().types) {
      rent_.push_back(type.price_per_hour);
      draw_.push_back(type.peak_power_w - type.idle_power_w);
    }
    ln_rent_ = Logarithms(rent_), ln_draw_ = Logarithms(draw_);
    most_rent_ = *std::max_element(rent_.begin(), rent_.end());
    most_draw_ = *std::max_element(draw_.begin(), draw_.end());
  }

  void Write(const ObservationInput& input, const BlockOutput& out) override {
    const std::size_t types = rent_.size();
    const auto load = static_cast<float>(sizes_.load());
    for (std::size_t row = 0; row < input.visible.size(); ++row) {
      const std::span<const double> rates = input.view.Rates(input.visible[row]);
      ln_rate_.assign(types, kNever);
      for (std::size_t g = 0; g < types; ++g) {
        if (rates[g] > 0.0) ln_rate_[g] = Log(rates[g]);
      }
      WriteOne(ln_rent_, load, out, row, 0);
      WriteOne(ln_draw_, load, out, row, 2);
    }
    for (std::size_t g = 0; g < types; ++g) {
      out.types[g][0] = most_rent_ > 0.0 ? static_cast<float>(rent_[g] / most_rent_) : 0.0F;
      out.types[g][1] = most_draw_ > 0.0 ? static_cast<float>(draw_[g] / most_draw_) : 0.0F;
    }
  }

 private:
  // None where a type costs nothing: nothing can be said of how many times another costs as much.
  static std::vector<double> Logarithms(const std::vector<double>& values) {
    std::vector<double> logs;
    for (const double value : values) {
      if (!(value > 0.0)) return {};
      logs.push_back(Log(value));
    }
    return logs;
  }

  void WriteOne(const std::vector<double>& ln_price, float load, const BlockOutput& out, std::size_t row,
                std::size_t channel) const {
    const std::size_t types = rent_.size();
    double least = kNever;
    for (std::size_t g = 0; g < types && !ln_price.empty(); ++g) {
      if (ln_rate_[g] < kNever) least = std::min(least, ln_price[g] - ln_rate_[g]);
    }
    for (std::size_t g = 0; g < types; ++g) {
      double above = ln_rate_[g] < kNever ? 0.0 : kMostAbove;
      if (above == 0.0 && !ln_price.empty()) above = std::min(ln_price[g] - ln_rate_[g] - least, kMostAbove);
      float* f = out.pairs[row * types + g];
      f[channel] = static_cast<float>(above);
      f[channel + 1] = f[channel] * load;
    }
  }

  const CandidateSizes& sizes_;
  std::vector<double> rent_, draw_, ln_rent_, ln_draw_;  // [G]
  std::vector<double> ln_rate_;                          // [G] of a job; kNever = it cannot run there
  double most_rent_ = 0.0, most_draw_ = 0.0;
};

}  // namespace

BlockInfo SpendingBlock() {
  BlockInfo info{"spending", 1, "what a job's steps cost on each type, in money and in energy"};
  info.pair = kSpendingPair;
  info.type = kSpendingType;
  info.make = MakeBlock<Spending>;
  return info;
}

}  // namespace berth

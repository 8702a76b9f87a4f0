#include "env/base/index.hpp"
#include "env/features/power/power.hpp"
#include "env/sim/observation_block.hpp"

namespace berth {
namespace {

struct Watts {
  static constexpr ChannelInfo kType[] = {
      {"power", "watts of the type's devices over their peak", 0, 1},
      {"throttled", "share of the type's devices that are throttled by heat", 0, 1},
  };
  static void Type(const ClusterView& view, int type, float* f) {
    const PowerState* power = view.Find<PowerState>();
    if (power == nullptr) return;
    const int count = view.cluster().types[U(type)].count, first = view.first_device(type);
    double watts = 0.0, peak = 0.0;
    int throttled = 0;
    for (int d = first; d < first + count; ++d) {
      const int gpu = power->GpuOf(d);  // of a slice: its GPU's
      watts += power->watts[U(gpu)];
      peak += power->peak_w[power->type[U(gpu)]];
      throttled += power->throttled[U(gpu)] != 0;
    }
    f[0] = peak > 0.0 ? static_cast<float>(watts / peak) : 0.0F;
    f[1] = static_cast<float>(throttled) / static_cast<float>(count);
  }

  static constexpr ChannelInfo kGlobal[] = {
      {"power",
       "watts over the cap, or over the peak of all devices where there is none; 0 where no type states "
       "watts",
       0, 1},
      {"price", "price of electricity now over its mean, less 1; 0 without prices", -1, 10},
  };
  static void Global(const ClusterView& view, float* f) {
    const PowerState* power = view.Find<PowerState>();
    if (power == nullptr) return;
    double peak = 0.0;
    for (std::uint8_t type : power->type) peak += power->peak_w[type];
    const double most = std::min(peak, power->cap_w);
    f[0] = most > 0.0 ? static_cast<float>(TotalWatts(*power) / most) : 0.0F;
    const PowerSettings& settings = *view.features().Find<PowerSettings>();
    const std::vector<double>& prices = settings.electricity_price;
    double sum = 0.0;
    for (double price : prices) sum += price;
    const double mean = sum / std::max(1.0, static_cast<double>(prices.size()));
    if (mean > 0.0) {
      f[1] = static_cast<float>(std::clamp(settings.PriceAt(view.now()) / mean - 1.0, -1.0, 10.0));
    }
  }
};

}  // namespace

BlockInfo PowerBlock() {
  return RowBlock<Watts>::Info("power", 1, "watts, heat and the price of electricity");
}

}  // namespace berth

// prices: what a GPU of each type is worth to the jobs of now, and what a job pays on one that is not for it.
#include "env/gym/block_table.hpp"
#include "env/gym/blocks/gpu_market.hpp"

namespace berth {
namespace {

constexpr ChannelInfo kPricesJob[] = {
    {"surplus", "least of ln slowness + gang x price over types with room for it, at most 10", 0, 10},
    {"surplus_gpu", "surplus by the prices whose weights are gang sizes, as everything with _gpu", 0, 10},
};
constexpr ChannelInfo kPricesPair[] = {
    {"regret", "what this type costs it above that least, at most 10; 10 where it cannot run or has no room",
     0, 10},
    {"regret_load", "regret, at most 5, x load", -15, 15},
    {"regret_size", "regret, at most 5, x size", -25, 60},
    {"regret_gpu", "regret, by weights of gang sizes", 0, 10},
};
constexpr ChannelInfo kPricesType[] = {
    {"price", "of a GPU, least total ln slowness; the cheapest type's is 0; at most 5", 0, 5},
    {"price_gpu", "price, by weights of gang sizes", 0, 5},
};

class Prices final : public ObservationBlock {
 public:
  explicit Prices(const BlockSetup& setup) : market_(setup.shared.Get<GpuMarket>(setup)) {}

  void Write(const ObservationInput& input, const BlockOutput& out) override {
    const CandidateSizes& sizes = market_.sizes();
    const GpuPrices& by_job = market_.by_job();
    const GpuPrices& by_gpu = market_.by_gpu();
    const int types = input.view.num_types();
    float* pair = out.pairs.first;
    for (std::size_t row = 0; row < input.visible.size(); ++row) {
      const int i = sizes.Place(input.visible[row]);
      float* f = out.jobs[row];
      f[0] = static_cast<float>(std::min(by_job.Surplus(i), 10.0));
      f[1] = static_cast<float>(std::min(by_gpu.Surplus(i), 10.0));
      for (int type = 0; type < types; ++type, pair += out.pairs.stride) {
        pair[0] = static_cast<float>(std::min(by_job.Regret(i, type), 10.0));
        // What being in the wrong place costs depends on who waits and for how long it lasts.
        const double regret = std::min(by_job.Regret(i, type), 5.0);
        pair[1] = static_cast<float>(regret * sizes.load());
        pair[2] = static_cast<float>(regret * sizes.Shown(i));
        pair[3] = static_cast<float>(std::min(by_gpu.Regret(i, type), 10.0));
      }
    }
    for (std::size_t type = 0; type < U(types); ++type) {
      out.types[type][0] = static_cast<float>(std::min(by_job.prices()[type], 5.0));
      out.types[type][1] = static_cast<float>(std::min(by_gpu.prices()[type], 5.0));
    }
  }

 private:
  const GpuMarket& market_;
};

}  // namespace

BlockInfo PricesBlock() {
  BlockInfo info{"prices", 1,
                 "what a GPU of each type is worth now, and what each job pays for the wrong one",
                 "Berth; prices: env/gym/blocks/gpu_prices.hpp"};
  info.job = kPricesJob;
  info.pair = kPricesPair;
  info.type = kPricesType;
  info.make = MakeBlock<Prices>;
  info.foreign = info.attained_steps = true;
  return info;
}

}  // namespace berth

// assignment: where each job goes in the assignment behind the prices of GPUs. Prices alone leave open where
// one goes that is as well off on two types.
#include "env/gym/block_table.hpp"
#include "env/gym/blocks/gpu_market.hpp"

namespace berth {
namespace {

constexpr ChannelInfo kAssignmentPair[] = {
    {"matched",
     "the share of its GPUs that the assignment behind the prices takes from this type; who is out has most "
     "GPU time left, or attained",
     0, 1},
    {"matched_load", "matched x load", -3, 3},
    {"matched_gpu", "matched, by weights of gang sizes", 0, 1},
    {"matched_gpu_load", "matched_gpu x load", -3, 3},
};

class Assignment final : public ObservationBlock {
 public:
  explicit Assignment(const BlockSetup& setup) : market_(setup.shared.Get<GpuMarket>(setup)) {}

  void Write(const ObservationInput& input, const BlockOutput& out) override {
    const double load = market_.sizes().load();
    float* pair = out.pairs.first;
    for (int job : input.visible) {
      const int i = market_.sizes().Place(job);
      for (int type = 0; type < input.view.num_types(); ++type, pair += out.pairs.stride) {
        const double matched = std::min(market_.by_job().Matched(i, type), 1.0);
        const double matched_gpu = std::min(market_.by_gpu().Matched(i, type), 1.0);
        pair[0] = static_cast<float>(matched);
        pair[1] = static_cast<float>(matched * load);
        pair[2] = static_cast<float>(matched_gpu);
        pair[3] = static_cast<float>(matched_gpu * load);
      }
    }
  }

 private:
  const GpuMarket& market_;
};

}  // namespace

BlockInfo AssignmentBlock() {
  BlockInfo info{"assignment", 1, "where each job goes where the product of slownesses is least",
                 "Berth; env/gym/blocks/gpu_prices.hpp"};
  info.pair = kAssignmentPair;
  info.make = MakeBlock<Assignment>;
  info.foreign = info.attained_steps = true;
  return info;
}

}  // namespace berth

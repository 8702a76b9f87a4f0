// sizes: how large and how old a job is, and how much all of them ask for.
#include "env/gym/block_table.hpp"
#include "env/gym/blocks/candidate_sizes.hpp"

namespace berth {
namespace {

constexpr ChannelInfo kSizesJob[] = {
    {"size", "ln(1/60 + hours left on its fastest type; when blind: that it has attained)", -5, 12},
    {"members", "ln(gang size)", 0, 10},
    {"waited", "ln(1 + hours since arrival)", 0, 12},
    {"size_1", "what size is above that of 1 hour, else 0", 0, 12},
    {"size_4", "the same for 4 hours", 0, 11},
    {"size_16", "the same for 16 hours", 0, 10},
    {"size_64", "the same for 64 hours", 0, 8},
};
constexpr ChannelInfo kSizesGlobal[] = {
    {"load",
     "ln(GPUs wanted by the candidates / GPUs in service; without preemption idle ones, at least 1), within "
     "[-3, 3]",
     -3, 3},
};
constexpr double kKneeHours[] = {1.0, 4.0, 16.0, 64.0};  // of size_1 to size_64: a linear score bends there

class Sizes final : public ObservationBlock {
 public:
  explicit Sizes(const BlockSetup& setup) : sizes_(setup.shared.Get<CandidateSizes>(setup)) {}

  void Write(const ObservationInput& input, const BlockOutput& out) override {
    for (std::size_t row = 0; row < input.visible.size(); ++row) {
      const int job = input.visible[row], i = sizes_.Place(job);
      float* f = out.jobs[row];
      f[0] = static_cast<float>(sizes_.Shown(i));
      f[1] = static_cast<float>(Log(static_cast<double>(input.view.Gang(job))));
      const double waited = std::max(input.view.now() - input.view.Arrival(job), 0.0);
      f[2] = static_cast<float>(std::min(Log(1.0 + waited / 3600.0), 12.0));
      for (std::size_t k = 0; k < std::size(kKneeHours); ++k) {
        const double above = std::min(sizes_.Size(i), 12.0) - Log(1.0 / 60.0 + kKneeHours[k]);
        f[3 + k] = static_cast<float>(std::max(above, 0.0));
      }
    }
    out.global[0] = static_cast<float>(sizes_.load());
  }

 private:
  const CandidateSizes& sizes_;
};

}  // namespace

BlockInfo SizesBlock() {
  BlockInfo info{"sizes", 1, "how large and how old jobs are, in plain logarithms, and the load"};
  info.job = kSizesJob;
  info.global = kSizesGlobal;
  info.make = MakeBlock<Sizes>;
  info.foreign = info.attained_steps = true;
  return info;
}

}  // namespace berth

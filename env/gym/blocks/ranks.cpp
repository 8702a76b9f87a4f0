// ranks: who comes before a job, by size and by how much better a type suits it than the others.
#include "env/gym/block_table.hpp"
#include "env/gym/blocks/candidate_sizes.hpp"
#include "env/gym/blocks/slowness.hpp"

namespace berth {
namespace {

constexpr ChannelInfo kRanksJob[] = {
    {"rank",
     "GPUs wanted by candidates of at most its size, its own too, over GPUs in service (without preemption "
     "idle ones, at least 1), at most 4",
     0, 4},
};
constexpr ChannelInfo kRanksPair[] = {
    {"slowness", "ln(fastest rate / rate here), at most 5; 5 where it cannot run", 0, 5},
    {"keener",
     "GPUs wanted by candidates with at least its advantage here over the type's, counted as by rank, at "
     "most 4",
     0, 4},
};
constexpr double kMostRank = 4.0;

class Ranks final : public ObservationBlock {
 public:
  explicit Ranks(const BlockSetup& setup) : sizes_(setup.shared.Get<CandidateSizes>(setup)) {}

  void Begin(const ClusterView& view) override { slowness_.Begin(view); }

  void Write(const ObservationInput& input, const BlockOutput& out) override {
    slowness_.Update(input.view, input.candidates);
    const std::span<const int> room = sizes_.room();
    const std::size_t types = room.size();
    Accumulate(
        input, [&](int i) { return sizes_.Size(i); }, sizes_.offered(), rank_);
    for (std::size_t row = 0; row < input.visible.size(); ++row) {
      const int job = input.visible[row];
      out.jobs[row][0] = static_cast<float>(rank_[U(sizes_.Place(job))]);
      const std::span<const double> slowness = slowness_.Of(job);
      for (std::size_t type = 0; type < types; ++type)
        out.pairs[row * types + type][0] = static_cast<float>(std::min(slowness[type], 5.0));
    }
    for (std::size_t type = 0; type < types; ++type) {
      Accumulate(
          input, [&](int i) { return Behind(slowness_.Of(input.candidates[U(i)]), type); },
          std::max(1, room[type]), rank_);
      for (std::size_t row = 0; row < input.visible.size(); ++row)
        out.pairs[row * types + type][1] = static_cast<float>(rank_[U(sizes_.Place(input.visible[row]))]);
    }
  }

 private:
  // How much slower the job is here than on (geometric) average: least where it is at home.
  static double Behind(std::span<const double> slowness, std::size_t type) {
    double sum = 0.0;
    int able = 0;
    for (double there : slowness) {
      if (there > 1e300) continue;
      sum += there;
      ++able;
    }
    return slowness[type] - sum / std::max(1, able);
  }

  // result[i] = GPUs wanted by the candidates of at most i's key, in that order, over `gpus`.
  template <typename Key>
  void Accumulate(const ObservationInput& input, Key key, double gpus, std::vector<double>& result) {
    order_.clear();
    for (int i = 0; i < static_cast<int>(input.candidates.size()); ++i) order_.emplace_back(key(i), i);
    std::sort(order_.begin(), order_.end());
    result.resize(order_.size());
    double wanted = 0.0;
    for (const auto& [value, i] : order_) {
      wanted += input.view.Gang(input.candidates[U(i)]);
      result[U(i)] = std::min(wanted / gpus, kMostRank);
    }
  }

  const CandidateSizes& sizes_;
  Slowness slowness_;
  std::vector<double> rank_;  // [n]
  std::vector<std::pair<double, int>> order_;
};

}  // namespace

BlockInfo RanksBlock() {
  BlockInfo info{"ranks", 1, "who comes before a job by size, and who is keener on a type"};
  info.job = kRanksJob;
  info.pair = kRanksPair;
  info.make = MakeBlock<Ranks>;
  info.foreign = info.attained_steps = true;
  return info;
}

}  // namespace berth

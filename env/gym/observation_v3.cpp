// ObservationV3: ObservationV1's blocks, each followed by what a score of (job, GPU type) pairs needs of the
// others: where every job belongs under the prices of GPUs (env/gym/gpu_prices.hpp), and who comes before it.
// Logarithms are plain here, not a tenth of them, so that a network need not grow large weights first.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"
#include "env/gym/added_channels.hpp"
#include "env/gym/encoder.hpp"
#include "env/gym/gpu_prices.hpp"

namespace berth {
namespace {

constexpr ChannelInfo kJobExtra[] = {
    {"size", "ln(1/60 + hours left on its fastest type; when blind: that it has attained)", -5, 12},
    {"rank", "GPUs wanted by candidates of at most its size, its own too, over GPUs, at most 4", 0, 4},
    {"surplus", "least of ln slowness + gang x price over types with room for it, at most 10", 0, 10},
    {"members", "ln(gang size)", 0, 10},
    {"waited", "ln(1 + hours since arrival)", 0, 12},
    {"size_1", "what size is above that of 1 hour, else 0", 0, 12},
    {"size_4", "the same for 4 hours", 0, 11},
    {"size_16", "the same for 16 hours", 0, 10},
    {"size_64", "the same for 64 hours", 0, 8},
    {"surplus_gpu", "surplus by the prices whose weights are gang sizes, as everything with _gpu", 0, 10},
};
constexpr ChannelInfo kPairExtra[] = {
    {"regret", "what this type costs it above that least, at most 10; 10 where it cannot run or has no room",
     0, 10},
    {"slowness", "ln(fastest rate / rate here), at most 5; 5 where it cannot run", 0, 5},
    {"keener", "GPUs wanted by candidates with at least its advantage here over the type's, at most 4", 0, 4},
    {"regret_load", "regret, at most 5, x load", -15, 15},
    {"regret_size", "regret, at most 5, x size", -25, 60},
    {"matched",
     "the share of its GPUs that the assignment behind the prices takes from this type; who is out has most "
     "GPU time left, or attained",
     0, 1},
    {"matched_load", "matched x load", -3, 3},
    {"regret_gpu", "regret, by weights of gang sizes", 0, 10},
    {"matched_gpu", "matched, by weights of gang sizes", 0, 1},
    {"matched_gpu_load", "matched_gpu x load", -3, 3},
};
constexpr ChannelInfo kTypeExtra[] = {
    {"price", "of a GPU, least total ln slowness; the cheapest type's is 0; at most 5", 0, 5},
    {"price_gpu", "price, by weights of gang sizes", 0, 5},
};
constexpr ChannelInfo kGlobalExtra[] = {
    {"load", "ln(GPUs wanted by the candidates / GPUs), within [-3, 3]", -3, 3},
};

constexpr int kJ = static_cast<int>(std::size(kJobExtra));
constexpr int kP = static_cast<int>(std::size(kPairExtra));
constexpr int kT = static_cast<int>(std::size(kTypeExtra));
constexpr int kG = static_cast<int>(std::size(kGlobalExtra));
constexpr double kMostRank = 4.0;
// Who stays out of the assignments is who has most GPU time left, in the scale of slowness: a job twice as
// long has to be twice as fast. What a job has attained says less of what it has left. Measured blind on row
// 1 of tools/reproduce/learned, validation workloads: its README has the figures.
constexpr double kAttained = 0.2;
constexpr double kKneeHours[] = {1.0, 4.0, 16.0, 64.0};  // of size_1 to size_64: a linear score bends there

const AddedChannels& Channels() {
  static const AddedChannels kAll(kJobExtra, kPairExtra, kTypeExtra, kGlobalExtra);
  return kAll;
}

class EncoderV3 final : public Encoder {
 public:
  EncoderV3(std::unique_ptr<Encoder> v1, const MdpSpec& mdp)
      : v1_(std::move(v1)),
        sighted_(mdp.knowledge >= Knowledge::kEstimate),
        attains_(mdp.knowledge >= Knowledge::kBlind),
        preemptive_(mdp.preemptive) {}

  void Begin(const ClusterView& view) override {
    v1_->Begin(view);
    prices_.Begin(view);
    gpu_prices_.Begin(view);
    place_.assign(U(view.num_jobs()), -1);
  }

  void Encode(const EncoderInput& input, const ObservationLayout& layout, std::span<float> out) override {
    BERTH_CHECK(static_cast<int>(out.size()) == layout.size(), out.size(), " floats for ", layout.size());
    const ObservationLayout inner = ObservationV1::Layout(layout.q, layout.g);
    scratch_.resize(U(inner.size()));
    v1_->Encode(input, inner, scratch_);
    Compare(input);

    float* jobs = out.data() + layout.jobs_offset();
    for (int row = 0; row < layout.q; ++row, jobs += layout.job_channels) {
      std::copy_n(scratch_.data() + row * inner.job_channels, inner.job_channels, jobs);
      WriteJob(input, row, jobs + inner.job_channels);
    }
    float* pairs = out.data() + layout.pairs_offset();
    for (int pair = 0; pair < layout.q * layout.g; ++pair, pairs += layout.pair_channels) {
      std::copy_n(scratch_.data() + inner.pairs_offset() + pair * inner.pair_channels, inner.pair_channels,
                  pairs);
      WritePair(input, pair / layout.g, pair % layout.g, pairs + inner.pair_channels);
    }
    float* types = out.data() + layout.types_offset();
    for (int type = 0; type < layout.g; ++type, types += layout.type_channels) {
      std::copy_n(scratch_.data() + inner.types_offset() + type * inner.type_channels, inner.type_channels,
                  types);
      types[inner.type_channels] = static_cast<float>(std::min(prices_.prices()[U(type)], 5.0));
      types[inner.type_channels + 1] = static_cast<float>(std::min(by_gpu_->prices()[U(type)], 5.0));
    }
    float* global = out.data() + layout.global_offset();
    std::copy_n(scratch_.data() + inner.global_offset(), inner.global_channels, global);
    global[inner.global_channels] = static_cast<float>(load_);
  }

 private:
  // Everything that a channel needs of the other candidates.
  void Compare(const EncoderInput& input) {
    const ClusterView& view = input.view;
    const std::size_t n = input.candidates.size(), types = input.room.size();
    room_.assign(input.room.begin(), input.room.end());
    if (preemptive_) {
      for (std::size_t type = 0; type < types; ++type) room_[type] = view.types()[type].count;
    }
    offered_ = std::max(1, std::accumulate(room_.begin(), room_.end(), 0));
    asked_ = 0.0;
    bool gangs = false;
    sizes_.resize(n);
    claims_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      const int job = input.candidates[i];
      const double steps = sighted_ ? view.RemainingSteps(job) : attains_ ? view.AttainedSteps(job) : 0.0;
      sizes_[i] = Log(1.0 / 60.0 + std::max(steps, 0.0) / view.BestRate(job) / 3600.0);
      claims_[i] = (sighted_ ? 1.0 : kAttained) * (sizes_[i] + Log(static_cast<double>(view.Gang(job))));
      asked_ += view.Gang(job);
      gangs = gangs || view.Gang(job) > 1;
      place_[U(job)] = static_cast<int>(i);
    }
    load_ = std::clamp(Log(std::max(1.0, asked_) / offered_), -3.0, 3.0);
    prices_.Update(view, input.candidates, claims_, room_);
    by_gpu_ = gangs ? &gpu_prices_ : &prices_;  // without gangs both weights are 1
    if (gangs) gpu_prices_.Update(view, input.candidates, claims_, room_);
    rank_.resize(n);
    Accumulate(
        view, input.candidates, [&](int i) { return sizes_[U(i)]; }, offered_,
        [&](int i) -> double& { return rank_[U(i)]; });
    keener_.resize(n * types);
    for (std::size_t type = 0; type < types; ++type) {
      Accumulate(
          view, input.candidates, [&](int i) { return Behind(i, types, type); }, std::max(1, room_[type]),
          [&](int i) -> double& { return keener_[U(i) * types + type]; });
    }
  }

  // How much slower the job is here than on (geometric) average: least where it is at home.
  double Behind(int i, std::size_t types, std::size_t type) const {
    double sum = 0.0;
    int able = 0;
    for (std::size_t t = 0; t < types; ++t) {
      const double slowness = prices_.Slowness(i, static_cast<int>(t));
      if (slowness > 1e300) continue;
      sum += slowness;
      ++able;
    }
    return prices_.Slowness(i, static_cast<int>(type)) - sum / std::max(1, able);
  }

  // result(i) = GPUs wanted by the candidates of at most i's key, in that order, over `gpus`.
  template <typename Key, typename Result>
  void Accumulate(const ClusterView& view, std::span<const int> candidates, Key key, double gpus,
                  Result result) {
    order_.clear();
    for (int i = 0; i < static_cast<int>(candidates.size()); ++i) order_.emplace_back(key(i), i);
    std::sort(order_.begin(), order_.end());
    double wanted = 0.0;
    for (const auto& [value, i] : order_) {
      wanted += view.Gang(candidates[U(i)]);
      result(i) = std::min(wanted / gpus, kMostRank);
    }
  }

  void WriteJob(const EncoderInput& input, int row, float* f) const {
    std::fill_n(f, kJ, 0.0F);
    if (row >= static_cast<int>(input.visible.size())) return;
    const int i = place_[U(input.visible[U(row)])];
    f[0] = static_cast<float>(std::clamp(sizes_[U(i)], -5.0, 12.0));
    f[1] = static_cast<float>(rank_[U(i)]);
    f[2] = static_cast<float>(std::min(prices_.Surplus(i), 10.0));
    const int job = input.visible[U(row)];
    f[3] = static_cast<float>(Log(static_cast<double>(input.view.Gang(job))));
    const double waited = std::max(input.view.now() - input.view.Arrival(job), 0.0);
    f[4] = static_cast<float>(std::min(Log(1.0 + waited / 3600.0), 12.0));
    for (std::size_t k = 0; k < std::size(kKneeHours); ++k) {
      const double above = std::min(sizes_[U(i)], 12.0) - Log(1.0 / 60.0 + kKneeHours[k]);
      f[5 + k] = static_cast<float>(std::max(above, 0.0));
    }
    f[9] = static_cast<float>(std::min(by_gpu_->Surplus(i), 10.0));
  }

  void WritePair(const EncoderInput& input, int row, int type, float* f) const {
    std::fill_n(f, kP, 0.0F);
    if (row >= static_cast<int>(input.visible.size())) return;
    const int i = place_[U(input.visible[U(row)])];
    f[0] = static_cast<float>(std::min(prices_.Regret(i, type), 10.0));
    f[1] = static_cast<float>(std::min(prices_.Slowness(i, type), 5.0));
    f[2] = static_cast<float>(keener_[U(i) * input.room.size() + U(type)]);
    // What being in the wrong place costs depends on who waits and for how long it lasts.
    const double regret = std::min(prices_.Regret(i, type), 5.0);
    f[3] = static_cast<float>(regret * load_);
    f[4] = static_cast<float>(regret * std::clamp(sizes_[U(i)], -5.0, 12.0));
    const double matched = std::min(prices_.Matched(i, type), 1.0);
    const double matched_gpu = std::min(by_gpu_->Matched(i, type), 1.0);
    f[5] = static_cast<float>(matched);
    f[6] = static_cast<float>(matched * load_);
    f[7] = static_cast<float>(std::min(by_gpu_->Regret(i, type), 10.0));
    f[8] = static_cast<float>(matched_gpu);
    f[9] = static_cast<float>(matched_gpu * load_);
  }

  std::unique_ptr<Encoder> v1_;
  bool sighted_, attains_, preemptive_;
  GpuPrices prices_{PriceWeight::kJob}, gpu_prices_{PriceWeight::kGpu};
  const GpuPrices* by_gpu_ = &gpu_prices_;     // of the last Compare
  double asked_ = 0.0, offered_ = 1.0;         // GPUs
  double load_ = 0.0;                          // as the channel
  std::vector<int> place_;                     // [J] among the candidates; others: as it was
  std::vector<int> room_;                      // [G]
  std::vector<double> sizes_, rank_, keener_;  // [n], [n], [n, G]
  std::vector<double> claims_;                 // [n] of the assignments
  std::vector<std::pair<double, int>> order_;
  std::vector<float> scratch_;  // ObservationV1's
};

std::unique_ptr<Encoder> Make(Params& params, const MdpSpec& mdp) {
  return std::make_unique<EncoderV3>(ObservationV1Info().make(params, mdp), mdp);
}

}  // namespace

EncoderInfo ObservationV3Info() {
  return {"ObservationV3",
          "ObservationV1 and where each job belongs: prices of GPU types, regret, ranks",
          "Berth; prices: env/gym/gpu_prices.hpp",
          {},
          Channels().job,
          Channels().pair,
          Channels().type,
          Channels().global,
          Make};
}

}  // namespace berth

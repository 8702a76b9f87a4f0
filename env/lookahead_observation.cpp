// Lookahead: the encoder `Batch`, and what it is expected to cost to begin with one job rather than another:
// rollouts (Bertsekas & Castanon, "Rollout algorithms for stochastic scheduling problems", J. Heuristics
// 1999). For each of the first few jobs in order of area, the queue is played to its end with that job first
// and the others by area (env/queue_model.hpp), while jobs come that are drawn from those that came
// (env/past_arrivals.hpp; the same draws for every first job, as in hindsight optimisation, Chong, Givan &
// Chang, CDC 2000). What score rules cannot say is in these differences: that a large job which starts now
// will keep the small ones waiting that are still to come.
//
// How far to believe a difference of few draws is for the policy to weigh: hence `doubt`.
#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "env/batch_observation.hpp"
#include "env/check.hpp"
#include "env/encoder.hpp"
#include "env/estimates.hpp"
#include "env/index.hpp"
#include "env/past_arrivals.hpp"
#include "env/portable_math.hpp"
#include "env/queue_model.hpp"
#include "env/releases.hpp"

namespace berth {
namespace {

constexpr ChannelInfo kExtra[] = {
    {"place", "ln(1 + candidates of less area) / 5; area = requested seconds on its fastest type x gang", 0,
     3},
    {"tried",
     "1 = among the first `tried` by area, of whom gain and doubt are known; redecide: 0 where nobody fits "
     "now",
     0, 1},
    {"gain",
     "10 x what the mean cost of the queue falls by where this job goes first, not the one of least area, "
     "over "
     "the latter's, within [-4, 4]; -4 where not tried. Cost: sum of bounded slowdowns",
     -4, 4},
    {"doubt", "10 x the standard error of that mean, over the same, at most 4; 0 where not tried", 0, 4},
};
constexpr int kExtras = static_cast<int>(std::size(kExtra));
constexpr double kTimes = 10.0, kMost = 4.0;  // of gain and doubt
constexpr std::size_t kLongestQueue = 128;    // jobs of least area that rollouts play

struct Settings {
  int samples, future, tried, history;
  QueueRules rules;
};

const std::vector<ChannelInfo>& JobChannels() {
  static const std::vector<ChannelInfo> kAll = [] {
    const std::span<const ChannelInfo> batch = BatchEncoderInfo().job;
    std::vector<ChannelInfo> all(batch.begin(), batch.end());
    all.insert(all.end(), std::begin(kExtra), std::end(kExtra));
    return all;
  }();
  return kAll;
}

class LookaheadEncoder final : public Encoder {
 public:
  LookaheadEncoder(std::unique_ptr<Encoder> batch, const Settings& settings)
      : settings_(settings), batch_(std::move(batch)) {}

  void Begin(const ClusterView& view) override {
    batch_->Begin(view);
    past_.Begin();
    releases_.resize(U(view.num_types()));
    seconds_.resize(U(view.num_types()));
  }

  void Encode(const EncoderInput& input, const ObservationLayout& layout, std::span<float> out) override {
    const ObservationLayout inner = BatchEncoderInfo().Layout(layout.q, layout.g);
    scratch_.resize(U(inner.size()));
    batch_->Encode(input, inner, scratch_);
    Compare(input);
    std::fill_n(out.begin(), layout.pairs_offset(), 0.0F);
    for (int row = 0; row < layout.q; ++row) {
      float* job = out.data() + layout.jobs_offset() + row * layout.job_channels;
      std::copy_n(scratch_.data() + inner.jobs_offset() + row * inner.job_channels, inner.job_channels, job);
      if (row < static_cast<int>(input.visible.size()))
        Write(input.visible[U(row)], job + inner.job_channels);
    }
    std::copy(scratch_.begin() + inner.pairs_offset(), scratch_.end(), out.begin() + layout.pairs_offset());
  }

 private:
  struct Candidate {
    int job;
    double area;
    int place = 0;
    bool tried = false;
    double gain = -kMost, doubt = 0.0;
  };

  void Compare(const EncoderInput& input) {
    const ClusterView& view = input.view;
    candidates_.clear();
    for (int job : input.candidates) {
      candidates_.push_back({job, RequestedSeconds(view, job) * view.Gang(job)});
    }
    std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
      return std::pair(a.area, a.job) < std::pair(b.area, b.job);
    });
    for (std::size_t i = 0; i < candidates_.size(); ++i) candidates_[i].place = static_cast<int>(i);
    past_.Update(view, settings_.history);
    std::size_t tried = std::min(candidates_.size(), U(settings_.tried));
    if (!settings_.rules.commit && !AnyFits(input)) tried = 0;
    if (tried > 1) Load(input);
    for (std::size_t i = 0; i < tried; ++i) {
      candidates_[i].tried = true;
      candidates_[i].gain = 0.0;
    }
    if (tried > 1) Roll(tried);
    std::sort(candidates_.begin(), candidates_.end(),
              [](const Candidate& a, const Candidate& b) { return a.job < b.job; });
  }

  static bool AnyFits(const EncoderInput& input) {
    return std::any_of(input.candidates.begin(), input.candidates.end(), [&](int job) {
      for (std::size_t type = 0; type < input.room.size(); ++type) {
        if (input.view.Gang(job) <= input.room[type] && input.view.Rates(job)[type] > 0.0) return true;
      }
      return false;
    });
  }

  // The cluster and the first candidates by area into the model.
  void Load(const EncoderInput& input) {
    const ClusterView& view = input.view;
    model_.Reset(view.num_types(), view.now(), input.room);
    for (int type = 0; type < view.num_types(); ++type) {
      releases_[U(type)].Collect(view, type, input.room[U(type)], input.started);
      for (const auto& [end, job, gpus] : releases_[U(type)].order()) model_.Runs(end, type, gpus);
    }
    queue_.clear();
    for (std::size_t i = 0; i < std::min(candidates_.size(), kLongestQueue); ++i) {
      queue_.push_back(candidates_[i].job);
    }
    std::sort(queue_.begin(), queue_.end());  // in order of arrival
    for (int job : queue_) {
      for (int type = 0; type < view.num_types(); ++type)
        seconds_[U(type)] = EstimatedSeconds(view, job, type);
      model_.Waits(view.Arrival(job), view.Gang(job), seconds_);
    }
    // The futures of an instant are the same whenever it is asked about.
    const auto now = std::bit_cast<std::uint64_t>(view.now());
    Stream stream(view.seed(), Purpose::kLookahead, Split::kTrain, static_cast<std::uint32_t>(past_.seen()),
                  static_cast<std::uint32_t>(now ^ (now >> 32)));
    futures_.clear();
    for (int i = 0; i < settings_.samples * settings_.future && past_.size() > 1; ++i) {
      const double gap = past_.Gap(view, stream);
      futures_.push_back({gap, past_.Job(stream)});
    }
    view_ = &view;
  }

  // gain and doubt of the first `tried`, by the same futures.
  void Roll(std::size_t tried) {
    costs_.assign(tried * U(settings_.samples), 0.0);
    for (int sample = 0; sample < settings_.samples; ++sample) {
      Draw(sample);
      for (std::size_t i = 0; i < tried; ++i) {
        const auto number = std::lower_bound(queue_.begin(), queue_.end(), candidates_[i].job);
        costs_[i * U(settings_.samples) + U(sample)] =
            model_.Play(static_cast<int>(number - queue_.begin()), settings_.rules);
      }
    }
    double of_first = 0.0;
    for (int sample = 0; sample < settings_.samples; ++sample) of_first += costs_[U(sample)];
    of_first = std::max(of_first / settings_.samples, 1.0);
    for (std::size_t i = 1; i < tried; ++i) {
      double sum = 0.0, squares = 0.0;
      for (std::size_t sample = 0; sample < U(settings_.samples); ++sample) {
        const double less = costs_[sample] - costs_[i * U(settings_.samples) + sample];
        sum += less;
        squares += less * less;
      }
      const double n = settings_.samples, mean = sum / n;
      const double variance = std::max(0.0, squares / n - mean * mean) / (n - 1.0);  // of the mean
      candidates_[i].gain = std::clamp(kTimes * mean / of_first, -kMost, kMost);
      candidates_[i].doubt = std::min(kTimes * std::sqrt(variance) / of_first, kMost);
    }
  }

  // Who comes in the future numbered `sample`.
  void Draw(int sample) {
    model_.NobodyComes();
    if (futures_.empty()) return;
    double time = view_->now();
    for (int i = 0; i < settings_.future; ++i) {
      const auto& [gap, like] = futures_[U(sample * settings_.future + i)];
      time += gap;
      for (int type = 0; type < view_->num_types(); ++type)
        seconds_[U(type)] = WholeSeconds(*view_, like, type);
      model_.Comes(time, view_->Gang(like), seconds_);
    }
  }

  // From its start, also of a job that has run.
  static double WholeSeconds(const ClusterView& view, int job, int type) {
    const double rate = view.Rate(job, type);
    if (rate <= 0.0) return kNever;
    return std::isnan(view.Requested(job)) ? view.TotalSteps(job) / rate : view.Requested(job);
  }

  void Write(int job, float* f) const {
    const auto it =
        std::lower_bound(candidates_.begin(), candidates_.end(), job,
                         [](const Candidate& candidate, int other) { return candidate.job < other; });
    f[0] = static_cast<float>(std::min(Log(1.0 + it->place) / 5.0, 3.0));
    f[1] = it->tried ? 1.0F : 0.0F;
    f[2] = static_cast<float>(it->gain);
    f[3] = static_cast<float>(it->doubt);
  }

  struct Coming {
    double gap;  // s
    int like;    // a job that came
  };

  Settings settings_;
  std::unique_ptr<Encoder> batch_;
  PastArrivals past_;
  QueueModel model_;
  std::vector<Releases> releases_;  // [G]
  std::vector<Candidate> candidates_;
  std::vector<int> queue_;       // the model's jobs, in order of arrival
  std::vector<Coming> futures_;  // [samples, future]
  std::vector<double> costs_;    // [tried, samples]
  std::vector<double> seconds_;  // [G]
  std::vector<float> scratch_;
  const ClusterView* view_ = nullptr;  // while comparing
};

constexpr ParamInfo kParams[] = {
    {"samples", "8", "futures that every first job is played in"},
    {"future", "16", "jobs that come in each"},
    {"tried", "16", "jobs of least area that are played first"},
    {"history", "256", "jobs that came last, from which futures are drawn"},
    {"backfill", "easy",
     "redecide: what is assumed behind a job that does not fit: easy | none; commit: as the process"},
};

std::unique_ptr<Encoder> Make(Params& params, const MdpSpec& mdp) {
  Settings settings{};
  settings.samples = static_cast<int>(params.Integer("samples", 2, 1024));
  settings.future = static_cast<int>(params.Integer("future", 0, 4096));
  settings.tried = static_cast<int>(params.Integer("tried", 1, static_cast<long long>(kLongestQueue)));
  settings.history = static_cast<int>(params.Integer("history", 2, 1'000'000));
  const std::string backfill = params.Text("backfill");
  if (backfill != "easy" && backfill != "none") {
    throw Error(Join("encoder Lookahead: backfill: expected easy or none, found '", backfill, "'"));
  }
  ExpectRigidJobs("Lookahead", mdp);
  settings.rules.commit = mdp.semantics == Semantics::kCommit;
  settings.rules.backfill = settings.rules.commit ? mdp.commit_backfill : backfill == "easy";
  MdpSpec batch = mdp;
  batch.encoder = "Batch";
  return std::make_unique<LookaheadEncoder>(MakeEncoder(batch), settings);
}

}  // namespace

EncoderInfo LookaheadInfo() {
  const EncoderInfo batch = BatchEncoderInfo();
  return {"Lookahead",
          "Batch, and what it is expected to cost to begin with one job rather than another",
          "rollouts of the least area first over sampled futures (Bertsekas & Castanon, J. Heuristics 1999)",
          kParams,
          JobChannels(),
          batch.pair,
          batch.type,
          batch.global,
          Make};
}

}  // namespace berth

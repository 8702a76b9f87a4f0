// lookahead: what it is expected to cost to begin with one job rather than another: rollouts (Bertsekas &
// Castanon, "Rollout algorithms for stochastic scheduling problems", J. Heuristics 1999). For each of the
// jobs of least area, and of some who waited longest, the queue (of at most 128 jobs) is played to its end
// with that job first and the others by area (env/predict/queue_model.hpp), while jobs come that are drawn
// from those that came (env/predict/past_arrivals.hpp; the same draws for every first job, as in hindsight
// optimisation, Chong, Givan & Chang, CDC 2000). What score rules cannot say is in these differences: that a
// large job which starts now will keep the small ones waiting that are still to come.
//
// How far to believe a difference of few draws is for the policy to weigh: hence `doubt`.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"
#include "env/gym/block_table.hpp"
#include "env/gym/blocks/rigid_jobs.hpp"
#include "env/predict/past_arrivals.hpp"
#include "env/predict/queue_model.hpp"
#include "env/predict/releases.hpp"
#include "env/predict/run_times.hpp"

namespace berth {
namespace {

constexpr ChannelInfo kLookaheadChannels[] = {
    {"place", "ln(1 + candidates before it by area) / 5; area = requested seconds on its fastest type x gang",
     0, 3},
    {"tried",
     "1 = gain and doubt are known: of the `tried` jobs of least area and the `oldest` of the others; "
     "redecide: 0 where nobody fits now",
     0, 1},
    {"gain",
     "10 x what the mean cost of the queue falls by where this job goes first, not the one of least area, "
     "over the latter's, within [-4, 4]; -4 where not tried. Cost: sum of bounded slowdown + `hour` x hours "
     "waited",
     -4, 4},
    {"doubt", "10 x the standard error of that mean, over the same, at most 4; 0 where not tried", 0, 4},
};
constexpr double kTimes = 10.0, kMostGain = 4.0;  // of gain and doubt
constexpr std::size_t kLongestQueue = 128;        // jobs that rollouts play

struct Settings {
  int samples, future, tried, oldest, history;
  QueueRules rules;
};

class Lookahead final : public ObservationBlock {
 public:
  explicit Lookahead(const Settings& settings) : settings_(settings) {}

  void Begin(const ClusterView& view) override {
    past_.Begin();
    releases_.resize(U(view.num_types()));
    seconds_.resize(U(view.num_types()));
  }

  // Half of least area, so that those who are tried are seen, the rest in order of arrival.
  void Select(const ClusterView& view, std::span<const int> candidates, int q,
              std::vector<int>& visible) override {
    visible.assign(candidates.begin(), candidates.end());
    if (static_cast<int>(candidates.size()) <= q) return;
    Order(view, candidates);
    visible.clear();
    const std::size_t least = U((q + 1) / 2);
    for (std::size_t i = 0; i < least; ++i) visible.push_back(candidates_[i].job);
    std::sort(candidates_.begin() + static_cast<std::ptrdiff_t>(least), candidates_.end(), ByArrival);
    for (std::size_t i = least; i < U(q); ++i) visible.push_back(candidates_[i].job);
    std::sort(visible.begin(), visible.end());
  }

  void Write(const ObservationInput& input, const BlockOutput& out) override {
    Compare(input);
    for (std::size_t row = 0; row < input.visible.size(); ++row) WriteJob(input.visible[row], out.jobs[row]);
  }

 private:
  struct Candidate {
    int job;
    double area;
    int place = 0;
    int number = -1;  // in the model, if it is played
    bool tried = false;
    double gain = -kMostGain, doubt = 0.0;
  };
  static bool ByArrival(const Candidate& a, const Candidate& b) { return a.job < b.job; }

  // candidates_, by area.
  void Order(const ClusterView& view, std::span<const int> candidates) {
    candidates_.clear();
    for (int job : candidates) {
      candidates_.push_back({job, std::min(RequestedSeconds(view, job), kLongestSeconds) * view.Gang(job)});
    }
    std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
      return std::pair(a.area, a.job) < std::pair(b.area, b.job);
    });
    for (std::size_t i = 0; i < candidates_.size(); ++i) candidates_[i].place = static_cast<int>(i);
  }

  void Compare(const ObservationInput& input) {
    Order(input.view, input.candidates);
    past_.Update(input.view, settings_.history);
    tried_.clear();
    if (candidates_.size() > 1 && (settings_.rules.commit || AnyFits(input))) {
      Load(input);
      Try();
    }
    if (tried_.size() > 1) Roll(input.view);
    std::sort(candidates_.begin(), candidates_.end(), ByArrival);
  }

  static bool AnyFits(const ObservationInput& input) {
    return std::any_of(input.candidates.begin(), input.candidates.end(), [&](int job) {
      for (std::size_t type = 0; type < input.room.size(); ++type) {
        if (input.view.Gang(job) <= input.room[type] && input.view.Rates(job)[type] > 0.0) return true;
      }
      return false;
    });
  }

  // The cluster and who is played into the model: the first by area of those who ever fit.
  void Load(const ObservationInput& input) {
    const ClusterView& view = input.view;
    model_.Reset(view.num_types(), view.now(), input.room);
    for (int type = 0; type < view.num_types(); ++type) {
      releases_[U(type)].Collect(view, type, input.room[U(type)], input.started);
      for (const auto& [end, job, gpus] : releases_[U(type)].order()) model_.Runs(end, type, gpus);
    }
    queue_.clear();
    for (Candidate& candidate : candidates_) {
      if (queue_.size() == kLongestQueue) break;
      Left(view, candidate.job);
      if (model_.EverFits(view.Gang(candidate.job), seconds_)) queue_.push_back(&candidate);
    }
    std::sort(queue_.begin(), queue_.end(), [](auto* a, auto* b) { return ByArrival(*a, *b); });
    for (Candidate* candidate : queue_) {
      const int job = candidate->job;
      Left(view, job);
      candidate->number = model_.Waits(view.Arrival(job), view.Gang(job), seconds_);
    }
  }

  // Who is tried: of those who are played the ones of least area, and of the rest those who came first.
  void Try() {
    const std::size_t least = U(settings_.tried), most = least + U(settings_.oldest);
    for (Candidate& candidate : candidates_) {
      if (tried_.size() == least) break;
      if (candidate.number >= 0) tried_.push_back(&candidate);
    }
    for (Candidate* candidate : queue_) {
      if (tried_.size() == most) break;
      if (std::find(tried_.begin(), tried_.end(), candidate) == tried_.end()) tried_.push_back(candidate);
    }
    for (Candidate* candidate : tried_) {
      candidate->tried = true;
      candidate->gain = 0.0;
    }
  }

  // Gain and doubt of who is tried, all by the same futures.
  void Roll(const ClusterView& view) {
    const std::size_t samples = U(settings_.samples);
    costs_.resize(tried_.size() * samples);
    // The futures of an instant are the same whenever it is asked about.
    const auto now = std::bit_cast<std::uint64_t>(view.now());
    Stream stream(view.seed(), Purpose::kLookahead, Split::kTrain, static_cast<std::uint32_t>(past_.seen()),
                  static_cast<std::uint32_t>(now ^ (now >> 32)));
    for (std::size_t sample = 0; sample < samples; ++sample) {
      Draw(view, stream);
      for (std::size_t i = 0; i < tried_.size(); ++i)
        costs_[i * samples + sample] = model_.Play(tried_[i]->number, settings_.rules);
    }
    const auto cost = [&](std::size_t i) { return std::span(costs_).subspan(i * samples, samples); };
    const double n = settings_.samples, of_first = std::accumulate(cost(0).begin(), cost(0).end(), 0.0) / n;
    for (std::size_t i = 1; i < tried_.size(); ++i) {
      double mean = 0.0, squares = 0.0;
      for (std::size_t sample = 0; sample < samples; ++sample) {
        mean += (cost(0)[sample] - cost(i)[sample]) / n;
      }
      for (std::size_t sample = 0; sample < samples; ++sample) {
        const double off = cost(0)[sample] - cost(i)[sample] - mean;
        squares += off * off;
      }
      tried_[i]->gain = std::clamp(kTimes * mean / of_first, -kMostGain, kMostGain);
      tried_[i]->doubt = std::min(kTimes * std::sqrt(squares / (n * (n - 1.0))) / of_first, kMostGain);
    }
  }

  // Who comes in the next future.
  void Draw(const ClusterView& view, Stream& stream) {
    model_.NobodyComes();
    if (past_.size() < 2) return;
    double time = view.now();
    for (int i = 0; i < settings_.future; ++i) {
      time += past_.Gap(view, stream);
      const int like = past_.Job(stream);
      Whole(view, like);
      if (model_.EverFits(view.Gang(like), seconds_)) model_.Comes(time, view.Gang(like), seconds_);
    }
  }

  // seconds_: what is left of a job that waits; of any, from its start.
  void Left(const ClusterView& view, int job) {
    for (int type = 0; type < view.num_types(); ++type) {
      seconds_[U(type)] =
          view.Rate(job, type) > 0.0 ? std::min(EstimatedSeconds(view, job, type), kLongestSeconds) : kNever;
    }
  }
  void Whole(const ClusterView& view, int job) {
    const double requested = view.Requested(job);
    for (int type = 0; type < view.num_types(); ++type) {
      const double rate = view.Rate(job, type);
      const double seconds = std::isnan(requested) ? view.TotalSteps(job) / rate : requested;
      seconds_[U(type)] = rate > 0.0 ? std::min(seconds, kLongestSeconds) : kNever;
    }
  }

  void WriteJob(int job, float* f) const {
    const auto it = std::lower_bound(candidates_.begin(), candidates_.end(), Candidate{job, 0.0}, ByArrival);
    BERTH_CHECK(it != candidates_.end() && it->job == job, "job ", job, " is visible and no candidate");
    f[0] = static_cast<float>(std::min(Log(1.0 + it->place) / 5.0, 3.0));
    f[1] = it->tried ? 1.0F : 0.0F;
    f[2] = static_cast<float>(it->gain);
    f[3] = static_cast<float>(it->doubt);
  }

  Settings settings_;
  PastArrivals past_;
  QueueModel model_;
  std::vector<Releases> releases_;  // [G]
  std::vector<Candidate> candidates_;
  std::vector<Candidate*> queue_;  // who is played, in order of arrival
  std::vector<Candidate*> tried_;  // the first: of least area
  std::vector<double> costs_;      // [tried, samples]
  std::vector<double> seconds_;    // [G]
};

constexpr ParamInfo kLookaheadParams[] = {
    {"samples", "8", "futures that every first job is played in"},
    {"future", "16", "jobs that come in each"},
    {"tried", "16", "jobs of least area that are played first"},
    {"oldest", "0", "of the others, jobs that waited longest and are played first too"},
    {"history", "256", "jobs that came last, from which futures are drawn"},
    {"hour", "0", "what an hour of waiting costs, where 1 is a job that does not wait"},
    {"backfill", "auto",
     "behind a job that does not fit: easy (for --reserve easy) | none (for head); auto: easy under "
     "redecide, what the process does under commit"},
};

std::unique_ptr<ObservationBlock> MakeLookahead(Params& params, const BlockSetup& setup) {
  Settings settings{};
  settings.samples = static_cast<int>(params.Integer("samples", 2, 1024));
  settings.future = static_cast<int>(params.Integer("future", 0, 4096));
  settings.tried = static_cast<int>(params.Integer("tried", 1, static_cast<long long>(kLongestQueue)));
  settings.oldest = static_cast<int>(params.Integer("oldest", 0, static_cast<long long>(kLongestQueue)));
  settings.history = static_cast<int>(params.Integer("history", 2, 1'000'000));
  settings.rules.hour = params.Number("hour", 0.0, 1e9);
  const std::string backfill = params.Text("backfill");
  ExpectRigidJobs("lookahead", setup);
  settings.rules.commit = setup.commits;
  const bool known =
      backfill == "auto" || (!settings.rules.commit && (backfill == "easy" || backfill == "none"));
  if (!known) {
    throw Error(Join("block lookahead: backfill: expected ",
                     settings.rules.commit ? "auto under commit" : "auto, easy or none", ", found '",
                     backfill, "'"));
  }
  settings.rules.backfill = settings.rules.commit ? setup.commit_backfill : backfill != "none";
  return std::make_unique<Lookahead>(settings);
}

}  // namespace

BlockInfo LookaheadBlock() {
  BlockInfo info{
      "lookahead", 1, "what it is expected to cost to begin with one job rather than another",
      "rollouts of the least area first over sampled futures (Bertsekas & Castanon, J. Heuristics 1999)"};
  info.params = kLookaheadParams;
  info.job = kLookaheadChannels;
  info.make = MakeLookahead;
  info.selects = true;
  return info;
}

}  // namespace berth

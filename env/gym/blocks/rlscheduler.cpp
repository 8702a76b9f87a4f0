// The observation that RLScheduler was published with (Zhang et al., SC 2020; HPCSimPickJobs.py,
// build_observation): 128 visible jobs of 8 numbers each, for semantics `commit` on one type of processor.
//
// Rows are in order of arrival. Where more jobs wait than have a row, the visible are taken in turn from the
// shortest requests and the smallest gangs (ties: submitted first, then the other of the two), each once, and
// stand in that order. Jobs submitted at the same instant that still tie stand in the order of the log; in
// the original their order depends on all sorts before.
//
// Requested memory, user, group and executable are not part of a scenario: the channels have the value 1 that
// the original gives to what a log does not state (none of these is stated in Lublin-1 and Lublin-2).
#include <algorithm>
#include <compare>
#include <cstdint>
#include <vector>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/spec.hpp"
#include "env/gym/block_table.hpp"
#include "env/predict/run_times.hpp"

namespace berth {
namespace {

constexpr double kLongestWait = 43200.0;    // s, MAX_WAIT_TIME
constexpr double kMostScaled = 1.0 - 1e-5;  // of every scaled value

constexpr ChannelInfo kRlSchedulerChannels[] = {
    {"wait", "time since arrival / 12 h, at most 1 - 1e-5; absent rows: 0", 0, 1},
    {"run", "requested time / longest_run_s, at most 1 - 1e-5; absent rows: 1", 0, 1},
    {"processors", "gang size / devices of the cluster, at most 1 - 1e-5; absent rows: 1", 0, 1},
    {"memory", "1: not stated", 1, 1},
    {"user", "1: not stated", 1, 1},
    {"group", "1: not stated", 1, 1},
    {"executable", "1: not stated", 1, 1},
    {"fits", "1 - 1e-5 where it fits now, 1e-5 where it does not; absent rows: 0", 0, 1},
};
constexpr std::size_t kRlSchedulerWidth = std::size(kRlSchedulerChannels);
static_assert(kRlSchedulerWidth == 8, "published: never edited");

constexpr ParamInfo kRlSchedulerParams[] = {
    {"longest_run_s", "124707", "s, longest run time of the whole log: Lublin-1 124707, Lublin-2 116359"},
};

// One of the two orders in which jobs are picked when not all have a row.
struct Rank {
  double first, submitted, third;
  int job;
  auto operator<=>(const Rank&) const = default;
};

class RlScheduler final : public ObservationBlock {
 public:
  explicit RlScheduler(double longest) : longest_(longest) {}

  void Begin(const ClusterView& view) override {
    if (view.num_types() != 1) {
      throw Error(Join("block rlscheduler: expected a cluster of one GPU type, found ", view.num_types()));
    }
    for (const Features::On& on : view.features().on()) {
      if (on.settings->LearnsRates()) {  // what it remembers would be old
        throw Error(Join("block rlscheduler: expected throughputs that stay, found ", on.module->name,
                         "(learn=true)"));
      }
    }
    const std::size_t jobs = U(view.num_jobs());
    run_.assign(jobs, 0.0F);
    processors_.assign(jobs, 0.0F);
    stamp_.assign(jobs, 0);
    epoch_ = 0;
    shortest_.clear();
    smallest_.clear();
    shortest_.reserve(jobs);
    smallest_.reserve(jobs);
    ranked_ = 0;
  }

  void Select(const ClusterView& view, std::span<const int> candidates, int q,
              std::vector<int>& visible) override {
    visible.clear();
    if (static_cast<int>(candidates.size()) <= q) {
      visible.assign(candidates.begin(), candidates.end());
      return;
    }
    RankNew(view, candidates);
    epoch_ += 2;  // a candidate has the mark epoch_, one that is visible the next
    for (int job : candidates) stamp_[U(job)] = epoch_;
    // A job that left never comes back: there is no preemption.
    const auto left = [&](const Rank& rank) { return stamp_[U(rank.job)] != epoch_; };
    std::erase_if(shortest_, left);
    std::erase_if(smallest_, left);
    const auto take = [&](int job) {
      if (stamp_[U(job)] != epoch_ || static_cast<int>(visible.size()) == q) return;
      stamp_[U(job)] = epoch_ + 1;
      visible.push_back(job);
    };
    for (std::size_t i = 0; static_cast<int>(visible.size()) < q; ++i) {
      take(shortest_[i].job);
      take(smallest_[i].job);
    }
  }

  void Write(const ObservationInput& input, const BlockOutput& out) override {
    const ClusterView& view = input.view;
    BERTH_CHECK(run_.size() == U(view.num_jobs()) && out.jobs.stride == kRlSchedulerWidth, run_.size(),
                " jobs");
    const double now = view.now();
    const int room = input.room[0];
    float* row = out.jobs.first;
    for (int job : input.visible) {
      if (run_[U(job)] == 0.0F) Meet(view, job);
      row[0] = static_cast<float>(std::min((now - view.Arrival(job)) / kLongestWait, kMostScaled));
      row[1] = run_[U(job)];
      row[2] = processors_[U(job)];
      row[3] = row[4] = row[5] = row[6] = 1.0F;
      row[7] = static_cast<float>(view.Gang(job) <= room ? kMostScaled : 1e-5);
      row += kRlSchedulerWidth;
    }
    for (const float* end = out.jobs[out.queue]; row != end; row += kRlSchedulerWidth) {
      row[0] = row[7] = 0.0F;
      row[1] = row[2] = row[3] = row[4] = row[5] = row[6] = 1.0F;
    }
  }

 private:
  void Meet(const ClusterView& view, int job) {
    run_[U(job)] = static_cast<float>(std::min(RequestedSeconds(view, job) / longest_, kMostScaled));
    processors_[U(job)] =
        static_cast<float>(std::min(static_cast<double>(view.Gang(job)) / view.num_gpus(), kMostScaled));
  }

  // Candidates are in order of arrival, so the new ones are the last.
  void RankNew(const ClusterView& view, std::span<const int> candidates) {
    const auto fresh = std::lower_bound(candidates.begin(), candidates.end(), ranked_);
    for (auto it = fresh; it != candidates.end(); ++it) {
      const double seconds = RequestedSeconds(view, *it), submitted = view.Arrival(*it);
      const double gang = view.Gang(*it);
      Insert(shortest_, {seconds, submitted, gang, *it});
      Insert(smallest_, {gang, submitted, seconds, *it});
      ranked_ = *it + 1;
    }
  }
  static void Insert(std::vector<Rank>& ranks, const Rank& rank) {
    ranks.insert(std::upper_bound(ranks.begin(), ranks.end(), rank), rank);
  }

  double longest_;
  std::vector<float> run_, processors_;  // [J] channels that never change; 0 = not worked out yet
  std::vector<Rank> shortest_, smallest_;
  int ranked_ = 0;                    // jobs before this one are in both lists, or have left
  std::vector<std::uint64_t> stamp_;  // [J]
  std::uint64_t epoch_ = 0;
};

std::unique_ptr<ObservationBlock> MakeRlScheduler(Params& params, const BlockSetup& setup) {
  const double longest = params.Number("longest_run_s", 1e-6, 1e12);
  if (!setup.commits || !setup.arrival_order) {
    throw Error(Join("block rlscheduler: expected semantics commit and order arrival, found ",
                     setup.commits ? "commit" : "redecide", " and ",
                     setup.arrival_order ? "arrival" : "shortest"));
  }
  if (setup.knowledge < Knowledge::kEstimate) {
    throw Error(
        Join("block rlscheduler: expected knowledge estimate or oracle, found ", ToString(setup.knowledge)));
  }
  return std::make_unique<RlScheduler>(longest);
}

}  // namespace

BlockInfo RlSchedulerBlock() {
  BlockInfo info{
      "rlscheduler", 1,
      "the published 128 x 8 numbers of RLScheduler, for semantics commit on one type (--visible 128)",
      "Zhang et al., SC 2020; its HPCSimPickJobs.py, build_observation"};
  info.params = kRlSchedulerParams;
  info.job = kRlSchedulerChannels;
  info.make = MakeRlScheduler;
  info.selects = info.alone = true;
  return info;
}

}  // namespace berth

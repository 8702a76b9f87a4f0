#include "baselines/gavel/packed_kinds.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>
#include <set>
#include <tuple>

#include "baselines/gavel/job_classes.hpp"
#include "baselines/gavel/kind_shares.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"

namespace berth::gavel {
namespace {

constexpr double kProven = 1e-7;     // level and bound apart, relative
constexpr double kAtOnce = 1e-10;    // and where no further pair is asked for
constexpr double kBroken = 1e-10;    // of what a row asks for
constexpr double kRounding = 1e-14;  // of a GPU's time
// By which part of the level jobs get less where rounding of their kind's rows, which are sums of what they
// ask for, would leave a job that asks for little with less than that: the first that is enough.
constexpr double kLess[] = {0.0, 1e-9, 1e-8, 5e-8};

// In units in which rates are at most near 1 and the level is near 1.
struct Kind {
  std::vector<int> jobs;       // hungriest first
  std::vector<double> demand;  // [jobs] of one unit of level
  std::vector<double> sum;     // [jobs + 1] of the first demands
  double peak = 0.0;           // steps/s that are the rate 1

  double size() const { return static_cast<double>(jobs.size()); }
};
struct Column {             // time of one job of each of two kinds, or of one alone
  int first, second, type;  // kinds, first <= second; second = -1: alone
  double rate_first, rate_second;

  bool own() const { return first == second; }
  double RateOf(int kind) const { return kind == first ? rate_first : rate_second; }
  double TimeOf(double share) const { return own() ? 2.0 * share : share; }  // of its kind
};
struct Cut {
  int kind, hungriest;
  double rate;
};

class Program {
 public:
  Program(const PackedProblem& problem, std::span<const double> scale)
      : problem_(problem), scale_(scale), lp_(LpMethod::kSimplex) {
    const Problem& base = problem.base;
    std::vector<double> kind(problem.kind.begin(), problem.kind.end());
    if (kind.empty()) kind.resize(U(base.jobs())), std::iota(kind.begin(), kind.end(), 0.0);
    JobClasses classes;
    Classify(base, base.throughput, {kind}, classes);
    kinds_.resize(U(classes.size()));
    unit_ = kLpInfinity;
    for (int i = 0; i < base.jobs(); ++i) {
      Kind& its = kinds_[U(classes.of_job[U(i)])];
      its.jobs.push_back(i);
      for (int j = 0; j < base.types(); ++j) {
        if (base.workers[U(j)] > 0) its.peak = std::max(its.peak, base.throughput[base.at(i, j)]);
      }
      unit_ = std::min(unit_, scale[U(i)] * its.peak);
    }
    BERTH_CHECK(unit_ > 0.0 && unit_ < kLpInfinity, "a job can run nowhere");
    const double gpus = std::accumulate(base.workers.begin(), base.workers.end(), 0.0);
    unit_ *= std::min(1.0, gpus / std::accumulate(base.gang.begin(), base.gang.end(), 0.0));
  }

  LpStatus Solve(double time_limit_s, KindsAnswer& answer) {
    const auto begin = std::chrono::steady_clock::now();
    const auto late = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() >= time_limit_s;
    };
    do {
      Begin();
      for (bool more = true; more;) {
        if (late()) return LpStatus::kTimeLimit;
        const LpStatus status = SolveMaster();
        if (status != LpStatus::kOptimal) return status;
        TakePrices();
        more = AddCuts();
        more = AddColumns() || more;
      }
    } while (!Split());
    KindsAnswer found;
    Assemble(found);
    if (!(found.bound - found.level <= kProven * found.bound)) return LpStatus::kError;
    answer = std::move(found);
    return LpStatus::kOptimal;
  }

 private:
  int Types() const { return problem_.base.types(); }
  int Kinds() const { return static_cast<int>(kinds_.size()); }
  int Any(int kind) const { return kinds_[U(kind)].jobs[0]; }
  int Gang(int kind) const { return problem_.base.gang[U(Any(kind))]; }

  void Begin() {
    columns_.clear(), known_.clear(), cuts_.clear(), cut_.clear();
    const Problem& base = problem_.base;
    for (int a = 0; a < Kinds(); ++a) {
      Kind& its = kinds_[U(a)];
      std::stable_sort(its.jobs.begin(), its.jobs.end(),
                       [this](int i, int k) { return scale_[U(i)] < scale_[U(k)]; });
      its.demand.clear();
      its.sum.assign(1, 0.0);
      for (int i : its.jobs) {
        its.demand.push_back(unit_ / (scale_[U(i)] * its.peak));
        its.sum.push_back(its.sum.back() + its.demand.back());
      }
      for (int j = 0; j < Types(); ++j) {
        const double rate = base.throughput[base.at(Any(a), j)] / its.peak;
        if (rate > 0.0 && base.workers[U(j)] > 0) AddColumn({a, -1, j, rate, 0.0});
      }
      AddCut({a, static_cast<int>(its.jobs.size()), 0.0});
    }
  }
  bool AddColumn(const Column& column) {
    if (!known_.insert({column.first, column.second, column.type}).second) return false;
    columns_.push_back(column);
    return true;
  }
  bool AddCut(const Cut& cut) {
    if (!cut_.insert({cut.kind, cut.hungriest, cut.rate}).second) return false;
    cuts_.push_back(cut);
    return true;
  }

  // Rows: types, time of kinds, cuts over what they ask for. The last column is the level, worth the number
  // of jobs, so that prices of jobs are near 1.
  LpStatus SolveMaster() {
    const Problem& base = problem_.base;
    LpModel& model = lp_.model();
    model.Clear();
    model.maximize = true;
    of_kind_.assign(kinds_.size(), {});
    std::vector<std::vector<int>> of_type(U(Types()));
    for (const Column& column : columns_) {
      const int c = model.AddColumn(0.0, 0.0, kLpInfinity);
      of_type[U(column.type)].push_back(c);
      of_kind_[U(column.first)].push_back(c);
      if (column.second >= 0 && !column.own()) of_kind_[U(column.second)].push_back(c);
    }
    const int level = model.AddColumn(base.jobs(), 0.0, kLpInfinity);
    for (int j = 0; j < Types(); ++j) {
      for (int c : of_type[U(j)]) model.AddEntry(c, Gang(columns_[U(c)].first));
      model.EndRow(-kLpInfinity, base.workers[U(j)]);
    }
    for (int a = 0; a < Kinds(); ++a) {
      for (int c : of_kind_[U(a)]) model.AddEntry(c, columns_[U(c)].TimeOf(1.0));
      model.EndRow(-kLpInfinity, kinds_[U(a)].size());
    }
    for (const Cut& cut : cuts_) {
      const double asked = kinds_[U(cut.kind)].sum[U(cut.hungriest)];
      for (int c : of_kind_[U(cut.kind)]) {
        // Of two of one kind one at most is the hungriest.
        const double time = cut.hungriest == 1 ? 1.0 : columns_[U(c)].TimeOf(1.0);
        model.AddEntry(c, time * std::max(0.0, columns_[U(c)].RateOf(cut.kind) - cut.rate) / asked);
      }
      model.AddEntry(level, -1.0);
      model.EndRow(-cut.hungriest * cut.rate / asked, kLpInfinity);
    }
    return lp_.Solve();
  }

  void TakePrices() {
    const std::vector<double>& dual = lp_.solution().row_dual;
    level_ = lp_.solution().x.back();
    price_.assign(scale_.size(), 0.0), time_price_ = price_;
    type_price_.assign(dual.begin(), dual.begin() + Types());
    for (int a = 0; a < Kinds(); ++a) {
      for (int i : kinds_[U(a)].jobs) time_price_[U(i)] = std::max(0.0, dual[U(Types() + a)]);
    }
    double sum = 0.0;
    for (std::size_t r = 0; r < cuts_.size(); ++r) {
      const Kind& its = kinds_[U(cuts_[r].kind)];
      const double price = std::max(0.0, -dual[U(Types() + Kinds()) + r]) / its.sum[U(cuts_[r].hungriest)];
      sum += price * its.sum[U(cuts_[r].hungriest)];
      for (int k = 0; k < cuts_[r].hungriest && price > 0.0; ++k) {
        price_[U(its.jobs[U(k)])] += price;
        time_price_[U(its.jobs[U(k)])] += price * cuts_[r].rate;
      }
    }
    for (auto* prices : {&price_, &time_price_, &type_price_}) {
      for (double& price : *prices) price = std::max(0.0, price) / sum;
    }
  }

  // What a job of the kind gains from a share of time at this rate, and what the next best of them does.
  std::array<double, 2> Best(int kind, double rate) const {
    std::array<double, 2> best = {-kLpInfinity, -kLpInfinity};
    for (int i : kinds_[U(kind)].jobs) {
      const double gain = price_[U(i)] * rate - time_price_[U(i)];
      best[1] = std::max(best[1], std::min(best[0], gain));
      best[0] = std::max(best[0], gain);
    }
    return best;
  }

  // Raises the prices of GPUs until no two jobs gain from sharing one, which makes the bound. The pair that
  // each kind gains most from joins.
  bool AddColumns() {
    const Problem& base = problem_.base;
    std::vector<double> most = type_price_;
    std::vector<std::pair<double, Column>> best(kinds_.size());
    const auto look = [&](const Column& column, double gain) {
      most[U(column.type)] = std::max(most[U(column.type)], gain);
      if (base.workers[U(column.type)] == 0) return;
      gain -= type_price_[U(column.type)];
      for (int kind : {column.first, column.second}) {
        if (kind >= 0 && gain > best[U(kind)].first) best[U(kind)] = {gain, column};
      }
    };
    for (int a = 0; a < Kinds(); ++a) {
      for (int j = 0; j < Types(); ++j) {
        const double alone = base.throughput[base.at(Any(a), j)] / kinds_[U(a)].peak;
        if (alone > 0.0) look({a, -1, j, alone, 0.0}, Best(a, alone)[0] / Gang(a));
        for (int b = a; Gang(a) == 1 && b < Kinds(); ++b) {
          if (a == b && kinds_[U(a)].jobs.size() < 2) continue;
          const double first = problem_.Beside(Any(a), Any(b), j) / kinds_[U(a)].peak;
          const double second = problem_.Beside(Any(b), Any(a), j) / kinds_[U(b)].peak;
          if (first <= 0.0 || second <= 0.0) continue;
          const std::array<double, 2> gain = Best(a, first);
          look({a, b, j, first, second}, gain[0] + (a == b ? gain[1] : Best(b, second)[0]));
        }
      }
    }
    type_price_ = most;
    bound_ = std::accumulate(time_price_.begin(), time_price_.end(), 0.0);
    for (int j = 0; j < Types(); ++j) bound_ += type_price_[U(j)] * base.workers[U(j)];
    if (bound_ - level_ <= kAtOnce * level_) return false;
    bool added = false;
    for (const auto& [gain, column] : best) added = (gain > 0.0 && AddColumn(column)) || added;
    return added;
  }

  // Time of a kind's jobs by falling rate, idle time last; `from` gets the columns.
  std::vector<TimeAt> Times(int kind, std::vector<int>& from) const {
    from.clear();
    for (int c : of_kind_[U(kind)]) {
      if (lp_.solution().x[U(c)] > 0.0) from.push_back(c);
    }
    const auto rate = [&](int c) { return columns_[U(c)].RateOf(kind); };
    std::stable_sort(from.begin(), from.end(), [&](int c, int d) { return rate(c) > rate(d); });
    std::vector<TimeAt> times;
    double sum = 0.0;
    for (int c : from) {
      times.push_back({rate(c), columns_[U(c)].TimeOf(lp_.solution().x[U(c)]), columns_[U(c)].own()});
      sum += times.back().time;
    }
    times.push_back({0.0, std::max(0.0, kinds_[U(kind)].size() - sum), false});
    return times;
  }

  bool AddCuts() {
    bool added = false;
    std::vector<int> from;
    for (int a = 0; a < Kinds(); ++a) {
      const Kind& its = kinds_[U(a)];
      const std::vector<TimeAt> times = Times(a, from);
      double time = 0.0, above = 0.0;  // of all at a higher rate: time, and time times rate
      for (const TimeAt& at : times) {
        const auto end = std::partition_point(its.demand.begin(), its.demand.end(),
                                              [&](double demand) { return level_ * demand > at.rate; });
        const int k = static_cast<int>(end - its.demand.begin());
        if (k == 0) continue;  // asks for nothing, and rounding would break it
        const double broken = level_ * its.sum[U(k)] - k * at.rate - (above - time * at.rate);
        if (broken > kBroken * level_ * its.sum[U(k)]) added = AddCut({a, k, at.rate}) || added;
        time += at.time;
        above += at.time * at.rate;
      }
    }
    return added;
  }

  // Shares of every column by the jobs of its kinds. False where a job would be its own partner: it is then a
  // kind of its own.
  bool Split() {
    shares_.assign(columns_.size(), {});
    std::vector<int> from, blocked, apart;
    std::vector<std::vector<JobShare>> shares;
    for (int a = 0, n = Kinds(); a < n; ++a) {
      Kind& its = kinds_[U(a)];
      bool enough = false;
      for (const double part : kLess) {
        std::vector<double> demand = its.demand;
        for (double& one : demand) one *= level_ * (1.0 - part);
        enough = SplitTimes(Times(a, from), demand, shares, blocked);
        if (enough || !blocked.empty()) break;
      }
      for (std::size_t o = 0; o < from.size(); ++o) {
        for (JobShare& share : shares[o]) share.job = its.jobs[U(share.job)];
        shares_[U(from[o])][columns_[U(from[o])].first == a ? 0 : 1] = std::move(shares[o]);
      }
      if (enough || blocked.empty()) continue;
      Kind single{.jobs = {its.jobs[U(blocked[0])]}, .demand = {}, .sum = {}, .peak = its.peak};
      its.jobs.erase(its.jobs.begin() + blocked[0]);
      kinds_.push_back(std::move(single));
      apart.push_back(a);
    }
    return apart.empty();
  }

  // Of a job that asks for next to nothing, as at its very end, what rounding took of the time of all.
  void GiveRounding(PackedAllocation& x) const {
    const std::size_t types = problem_.base.workers.size();
    const std::vector<double> speed = EffectiveThroughput(problem_, x);
    for (std::size_t i = 0; i < speed.size(); ++i) {
      const double more = level_ * unit_ / (scale_[i] * speed[i]) - 1.0;
      if (!(more > 0.01 * kProven)) continue;
      std::vector<double*> shares;
      for (std::size_t j = 0; j < types; ++j) shares.push_back(&x.alone[i * types + j]);
      for (std::size_t p = 0; p < x.pairs.size(); ++p) {
        if (x.pairs[p][0] != static_cast<int>(i) && x.pairs[p][1] != static_cast<int>(i)) continue;
        for (std::size_t j = 0; j < types; ++j) shares.push_back(&x.together[p * types + j]);
      }
      double time = 0.0;
      for (const double* share : shares) time += *share;
      for (double* share : shares) *share *= more * time <= kRounding ? 1.0 + more : 1.0;
    }
  }

  void Assemble(KindsAnswer& answer) const {
    const Problem& base = problem_.base;
    std::vector<std::tuple<int, int, int, double>> pairs;  // jobs, type, share
    std::vector<double> used(U(Types()), 0.0);
    PackedAllocation& x = answer.x;
    x.alone.assign(base.throughput.size(), 0.0);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const Column& column = columns_[c];
      const auto& [of_first, of_second] = shares_[c];
      if (column.second < 0) {
        for (const auto& [job, share] : of_first) {
          x.alone[base.at(job, column.type)] = share;
          used[U(column.type)] += share * Gang(column.first);
        }
        continue;
      }
      for (const auto& [a, b, share] :
           column.own() ? MatchShares(of_first) : MatchShares(of_first, of_second)) {
        pairs.emplace_back(std::min(a, b), std::max(a, b), column.type, share);
        used[U(column.type)] += share;
      }
    }
    std::sort(pairs.begin(), pairs.end());
    for (const auto& [a, b, type, share] : pairs) {
      const std::array<int, 2> jobs = {a, b};
      if (x.pairs.empty() || x.pairs.back() != jobs) {
        x.pairs.push_back(jobs);
        x.together.resize(x.together.size() + base.workers.size(), 0.0);
      }
      x.together[base.at(static_cast<int>(x.pairs.size()) - 1, type)] += share;
    }
    for (auto* all : {&x.alone, &x.together}) {
      for (std::size_t s = 0; s < all->size(); ++s) {
        const std::size_t j = s % base.workers.size();
        if (used[j] > base.workers[j]) (*all)[s] *= base.workers[j] / used[j];
      }
    }
    GiveRounding(x);
    const std::vector<double> speed = EffectiveThroughput(problem_, x);
    answer.level = kLpInfinity;
    for (std::size_t i = 0; i < speed.size(); ++i)
      answer.level = std::min(answer.level, scale_[i] * speed[i]);
    answer.bound = bound_ * unit_;
    answer.price = price_, answer.time_price = time_price_, answer.type_price = type_price_;
    for (auto* prices : {&answer.price, &answer.time_price, &answer.type_price}) {
      for (double& price : *prices) price *= unit_;
    }
    for (const Kind& its : kinds_) {
      for (int i : its.jobs) answer.price[U(i)] /= its.peak;
    }
  }

  const PackedProblem& problem_;
  std::span<const double> scale_;
  CheckedLp lp_;
  double unit_ = 0.0, level_ = 0.0, bound_ = 0.0;
  std::vector<Kind> kinds_;
  std::vector<Column> columns_;
  std::set<std::array<int, 3>> known_;
  std::vector<Cut> cuts_;
  std::set<std::tuple<int, int, double>> cut_;
  std::vector<std::vector<int>> of_kind_;                // columns
  std::vector<double> price_, time_price_, type_price_;  // [m], [m], [G]
  std::vector<std::array<std::vector<JobShare>, 2>> shares_;
};

}  // namespace

LpStatus MaxMinByKinds(const PackedProblem& problem, std::span<const double> scale, double time_limit_s,
                       KindsAnswer& answer) {
  return Program(problem, scale).Solve(time_limit_s, answer);
}

}  // namespace berth::gavel

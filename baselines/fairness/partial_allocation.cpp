#include "baselines/fairness/partial_allocation.hpp"

#include <algorithm>

#include "baselines/mip.hpp"
#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "env/base/portable_math.hpp"

namespace berth {
namespace {

constexpr std::size_t kMostCells = 4000000;  // of each of two tables of doubles
constexpr int kMostNodes = 1000;

double Worth(const AuctionBid& bid) {
  return -Log(bid.rho);
}

// Best sums of worth with s GPUs on offer: of the first k apps, and of those from k on.
class Tables {
 public:
  Tables(std::span<const std::vector<AuctionBid>> apps, std::span<const int> room) : apps_(apps) {
    for (std::size_t type = 0; type < room.size(); ++type) {
      int could_take = 0;
      for (const auto& bids : apps) {
        int most = 0;
        for (const AuctionBid& bid : bids) {
          if (bid.type == static_cast<int>(type)) most = std::max(most, bid.gpus);
        }
        could_take = std::min(room[type], could_take + most);
      }
      stride_.push_back(states_);
      room_.push_back(could_take);
      states_ *= U(could_take) + 1;
      if (states_ > kMostCells) return;  // the product over many types passes 64 bits
    }
  }

  bool Fits() const { return (apps_.size() + 1) * states_ <= kMostCells; }

  AuctionResult Solve() {
    const std::size_t n = apps_.size();
    first_.assign((n + 1) * states_, 0.0), last_.assign((n + 1) * states_, 0.0);
    for (std::size_t k = 0; k < n; ++k) Add(k, &first_[k * states_], &first_[(k + 1) * states_]);
    for (std::size_t k = n; k-- > 0;) Add(k, &last_[(k + 1) * states_], &last_[k * states_]);
    AuctionResult result{std::vector<int>(n, 0), std::vector<double>(n, 1.0)};
    std::size_t state = states_ - 1;
    for (std::size_t k = n; k-- > 0;) {
      const double aim = first_[(k + 1) * states_ + state];
      for (std::size_t b = 0; b < apps_[k].size(); ++b) {
        const AuctionBid& bid = apps_[k][b];
        if (!InRoom(bid, state) || Worth(bid) + first_[k * states_ + state - Taken(bid)] != aim) continue;
        result.chosen[k] = static_cast<int>(b);
        state -= Taken(bid);
        break;
      }
    }
    const double all = first_[n * states_ + states_ - 1];
    for (std::size_t k = 0; k < n; ++k) {
      const AuctionBid& bid = apps_[k][U(result.chosen[k])];
      if (bid.gpus == 0) continue;
      double without = first_[k * states_] + last_[(k + 1) * states_ + states_ - 1];
      for (std::size_t s = 1; s < states_; ++s) {
        without = std::max(without, first_[k * states_ + s] + last_[(k + 1) * states_ + states_ - 1 - s]);
      }
      result.kept[k] = std::min(1.0, Exp(all - Worth(bid) - without));
    }
    return result;
  }

 private:
  std::size_t Taken(const AuctionBid& bid) const {
    return bid.gpus == 0 ? 0 : stride_[U(bid.type)] * U(bid.gpus);
  }
  bool InRoom(const AuctionBid& bid, std::size_t state) const {
    return bid.gpus == 0 ||
           bid.gpus <= static_cast<int>(state / stride_[U(bid.type)] % (U(room_[U(bid.type)]) + 1));
  }
  void Add(std::size_t app, const double* before, double* after) const {
    for (std::size_t s = 0; s < states_; ++s) {
      double most = -kLpInfinity;
      for (const AuctionBid& bid : apps_[app]) {
        if (InRoom(bid, s)) most = std::max(most, Worth(bid) + before[s - Taken(bid)]);
      }
      after[s] = most;
    }
  }

  std::span<const std::vector<AuctionBid>> apps_;
  std::vector<int> room_;            // [G]
  std::vector<std::size_t> stride_;  // [G] of a state's number
  std::size_t states_ = 1;
  std::vector<double> first_, last_;  // [n + 1, states]
};

// The most worth without app `out` (-1 = with all), and each one's bid.
double Maximize(std::span<const std::vector<AuctionBid>> apps, std::span<const int> room, int out,
                std::vector<int>& chosen) {
  LpModel model;
  model.maximize = true;
  std::vector<std::vector<int>> column(apps.size());
  for (std::size_t i = 0; i < apps.size(); ++i) {
    for (const AuctionBid& bid : apps[i]) {
      const bool may = static_cast<int>(i) != out || bid.gpus == 0;
      column[i].push_back(
          model.AddColumn(static_cast<int>(i) == out ? 0.0 : Worth(bid), 0.0, may ? 1.0 : 0.0));
      model.integer.push_back(column[i].back());
    }
  }
  for (const auto& columns : column) {
    for (int its : columns) model.AddEntry(its, 1.0);
    model.EndRow(1.0, 1.0);
  }
  for (std::size_t type = 0; type < room.size(); ++type) {
    for (std::size_t i = 0; i < apps.size(); ++i) {
      for (std::size_t b = 0; b < apps[i].size(); ++b) {
        const AuctionBid& bid = apps[i][b];
        if (bid.gpus > 0 && bid.type == static_cast<int>(type)) model.AddEntry(column[i][b], bid.gpus);
      }
    }
    model.EndRow(-kLpInfinity, room[type]);
  }
  std::vector<double> nothing(U(model.columns()), 0.0);
  for (const auto& columns : column) nothing[U(columns.front())] = 1.0;
  const MipAnswer answer = SolveMip(model, {.nodes = kMostNodes}, nothing);
  const std::vector<double>& x = answer.found ? answer.x : nothing;
  chosen.assign(apps.size(), 0);
  double worth = 0.0;
  for (std::size_t i = 0; i < apps.size(); ++i) {
    for (std::size_t b = 0; b < apps[i].size(); ++b) {
      if (x[U(column[i][b])] > 0.5) chosen[i] = static_cast<int>(b);
    }
    if (static_cast<int>(i) != out) worth += Worth(apps[i][U(chosen[i])]);
  }
  return worth;
}

}  // namespace

AuctionResult PartialAllocation(std::span<const std::vector<AuctionBid>> apps, std::span<const int> room) {
  for (const auto& bids : apps) {
    BERTH_CHECK(!bids.empty() && bids.front().gpus == 0, "an app's first bid must be for no GPUs");
  }
  Tables tables(apps, room);
  if (tables.Fits()) return tables.Solve();
  AuctionResult result{{}, std::vector<double>(apps.size(), 1.0)};
  const double all = Maximize(apps, room, -1, result.chosen);
  std::vector<int> others;
  for (std::size_t i = 0; i < apps.size(); ++i) {
    const AuctionBid& bid = apps[i][U(result.chosen[i])];
    if (bid.gpus == 0) continue;
    result.kept[i] = std::min(1.0, Exp(all - Worth(bid) - Maximize(apps, room, static_cast<int>(i), others)));
  }
  return result;
}

}  // namespace berth

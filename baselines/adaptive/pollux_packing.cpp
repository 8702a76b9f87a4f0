#include "baselines/adaptive/pollux_packing.hpp"

#include <algorithm>

#include "env/base/check.hpp"

namespace berth::pollux {

Packing::Packing(const Objective& objective, Stream& stream)
    : objective_(objective),
      stream_(stream),
      rows_(objective.jobs(), objective.nodes()),
      extent_(U(objective.jobs())),
      cost_(U(objective.jobs())),
      room_(objective.problem().node_gpus),
      spanning_(U(objective.nodes()), -1),
      row_(U(objective.nodes())) {
  for (int j = 0; j < objective.jobs(); ++j) {
    cost_[U(j)] = objective.Cost(j, rows_.row(j));
    const Job& job = objective.problem().jobs[U(j)];
    BERTH_CHECK(job.max_replicas <= kMostReplicas, job.max_replicas);
    begin_.push_back(cheapest_.size());
    for (int k = 1; k <= job.node_rows; ++k) {
      int best = 0;
      for (int r = 0; r <= job.max_replicas; ++r) {
        const bool may = r >= std::max(k, job.min_replicas);
        if (may && objective.MovedCost(j, k, r) < objective.MovedCost(j, best > 0 ? k : 0, best)) best = r;
        cheapest_.push_back(static_cast<std::uint16_t>(best));
      }
    }
  }
}

double Packing::cost() const {
  double sum = 0.0;
  for (const double cost : cost_) sum += cost;
  return sum;
}

void Packing::Set(const Allocation& legal) {
  for (int j = 0; j < objective_.jobs(); ++j) Leave(j);
  for (int j = 0; j < objective_.jobs(); ++j) Put(j, legal.row(j));
}

void Packing::Count(int job, int sign) {
  const std::span<const std::uint8_t> row = rows_.row(job);
  const bool spans = extent_[U(job)].nodes > 1;
  for (std::size_t n = 0; n < row.size(); ++n) {
    if (row[n] == 0) continue;
    room_[n] -= sign * row[n];
    if (spans) spanning_[n] = sign > 0 ? job : -1;
  }
}

void Packing::Leave(int job) {
  if (extent_[U(job)].nodes == 0) return;
  Count(job, -1);
  const std::span<std::uint8_t> row = rows_.row(job);
  std::fill(row.begin(), row.end(), std::uint8_t{0});
  extent_[U(job)] = {};
  cost_[U(job)] = objective_.Cost(job, row);
}

bool Packing::Fits(int job, std::span<const std::uint8_t> row) const {
  const Extent extent = ExtentOf(row);
  const Job& j = objective_.problem().jobs[U(job)];
  if (extent.replicas > j.max_replicas || (extent.replicas > 0 && extent.replicas < j.min_replicas))
    return false;
  for (std::size_t n = 0; n < row.size(); ++n)
    if (row[n] > room_[n] || (extent.nodes > 1 && row[n] > 0 && spanning_[n] >= 0)) return false;
  return true;
}

void Packing::Put(int job, std::span<const std::uint8_t> row) {
  const std::span<std::uint8_t> mine = rows_.row(job);
  std::copy(row.begin(), row.end(), mine.begin());
  extent_[U(job)] = ExtentOf(mine);
  cost_[U(job)] = objective_.Cost(job, mine);
  Count(job, 1);
}

bool Packing::PutPresent(int job) {
  const std::span<const std::uint8_t> row = objective_.problem().present.row(job);
  if (!Fits(job, row)) return false;
  Put(job, row);
  return true;
}

int Packing::Open(int job) const {
  open_.clear();
  const std::span<const std::uint8_t> row = rows_.row(job);
  const int nodes = objective_.nodes();
  const int first = static_cast<int>(stream_.Below(static_cast<std::uint32_t>(nodes)));
  for (int i = 0; i < nodes; ++i) {
    const int n = first + i < nodes ? first + i : first + i - nodes;
    if (room_[U(n)] == 0 || row[U(n)] > 0 || Spans(n, job)) continue;
    auto at = open_.end();  // few rooms differ: insertion is quick
    while (at != open_.begin() && room_[U(*(at - 1))] < room_[U(n)]) --at;
    open_.insert(at, n);
  }
  return static_cast<int>(open_.size());
}

bool Packing::PutShape(int job, int nodes, int replicas) {
  std::fill(row_.begin(), row_.end(), std::uint8_t{0});
  if (nodes == 1) {
    const int count = objective_.nodes();
    const int first = static_cast<int>(stream_.Below(static_cast<std::uint32_t>(count)));
    const bool any = stream_.Below(4) == 0;  // the first that has room
    int best = -1, best_value = 0;
    for (int i = 0; i < count; ++i) {
      const int n = first + i < count ? first + i : first + i - count;
      if (room_[U(n)] < replicas || (any && best >= 0)) continue;
      const int value = 2 * room_[U(n)] + (spanning_[U(n)] < 0);
      if (best < 0 || value < best_value) best = n, best_value = value;
    }
    if (best < 0) return false;
    row_[U(best)] = static_cast<std::uint8_t>(replicas);
  } else if (nodes > 1) {
    if (Open(job) < nodes) return false;
    if (stream_.Below(4) > 0 || !Scatter(nodes, replicas)) {
      if (!Fill(nodes, replicas)) return false;
    }
  }
  Put(job, row_);
  return true;
}

bool Packing::Fill(int nodes, int replicas) {
  int left = replicas;
  for (int k = 0; k < nodes - 1; ++k) {
    const int gpus = std::min(room_[U(open_[U(k)])], left - (nodes - 1 - k));
    row_[U(open_[U(k)])] = static_cast<std::uint8_t>(gpus);
    left -= gpus;
  }
  int last = -1;  // the one with least room that suffices
  for (std::size_t i = U(nodes - 1); i < open_.size() && room_[U(open_[i])] >= left; ++i) last = open_[i];
  if (last < 0) return false;
  row_[U(last)] = static_cast<std::uint8_t>(left);
  return true;
}

bool Packing::Scatter(int nodes, int replicas) {
  some_ = open_;
  int room = 0;
  for (int k = 0; k < nodes; ++k) {
    const auto other = stream_.Below(static_cast<std::uint32_t>(some_.size() - U(k)));
    std::swap(some_[U(k)], some_[U(k) + other]);
    room += room_[U(some_[U(k)])];
  }
  if (room < replicas) return false;
  for (int k = 0; k < nodes; ++k) row_[U(some_[U(k)])] = 1;
  for (int left = replicas - nodes; left > 0;) {
    const auto n = U(some_[stream_.Below(static_cast<std::uint32_t>(nodes))]);
    if (row_[n] >= room_[n]) continue;
    ++row_[n];
    --left;
  }
  return true;
}

int Packing::Cheapest(int job, int nodes, int most) const {
  const Job& j = objective_.problem().jobs[U(job)];
  const int row = std::min(nodes, j.node_rows) - 1;
  return cheapest_[begin_[U(job)] + U(row * (j.max_replicas + 1) + std::min(most, j.max_replicas))];
}

void Packing::PutBest(int job) {
  double best = objective_.Cost(job, rows_.row(job));
  int best_nodes = 0, best_replicas = 0;
  bool present = false;
  if (objective_.KeptCost(job) < best && Fits(job, objective_.problem().present.row(job))) {
    best = objective_.KeptCost(job);
    present = true;
  }
  const auto offer = [&](int nodes, int most) {
    const int r = Cheapest(job, nodes, most);
    if (r < nodes) return;
    const double cost = objective_.MovedCost(job, nodes, r);
    if (cost < best) best = cost, best_nodes = nodes, best_replicas = r, present = false;
  };
  offer(1, *std::max_element(room_.begin(), room_.end()));
  int most = 0;
  const int count = Open(job);
  for (int k = 1; k <= count; ++k) {
    most += room_[U(open_[U(k - 1)])];
    if (k > 1) offer(k, most);
  }
  if (present) {
    PutPresent(job);
  } else if (best_nodes > 0) {
    const bool put = PutShape(job, best_nodes, best_replicas);
    BERTH_CHECK(put, best_nodes, " ", best_replicas);
  }
}

Packing::Growth Packing::BestGrowth(int job) const {
  const Extent now = extent_[U(job)];
  const Job& j = objective_.problem().jobs[U(job)];
  Growth best;
  if (now.nodes == 0) return best;
  const double cost = cost_[U(job)];
  const auto offer = [&](int nodes, int from, int to) {
    for (int r = std::max(from, now.replicas + 1); r <= std::min(to, j.max_replicas); ++r) {
      const double rate = (cost - objective_.MovedCost(job, nodes, r)) / (r - now.replicas);
      if (rate > best.rate) best = {rate, r, nodes};
    }
  };
  int most = now.replicas;
  const std::span<const std::uint8_t> row = rows_.row(job);
  bool may_span = true;
  for (int n = 0; n < objective_.nodes(); ++n) {
    if (row[U(n)] == 0) continue;
    most += room_[U(n)];
    may_span &= !Spans(n, job);
  }
  offer(now.nodes, now.replicas + 1, most);
  if (!may_span || now.replicas >= j.max_replicas) return best;
  const int count = Open(job);
  for (int k = 1; k <= count && most < j.max_replicas; ++k) {
    const int before = most;
    most += room_[U(open_[U(k - 1)])];
    offer(now.nodes + k, std::max(before + 1, now.replicas + k), most);
  }
  return best;
}

void Packing::Grow(int job, const Growth& growth) {
  const Extent now = extent_[U(job)];
  const std::span<const std::uint8_t> old = rows_.row(job);
  std::copy(old.begin(), old.end(), row_.begin());
  int left = growth.replicas - now.replicas, more = growth.nodes - now.nodes;
  const int count = more > 0 ? Open(job) : 0;
  Leave(job);
  for (int n = 0; n < objective_.nodes(); ++n) {
    if (row_[U(n)] == 0) continue;
    const int gpus = std::min(left - more, room_[U(n)] - row_[U(n)]);
    row_[U(n)] = static_cast<std::uint8_t>(row_[U(n)] + gpus);
    left -= gpus;
  }
  for (int k = 0; k < count && more > 0; ++k) {
    const int n = open_[U(k)];
    const int gpus = std::min(left - --more, room_[U(n)]);
    row_[U(n)] = static_cast<std::uint8_t>(row_[U(n)] + gpus);
    left -= gpus;
  }
  BERTH_DCHECK(left == 0, left);
  Put(job, row_);
}

}  // namespace berth::pollux

#include "env/gym/action_mask.hpp"

#include <algorithm>

#include "env/base/index.hpp"

namespace berth {

void ActionMask::Open(const ClusterView& view, std::span<const int> visible, int q, const Plan* plan) {
  g_ = U(view.num_types());
  gang_.resize(U(q));
  bytes_.assign(U(q) * g_ + (plan != nullptr ? 1 : 0), 0);
  pairs_ = largest_ = 0;
  starts_ = -1;
  rows_ = static_cast<int>(visible.size());
  std::uint8_t* byte = bytes_.data();
  for (std::size_t row = 0; row < visible.size(); ++row) {
    const int gang = gang_[row] = view.Gang(visible[row]);
    largest_ = std::max(largest_, gang);
    const std::span<const double> rates = view.Rates(visible[row]);
    for (std::size_t type = 0; type < g_; ++type) {
      const bool fits = plan == nullptr || gang <= plan->room(static_cast<int>(type));
      const bool legal = rates[type] > 0.0 && fits;
      *byte++ = legal ? 1 : 0;
      pairs_ += legal ? 1 : 0;
    }
  }
}

void ActionMask::Look(const ClusterView& view, const CommandGrid& grid, const Plan& plan, int row, int column,
                      std::size_t cell) {
  pairs_ -= bytes_[cell];
  starts_ -= has_run_[cell];
  const bool legal = grid.Legal(view, plan, row, column) == Legality::kYes;
  bytes_[cell] = legal ? 1 : 0;
  has_run_[cell] = legal && grid.Runs(plan, row, column) ? 1 : 0;
  pairs_ += bytes_[cell];
  starts_ += has_run_[cell];
}

void ActionMask::Open(const ClusterView& view, const CommandGrid& grid, const Plan& plan) {
  const std::size_t cells = U(grid.rows()) * U(grid.columns());
  bytes_.assign(cells + 1, 0);
  has_run_.assign(cells, 0);
  pairs_ = starts_ = 0;
  std::size_t cell = 0;
  for (int row = 0; row < grid.rows(); ++row) {
    const bool present = grid.Present(row);
    for (int column = 0; column < grid.columns(); ++column, ++cell) {
      if (present) Look(view, grid, plan, row, column, cell);
    }
  }
  room_.clear();
  for (int type = 0; type < view.num_types(); ++type) room_.push_back(plan.room(type));
  total_room_ = plan.total_room();
}

// A command changes what its own row may do, and that of who shares its job's GPU now, and the room of types.
// What was illegal stays so elsewhere, but for kinds that wait for others (ActionKind::Awaits).
void ActionMask::Update(const ClusterView& view, const CommandGrid& grid, const Plan& plan, int row,
                        int put) {
  if (plan.total_room() > total_room_) return Open(view, grid, plan);  // a job stays that was to move
  const int beside = grid.RowBeside(view, row);
  for (int column = 0; column < grid.columns(); ++column) {
    const int type = grid.column(column).type;
    const bool all = grid.Awaits(column);
    const bool same =
        grid.OfJobs(column) && !grid.Awaits(put) && (type < 0 || room_[U(type)] == plan.room(type));
    std::size_t cell = U(column);
    for (int other = 0; other < grid.rows(); ++other, cell += U(grid.columns())) {
      if (other == row || other == beside || all || (bytes_[cell] != 0 && !same))
        Look(view, grid, plan, other, column, cell);
    }
  }
  for (int type = 0; type < view.num_types(); ++type) room_[U(type)] = plan.room(type);
  total_room_ = plan.total_room();
}

void ActionMask::Put(int row, int type, int room) {
  std::uint8_t* byte = bytes_.data() + U(row) * g_;
  for (std::size_t g = 0; g < g_; ++g) {
    pairs_ -= byte[g];
    byte[g] = 0;
  }
  if (room >= largest_) return;
  byte = bytes_.data() + type;
  for (int other = 0; other < rows_; ++other, byte += g_) {
    if (gang_[U(other)] <= room) continue;
    pairs_ -= *byte;
    *byte = 0;
  }
}

}  // namespace berth

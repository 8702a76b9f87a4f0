#include "env/gym/action_mask.hpp"

#include <algorithm>
#include <utility>

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
  needed_.assign(cells, -1);
  std::size_t cell = 0;
  for (int row = 0; row < grid.rows(); ++row) {
    const int job = grid.JobOf(row);
    const bool counted = job >= 0 && !plan.Placed(job) && view.Partner(job) < 0;
    if (!counted && !grid.Present(row)) {
      cell += U(grid.columns());
      continue;
    }
    for (int column = 0; column < grid.columns(); ++column, ++cell) {
      const int needed = counted ? grid.RoomNeeded(view, plan, job, column) : -1;
      if (needed < 0) {
        Look(view, grid, plan, row, column, cell);
        continue;
      }
      needed_[cell] = needed;
      bytes_[cell] = needed <= plan.room(grid.column(column).type) ? 1 : 0;
      has_run_[cell] = bytes_[cell] != 0 && grid.MakesRun(column) ? 1 : 0;
      pairs_ += bytes_[cell];
      starts_ += has_run_[cell];
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
  const std::size_t columns = U(grid.columns());
  for (const int changed : {row, grid.RowBeside(view, row)}) {
    for (std::size_t column = 0; changed >= 0 && column < columns; ++column) {
      const std::size_t cell = U(changed) * columns + column;
      needed_[cell] = -1;
      Look(view, grid, plan, changed, static_cast<int>(column), cell);
    }
  }
  for (std::size_t column = 0; column < columns; ++column) {
    const int type = grid.column(static_cast<int>(column)).type, room = type < 0 ? 0 : plan.room(type);
    const bool all = grid.Awaits(static_cast<int>(column)), less = type >= 0 && room_[U(type)] != room;
    const bool same = grid.OfJobs(static_cast<int>(column)) && !grid.Awaits(put) && (type < 0 || !less);
    if (same && !all) continue;
    std::size_t cell = column;
    for (int other = 0; other < grid.rows(); ++other, cell += columns) {
      if (needed_[cell] >= 0) {
        if (needed_[cell] <= room) continue;
        pairs_ -= std::exchange(bytes_[cell], 0);
        starts_ -= std::exchange(has_run_[cell], 0);
      } else if (all || bytes_[cell] != 0) {
        Look(view, grid, plan, other, static_cast<int>(column), cell);
      }
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

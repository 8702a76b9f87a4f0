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
  const std::size_t rows = U(grid.rows()), columns = U(grid.columns());
  bytes_.assign(rows * columns + 1, 0);
  has_run_.assign(rows * columns, 0);
  needed_.assign(rows * columns, kSettled);
  most_needed_.assign(columns, 0);
  for (std::size_t column = 0; column < columns; ++column) {
    const int at = static_cast<int>(column);
    if (!grid.OfJobs(at) || grid.column(at).type < 0) most_needed_[column] = kAsk;
  }
  asked_.clear();
  pairs_ = starts_ = 0;
  room_.clear();
  for (int type = 0; type < view.num_types(); ++type) room_.push_back(plan.room(type));
  total_room_ = plan.total_room();
  std::size_t cell = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    const int job = grid.JobOf(static_cast<int>(row));
    const bool counted = job >= 0 && !plan.Placed(job) && view.Partner(job) < 0;
    if (!counted && !grid.Present(static_cast<int>(row))) {
      cell += columns;
      continue;
    }
    if (!counted) asked_.push_back(static_cast<int>(row));
    for (std::size_t column = 0; column < columns; ++column, ++cell) {
      const int at = static_cast<int>(column);
      const int needed = counted ? grid.RoomNeeded(view, plan, job, at) : kAsk;
      if (needed < 0) {
        if (counted) most_needed_[column] = kAsk;  // of the whole column, by whoever is not asked by row
        Look(view, grid, plan, static_cast<int>(row), at, cell);
      } else if (needed <= room_[U(grid.column(at).type)]) {
        needed_[column * rows + row] = needed;
        if (most_needed_[column] >= 0) most_needed_[column] = std::max(most_needed_[column], needed);
        bytes_[cell] = 1;
        has_run_[cell] = grid.MakesRun(at) ? 1 : 0;
        ++pairs_;
        starts_ += has_run_[cell];
      }
    }
  }
}

// A command changes what its own row may do, and that of who shares its job's GPU now, and the room of types.
// What was illegal stays so elsewhere, but for kinds that wait for others (ActionKind::Awaits).
void ActionMask::Update(const ClusterView& view, const CommandGrid& grid, const Plan& plan, int row,
                        int put) {
  if (plan.total_room() > total_room_) return Open(view, grid, plan);  // a job stays that was to move
  const std::size_t rows = U(grid.rows()), columns = U(grid.columns());
  for (const int changed : {row, grid.RowBeside(view, row)}) {
    if (changed < 0) continue;
    if (std::find(asked_.begin(), asked_.end(), changed) == asked_.end()) asked_.push_back(changed);
    for (std::size_t column = 0; column < columns; ++column) {
      needed_[column * rows + U(changed)] = kSettled;
      Look(view, grid, plan, changed, static_cast<int>(column), U(changed) * columns + column);
    }
  }
  for (std::size_t column = 0; column < columns; ++column) {
    const int at = static_cast<int>(column), type = grid.column(at).type;
    const int room = type < 0 ? 0 : plan.room(type);
    const bool all = grid.Awaits(at), same = type < 0 || room_[U(type)] == room;
    if (all || most_needed_[column] < 0) {
      if (same && !all && grid.OfJobs(at) && !grid.Awaits(put)) continue;
      for (std::size_t other = 0; other < rows; ++other) {
        const std::size_t cell = other * columns + column;
        if (all || bytes_[cell] != 0) Look(view, grid, plan, static_cast<int>(other), at, cell);
      }
      continue;
    }
    if (same && !grid.Awaits(put)) continue;
    for (const int other : asked_) {
      const std::size_t cell = U(other) * columns + column;
      if (bytes_[cell] != 0) Look(view, grid, plan, other, at, cell);
    }
    if (room >= most_needed_[column]) continue;
    most_needed_[column] = room;
    int* needed = needed_.data() + column * rows;
    for (std::size_t other = 0; other < rows; ++other) {
      if (needed[other] <= room) continue;
      needed[other] = kSettled;
      const std::size_t cell = other * columns + column;
      pairs_ -= std::exchange(bytes_[cell], std::uint8_t{0});
      starts_ -= std::exchange(has_run_[cell], std::uint8_t{0});
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

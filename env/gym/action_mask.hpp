// The legal (job, type) actions of a decision point, kept true while the plan fills: a placed job's row is
// cleared, and of a type that lost room only the gangs that no longer fit are looked for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "env/gym/actions/command_grid.hpp"
#include "env/sim/cluster_view.hpp"
#include "env/sim/plan.hpp"

namespace berth {

// Actions are row * G + type, then `done` if there is one. Thread rule: one thread at a time. Allocates where
// a point has more actions than any before it.
class ActionMask {
 public:
  // The point begins: nobody visible, of `q` rows, is placed. Without `plan` a job may be put wherever it can
  // run, and there is no `done`.
  void Open(const ClusterView& view, std::span<const int> visible, int q, const Plan* plan);
  // The same of all commands of a grid; and after one of them: what it may have changed.
  void Open(const ClusterView& view, const CommandGrid& grid, const Plan& plan);
  void Update(const ClusterView& view, const CommandGrid& grid, const Plan& plan, int row, int column);
  // The visible job of `row` was put on `type`, which left `room`.
  void Put(int row, int type, int room);
  void SetDone(bool legal) { bytes_.back() = legal ? 1 : 0; }  // only where there is one

  int pairs() const { return pairs_; }                            // legal pairs, or commands of a grid
  int starts() const { return starts_ < 0 ? pairs_ : starts_; }   // of those, what has a job run
  std::span<const std::uint8_t> bytes() const { return bytes_; }  // [Q G (+ 1)] 1 = legal

 private:
  void Look(const ClusterView& view, const CommandGrid& grid, const Plan& plan, int row, int column,
            std::size_t cell);
  std::size_t g_ = 0;
  int rows_ = 0;                 // with a job
  int pairs_ = 0, starts_ = -1;  // starts_ -1: all of them
  int largest_ = 0;              // gang
  std::vector<int> gang_;        // [Q] of those rows
  std::vector<std::uint8_t> bytes_;
  // Of a grid: which of the legal have a job run; the plan's room when it was last looked at.
  std::vector<std::uint8_t> has_run_;
  // CommandGrid::RoomNeeded of what is legal by that number; the rows, and the columns, of which CommandGrid
  // alone can tell what is.
  static constexpr int kAsk = -1, kSettled = -2;
  std::vector<int> needed_;       // [columns, rows] kSettled: illegal, or to be asked
  std::vector<int> most_needed_;  // [columns] kAsk, or none needs more
  std::vector<int> asked_;        // rows
  std::vector<int> room_;         // [G]
  int total_room_ = 0;
};

}  // namespace berth

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

void ActionMask::Open(const ClusterView& view, const CommandGrid& grid, const Plan& plan) {
  bytes_.assign(U(grid.rows()) * U(grid.columns()) + 1, 0);
  pairs_ = starts_ = 0;
  std::uint8_t* byte = bytes_.data();
  for (int row = 0; row < grid.rows(); ++row) {
    for (int column = 0; column < grid.columns(); ++column, ++byte) {
      if (grid.Legal(view, plan, row, column) != Legality::kYes) continue;
      *byte = 1;
      ++pairs_;
      starts_ += grid.Runs(plan, row, column) ? 1 : 0;
    }
  }
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

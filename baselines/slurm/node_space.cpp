#include "baselines/slurm/node_space.hpp"

#include <algorithm>

#include "env/base/index.hpp"

namespace berth {

void SlurmNodeSpace::Reset(double begin, double end, int nodes) {
  windows_.clear();
  windows_.push_back({begin, end, std::vector<char>(U(nodes), 1)});
}

std::size_t SlurmNodeSpace::Cut(double time) {
  for (std::size_t w = 0; w < windows_.size(); ++w) {
    if (time <= windows_[w].begin) return w;
    if (time >= windows_[w].end) continue;
    Window second = windows_[w];
    second.begin = windows_[w].end = time;
    windows_.insert(windows_.begin() + static_cast<std::ptrdiff_t>(w) + 1, std::move(second));
    return w + 1;
  }
  return windows_.size();
}

void SlurmNodeSpace::Promise(double start, double end, std::span<const int> nodes) {
  const std::size_t first = Cut(start), last = Cut(end);
  for (std::size_t w = first; w < last; ++w) {
    for (int node : nodes) windows_[w].free[U(node)] = 0;
  }
}

double SlurmNodeSpace::Narrow(double start, double end, std::span<char> may) const {
  double later = -1.0;
  const std::vector<char> all(may.begin(), may.end());
  for (std::size_t w = 0; w < windows_.size(); ++w) {
    const Window& window = windows_[w];
    if (window.end <= start) continue;
    if (later < 0.0 && w + 1 < windows_.size()) {
      // Worth trying unless the next window's nodes are some of these.
      bool more = false;
      for (std::size_t n = 0; n < may.size() && !more; ++n)
        more = all[n] != 0 && windows_[w + 1].free[n] != 0 && (may[n] == 0 || window.free[n] == 0);
      if (more) later = window.end;
    }
    if (window.begin > end) break;
    for (std::size_t n = 0; n < may.size(); ++n) may[n] = may[n] != 0 && window.free[n] != 0 ? 1 : 0;
  }
  return later;
}

bool SlurmNodeSpace::Promised(double start, double end, std::span<const int> nodes) const {
  return std::any_of(windows_.begin(), windows_.end(), [&](const Window& window) {
    return window.end > start && window.begin < end &&
           std::any_of(nodes.begin(), nodes.end(), [&](int node) { return window.free[U(node)] == 0; });
  });
}

}  // namespace berth

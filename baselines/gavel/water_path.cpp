#include "baselines/gavel/water_path.hpp"

#include <algorithm>

#include "env/base/index.hpp"

namespace berth::gavel {

WaterPath::WaterPath(const Problem& problem, const std::vector<double>& members, bool by_tenant)
    : problem_(problem), members_(members), streams_(by_tenant ? problem.tenants.size() : 1) {
  for (std::size_t k = 0; k < streams_.size(); ++k) {
    streams_[k].weight = by_tenant ? problem.tenants[k].weight : 0.0;
    streams_[k].in_order = by_tenant && problem.tenants[k].fifo;
  }
}

void WaterPath::Start(double begin, std::span<const double> level, std::span<const char> saturated,
                      std::span<const double> most) {
  begin_ = end_ = begin;
  level_.assign(level.begin(), level.end());
  most_.assign(most.begin(), most.end());
  stop_.assign(level.size(), begin);
  for (Stream& stream : streams_) stream.jobs.clear();
  for (int i = 0; i < problem_.jobs(); ++i) {
    if (saturated[U(i)] != 0) continue;
    streams_[streams_.size() == 1 ? 0 : U(problem_.tenant[U(i)])].jobs.push_back(i);
  }
  for (Stream& stream : streams_) {
    if (stream.in_order) {
      InOrder(stream);
    } else {
      Share(stream);
    }
    if (!stream.time.empty()) end_ = std::max(end_, stream.time.back());
  }
}

void WaterPath::Share(Stream& stream) {
  std::vector<double> height(level_.size(), 0.0);
  for (int i : stream.jobs) {
    height[U(i)] = (most_[U(i)] - level_[U(i)]) * problem_.gang[U(i)] / problem_.weight[U(i)];
  }
  std::sort(stream.jobs.begin(), stream.jobs.end(),
            [&](int a, int b) { return height[U(a)] != height[U(b)] ? height[U(a)] < height[U(b)] : a < b; });
  const std::size_t n = stream.jobs.size();
  stream.height.resize(n), stream.time.resize(n), stream.pace.assign(n, 1.0);
  double sum = 0.0;
  for (std::size_t k = n; stream.weight > 0.0 && k-- > 0;) {
    const std::size_t i = U(stream.jobs[k]);
    sum += members_[i] * problem_.weight[i];
    stream.pace[k] = sum / stream.weight;
  }
  double time = begin_, reached = 0.0;
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t i = U(stream.jobs[k]);
    time += (height[i] - reached) * stream.pace[k];
    stream.height[k] = reached = height[i];
    stream.time[k] = stop_[i] = time;
  }
}

void WaterPath::InOrder(Stream& stream) {
  stream.time.clear();
  double time = begin_;
  for (int i : stream.jobs) {
    time += (most_[U(i)] - level_[U(i)]) * problem_.gang[U(i)] / stream.weight;
    stop_[U(i)] = time;
    stream.time.push_back(time);
  }
}

void WaterPath::At(double s, std::vector<double>& level, std::vector<double>& rate) const {
  level = level_;
  rate.assign(level.size(), 0.0);
  for (const Stream& stream : streams_) {
    const auto next = static_cast<std::size_t>(std::upper_bound(stream.time.begin(), stream.time.end(), s) -
                                               stream.time.begin());
    for (std::size_t k = 0; k < next; ++k) level[U(stream.jobs[k])] = most_[U(stream.jobs[k])];
    if (next == stream.jobs.size()) continue;
    const double since = next == 0 ? begin_ : stream.time[next - 1];
    if (stream.in_order) {
      const std::size_t i = U(stream.jobs[next]);
      rate[i] = stream.weight / problem_.gang[i];
      level[i] = std::min(most_[i], level_[i] + (s - since) * rate[i]);
      continue;
    }
    const double pace = stream.pace[next];
    const double height = (next == 0 ? 0.0 : stream.height[next - 1]) + (s - since) / pace;
    for (std::size_t k = next; k < stream.jobs.size(); ++k) {
      const std::size_t i = U(stream.jobs[k]);
      const double each = problem_.weight[i] / problem_.gang[i];
      rate[i] = each / pace;
      level[i] = std::min(most_[i], level_[i] + height * each);
    }
  }
}

}  // namespace berth::gavel

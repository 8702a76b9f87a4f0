#include "agents/dqn/priorities.hpp"

#include <algorithm>
#include <cmath>

#include "env/base/check.hpp"

namespace berth {

Priorities::Priorities(std::size_t steps, double alpha) : alpha_(alpha), tree_(steps) {}

void Priorities::Set(std::size_t step, double value) {
  count_ += (value > 0.0) - (tree_[step] > 0.0);
  tree_.Set(step, value);
}

void Priorities::Add(std::size_t step) {
  Set(step, greatest_);
}

void Priorities::Remove(std::size_t step) {
  Set(step, 0.0);
}

void Priorities::Draw(Stream& stream, double beta, std::span<std::int64_t> step,
                      std::span<float> weight) const {
  BERTH_CHECK(count_ > 0 && step.size() == weight.size(), count_, " ", step.size(), " ", weight.size());
  const double part = tree_.total() / static_cast<double>(step.size());
  double most = 0.0;
  for (std::size_t b = 0; b < step.size(); ++b) {
    const std::size_t drawn = tree_.Find((static_cast<double>(b) + stream.Uniform()) * part);
    step[b] = static_cast<std::int64_t>(drawn);
    const double w = std::pow(static_cast<double>(count_) * Probability(drawn), -beta);
    weight[b] = static_cast<float>(w);
    most = std::max(most, w);
  }
  for (float& w : weight) w = static_cast<float>(w / most);
}

void Priorities::Update(std::span<const std::int64_t> step, std::span<const float> error) {
  for (std::size_t b = 0; b < step.size(); ++b) {
    double value = std::pow(std::abs(static_cast<double>(error[b])) + kEpsilon, alpha_);
    // Of a network that diverged: the tree must stay one, so that the trainer can say it.
    if (!std::isfinite(value)) value = greatest_;
    Set(static_cast<std::size_t>(step[b]), value);
    greatest_ = std::max(greatest_, value);
  }
}

void Priorities::Save(h5::Writer* out, const std::string& group, const Ranks& ranks) const {
  double greatest = greatest_;
  if (ranks.many()) {
    for (const auto& of_rank : ranks.JoinRows(std::span(&greatest_, 1)))
      greatest = std::max(greatest, of_rank[0]);
  }
  std::vector<double> own;
  for (std::size_t k = 0; k < tree_.size(); ++k) own.push_back(tree_[k]);
  std::vector<double> values = ranks.JoinColumns<double>(own);
  values.insert(values.begin(), greatest);
  if (out != nullptr) out->Array<double>(group + "/priority", values);
}

void Priorities::Load(const h5::Reader& in, const std::string& group, const Ranks& ranks) {
  const std::size_t steps = ranks.many() ? tree_.size() / static_cast<std::size_t>(ranks.envs()) *
                                               static_cast<std::size_t>(ranks.all_envs())
                                         : tree_.size();
  const auto values = in.Array<double>(group + "/priority", static_cast<std::int64_t>(steps) + 1);
  for (const double value : values) {
    if (!(value >= 0.0 && std::isfinite(value)))
      throw Error(
          Join(in.path(), ": ", group, "/priority: expected finite numbers from 0 on, found ", value));
  }
  greatest_ = values[0];
  const std::vector<double> own = ranks.OwnColumns(std::span(values).subspan(1));
  for (std::size_t k = 0; k < tree_.size(); ++k) Set(k, own[k]);
}

}  // namespace berth

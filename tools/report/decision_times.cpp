#include "tools/report/decision_times.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace berth {
namespace {

class TimedScheduler : public Scheduler {
 public:
  TimedScheduler(std::unique_ptr<Scheduler> inner, DecisionTimes& times)
      : inner_(std::move(inner)), times_(times) {}
  Knowledge knowledge() const override { return inner_->knowledge(); }
  void Reset(const ClusterView& view) override { inner_->Reset(view); }
  void Decide(const ClusterView& view, Decision& decision) override {
    const auto before = std::chrono::steady_clock::now();
    inner_->Decide(view, decision);
    times_.Add(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - before).count());
  }

 private:
  std::unique_ptr<Scheduler> inner_;
  DecisionTimes& times_;
};

}  // namespace

void DecisionTimes::Add(double us) {
  const double at = us > kLowestUs ? std::log10(us / kLowestUs) * kBinsPerDecade : 0.0;
  ++counts_[std::min(static_cast<std::size_t>(at), counts_.size() - 1)];
}

void DecisionTimes::Add(const DecisionTimes& other) {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
}

std::vector<double> DecisionTimes::EdgesUs() {
  std::vector<double> edges;
  for (int i = 0; i <= kBinsPerDecade * kDecades; ++i) {
    edges.push_back(kLowestUs * std::pow(10.0, static_cast<double>(i) / kBinsPerDecade));
  }
  return edges;
}

std::unique_ptr<Scheduler> TimeDecisions(std::unique_ptr<Scheduler> inner, DecisionTimes& times) {
  return std::make_unique<TimedScheduler>(std::move(inner), times);
}

}  // namespace berth

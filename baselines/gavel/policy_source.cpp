#include "baselines/gavel/policy_source.hpp"

#include <algorithm>

#include "env/base/check.hpp"

namespace berth::gavel {
namespace {

class InRounds final : public Scheduler {
 public:
  InRounds(std::unique_ptr<PolicySource> source, const MechanismOptions& options)
      : source_(std::move(source)), options_(options) {}
  // Without rounds the mechanism itself reads attained service.
  Knowledge knowledge() const override {
    return source_->reads_future() ? Knowledge::kEstimate : Knowledge::kBlind;
  }
  void Reset(const ClusterView& view) override {
    mechanism_.Reset(view, options_);
    source_->Reset(view);
  }
  void Decide(const ClusterView& view, Decision& decision) override {
    mechanism_.Decide(view, *source_, decision);
  }

 private:
  std::unique_ptr<PolicySource> source_;
  MechanismOptions options_;
  RoundMechanism mechanism_;
};

}  // namespace

void DescribeProblem(const ClusterView& view, std::span<const int> jobs, bool reads_future,
                     Problem& problem) {
  problem.Clear();
  for (const GpuType& type : view.types()) {
    problem.workers.push_back(type.count);
    problem.type_names.push_back(type.name);
    problem.price.push_back(type.price_per_hour);
  }
  for (const Tenant& tenant : view.tenants()) {
    if (tenant.inner_policy != "fairness" && tenant.inner_policy != "fifo") {
      throw Error(Join("tenant '", tenant.name, "': inner_policy: expected fairness or fifo, found '",
                       tenant.inner_policy, "'"));
    }
    problem.tenants.push_back({tenant.weight, tenant.inner_policy == "fifo"});
  }
  if (problem.tenants.empty()) problem.tenants.push_back({});
  for (int job : jobs) {
    problem.key.push_back(job);
    problem.gang.push_back(view.Gang(job));
    problem.weight.push_back(view.Weight(job));
    problem.tenant.push_back(view.TenantOf(job));
    problem.left.push_back(view.Deadline(job) - view.now());
    const auto rates = view.Rates(job);
    problem.throughput.insert(problem.throughput.end(), rates.begin(), rates.end());
    if (!reads_future) continue;
    // Under clock event a job may stand one rounding error short of its end: leave it a billionth of its
    // work.
    problem.remaining.push_back(std::max(view.RemainingSteps(job), 1e-9 * view.TotalSteps(job)));
    problem.since.push_back(view.now() - view.Arrival(job));
  }
}

std::unique_ptr<Scheduler> RunInRounds(std::unique_ptr<PolicySource> source,
                                       const MechanismOptions& options) {
  return std::make_unique<InRounds>(std::move(source), options);
}

}  // namespace berth::gavel

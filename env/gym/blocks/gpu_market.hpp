// The prices of GPUs among the candidates of a point, and the assignment behind them, by both weights: what
// the blocks prices and assignment share.
#pragma once

#include "env/gym/blocks/candidate_sizes.hpp"
#include "env/gym/blocks/gpu_prices.hpp"

namespace berth {

class GpuMarket final : public SharedWork {
 public:
  explicit GpuMarket(const BlockSetup& setup) : sizes_(setup.shared.Get<CandidateSizes>(setup)) {}
  void Begin(const ClusterView& view) override {
    by_job_.Begin(view);
    by_gpu_.Begin(view);
  }
  void Update(const ObservationInput& input) override {
    by_job_.Update(input.view, input.candidates, sizes_.claims(), sizes_.room());
    if (sizes_.gangs()) by_gpu_.Update(input.view, input.candidates, sizes_.claims(), sizes_.room());
  }

  // Of the last Update, as its candidates are counted by sizes().
  const CandidateSizes& sizes() const { return sizes_; }
  const GpuPrices& by_job() const { return by_job_; }
  const GpuPrices& by_gpu() const { return sizes_.gangs() ? by_gpu_ : by_job_; }  // without gangs both are 1

 private:
  const CandidateSizes& sizes_;
  GpuPrices by_job_{PriceWeight::kJob}, by_gpu_{PriceWeight::kGpu};
};

}  // namespace berth

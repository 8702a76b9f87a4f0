// The weights of a frozen policy, for `berth tune --policy` to search.
#pragma once

#include <string>
#include <vector>

#include "tools/tune/tunable.hpp"

namespace berth {

class PolicyWeights final : public Tunable {
 public:
  // Only those of the `layers`, where there are any; weights that decide nothing are left as they are.
  // `reward` is what the answer says that it was searched for. Throws Error for an unknown layer.
  PolicyWeights(PolicyBundle bundle, const std::vector<std::string>& layers, const std::string& reward);

  search::Space Space() const override;
  std::unique_ptr<Scheduler> Make(std::span<const double> point) const override;
  std::string SpecOf(std::span<const double> /*point*/) const override { return ""; }
  void Save(std::span<const double> point, const Provenance& how, const std::string& path) const override;

  PolicyBundle At(std::span<const double> point) const;  // its examples are not answered anew

 private:
  PolicyBundle bundle_;
  std::vector<double> scales_;  // [arrays] 0 = not searched
};

// The scale of each of the bundle's arrays: the root mean square of its values, at least 1 / sqrt(inputs) of
// a matrix and 0.1 of a bias; 0 = not searched, because no score that decides depends on
// it or its layer is not named (no `layers`: all are). Error names the layers where one is unknown.
std::vector<double> WeightScales(const PolicyBundle& bundle, const std::vector<std::string>& layers = {});

// The bundle with its layer `skip` set to a rule to start from: channels of the encoder with their weights,
// such as "job.size=-1,pair.regret=-4"; the others' are 0. Error where the network has no such layer, or for
// names.
PolicyBundle WithLinearStart(const PolicyBundle& bundle, const std::string& weights);

}  // namespace berth

// What the tuned rule knows of putting a job on a GPU type: logarithms, so that a weighted sum of them is a
// product of powers, and ratios of the job's own speeds, so that they mean the same on any cluster.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "env/sim/cluster_view.hpp"

namespace berth::tuned {

// The order of weights and features.
enum Feature : std::size_t {
  kSize,        // ln of hours of work left on the fastest type; blind: of hours attained there, plus 1 min
  kGang,        // ln of the gang size
  kSlow,        // ln(fastest rate / rate here), 0 on the fastest type
  kContrast,    // ln(mean rate over types that can run it / rate here): below 0 where it is at home
  kSlowSingle,  // kSlow, jobs of one GPU only
  kContrastSingle,  // kContrast, jobs of one GPU only
  kSlowLoad,        // kSlow x load
  kContrastLoad,    // kContrast x load
  kAge,             // ln(1 + hours since arrival)
  kStay,            // 1 where it runs already
  kNumFeatures
};

using PairValues = std::array<double, kNumFeatures>;

// Reused between decisions; logarithms of rates are taken once a job, and again where rates were learned.
class PairFeatures {
 public:
  explicit PairFeatures(bool blind) : blind_(blind) {}
  // load = ln(GPUs asked for by all jobs present / GPUs there are).
  void Begin(const ClusterView& view);
  // Of the job, whatever the type. Then Pair for each type that can run it.
  void BeginJob(const ClusterView& view, int job);
  PairValues Pair(const ClusterView& view, int type) const;
  void Forget() { known_.clear(); }  // another scenario begins

 private:
  struct Speeds {
    double slow, contrast;
  };
  static std::size_t Index(int i) { return static_cast<std::size_t>(i); }
  void Learn(const ClusterView& view, int job);

  bool blind_;
  double load_ = 0.0;
  int job_ = -1;
  double size_ = 0.0, gang_ = 0.0, age_ = 0.0;
  std::uint64_t rates_version_ = 0;  // ClusterView's, of what is known
  std::vector<bool> known_;          // [J]
  std::vector<Speeds> speeds_;       // [J, G]
};

}  // namespace berth::tuned

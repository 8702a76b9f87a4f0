#include "agents/gpu/precision.hpp"

#include <ATen/autocast_mode.h>

namespace berth {
namespace {

// Without the cache of casted weights: it would keep those of a capture.
class Autocast {
 public:
  explicit Autocast(at::DeviceType type) : type_(type) {
    at::autocast::set_autocast_cache_enabled(false);
    at::autocast::set_autocast_dtype(type, torch::kBFloat16);
    at::autocast::set_autocast_enabled(type, true);
  }
  ~Autocast() {
    at::autocast::set_autocast_enabled(type_, false);
    at::autocast::set_autocast_cache_enabled(true);
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  at::DeviceType type_;
};

}  // namespace

NetworkOutput ForwardWith(Precision precision, Network& network, const torch::Tensor& observation) {
  if (precision != Precision::kBf16) return network.Forward(observation);
  const Autocast autocast(observation.device().type());
  const NetworkOutput out = network.Forward(observation);
  return {out.scores.to(torch::kFloat32), out.value.to(torch::kFloat32)};
}

}  // namespace berth

// What an encoder shows of a simulation, by the names of its channels.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "env/base/index.hpp"
#include "env/gym/encoder.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"

namespace berth::test {

// Of all candidates, by an encoder that has seen nothing before; rows are theirs in their order.
class Shown {
 public:
  Shown(const Simulator& sim, const MdpSpec& mdp)
      : info_(EncoderOf(mdp.encoder)), layout_(info_.Layout(mdp.visible, sim.scenario().num_types())) {
    out_.resize(U(layout_.size()));
    const auto encoder = MakeEncoder(mdp);
    const ClusterView view = sim.View(mdp.knowledge);
    const std::span<const int> candidates = mdp.preemptive ? view.active() : view.waiting();
    std::vector<int> visible;
    encoder->Begin(view);
    encoder->Select(view, candidates, mdp.visible, visible);
    encoder->Encode({view, view.free_gpus(), candidates, visible}, layout_, out_);
  }
  float Job(int row, const std::string& name) const {
    return out_[U(row * layout_.job_channels + At(info_.job, name))];
  }
  float Pair(int row, int type, const std::string& name) const {
    return out_[U(layout_.pairs_offset() + (row * layout_.g + type) * layout_.pair_channels +
                  At(info_.pair, name))];
  }
  float Type(int type, const std::string& name) const {
    return out_[U(layout_.types_offset() + type * layout_.type_channels + At(info_.type, name))];
  }
  float Global(const std::string& name) const {
    return out_[U(layout_.global_offset() + At(info_.global, name))];
  }

 private:
  static int At(std::span<const ChannelInfo> channels, const std::string& name) {
    for (std::size_t c = 0; c < channels.size(); ++c) {
      if (name == channels[c].name) return static_cast<int>(c);
    }
    FAIL("no channel " << name);
    return -1;
  }
  EncoderInfo info_;
  ObservationLayout layout_;
  std::vector<float> out_;
};

}  // namespace berth::test

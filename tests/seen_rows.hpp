// An observation by the names of its channels, for tests of what blocks say.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "env/base/index.hpp"
#include "env/gym/decision_point.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"

namespace berth::test {

inline MdpSpec WithEntities(const std::string& blocks, const std::string& actions = "start") {
  MdpSpec mdp;
  mdp.encoder = "observation(blocks=" + blocks + ")";
  mdp.actions = actions;
  mdp.on_change = false;
  return mdp;
}

// The observation at the present point, and its channels by name.
class SeenRows {
 public:
  SeenRows(Simulator& simulator, const MdpSpec& mdp, int q = 0) : point_(mdp) {
    const ClusterView view = simulator.View(mdp.knowledge);
    point_.Begin(view);
    point_.Start(view);
    point_.Gather(view);
    point_.Observe(view, q);
    point_.OpenMask(view);
  }
  const DecisionPoint& point() const { return point_; }
  int rows() const { return point_.layout().q; }
  float At(int row, const std::string& channel) const {
    const std::vector<ChannelInfo>& job = point_.encoder().job;
    for (std::size_t c = 0; c < job.size(); ++c) {
      if (job[c].name == channel)
        return point_.observation()[U(row) * U(point_.layout().job_channels) + c];
    }
    FAIL("no channel " << channel);
    return 0.0F;
  }
  float Global(const std::string& channel) const {
    const std::vector<ChannelInfo>& global = point_.encoder().global;
    for (std::size_t c = 0; c < global.size(); ++c) {
      if (global[c].name == channel) return point_.observation()[U(point_.layout().global_offset()) + c];
    }
    FAIL("no channel " << channel);
    return 0.0F;
  }
  // 0 in all channels.
  bool Absent(int row) const {
    const auto first = point_.observation().begin() + row * point_.layout().job_channels;
    return std::all_of(first, first + point_.layout().job_channels, [](float x) { return x == 0.0F; });
  }

 private:
  DecisionPoint point_;
};

}  // namespace berth::test

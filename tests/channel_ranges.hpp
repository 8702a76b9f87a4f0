// Is what a policy is shown within what its channels say?
#pragma once

#include <span>
#include <vector>

#include "env/gym/encoder.hpp"
#include "tests/catch.hpp"

namespace berth::test {

// Of an observation of this layout, whose channels `info` names.
inline void RequireRanges(const EncoderInfo& info, const ObservationLayout& layout, std::span<const float> observation) {
  const struct {
    const std::vector<ChannelInfo>& channels;
    int rows;
  } parts[] = {
      {info.job, layout.q}, {info.pair, layout.q * layout.g}, {info.type, layout.g}, {info.global, 1}};
  std::size_t at = 0;
  for (const auto& [channels, rows] : parts) {
    for (int row = 0; row < rows; ++row) {
      for (const ChannelInfo& channel : channels) {
        if (at == observation.size()) FAIL("more channels than " << at << " numbers");
        const float x = observation[at++];
        if (x >= channel.low && x <= channel.high) continue;
        INFO(channel.name << " is " << x << " in row " << row << ", beyond " << channel.low << " to " << channel.high);
        FAIL();
      }
    }
  }
  REQUIRE(at == observation.size());
}

}  // namespace berth::test

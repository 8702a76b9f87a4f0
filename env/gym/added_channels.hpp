// Channels of an encoder that goes on from ObservationV1: V1's, then its own, block by block.
#pragma once

#include <iterator>
#include <span>
#include <vector>

#include "env/gym/observation.hpp"

namespace berth {

struct AddedChannels {
  std::vector<ChannelInfo> job, pair, type, global;

  AddedChannels(std::span<const ChannelInfo> more_job, std::span<const ChannelInfo> more_pair,
                std::span<const ChannelInfo> more_type, std::span<const ChannelInfo> more_global)
      : job(After(ObservationV1::JobChannels(), more_job)),
        pair(After(ObservationV1::PairChannels(), more_pair)),
        type(After(ObservationV1::TypeChannels(), more_type)),
        global(After(ObservationV1::GlobalChannels(), more_global)) {}

 private:
  static std::vector<ChannelInfo> After(std::span<const ChannelInfo> first,
                                        std::span<const ChannelInfo> more) {
    std::vector<ChannelInfo> all(first.begin(), first.end());
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

}  // namespace berth

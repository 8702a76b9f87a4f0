// `berth train --from policy.h5`: a run that begins with the weights of a frozen policy, its critic included.
#pragma once

#include <string>

#include "agents/train/checkpoint.hpp"
#include "policies/bundle.hpp"

namespace berth {

// The policy in `path`, where its weights are those of a network for `run`: the same architecture, encoder
// and semantics. Another queue and other GPU types are fine where the architecture takes any. Throws Error
// naming the file and both sides.
PolicyBundle ReadBeginning(const std::string& path, const RunIdentity& run);

}  // namespace berth

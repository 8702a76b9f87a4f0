// What `berth train --from policy.h5` takes from the file beside its weights.
#pragma once

#include "tools/options.hpp"

namespace berth {

// Of the options that say what a policy sees and does (--network, --encoder, --visible, ...) those that
// nobody gave become the policy's of --from; --reward, --tau and the workload do not, being of the training.
// Throws Error: a file that is no policy, or one given by hand that its weights do not fit (--network,
// --encoder, --semantics).
void TakeOptionsOfPolicy(Options& options);

}  // namespace berth

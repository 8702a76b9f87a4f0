// libberth_learn.so, opened when a verb needs the learners: no other verb loads LibTorch.
#pragma once

#include "agents/train/learn_api.hpp"

namespace berth {

// Opens the library of the environment variable BERTH_LEARN_LIBRARY, else the one beside the binary; stays
// open. Throws Error when it is missing, cannot load or is of another version.
const LearnApi& OpenLearnLibrary();

}  // namespace berth

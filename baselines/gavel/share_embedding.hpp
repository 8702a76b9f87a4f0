// The interior point of baselines/embedding.hpp for programs of shares: the same start, steps and end, so the
// same point of the optimal face, at a cost of O(classes G^2) an iteration. Beside its own shares every class
// touches only the G rows of the types and the level, so a step eliminates each class by itself and leaves
// G + 1 equations (Schur complement of a bordered block-diagonal system).
#pragma once

#include "baselines/gavel/share_program.hpp"
#include "baselines/lp.hpp"

namespace berth::gavel {

// As SolveEmbedding; kError beyond ShareSystem::kMostTypes. An answer is not checked here. Pure function of
// the program but for the clock.
[[nodiscard]] LpStatus SolveShareEmbedding(const ShareProgram& program, ShareAnswer& answer,
                                           double time_limit_s = kLpInfinity);

}  // namespace berth::gavel

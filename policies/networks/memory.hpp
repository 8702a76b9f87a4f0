// A memory for a network of any kind: a gated recurrent unit (Cho et al., EMNLP 2014, eq. 5 to 8) over
// decision points. With x what the network has gathered of the present point and h the state that the episode
// carries:
//
//   r  = s(W_r x + U_r h + b_r)                       layer "memory_reset", s the logistic function
//   z  = s(W_z x + U_z h + b_z)                       layer "memory_update"
//   n  = tanh(W x + U (r . h) + b)                    layer "memory_new"
//   h' = z . h + (1 - z) . n
//
// h' is what the point's scores and value read, beside x, and the h of the next point. An episode begins with
// h = 0. Several commands of one point share its h and h': time has to pass until there is a next point.
#pragma once

#include "env/base/spec.hpp"
#include "policies/networks/description.hpp"

namespace berth {

inline constexpr ParamInfo kMemoryParam = {
    "memory", "0", "numbers that an episode carries from one decision point to the next (GRU), 0 to 1024"};

// The parameter's value.
int ReadMemory(Params& params);
// What is known of the state: `x`, and where `units` are above 0 the memory h' behind it.
std::vector<ValueId> WithMemory(NetworkDescription& net, ValueId x, int units);

}  // namespace berth

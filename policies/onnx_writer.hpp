// PolicyBundle to an ONNX model (operator set 17) for Python, ONNX Runtime and other simulators. Its inputs
// are what the network reads: blocks of the observation, or all of it as one row.
//
//   pair_scorer: jobs [B, Q, Fj], pairs [B, Q, G, Fp], types [B, G, Ft], global [B, Fg], action_mask [B, A]
//   bool mlp:         observation [B, D], action_mask [B, A] bool outputs:     scores [B, A] (-1e8 where the
//   mask is false), value [B]
//
// A network with a memory has as input too state [B, M], zeros as an episode begins, and as output
// next_state [B, M], which is the state of the next decision point.
//
// B, Q, G are free (mlp: B). The model's metadata_props say encoder, decision process, channels and
// provenance.
#pragma once

#include <string>

#include "policies/bundle.hpp"

namespace berth {

std::string SerializeOnnx(const PolicyBundle& bundle);  // the bytes of the model
// Under a temporary name, flushed and renamed. Throws Error: unwritable.
void WriteOnnx(const PolicyBundle& bundle, const std::string& path);

}  // namespace berth

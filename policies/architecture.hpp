// The architectures that a bundle may name, by spec: `pair_scorer(width=32,layers=2)`, `mlp(hidden=64x64)`.
// Each is one file here (options, layers, torch-free forward, ONNX graph) and one in policies/learn/ (the
// LibTorch module).
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "env/base/spec.hpp"
#include "env/gym/observation.hpp"
#include "policies/bundle.hpp"
#include "policies/dense.hpp"
#include "policies/inference.hpp"
#include "policies/onnx_graph.hpp"

namespace berth {

struct ArchitectureInfo {
  const char* name;
  const char* summary;
  const char* source;
  bool any_size;  // accepts other Q and G than it was trained on
  std::span<const ParamInfo> params;
  // Throws Error where the architecture does not suit the layout.
  std::vector<LayerSpec> (*layers)(Params& params, const ObservationLayout& layout, int num_actions);
  std::unique_ptr<FrozenNetwork> (*freeze)(Params& params, const PolicyBundle& bundle);
  void (*onnx)(Params& params, const PolicyBundle& bundle, OnnxGraph& graph);
};

// The one list: X(function that gives the ArchitectureInfo, defined in the architecture's own file).
#define BERTH_ARCHITECTURES(X) \
  X(PairScorerArchitecture)    \
  X(MlpArchitecture)

#define BERTH_DECLARE(function) ArchitectureInfo function();
BERTH_ARCHITECTURES(BERTH_DECLARE)
#undef BERTH_DECLARE

std::span<const ArchitectureInfo> Architectures();
const ArchitectureInfo& FindArchitecture(const std::string& name);  // Error with the nearest name
// The spec with every parameter, defaults included. Throws Error for unknown names and parameters.
std::string ResolveArchitecture(const std::string& spec);
std::vector<LayerSpec> LayersOf(const std::string& spec, const ObservationLayout& layout, int num_actions);

// The layers of a bundle by name, ready to run. BERTH_CHECK: they are there.
Dense LoadDense(const PolicyBundle& bundle, const std::string& name);

}  // namespace berth

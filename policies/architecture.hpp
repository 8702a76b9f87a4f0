// The architectures that a policy may name, by spec: `pair_scorer(width=32,layers=2)`, `mlp(hidden=64x64)`.
// Each is one file in policies/networks/: its options, and the function that describes the network.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "env/base/spec.hpp"
#include "env/gym/observation.hpp"
#include "policies/networks/description.hpp"

namespace berth {

struct ArchitectureInfo {
  const char* name;
  const char* summary;
  const char* source;
  bool any_size;  // accepts other Q and G than it was made for (permutation-equivariant)
  std::span<const ParamInfo> params;
  // The parameter with the units of every hidden layer, "8" or "64x32"; after a comma others that grow with
  // it where networks stand side by side (WidenArchitecture).
  const char* units;
  // Throws Error where the architecture does not suit the layout.
  void (*describe)(Params& params, NetworkDescription& net);
};

// The one list: X(function that gives the ArchitectureInfo, defined in the architecture's own file).
#define BERTH_ARCHITECTURES(X) \
  X(PairScorerArchitecture)    \
  X(SetAttentionArchitecture)  \
  X(MessagesArchitecture)      \
  X(MlpArchitecture)

#define BERTH_DECLARE(function) ArchitectureInfo function();
BERTH_ARCHITECTURES(BERTH_DECLARE)
#undef BERTH_DECLARE

std::span<const ArchitectureInfo> Architectures();
const ArchitectureInfo& FindArchitecture(const std::string& name);  // Error with the nearest name
// The spec with every parameter, defaults included. Throws Error for unknown names and parameters.
std::string ResolveArchitecture(const std::string& spec);
// The same with so many times the units in every hidden layer. Throws Error where that is more than it takes.
std::string WidenArchitecture(const std::string& spec, int times);
// The network that the spec names. Throws Error for unknown names and parameters, and for layouts that do not
// suit.
NetworkDescription Describe(const std::string& spec, const ObservationLayout& layout, int num_actions,
                            int outputs = 1);
std::vector<LayerSpec> LayersOf(const std::string& spec, const ObservationLayout& layout, int num_actions);
// NetworkDescription::memory() of it.
int MemoryOf(const std::string& spec, const ObservationLayout& layout, int num_actions);

// An architecture beside the table's while this lives: of a test, or of a program that links this library.
// Thread rule: made and destroyed while nobody else asks for architectures.
class AlsoKnown {
 public:
  explicit AlsoKnown(const ArchitectureInfo& info);
  ~AlsoKnown();
  AlsoKnown(const AlsoKnown&) = delete;
  AlsoKnown& operator=(const AlsoKnown&) = delete;
};

}  // namespace berth

// A frozen policy: plain arrays, what it was trained to see and do, where it came from, and examples that
// prove it. Needs no LibTorch. The file format is in policies/README.md.
//
//   PolicyBundle bundle = LoadBundle("policy.h5");          // replays the examples, refuses on mismatch
//   std::unique_ptr<FrozenNetwork> network = Freeze(bundle);  // policies/inference.hpp
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "env/gym/mdp.hpp"
#include "env/gym/observation.hpp"

namespace berth {

struct NamedArray {
  std::string name;                 // "score.weight"
  std::vector<std::int64_t> shape;  // [outputs, inputs] or [outputs]
  std::vector<float> values;        // row-major
};

struct Provenance {
  std::string agent;     // spec with every parameter
  std::string config;    // resolved configuration of the training run
  std::string workload;  // ScenarioSource::Describe()
  std::string commit;    // source commit of the training run
  std::int64_t steps = 0;
  std::uint64_t seed = 0;
};

// What the network answered when it was exported. n rows.
struct BundleExamples {
  int count = 0;
  std::vector<float> observation;  // [n, D], of a network with a memory [n, D + M]: its state behind each row
  std::vector<std::uint8_t> mask;  // [n, A]
  std::vector<float> scores;       // [n, A] unmasked
  std::vector<float> value;        // [n]
};

struct PolicyBundle {
  std::string network;       // spec with every parameter
  ObservationLayout layout;  // as in training; a flat environment has q = g = 0
  int num_actions = 0;       // as in training
  MdpSpec mdp;
  Reserve reserve = Reserve::kNone;
  std::vector<std::string> gpu_types;  // names of the G columns in training; empty for flat environments
  std::vector<NamedArray> arrays;      // in the order of the architecture's layers: weight, bias, weight, ...
  Provenance provenance;
  BundleExamples examples;

  // True where `done` is the last action (semantics redecide).
  bool has_done() const { return layout.q > 0 && num_actions == layout.q * layout.g + 1; }
  std::int64_t parameters() const;                         // number of floats in `arrays`
  const NamedArray& Array(const std::string& name) const;  // BERTH_CHECK: it is there
};

// |found - expected| <= this * max(1, largest |score| of the example) is agreement between two
// implementations of one network: a score near 0 is a difference of terms as large as the others, with their
// rounding.
inline constexpr double kBundleTolerance = 1e-5;

// The greatest difference between the examples' scores and values and those of the torch-free network,
// relative as above (values: to max(1, |value|)); NaN where a score is not finite.
double ReplayExamples(const PolicyBundle& bundle);

// Throws Error: unwritable, or an encoder that there is none of.
void SaveBundle(const PolicyBundle& bundle, const std::string& path);
// Throws Error: not a bundle, truncated, another encoder or architecture, wrong sizes, or examples that do
// not replay. Files are treated as hostile.
PolicyBundle LoadBundle(const std::string& path);

// Throws Error naming the file where an observation of this layout has more than 2^26 numbers.
void CheckObservationSize(const std::string& path, const ObservationLayout& layout);

}  // namespace berth

#include "policies/bundle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/hdf5_file.hpp"
#include "env/base/check.hpp"
#include "env/base/shortest.hpp"
#include "env/base/spec.hpp"
#include "env/gym/encoder.hpp"
#include "policies/architecture.hpp"
#include "policies/attributes.hpp"
#include "policies/inference.hpp"
#include "policies/mdp_io.hpp"

namespace berth {
namespace {

constexpr int kVersion = 1;
constexpr std::int64_t kMostExamples = 4096;

// '.' separates modules in LibTorch's names, '/' groups in HDF5's.
std::string DatasetOf(const std::string& array) {
  std::string name = "weights/" + array;
  std::replace(name.begin(), name.end(), '.', '/');
  return name;
}

int Small(const h5::Reader& in, const std::string& name, int high) {
  return static_cast<int>(BoundedAttribute(in, name, 0, high));
}

void WriteLayout(h5::Writer& out, const ObservationLayout& layout) {
  out.Integer("queue", layout.q);
  out.Integer("types", layout.g);
  out.Integer("job_channels", layout.job_channels);
  out.Integer("pair_channels", layout.pair_channels);
  out.Integer("type_channels", layout.type_channels);
  out.Integer("global_channels", layout.global_channels);
}

ObservationLayout ReadLayout(const h5::Reader& in, const MdpSpec& mdp) {
  ObservationLayout layout;
  layout.q = Small(in, "queue", 1 << 16);
  layout.g = Small(in, "types", 1 << 12);
  layout.job_channels = Small(in, "job_channels", 1024);
  layout.pair_channels = Small(in, "pair_channels", 1024);
  layout.type_channels = Small(in, "type_channels", 1024);
  layout.global_channels = Small(in, "global_channels", 1 << 20);
  if ((layout.q == 0) != (layout.g == 0)) {
    throw Error(
        Join(in.path(), ": expected a queue and GPU types, or neither, found ", layout.q, " and ", layout.g));
  }
  CheckObservationSize(in.path(), layout);
  const ObservationLayout ours = ObservationOf(mdp).Layout(layout.q, layout.g);
  if (layout.q > 0) layout.edge = ours.edge, layout.edges = ours.edges;
  if (layout.q > 0 && layout != ours) {
    throw Error(Join(in.path(), ": the policy reads ", layout.job_channels, "+", layout.pair_channels, "+",
                     layout.type_channels, "+", layout.global_channels, " channels, ", mdp.encoder, " has ",
                     ours.job_channels, "+", ours.pair_channels, "+", ours.type_channels, "+",
                     ours.global_channels));
  }
  return layout;
}

BundleExamples ReadExamples(const h5::Reader& in, int row, int num_actions) {
  BundleExamples examples;
  examples.count = static_cast<int>(BoundedAttribute(in, "examples", 1, kMostExamples));
  const std::int64_t n = examples.count;
  examples.observation = in.Array<float>("examples/observation", n * row);
  examples.mask = in.Array<std::uint8_t>("examples/action_mask", n * num_actions);
  examples.scores = in.Array<float>("examples/scores", n * num_actions);
  examples.value = in.Array<float>("examples/value", n);
  return examples;
}

}  // namespace

void CheckObservationSize(const std::string& path, const ObservationLayout& layout) {
  constexpr double kMostFloats = 1 << 26;
  const double rows = layout.q, columns = layout.g;
  const double floats = rows * layout.job_channels + rows * columns * std::max(layout.pair_channels, 1) +
                        columns * layout.type_channels + layout.global_channels;
  if (floats > kMostFloats) {
    throw Error(Join(path, ": expected an observation of at most ", kMostFloats, " floats, found ", floats,
                     " (queue x types x channels)"));
  }
}

std::int64_t PolicyBundle::parameters() const {
  std::int64_t count = 0;
  for (const NamedArray& array : arrays) count += static_cast<std::int64_t>(array.values.size());
  return count;
}

const NamedArray& PolicyBundle::Array(const std::string& name) const {
  const auto it =
      std::find_if(arrays.begin(), arrays.end(), [&](const NamedArray& a) { return a.name == name; });
  BERTH_CHECK(it != arrays.end(), "no array ", name);
  return *it;
}

double ReplayExamples(const PolicyBundle& bundle) {
  const std::unique_ptr<FrozenNetwork> network = Freeze(bundle);
  const BundleExamples& examples = bundle.examples;
  const auto size = static_cast<std::size_t>(bundle.layout.size()),
             memory = static_cast<std::size_t>(network->memory());
  const auto actions = static_cast<std::size_t>(bundle.num_actions);
  BERTH_CHECK(examples.observation.size() == static_cast<std::size_t>(examples.count) * (size + memory),
              examples.observation.size());
  std::vector<float> scores(actions);
  double most = 0.0;
  const auto note = [&](float found, float expected, double scale) {
    const double difference = std::abs(static_cast<double>(found) - expected) / std::max(1.0, scale);
    if (!(difference <= most)) most = difference;  // NaN stays
  };
  for (std::size_t i = 0; i < static_cast<std::size_t>(examples.count) && !std::isnan(most); ++i) {
    const std::span<const float> row =
        std::span<const float>(examples.observation).subspan(i * (size + memory), size + memory);
    const float value = network->Evaluate(row.first(size), bundle.layout, scores, row.subspan(size));
    const std::span<const float> expected =
        std::span<const float>(examples.scores).subspan(i * actions, actions);
    double largest = 0.0;
    for (const float score : expected) largest = std::max(largest, std::abs(static_cast<double>(score)));
    for (std::size_t a = 0; a < actions && !std::isnan(most); ++a) note(scores[a], expected[a], largest);
    if (!std::isnan(most)) note(value, examples.value[i], std::abs(static_cast<double>(examples.value[i])));
  }
  return most;
}

void SaveBundle(const PolicyBundle& bundle, const std::string& path) {
  h5::Writer out(path, "policy", kVersion);
  out.Compress();
  out.Text("network", bundle.network);
  out.Integer("num_actions", bundle.num_actions);
  WriteLayout(out, bundle.layout);
  WriteMdp(out, bundle.mdp);
  if (bundle.layout.q > 0) {  // for who reads the file without this code
    const EncoderInfo encoder = ObservationOf(bundle.mdp);
    out.Text("blocks", encoder.Blocks());
    out.Strings("channels", encoder.Describe());
  }
  if (bundle.reserve != Reserve::kNone) out.Text("reserve", ToString(bundle.reserve));
  out.Text("agent", bundle.provenance.agent);
  out.Text("workload", bundle.provenance.workload);
  out.Text("trained_commit", bundle.provenance.commit);
  out.Text("config", bundle.provenance.config);
  out.Integer("steps", bundle.provenance.steps);
  out.Integer("seed", static_cast<std::int64_t>(bundle.provenance.seed));
  out.Strings("gpu_types", bundle.gpu_types);
  for (const NamedArray& array : bundle.arrays) out.Array(DatasetOf(array.name), array.values, array.shape);
  const BundleExamples& examples = bundle.examples;
  out.Integer("examples", examples.count);
  // With a memory there is its state behind each row.
  const auto floats = static_cast<std::int64_t>(examples.observation.size());
  out.Array("examples/observation", examples.observation,
            {examples.count, examples.count > 0 ? floats / examples.count : bundle.layout.size()});
  out.Array("examples/action_mask", examples.mask, {examples.count, bundle.num_actions});
  out.Array("examples/scores", examples.scores, {examples.count, bundle.num_actions});
  out.Array("examples/value", examples.value);
  out.Commit();
}

PolicyBundle LoadBundle(const std::string& path) {
  const h5::Reader in(path, "policy", kVersion);
  PolicyBundle bundle;
  bundle.mdp = ReadMdp(in);
  // Files of before the attribute have none of it.
  if (in.HasAttribute("reserve")) bundle.reserve = ParsedAttribute(in, "reserve", ParseReserve);
  bundle.layout = ReadLayout(in, bundle.mdp);
  const int pairs = bundle.layout.q * bundle.layout.g;
  const std::int64_t low = pairs > 0 ? pairs : 1, high = pairs > 0 ? pairs + 1 : 1 << 20;
  bundle.num_actions = static_cast<int>(BoundedAttribute(in, "num_actions", low, high));
  const bool redecides = bundle.mdp.semantics == Semantics::kRedecide;
  if (pairs > 0 && bundle.has_done() != redecides) {
    throw Error(Join(path, ": attribute 'num_actions': expected ", pairs + redecides, " for ",
                     ToString(bundle.mdp.semantics), ", found ", bundle.num_actions));
  }
  bundle.provenance.agent = in.Text("agent");
  bundle.provenance.workload = in.Text("workload");
  bundle.provenance.commit = in.Text("trained_commit");
  bundle.provenance.config = in.Text("config");
  bundle.provenance.steps = BoundedAttribute(in, "steps", 0, std::numeric_limits<std::int64_t>::max());
  bundle.provenance.seed = static_cast<std::uint64_t>(in.Integer("seed"));
  bundle.gpu_types = in.Strings("gpu_types");
  bundle.network = in.Text("network");
  const std::vector<LayerSpec> layers = ParsedAttribute(in, "network", [&](const std::string& spec) {
    return LayersOf(spec, bundle.layout, bundle.num_actions);
  });
  for (const LayerSpec& layer : layers) {
    const std::int64_t inputs = layer.inputs, outputs = layer.outputs;
    NamedArray weight{layer.name + ".weight", {outputs, inputs}, {}};
    NamedArray bias{layer.name + ".bias", {outputs}, {}};
    weight.values = in.Array<float>(DatasetOf(weight.name), outputs * inputs);
    bias.values = in.Array<float>(DatasetOf(bias.name), outputs);
    bundle.arrays.push_back(std::move(weight));
    bundle.arrays.push_back(std::move(bias));
  }
  const int row = bundle.layout.size() + MemoryOf(bundle.network, bundle.layout, bundle.num_actions);
  bundle.examples = ReadExamples(in, row, bundle.num_actions);
  const double difference = ReplayExamples(bundle);
  if (!(difference <= kBundleTolerance)) {
    throw Error(Join(path, ": expected the weights to repeat the ", bundle.examples.count,
                     " examples within ", Shortest(kBundleTolerance), ", found a difference of ",
                     Shortest(difference)));
  }
  return bundle;
}

}  // namespace berth

#include "policies/onnx_writer.hpp"

#include <utility>
#include <vector>

#include "env/base/check.hpp"
#include "env/base/whole_file.hpp"
#include "env/gym/encoder.hpp"
#include "policies/architecture.hpp"
#include "policies/inference.hpp"
#include "policies/networks/forms.hpp"

namespace berth {
namespace {

constexpr float kMasked = -1e8F;  // not -inf: a softmax over it stays finite

#define BERTH_FORM(kind) Onnx##kind,
constexpr decltype(&OnnxDense) kOnnxForms[] = {BERTH_NETWORK_STEPS(BERTH_FORM)};
#undef BERTH_FORM

std::string ChannelNames(std::span<const ChannelInfo> channels) {
  std::string names;
  for (const ChannelInfo& channel : channels) {
    if (!names.empty()) names += ',';
    names += channel.name;
  }
  return names;
}

std::vector<std::pair<std::string, std::string>> Metadata(const PolicyBundle& bundle) {
  std::string types;
  for (const std::string& type : bundle.gpu_types) types += (types.empty() ? "" : ",") + type;
  std::vector<std::pair<std::string, std::string>> metadata = {
      {"encoder", bundle.mdp.encoder},
      {"mdp", bundle.mdp.ToString()},
      {"network", bundle.network},
      {"gpu_types", types},
      {"agent", bundle.provenance.agent},
      {"workload", bundle.provenance.workload},
      {"config", bundle.provenance.config},
      {"commit", bundle.provenance.commit},
      {"steps", Join(bundle.provenance.steps)},
      {"seed", Join(bundle.provenance.seed)},
  };
  if (bundle.layout.q > 0) {
    const EncoderInfo encoder = ObservationOf(bundle.mdp);
    std::string channels;
    for (const std::string& line : encoder.Describe()) channels += Join(line, "\n");
    metadata.emplace_back("blocks", encoder.Blocks());
    metadata.emplace_back("channels", channels);
    metadata.emplace_back("job_channels", ChannelNames(encoder.job));
    metadata.emplace_back("pair_channels", ChannelNames(encoder.pair));
    metadata.emplace_back("type_channels", ChannelNames(encoder.type));
    metadata.emplace_back("global_channels", ChannelNames(encoder.global));
  }
  return metadata;
}

// What the network reads, and the mask. Q and G are free where it takes any.
void AddInputs(const NetworkDescription& net, OnnxGraph& graph) {
  for (ValueId v = 0; v < NetworkDescription::kInputs; ++v) {
    if (!net.Reads(v)) continue;
    const NetworkValue& value = net.values()[static_cast<std::size_t>(v)];
    std::vector<std::string> dimensions = {"batch"};
    if (value.rows == RowOf::kJob || value.rows == RowOf::kPair) dimensions.emplace_back("queue");
    if (value.rows == RowOf::kType || value.rows == RowOf::kPair) dimensions.emplace_back("types");
    dimensions.push_back(Join(value.width));
    graph.Input(value.name, OnnxType::kFloat, dimensions);
  }
  const bool bound = net.Reads(net.observation());
  graph.Input("action_mask", OnnxType::kBool, {"batch", bound ? Join(net.num_actions()) : "actions"});
}

}  // namespace

std::string SerializeOnnx(const PolicyBundle& bundle) {
  Freeze(bundle);  // refuses arrays that are not the architecture's
  const NetworkDescription net = Describe(bundle.network, bundle.layout, bundle.num_actions);
  OnnxGraph graph;
  AddInputs(net, graph);
  OnnxRun run{net, bundle, graph, {}};
  for (const NetworkValue& value : net.values()) run.name.push_back(value.name);
  if (net.Reads(net.jobs())) {
    run.present = graph.Node(
        "Slice", {run.Name(net.jobs()), graph.Integers({0}), graph.Integers({1}), graph.Integers({2})});
    run.one = graph.Float(1.0F);
  }
  for (const NetworkStep& step : net.steps()) {
    run.name[static_cast<std::size_t>(step.output)] = kOnnxForms[static_cast<int>(step.kind)](run, step);
  }
  graph.Node("Where", {"action_mask", run.Name(net.scores()), graph.Float(kMasked)}, {}, "scores");
  graph.Node("Squeeze", {run.Name(net.value()), graph.Integers({1})}, {}, "value");
  graph.Output("scores", OnnxType::kFloat, {"batch", "actions"});
  graph.Output("value", OnnxType::kFloat, {"batch"});
  if (net.memory() > 0) {
    graph.Node("Identity", {run.Name(net.next())}, {}, "next_state");
    graph.Output("next_state", OnnxType::kFloat, {"batch", Join(net.memory())});
  }
  const auto metadata = Metadata(bundle);
  return graph.Serialize("berth_" + ParseSpec(bundle.network).name, metadata);
}

void WriteOnnx(const PolicyBundle& bundle, const std::string& path) {
  WriteWhole(path, SerializeOnnx(bundle));
}

}  // namespace berth

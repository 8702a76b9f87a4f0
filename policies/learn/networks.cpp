#include "policies/learn/networks.hpp"

#include <utility>

#include "env/base/index.hpp"
#include "policies/learn/steps.hpp"

namespace berth {
namespace {

#define BERTH_FORM(kind) Torch##kind,
constexpr decltype(&TorchDense) kForms[] = {BERTH_NETWORK_STEPS(BERTH_FORM)};
#undef BERTH_FORM

}  // namespace

Network::Network(NetworkDescription description, std::uint64_t seed) : description_(std::move(description)) {
  Stream stream(seed, Purpose::kInit);
  for (const LayerSpec& layer : description_.layers()) {
    layers_.push_back(register_module(layer.name, std::make_shared<DenseModule>(layer, stream)));
  }
}

NetworkOutput Network::Forward(const torch::Tensor& observation) {
  TorchRun run(description_, layers_, observation, fixed_shapes_);
  for (const NetworkStep& step : description_.steps()) {
    run.values[static_cast<std::size_t>(step.output)] = kForms[static_cast<int>(step.kind)](run, step);
  }
  NetworkOutput out = {run.At(description_.scores()), run.At(description_.value()).squeeze(-1), {}};
  if (description_.memory() > 0) out.next = run.At(description_.next());
  return out;
}

std::shared_ptr<Network> MakeNetwork(const std::string& spec, const ObservationLayout& layout,
                                     int num_actions, std::uint64_t seed, int outputs) {
  return std::make_shared<Network>(Describe(spec, layout, num_actions, outputs), seed);
}

void SetParameters(Network& network, const PolicyBundle& policy) {
  const torch::NoGradGuard no_grad;
  for (auto& item : network.named_parameters()) {
    const NamedArray& array = policy.Array(item.key());
    torch::Tensor& parameter = item.value();
    BERTH_CHECK(parameter.sizes() == torch::IntArrayRef(array.shape), item.key(), parameter.sizes());
    parameter.copy_(torch::tensor(array.values).view(array.shape));
  }
}

void CopyMeanOutputs(Network& wide, Network& mean) {
  const torch::NoGradGuard no_grad;
  const auto from = wide.named_parameters();
  for (auto& item : mean.named_parameters()) {
    const torch::Tensor& source = from[item.key()];
    torch::Tensor& target = item.value();
    const std::int64_t outputs = source.size(0) / target.size(0);
    std::vector<std::int64_t> shape = target.sizes().vec();
    shape.insert(shape.begin() + 1, outputs);
    target.copy_(outputs == 1 ? source : source.view(shape).mean(1));
  }
}

void CopySideBySide(std::span<const std::shared_ptr<Network>> members, double scale, Network& wide) {
  const torch::NoGradGuard no_grad;
  const int count = static_cast<int>(members.size());
  const NetworkDescription &own = members.front()->description(), &all = wide.description();
  const std::size_t pairs = U(all.layout().q) * U(all.layout().g);
  auto target = wide.named_parameters();
  for (const NetworkStep& step : all.steps()) {
    if (step.kind != NetworkStep::Kind::kDense) continue;
    const std::string& layer = all.layers()[U(step.layer)].name;
    torch::Tensor &weight = target[layer + ".weight"], &bias = target[layer + ".bias"];
    weight.zero_(), bias.zero_();
    for (int m = 0; m < count; ++m) {
      const auto source = members[U(m)]->named_parameters();
      const torch::Tensor &from = source[layer + ".weight"], &add = source[layer + ".bias"];
      // Units stand side by side; what answers is added up.
      const std::int64_t rows = from.size(0);
      const bool units = weight.size(0) != rows;
      const double share = units ? 1.0 : step.output == all.value() ? 1.0 / count : scale;
      const std::int64_t row = units ? m * rows : 0;
      bias.narrow(0, row, rows) += add * share;
      std::int64_t at = 0, column = 0;
      for (const ValueId input : step.inputs) {
        const auto width = static_cast<std::int64_t>(own.values()[U(input)].Floats(pairs)),
                   wider = static_cast<std::int64_t>(all.values()[U(input)].Floats(pairs));
        const std::int64_t into =
            column + (wider != width ? m * width : 0);  // an input that all read, or its own
        weight.narrow(0, row, rows).narrow(1, into, width) += from.narrow(1, at, width) * share;
        at += width, column += wider;
      }
    }
  }
}

}  // namespace berth

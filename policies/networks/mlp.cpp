// Flat multi-layer perceptron over the whole observation row, actor and critic apart (as Stable-Baselines3):
// for comparison, and for environments without jobs and types. Bound to the sizes it was trained on.
//
//   layers "actor_0", ..., "actor_head" [A]; "critic_0", ..., "critic_head" [1]
//
// With memory=M both read beside the observation x the memory h' of memory.hpp.
#include "env/base/check.hpp"
#include "policies/architecture.hpp"
#include "policies/networks/memory.hpp"

namespace berth {
namespace {

constexpr ParamInfo kMlpParams[] = {
    {"hidden", "64x64", "units of the hidden layers, 1 to 4096 each, at most 8 layers"},
    {"activation", "tanh", "tanh or relu"},
    kMemoryParam,
};

// Units, input to output.
std::vector<int> ReadHidden(const std::string& text) {
  std::vector<int> hidden;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('x', begin), text.size());
    const long long units =
        ParseInteger(std::string_view(text).substr(begin, end - begin), "mlp: parameter 'hidden'");
    if (units < 1 || units > 4096) {
      throw Error(Join("mlp: parameter 'hidden': expected layers of 1 to 4096 units such as 64x64, found '",
                       text, "'"));
    }
    hidden.push_back(static_cast<int>(units));
    begin = end + 1;
  }
  if (hidden.size() > 8) {
    throw Error(Join("mlp: parameter 'hidden': expected at most 8 layers, found ", hidden.size()));
  }
  return hidden;
}

void DescribeMlp(Params& params, NetworkDescription& net) {
  const std::vector<int> hidden = ReadHidden(params.Text("hidden"));
  const Activation act =
      params.Choice("activation", {"tanh", "relu"}) == 0 ? Activation::kTanh : Activation::kRelu;
  const std::vector<ValueId> seen = WithMemory(net, net.observation(), ReadMemory(params));
  const auto trunk = [&](const std::string& name, int outputs, double gain) {
    std::vector<ValueId> x = seen;
    for (std::size_t i = 0; i < hidden.size(); ++i) {
      x = {net.Dense(Join(name, "_", i), x, hidden[i], kHiddenGain, act)};
    }
    return net.Dense(name + "_head", x, outputs, gain);
  };
  const ValueId scores = trunk("actor", net.num_actions() * net.outputs(), kScoreGain);
  net.Answer(scores, trunk("critic", 1, kValueGain));
}

}  // namespace

ArchitectureInfo MlpArchitecture() {
  return {
      "mlp",
      "flat perceptron over the whole observation, actor and critic apart; bound to its queue and cluster",
      "Stable-Baselines3 MlpPolicy",
      /*any_size=*/false,
      kMlpParams,
      "hidden,memory",
      DescribeMlp};
}

}  // namespace berth

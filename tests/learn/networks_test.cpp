// Every network of the table: initial weights, equivariance, gradients.
#include "policies/learn/networks.hpp"

#include <cmath>

#include "env/base/check.hpp"
#include "policies/architecture.hpp"
#include "tests/catch.hpp"
#include "tests/policies_support.hpp"

namespace berth {
namespace {

using Catch::Matchers::Contains;

constexpr int kQueue = 5, kTypes = 3, kActions = kQueue * kTypes + 1;

torch::Tensor RandomRows(const ObservationLayout& layout, int rows, int present, std::uint64_t seed) {
  Stream stream(seed, Purpose::kTest);
  std::vector<float> all;
  for (int i = 0; i < rows; ++i) {
    const std::vector<float> row = test::RandomObservation(layout, present, stream);
    all.insert(all.end(), row.begin(), row.end());
  }
  return torch::from_blob(all.data(), {rows, layout.size()}).clone();
}

double MaxDifference(const torch::Tensor& a, const torch::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

// Every row that a test walks: the shipped defaults and one other setting each.
std::vector<std::string> Specs() {
  std::vector<std::string> specs;
  for (const ArchitectureInfo& info : Architectures()) specs.emplace_back(info.name);
  specs.insert(specs.end(),
               {"pair_scorer(width=16,layers=3,activation=tanh)", "pair_scorer(width=8,skip=true)",
                "set_attention(width=24,head=8,towers=3,blocks=1,activation=tanh)", "toy(crowd=true)", "mlp(hidden=24,activation=relu)"});
  return specs;
}

// No activation follows the layer.
bool IsLinear(const std::string& spec, const std::string& layer) {
  const NetworkDescription net = Describe(spec, ObservationV1::Layout(kQueue, kTypes), kActions);
  const auto& steps = net.steps();
  return std::any_of(steps.begin(), steps.end(), [&](const NetworkStep& step) {
    return step.layer >= 0 && net.layers()[static_cast<std::size_t>(step.layer)].name == layer &&
           step.activation == Activation::kNone;
  });
}

// The observation with job rows and types moved: new position i holds old position order[i].
torch::Tensor Permuted(const torch::Tensor& row, const ObservationLayout& layout, const torch::Tensor& jobs,
                       const torch::Tensor& types) {
  const auto block = [&](int offset, std::vector<std::int64_t> shape) {
    std::int64_t size = 1;
    for (std::int64_t n : shape) size *= n;
    return row.narrow(1, offset, size).reshape(shape);
  };
  const torch::Tensor job =
      block(layout.jobs_offset(), {layout.q, layout.job_channels}).index_select(0, jobs);
  const torch::Tensor pair = block(layout.pairs_offset(), {layout.q, layout.g, layout.pair_channels})
                                 .index_select(0, jobs)
                                 .index_select(1, types);
  const torch::Tensor type =
      block(layout.types_offset(), {layout.g, layout.type_channels}).index_select(0, types);
  return torch::cat({job.flatten(), pair.flatten(), type.flatten(),
                     row.narrow(1, layout.global_offset(), layout.global_channels).flatten()})
      .unsqueeze(0);
}

}  // namespace

TEST_CASE("initial weights are orthogonal times their gain, biases zero") {
  const ObservationLayout layout = ObservationV1::Layout(kQueue, kTypes);
  for (const std::string& spec : Specs()) {
    INFO(spec);
    const auto network = MakeNetwork(spec, layout, kActions, 1);
    const auto parameters = network->named_parameters();
    for (const LayerSpec& layer : LayersOf(spec, layout, kActions)) {
      INFO(layer.name);
      torch::Tensor w = parameters[layer.name + ".weight"].detach().to(torch::kDouble);
      if (w.size(0) > w.size(1)) w = w.t();
      const torch::Tensor gram = w.matmul(w.t()) / (layer.gain * layer.gain);
      CHECK(MaxDifference(gram, torch::eye(w.size(0), torch::kDouble)) < 1e-6);
      CHECK(parameters[layer.name + ".bias"].abs().max().item<float>() == 0.0F);
      const bool head = layer.outputs == 1 || layer.name == "actor_head";
      const bool value = layer.name.rfind("value", 0) == 0 || layer.name == "critic_head";
      const double hidden = IsLinear(spec, layer.name) ? 1.0 : std::sqrt(2.0);
      CHECK(layer.gain == Approx(!head ? hidden : value ? 1.0 : 0.01));
    }
  }
}

TEST_CASE("initial weights depend on the seed alone and leave LibTorch's generator alone") {
  const ObservationLayout layout = ObservationV1::Layout(kQueue, kTypes);
  for (const std::string& spec : Specs()) {
    INFO(spec);
    torch::manual_seed(1);
    const torch::Tensor drawn = torch::rand({4});
    torch::manual_seed(1);
    const auto a = MakeNetwork(spec, layout, kActions, 9)->parameters();
    CHECK(torch::equal(torch::rand({4}), drawn));
    torch::manual_seed(2);
    const auto b = MakeNetwork(spec, layout, kActions, 9)->parameters();
    const auto c = MakeNetwork(spec, layout, kActions, 10)->parameters();
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(torch::equal(a[i], b[i]));
    CHECK_FALSE(torch::equal(a[0], c[0]));
  }
}

TEST_CASE("the initial policy is nearly uniform over the legal actions") {
  const ObservationLayout layout = ObservationV1::Layout(kQueue, kTypes);
  const torch::Tensor rows = RandomRows(layout, 32, kQueue, 4);
  const torch::Tensor mask = torch::arange(kActions).remainder(2).eq(0);  // 8 of 16
  for (const std::string& spec : Specs()) {
    INFO(spec);
    const torch::NoGradGuard no_grad;
    const auto network = MakeNetwork(spec, layout, kActions, 1);
    const torch::Tensor log_p =
        torch::log_softmax(network->Forward(rows).scores.masked_fill(mask.logical_not(), -1e8), -1);
    const torch::Tensor entropy = -(log_p.exp() * log_p).sum(-1);
    CHECK(entropy.min().item<double>() > std::log(8.0) - 1e-3);
    CHECK(entropy.max().item<double>() < std::log(8.0) + 1e-5);
  }
}

TEST_CASE("permuting jobs and types permutes the scores and leaves the value") {
  const ObservationLayout layout = ObservationV1::Layout(kQueue, kTypes);
  const torch::Tensor jobs = torch::tensor({3, 0, 4, 2, 1}), types = torch::tensor({2, 0, 1});
  int walked = 0;
  for (const std::string& spec : Specs()) {
    const ArchitectureInfo& info = FindArchitecture(ParseSpec(spec).name);
    if (!info.any_size) continue;
    ++walked;
    INFO(spec);
    const int present = 4;
    const torch::Tensor row = RandomRows(layout, 1, present, 6);
    const torch::NoGradGuard no_grad;
    const auto network = MakeNetwork(spec, layout, kActions, 2);
    const NetworkOutput plain = network->Forward(row);
    const NetworkOutput moved = network->Forward(Permuted(row, layout, jobs, types));
    const torch::Tensor table = plain.scores.narrow(1, 0, kQueue * kTypes).reshape({kQueue, kTypes});
    const torch::Tensor expected = table.index_select(0, jobs).index_select(1, types).flatten();
    CHECK(MaxDifference(expected, moved.scores[0].narrow(0, 0, kQueue * kTypes)) < 1e-6);
    CHECK(MaxDifference(plain.scores[0][kActions - 1], moved.scores[0][kActions - 1]) < 1e-6);
    CHECK(MaxDifference(plain.value, moved.value) < 1e-6);
    // The scores tell the pairs apart: the comparison above is not of constants.
    CHECK((table.narrow(0, 0, present).max() - table.narrow(0, 0, present).min()).item<double>() > 1e-5);
  }
  CHECK(walked >= 3);
}

TEST_CASE("networks of any size have the same weights at every size and ignore absent rows") {
  const ObservationLayout small = ObservationV1::Layout(3, 2), large = ObservationV1::Layout(8, 2);
  for (const std::string& spec : Specs()) {
    if (!FindArchitecture(ParseSpec(spec).name).any_size) continue;
    INFO(spec);
    const torch::NoGradGuard no_grad;
    const auto a = MakeNetwork(spec, small, 7, 3), b = MakeNetwork(spec, large, 17, 3);
    const auto p = a->parameters(), q = b->parameters();
    for (std::size_t i = 0; i < p.size(); ++i) CHECK(torch::equal(p[i], q[i]));
    const torch::Tensor row = RandomRows(small, 1, 3, 8);
    torch::Tensor padded = torch::zeros({1, large.size()});
    const auto copy = [&](int from, int to, int size) {
      padded.narrow(1, to, size).copy_(row.narrow(1, from, size));
    };
    copy(0, 0, small.pairs_offset());
    copy(small.pairs_offset(), large.pairs_offset(), small.types_offset() - small.pairs_offset());
    copy(small.types_offset(), large.types_offset(), small.size() - small.types_offset());
    const NetworkOutput x = a->Forward(row), y = b->Forward(padded);
    CHECK(MaxDifference(x.scores.narrow(1, 0, 6), y.scores.narrow(1, 0, 6)) < 1e-6);
    CHECK(MaxDifference(x.scores.narrow(1, 6, 1), y.scores.narrow(1, 16, 1)) < 1e-6);
    CHECK(y.scores.narrow(1, 6, 10).abs().max().item<float>() == 0.0F);
    CHECK(MaxDifference(x.value, y.value) < 1e-6);
  }
}

TEST_CASE("pair_scorer(skip=true): with the head's weights at 0 the score is linear in the pair's inputs") {
  const ObservationLayout layout = ObservationV1::Layout(kQueue, kTypes);
  const int fj = layout.job_channels, fp = layout.pair_channels, ft = layout.type_channels;
  const torch::NoGradGuard no_grad;
  const auto plain = MakeNetwork("pair_scorer", layout, kActions, 7),
             network = MakeNetwork("pair_scorer(skip=true)", layout, kActions, 7);
  auto parameters = network->named_parameters();
  // What both have begins alike, so that runs with and without it can be compared.
  for (const auto& item : plain->named_parameters())
    CHECK(torch::equal(item.value(), parameters[item.key()]));
  CHECK(parameters.size() == plain->named_parameters().size() + 2);
  parameters["score.weight"].zero_();
  parameters["skip.bias"].fill_(0.25F);
  const torch::Tensor weights = parameters["skip.weight"].copy_(torch::linspace(-1.0, 1.0, fj + fp + ft));
  constexpr int kPresent = 4;
  const torch::Tensor row = RandomRows(layout, 1, kPresent, 6), scores = network->Forward(row).scores;
  const float* x = row.data_ptr<float>();
  const float* w = weights.data_ptr<float>();
  for (int q = 0; q < kQueue; ++q) {
    for (int g = 0; g < kTypes; ++g) {
      const float* blocks[] = {x + layout.jobs_offset() + q * fj,
                               x + layout.pairs_offset() + (q * kTypes + g) * fp,
                               x + layout.types_offset() + g * ft};
      double expected = 0.25;
      int k = 0;
      for (const auto& [block, channels] : {std::pair(blocks[0], fj), {blocks[1], fp}, {blocks[2], ft}}) {
        for (int i = 0; i < channels; ++i) expected += static_cast<double>(block[i]) * w[k++];
      }
      if (q >= kPresent) expected = 0.0;
      CHECK(scores[0][q * kTypes + g].item<double>() == Approx(expected).margin(1e-5));
    }
  }
}

TEST_CASE("gradients are finite with one legal action, and with no job at all") {
  const ObservationLayout layout = ObservationV1::Layout(kQueue, kTypes);
  for (const std::string& spec : Specs()) {
    for (const int present : {kQueue, 0}) {
      INFO(spec << " with " << present << " jobs");
      const auto network = MakeNetwork(spec, layout, kActions, 1);
      const NetworkOutput out = network->Forward(RandomRows(layout, 4, present, 5));
      const torch::Tensor mask = torch::arange(kActions).eq(kActions - 1);  // done
      const torch::Tensor log_p = torch::log_softmax(out.scores.masked_fill(mask.logical_not(), -1e8), -1);
      const torch::Tensor entropy = -(log_p.exp() * log_p).sum(-1);
      (log_p.narrow(1, kActions - 1, 1).sum() + entropy.sum() + out.value.square().sum() +
       out.scores.square().sum())
          .backward();
      double total = 0.0;
      for (const auto& parameter : network->parameters()) {
        REQUIRE(parameter.grad().defined());
        CHECK(parameter.grad().isfinite().all().item<bool>());
        total += parameter.grad().abs().sum().item<double>();
      }
      CHECK(total > 0.0);
    }
  }
}

TEST_CASE("a network that cannot be made says why") {
  const ObservationLayout flat = {0, 0, 0, 0, 0, 4};
  CHECK_THROWS_WITH(MakeNetwork("pair_scorer", flat, 2, 1), Contains("mlp"));
  CHECK(MakeNetwork("mlp", flat, 2, 1)->Forward(torch::zeros({3, 4})).scores.sizes() ==
        torch::IntArrayRef({3, 2}));
  CHECK_THROWS_WITH(MakeNetwork("pair_score", flat, 2, 1), Contains("did you mean 'pair_scorer'"));
  CHECK_THROWS_WITH(MakeNetwork("mlp(hidden=64y64)", flat, 2, 1), Contains("64y64"));
  CHECK_THROWS_WITH(MakeNetwork("mlp(hidden=0)", flat, 2, 1), Contains("1 to 4096"));
  CHECK_THROWS_WITH(MakeNetwork("mlp(hiden=8)", flat, 2, 1), Contains("did you mean 'hidden'"));
}

}  // namespace berth

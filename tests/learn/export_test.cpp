// LibTorch, the torch-free network and ONNX Runtime agree on every network of the table.
#include "policies/learn/export.hpp"

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "env/base/check.hpp"
#include "env/base/index.hpp"
#include "policies/inference.hpp"
#include "policies/onnx_writer.hpp"
#include "tests/catch.hpp"
#include "tests/policies_support.hpp"
#include "tests/python.hpp"
#include "tests/skip.hpp"

namespace berth {
namespace {

struct ScratchFolder {
  ScratchFolder() : path(std::filesystem::temp_directory_path() / Join("berth-export-", ::getpid())) {
    std::filesystem::create_directory(path);
  }
  ~ScratchFolder() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string& name) const { return (path / name).string(); }
  std::filesystem::path path;
};

struct ExportCase {
  std::string network;
  ObservationLayout layout;
  int num_actions;
};

// Every network of the table, with and without `done`, and the flat layout where it is accepted.
std::vector<ExportCase> Cases() {
  std::vector<ExportCase> cases;
  for (const ArchitectureInfo& info : Architectures()) {
    cases.push_back({info.name, ObservationV1::Layout(6, 3), 19});
    cases.push_back({info.name, ObservationV1::Layout(6, 3), 18});
    if (!info.any_size) cases.push_back({info.name, {0, 0, 0, 0, 0, 4}, 2});
  }
  cases.push_back({"pair_scorer(skip=true)", ObservationV1::Layout(6, 3), 18});
  cases.push_back({"pair_scorer(width=24,activation=tanh,skip=true)", ObservationV1::Layout(9, 2), 19});
  cases.push_back({"pair_scorer(width=24,layers=3,activation=tanh)", ObservationV1::Layout(9, 2), 19});
  cases.push_back({"set_attention(width=24,head=4,towers=2,points=3,activation=tanh)", ObservationV1::Layout(9, 2), 19});
  cases.push_back({"pair_scorer(width=24,memory=5)", ObservationV1::Layout(9, 2), 19});
  cases.push_back({"mlp(hidden=32,memory=5)", ObservationV1::Layout(4, 2), 9});
  cases.push_back({"toy(units=17,crowd=true)", ObservationV1::Layout(5, 3), 16});
  cases.push_back({"mlp(hidden=32x16x8,activation=relu)", ObservationV1::Layout(4, 2), 9});
  return cases;
}

// As after training: weights of an ordinary size, so that scores differ by more than rounding.
std::shared_ptr<Network> Trained(const ExportCase& c) {
  const auto network = MakeNetwork(c.network, c.layout, c.num_actions, 11);
  const torch::NoGradGuard no_grad;
  torch::manual_seed(3);
  for (auto& parameter : network->parameters()) parameter.add_(torch::randn_like(parameter), 0.2);
  return network;
}

BundleFacts FactsOf(const ExportCase& c) {
  BundleFacts facts;
  facts.network = c.network;
  facts.layout = c.layout;
  facts.num_actions = c.num_actions;
  if (c.layout.q > 0 && c.num_actions == c.layout.q * c.layout.g) {
    facts.mdp.semantics = Semantics::kCommit;
    facts.mdp.preemptive = false;
  }
  facts.provenance = {"ppo(lr=0.0003)", "steps=1000", "toy", "0123abc", 1000, 7};
  return facts;
}

PolicyBundle BundleOf(const ExportCase& c, Network& network, double* difference = nullptr) {
  Stream stream(21, Purpose::kTest);
  BundleExamples examples = test::RandomExamples(c.layout, c.num_actions, stream);
  // Behind each row the state of a memory.
  const int memory = network.description().memory();
  std::vector<float> rows;
  for (int i = 0; i < examples.count; ++i) {
    const auto row = examples.observation.begin() + i * c.layout.size();
    rows.insert(rows.end(), row, row + c.layout.size());
    for (int k = 0; k < memory; ++k) rows.push_back(static_cast<float>(stream.Uniform(-1.0, 1.0)));
  }
  examples.observation = rows;
  return MakeBundle(network, FactsOf(c), examples.observation, examples.mask, difference);
}

template <class T>
void WriteJsonArray(std::ostream& out, const std::vector<T>& values) {
  out << '[';
  for (std::size_t i = 0; i < values.size(); ++i) out << (i > 0 ? "," : "") << +values[i];
  out << ']';
}

void WriteInput(std::ostream& out, const std::string& name, const std::vector<int>& shape,
                const std::vector<float>& values, bool last = false) {
  out << '"' << name << "\":{\"type\":\"float32\",\"shape\":";
  WriteJsonArray(out, shape);
  out << ",\"values\":";
  WriteJsonArray(out, values);
  out << (last ? "}" : "},");
}

// One batch of rows with the torch-free answers, in the form that check_onnx.py reads.
void WriteOnnxCase(std::ostream& out, const PolicyBundle& bundle, const ObservationLayout& layout, int batch,
                   Stream& stream) {
  const int actions = layout.q > 0 ? layout.q * layout.g + (bundle.has_done() ? 1 : 0) : bundle.num_actions;
  const auto network = Freeze(bundle);
  std::vector<float> rows, jobs, pairs, types, global, scores, value, states, next_states;
  std::vector<std::uint8_t> mask;
  for (int b = 0; b < batch; ++b) {
    const int present = static_cast<int>(stream.Below(static_cast<std::uint32_t>(layout.q) + 1));
    const std::vector<float> row = test::RandomObservation(layout, present, stream);
    const auto take = [&](std::vector<float>& to, int from, int end) {
      to.insert(to.end(), row.begin() + from, row.begin() + end);
    };
    take(rows, 0, layout.size());
    take(jobs, layout.jobs_offset(), layout.pairs_offset());
    take(pairs, layout.pairs_offset(), layout.types_offset());
    take(types, layout.types_offset(), layout.global_offset());
    take(global, layout.global_offset(), layout.size());
    std::vector<float> found(U(actions));
    std::vector<float> state, next(U(network->memory()));
    for (int k = 0; k < network->memory(); ++k) state.push_back(static_cast<float>(stream.Uniform(-1.0, 1.0)));
    value.push_back(network->Evaluate(row, layout, found, state, next));
    states.insert(states.end(), state.begin(), state.end());
    next_states.insert(next_states.end(), next.begin(), next.end());
    scores.insert(scores.end(), found.begin(), found.end());
    for (int a = 0; a < actions; ++a) {
      const bool real = layout.q == 0 || a < present * layout.g || a == layout.q * layout.g;
      mask.push_back(real && stream.Below(4) > 0 ? 1 : 0);
    }
  }
  out << "{\"inputs\":{";
  const NetworkDescription net = Describe(bundle.network, bundle.layout, bundle.num_actions);
  if (net.Reads(net.observation())) {
    WriteInput(out, "observation", {batch, layout.size()}, rows);
  } else {
    WriteInput(out, "jobs", {batch, layout.q, layout.job_channels}, jobs);
    WriteInput(out, "pairs", {batch, layout.q, layout.g, layout.pair_channels}, pairs);
    WriteInput(out, "types", {batch, layout.g, layout.type_channels}, types);
    WriteInput(out, "global", {batch, layout.global_channels}, global);
  }
  if (network->memory() > 0) WriteInput(out, "state", {batch, network->memory()}, states);
  out << "\"action_mask\":{\"type\":\"bool\",\"shape\":[" << batch << ',' << actions << "],\"values\":";
  WriteJsonArray(out, mask);
  out << "}},\"scores\":";
  WriteJsonArray(out, scores);
  out << ",\"value\":";
  WriteJsonArray(out, value);
  if (network->memory() > 0) {
    out << ",\"next_state\":";
    WriteJsonArray(out, next_states);
  }
  out << '}';
}

}  // namespace

TEST_CASE("LibTorch and the torch-free network agree to 1e-5, argmax included") {
  for (const ExportCase& c : Cases()) {
    INFO(c.network << " " << c.num_actions);
    const auto network = Trained(c);
    double difference = -1.0;
    const PolicyBundle bundle = BundleOf(c, *network, &difference);
    CHECK(difference <= kBundleTolerance);
    CHECK(difference >= 0.0);
    // Other rows than the bundle's examples.
    Stream stream(33, Purpose::kTest);
    const auto frozen = Freeze(bundle);
    std::vector<float> scores(U(c.num_actions));
    const torch::NoGradGuard no_grad;
    for (int i = 0; i < 200; ++i) {
      std::vector<float> row = test::RandomObservation(c.layout, i % (c.layout.q + 1), stream);
      row.resize(row.size() + U(frozen->memory()), 0.0F);  // an episode's begin
      const NetworkOutput out =
          network->Forward(torch::from_blob(row.data(), {1, static_cast<std::int64_t>(row.size())}));
      row.resize(U(c.layout.size()));
      const float value = frozen->Evaluate(row, c.layout, scores);
      const torch::Tensor ours = torch::from_blob(scores.data(), {1, c.num_actions});
      const double size = std::max(1.0, out.scores.abs().max().item<double>());  // as FORMAT.md says
      CHECK((out.scores - ours).abs().max().item<double>() <= 1e-5 * size);
      CHECK(out.scores.argmax().item<int>() == ours.argmax().item<int>());
      CHECK(out.value.item<float>() == Approx(value).epsilon(1e-5).margin(1e-5));
    }
  }
}

TEST_CASE("an exported bundle survives its file and keeps the training side as it was") {
  const ScratchFolder folder;
  const ExportCase c = Cases().front();
  const auto network = Trained(c);
  const torch::Tensor before = network->parameters()[0].clone();
  const PolicyBundle bundle = BundleOf(c, *network);
  CHECK(torch::equal(before, network->parameters()[0]));
  CHECK(network->parameters()[0].requires_grad());
  CHECK(bundle.network == "pair_scorer(width=32,layers=2,activation=relu,skip=false,memory=0)");
  SaveBundle(bundle, folder / "policy.h5");
  CHECK(LoadBundle(folder / "policy.h5").examples.scores == bundle.examples.scores);
}

TEST_CASE("weights that are not finite are not exported") {
  const ExportCase c = Cases().front();
  const auto network = Trained(c);
  {
    const torch::NoGradGuard no_grad;
    network->parameters()[0].fill_(std::nanf(""));
  }
  CHECK_THROWS_WITH(BundleOf(c, *network), Catch::Matchers::Contains("not finite"));
}

TEST_CASE("ONNX Runtime agrees with the bundle at every batch, queue and cluster size") {
  const std::string python = test::Python(BERTH_SOURCE_DIR, "numpy, onnx, onnxruntime");
  if (python.empty()) return test::Skip("needs Python with numpy, onnx and onnxruntime (tools/setup)");
  const ScratchFolder folder;
  for (const ExportCase& c : Cases()) {
    INFO(c.network << " " << c.num_actions);
    const PolicyBundle bundle = BundleOf(c, *Trained(c));
    WriteOnnx(bundle, folder / "policy.onnx");
    Stream stream(5, Purpose::kTest);
    std::ofstream cases(folder / "cases.json");
    cases.precision(9);
    cases << '[';
    WriteOnnxCase(cases, bundle, c.layout, 1, stream);
    cases << ',';
    WriteOnnxCase(cases, bundle, c.layout, 5, stream);
    if (FindArchitecture(ParseSpec(c.network).name).any_size) {
      for (const auto& [q, g, batch] : {std::tuple(1, 1, 2), std::tuple(40, 5, 3), std::tuple(7, 2, 1)}) {
        cases << ',';
        WriteOnnxCase(cases, bundle, ObservationV1::Layout(q, g), batch, stream);
      }
    }
    cases << ']';
    cases.close();
    const std::string log = folder / "log";
    const int status =
        std::system(Join("'", python, "' '" BERTH_SOURCE_DIR "/tests/learn/check_onnx.py' '",
                         folder / "policy.onnx", "' '", folder / "cases.json", "' >'", log, "' 2>&1")
                        .c_str());
    std::ifstream in(log);
    INFO(std::string(std::istreambuf_iterator<char>(in), {}));
    CHECK(status == 0);
  }
}

TEST_CASE("an ONNX model that cannot be written is an error with its path") {
  const ExportCase c = Cases().front();
  const PolicyBundle bundle = BundleOf(c, *Trained(c));
  CHECK_THROWS_WITH(WriteOnnx(bundle, "/nowhere/policy.onnx"),
                    Catch::Matchers::Contains("/nowhere/policy.onnx"));
}

}  // namespace berth

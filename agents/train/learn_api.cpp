// The entry point of libberth_learn.so (agents/train/learn_api.hpp).
#include "agents/train/learn_api.hpp"

#include <string>

#include "agents/gpu/device.hpp"
#include "agents/learner/agent.hpp"
#include "agents/train/checkpoint.hpp"
#include "agents/train/trainer.hpp"
#include "data/hdf5_file.hpp"
#include "env/base/check.hpp"
#include "policies/bundle.hpp"
#include "policies/learn/export.hpp"
#include "policies/onnx_writer.hpp"

namespace berth {
namespace {

// LibTorch's exceptions must not leave this library: the caller does not know their type.
template <class F>
auto WithOurErrors(const F& call) -> decltype(call()) {
  try {
    return call();
  } catch (const c10::Error& error) {
    std::string text = error.what_without_backtrace();
    throw Error("LibTorch: " + text.substr(0, text.find('\n')));
  }
}

TrainOutcome TrainCall(const TrainRequest& request) {
  h5::SetSourceCommit(request.commit);
  return WithOurErrors([&] { return Train(request); });
}

ExportOutcome Export(const ExportRequest& request) {
  at::set_num_threads(1);
  TrainedNetwork trained = ReadTrainedNetwork(request.run_dir + "/checkpoint.h5");
  BundleFacts facts;
  facts.network = trained.architecture;
  facts.layout = trained.run.layout;
  facts.num_actions = trained.run.num_actions;
  facts.mdp = trained.run.mdp;
  facts.gpu_types = trained.run.gpu_types;
  facts.provenance = {trained.run.agent,  trained.run.config,     trained.run.workload,
                      trained.run.commit, trained.counters.steps, trained.run.seed};
  ExportOutcome outcome;
  const PolicyBundle bundle =
      MakeBundle(*trained.network, facts, trained.observation, trained.mask, &outcome.max_difference);
  outcome.parameters = bundle.parameters();
  if (!request.policy_path.empty()) SaveBundle(bundle, request.policy_path);
  if (!request.onnx_path.empty()) WriteOnnx(bundle, request.onnx_path);
  return outcome;
}

ExportOutcome ExportCall(const ExportRequest& request) {
  h5::SetSourceCommit(request.commit);
  return WithOurErrors([&] { return Export(request); });
}

std::string DeviceCall(const std::string& wanted, const std::string& network) {
  return WithOurErrors([&] { return ChooseDevice(wanted, network).description; });
}

BenchTrainOutcome BenchCall(const BenchTrainRequest& request) {
  return WithOurErrors([&] { return BenchTraining(request); });
}

template <class Info>
std::vector<LearnInfo> Rows(std::span<const Info> table) {
  std::vector<LearnInfo> rows;
  for (const Info& info : table) rows.push_back({info.name, info.summary, info.source, info.params});
  return rows;
}

std::vector<LearnInfo> AgentRows() {
  return Rows(Agents());
}
std::vector<LearnInfo> NetworkRows() {
  return Rows(Architectures());
}

}  // namespace
}  // namespace berth

extern "C" const berth::LearnApi* berth_learn_api();
extern "C" const berth::LearnApi* berth_learn_api() {
  static const berth::LearnApi api = {berth::kLearnApiVersion, berth::TrainCall,   berth::ExportCall,
                                      berth::AgentRows,        berth::NetworkRows, berth::DeviceCall,
                                      berth::DescribeLibTorch, berth::BenchCall};
  return &api;
}

#include "agents/train/checkpoint.hpp"

#include <filesystem>

#include "agents/nn/tensor_io.hpp"
#include "env/base/check.hpp"
#include "env/gym/encoder.hpp"
#include "env/gym/vec_env.hpp"
#include "policies/attributes.hpp"
#include "policies/bundle.hpp"
#include "policies/mdp_io.hpp"

namespace berth {
namespace {

constexpr int kVersionOfOne = 5;

void WriteIdentity(h5::Writer& out, const RunIdentity& run) {
  out.Text("agent", run.agent);
  out.Text("network", run.network);
  WriteMdp(out, run.mdp);
  out.Array<std::int64_t>(
      "run/layout",
      std::vector<std::int64_t>{run.layout.q, run.layout.g, run.layout.job_channels, run.layout.pair_channels,
                                run.layout.type_channels, run.layout.global_channels});
  out.Integer("num_actions", run.num_actions);
  out.Integer("num_envs", run.num_envs);
  if (run.members > 1) out.Integer("members", run.members);
  if (!run.gpu_types.empty()) out.Strings("run/gpu_types", run.gpu_types);
  out.Array<std::uint64_t>("run/seed", std::vector<std::uint64_t>{run.seed});
  out.Text("run_config", run.config);
  out.Text("run_workload", run.workload);
  out.Text("run_environment", run.environment);
  out.Text("run_commit", run.commit);
}

RunIdentity ReadIdentity(const h5::Reader& in) {
  RunIdentity run;
  run.agent = in.Text("agent");
  run.network = in.Text("network");
  run.mdp = ReadMdp(in);
  const auto layout = in.Array<std::int64_t>("run/layout", 6);
  for (const std::int64_t part : layout) {
    if (part < 0 || part > (1 << 24)) {
      throw Error(Join(in.path(), ": run/layout: expected sizes of 0 to ", 1 << 24, ", found ", part));
    }
  }
  run.layout = {static_cast<int>(layout[0]), static_cast<int>(layout[1]), static_cast<int>(layout[2]),
                static_cast<int>(layout[3]), static_cast<int>(layout[4]), static_cast<int>(layout[5])};
  if (run.layout.q > 0) {  // a flat environment has no encoder
    const EncoderInfo encoder = EncoderOf(run.mdp.encoder);
    run.layout.edge = encoder.edge, run.layout.edges = encoder.edges;
  }
  CheckObservationSize(in.path(), run.layout);
  run.num_actions = static_cast<int>(BoundedAttribute(in, "num_actions", 1, 1 << 26));
  run.num_envs = static_cast<int>(BoundedAttribute(in, "num_envs", 1, 1 << 24));
  if (in.HasAttribute("members"))
    run.members = static_cast<int>(BoundedAttribute(in, "members", 2, kMostMembers));
  if (in.Has("run/gpu_types")) run.gpu_types = in.Strings("run/gpu_types");
  run.seed = in.Array<std::uint64_t>("run/seed", 1)[0];
  run.config = in.Text("run_config");
  run.workload = in.Text("run_workload");
  run.environment = in.Text("run_environment");
  run.commit = in.Text("run_commit");
  // Its weights are in the file: one that is larger would take memory and time before that shows.
  double weights = 0.0;
  for (const LayerSpec& layer : LayersOf(run.network, run.layout, run.num_actions))
    weights += (layer.inputs + 1.0) * layer.outputs;
  if (const auto bytes = static_cast<double>(std::filesystem::file_size(in.path()));
      weights * sizeof(float) > bytes)
    throw Error(Join(in.path(), ": network ", run.network,
                     ": expected weights that the file has room for, found ", weights, " in ", bytes,
                     " bytes"));
  return run;
}

std::string LayoutText(const RunIdentity& run) {
  return Join("Q=", run.layout.q, " G=", run.layout.g, " D=", run.layout.size(), " A=", run.num_actions);
}

std::string TypesText(const RunIdentity& run) {
  std::string text;
  for (const std::string& type : run.gpu_types) text += (text.empty() ? "" : ",") + type;
  return text;
}

void Agree(const std::string& path, const char* what, const std::string& wanted, const std::string& found) {
  if (wanted == found) return;
  throw Error(Join(path, ": --resume continues a run with the same ", what, ": expected ", found,
                   " as in the checkpoint, found ", wanted));
}

std::string GroupOf(std::int64_t member) {
  return Join("members/", member);
}

Members ReadMembers(const h5::Reader& in, const RunIdentity& run) {
  Members trained;
  if (!in.HasAttribute("members_trained")) return trained;
  for (std::int64_t m = 0, n = BoundedAttribute(in, "members_trained", 0, run.members - 1); m < n; ++m) {
    trained.push_back(MakeNetwork(run.network, run.layout, run.num_actions, run.seed));
    ReadModule(in, GroupOf(m), *trained.back());
  }
  return trained;
}

TrainCounters ReadCounters(const h5::Reader& in) {
  TrainCounters counters;
  const auto whole = in.Array<std::int64_t>("counters/steps", 2);
  const auto real = in.Array<double>("counters/figures", 2);
  counters.steps = whole[0];
  counters.wall_s = real[0];
  counters.validated_steps =  // files of before 0.2.0 do not say
      in.Has("counters/validated") ? in.Array<std::int64_t>("counters/validated", 1)[0] : counters.steps;
  if (in.Has("members/began")) {
    const auto began = in.Array<double>("members/began", 2);
    counters.began_steps = began[0], counters.began_s = began[1];
  }
  return counters;
}

}  // namespace

RunIdentity IdentityOf(const TrainRequest& request) {
  RunIdentity run;
  run.agent = ResolveAgent(request.agent);
  run.network = ResolveArchitecture(request.network);
  run.mdp = request.mdp;
  run.layout = request.env->layout();
  run.num_actions = request.env->num_actions();
  run.members = request.members;
  run.num_envs = request.world.many() ? request.all_envs : request.env->num_envs();
  run.gpu_types = request.gpu_types;
  run.seed = request.seed;
  run.config = request.config;
  run.workload = request.workload;
  run.environment = request.environment;
  run.commit = request.commit;
  return run;
}

void SaveCheckpoint(const std::string& path, const RunIdentity& run, const TrainCounters& counters,
                    const Members& trained, Agent& agent, const BatchEnv& env, const Ranks& ranks) {
  std::vector<std::uint8_t> state = env.SaveState();
  if (ranks.many()) state = JoinEnvStates(ranks.JoinBlocks(state));
  if (ranks.rank() != 0) return agent.Save(nullptr);
  h5::Writer out(path, kCheckpointKind, run.members > 1 ? kCheckpointVersion : kVersionOfOne);
  WriteIdentity(out, run);
  // The 0s stand where a best mean return and its step once were, which nothing read.
  out.Array<std::int64_t>("counters/steps", std::vector<std::int64_t>{counters.steps, 0});
  out.Array<double>("counters/figures", std::vector<double>{counters.wall_s, 0.0});
  out.Array<std::int64_t>("counters/validated", std::vector<std::int64_t>{counters.validated_steps});
  if (run.members > 1) {
    out.Integer("members_trained", static_cast<std::int64_t>(trained.size()));
    out.Array<double>("members/began", std::vector<double>{counters.began_steps, counters.began_s});
  }
  std::int64_t member = 0;
  for (const std::shared_ptr<Network>& network : trained) WriteModule(out, GroupOf(member++), *network);
  agent.Save(&out);
  out.Array<std::uint8_t>("environment/state", state);
  std::vector<float> observation;
  std::vector<std::uint8_t> mask;
  agent.Examples(kCheckpointExamples, observation, mask);
  const auto rows = static_cast<std::int64_t>(mask.size()) / run.num_actions;
  out.Array<float>("examples/observation", observation,
                   {rows, static_cast<std::int64_t>(observation.size()) / rows});
  out.Array<std::uint8_t>("examples/mask", mask, {rows, run.num_actions});
  out.Commit();
}

Members LoadMembers(const std::string& path, const RunIdentity& run) {
  const h5::Reader in(path, kCheckpointKind, kCheckpointVersion);
  const RunIdentity saved = ReadIdentity(in);
  // Others are refused by LoadCheckpoint.
  const bool same = ResolveArchitecture(saved.network) == run.network && saved.members == run.members;
  return same ? ReadMembers(in, saved) : Members();
}

TrainCounters LoadCheckpoint(const std::string& path, const RunIdentity& run, Agent& agent, BatchEnv& env) {
  const h5::Reader in(path, kCheckpointKind, kCheckpointVersion);
  const RunIdentity saved = ReadIdentity(in);
  // Resolved anew: parameters that were added since stand at their defaults.
  Agree(path, "--agent", run.agent, ResolveAgent(saved.agent));
  Agree(path, "--network", run.network, ResolveArchitecture(saved.network));
  Agree(path, "decision process", run.mdp.ToString(), saved.mdp.ToString());
  Agree(path, "observation", LayoutText(run), LayoutText(saved));
  Agree(path, "GPU types", TypesText(run), TypesText(saved));
  Agree(path, "--members", std::to_string(run.members), std::to_string(saved.members));
  Agree(path, "--envs", std::to_string(run.num_envs), std::to_string(saved.num_envs));
  Agree(path, "--seed", std::to_string(run.seed), std::to_string(saved.seed));
  Agree(path, "workload", run.workload, saved.workload);
  Agree(path, "environment", run.environment, saved.environment);
  agent.Load(in);
  env.LoadState(in.Array<std::uint8_t>("environment/state"), agent.First());
  return ReadCounters(in);
}

TrainedNetwork ReadTrainedNetwork(const std::string& path) {
  const h5::Reader in(path, kCheckpointKind, kCheckpointVersion);
  TrainedNetwork trained;
  trained.run = ReadIdentity(in);
  trained.counters = ReadCounters(in);
  trained.network =
      MakeNetwork(trained.run.network, trained.run.layout, trained.run.num_actions, trained.run.seed);
  ReadModule(in, "network", *trained.network);
  trained.architecture = trained.run.network;
  const std::int64_t memory = trained.network->description().memory();  // of a member
  if (Members members = ReadMembers(in, trained.run); !members.empty()) {
    members.push_back(trained.network);
    trained.architecture = WidenArchitecture(trained.run.network, static_cast<int>(members.size()));
    trained.network =
        MakeNetwork(trained.architecture, trained.run.layout, trained.run.num_actions, trained.run.seed);
    const bool draws = FindAgent(ParseSpec(trained.run.agent).name).draws_by_scores;
    CopySideBySide(members, draws ? 1.0 : 1.0 / static_cast<double>(members.size()), *trained.network);
  }
  trained.mask = in.Array<std::uint8_t>("examples/mask");
  const auto rows = static_cast<std::int64_t>(trained.mask.size()) / trained.run.num_actions;
  if (rows * trained.run.num_actions != static_cast<std::int64_t>(trained.mask.size()))
    throw Error(Join(path, ": examples/mask: expected rows of ", trained.run.num_actions, ", found ",
                     trained.mask.size(), " in all"));
  const std::int64_t size = trained.run.layout.size();
  const auto stored = in.Array<float>("examples/observation", rows * (size + memory));
  const std::int64_t times = memory > 0 ? trained.network->description().memory() / memory : 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto row = stored.begin() + r * (size + memory);
    trained.observation.insert(trained.observation.end(), row, row + size);
    for (std::int64_t m = 0; m < times; ++m)  // the states of members that are side by side: one as the other
      trained.observation.insert(trained.observation.end(), row + size, row + size + memory);
  }
  return trained;
}

}  // namespace berth

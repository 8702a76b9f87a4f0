// The C API (policies/c_api/berth.h): clusters, details and sizes that a caller may hand in, of policies that start, resize, pack and reject.
#include <cmath>
#include <cstddef>
#include <cstring>
#include <vector>

#include "data/workloads.hpp"
#include "env/features/table.hpp"
#include "env/gym/decision_point.hpp"
#include "env/gym/encoder.hpp"
#include "policies/c_api/berth.h"
#include "tests/fuzz/targets.hpp"
#include "tests/policies_support.hpp"

namespace berth::fuzz {
namespace {

berth_policy* Load(const PolicyBundle& bundle, const char* name) {
  SaveBundle(bundle, Path(name));
  berth_policy* policy = nullptr;
  char why[256] = "";
  if (berth_policy_load(Path(name).c_str(), &policy, why, sizeof(why)) != BERTH_OK) Fail(why);
  return policy;
}

berth_policy* OfTypes(const char* encoder, Knowledge knowledge, const char* name) {
  PolicyBundle bundle = test::RandomBundle("pair_scorer(width=8)", EncoderOf(encoder).Layout(4, 2), 4 * 2 + 1, 5);
  bundle.mdp.encoder = encoder;
  bundle.mdp.knowledge = knowledge;
  bundle.gpu_types = {"a", "b"};
  return Load(bundle, name);
}

berth_policy* OfCommands() {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=4,k80=5");
  settings.features = ParseFeatures("elasticity(min_factor=0.3,max_factor=3,measured=false)");
  const Scenario scenario = MakeWorkload("synthetic(rate=6,jobs=10)", settings)->Make(1, Split::kEvaluate, 0, 0);
  MdpSpec mdp;
  mdp.actions = ResolveActions("start,resize,pack,reject");
  mdp.visible = 4;
  const ObservationLayout layout = LayoutOf(mdp, scenario);
  PolicyBundle bundle = test::RandomBundle("pair_scorer(width=8)", layout, layout.q * layout.g + 1, 5);
  bundle.mdp = mdp;
  bundle.gpu_types = {"v100", "k80"};
  return Load(bundle, "commands.h5");
}

}  // namespace

bool Run_c_api(Bytes bytes) {
  static berth_policy* const policies[] = {OfTypes("ObservationV1", Knowledge::kOracle, "one.h5"),
                                           OfTypes("ObservationV3", Knowledge::kBlind, "three.h5"), OfCommands()};
  Input in(bytes);
  berth_policy* const policy = policies[in.Below(3)];
  const bool plausible = in.Below(4) != 0;  // most of a cluster is well formed, or nothing behind the first check is reached
  static const char* const kNames[] = {"a", "b", "v100", "k80", "", "\xff", nullptr};
  std::vector<berth_gpu_type> types;
  const int num_types = plausible ? 1 + in.Below(3) : in.Below(70);
  for (int i = 0; i < num_types; ++i) {
    const std::size_t name = plausible ? static_cast<std::size_t>(i) : static_cast<std::size_t>(in.Below(std::size(kNames)));
    types.push_back({kNames[name], plausible ? 1 + in.Below(8) : static_cast<std::int32_t>(in.Integer())});
  }
  const int num_jobs = in.Below(plausible ? 7 : 20);
  std::vector<berth_job> jobs(static_cast<std::size_t>(num_jobs), berth_job BERTH_JOB_INIT);
  std::vector<berth_job_details> more(jobs.size(), berth_job_details BERTH_JOB_DETAILS_INIT);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    berth_job& job = jobs[i];
    job.arrival_s = in.Byte();
    job.gang = 1 + in.Below(2);
    job.running_on = in.Below(3) == 0 ? in.Below(num_types + 1) - 1 : -1;
    job.attained_steps = in.Byte();
    switch (in.Below(12)) {  // one member beyond what is usual
      case 0: job.arrival_s = in.Number(); break;
      case 1: job.remaining_steps = in.Number(); break;
      case 2: job.attained_s = in.Number(); break;
      case 3: job.weight = in.Number(); break;
      case 4: job.deadline_s = in.Number(); break;
      case 5: job.requested_s = in.Number(); break;
      case 6: job.gang = static_cast<std::int32_t>(in.Integer()); break;
      case 7: job.running_on = static_cast<std::int32_t>(in.Integer()); break;
      case 8: job.attained_steps = in.Number(); break;
      default: break;
    }
    switch (in.Below(6)) {
      case 0: more[i].least = static_cast<std::int32_t>(in.Integer()); break;
      case 1: more[i].most = static_cast<std::int32_t>(in.Integer()); break;
      case 2: more[i].width = static_cast<std::int32_t>(in.Integer()); break;
      case 3: more[i].beside = in.Below(8) - 1; break;
      case 4: more[i].beside = static_cast<std::int32_t>(in.Integer()); break;
      default: break;
    }
  }
  const std::size_t n = jobs.size(), g = types.size();
  std::vector<double> rates(n * g), by_width, pairs;
  for (double& rate : rates) rate = plausible ? in.Below(5) : in.Number();
  berth_details details = BERTH_DETAILS_INIT;
  const int told = in.Byte();
  if ((told & 1) != 0) details.jobs = more.data();
  if ((told & 2) != 0) {
    details.max_width = static_cast<std::size_t>(1 + in.Below(5));
    by_width.resize(n * g * details.max_width);
    for (double& rate : by_width) rate = plausible ? in.Below(5) : in.Number();
    details.rates_by_width = by_width.data();
  }
  if ((told & 4) != 0) {
    pairs.resize(n * n * g);
    for (double& rate : pairs) rate = plausible ? in.Below(3) : in.Number();
    details.pair_rates = pairs.data();
  }
  berth_cluster cluster = BERTH_CLUSTER_INIT;
  cluster.now_s = plausible ? 300.0 : in.Number();
  cluster.types = types.data(), cluster.num_types = g;
  cluster.jobs = jobs.data(), cluster.num_jobs = n;
  cluster.rates = rates.data();
  cluster.changed = in.Coin();
  std::vector<unsigned char> older(n * offsetof(berth_job, attained_steps));
  if ((told & 8) != 0) {
    cluster.job_size = offsetof(berth_job, attained_steps);
    for (std::size_t i = 0; i < n; ++i) std::memcpy(older.data() + i * cluster.job_size, &jobs[i], cluster.job_size);
    cluster.jobs = reinterpret_cast<const berth_job*>(older.data());
  }
  if ((told & 0x70) == 0x70) {  // what a caller may get wrong of sizes without lying about memory
    switch (in.Below(5)) {
      case 0: cluster.struct_size = static_cast<std::size_t>(in.Integer()); break;
      case 1: cluster.job_size = static_cast<std::size_t>(in.Byte()); break;
      case 2: details.job_size = static_cast<std::size_t>(in.Byte()); break;
      case 3: cluster.jobs = nullptr; break;
      default: cluster.types = nullptr; break;
    }
    if (cluster.job_size > ((told & 8) != 0 ? offsetof(berth_job, attained_steps) : sizeof(berth_job))) cluster.job_size = 0;
  }
  char why[128] = "";
  std::vector<std::int32_t> runs_on(n + 1, -7);
  std::vector<berth_command> commands(n + 1);
  commands[n].kind = -7;
  std::size_t told_commands = 0;
  const berth_status decided = berth_policy_decide(policy, &cluster, runs_on.data(), n, why, sizeof(why));
  const berth_status commanded = berth_policy_command(policy, &cluster, (told & 0x80) == 0 ? &details : nullptr, commands.data(),
                                                      sizeof(berth_command), n, &told_commands, why, sizeof(why));
  for (const berth_status status : {decided, commanded}) {
    if (status == BERTH_INTERNAL || status == BERTH_OUT_OF_MEMORY) Fail(why);
  }
  if (runs_on[n] != -7 || commands[n].kind != -7 || told_commands > n) Fail("written behind the end");
  for (std::size_t i = 0; i < n; ++i) {
    if (decided == BERTH_OK ? runs_on[i] < -1 || runs_on[i] >= num_types : runs_on[i] != -7) Fail("a type that is none");
  }
  for (std::size_t i = 0; i < told_commands; ++i) {
    const berth_command& c = commands[i];
    if (c.job < 0 || c.job >= num_jobs || c.type < -1 || c.type >= num_types || c.host < -1 || c.host >= num_jobs || c.width < 0)
      Fail("a command that names nothing");
  }
  return true;
}

}  // namespace berth::fuzz

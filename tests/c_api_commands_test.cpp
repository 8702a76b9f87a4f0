// Commands through the C API: policies that resize, pack and reject decide there as in Berth's simulator; what
// they need and a caller does not say is named.
#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include "data/workloads.hpp"
#include "env/base/index.hpp"
#include "env/features/table.hpp"
#include "env/gym/decision_point.hpp"
#include "env/sim/metrics.hpp"
#include "policies/c_api/berth.h"
#include "policies/schedulers.hpp"
#include "tests/catch.hpp"
#include "tests/policies_support.hpp"
#include "tests/temporary_folder.hpp"

namespace berth {
namespace {

using Catch::Matchers::Contains;

PolicyBundle CommandBundle(const MdpSpec& mdp, const Scenario& scenario, const std::string& network,
                           std::uint64_t seed) {
  const ObservationLayout layout = LayoutOf(mdp, scenario);
  PolicyBundle bundle = test::RandomBundle(network, layout, layout.q * layout.g + 1, seed);
  bundle.mdp = mdp;
  bundle.gpu_types.clear();
  for (const GpuType& type : scenario.data().cluster.types) bundle.gpu_types.push_back(type.name);
  return bundle;
}

Scenario CommandScenario(std::uint64_t seed, const Clock& clock, Knowledge knowledge) {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=4,k80=5");
  settings.features = ParseFeatures("elasticity(min_factor=0.3,max_factor=3,measured=false)");
  settings.clock = clock;
  settings.knowledge = knowledge;
  return MakeWorkload("synthetic(rate=6,jobs=40,gangs=1:0.7/2:0.2/4:0.1,slo=true)", settings)
      ->Make(seed, Split::kEvaluate, 0, 0);
}

// Jobs, types, widths and pairs as a program of somebody else's would state them, latest job first.
struct Stated {
  explicit Stated(const ClusterView& view) : active(view.active().begin(), view.active().end()) {
    std::reverse(active.begin(), active.end());
    for (const GpuType& type : view.types()) types.push_back({type.name.c_str(), type.count});
    const auto position = [&](int job) {
      return static_cast<std::int32_t>(std::find(active.begin(), active.end(), job) - active.begin());
    };
    std::size_t widest = 1;
    // Of a gang that may grow to the largest type: more than there is, which changes nothing.
    int largest = 0;
    for (const GpuType& type : view.types()) largest = std::max(largest, type.count);
    for (const int job : active) {
      berth_job row = BERTH_JOB_INIT;
      row.arrival_s = view.Arrival(job);
      if (view.granted() >= Knowledge::kEstimate) row.remaining_steps = view.RemainingSteps(job);
      if (view.granted() >= Knowledge::kBlind) row.attained_s = view.AttainedSeconds(job);
      if (view.granted() >= Knowledge::kBlind) row.attained_steps = view.AttainedSteps(job);
      row.weight = view.Weight(job), row.deadline_s = view.Deadline(job), row.requested_s = view.Requested(job);
      row.gang = view.Gang(job), row.running_on = view.TypeOf(job);
      jobs.push_back(row);
      const int partner = view.Partner(job);
      const bool grows = view.MaxGang(job) == largest && view.MinGang(job) < largest;
      const int most = view.MaxGang(job) + (grows ? 3 : 0);
      more.push_back({view.MinGang(job), most, view.IsRunning(job) ? view.Width(job) : 0,
                      partner < 0 ? -1 : position(partner)});
      rates.insert(rates.end(), view.Rates(job).begin(), view.Rates(job).end());
      widest = std::max(widest, static_cast<std::size_t>(most));
    }
    for (const int job : active) {
      for (int width = 1; width <= static_cast<int>(widest); ++width) {
        for (int type = 0; type < view.num_types(); ++type)
          by_width.push_back(width > view.types()[U(type)].count ? 7.0 : view.RateAt(job, type, width));
      }
      for (const int other : active) {
        for (int type = 0; type < view.num_types(); ++type) pairs.push_back(view.PairRate(job, other, type));
      }
    }
    cluster.now_s = view.now();
    cluster.types = types.data(), cluster.num_types = types.size();
    cluster.jobs = jobs.data(), cluster.num_jobs = jobs.size();
    cluster.rates = rates.data();
    cluster.changed = !view.arrived().empty() || !view.completed().empty();
    details.jobs = more.data();
    details.rates_by_width = by_width.data(), details.max_width = widest;
    details.pair_rates = pairs.data();
  }
  Stated(const Stated&) = delete;
  Stated& operator=(const Stated&) = delete;

  std::vector<int> active;
  std::vector<berth_gpu_type> types;
  std::vector<berth_job> jobs;
  std::vector<berth_job_details> more;
  std::vector<double> rates, by_width, pairs;
  berth_cluster cluster = BERTH_CLUSTER_INIT;
  berth_details details = BERTH_DETAILS_INIT;
};

class CommandsThroughC : public Scheduler {
 public:
  explicit CommandsThroughC(const std::string& path, Knowledge knowledge) : knowledge_(knowledge) {
    char why[256] = "";
    const berth_status status = berth_policy_load(path.c_str(), &policy_, why, sizeof(why));
    CAPTURE(why);
    REQUIRE(status == BERTH_OK);
  }
  ~CommandsThroughC() override { berth_policy_free(policy_); }
  Knowledge knowledge() const override { return knowledge_; }

  void Decide(const ClusterView& view, Decision& decision) override {
    const Stated stated(view);
    std::vector<berth_command> commands(stated.jobs.size() + 1);
    std::size_t n = 99;
    char why[256] = "";
    const berth_status status =
        berth_policy_command(policy_, &stated.cluster, &stated.details, commands.data(), sizeof(berth_command),
                             commands.size(), &n, why, sizeof(why));
    CAPTURE(why);
    REQUIRE(status == BERTH_OK);
    for (std::size_t i = 0; i < n; ++i) {
      const berth_command& c = commands[i];
      const int job = stated.active[U(c.job)];
      ++count[c.kind];
      switch (c.kind) {
        case BERTH_START:
          decision.StartAt(job, c.type, c.width);
          break;
        case BERTH_STOP:
          decision.Stop(job);
          break;
        case BERTH_MOVE:
          decision.Resize(job, c.type, c.width);
          break;
        case BERTH_REJECT:
          decision.Reject(job);
          break;
        default:
          REQUIRE(c.kind == BERTH_PACK);
          decision.Pack(job, stated.active[U(c.host)]);
      }
      widened += c.width > 0 && c.width != view.Gang(job) ? 1 : 0;
    }
  }

  int count[5] = {0, 0, 0, 0, 0}, widened = 0;

 private:
  berth_policy* policy_ = nullptr;
  Knowledge knowledge_;
};

std::vector<std::tuple<double, int, int, int>> Happened(const RunResult& result) {
  std::vector<std::tuple<double, int, int, int>> events;
  for (const Event& event : result.events)
    events.emplace_back(event.time, static_cast<int>(event.kind), event.job, event.type);
  std::sort(events.begin(), events.end());
  return events;
}

berth_status LoadStatus(const PolicyBundle& bundle, const std::string& path, std::string& why) {
  SaveBundle(bundle, path);
  char text[400] = "";
  berth_policy* policy = nullptr;
  const berth_status status = berth_policy_load(path.c_str(), &policy, text, sizeof(text));
  berth_policy_free(policy);
  why = text;
  return status;
}

}  // namespace

TEST_CASE("c api: commands are those of Berth's simulator") {
  const test::TemporaryFolder folder;
  int count[5] = {0, 0, 0, 0, 0}, widened = 0;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    constexpr const char* kActions[] = {"start,resize,pack,reject", "start,resize", "start,pack", "start"};
    MdpSpec mdp;
    mdp.actions = ResolveActions(kActions[seed % 4]);
    mdp.preemptive = seed % 3 != 0;
    mdp.work_conserving = seed % 2 == 0;
    mdp.on_change = seed % 5 == 0;
    mdp.reread = seed % 4 != 3 && seed > 6;
    mdp.visible = 8;
    mdp.knowledge = static_cast<Knowledge>(1 + seed % 3);
    const Scenario scenario = CommandScenario(
        seed, seed % 2 == 0 ? Clock{ClockKind::kEvent} : Clock{ClockKind::kRounds, 360.0}, mdp.knowledge);
    mdp.encoder = seed % 3 == 1 ? "ObservationV3"
                                : RichestEncoder(scenario.data().features, mdp.semantics, mdp.knowledge);
    INFO("seed " << seed << ", " << mdp.ToString());
    const PolicyBundle bundle = CommandBundle(mdp, scenario, "pair_scorer(width=8,skip=true)", seed);
    SaveBundle(bundle, folder / "p.h5");
    RunOptions options;
    options.keep_events = true;
    const auto ours = MakePolicyScheduler(bundle, "p.h5", false);
    CommandsThroughC theirs(folder / "p.h5", mdp.knowledge);
    const RunResult expected = Run(scenario, *ours, "ours", options);
    const RunResult found = Run(scenario, theirs, "theirs", options);
    CHECK(Happened(found) == Happened(expected));
    CHECK(expected.events.size() > 80);
    for (int kind = 0; kind < 5; ++kind) count[kind] += theirs.count[kind];
    widened += theirs.widened;
  }
  for (int kind = 0; kind < 5; ++kind) {  // none was left out
    CAPTURE(kind);
    CHECK(count[kind] > 10);
  }
  CHECK(widened > 10);
}

TEST_CASE("c api: commands that need what a cluster does not state are refused by name") {
  const test::TemporaryFolder folder;
  const Scenario scenario = CommandScenario(1, {}, Knowledge::kOracle);
  MdpSpec mdp;
  mdp.visible = 4;
  mdp.encoder = "ObservationV3";
  std::string said;
  constexpr const char* kNeeding[][2] = {{"topology", "gather"}, {"topology", "place"},   {"checkpoints", "checkpoint"},
                                         {"power", "cap"},       {"stages", "offload"}, {"stages", "wait"}};
  for (const auto& [feature, kind] : kNeeding) {  // nodes, settings of features, a time
    ScenarioData data = scenario.data();
    data.features = ParseFeatures(feature);
    MdpSpec needing = mdp;
    needing.actions = ResolveActions(Join("start,", kind));
    const PolicyBundle bundle = CommandBundle(needing, Scenario(std::move(data)), "pair_scorer(width=8)", 1);
    CHECK(LoadStatus(bundle, folder / "g.h5", said) == BERTH_UNSUPPORTED);
    CHECK_THAT(said, Contains(Join("start,", kind)) && Contains(Join("'", kind, "'")) && !Contains("\n"));
  }
  mdp.actions = ResolveActions("start,resize,pack");
  SaveBundle(CommandBundle(mdp, scenario, "pair_scorer(width=8)", 1), folder / "p.h5");
  berth_policy* policy = nullptr;
  char why[400] = "";
  REQUIRE(berth_policy_load((folder / "p.h5").c_str(), &policy, why, sizeof(why)) == BERTH_OK);
  CHECK(std::string(berth_policy_actions(policy)) == mdp.actions);
  CHECK(berth_policy_actions(nullptr) == nullptr);
  berth_policy_info info{};
  info.struct_size = sizeof(info);
  CHECK(berth_policy_get_info(policy, &info, why, sizeof(why)) == BERTH_OK);
  CHECK(info.num_types == 2);  // not the columns of its commands

  const berth_gpu_type types[] = {{"fast", 2}, {"slow", 3}};
  berth_job jobs[] = {BERTH_JOB_INIT, BERTH_JOB_INIT};
  double rates[] = {2.0, 1.0, 2.0, 1.0};
  berth_cluster cluster = BERTH_CLUSTER_INIT;
  cluster.now_s = 10.0;
  cluster.types = types, cluster.num_types = 2;
  cluster.jobs = jobs, cluster.num_jobs = 2;
  cluster.rates = rates;
  double by_width[] = {2.0, 1.0, 3.0, 1.5, 2.0, 1.0, 3.0, 1.5};
  double pairs[] = {1.0, 0.5, 1.0, 0.5, 1.0, 0.5, 1.0, 0.5};
  berth_job_details more[] = {{1, 2, 0, -1}, {1, 2, 0, -1}};
  berth_details details = BERTH_DETAILS_INIT;
  details.jobs = more, details.rates_by_width = by_width, details.max_width = 2, details.pair_rates = pairs;
  berth_command commands[2] = {{-7, -7, -7, -7, -7}, {-7, -7, -7, -7, -7}};
  std::size_t n = 77, capacity = 2, command_size = sizeof(berth_command);
  std::string expected;
  berth_status status = BERTH_BAD_ARGUMENT;
  bool none = false;
  SECTION("what is asked of it, and it can") {
    status = BERTH_OK;
  }
  SECTION("no details") {
    none = true, expected = "rates_by_width: expected rates on 1 to max_width GPUs";
  }
  SECTION("no widths") {
    details.rates_by_width = nullptr, expected = "start,pack(host=together),resize reads, found none";
  }
  SECTION("no pairs") {
    details.pair_rates = nullptr, expected = "pair_rates: expected rates of two jobs on one GPU";
  }
  SECTION("an older header") {
    details.struct_size -= 8, expected = "another berth.h";
  }
  SECTION("a command of another size") {
    command_size = 16, expected = "command_size";
  }
  SECTION("wider than the rates say") {
    more[1].most = 3, expected = "job 1: expected 1 <= least <= gang <= most";
  }
  SECTION("at most fewer than none") {
    more[1].most = -7, expected = "found 1, 1, -7";
  }
  SECTION("on fewer than none") {
    jobs[0].running_on = 0, more[0].width = -3, expected = "job 0: width: expected 1 to 2 GPUs, found -3";
  }
  SECTION("a rate that is none") {
    pairs[3] = -1.0, expected = "pair_rates: expected steps/s >= 0, found -1";
  }
  SECTION("on more GPUs than it may") {
    jobs[0].running_on = 0, more[0].width = 3, expected = "job 0: width: expected 1 to 2 GPUs, found 3";
  }
  SECTION("beside who is elsewhere") {
    jobs[0].running_on = 0, jobs[1].running_on = 1, more[0].beside = 1, more[1].beside = 0;
    expected = "job 0: beside: expected a job that runs on the same type";
  }
  SECTION("where it cannot run") {
    jobs[1].running_on = 1, rates[3] = 0.0, expected = "job 1: it runs on 'slow', where its rate is 0";
  }
  SECTION("on as many GPUs as it cannot run on") {
    jobs[0].running_on = 0, more[0].width = 2, by_width[2] = 0.0;
    expected = "job 0: it runs on 'fast', where its rate on 2 GPUs is 0";
  }
  SECTION("beside whom it cannot share a GPU with") {
    jobs[0].running_on = jobs[1].running_on = 1, more[0].beside = 1, more[1].beside = 0, pairs[5] = 0.0;
    expected = "job 1: it runs on 'slow', where its rate beside job 0 is 0";
  }
  SECTION("as it can run, whatever rates it has otherwise") {
    jobs[0].running_on = 0, more[0].width = 2, by_width[0] = by_width[6] = pairs[0] = pairs[2] = 0.0;
    status = BERTH_OK;
  }
  SECTION("nobody is there") {
    cluster.num_jobs = 0, none = true, status = BERTH_OK;
  }
  SECTION("nobody is there, and no GPU") {
    cluster.num_jobs = cluster.num_types = 0, none = true, expected = "types: expected at least one GPU type";
  }
  SECTION("nobody is there, at no time") {
    cluster.num_jobs = 0, cluster.now_s = NAN, expected = "now_s: expected seconds";
  }
  SECTION("no room for the answer") {
    capacity = 1, status = BERTH_BUFFER_TOO_SMALL, expected = "room for 2 of them, found 1";
  }
  CHECK(berth_policy_command(policy, &cluster, none ? nullptr : &details, commands, command_size, capacity, &n, why,
                             sizeof(why)) == status);
  CHECK_THAT(why, Contains(expected) && !Contains("\n"));
  if (status == BERTH_OK) {
    CHECK(n <= 2);
  } else {
    CHECK(n == 77);
    CHECK(commands[0].kind == -7);
  }
  int32_t runs_on[] = {-7, -7};
  CHECK(berth_policy_decide(policy, &cluster, runs_on, 2, why, sizeof(why)) == BERTH_UNSUPPORTED);
  CHECK_THAT(why, Contains("berth_policy_command runs") && Contains("start,pack(host=together),resize"));
  CHECK(runs_on[0] == -7);
  berth_policy_free(policy);
}

}  // namespace berth

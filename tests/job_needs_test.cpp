// What synthetic draws for jobs beside their GPUs: shares and bounds that it was asked for, no change of
// anything else, and one line for what is wrong.
#include "data/job_needs.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <type_traits>

#include "data/workloads.hpp"
#include "env/base/index.hpp"
#include "env/features/sharing/sharing.hpp"
#include "env/features/table.hpp"
#include "tests/catch.hpp"
#include "tests/errors.hpp"
#include "tests/runs.hpp"

namespace berth {
namespace {

constexpr int kJobs = 4000;

ScenarioData Draw(const std::string& needs, std::uint64_t seed = 1, const std::string& features = "") {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=16/4,p100=16/4,k80=16/4");
  settings.clock = Clock::Parse("event");
  settings.features = ParseFeatures(features);
  const std::string spec = "synthetic(rate=4,gangs=multi,jobs=" + std::to_string(kJobs) + needs + ")";
  return MakeWorkload(spec, settings)->Make(seed, Split::kEvaluate, 0, 0, 0).data();
}

// A share as counted, against what was asked: three standard errors of a mean of `n` draws.
void CheckShare(double counted, double asked, double n) {
  CHECK(std::abs(counted / n - asked) < 3.0 * std::sqrt(asked * (1.0 - asked) / n) + 1e-12);
}

template <class T>
double Share(const std::vector<T>& column, T value) {
  return static_cast<double>(std::count(column.begin(), column.end(), value));
}

}  // namespace

TEST_CASE("job needs: what is off is not there, and no draw moves another") {
  const ScenarioData plain = Draw("");
  CHECK(plain.provenance.find("off") == std::string::npos);
  const std::map<std::string, std::string> needs = {
      {"tenants", "3"},        {"parts", "250:0.3/500:0.2"}, {"qos", "guaranteed:0.5/best_effort:0.5"},
      {"elastic", "0.5:2"},    {"requests", "1:5"},          {"only", "0.2"},
      {"cores", "2:16"},       {"memory", "8:64"},           {"gpu_memory", "1:8"},
      {"bandwidth", "0.1:0.9"}, {"utilization", "0.2:1"}};
  CHECK(needs.size() == std::size(kJobNeedsParams));
  std::string all;
  for (const auto& [name, value] : needs) all += "," + name + "=" + value;
  const ScenarioData whole = Draw(all);
  for (const auto& [name, value] : needs) {
    CAPTURE(name);
    ScenarioData one = Draw("," + name + "=" + value);
    CHECK(one.provenance.find(name + "=" + value) != std::string::npos);
    ForEachColumn(one.jobs, [&](const std::string& column, auto& mine, bool) {
      ForEachColumn(plain.jobs, [&](const std::string& other, const auto& was, bool) {
        if constexpr (std::is_same_v<std::decay_t<decltype(mine)>, std::decay_t<decltype(was)>>) {
          if (column == other && !was.empty()) CHECK(mine == was);
        }
      });
      if (column == "gang_max") return;  // parts are of one GPU
      ForEachColumn(whole.jobs, [&](const std::string& other, const auto& with_all, bool) {
        if constexpr (std::is_same_v<std::decay_t<decltype(mine)>, std::decay_t<decltype(with_all)>>) {
          if (column == other && !mine.empty()) CHECK(mine == with_all);
        }
      });
    });
  }
}

TEST_CASE("job needs: shares are those that were asked for") {
  const ScenarioData tenants = Draw(",tenants=prod:0.7/research:0.3");
  REQUIRE(tenants.tenants.size() == 2);
  CHECK(tenants.tenants[1].name == "research");
  CheckShare(Share(tenants.jobs.tenant, 1), 0.3, kJobs);
  CHECK(Draw(",tenants=3").tenants.back().name == "tenant3");
  CHECK(Draw(",tenants=offline:0.5/online:0.5").provenance.find("tenants=offline:0.5/online:0.5") !=
        std::string::npos);
  const ScenarioData parts = Draw(",parts=250:0.3/500:0.2");
  double singles = 0.0;
  for (int job = 0; job < kJobs; ++job) {
    singles += parts.jobs.gang[U(job)] == 1;
    if (parts.jobs.gang[U(job)] > 1) CHECK(parts.jobs.gpu_milli[U(job)] == 1000);
  }
  CheckShare(Share(parts.jobs.gpu_milli, 250), 0.3, singles);
  CheckShare(Share(parts.jobs.gpu_milli, 500), 0.2, singles);
  const ScenarioData qos = Draw(",qos=guaranteed:0.5/burstable:0.3/best_effort:0.2");
  CheckShare(Share(qos.jobs.qos, static_cast<int>(Qos::kBurstable)), 0.3, kJobs);
  CheckShare(Share(qos.jobs.qos, static_cast<int>(Qos::kBestEffort)), 0.2, kJobs);
  const ScenarioData only = Draw(",only=0.25");
  CheckShare(kJobs - Share(only.jobs.allowed, std::uint64_t{7}), 0.25, kJobs);
  for (std::uint64_t allowed : only.jobs.allowed) CHECK((allowed == 7 || (allowed & (allowed - 1)) == 0));
}

TEST_CASE("job needs: numbers are within their bounds, and kinds keep theirs whatever the seed") {
  const ScenarioData data = Draw(",elastic=0.5:2,cores=2:16,memory=8:64,gpu_memory=4:30,bandwidth=0.1:0.9");
  for (int job = 0; job < kJobs; ++job) {
    const int gang = data.jobs.gang[U(job)];
    CHECK(data.jobs.gang_min[U(job)] == std::max(1, gang / 2));
    CHECK(data.jobs.gang_max[U(job)] == 2 * gang);
    CHECK((data.jobs.demand[U(2 * job)] >= 2.0 && data.jobs.demand[U(2 * job)] <= 16.0));
    CHECK((data.jobs.demand[U(2 * job + 1)] >= 8.0 && data.jobs.demand[U(2 * job + 1)] <= 64.0));
  }
  for (double memory : data.traits.memory_gb) CHECK((memory >= 4.0 && memory <= 30.0));
  for (double share : data.traits.bandwidth) CHECK((share >= 0.1 && share <= 0.9));
  CHECK(Draw(",gpu_memory=4:30", 2).traits.memory_gb == data.traits.memory_gb);
  CHECK(Draw(",cores=2:16", 2).jobs.demand != data.jobs.demand);
  // Requests are log-uniform over the run time alone on the fastest type: half of them below sqrt(1 x 4) = 2.
  const ScenarioData asked = Draw(",requests=1:4");
  const Scenario scenario(asked);
  double below = 0.0;
  for (int job = 0; job < kJobs; ++job) {
    const double factor =
        asked.jobs.requested_s[U(job)] / (asked.jobs.total_steps[U(job)] / scenario.BestRate(job));
    CHECK((factor >= 1.0 - 1e-12 && factor <= 4.0 + 1e-12));
    below += factor < 2.0;
  }
  CheckShare(below, 0.5, kJobs);
}

TEST_CASE(
    "job needs: whose memory no GPU holds has whole ones, and whoever may run on one type alone fits there") {
  // 16 GB of V100 and P100, 12 of K80: of job types of 4 to 30 GB some fit nowhere in part.
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const ScenarioData data = Draw(",gpu_memory=4:30,parts=500:0.9,only=0.5", seed, "sharing");
    CHECK_NOTHROW(Scenario(data));
    CHECK(Share(data.jobs.gpu_milli, 500) > 0.0);
    for (int job = 0; job < kJobs; ++job) {
      if (data.traits.memory_gb[U(data.jobs.job_type[U(job)])] > 16.0)
        CHECK(data.jobs.gpu_milli[U(job)] == 1000);
    }
  }
}

TEST_CASE("job needs: schedulers run what was drawn with the features that read it") {
  ScenarioSettings settings;
  settings.cluster = ParseCluster("v100=8/4,p100=8/4,k80=8/4");
  settings.clock = Clock::Parse("event");
  settings.features =
      ParseFeatures("elasticity;sharing;stages(depends=0.2);topology(cpus_per_node=64,node_memory_gb=512)");
  const auto source = MakeWorkload(
      "synthetic(rate=4,jobs=60,parts=250:0.3/500:0.2,qos=guaranteed:0.5/"
      "burstable:0.5,elastic=0.5:2,tenants=2,"
      "requests=1:5,only=0.1,cores=2:8,memory=8:64,gpu_memory=1:8,bandwidth=0.1:0.9)",
      settings);
  const Scenario scenario = source->Make(3, Split::kEvaluate, 0, 0, 0);
  for (const char* spec : {"fcfs", "srpt", "easy", "gpu_shares", "fair_share", "gandiva", "gavel"}) {
    CAPTURE(spec);
    CHECK(test::RunOf(spec, scenario).metrics.jobs == 60);
  }
}

TEST_CASE("job needs: bad input is one line that names the parameter") {
  for (const auto& [needs, part] : std::map<std::string, std::string>{{",tenants=0", "tenants"},
                                                                      {",tenants=a:0.5", "tenants"},
                                                                      {",tenants=a:0.5/a:0.5", "'a' twice"},
                                                                      {",parts=0:0.5", "parts"},
                                                                      {",parts=1000:0.5", "parts"},
                                                                      {",parts=250:0.8/500:0.8", "parts"},
                                                                      {",parts=half", "parts"},
                                                                      {",qos=gold:1", "classes guaranteed"},
                                                                      {",elastic=2:4", "elastic"},
                                                                      {",elastic=2", "elastic"},
                                                                      {",requests=5:1", "requests"},
                                                                      {",requests=0:1", "requests"},
                                                                      {",only=2", "only"},
                                                                      {",cores=-1:4", "cores"},
                                                                      {",bandwidth=0.1:1.5", "bandwidth"},
                                                                      {",gpu_memory=x:y", "gpu_memory"}}) {
    CAPTURE(needs);
    const std::string error = test::MessageOf([&] { Draw(needs); });
    CHECK(test::Says(error, "synthetic: "));
    CHECK(test::Says(error, part));
  }
}

}  // namespace berth

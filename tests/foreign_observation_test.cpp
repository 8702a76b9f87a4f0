// ObservationV3 as tools/examples writes it in NumPy against Berth's encoder, on clusters out of a stream.
#include <sys/wait.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "env/gym/decision_point.hpp"
#include "policies/foreign_cluster.hpp"
#include "tests/binary.hpp"
#include "tests/catch.hpp"
#include "tests/python.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"
#include "tools/json.hpp"

namespace berth {
namespace {

// A cluster of 1 to 5 types and up to 24 jobs; half of them with rates, gangs and sizes of few values, so
// that many are as well off in two places.
struct RandomCluster {
  explicit RandomCluster(Stream& stream) {
    const bool alike = stream.Below(2) == 0;
    const std::uint32_t kinds = 1 + stream.Below(5), most = 1 + stream.Below(24);
    for (std::uint32_t g = 0; g < kinds; ++g) {
      GpuType type;
      type.name = std::string(1, static_cast<char>('a' + g));
      type.count = static_cast<int>(1 + stream.Below(9));
      types.push_back(type);
      idle.push_back(type.count);
    }
    for (std::uint32_t i = 0; i < most; ++i) {
      ForeignJob job;
      job.gang = 1 << stream.Below(3);
      std::vector<double> row;
      bool fits = false;
      for (const GpuType& type : types) {
        const double rate = alike ? 0.5 * stream.Below(4) : stream.Uniform(0.1, 9.0);
        row.push_back(!alike && stream.Below(6) == 0 ? 0.0 : rate);
        fits = fits || (row.back() > 0.0 && job.gang <= type.count);
      }
      if (!fits) continue;
      job.arrival_s = stream.Uniform(0.0, now);
      job.remaining_steps = alike ? 3600.0 * (1 + stream.Below(3)) : stream.Exponential(1e5);
      job.attained_s = stream.Below(3) == 0 ? 0.0 : stream.Uniform(0.0, 1e5);
      job.attained_steps = job.attained_s == 0.0 ? std::nan("") : stream.Uniform(0.0, 1e6);
      const std::uint32_t on = stream.Below(2 * kinds);
      if (on < kinds && row[on] > 0.0 && job.gang <= idle[on]) {
        job.running_on = static_cast<int>(on);
        idle[on] -= job.gang;
      }
      jobs.push_back(job);
      rates.insert(rates.end(), row.begin(), row.end());
    }
  }

  double now = 1e5;
  std::vector<GpuType> types;
  std::vector<int> idle;
  std::vector<ForeignJob> jobs;
  std::vector<double> rates;
};

Json Case(const RandomCluster& cluster, const MdpSpec& mdp) {
  const ForeignView foreign({cluster.now, cluster.types, cluster.jobs, cluster.rates, true}, mdp.knowledge);
  const ClusterView& view = foreign.view();
  DecisionPoint point(mdp);
  point.Begin(view);
  point.Start(view);
  if (!point.Gather(view)) return nullptr;
  point.Observe(view, /*q=*/0);
  Json counts = Json::array(), jobs = Json::array();
  for (const GpuType& type : cluster.types) counts.push_back(type.count);
  for (int candidate : point.candidates()) {
    const std::size_t i = U(foreign.Position(candidate)), g = cluster.types.size();
    const ForeignJob& job = cluster.jobs[i];
    jobs.push_back({{"arrival", job.arrival_s},
                    {"gang", job.gang},
                    {"rates", std::vector<double>(&cluster.rates[i * g], &cluster.rates[i * g] + g)},
                    {"remaining_steps", job.remaining_steps},
                    {"attained", job.attained_s},
                    {"attained_steps", job.attained_steps},  // null where it is NaN
                    {"running_on", job.running_on}});
  }
  return {{"now", cluster.now},
          {"counts", counts},
          {"idle", cluster.idle},
          {"jobs", jobs},
          {"knowledge", ToString(mdp.knowledge)},
          {"preemptive", mdp.preemptive},
          {"observation", std::vector<float>(point.observation().begin(), point.observation().end())}};
}

}  // namespace

TEST_CASE("foreign: NumPy writes ObservationV3 as Berth's encoder does") {
  const std::string python = test::Python(BERTH_SOURCE_DIR, "numpy, onnxruntime");
  if (python.empty()) return test::Skip("needs Python with numpy and onnxruntime (tools/setup)");
  const test::TemporaryFolder folder;
  Stream stream(23, Purpose::kTest);
  Json cases = Json::array();
  for (int i = 0; i < 400; ++i) {
    MdpSpec mdp;
    mdp.encoder = "ObservationV3";
    mdp.preemptive = stream.Below(2) == 0;
    mdp.knowledge = static_cast<Knowledge>(stream.Below(4));
    const RandomCluster cluster(stream);
    if (Json row = cluster.jobs.empty() ? Json(nullptr) : Case(cluster, mdp); !row.is_null()) {
      cases.push_back(std::move(row));
    }
  }
  CHECK(cases.size() > 300);
  const auto check = [&] {
    std::ofstream(folder / "cases.json") << cases;
    const int status = std::system(Join("'", python, "' '" BERTH_SOURCE_DIR "/tests/check_observation.py' '",
                                        folder / "cases.json", "' >'", folder / "log.txt", "' 2>&1")
                                       .c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  const int code = check();
  const std::string log = test::Slurp(folder / "log.txt");
  CAPTURE(log);
  CHECK(code == 0);
  CHECK_THAT(log, Catch::Matchers::StartsWith(Join(cases.size(), " observations, largest difference ")));
  // The comparison can fail: the last float of the last one is the load.
  Json& load = cases.back()["observation"].back();
  load = load.get<double>() + 1e-4;
  CHECK(check() == 1);
  CHECK_THAT(test::Slurp(folder / "log.txt"), Catch::Matchers::Contains("global"));
}

}  // namespace berth

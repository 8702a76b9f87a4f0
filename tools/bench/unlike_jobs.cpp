#include "tools/bench/unlike_jobs.hpp"

#include "env/base/check.hpp"
#include "env/base/portable_math.hpp"
#include "env/base/rng.hpp"

namespace berth::bench {

gavel::Problem UnlikeJobs(int jobs, int types, int mean_gpus) {
  Stream random(/*seed=*/1, Purpose::kTest);
  const auto spread = [&](double by) { return Exp(by * random.Normal()); };
  gavel::Problem problem;
  std::vector<double> speed;
  for (int type = 0; type < types; ++type) {
    problem.workers.push_back(1 +
                              static_cast<int>(random.Below(static_cast<std::uint32_t>(2 * mean_gpus - 1))));
    problem.type_names.push_back(Join("type", type));
    speed.push_back(spread(0.5));
  }
  for (int job = 0; job < jobs; ++job) {
    const double base = spread(1.0);
    const auto can = static_cast<int>(random.Below(static_cast<std::uint32_t>(types)));
    problem.key.push_back(job);
    problem.gang.push_back(1 << random.Below(4));
    problem.weight.push_back(random.Uniform(1.0, 10.0));
    for (int type = 0; type < types; ++type) {
      const double rate = base * speed[static_cast<std::size_t>(type)] * spread(0.25);
      problem.throughput.push_back(type != can && random.Below(10) == 0 ? 0.0 : rate);
    }
  }
  return problem;
}

}  // namespace berth::bench

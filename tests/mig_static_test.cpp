// Layouts chosen once for a mix: against every choice, and what the scheduler makes of it.
#include <algorithm>
#include <functional>

#include "baselines/partitioning/static_layouts.hpp"
#include "env/base/index.hpp"
#include "env/base/rng.hpp"
#include "env/features/partitions/partitions.hpp"
#include "env/features/table.hpp"
#include "env/sim/simulator.hpp"
#include "tests/catch.hpp"
#include "tests/runs.hpp"
#include "tests/tiny.hpp"

namespace berth {
namespace {

// The highest rate of two kinds on given devices without linear programming: devices go to the kind of which
// they are comparatively better; where the two needs balance lies one device that serves both.
double BestRate(const std::vector<int>& devices, const std::vector<JobMix>& mix) {
  struct Device {
    double a, b;
  };
  std::vector<Device> all;
  for (std::size_t k = 0; k < devices.size(); ++k) {
    for (int n = 0; n < devices[k]; ++n) all.push_back({mix[0].speed[k], mix[1].speed[k]});
  }
  std::sort(all.begin(), all.end(), [](const Device& x, const Device& y) { return x.a * y.b > y.a * x.b; });
  // Of the order, the first `cut` (a real number) serve kind 0: its rate grows, the other's falls.
  const auto rates = [&](double cut) {
    double a = 0.0, b = 0.0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double part = std::clamp(cut - static_cast<double>(i), 0.0, 1.0);
      a += part * all[i].a, b += (1.0 - part) * all[i].b;
    }
    return std::pair{a / mix[0].share, b / mix[1].share};
  };
  double low = 0.0, high = static_cast<double>(all.size());
  for (int i = 0; i < 200; ++i) {
    const double middle = 0.5 * (low + high);
    (rates(middle).first < rates(middle).second ? low : high) = middle;
  }
  return std::min(rates(low).first, rates(low).second);
}

}  // namespace

TEST_CASE("mig_static: its layouts serve the mix at the highest rate, by exhaustive search", "[baselines]") {
  Stream random(5, Purpose::kTest);
  for (int trial = 0; trial < 25; ++trial) {
    const int types = 4;
    LayoutChoice product;
    product.gpus = 1 + static_cast<int>(random.Below(3));
    const int layouts = 2 + static_cast<int>(random.Below(4));
    for (int l = 0; l < layouts; ++l) {
      std::vector<int> devices(types, 0);
      for (int k = 0; k < types - 1; ++k) devices[U(k)] = static_cast<int>(random.Below(4));
      product.devices.push_back(devices);
    }
    const std::vector<int> fixed = {0, 0, 0, static_cast<int>(random.Below(3))};  // of another product
    const double share = random.Uniform(0.1, 0.9);
    std::vector<JobMix> mix = {{share, {}}, {1.0 - share, {}}};
    for (JobMix& kind : mix) {
      for (int k = 0; k < types; ++k) kind.speed.push_back(random.Uniform(0.05, 1.0));
    }
    double best = 0.0;
    const std::function<void(int, int, std::vector<int>)> search = [&](int layout, int left,
                                                                       std::vector<int> devices) {
      if (left == 0) best = std::max(best, BestRate(devices, mix));
      if (left == 0 || layout == layouts) return;
      search(layout + 1, left, devices);
      for (int k = 0; k < types; ++k) devices[U(k)] += product.devices[U(layout)][U(k)];
      search(layout, left - 1, devices);
    };
    search(0, product.gpus, fixed);
    const StaticLayouts chosen = ChooseLayouts({product}, fixed, mix);
    REQUIRE(chosen.found);
    CAPTURE(trial, best, chosen.rate);
    CHECK(chosen.rate == Approx(best).epsilon(1e-5).margin(1e-6));  // the program's gap is 1e-6
    std::vector<int> devices = fixed;
    int gpus = 0;
    for (int l = 0; l < layouts; ++l) {
      gpus += chosen.count[0][U(l)];
      for (int k = 0; k < types; ++k) devices[U(k)] += chosen.count[0][U(l)] * product.devices[U(l)][U(k)];
    }
    CHECK(gpus == product.gpus);
    CHECK(BestRate(devices, mix) ==
          Approx(chosen.rate).epsilon(1e-5).margin(1e-6));  // and the layouts do have it
  }
}

// Whole GPUs (type 0) or two halves (type 1); half of the jobs are gangs of 2, which need whole GPUs, the
// other half run at full speed on half a GPU. Three GPUs: each whole pair of GPUs serves 1 gang a second,
// each half a small job. With w whole GPUs and 3 - w cut: r/2 x 2 <= w for the gangs (w >= 2), and r/2 <= 2
// (3 - w) for the small ones: w = 2 gives min(2, 4) = 2, w = 3 leaves the small ones on whole GPUs: r + r/2
// <= 3, also
// 2. With 2 GPUs both must stay whole, whatever the small jobs would like.
TEST_CASE("mig_static: gangs keep the whole GPUs that they need, by hand", "[baselines]") {
  const std::vector<JobMix> mix = {{0.5, {1.0, 0.0}, 2}, {0.5, {1.0, 1.0}, 1}};
  const LayoutChoice three = {3, {{1, 0}, {0, 2}}}, two = {2, {{1, 0}, {0, 2}}};
  CHECK(ChooseLayouts({three}, {0, 0}, mix).rate == Approx(2.0).epsilon(1e-5));
  const StaticLayouts pair = ChooseLayouts({two}, {0, 0}, {{0.01, {1.0, 0.0}, 2}, {0.99, {1.0, 1.0}, 1}});
  CHECK(pair.count == std::vector<std::vector<int>>{{2, 0}});
}

// Jobs that use a seventh of an A100 each: after two arrivals the GPU is cut into seven, once it is idle (at
// 10), and stays so. Of 1g slices (1/7 of 7 compute slices) each gives a job its full rate. The first two run
// on the whole GPU one after the other, 0-10 and ... the second waits for the change: 10 + 5 s.
TEST_CASE("mig_static: chooses once, by hand", "[baselines]") {
  std::vector<test::TinyJob> jobs = {{0, 10}, {1, 10}};
  for (int i = 0; i < 6; ++i) jobs.push_back({20, 10});
  ScenarioData data = test::TinyData({{"a100", 1}}, {{1.0}}, jobs);
  data.cluster.types[0].memory_gb = 80.0;
  data.traits.utilization = {1.0 / 7.0};
  data.features = ParseFeatures("partitions(reconfig_s=5)");
  const std::vector<double> ends = test::Ends("mig_static(jobs=2)", Scenario(data));
  // The second runs 15-25 on a slice, the six that come at 20 beside it.
  CHECK(ends == std::vector<double>{10, 25, 30, 30, 30, 30, 30, 30});
  // Never chosen: one after the other on the whole GPU.
  CHECK(test::Ends("mig_static(jobs=100)", Scenario(data)).back() == 80.0);
}

}  // namespace berth

#include "tools/reproduce/actions/combinations.hpp"

#include <algorithm>
#include <array>

#include "env/base/check.hpp"
#include "env/base/rng.hpp"
#include "tools/table.hpp"

namespace berth {
namespace {

constexpr std::size_t kTrainingCombinations = 48, kHeldOut = 10;

template <std::size_t n>
const char* Draw(Stream& stream, const std::array<const char*, n>& of) {
  return of[stream.Below(n)];
}

// Each feature of a pool is on in two of five; a GPU's worth of load is that of the rows' 36 GPUs.
Combination DrawOne(Stream& stream) {
  constexpr std::array kGpus = {8, 12, 16, 24};  // a gang has up to 8
  constexpr std::array kTypes = {"v100", "p100", "k80"};
  constexpr std::array kWorth = {1.0, 0.55, 0.25};  // of a type's GPU, over the jobs' mean
  constexpr double kWorthOfRows = 12.0 * (1.0 + 0.55 + 0.25);
  Combination drawn;
  double worth = 0.0;
  for (std::size_t type = 0; type < kTypes.size(); ++type) {
    const int count = kGpus[stream.Below(kGpus.size())];
    drawn.cluster += Join(type > 0 ? "," : "", kTypes[type], "=", count, "/4");
    worth += count * kWorth[type] / kWorthOfRows;
  }
  const bool gangs = stream.Below(4) != 0;
  const double load = stream.Uniform(0.6, 1.0) * worth;  // of what the rows have
  drawn.workload = Join("synthetic(rate=", Fixed(load * (gangs ? 0.8 : 1.6), 2), ",jobs=1000",
                        gangs ? ",gangs=multi" : "", ")");
  constexpr std::array kElastic = {"elasticity(min_factor=0,max_factor=4,measured=false)",
                                   "elasticity(min_factor=0.5,max_factor=2,measured=false)"};
  constexpr std::array kTopology = {"topology(network_gb_s=0.125,rack_gb_s=0.125)",
                                    "topology(network_gb_s=0.5,rack_gb_s=0.5)"};
  constexpr std::array kFailures = {
      "checkpoints(gb=5,interval=young);failures(mtbf_h=200,repair_h=2,spot_types=p100:k80,spot_mtbf_h=24,"
      "spot_away_h=2,spot_notice_s=600)",
      "checkpoints(gb=5,interval=young);failures(mtbf_h=100,repair_h=2)"};
  constexpr std::array kStages = {"stages(depends=0.5)", "stages(depends=0.25)"};
  for (const char* feature :
       {Draw(stream, kElastic), Draw(stream, kTopology), Draw(stream, kFailures), Draw(stream, kStages)}) {
    if (stream.Below(5) >= 2) continue;
    drawn.features += Join(drawn.features.empty() ? "" : ";", feature);
  }
  return drawn;
}

std::vector<Combination> DrawSome(std::uint64_t seed, std::size_t count,
                                  const std::vector<Combination>& but) {
  Stream stream(seed, Purpose::kTest);
  std::vector<Combination> drawn;
  const auto of = [](const std::vector<Combination>& in, const Combination& it) {
    return std::find(in.begin(), in.end(), it) != in.end();
  };
  while (drawn.size() < count) {
    const Combination one = DrawOne(stream);
    if (!of(drawn, one) && !of(but, one)) drawn.push_back(one);
  }
  return drawn;
}

}  // namespace

std::vector<Combination> TrainingCombinations() {
  return DrawSome(/*seed=*/1, kTrainingCombinations, {});
}

std::vector<Combination> HeldOutCombinations() {
  return DrawSome(/*seed=*/2, kHeldOut, TrainingCombinations());
}

std::string MixOf(const std::vector<Combination>& combinations) {
  std::string mix;
  for (const Combination& it : combinations) {
    std::string cluster = it.cluster;
    std::replace(cluster.begin(), cluster.end(), ',', '+');
    mix += Join(mix.empty() ? "" : ";", "on(cluster=", cluster,
                ",features=", it.features.empty() ? "none" : it.features, ",of=", it.workload, ")");
  }
  return Join("mix(of=", mix, ")");
}

}  // namespace berth

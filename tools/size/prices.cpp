#include "tools/size/prices.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "env/base/index.hpp"

namespace berth {
namespace {

class Priced final : public ScenarioSource {
 public:
  Priced(std::shared_ptr<const ScenarioSource> source, std::vector<TypeRange> types)
      : source_(std::move(source)), types_(std::move(types)) {}

  Scenario Make(std::uint64_t seed, Split split, std::uint32_t env, std::uint32_t episode,
                int jobs) const override {
    ScenarioData data = source_->Make(seed, split, env, episode, jobs).data();
    for (GpuType& gpu : data.cluster.types) {
      const std::string& name = gpu.part.whole < 0 ? gpu.name : data.cluster.types[U(gpu.part.whole)].name;
      for (const TypeRange& type : types_) {
        if (type.priced && type.name == name) gpu.price_per_hour = type.price * gpu.part.fraction();
      }
    }
    return Scenario(std::move(data));
  }
  std::string RewardOf(std::uint64_t seed, Split split, std::uint32_t env,
                       std::uint32_t episode) const override {
    return source_->RewardOf(seed, split, env, episode);
  }
  int kinds() const override { return source_->kinds(); }
  bool fixed() const override { return source_->fixed(); }
  std::string Describe() const override { return source_->Describe(); }

 private:
  std::shared_ptr<const ScenarioSource> source_;
  std::vector<TypeRange> types_;
};

}  // namespace

std::shared_ptr<const ScenarioSource> WithPrices(std::shared_ptr<const ScenarioSource> source,
                                                 const std::vector<TypeRange>& types) {
  const bool any = std::any_of(types.begin(), types.end(), [](const TypeRange& type) { return type.priced; });
  if (!any) return source;
  return std::make_shared<Priced>(std::move(source), types);
}

}  // namespace berth

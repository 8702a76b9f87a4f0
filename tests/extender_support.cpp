#include "tests/extender_support.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>

#include "env/gym/encoder.hpp"
#include "tests/policies_support.hpp"
#include "tests/temporary_folder.hpp"

namespace berth::test::serve {

const std::string kFiles = BERTH_SOURCE_DIR "/tests/extender/";

PolicyBundle Bundle(const std::string& encoder) {
  PolicyBundle bundle = RandomBundle("pair_scorer(width=16)", EncoderOf(encoder).Layout(8, 3), 8 * 3 + 1, 12);
  bundle.mdp.encoder = encoder;
  bundle.gpu_types = {"v100", "p100", "k80"};
  // Sixteen times as sure of itself as it came out: odds that differ from one another, and exactly so.
  for (NamedArray& array : bundle.arrays) {
    if (array.name.rfind("score.", 0) != 0) continue;
    for (float& value : array.values) value *= 16.0F;
  }
  for (std::size_t i = 0; i < bundle.examples.scores.size(); ++i) {
    if (i % 25 != 24) bundle.examples.scores[i] *= 16.0F;  // all but `done`
  }
  return bundle;
}

Extender MakeExtender(const Json& over) {
  Json table = ReadJson(kFiles + "table.json");
  table.update(over);
  const TemporaryFolder folder;
  std::ofstream(folder / "table.json") << table;
  return Extender(ReadExtenderTable(folder / "table.json"), Bundle(), "p.h5");
}

std::vector<std::int64_t> Preference(const ForeignJob& job, const std::vector<double>& rates, double age) {
  std::vector<GpuType> types(3);
  const char* names[] = {"v100", "p100", "k80"};
  for (std::size_t g = 0; g < 3; ++g) types[g].name = names[g], types[g].count = 8;
  ForeignDecider decider(Bundle(), "p.h5");
  std::vector<float> scores(3);
  decider.Score({age, types, {&job, 1}, rates, true}, scores);
  std::vector<std::int64_t> result;
  const double best = *std::max_element(scores.begin(), scores.end());
  for (float score : scores) result.push_back(std::lround(10.0 * std::exp(score - best)));
  return result;
}

}  // namespace berth::test::serve

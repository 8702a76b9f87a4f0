// Sorting by leading bits against std::sort, with neighbours that differ in the last bit and many that are equal.
#include "baselines/radix_sort.hpp"

#include "env/base/rng.hpp"
#include "tests/catch.hpp"

namespace berth {
namespace {

struct Numbered {
  double key;
  int tie;
  bool operator==(const Numbered&) const = default;
};

std::vector<Numbered> ManyAlike(int size, Stream& random) {
  std::vector<Numbered> entries;
  for (int k = 0; k < size; ++k) {
    double key = random.Below(3) == 0 ? 0.0 : 1e6 * random.Uniform(0.0, 1.0);
    if (random.Below(2) == 0 && k > 0) key = entries.back().key * (random.Below(2) == 0 ? 1.0 : 1.0 + 1e-15);
    entries.push_back({key, static_cast<int>(random.Below(1'000'000))});
  }
  return entries;
}

}  // namespace

TEST_CASE("a radix sort orders as std::sort does, either way") {
  Stream random(/*seed=*/5, Purpose::kTest);
  RadixSort<Numbered> sort;
  for (const int size : {0, 1, 255, 256, 5000}) {
    const std::vector<Numbered> entries = ManyAlike(size, random);
    const auto key = [](const Numbered& entry) { return entry.key; };
    const auto up = [](const Numbered& a, const Numbered& b) {
      return a.key != b.key ? a.key < b.key : a.tie < b.tie;
    };
    const auto down = [](const Numbered& a, const Numbered& b) {
      return a.key != b.key ? a.key > b.key : a.tie < b.tie;
    };
    std::vector<Numbered> sorted = entries, expected = entries;
    sort.Sort(sorted, key, up);
    std::sort(expected.begin(), expected.end(), up);
    CHECK(sorted == expected);
    sort.SortDescending(sorted, key, down);
    std::sort(expected.begin(), expected.end(), down);
    CHECK(sorted == expected);
  }
}

}  // namespace berth

// Loops eight lanes wide give the same bits by every instruction set that the machine has.
#include <vector>

#include "baselines/gavel/lanes.hpp"
#include "env/base/rng.hpp"
#include "tests/catch.hpp"

namespace berth::gavel {
namespace {

struct Result {
  std::vector<double> quotient;
  double sum, most;
  bool operator==(const Result&) const = default;
};

// a / b - b, their sum and the largest, for n entries.
template <class Each>
Result Run(const Each& each, const std::vector<double>& a, const std::vector<double>& b) {
  Result result{std::vector<double>(a.size()), 0.0, 0.0};
  const double *from = a.data(), *by = b.data();
  double* to = result.quotient.data();
  LaneSum sum;
  LaneMost most(-1.0);
  each(a.size(), [&](std::size_t i, auto lanes) BERTH_INLINE_LAMBDA {
    using V = typename decltype(lanes)::Vector;
    const V value = Load<V>(from + i) / Load<V>(by + i) - Load<V>(by + i);
    Store<V>(to + i, value);
    sum.Add(value);
    most.See(value);
  });
  result.sum = sum.Total();
  result.most = most.Total();
  return result;
}

}  // namespace

TEST_CASE("gavel lanes: the bits are those of the baseline on every instruction set", "[gavel]") {
  Stream random(5, Purpose::kTest);
  for (const std::size_t n :
       {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{8}, std::size_t{103}}) {
    std::vector<double> a(n), b(n);
    double largest = -1.0, plain = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      a[i] = random.Uniform(-3.0, 3.0);
      b[i] = random.Uniform(0.1, 5.0);
      largest = std::max(largest, a[i] / b[i] - b[i]);
      plain += a[i] / b[i] - b[i];
    }
    const Result baseline =
        Run([](std::size_t size, const auto& visit) { EachEightBaseline(size, visit); }, a, b);
    INFO(n << " entries");
    for (std::size_t i = 0; i < n; ++i) CHECK(baseline.quotient[i] == a[i] / b[i] - b[i]);
    CHECK(baseline.most == largest);
    CHECK(baseline.sum == Approx(plain).epsilon(1e-13).margin(1e-13));  // another order
    CHECK(Run([](std::size_t size, const auto& visit) { EachEight(size, visit); }, a, b) == baseline);
    if (BestVectorUnit() != VectorUnit::kBaseline)
      CHECK(Run([](std::size_t size, const auto& visit) { EachEightAvx2(size, visit); }, a, b) == baseline);
  }
}

}  // namespace berth::gavel

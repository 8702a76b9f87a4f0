// Logarithms, exponentials and dense products in vectors give the bits of one at a time.
#include "env/base/batch_math.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "env/base/portable_math.hpp"
#include "env/base/rng.hpp"
#include "policies/dense.hpp"
#include "tests/catch.hpp"

namespace berth {
namespace {

using Limits = std::numeric_limits<double>;

void CheckSame(const std::vector<double>& x, void (*many)(std::span<double>), double (*one)(double)) {
  for (std::size_t n : {x.size(), x.size() - 1, std::size_t{7}, std::size_t{1}, std::size_t{0}}) {
    std::vector<double> y(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(n));
    many(y);
    for (std::size_t i = 0; i < n; ++i) {
      if (std::bit_cast<std::uint64_t>(y[i]) != std::bit_cast<std::uint64_t>(one(x[i]))) FAIL(x[i]);
    }
  }
}

}  // namespace

TEST_CASE("many logarithms and exponentials at once have the bits of each alone") {
  Stream stream(1, Purpose::kTest);
  std::vector<double> positive = {
      1.0, 2.0, 0.5, Limits::min(), Limits::max(), 0.70710678118654752440, 1.0 + 0x1p-52};
  std::vector<double> moderate = {0.0, -0.0, 1.0, 700.0, -700.0, 0.34657359027997264};
  for (int i = 0; i < 5000; ++i) {
    positive.push_back(std::ldexp(stream.Uniform(0.5, 1.0), static_cast<int>(stream.Below(2000)) - 1000));
    positive.push_back(stream.Uniform(0.5, 3.0));
    moderate.push_back(stream.Uniform(-700.0, 700.0));
    moderate.push_back(stream.Uniform(-2.0, 2.0));
  }
  CheckSame(positive, Logs, Log);
  CheckSame(moderate, Exps, Exp);
  // Ends of the range among ordinary numbers.
  positive.insert(positive.end(), {0.0, 5e-324, Limits::min() / 3, Limits::infinity()});
  moderate.insert(moderate.end(), {800.0, -800.0, -744.9, 709.7, -Limits::infinity(), Limits::infinity()});
  CheckSame(positive, Logs, Log);
  CheckSame(moderate, Exps, Exp);
  CHECK(Log(5e-324) == Approx(std::log(5e-324)).epsilon(1e-15));
  CHECK(Exp(-744.9) == std::exp(-744.9));
}

TEST_CASE("every sum of a dense product runs over its inputs in order, whatever stands beside it") {
  Stream stream(2, Purpose::kTest);
  for (int rows : {1, 3, 4, 5, 8, 13}) {
    for (int outputs : {1, 3, 4, 8, 15, 16, 33, 64, 75}) {
      const int inputs = 21;
      std::vector<float> x(static_cast<std::size_t>(rows * inputs)),
          w(static_cast<std::size_t>(inputs * outputs)), y(static_cast<std::size_t>(rows * outputs));
      for (auto* values : {&x, &w, &y}) {
        for (float& v : *values) v = static_cast<float>(stream.Normal());
      }
      std::vector<float> expected = y;
      for (int r = 0; r < rows; ++r) {
        for (int k = 0; k < inputs; ++k) {
          for (int o = 0; o < outputs; ++o) {
            const float product =
                x[static_cast<std::size_t>(r * inputs + k)] * w[static_cast<std::size_t>(k * outputs + o)];
            expected[static_cast<std::size_t>(r * outputs + o)] += product;
          }
        }
      }
      MultiplyAdd(x.data(), rows, inputs, w.data(), outputs, y.data());
      CHECK(y == expected);
    }
  }
}

}  // namespace berth

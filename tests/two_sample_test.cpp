// Two-sample tests by hand, against published tables, and by how often they reject what is alike.
#include <cmath>

#include "env/base/rng.hpp"
#include "tests/catch.hpp"
#include "tools/like/check.hpp"
#include "tools/like/two_sample.hpp"

namespace berth {

// Smirnov, Annals of Mathematical Statistics 19, 1948: the upper points of Kolmogorov's distribution.
TEST_CASE("two samples: tails are those of the published tables", "[like]") {
  CHECK(KolmogorovTail(1.2238) == Approx(0.10).epsilon(1e-3));
  CHECK(KolmogorovTail(1.3581) == Approx(0.05).epsilon(1e-3));
  CHECK(KolmogorovTail(1.6276) == Approx(0.01).epsilon(1e-3));
  CHECK(KolmogorovTail(0.0) == 1.0);
  CHECK(KolmogorovTail(0.1) == 1.0);
  CHECK(KolmogorovTail(0.2) > 1.0 - 1e-10);
  // Upper points of chi-square (Abramowitz & Stegun, table 26.8), on both sides of the mean.
  CHECK(ChiSquareTail(3.84146, 1) == Approx(0.05).epsilon(1e-4));
  CHECK(ChiSquareTail(6.63490, 1) == Approx(0.01).epsilon(1e-4));
  CHECK(ChiSquareTail(18.3070, 10) == Approx(0.05).epsilon(1e-4));
  CHECK(ChiSquareTail(3.94030, 10) == Approx(0.95).epsilon(1e-4));
  CHECK(ChiSquareTail(124.342, 100) == Approx(0.05).epsilon(1e-4));
  CHECK(ChiSquareTail(0.0, 3) == 1.0);
  // Of two degrees it is exp(-x / 2).
  for (double x : {0.1, 1.0, 5.0, 40.0}) CHECK(ChiSquareTail(x, 2) == Approx(std::exp(-x / 2)).epsilon(1e-12));
}

TEST_CASE("two samples: Kolmogorov and Smirnov by hand", "[like]") {
  // Up to 2: two of four and none of four, 0.5. Equal values count in both at once: up to 3, 3/4 and 1/4.
  const TwoSample four = KolmogorovSmirnov({4, 1, 3, 2}, {5, 3, 6, 4});
  CHECK(four.distance == 0.5);
  CHECK(four.statistic == 0.5);
  // sqrt(4 4 / 8) = 1.41421: (1.41421 + 0.12 + 0.11 / 1.41421) 0.5 = 0.80600, whose tail is 0.53426.
  CHECK(four.p == Approx(KolmogorovTail(0.805998)).epsilon(1e-5));
  CHECK(four.p == Approx(0.5344).epsilon(1e-3));
  CHECK(KolmogorovSmirnov({1, 1, 1}, {1, 1}).distance == 0.0);
  CHECK(KolmogorovSmirnov({1, 1, 1}, {1, 1}).p == 1.0);
  CHECK(KolmogorovSmirnov({1}, {2}).distance == 1.0);
  CHECK(KolmogorovSmirnov({2}, {1}).distance == 1.0);
}

TEST_CASE("two samples: chi-square by hand", "[like]") {
  // 80 and 120 of 200 in all: 40 and 60 expected in each. 2 (100 / 40) + 2 (100 / 60) = 8.3333, one degree.
  const std::vector<double> a = {30, 70}, b = {50, 50};
  const TwoSample two = ChiSquare(a, b);
  CHECK(two.statistic == Approx(25.0 / 3.0).epsilon(1e-12));
  CHECK(two.distance == Approx(0.2).epsilon(1e-12));
  CHECK(two.p == Approx(0.003892).epsilon(1e-3));  // 2 (1 - Phi(2.88675))
  // The last two are rare, 3 and 3 of 206: together they are 6, 3 expected in each, and still one category.
  const TwoSample rare = ChiSquare(std::vector<double>{30, 70, 1, 2}, std::vector<double>{50, 50, 2, 1});
  const double expected = 2 * 100.0 / 40 + 2 * 100.0 / 60;
  CHECK(rare.statistic == Approx(expected).epsilon(1e-12));
  CHECK(rare.p == Approx(ChiSquareTail(expected, 2)).epsilon(1e-12));
  // One category has nothing to compare.
  CHECK(ChiSquare(std::vector<double>{7, 0}, std::vector<double>{3, 0}).p == 1.0);
}

// 1,000 pairs of 200 draws from one distribution: p below 0.05 in 50 of them, standard deviation 6.9.
TEST_CASE("two samples: what is alike is rejected as often as the level says", "[like]") {
  Stream stream(5, Purpose::kTest);
  int numbers = 0, counts = 0;
  for (int pair = 0; pair < 1000; ++pair) {
    std::vector<double> a, b, in_a(4), in_b(4);
    for (int i = 0; i < 200; ++i) {
      a.push_back(stream.Uniform()), b.push_back(stream.Uniform());
      in_a[stream.Below(4)] += 1.0, in_b[stream.Below(4)] += 1.0;
    }
    numbers += KolmogorovSmirnov(a, b).p < 0.05 ? 1 : 0;
    counts += ChiSquare(in_a, in_b).p < 0.05 ? 1 : 0;
  }
  CHECK(std::abs(numbers - 50) < 5 * 6.9);
  CHECK(std::abs(counts - 50) < 5 * 6.9);
}

TEST_CASE("two samples: the rule by which a column passes", "[like]") {
  const auto of = [](double p, double distance) { return TwoSample{0.0, p, distance}; };
  CHECK(Judge(of(0.01, 0.9), of(0, 0)) == LikeVerdict::kSame);
  CHECK(Judge(of(0.0099, 0.1), of(0, 0)) == LikeVerdict::kClose);
  CHECK(Judge(of(0.0, 0.109), of(0, 0.1)) == LikeVerdict::kDrift);
  CHECK(Judge(of(0.0, 0.111), of(0, 0.1)) == LikeVerdict::kDiffers);
  CHECK(ToString(LikeVerdict::kDiffers) == std::string("differs"));
}

}  // namespace berth

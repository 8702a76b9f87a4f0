// The goodput of a job: step times, batches and efficiency by hand, the fit of step times against scipy.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "env/base/rng.hpp"
#include "env/predict/goodput/batch_choice.hpp"
#include "env/predict/goodput/speed_fit.hpp"
#include "tests/catch.hpp"

namespace berth::goodput {
namespace {

const BatchLimits kLimits{128, 4096, 32, 1024};

// Losses that scipy 1.17's L-BFGS-B reached on these made-up observations from the same start, with exact
// gradients: (nodes, replicas), atomic batch, (step, compute) in seconds.
struct FitCase {
  std::vector<Observation> seen;
  double scipy;
};
const std::vector<FitCase>& FitCases() {
  static const std::vector<FitCase> kCases = {
      {{{{1, 1}, 32, {0.1157, 0.114}}}, 0.0348021006697},
      {{{{1, 1}, 32, {0.1125, 0.1124}}, {{1, 1}, 64, {0.1703, 0.1702}}}, 0.0207535288265},
      {{{{1, 1}, 32, {0.1144, 0.1143}}, {{1, 2}, 32, {0.122, 0.1219}}}, 0.0549592038083},
      {{{{1, 1}, 32, {0.1169, 0.1168}}, {{2, 2}, 48, {0.2076, 0.1486}}}, 0.0106111036598},
      {{{{1, 1}, 16, {0.082, 0.0819}}, {{1, 2}, 32, {0.1181, 0.118}}, {{1, 4}, 64, {0.1679, 0.1664}},
        {{2, 8}, 64, {0.2826, 0.174}}},
       0.0510279148531},
      {{{{1, 1}, 16, {0.0771, 0.077}}, {{1, 1}, 64, {0.1805, 0.1804}}, {{1, 2}, 32, {0.115, 0.1149}},
        {{1, 4}, 64, {0.1768, 0.1763}}, {{2, 4}, 16, {0.2046, 0.0723}}, {{2, 8}, 64, {0.2746, 0.1733}},
        {{4, 16}, 64, {0.3512, 0.1776}}, {{3, 9}, 40, {0.2759, 0.1307}}},
       0.0451031852782},
  };
  return kCases;
}

// Before what nobody saw of several nodes is raised to that of one.
SpeedModel AsFitted(SpeedModel model, const std::vector<Observation>& seen) {
  if (std::none_of(seen.begin(), seen.end(), [](const Observation& o) { return o.shape.nodes > 1; }))
    model.alpha_n = model.beta_n = 1e-8;
  return model;
}

}  // namespace

TEST_CASE("a step's time is computing and network with their overlap") {
  SpeedModel model{.alpha_c = 0.1, .beta_c = 0.01, .alpha_n = 0.2, .beta_n = 0.05, .alpha_r = 0.03,
                   .beta_r = 0.02, .gamma = 1.0};
  // computing 0.1 + 32 x 0.01 = 0.42; network of 8 replicas on 2 nodes 0.2 + 6 x 0.05 = 0.5
  CHECK(model.Compute(32) == Approx(0.42).epsilon(1e-15));
  CHECK(model.Network({2, 8}) == Approx(0.5).epsilon(1e-15));
  CHECK(model.Network({2, 2}) == Approx(0.2).epsilon(1e-8));   // beyond the second: 1e-8 replicas
  CHECK(model.Network({1, 4}) == Approx(0.07).epsilon(1e-15));  // 0.03 + 2 x 0.02
  CHECK(model.Network({1, 1}) < 2e-8);
  CHECK(model.At({2, 8}).Time(32).step == Approx(0.92).epsilon(1e-14));
  CHECK(model.At({2, 8}).Time(32).compute == Approx(0.42).epsilon(1e-15));
  CHECK(TotalTime(model.At({2, 8}).Time(32), 2) == Approx(0.92 + 0.84).epsilon(1e-14));
  model.gamma = 2.0;
  CHECK(model.At({2, 8}).Time(32).step == Approx(std::hypot(0.42, 0.5)).epsilon(1e-14));
  model.gamma = 10.0;  // nearly the larger one: 0.5 (1 + 0.84^10)^0.1
  CHECK(model.At({2, 8}).Time(32).step == Approx(0.5 * std::pow(1 + std::pow(0.84, 10), 0.1)).epsilon(1e-13));
}

TEST_CASE("a fixed batch is split into replicas and accumulation steps") {
  // one replica beyond the initial batch accumulates, however little it is
  CHECK(SplitFixed({256, 32768, 32, 32768}, 1, 32768) == BatchSplit{16384, 1});
  CHECK(SplitFixed(kLimits, 1, 128) == BatchSplit{128, 0});
  CHECK(SplitFixed(kLimits, 1, 129) == BatchSplit{65, 1});  // ceil(129 / 2): a total of 130
  // 384 on 16: 24 each, of at most 12
  CHECK(SplitFixed({12, 384, 4, 12}, 16, 384) == BatchSplit{12, 1});
  // 100 on 3: ceil 34 each, of at most 12: three of ceil(34 / 3) = 12, a total of 108
  CHECK(SplitFixed({12, 384, 4, 12}, 3, 100) == BatchSplit{12, 2});
  CHECK(SplitFixed({12, 384, 4, 12}, 3, 100).Total(3) == 108);
  CHECK(SplitFixed({12, 100, 4, 12}, 3, 100) == BatchSplit{11, 2});  // not above 100: floor(100 / 9)
  CHECK(SplitLeast(kLimits, 8) == BatchSplit{32, 0});                // 256, though the initial batch is 128
  CHECK(SplitLeast(kLimits, 2) == BatchSplit{64, 0});
  CHECK(MostReplicas(kLimits) == 128);
}

TEST_CASE("a large batch is worth fewer samples, by the noise of the gradient") {
  const GradientStatistics gradient{.sqr = 1.0, .var = 3.0};
  CHECK(Gain(gradient, 1.0) == 1.0);
  CHECK(Gain(gradient, 4.0) == Approx(4.0 / 1.75).epsilon(1e-15));  // (3 + 1) / (3 / 4 + 1)
  // (noise + M_0) / (noise + M), noise = 3 x 128
  CHECK(Efficiency(gradient, 4.0) == Approx((384.0 + 128.0) / (384.0 + 512.0)).epsilon(1e-15));
  CHECK(Gain({0.0, 2.0}, 8.0) == 8.0);  // noise alone: all samples count
  CHECK(Gain({2.0, 0.0}, 8.0) == 1.0);  // none: more samples say nothing
  CHECK(Gain({0.0, 0.0}, 8.0) == 1.0);
  // 512 samples in 0.5 + 0.25 s, each worth 4/7
  CHECK(Goodput(kLimits, 4, {64, 1}, gradient, {0.5, 0.25}) == Approx(512 / 0.75 * 4 / 7).epsilon(1e-15));
}

TEST_CASE("candidates are fifty totals in a geometric series") {
  const std::vector<BatchSplit> one = BatchCandidates(kLimits, 1);
  CHECK(one.front() == BatchSplit{128, 0});
  // 128 x 32^(1/49) = 137.4: more than the initial batch, so two of ceil 68.7
  CHECK(one[1] == BatchSplit{69, 1});
  CHECK(one.back() == BatchSplit{1024, 3});
  CHECK(one.size() == 50);
  // from 32 each to 4096 / 100 = 40.96: the series has 33, 34 ... 41 by rounding up
  const std::vector<BatchSplit> many = BatchCandidates(kLimits, 100);
  REQUIRE(many.size() == 10);
  for (int i = 0; i < 10; ++i) CHECK(many[static_cast<std::size_t>(i)] == BatchSplit{32 + i, 0});
  CHECK(BatchCandidates({10, 10, 1, 16}, 1) == std::vector<BatchSplit>{{10, 0}});
  CHECK(BatchCandidates(kLimits, 129).empty());
  // 128 to 32768 in 7 x 7 steps of 2^(1/7) is exact at every seventh: no ceiling takes 257 for 256
  const std::vector<BatchSplit> exact = BatchCandidates({256, 32768, 1, 32768}, 2);
  CHECK(std::count(exact.begin(), exact.end(), BatchSplit{256, 0}) == 1);
  CHECK(std::count(exact.begin(), exact.end(), BatchSplit{257, 0}) == 0);
}

TEST_CASE("the batch of greatest goodput is that of trying all") {
  const SpeedModel model{.alpha_c = 0.02, .beta_c = 0.0004, .alpha_n = 0.08, .beta_n = 0.002,
                         .alpha_r = 0.01, .beta_r = 0.001, .gamma = 1.7};
  for (const GradientStatistics gradient : {GradientStatistics{1.0, 0.5}, {1.0, 6.0}, {0.2, 20.0}}) {
    for (const Shape shape : {Shape{1, 1}, {1, 3}, {2, 8}, {9, 33}}) {
      double most = 0.0;
      for (int k = 0; k < 50; ++k) {  // in the words of the paper, with the C library
        const double least = std::max(128.0, 32.0 * shape.replicas);
        const double local = least * std::pow(4096.0 / least, k / 49.0) / shape.replicas;
        double accumulation = std::ceil(local / 1024 - 1e-8) - 1;
        if (shape.replicas == 1 && local > 128 + 1e-8) accumulation = std::max(accumulation, 1.0);
        const double atomic = std::ceil(local / (accumulation + 1) - 1e-8);
        const double grad = 0.02 + 0.0004 * atomic, noise = gradient.var / gradient.sqr * 128;
        const double total = atomic * shape.replicas * (accumulation + 1);
        const double sync = model.Network(shape);
        const double time =
            accumulation * grad + std::pow(std::pow(grad, 1.7) + std::pow(sync, 1.7), 1 / 1.7);
        most = std::max(most, total / time * (noise + 128) / (noise + total));
      }
      const BatchChoice best = BestBatch(kLimits, BatchCandidates(kLimits, shape.replicas), shape.replicas,
                                         gradient, model.At(shape));
      CHECK(best.goodput == Approx(most).epsilon(1e-12));
    }
  }
  // a table in the model's place; without overlap of costs more is better where noise is all
  const auto table = [](int atomic) { return StepTime{1.0 + atomic * 1e-6, 0.5}; };
  CHECK(BestBatch(kLimits, BatchCandidates(kLimits, 4), 4, {0.0, 1.0}, table).split == BatchSplit{1024, 0});
  CHECK(BestBatch(kLimits, {}, 4, {0.0, 1.0}, table).goodput == 0.0);
}

TEST_CASE("the fit of step times loses no more than scipy's") {
  for (const FitCase& one : FitCases()) {
    const double ours = FitLoss(AsFitted(FitSpeed(one.seen), one.seen), one.seen);
    CHECK(ours <= one.scipy + 1e-8);
    CHECK(ours >= 0.01);  // the squares of beta / alpha that are fixed at 1e-8 / 1e-8
  }
}

TEST_CASE("a fit is where no parameter alone can win") {
  Stream draw(11, Purpose::kTest);
  for (int k = 0; k < 60; ++k) {
    const SpeedModel truth{draw.Uniform(0.01, 0.2), draw.Uniform(1e-4, 1e-2), draw.Uniform(0.02, 0.5),
                           draw.Uniform(1e-4, 0.05), draw.Uniform(0.005, 0.1), draw.Uniform(1e-4, 0.01),
                           draw.Uniform(1.0, 4.0)};
    std::vector<Observation> seen;
    for (int i = 0; i < 3 + k % 12; ++i) {
      const int nodes = 1 + static_cast<int>(draw.Below(3)), atomic = 16 + static_cast<int>(draw.Below(100));
      const Shape shape{nodes, nodes + static_cast<int>(draw.Below(6))};
      StepTime time = truth.At(shape).Time(atomic);
      time.step *= 1.0 + 0.1 * draw.Uniform();
      seen.push_back({shape, atomic, time});
    }
    const SpeedModel fitted = FitSpeed(seen), raw = AsFitted(fitted, seen);
    const double loss = FitLoss(raw, seen);
    CHECK(loss <= FitLoss(truth, seen) + 1e-12);  // so it is not the worse of two minima either
    CHECK(FitSpeed(seen) == fitted);              // the same each time
    for (double SpeedModel::*field : {&SpeedModel::alpha_c, &SpeedModel::beta_c, &SpeedModel::alpha_n,
                                      &SpeedModel::beta_n, &SpeedModel::alpha_r, &SpeedModel::beta_r}) {
      CHECK(raw.*field >= 1e-8);
      for (const double factor : {0.999, 1.001}) {
        SpeedModel moved = raw;
        moved.*field = std::max(moved.*field * factor, 1e-8);
        if (raw.*field > 1e-8) CHECK(FitLoss(moved, seen) >= loss - 1e-9);
      }
    }
    CHECK(fitted.gamma >= 1.0);
    CHECK(fitted.gamma <= 10.0);
  }
}

TEST_CASE("a fit is hopeful about what was not seen") {
  // one atomic batch: half of the mean computing time is constant
  const SpeedModel one = FitSpeed(std::vector<Observation>{{{1, 1}, 32, {0.3, 0.28}}});
  CHECK(one.alpha_c == 0.14);
  CHECK(one.Compute(32) == Approx(0.29).epsilon(0.05));  // between 0.28 and 0.3 all are alike
  CHECK(one.alpha_r == 1e-8);
  CHECK(one.beta_r == 1e-8);
  CHECK(one.alpha_n == Approx(1.1e-8).epsilon(1e-12));
  // two replicas on a node: several nodes are thought to be a tenth slower; no replica beyond the second
  const SpeedModel two =
      FitSpeed(std::vector<Observation>{{{1, 1}, 32, {0.3, 0.29}}, {{1, 2}, 32, {0.4, 0.29}}});
  CHECK(two.alpha_r > 0.05);
  CHECK(two.alpha_n == Approx(1.1 * two.alpha_r).epsilon(1e-15));
  CHECK(two.beta_r == 1e-8);
  CHECK(two.beta_n == Approx(1.1e-8).epsilon(1e-12));
  // several nodes alone: one node's network is thought to be none
  const SpeedModel apart =
      FitSpeed(std::vector<Observation>{{{2, 2}, 32, {0.4, 0.29}}, {{2, 4}, 48, {0.6, 0.4}}});
  CHECK(apart.alpha_r == 1e-8);
  CHECK(apart.alpha_n > 0.05);
  CHECK(apart.alpha_c < 0.29);
}

}  // namespace berth::goodput

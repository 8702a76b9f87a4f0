// The learners' kernels against plain loops in double precision, for every instruction set of this machine,
// at sizes that fill no tile.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "agents/nn/kernels/elementwise.hpp"
#include "agents/nn/kernels/gemm.hpp"
#include "env/base/rng.hpp"
#include "tests/catch.hpp"

namespace berth {
namespace {

using kernels::AlignedFloats;
using kernels::Epilogue;
using kernels::GemmCall;
using kernels::KernelTable;

constexpr double kUnit = 0x1p-24;  // unit roundoff of float

AlignedFloats Draw(std::ptrdiff_t n, Stream& stream, double low = -1.0, double high = 1.0) {
  AlignedFloats values(static_cast<std::size_t>(n));
  for (float& x : values) x = static_cast<float>(stream.Uniform(low, high));
  return values;
}

// A sum of n float products in any order errs by at most (n + 2) u times the sum of their magnitudes (Higham
// 2002, §3.1), the starting value being one more term.
struct Dot {
  double value = 0.0, magnitude = 0.0;
  void Add(double x) {
    value += x;
    magnitude += std::abs(x);
  }
  double Bound(std::ptrdiff_t n) const { return static_cast<double>(n + 3) * kUnit * magnitude; }
};

// Another instruction set in the place of the best one, until the end of the scope.
struct Use {
  explicit Use(const KernelTable& table) { kernels::UseKernels(table); }
  ~Use() { kernels::UseKernels(*kernels::RunnableKernels().front()); }
};

struct Size {
  std::ptrdiff_t m, n, k;
};
constexpr Size kSizes[] = {{1, 1, 1},   {1, 32, 5},  {5, 3, 7},    {12, 32, 64}, {13, 33, 17},
                           {31, 64, 1}, {8, 65, 64}, {37, 16, 10}, {64, 97, 31}, {100, 47, 130}};

}  // namespace

TEST_CASE("kernels: products against double precision, every instruction set, ragged sizes") {
  Stream stream(1, Purpose::kTest);
  for (const KernelTable* table : kernels::RunnableKernels()) {
    for (const auto& [m, n, k] : kSizes) {
      for (const bool columns : {false, true}) {
        for (const bool add : {false, true}) {
          CAPTURE(table->name, m, n, k, columns, add);
          const std::ptrdiff_t panel = table->panel, panels = (n + panel - 1) / panel,
                               lda = 3 + (columns ? m : k), ldc = n + 2;
          const AlignedFloats a = Draw(lda * (columns ? k : m), stream), b = Draw(panels * panel * k, stream),
                              bias = Draw(panels * panel, stream), before = Draw(ldc * m, stream);
          AlignedFloats c = before;
          table->gemm({m, n, k, a.data(), lda, columns, b.data(), panel, panel * k, c.data(), ldc,
                       bias.data(), add, Epilogue::kNone});
          for (std::ptrdiff_t i = 0; i < m; ++i) {
            for (std::ptrdiff_t j = 0; j < ldc; ++j) {
              const auto at = static_cast<std::size_t>(i * ldc + j);
              if (j >= n) {
                REQUIRE(c[at] == before[at]);  // what lies between the rows
                continue;
              }
              Dot dot;
              dot.Add(add ? before[at] : bias[static_cast<std::size_t>(j)]);
              for (std::ptrdiff_t p = 0; p < k; ++p) {
                dot.Add(
                    static_cast<double>(a[static_cast<std::size_t>(columns ? p * lda + i : i * lda + p)]) *
                    b[static_cast<std::size_t>(j / panel * panel * k + p * panel + j % panel)]);
              }
              REQUIRE(std::abs(c[at] - dot.value) <= dot.Bound(k));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("kernels: the three products of a dense layer, every instruction set") {
  Stream stream(2, Purpose::kTest);
  for (const KernelTable* table : kernels::RunnableKernels()) {
    const Use use(*table);
    for (const auto& [rows, outputs, inputs] : kSizes) {
      CAPTURE(table->name, rows, outputs, inputs);
      const AlignedFloats x = Draw(rows * inputs, stream), w = Draw(outputs * inputs, stream),
                          bias = Draw(outputs, stream), dy = Draw(rows * outputs, stream);
      const auto at = [](const AlignedFloats& v, std::ptrdiff_t i) -> double {
        return v[static_cast<std::size_t>(i)];
      };
      kernels::PackedDense layer(static_cast<int>(inputs), static_cast<int>(outputs));
      layer.Pack(w.data(), inputs, bias.data(), true);
      AlignedFloats y(dy.size()), dx = Draw(rows * inputs, stream), dw = Draw(outputs * inputs, stream),
                                  db = Draw(outputs, stream);
      const AlignedFloats dx_before = dx, dw_before = dw, db_before = db;
      layer.Forward(x.data(), inputs, rows, y.data(), outputs);
      layer.BackwardInput(dy.data(), outputs, rows, dx.data(), inputs, true);
      kernels::BackwardWeight(x.data(), inputs, inputs, dy.data(), outputs, outputs, rows, dw.data(), inputs);
      kernels::AddColumnSums(dy.data(), outputs, rows, outputs, db.data());
      for (std::ptrdiff_t r = 0; r < rows; ++r) {
        for (std::ptrdiff_t o = 0; o < outputs; ++o) {
          Dot dot;
          dot.Add(at(bias, o));
          for (std::ptrdiff_t i = 0; i < inputs; ++i) dot.Add(at(x, r * inputs + i) * at(w, o * inputs + i));
          REQUIRE(std::abs(at(y, r * outputs + o) - dot.value) <= dot.Bound(inputs));
        }
        for (std::ptrdiff_t i = 0; i < inputs; ++i) {
          Dot dot;
          dot.Add(at(dx_before, r * inputs + i));
          for (std::ptrdiff_t o = 0; o < outputs; ++o)
            dot.Add(at(dy, r * outputs + o) * at(w, o * inputs + i));
          REQUIRE(std::abs(at(dx, r * inputs + i) - dot.value) <= dot.Bound(outputs));
        }
      }
      for (std::ptrdiff_t o = 0; o < outputs; ++o) {
        Dot sum;
        sum.Add(at(db_before, o));
        for (std::ptrdiff_t r = 0; r < rows; ++r) sum.Add(at(dy, r * outputs + o));
        REQUIRE(std::abs(at(db, o) - sum.value) <= sum.Bound(rows));
        for (std::ptrdiff_t i = 0; i < inputs; ++i) {
          Dot dot;
          dot.Add(at(dw_before, o * inputs + i));
          for (std::ptrdiff_t r = 0; r < rows; ++r) dot.Add(at(dy, r * outputs + o) * at(x, r * inputs + i));
          REQUIRE(std::abs(at(dw, o * inputs + i) - dot.value) <= dot.Bound(rows));
        }
      }
      // A row has the same bits alone and among others: what acting computes is what learning computes.
      AlignedFloats alone(static_cast<std::size_t>(outputs));
      layer.Forward(x.data() + (rows - 1) * inputs, inputs, 1, alone.data(), outputs);
      CHECK(std::equal(alone.begin(), alone.end(), y.end() - outputs));
      // One output.
      AlignedFloats scores(static_cast<std::size_t>(rows)), sums(static_cast<std::size_t>(inputs));
      kernels::ForwardOne(x.data(), inputs, rows, inputs, w.data(), 0.5F, scores.data());
      kernels::BackwardOne(x.data(), inputs, rows, inputs, dy.data(), sums.data());
      for (std::ptrdiff_t r = 0; r < rows; ++r) {
        Dot dot;
        dot.Add(0.5);
        for (std::ptrdiff_t i = 0; i < inputs; ++i) dot.Add(at(x, r * inputs + i) * at(w, i));
        REQUIRE(std::abs(at(scores, r) - dot.value) <= dot.Bound(inputs));
      }
      for (std::ptrdiff_t i = 0; i < inputs; ++i) {
        Dot dot;
        for (std::ptrdiff_t r = 0; r < rows; ++r) dot.Add(at(x, r * inputs + i) * at(dy, r));
        REQUIRE(std::abs(at(sums, i) - dot.value) <= dot.Bound(rows));
      }
    }
  }
}

TEST_CASE("kernels: activations and gates on the way out of a product, every instruction set") {
  Stream stream(5, Purpose::kTest);
  for (const KernelTable* table : kernels::RunnableKernels()) {
    for (const auto& [m, n, k] : kSizes) {
      const std::ptrdiff_t panel = table->panel, panels = (n + panel - 1) / panel, ldc = n + 2;
      const AlignedFloats a = Draw(k * m, stream), b = Draw(panels * panel * k, stream),
                          gate = Draw(ldc * m, stream), before = Draw(ldc * m, stream);
      // exact product, and the largest error of its sum
      const auto product = [&](std::ptrdiff_t i, std::ptrdiff_t j) {
        Dot dot;
        dot.Add(before[static_cast<std::size_t>(i * ldc + j)]);
        for (std::ptrdiff_t p = 0; p < k; ++p) {
          dot.Add(static_cast<double>(a[static_cast<std::size_t>(i * k + p)]) *
                  b[static_cast<std::size_t>(j / panel * panel * k + p * panel + j % panel)]);
        }
        return dot;
      };
      for (const Epilogue kind : {Epilogue::kRelu, Epilogue::kTanh}) {
        CAPTURE(table->name, m, n, k, static_cast<int>(kind));
        GemmCall call = {m,     n,         k,       a.data(), k,       false, b.data(),
                         panel, panel * k, nullptr, ldc,      nullptr, true,  kind};
        AlignedFloats active = before, gated = before;
        call.c = active.data();
        table->gemm(call);
        call.epilogue = Epilogue::kNone;
        call.gate = gate.data();
        call.gate_kind = kind;
        call.c = gated.data();
        table->gemm(call);
        for (std::ptrdiff_t i = 0; i < m; ++i) {
          for (std::ptrdiff_t j = 0; j < ldc; ++j) {
            const auto at = static_cast<std::size_t>(i * ldc + j);
            if (j >= n) {
              REQUIRE((active[at] == before[at] && gated[at] == before[at]));
              continue;
            }
            const Dot dot = product(i, j);
            const double error = dot.Bound(k), y = gate[at];
            // Both activations carry an error on at most as it is; tanh adds its own.
            const double exact = kind == Epilogue::kRelu ? std::max(dot.value, 0.0) : std::tanh(dot.value);
            REQUIRE(std::abs(active[at] - exact) <= error + (kind == Epilogue::kTanh ? 4e-7 : 0.0));
            // 1 - y^2 lies within [0, 1] and errs by at most 2 u, its product with the sum by one u more.
            const double slope = kind == Epilogue::kRelu ? static_cast<double>(y > 0.0) : 1.0 - y * y;
            const double rounding =
                kind == Epilogue::kRelu ? 0.0 : 3.0 * kUnit * (std::abs(dot.value) + error);
            REQUIRE(std::abs(gated[at] - slope * dot.value) <= slope * error + rounding);
          }
        }
      }
    }
  }
}

TEST_CASE("kernels: rows over (job, GPU type) pairs, every instruction set") {
  Stream stream(6, Purpose::kTest);
  const auto draw = [&](std::size_t n, double low) {
    return Draw(static_cast<std::ptrdiff_t>(n), stream, low);
  };
  for (const KernelTable* table : kernels::RunnableKernels()) {
    for (const std::size_t jobs : {0U, 1U, 2U, 7U}) {
      for (const std::size_t types : {1U, 3U}) {
        for (const std::size_t units : {1U, 4U, 15U, 16U, 33U, 40U}) {
          CAPTURE(table->name, jobs, types, units);
          const kernels::PairShape shape = {jobs, types, units};
          const AlignedFloats job = draw(jobs * units, -1.0), state = draw(types * units, -1.0),
                              d_pair = draw(jobs * types * units, -1.0);
          AlignedFloats pair(jobs * types * units), d_job(jobs * units), d_state(types * units, 9.0F);
          table->spread(shape, job.data(), state.data(), pair.data());
          table->fold(shape, d_pair.data(), d_job.data(), d_state.data());
          std::vector<Dot> of_job(jobs * units), of_state(types * units);
          for (std::size_t q = 0; q < jobs; ++q) {
            for (std::size_t t = 0; t < types; ++t) {
              for (std::size_t k = 0; k < units; ++k) {
                const std::size_t at = (q * types + t) * units + k;
                REQUIRE(pair[at] == job[q * units + k] + state[t * units + k]);
                of_job[q * units + k].Add(d_pair[at]);
                of_state[t * units + k].Add(d_pair[at]);
              }
            }
          }
          for (std::size_t k = 0; k < of_job.size(); ++k) {
            REQUIRE(std::abs(d_job[k] - of_job[k].value) <= of_job[k].Bound(static_cast<int>(types)));
          }
          for (std::size_t k = 0; k < of_state.size(); ++k) {
            REQUIRE(std::abs(d_state[k] - of_state[k].value) <= of_state[k].Bound(static_cast<int>(jobs)));
          }

          // Below the floor as often as above it; jobs 0 and 1 share the maximum of the even units.
          constexpr float kFloor = -0.25F;
          AlignedFloats x = draw(jobs * units, -1.0), mean(units, 9.0F), most(units, 9.0F);
          for (std::size_t k = 0; jobs >= 2 && k < units; k += 2) x[k] = x[units + k] = 2.0F;
          table->pool(shape, x.data(), kFloor, mean.data(), most.data());
          const AlignedFloats d_mean = draw(units, -1.0), d_most = draw(units, -1.0);
          AlignedFloats dx(jobs * units);
          table->unpool(shape, x.data(), most.data(), d_mean.data(), d_most.data(), dx.data());
          for (std::size_t k = 0; k < units; ++k) {
            Dot sum;
            float best = kFloor;
            for (std::size_t q = 0; q < jobs; ++q) {
              sum.Add(x[q * units + k]);
              best = std::max(best, x[q * units + k]);
            }
            const double count = std::max<double>(1.0, static_cast<double>(jobs));
            REQUIRE(most[k] == best);
            REQUIRE(std::abs(mean[k] - sum.value / count) <= sum.Bound(static_cast<int>(jobs)) / count);
            double ties = 0.0;
            for (std::size_t q = 0; q < jobs; ++q) ties += x[q * units + k] == best;
            for (std::size_t q = 0; q < jobs; ++q) {
              const double of_mean = d_mean[k] / count,
                           of_most = x[q * units + k] == best ? d_most[k] / ties : 0.0;
              // Two quotients and their sum.
              REQUIRE(std::abs(dx[q * units + k] - (of_mean + of_most)) <=
                      3.0 * kUnit * (std::abs(of_mean) + std::abs(of_most)));
            }
          }
        }
      }
    }
  }
}

// Softmax and normalised rows, with their gradients by central differences of the exact functions.
TEST_CASE("kernels: rows of softmax and normalised rows, forward and backward") {
  Stream stream(12, Purpose::kTest);
  for (const KernelTable* table : kernels::RunnableKernels()) {
    for (const std::size_t columns : {1, 2, 7, 16, 33, 64}) {
      CAPTURE(table->name, columns);
      constexpr std::size_t kRows = 5;
      const std::size_t ld = columns + 3;
      const auto draw = [&](std::size_t n) {
        AlignedFloats x(n);
        for (float& v : x) v = static_cast<float>(2.0 * stream.Normal());
        return x;
      };
      const AlignedFloats x = draw(kRows * ld), d = draw(kRows * ld);
      AlignedFloats weights = x, slopes = d;
      constexpr float kScale = 0.25F;
      table->softmax_rows({weights.data(), kRows, columns, ld, kScale});
      table->softmax_rows_backward({slopes.data(), kRows, columns, ld, kScale}, weights.data());
      for (std::size_t r = 0; r < kRows; ++r) {
        std::vector<double> p(columns);
        double sum = 0.0, along = 0.0;
        for (std::size_t i = 0; i < columns; ++i) sum += p[i] = std::exp(kScale * static_cast<double>(x[r * ld + i]));
        for (std::size_t i = 0; i < columns; ++i) along += (p[i] /= sum) * static_cast<double>(d[r * ld + i]);
        for (std::size_t i = 0; i < columns; ++i) {
          REQUIRE(weights[r * ld + i] == Approx(p[i]).epsilon(2e-6));
          const double exact = p[i] * (static_cast<double>(d[r * ld + i]) - along) * kScale;
          REQUIRE(slopes[r * ld + i] == Approx(exact).epsilon(1e-5).margin(2e-6));
        }
        for (std::size_t i = columns; i < ld; ++i) REQUIRE((weights[r * ld + i] == 0.0F && slopes[r * ld + i] == 0.0F));
      }
      const AlignedFloats row = draw(kRows * columns), dy = draw(kRows * columns);
      AlignedFloats y(kRows * columns), dx(kRows * columns), factor(kRows);
      constexpr float kEpsilon = 1e-2F;
      table->normalize(row.data(), kRows, columns, kEpsilon, y.data(), factor.data());
      table->normalize_backward(y.data(), factor.data(), dy.data(), kRows, columns, dx.data());
      for (std::size_t r = 0; r < kRows; ++r) {
        const auto exact = [&](std::vector<double> v) {  // what the gradients are of: dy . normalised
          double mean = 0.0, variance = 0.0, product = 0.0;
          for (const double a : v) mean += a / static_cast<double>(columns);
          for (const double a : v) variance += (a - mean) * (a - mean) / static_cast<double>(columns);
          for (std::size_t i = 0; i < columns; ++i) {
            v[i] = (v[i] - mean) / std::sqrt(variance + static_cast<double>(kEpsilon));
            product += v[i] * static_cast<double>(dy[r * columns + i]);
          }
          return std::pair(v, product);
        };
        const std::vector<double> at(row.begin() + static_cast<std::ptrdiff_t>(r * columns),
                                     row.begin() + static_cast<std::ptrdiff_t>((r + 1) * columns));
        const std::vector<double> normal = exact(at).first;
        for (std::size_t i = 0; i < columns; ++i) {
          REQUIRE(y[r * columns + i] == Approx(normal[i]).epsilon(1e-5).margin(2e-6));
          std::vector<double> more = at, less = at;
          constexpr double kStep = 1e-5;
          more[i] += kStep, less[i] -= kStep;
          const double slope = (exact(more).second - exact(less).second) / (2.0 * kStep);
          REQUIRE(dx[r * columns + i] == Approx(slope).epsilon(1e-4).margin(2e-4));
        }
      }
    }
  }
}

TEST_CASE("kernels: tanh and exp within their stated errors, and NaN stays NaN") {
  for (const KernelTable* table : kernels::RunnableKernels()) {
    CAPTURE(table->name);
    std::vector<float> x;
    for (int i = -90000; i <= 90000; ++i) x.push_back(static_cast<float>(i) * 0.00097F);
    std::vector<float> t = x, e = x;
    table->tanh(t.data(), t.size());
    table->exp(e.data(), e.size());
    double tanh_error = 0.0, exp_error = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      tanh_error = std::max(tanh_error, std::abs(t[i] - std::tanh(static_cast<double>(x[i]))));
      const double exact = std::exp(static_cast<double>(x[i]));
      exp_error = std::max(exp_error, std::abs(e[i] - exact) / exact);
    }
    CHECK(tanh_error < 4e-7);
    CHECK(exp_error < 2e-7);
    for (const auto function : {table->tanh, table->exp, table->relu}) {
      float values[] = {0.5F, std::nanf(""), -1.0F};
      function(values, 3);
      CHECK(std::isnan(values[1]));
      CHECK(std::isfinite(values[2]));
    }
    std::vector<float> y = {0.5F, 0.0F, -0.25F, 2.0F, 1.0F}, dy(5, 3.0F), dz(5, 3.0F);
    table->tanh_backward(y.data(), dy.data(), 5);
    CHECK(dy == std::vector<float>{2.25F, 3.0F, 2.8125F, -9.0F, 0.0F});  // 3 (1 - y^2)
    table->relu_backward(y.data(), dz.data(), 5);
    CHECK(dz == std::vector<float>{3.0F, 0.0F, 0.0F, 3.0F, 3.0F});
  }
}

TEST_CASE("kernels: masked softmax, its entropy and its gradient, every instruction set") {
  Stream stream(3, Purpose::kTest);
  for (const KernelTable* table : kernels::RunnableKernels()) {
    const Use use(*table);
    for (const std::size_t n : {1UL, 2UL, 15UL, 16UL, 33UL, 97UL}) {
      for (int repeat = 0; repeat < 5; ++repeat) {
        CAPTURE(table->name, n, repeat);
        const AlignedFloats scores = Draw(static_cast<std::ptrdiff_t>(n), stream, -5.0, 5.0);
        std::vector<std::uint8_t> mask(n);
        for (auto& m : mask) m = stream.Below(2) != 0;
        const std::size_t action = stream.Below(static_cast<std::uint32_t>(n));
        mask[action] = 1;
        std::vector<float> z(n, 9.0F), p(n, 9.0F), d(n, 0.0F);
        const kernels::SoftmaxRow row = kernels::MaskedSoftmax(scores, mask, z, p);
        double sum = 0.0, entropy = 0.0;
        for (std::size_t j = 0; j < n; ++j) sum += mask[j] ? std::exp(static_cast<double>(scores[j])) : 0.0;
        const auto log_p = [&](std::size_t j) { return scores[j] - std::log(sum); };
        for (std::size_t j = 0; j < n; ++j) {
          if (mask[j]) entropy -= std::exp(log_p(j)) * log_p(j);
        }
        const double g = stream.Uniform(-2.0, 2.0), h = stream.Uniform(-1.0, 1.0);
        kernels::MaskedSoftmaxBackward(z, p, row, action, static_cast<float>(g), static_cast<float>(h), d);
        // Some roundings of values of order log n + 10 each.
        CHECK(row.entropy == Approx(entropy).margin(2e-6));
        CHECK(z[action] - row.log_sum == Approx(log_p(action)).margin(2e-6));
        for (std::size_t j = 0; j < n; ++j) {
          if (!mask[j]) {
            CHECK((p[j] == 0.0F && z[j] == 0.0F && d[j] == 0.0F));
            continue;
          }
          const double probability = std::exp(log_p(j));
          CHECK(p[j] == Approx(probability).epsilon(2e-6));
          const double exact =
              g * ((j == action ? 1.0 : 0.0) - probability) - h * probability * (log_p(j) + entropy);
          CHECK(d[j] == Approx(exact).margin(4e-6));
        }
      }
    }
  }
}

TEST_CASE("kernels: a softmax shared by rows of their own masks against double precision") {
  for (const KernelTable* table : kernels::RunnableKernels()) {
    Stream stream(9, Purpose::kTest);
    CAPTURE(table->name);
    for (const std::size_t n : {1, 5, 16, 97, 103}) {
      constexpr std::size_t kRows = 4;
      AlignedFloats scores = Draw(n, stream);
      for (float& score : scores) score *= 3.0F;
      std::vector<std::vector<std::uint8_t>> allowed(kRows, std::vector<std::uint8_t>(n));
      std::vector<const std::uint8_t*> masks;
      double highest = -1e9;
      for (std::vector<std::uint8_t>& row : allowed) {
        row[stream.Below(static_cast<std::uint32_t>(n))] = 1;
        for (std::size_t j = 0; j < n; ++j) row[j] = row[j] || (j % 3 != 0 && stream.Below(3) == 0);
        for (std::size_t j = 0; j < n; ++j) highest = row[j] ? std::max<double>(highest, scores[j]) : highest;
        masks.push_back(row.data());
      }
      std::vector<float> z(n, 9.0F), e(n, 9.0F), d(n, 0.5F), sums(kRows), means(kRows), c0, c1;
      const kernels::SharedRows shared = {scores.data(), masks.data(), kRows, n};
      table->shared_softmax(shared, z.data(), e.data(), sums.data(), means.data());
      for (std::size_t r = 0; r < kRows; ++r) {
        double sum = 0.0, mean = 0.0;
        for (std::size_t j = 0; j < n; ++j) {
          if (!allowed[r][j]) continue;
          sum += std::exp(scores[j] - highest);
          mean += std::exp(scores[j] - highest) * (scores[j] - highest);
        }
        CHECK(sums[r] == Approx(sum).epsilon(4e-6));
        CHECK(means[r] == Approx(mean).epsilon(4e-6).margin(1e-6));
        c0.push_back(static_cast<float>(stream.Uniform(-2.0, 2.0)));
        c1.push_back(static_cast<float>(stream.Uniform(-2.0, 2.0)));
      }
      table->shared_softmax_backward(shared, z.data(), e.data(), c0.data(), c1.data(), d.data());
      for (std::size_t j = 0; j < n; ++j) {
        double expected = 0.5;
        bool any = false;
        for (std::size_t r = 0; r < kRows; ++r) {
          if (!allowed[r][j]) continue;
          any = true;
          const double shifted = scores[j] - highest;
          expected += std::exp(shifted) * (c0[r] + c1[r] * shifted);
        }
        CHECK(d[j] == Approx(expected).epsilon(1e-5).margin(1e-5));
        if (!any) CHECK((z[j] == 0.0F && e[j] == 0.0F && d[j] == 0.5F));
      }
    }
  }
}

TEST_CASE("kernels: Adam and the norm against double precision") {
  constexpr std::size_t kSize = 103;
  for (const KernelTable* table : kernels::RunnableKernels()) {
    Stream stream(4, Purpose::kTest);
    CAPTURE(table->name);
    AlignedFloats p = Draw(kSize, stream), m(kSize), v(kSize);
    std::vector<double> ep(p.begin(), p.end()), em(kSize), ev(kSize);
    for (int t = 1; t <= 20; ++t) {
      const AlignedFloats g = Draw(kSize, stream);
      const double scale = 0.7, lr = 0.01, epsilon = 1e-5, first = 1.0 - std::pow(0.9, t),
                   second = 1.0 - std::pow(0.999, t);
      double norm = 0.0;
      for (std::size_t i = 0; i < kSize; ++i) {
        const double gradient = g[i] * scale;
        norm += static_cast<double>(g[i]) * g[i];
        em[i] = 0.9 * em[i] + 0.1 * gradient;
        ev[i] = 0.999 * ev[i] + 0.001 * gradient * gradient;
        ep[i] -= lr / first * em[i] / (std::sqrt(ev[i] / second) + epsilon);
      }
      CHECK(table->squared_norm(g.data(), kSize) == Approx(norm).epsilon(1e-6));
      table->adam({p.data(), m.data(), v.data(), g.data(), kSize, static_cast<float>(scale),
                   static_cast<float>(lr / first), static_cast<float>(1.0 / std::sqrt(second)),
                   static_cast<float>(epsilon)});
    }
    // 20 steps of at most 0.01 each, some roundings of 6e-8 a step.
    for (std::size_t i = 0; i < kSize; ++i) CHECK(std::abs(p[i] - ep[i]) < 2e-6);
  }
}

}  // namespace berth

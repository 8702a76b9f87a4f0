#include "env/predict/estimation/low_rank.hpp"

#include "env/base/index.hpp"
#include "env/base/least_squares.hpp"
#include "env/base/portable_math.hpp"
#include "env/base/rng.hpp"

namespace berth {
namespace {

constexpr std::uint32_t kStartStream = 3;  // of the streams of Purpose::kEstimate
constexpr double kStartDeviation = 0.1;
constexpr double kFirstRidge = 1.0;  // on the way down to a smaller one

// One side of the factorisation: an offset and `rank` factors a line.
struct Side {
  Side(int lines, int per_line) : width(U(per_line)), x(U(lines) * U(per_line), 0.0) {}
  double* Line(int i) { return x.data() + U(i) * width; }
  std::size_t width;
  std::vector<double> x;  // [lines, 1 + rank]
};

// What each line's penalty pulls it to: nothing, or the mean of its group.
std::vector<double> Centres(const Side& side, const std::vector<int>& group, double ridge) {
  std::vector<double> centres(side.x.size(), 0.0);
  if (group.empty()) return centres;
  std::vector<double> sum, size;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const std::size_t g = U(group[i]);
    if (sum.size() < (g + 1) * side.width) sum.resize((g + 1) * side.width, 0.0), size.resize(g + 1, ridge);
    size[g] += 1.0;
    for (std::size_t k = 0; k < side.width; ++k) sum[g * side.width + k] += side.x[i * side.width + k];
  }
  for (std::size_t i = 0; i < group.size(); ++i) {
    const std::size_t g = U(group[i]);
    for (std::size_t k = 0; k < side.width; ++k)
      centres[i * side.width + k] = sum[g * side.width + k] / size[g];
  }
  return centres;
}

class Fit {
 public:
  Fit(const PartialMatrix& matrix, const LowRankOptions& options)
      : matrix_(matrix),
        width_(1 + options.rank),
        rows_(matrix.rows, width_),
        columns_(matrix.columns, width_),
        ridge_(U(width_), options.factor_ridge),
        group_ridge_(options.group_ridge),
        equations_(width_) {
    ridge_[0] = options.offset_ridge;
    ridge_now_ = ridge_;
    double sum = 0.0, count = 0.0;
    for (std::size_t at = 0; at < matrix.value.size(); ++at) {
      if (matrix.known[at] != 0) sum += matrix.value[at], count += 1.0;
    }
    mean_ = count > 0.0 ? sum / count : 0.0;
    Stream stream(options.seed, Purpose::kEstimate, Split::kTrain, kStartStream);
    for (int j = 0; j < matrix.columns; ++j) {
      for (int k = 1; k < width_; ++k) columns_.Line(j)[k] = kStartDeviation * stream.Normal();
    }
  }

  // `part` of the sweeps are done. A small ridge is reached by and by over the first half, each sweep
  // starting from the fit under a larger one: without, a fit of few entries runs away into huge factors that
  // cancel.
  void Sweep(double part) {
    for (std::size_t k = 0; k < ridge_.size(); ++k) {
      ridge_now_[k] = ridge_[k];
      if (ridge_[k] < kFirstRidge && part < 0.5)
        ridge_now_[k] *= Pow(kFirstRidge / ridge_[k], 1.0 - 2.0 * part);
    }
    Update(rows_, columns_, {}, matrix_.rows, matrix_.columns,
           [&](int line, int other) { return matrix_.At(line, other); });
    Update(columns_, rows_, matrix_.group, matrix_.columns, matrix_.rows,
           [&](int line, int other) { return matrix_.At(other, line); });
  }

  std::vector<double> Values() {
    std::vector<double> values(matrix_.value.size());
    for (int i = 0; i < matrix_.rows; ++i) {
      for (int j = 0; j < matrix_.columns; ++j) {
        const double *u = rows_.Line(i), *v = columns_.Line(j);
        double value = mean_ + u[0] + v[0];
        for (int k = 1; k < width_; ++k) value += u[k] * v[k];
        values[matrix_.At(i, j)] = value;
      }
    }
    return values;
  }

 private:
  // Each line of `side` by ridge regression on the known entries that it shares with `other`.
  template <class At>
  void Update(Side& side, Side& other, const std::vector<int>& group, int lines, int others, const At& at) {
    const std::vector<double> centres = Centres(side, group, group_ridge_);
    std::vector<double> row(U(width_));
    for (int i = 0; i < lines; ++i) {
      const double* centre = centres.data() + U(i) * U(width_);
      equations_.Clear();
      for (int j = 0; j < others; ++j) {
        if (matrix_.known[at(i, j)] == 0) continue;
        const double* factors = other.Line(j);
        row[0] = 1.0;
        double left = matrix_.value[at(i, j)] - mean_ - factors[0] - centre[0];
        for (int k = 1; k < width_; ++k) {
          row[U(k)] = factors[k];
          left -= centre[k] * factors[k];
        }
        equations_.Add(row, left);
      }
      const std::vector<double> off = equations_.Solve(ridge_now_);
      for (int k = 0; k < width_; ++k) side.Line(i)[k] = centre[k] + off[U(k)];
    }
  }

  const PartialMatrix& matrix_;
  int width_;
  double mean_ = 0.0;
  Side rows_, columns_;
  std::vector<double> ridge_, ridge_now_;  // [1 + rank]
  double group_ridge_;
  NormalEquations equations_;
};

}  // namespace

std::vector<double> CompleteLowRank(const PartialMatrix& matrix, const LowRankOptions& options) {
  Fit fit(matrix, options);
  for (int sweep = 0; sweep < options.sweeps; ++sweep) fit.Sweep(static_cast<double>(sweep) / options.sweeps);
  return fit.Values();
}

}  // namespace berth

#include "env/predict/estimation/nearest_reference.hpp"

#include <algorithm>

#include "env/base/check.hpp"

namespace berth {
namespace {

struct Likeness {
  int reference = 0;
  int shared = 0;         // entries known of both
  double offset = 0.0;    // mean difference
  double variance = 0.0;  // of the differences
};

Likeness Compare(const PartialMatrix& matrix, int row, const PartialMatrix& references, int reference) {
  Likeness found;
  found.reference = reference;
  double sum = 0.0, squares = 0.0;
  for (int j = 0; j < matrix.columns; ++j) {
    if (!matrix.Known(row, j) || !references.Known(reference, j)) continue;
    const double off = matrix.value[matrix.At(row, j)] - references.value[references.At(reference, j)];
    ++found.shared;
    sum += off, squares += off * off;
  }
  if (found.shared == 0) return found;
  found.offset = sum / found.shared;
  found.variance = squares / found.shared - found.offset * found.offset;
  return found;
}

// Nearest first. Empty where the row shares nothing with any.
std::vector<Likeness> NearestReferences(const PartialMatrix& matrix, int row, const PartialMatrix& references,
                                        int own) {
  std::vector<Likeness> found;
  int most = 0;
  for (int r = 0; r < references.rows; ++r) {
    if (r == own) continue;
    const Likeness likeness = Compare(matrix, row, references, r);
    if (likeness.shared > 0) found.push_back(likeness);
    most = std::max(most, likeness.shared);
  }
  const auto few = [&](const Likeness& l) { return 2 * l.shared < most; };
  std::stable_sort(found.begin(), found.end(), [&](const Likeness& a, const Likeness& b) {
    return few(a) != few(b) ? few(b) : a.variance < b.variance;
  });
  return found;
}

double MeanKnown(const PartialMatrix& matrix, int row) {
  double sum = 0.0;
  int count = 0;
  for (int j = 0; j < matrix.columns; ++j) {
    if (matrix.Known(row, j)) sum += matrix.value[matrix.At(row, j)], ++count;
  }
  return count > 0 ? sum / count : 0.0;
}

double MeanOfReferences(const PartialMatrix& references, int column, int own, double otherwise) {
  double sum = 0.0;
  int count = 0;
  for (int r = 0; r < references.rows; ++r) {
    if (r != own && references.Known(r, column)) sum += references.value[references.At(r, column)], ++count;
  }
  return count > 0 ? sum / count : otherwise;
}

}  // namespace

std::vector<double> CompleteByReference(const PartialMatrix& matrix, const PartialMatrix& references,
                                        const std::vector<int>& own) {
  BERTH_CHECK(matrix.columns == references.columns, matrix.columns, " ", references.columns);
  BERTH_CHECK(own.size() == static_cast<std::size_t>(matrix.rows), own.size());
  std::vector<double> values(matrix.value.size());
  for (int i = 0; i < matrix.rows; ++i) {
    const int self = own[static_cast<std::size_t>(i)];
    const std::vector<Likeness> nearest = NearestReferences(matrix, i, references, self);
    const double row_mean = MeanKnown(matrix, i);
    for (int j = 0; j < matrix.columns; ++j) {
      const auto knows = std::find_if(nearest.begin(), nearest.end(),
                                      [&](const Likeness& l) { return references.Known(l.reference, j); });
      double& value = values[matrix.At(i, j)];
      if (knows != nearest.end()) {
        value = references.value[references.At(knows->reference, j)] + knows->offset;
      } else {
        value = nearest.empty() ? MeanOfReferences(references, j, self, row_mean) : row_mean;
      }
    }
  }
  return values;
}

}  // namespace berth

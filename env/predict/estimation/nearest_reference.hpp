// Nearest-reference matching: a row of which little is known is thought to go on like the reference row that
// it is most alike where it is known, up to a factor (in logarithms: up to an offset). So Gavel fingerprints
// a new job and takes the throughputs of the reference job nearest to it (Narayanan et al., OSDI 2020, §6);
// classes by likeness to profiled applications: Paragon, Delimitrou & Kozyrakis, ASPLOS 2013.
#pragma once

#include <vector>

#include "env/predict/estimation/partial_matrix.hpp"

namespace berth {

// Row i of `matrix` is compared with every row of `references` but `own[i]` (-1 = none is its own): the less
// the differences over the entries known of both vary, the nearer; references that share less than half as
// many entries as the best does come last, since few entries are alike by chance. An entry is that of the
// nearest reference that knows it, plus the mean difference to that reference. Where a row shares nothing
// with any, it is the mean of the references; where no reference knows the entry, the mean of what is known
// of the row. [rows, columns]
std::vector<double> CompleteByReference(const PartialMatrix& matrix, const PartialMatrix& references,
                                        const std::vector<int>& own);

}  // namespace berth

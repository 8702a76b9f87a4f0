// Completion of a matrix that is nearly of low rank, by alternating least squares: entry (i, j) is thought to
// be
//   mean + r_i + c_j + u_i . v_j                                                 (Koren, Bell & Volinsky,
// Computer 2009, eq. 4), with |u|^2, |v|^2, r^2, c^2 penalised, and a group of columns pulled together: v_j
// and c_j are penalised by their distance to the mean of their group. Each row, then each column, is a ridge
// regression on the others (Zhou et al., AAIM 2008, ALS); ridges come down to theirs by and by (warm starts:
// Mazumder, Hastie & Tibshirani, JMLR 2010). Matrix completion is what Paragon (Delimitrou &
// Kozyrakis, ASPLOS 2013) and Gavel (Narayanan et al., OSDI 2020, §3.3 and §6) estimate throughputs with.
#pragma once

#include <cstdint>
#include <vector>

#include "env/predict/estimation/partial_matrix.hpp"

namespace berth {

struct LowRankOptions {
  int rank = 5;
  double factor_ridge = 0.3;  // on u and v
  double offset_ridge = 0.1;  // on r and c
  double group_ridge = 0.3;   // on the mean of a group, as that many columns of zeros
  int sweeps = 40;
  std::uint64_t seed = 0;  // of the first v
};

// [rows, columns] the fitted value of every entry, known ones too. All 0 where nothing is known.
std::vector<double> CompleteLowRank(const PartialMatrix& matrix, const LowRankOptions& options);

}  // namespace berth

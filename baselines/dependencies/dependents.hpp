// What schedulers of dependent jobs ask of the blocked ones (env/features/stages/stages.hpp).
#pragma once

#include <vector>

#include "env/sim/cluster_view.hpp"

namespace berth {

// Mean seconds the whole job takes alone, over the types on which it runs (w of HEFT, equation 2).
double MeanSeconds(const ClusterView& view, int job);

// rank_u of Topcuoglu, Hariri & Wu 2002 (HEFT), equation 3 without communication: the mean seconds of the job
// and of the longest chain of those that wait for it and have arrived. `rank` [J] keeps what was computed;
// negative = not yet.
double UpwardRank(const ClusterView& view, int job, std::vector<double>& rank);

}  // namespace berth

// How much slower a gang runs spread over nodes than consolidated on as few as can be.
//
// Measured: ThroughputTable::unconsolidated over ::alone where the table has both (it knows nodes, not
// racks). Otherwise the model: a step of data-parallel training is its computation and a ring all-reduce of
// the gradients, in which each member sends and receives 2 (n - 1) / n of their size over the ring's slowest
// link (Patarasuk & Yuan, J. Parallel Distrib. Comput. 69, 2009, equation for bandwidth-optimal all-reduce).
// A consolidated step is what the table says, so on another link it takes the difference longer:
//
//   factor = 1 / (1 + rate (ring(n, gradient, link) - ring(n, gradient, link consolidated)))
//
// Links are not contended for: jobs on one node do not slow each other down.
#pragma once

namespace berth {

class ClusterView;
class FeatureStates;
class Scenario;
struct ClusterLayout;

// s, for `gang` members and `gb` over a link of `gb_s`; 0 for one member.
double RingAllReduceSeconds(int gang, double gb, double gb_s);

// Where a gang is: how many nodes and racks.
struct Extent {
  int nodes = 1;
  int racks = 1;
};

// A gang that runs, or would: its steps, and how many it makes together.
struct PlacedGang {
  int job_type, type, width;
  double rate;  // steps/s
};
// The same by the steps that it makes now (FeatureState::StepsOf): gradients are exchanged once in each.
PlacedGang AtItsSteps(const FeatureStates& features, int job, PlacedGang gang);

// Of the gang's rate; 1 where consolidated. Needs the feature topology. Of a view: as fast as it is told
// (RateAt).
double SpreadFactor(const Scenario& scenario, const ClusterLayout& layout, const PlacedGang& gang,
                    Extent extent);
double SpreadFactor(const ClusterView& view, int job, int type, int width, Extent extent);

}  // namespace berth

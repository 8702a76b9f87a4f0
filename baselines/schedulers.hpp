// The one list of classical schedulers. Adding one is `SchedulerInfo XInfo()` in a .cpp of its family and the
// line X(X) here. A function without its line fails to build (no previous declaration), a line without its
// function fails to link.
#pragma once

#include "env/sim/scheduler.hpp"

#define BERTH_BASELINES(X) \
  X(Queue)                 \
  X(Fcfs)                  \
  X(Priority)              \
  X(Ageing)                \
  X(Sjf)                   \
  X(Ljf)                   \
  X(Saf)                   \
  X(Smallest)              \
  X(Largest)               \
  X(Wfp3)                  \
  X(Unicep)                \
  X(Lxf)                   \
  X(F1)                    \
  X(F2)                    \
  X(F3)                    \
  X(F4)                    \
  X(Easy)                  \
  X(EasySjf)               \
  X(EasySjbf)              \
  X(Conservative)          \
  X(TaskBatching)          \
  X(Srpt)                  \
  X(Las)                   \
  X(Tuned)                 \
  X(TunedBlind)            \
  X(RoundRobin)            \
  X(WeightedRoundRobin)    \
  X(GangScheduling)        \
  X(Tiresias)              \
  X(Gittins)               \
  X(PreemptMigrate)        \
  X(FairShare)             \
  X(Drf)                   \
  X(ProportionalFairness)  \
  X(Edf)                   \
  X(LeastLaxity)           \
  X(DeadlineAdmission)     \
  X(LeastLoaded)           \
  X(PowerOfTwo)            \
  X(ShortestQueue)         \
  X(DelayScheduling)       \
  X(Defragment)            \
  X(BestFit)               \
  X(WorstFit)              \
  X(GpuShares)             \
  X(Mig)                   \
  X(MigStatic)             \
  X(VectorFit)             \
  X(Matching)              \
  X(NashWelfare)           \
  X(AssignmentLp)          \
  X(Milp)                  \
  X(Genetic)               \
  X(Annealing)             \
  X(Hybrid)                \
  X(Admission)             \
  X(TokenBucket)           \
  X(EnergyEfficient)       \
  X(CoolestFirst)          \
  X(CheapHours)            \
  X(PowerFeedback)         \
  X(CMu)                   \
  X(MaxWeight)             \
  X(Hierarchical)          \
  X(Pools)                 \
  X(Batch)                 \
  X(Adaptive)              \
  X(Guard)                 \
  X(Predicted)             \
  X(Autoscale)             \
  X(CriticalPath)          \
  X(Johnson)               \
  X(Evacuate)              \
  X(Anticipate)            \
  X(Optimus)               \
  X(ElasticSrpt)           \
  X(EqualShare)            \
  X(Reservation)           \
  X(Random)                \
  X(Gavel)                 \
  X(Gandiva)               \
  X(TabuSearch)            \
  X(Themis)                \
  X(Shockwave)             \
  X(OptimusTuned)          \
  X(Pollux)                \
  X(Sia)                   \
  X(GavelTuned)            \
  X(Slurm)                 \
  X(Recorded)

namespace berth {

#define BERTH_DECLARE(Name) SchedulerInfo Name##Info();
BERTH_BASELINES(BERTH_DECLARE)
#undef BERTH_DECLARE

// The table, in the order of the list.
SchedulerTable BaselineSchedulers();

}  // namespace berth

// Slurm's priority/multifactor: a whole number a job, from weighted factors of 0 to 1
// (priority_multifactor.c, fair_tree.c).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "baselines/fairness/decayed_usage.hpp"
#include "baselines/slurm/nodes.hpp"
#include "baselines/slurm/settings.hpp"
#include "env/sim/cluster_view.hpp"

namespace berth {

// What Slurm's accounting knows of a QoS and slurm.conf does not.
struct SlurmQos {
  std::string name;
  double priority = 0.0;
  std::vector<std::string> preempts;
};

// What the job type "PARTITION:QOS" of each job says: indices into partitions, and into qos (-1 = none of
// them).
struct SlurmClass {
  int partition = 0, qos = -1;
};
std::vector<SlurmClass> ClassesOf(const ClusterView& view, const SlurmSettings& settings,
                                  const std::vector<SlurmQos>& qos);

inline constexpr double kSlurmYear = 31536000.0;  // s; what Slurm takes an unlimited job for
// s: what the user requested, else the partition's time, else the job's estimated run time; a year at most.
double SlurmLimit(const ClusterView& view, int job, const SlurmPartitionRules& partition);

// Fair Tree: accounts by shares over usage, users likewise inside, ranks from 1 (least used) down to 1 /
// users. A tenant "ACCOUNT/USER" is a user of an account, another is an account of its own. Ties share a
// rank, and tied accounts are one. As in every Slurm there is one user more: root, who uses nothing.
std::vector<double> FairTreeFactors(const std::vector<std::string>& tenants,
                                    const std::vector<double>& weights, const std::vector<double>& usage);

// The classic formula, F = 2^(-UE / S / dampening) of the same tree: S is a user's part of its account times
// the account's of all, root's own share of 1 among them; UE = U + (UE of the account - U) x the user's part
// of its account (slurm.schedmd.com/classic_fair_share.html). All 1 while nobody has used anything.
std::vector<double> ClassicShareFactors(const std::vector<std::string>& tenants,
                                        const std::vector<double>& weights, const std::vector<double>& usage,
                                        double dampening = 1.0);

// Thread rule: one thread at a time.
class SlurmPriority {
 public:
  SlurmPriority(const SlurmSettings& settings, const std::vector<SlurmQos>& qos);
  void Reset(const ClusterView& view);
  // What a tenant used before that, GPU-seconds, decayed until then.
  void AddUsage(int tenant, double gpu_seconds) { usage_.Add(tenant, gpu_seconds); }
  // At every decision: usage, and at each multiple of PriorityCalcPeriod all factors that time changes.
  void Observe(const ClusterView& view, const std::vector<SlurmClass>& classes, const SlurmNodeTable& nodes);
  // Of a waiting job. Without multifactor all are alike: order is then by arrival.
  double Of(int job) const { return priority_[static_cast<std::size_t>(job)]; }
  double Age(const ClusterView& view, int job) const;  // s since it became eligible
  double next_update() const { return next_; }         // s; kNever where time changes nothing

 private:
  double Score(const ClusterView& view, int job, const SlurmClass& its, const SlurmNodeTable& nodes,
               double when) const;
  double SizeFactor(const ClusterView& view, int job, double limit_s) const;

  const SlurmSettings& settings_;
  const std::vector<SlurmQos>& qos_;
  DecayedUsage usage_;
  std::vector<double> fair_share_;  // [tenants]
  std::vector<double> since_;       // [J] s when it was first seen waiting; NaN = not yet
  std::vector<double> priority_;    // [J]
  double next_ = 0.0, most_factor_ = 1.0, most_qos_ = 0.0;
};

}  // namespace berth

// How long jobs run, from those that came: of a job that has run for some time, how long it may run in all.
//
// Where jobs state a time limit it is the share of it that they use, otherwise seconds. Runs that go on are
// counted as such (Kaplan & Meier, 1958): without them the long ones would be missing.
#pragma once

#include <array>
#include <map>
#include <vector>

#include "env/base/rng.hpp"

namespace berth {

struct KnownRun {
  int job_type = 0, gang = 1, tenant = 0;
  double requested_s;    // the limit; NaN = none
  double seconds = 0.0;  // of running so far, on the job's fastest type
  bool ended = false;
};

// Thread rule: reading is safe from any thread.
class RunSample {
 public:
  // Runs of no time are passed over.
  explicit RunSample(const std::vector<KnownRun>& runs);
  // Whole seconds on its fastest type, more than it has run: drawn from runs of its type, gang and tenant
  // where at least 10 of them ended that late, else of its type and gang, else of its type, else of all; with
  // a limit and no run to learn from, anything up to the limit. NaN where nothing is known.
  double Draw(const KnownRun& job, Stream& stream) const;

 private:
  struct Curve {
    std::vector<double> values, survive;  // ascending; the share that lasts longer than that
  };
  struct Entry {
    double value;
    bool ended;
  };
  using Key = std::array<int, 4>;  // job type, gang, tenant, power of two of the limit
  static Curve CurveOf(std::vector<Entry> entries);
  // NaN where fewer than `enough` ended later than `least`.
  static double Draw(const Curve& curve, double least, std::size_t enough, Stream& stream);
  const Curve* Find(bool share, const Key& key) const;

  std::map<Key, Curve> shares_, seconds_;
};

}  // namespace berth

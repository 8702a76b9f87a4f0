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

// Of one job. Thread rule: reading is safe from any thread.
class RunChance {
 public:
  // Whole seconds on its fastest type, more than it has run. NaN where nothing is known.
  double Draw(Stream& stream) const;

 private:
  friend class RunSample;
  std::vector<double> values_, survive_;  // ascending; the chance that it lasts longer than that
  double from_ = 0.0, unit_ = 1.0;        // beyond this nothing is known; s
  bool share_ = false;                    // of its limit
};

// Thread rule: reading is safe from any thread.
class RunSample {
 public:
  // Runs of no time are passed over.
  explicit RunSample(const std::vector<KnownRun>& runs);
  // From runs whose limits are nearest: of its type, gang and tenant, where at least 10 of them ended later
  // than it has run by now, else of its tenant, else of all. With a limit and no run to learn from, anything
  // up to the limit.
  RunChance Of(const KnownRun& job) const;

 private:
  struct Entry {
    double octave, value;  // log2 of the limit, 0 = none; share of it, or s
    bool ended;
  };
  using Key = std::array<int, 3>;  // job type, gang, tenant; -1 = any
  using Runs = std::map<Key, std::vector<Entry>>;
  static std::vector<Entry> Nearest(const Runs& runs, const Key& key, double octave, std::size_t most,
                                    double apart);

  Runs shares_, seconds_;  // by octave
};

}  // namespace berth

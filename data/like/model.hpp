// What a workload generator knows of a log: the parameters that `berth generate --like` fits, and the TOML
// file in which a person reads and edits them (its keys are the members' names; README.md says what they
// mean).
//
//   const LikeModel model = FitLike(ReadScenario("mine.h5"));
//   WriteTextFile("model.toml", LikeToml(model, "# from mine.h5\n"));
//   ReadLike("model.toml") gives the same model.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "env/sim/scenario.hpp"

namespace berth {

// A distribution as its values at equal steps of probability, from 0 to 1: ascending, one to kMost. Between
// two of them the logarithm is straight; the value itself where the lower one is 0.
struct LikeQuantiles {
  static constexpr std::size_t kMost = 65;
  std::vector<double> values;

  double At(double share) const;  // share in [0, 1]; `values` is not empty
  double Mean() const;
};

// Jobs that are alike in everything that is counted, and how long those ran.
struct LikeClass {
  int user = -1;  // index into users; -1 = of any user
  int gpus = 1;
  int gpu_milli = 1000;      // thousandths of each GPU
  std::string job_type;      // "" = of a log that names none
  double jobs = 1.0;         // weight among the classes of the same user, or of any
  LikeQuantiles run_s;       // s; empty where jobs ask for a limit
  LikeQuantiles limit_s;     // s that jobs ask for; empty = they ask for none
  LikeQuantiles limit_used;  // run time over limit
};

struct LikeUser {
  std::string name;
  double shared = 0.0;  // jobs of the user that are of classes of any user, in the classes' unit
};

// Steps a second of a gang, by the name of the GPU type.
struct LikeSpeed {
  std::string job_type;
  int gpus = 1;
  std::map<std::string, double> steps_per_s;
};

// How values come together: with probability `again` a value is like one of the kBack before it, the k-th
// last with probability in proportion to k^-recency, and otherwise drawn anew (a discrete autoregression of
// high order, DAR(p); Jacobs & Lewis, Biometrika 65, 1978). What is a number is like the other in that their
// normal scores have the correlation `same` (a Gaussian copula), so every value has the same distribution,
// drawn anew or not.
struct LikeMemory {
  static constexpr int kBack = 256;
  double again = 0.0;    // in [0, 1)
  double recency = 1.0;  // 0 = all of them alike
  double same = 0.0;     // in [0, 1)
};

struct LikeModel {
  static constexpr int kHours = 24, kDays = 7;
  static constexpr double kHour = 3600.0;  // s

  double per_hour = 0.0;              // mean arrivals; 0 = all jobs come at once
  std::vector<double> hours;          // [24] rate by the hour of the day, over its mean; time 0 is hour 0
  std::vector<double> days;           // [7] the same by the day of the week
  LikeQuantiles gaps;                 // between arrivals, over their mean, at the rate that holds meanwhile
  LikeMemory gap_memory, job_memory;  // of gaps; of users and classes, and run times within these
  std::vector<LikeUser> users;        // empty = the log names none
  std::vector<LikeClass> classes;
  std::vector<LikeSpeed> speeds;  // empty = every job makes one step a second everywhere
};

// Seconds that a job runs on the GPU type that is fastest for it, of those in the scenario's cluster.
double LikeRunSeconds(const ScenarioData& data, std::size_t job);

// Error for a scenario without jobs. Pure; one to six seconds.
LikeModel FitLike(const Scenario& scenario);
// Columns of the scenario that the model does not have, for people: "deadline, weight".
std::string LikeLeavesOut(const Scenario& scenario);

// `comment` is lines that begin with '#', or none.
std::string LikeToml(const LikeModel& model, const std::string& comment);
// Throws Error "path:line: key: expected ..., found ...". An empty path is the example that ships.
LikeModel ReadLike(const std::string& path);
LikeModel ParseLike(const std::string& text, const std::string& path);

// The normal distribution, with the same bits on every C library; and its inverse, for 0 < share < 1.
double NormalShare(double score);
double NormalScore(double share);

}  // namespace berth

// How fast each class of jobs is on each GPU type, learned from jobs: from those that ended (their stated
// steps over their time on one type) and from what jobs report while they run (`berth progress`).
//
// What was measured is the mean, older measurements fading; what was not is filled in by low-rank completion
// of the table's logarithms, as the estimator `completion` does it (env/predict/estimation/low_rank.hpp).
// What the site file states is taken as it stands.
#pragma once

#include <string>
#include <vector>

#include "tools/controller/site_file.hpp"

namespace berth {

// Thread rule: one thread at a time.
class LearnedSpeeds {
 public:
  // `path`: where they are kept from one run to the next ("" = nowhere). Throws Error for a file that is none
  // of its own.
  LearnedSpeeds(const SiteFile& site, std::string path);

  // That a job of the class made so many steps in so many seconds on GPUs of the type, as Slurm names them.
  void Add(int job_class, const std::string& type, double steps, double seconds);
  // [classes][types] steps/s, of the types' GPUs as Slurm names them; 1 where nothing is known of any class.
  std::vector<std::vector<double>> Table(const std::vector<std::string>& types) const;
  bool changed() const { return changed_; }  // since Save
  void Save();                               // whole or not at all

 private:
  struct Measured {
    double steps = 0.0, seconds = 0.0;
  };
  const SiteFile& site_;
  std::string path_;
  std::map<std::string, std::map<std::string, Measured>> measured_;  // by class and type
  bool changed_ = false;
};

// What a job has reported: DIR/progress/ID, lines "UNIX_TIME STEPS", steps in all since its first start.
struct Reported {
  double at_s = 0.0, steps = 0.0;             // the last line; 0 = none
  double before_s = 0.0, before_steps = 0.0;  // the last one at least a second before that; 0 = none
};
Reported ReadReported(const std::string& path);

}  // namespace berth

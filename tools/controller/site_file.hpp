// What a site says of its jobs (--site, JSON): which class a job is of, and how fast a class is on each GPU
// type.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/controller/slurm_state.hpp"

namespace berth {

struct JobClass {
  std::string name, pattern;  // of a job's name: * and ?
  std::map<std::string, double>
      speeds;  // GPU type: steps/s of a gang, 0 = cannot run there; none = not known
};

struct SiteFile {
  std::vector<JobClass> classes;  // the last one is of jobs that no pattern fits
  // Of a job: what its comment says (class=NAME), else the first pattern that its name fits.
  int ClassOf(const SlurmJob& job) const;
};

// An empty path: one class, "job". Throws Error: unreadable, an unknown key (with the nearest name), a speed
// that cannot be.
SiteFile ReadSiteFile(const std::string& path);

// What the submitter says in --comment: words separated by blanks or commas.
struct JobWords {
  double steps = 0.0;  // in all; 0 = not said
  std::string job_class;
  bool checkpoint = false;  // goes on where it was when it is requeued
};
JobWords WordsOf(const std::string& comment);

}  // namespace berth

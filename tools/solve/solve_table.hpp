// What `berth solve` reads: a table of jobs with their speeds on each GPU type, and how many GPUs there are.
#pragma once

#include <string>
#include <vector>

#include "tools/solve/certified.hpp"

namespace berth {

struct SolveTable {
  gavel::Problem problem;
  std::vector<std::string> names;  // [m] what the table calls the jobs
};

// `jobs`: CSV with a column a GPU type (NAME or throughput_NAME: steps/s of the whole gang, 0 = cannot run),
// and of job (a name), gang (or gpus, scale_factor) [1], weight [1], remaining (steps), since (s) those that
// are there; job_type is passed over. `workers`: NAME=GPUS,... or a CSV with columns workers and name (or
// type), and price_per_hour where it has it. Throws Error with file, line, column, what was expected and what
// was found; also where the objective needs a column that is not there.
SolveTable ReadSolveTable(const std::string& jobs, const std::string& workers,
                          const gavel::CertifiedObjective& objective);

}  // namespace berth

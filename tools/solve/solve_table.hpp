// What `berth solve` reads: a table of jobs with their speeds on each GPU type, and how many GPUs there are.
#pragma once

#include <string>
#include <vector>

#include "baselines/gavel/combos.hpp"
#include "data/csv_file.hpp"
#include "tools/solve/certified.hpp"

namespace berth {

struct SolveTable {
  gavel::PackedProblem problem;    // of jobs alone where no pairs are read: no kinds
  std::vector<std::string> names;  // [m] what the table calls the jobs
  std::vector<std::string> kinds;  // in the order of their first jobs
};

// `jobs`: CSV with a column a GPU type (NAME or throughput_NAME: steps/s of the whole gang, 0 = cannot run,
// which is so too where the gang is larger than the type),
// and of job (a name), gang (or gpus, scale_factor) [1], weight [1], remaining (steps), since (s), kind (or
// job_type) those that are there. `workers`: NAME=GPUS,... or a CSV with columns workers and name (or
// type), and price_per_hour where it has it. Throws Error with file, line, column, what was expected and what
// was found; also where the objective needs a column that is not there.
// `pairs`: "" = no two jobs share a GPU, or ReadPairs; the column kind is needed then.
SolveTable ReadSolveTable(const std::string& jobs, const std::string& workers, const std::string& pairs,
                          const gavel::CertifiedObjective& objective);

// Which kinds of jobs may share a GPU: CSV with kind, other, type, speed and other_speed, steps/s of a job of
// each kind while they share one of the type. Two kinds stand there once for a type, in either order; what
// does not cannot share. Kinds that no job has are passed over. Throws Error likewise, and where no two kinds
// of the jobs are in it.
void ReadPairs(const std::string& path, SolveTable& table);

// A number of 0 or more, finite.
double ReadNumber(const CsvFile& file, const std::string& column);

}  // namespace berth

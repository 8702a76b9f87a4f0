// A sweep's cells as a job array of Slurm, or on ranks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace berth {

// A script for sbatch, or for the ranks of torchrun, mpirun or srun, whose tasks run the cells between them,
// at most 1,000 tasks (Slurm's MaxArraySize is 1,001 unless a site says otherwise). `arguments`: the words
// behind `berth sweep`; of them those about the table are left out, since the plain command makes it.
std::string SlurmArray(const std::vector<std::string>& arguments, std::int64_t cells);

}  // namespace berth

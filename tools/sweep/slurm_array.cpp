#include "tools/sweep/slurm_array.hpp"

#include <algorithm>

#include "env/base/check.hpp"
#include "tools/next_steps.hpp"
#include "tools/version.hpp"

namespace berth {
namespace {

constexpr std::int64_t kMostTasks = 1000;

// Without the flags `names` and the value behind each; of a switch there is none.
std::vector<std::string> Without(const std::vector<std::string>& arguments,
                                 const std::vector<std::string>& names) {
  std::vector<std::string> left;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string flag = arguments[i].substr(0, arguments[i].find('='));
    if (std::find(names.begin(), names.end(), flag) == names.end()) {
      left.push_back(arguments[i]);
    } else if (flag == arguments[i] && i + 1 < arguments.size() && !arguments[i + 1].starts_with("--")) {
      ++i;
    }
  }
  return left;
}

}  // namespace

std::string SlurmArray(const std::vector<std::string>& arguments, std::int64_t cells) {
  const std::int64_t each = (cells + kMostTasks - 1) / kMostTasks, tasks = (cells + each - 1) / each;
  const auto words = [](const std::vector<std::string>& of) {
    return Join(CommandName(), " ", SameCommand("sweep", of));
  };
  return Join(
      "#!/bin/bash\n# Cells 0:", cells, " of a sweep, ", each,
      " a task. sbatch THIS_FILE runs them (more cores a task: sbatch --cpus-per-task=8 THIS_FILE),\n"
      "# and so do ranks, whoever starts them: torchrun --no-python --nproc-per-node 4 bash THIS_FILE,\n"
      "# mpirun -n 4 bash THIS_FILE, srun -n 4 bash THIS_FILE.\n"
      "# Then the table is made by\n#   ",
      words(Without(arguments, {"--print-array"})), "\n#SBATCH --job-name=berth-sweep\n#SBATCH --array=0-",
      tasks - 1,
      "\n#SBATCH --cpus-per-task=1\nif [ -n \"${SLURM_ARRAY_TASK_ID:-}\" ]; then\n"
      "  first=$((SLURM_ARRAY_TASK_ID * ",
      each, "))\n  last=$((first + ", each, " < ", cells, " ? first + ", each, " : ", cells,
      "))\nelse\n  rank=${RANK:-${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-${SLURM_PROCID:?expected sbatch or "
      "ranks to run this}}}}\n"
      "  ranks=${WORLD_SIZE:-${OMPI_COMM_WORLD_SIZE:-${PMI_SIZE:-${SLURM_NTASKS:?}}}}\n"
      "  first=$((",
      cells, " * rank / ranks))\n  last=$((", cells,
      " * (rank + 1) / ranks))\n  [ \"$first\" -lt \"$last\" ] || exit 0\nfi\nexec ",
      words(
          Without(arguments, {"--print-array", "--threads", "--json", "--report", "--pareto", "--metrics"})),
      " --threads \"${SLURM_CPUS_PER_TASK:-1}\" --cells \"$first:$last\"\n");
}

}  // namespace berth

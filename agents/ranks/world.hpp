// Which of several processes this one is: what torchrun, Slurm and Kubernetes' training operators say in the
// environment's variables.
//
//   RANK, WORLD_SIZE                      both or neither; from 0; a world of 1 is a run like any other
//   LOCAL_RANK, LOCAL_WORLD_SIZE          which of this machine's; 0 and unknown where they are absent
//   MASTER_ADDR, MASTER_PORT              where rank 0 listens; CheckMeetingPoint asks for them
//   TORCHELASTIC_USE_AGENT_STORE=True     torchrun listens there in rank 0's place
//   SLURM_PROCID, SLURM_STEP_NUM_TASKS, SLURM_LOCALID
//                                         of `srun`, where RANK and WORLD_SIZE are absent. Not SLURM_NTASKS,
//                                         which a batch script outside srun sees as well and would wait on.
#pragma once

#include <functional>
#include <string>
#include <utility>

namespace berth {

struct World {
  int rank = 0, size = 1;
  int local_rank = 0, local_size = 0;  // 0 = not said
  std::string address;                 // MASTER_ADDR, "" = not said
  int port = 0;                        // MASTER_PORT, 0 = not said
  bool agent_store = false;            // another process listens at the meeting point
  const char* rank_variable = "RANK";
  const char* size_variable = "WORLD_SIZE";
  bool many() const { return size > 1; }
};

using ReadVariable = std::function<const char*(const char* name)>;  // as std::getenv

// Throws Error that names the variable: one without the other, no number, a rank outside of the world.
World ReadWorld(const ReadVariable& variable);
World ReadWorld();  // of this process

// Throws Error where several processes are to meet and MASTER_ADDR or MASTER_PORT is absent.
void CheckMeetingPoint(const World& world);

// The part [first, second) of `size` things that fall to `rank`; parts are nearly equal, in order of ranks.
std::pair<int, int> PartOfRank(int size, int rank, int ranks);

}  // namespace berth

/* Berth's learned schedulers for other people's programs: load a policy that `berth export` wrote, describe
 * the cluster, be told which job runs on which type of GPU. Plain C, no LibTorch, nothing of C++ in the
 * interface.
 *
 *   char why[256];
 *   berth_policy* policy;
 *   if (berth_policy_load("policy.h5", &policy, why, sizeof why) != BERTH_OK) { fputs(why, stderr); ... }
 *   berth_cluster cluster = BERTH_CLUSTER_INIT;         // then: now_s, types, jobs, rates
 *   int32_t runs_on[64];                                // one for each job
 *   berth_policy_decide(policy, &cluster, runs_on, 64, why, sizeof why);
 *   berth_policy_free(policy);
 *
 * A policy may also do more than put jobs on types: resize, pack and reject them. berth_policy_actions says
 * what, and berth_policy_command, which also runs all others, is told more and answers in commands:
 *
 *   berth_details details = BERTH_DETAILS_INIT;         // then: jobs, rates_by_width, max_width, pair_rates
 *   berth_command commands[64];                         // at most one for each job
 *   size_t n;
 *   berth_policy_command(policy, &cluster, &details, commands, sizeof *commands, 64, &n, why, sizeof why);
 *
 * When to call: whenever a job has arrived or completed; the policy remembers nothing between calls. Times
 * are seconds from any origin of the caller's, the same for all. Jobs that are done are no longer named, and
 * those that cannot run are not named yet: each needs a type with `gang` GPUs on which its rate is above 0,
 * or the call fails. Members but remaining_steps are checked also where no policy reads them.
 *
 * Errors: every function that can fail returns a berth_status and, in `message` (may be NULL), one line that
 * says what was expected and what was found, cut to message_size bytes with its closing zero. Outputs are
 * untouched unless it returns BERTH_OK. Nothing throws, prints or ends the program.
 *
 * Threads: a berth_policy serves one thread at a time; different ones are independent. Loading may happen on
 * any thread, but not while the program itself is inside libhdf5, which is not thread-safe. Same inputs give
 * the same decision, bit for bit.
 *
 * ABI: BERTH_ABI_VERSION is the version of this header, berth_abi_version() that of the library, and the
 * number in its soname. Structures say their size, so members are only ever added at their ends without a new
 * one. Jobs of before attained_steps (56 bytes) are still taken.
 */
#ifndef BERTH_H_
#define BERTH_H_

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#define BERTH_ABI_VERSION 1

#if defined(__GNUC__)
#define BERTH_API __attribute__((visibility("default")))
#else
#define BERTH_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers are for ever. */
typedef enum berth_status {
  BERTH_OK = 0,
  BERTH_BAD_ARGUMENT = 1, /* a NULL, a size, or a cluster that cannot be (message says which job) */
  BERTH_BAD_FILE = 2,     /* no policy: missing, damaged, of another version, or not replaying its examples */
  BERTH_UNSUPPORTED = 3,  /* a policy, but not for this: flat, semantics `commit`, a network with `memory`,
                             one that sees nodes, devices or features (ObservationV1 and V3 and their blocks
                             do not), or one that sets nodes, clocks, layouts or replicas; and of
                             berth_policy_decide one that does more than put jobs on types */
  BERTH_BUFFER_TOO_SMALL = 4, /* of the output */
  BERTH_OUT_OF_MEMORY = 5,
  BERTH_INTERNAL = 6
} berth_status;

typedef struct berth_policy berth_policy;

/* What a policy reads of a job's future; more is ignored. */
typedef enum berth_knowledge {
  BERTH_NONE = 0,
  BERTH_BLIND = 1,    /* attained_s; with ObservationV3 or blocks of it also attained_steps, which it needs */
  BERTH_ESTIMATE = 2, /* and remaining_steps, as good as you know it */
  BERTH_ORACLE = 3    /* and remaining_steps exactly */
} berth_knowledge;

typedef struct berth_policy_info {
  size_t struct_size;  /* in: sizeof(berth_policy_info) */
  int32_t knowledge;   /* berth_knowledge */
  int32_t preemptive;  /* 1 = it also stops and moves running jobs */
  int32_t any_cluster; /* 1 = any GPU types; 0 = only num_types of them, as in training and in that order */
  int32_t num_types;   /* GPU types in training, whatever the policy's actions */
} berth_policy_info;

typedef struct berth_gpu_type {
  const char* name; /* unique */
  int32_t count;    /* GPUs in working order, >= 1 */
} berth_gpu_type;

typedef struct berth_job {
  double arrival_s;       /* finite, <= now_s */
  double remaining_steps; /* > 0; read where knowledge is BERTH_ESTIMATE or more */
  double attained_s;      /* >= 0: seconds on GPUs so far, a gang's counted once; read from BERTH_BLIND on, and
                             by a policy that backfills, which takes a job that runs to have run so long since
                             it last started: it is back after requested_s - attained_s */
  double weight;          /* > 0 */
  double deadline_s;      /* >= arrival_s; INFINITY = none */
  double requested_s;     /* > 0: run time that its user asked for; NAN = none, which a policy that backfills
                             (`reserve` easy) takes from BERTH_ESTIMATE on only: BERTH_BAD_ARGUMENT */
  int32_t gang;           /* GPUs that it needs at once, all of one type */
  int32_t running_on;     /* index of a GPU type on which its rate is above 0 (of berth_policy_command: on the
                             GPUs that it holds, and beside whom it shares one with); -1 = it waits */
  double attained_steps;  /* >= 0: steps done so far; NAN = not told. Blind policies of ObservationV3 read it
                             and take no job with attained_s > 0 that does not tell it: BERTH_BAD_ARGUMENT */
} berth_job;
#define BERTH_JOB_INIT \
  { 0.0, 1.0, 0.0, 1.0, INFINITY, NAN, 1, -1, NAN }

typedef struct berth_cluster {
  size_t struct_size; /* sizeof(berth_cluster) */
  size_t job_size;    /* sizeof(berth_job) */
  double now_s;       /* finite */
  const berth_gpu_type* types;
  size_t num_types; /* 1 to 64 */
  const berth_job* jobs;
  size_t num_jobs;     /* in any order; of equal arrivals the first named came first */
  const double* rates; /* [num_jobs][num_types] steps/s of the whole gang; 0 = cannot run there */
  int32_t changed;     /* 0 = nobody came or went since the last call: most policies leave all as is */
} berth_cluster;
#define BERTH_CLUSTER_INIT \
  { sizeof(berth_cluster), sizeof(berth_job), 0.0, NULL, 0, NULL, 0, NULL, 1 }

/* What berth_policy_command is told beside a berth_cluster. A NULL array says nothing of its kind, which a
 * policy that reads it refuses by name. */
typedef struct berth_job_details {
  int32_t least; /* fewest and most GPUs that it may run on: 1 <= least <= gang <= most; 0 = its gang */
  int32_t most;
  int32_t width;  /* GPUs that it holds, of one that runs; 0 = its gang */
  int32_t beside; /* index of the job that shares its one GPU, which names it too; -1 = it has it alone */
} berth_job_details;
#define BERTH_JOB_DETAILS_INIT \
  { 0, 0, 0, -1 }

typedef struct berth_details {
  size_t struct_size;            /* sizeof(berth_details) */
  size_t job_size;               /* sizeof(berth_job_details) */
  const berth_job_details* jobs; /* [num_jobs]; NULL = each as BERTH_JOB_DETAILS_INIT */
  /* [num_jobs][max_width][num_types] steps/s on 1 to max_width GPUs, 0 = cannot run so; for resize. On its
   * gang a job's rate is berth_cluster's. */
  const double* rates_by_width;
  size_t max_width;
  /* [num_jobs][num_jobs][num_types] steps/s of the first while it shares one GPU with the second, of a job
   * with itself: with another of its kind; 0 = they cannot share one. For pack; read of gangs of 1. */
  const double* pair_rates;
} berth_details;
#define BERTH_DETAILS_INIT \
  { sizeof(berth_details), sizeof(berth_job_details), NULL, NULL, 0, NULL }

/* Numbers are for ever. */
typedef enum berth_command_kind {
  BERTH_START = 0,  /* a waiting job begins on `width` GPUs of `type` */
  BERTH_STOP = 1,   /* a running job waits */
  BERTH_MOVE = 2,   /* a running job goes on on `width` GPUs of `type`; where both are what it has, on GPUs of
                       its own instead of a shared one */
  BERTH_REJECT = 3, /* a waiting job is turned away for good */
  BERTH_PACK = 4    /* a job, waiting or running, shares the one GPU of `host`, which is on `type` */
} berth_command_kind;

typedef struct berth_command {
  int32_t kind;  /* berth_command_kind */
  int32_t job;   /* index into berth_cluster.jobs, as `host` */
  int32_t type;  /* -1 = none */
  int32_t width; /* GPUs; 0 of a job that stops, is turned away or shares its host's */
  int32_t host;  /* -1 = none */
} berth_command;

BERTH_API uint32_t berth_abi_version(void);
BERTH_API const char* berth_version(void); /* "0.2.0"; static */

/* Reads the file, checks it as Berth does, and replays its examples. */
BERTH_API berth_status berth_policy_load(const char* path, berth_policy** policy, char* message,
                                         size_t message_size);
BERTH_API berth_status berth_policy_get_info(const berth_policy* policy, berth_policy_info* info,
                                             char* message, size_t message_size);
/* runs_on[i] becomes the index of the GPU type on which job i runs from now on, or -1: it waits, or stops. A
 * job that already runs there simply goes on. `capacity` is the length of runs_on, at least num_jobs. */
BERTH_API berth_status berth_policy_decide(berth_policy* policy, const berth_cluster* cluster,
                                           int32_t* runs_on, size_t capacity, char* message,
                                           size_t message_size);
/* "start" or "start,pack,resize": the policy's actions, which live as long as it does; NULL of NULL. */
BERTH_API const char* berth_policy_actions(const berth_policy* policy);
/* commands[0] to commands[*num_commands - 1] become what is to be done, at most one for each job; who is not
 * named goes on, or waits, as it is. What frees GPUs comes before what takes them, however they are listed,
 * and BERTH_PACK after all else. `details` may be NULL; command_size is sizeof(berth_command), and `capacity`
 * the length of `commands`, at least num_jobs. */
BERTH_API berth_status berth_policy_command(berth_policy* policy, const berth_cluster* cluster,
                                            const berth_details* details, berth_command* commands,
                                            size_t command_size, size_t capacity, size_t* num_commands,
                                            char* message, size_t message_size);
BERTH_API void berth_policy_free(berth_policy* policy); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif /* BERTH_H_ */

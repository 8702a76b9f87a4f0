/* A cluster simulator of somebody else's that lets a policy of Berth's decide: twelve jobs, two types of GPU.
 * usage: example policy.h5; prints when each job completed. Uses nothing but the installed <berth.h>. */
#include <berth.h>
#include <stdio.h>

#define JOBS 12
#define TYPES 2

static double steps_left[JOBS], steps_done[JOBS], attained[JOBS], completion[JOBS];
static int32_t on[JOBS];

int main(int argc, char** argv) {
  const berth_gpu_type types[TYPES] = {{"fast", 2}, {"slow", 3}};
  const double rate[3][TYPES] = {{4.0, 1.0}, {2.0, 1.5}, {1.0, 2.0}}; /* steps/s of three kinds of job */
  char why[256];
  berth_policy* policy;
  if (berth_policy_load(argc > 1 ? argv[1] : "policy.h5", &policy, why, sizeof why) != BERTH_OK) {
    fprintf(stderr, "%s\n", why);
    return 2;
  }
  for (int i = 0; i < JOBS; ++i) steps_left[i] = 100.0 + 70.0 * ((i * 7) % 5), on[i] = -1;
  int arrived = 0, done = 0;
  for (double now = 0.0; done < JOBS;) {
    while (arrived < JOBS && 25.0 * arrived <= now) ++arrived; /* job i arrives at 25 i seconds */
    /* Tell the policy who is there, and do what it says. */
    berth_job jobs[JOBS];
    double rates[JOBS][TYPES];
    int who[JOBS];
    int32_t runs_on[JOBS];
    berth_cluster cluster = BERTH_CLUSTER_INIT;
    for (int i = 0; i < arrived; ++i) {
      if (completion[i] > 0.0) continue;
      berth_job job = BERTH_JOB_INIT;
      job.arrival_s = 25.0 * i, job.gang = 1 + i % 2, job.running_on = on[i];
      job.remaining_steps = steps_left[i], job.attained_s = attained[i], job.attained_steps = steps_done[i];
      for (int g = 0; g < TYPES; ++g) rates[cluster.num_jobs][g] = rate[i % 3][g];
      jobs[cluster.num_jobs] = job;
      who[cluster.num_jobs++] = i;
    }
    cluster.now_s = now, cluster.types = types, cluster.num_types = TYPES;
    cluster.jobs = jobs, cluster.rates = &rates[0][0];
    if (berth_policy_decide(policy, &cluster, runs_on, JOBS, why, sizeof why) != BERTH_OK) {
      fprintf(stderr, "%s\n", why);
      return 1;
    }
    for (size_t k = 0; k < cluster.num_jobs; ++k) on[who[k]] = runs_on[k];
    /* On to the next arrival or completion. */
    double next = arrived < JOBS ? 25.0 * arrived : INFINITY;
    for (int i = 0; i < arrived; ++i) {
      if (on[i] >= 0) next = fmin(next, now + steps_left[i] / rate[i % 3][on[i]]);
    }
    for (int i = 0; i < arrived; ++i) {
      if (on[i] < 0) continue;
      const double steps = (next - now) * rate[i % 3][on[i]];
      steps_left[i] -= steps, steps_done[i] += steps, attained[i] += next - now;
      if (steps_left[i] < 1e-9) completion[i] = next, on[i] = -1, ++done;
    }
    now = next;
  }
  for (int i = 0; i < JOBS; ++i) printf("job %d %.9f\n", i, completion[i]);
  berth_policy_free(policy);
  return 0;
}

/* A million decisions: what they leave on the heap, and the time of one. usage: calls policy.h5 NUMBER
 * prints: bytes in use before and after, microseconds of processor time a call. */
#include <berth.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char** argv) {
  const berth_gpu_type types[] = {{"fast", 1}, {"slow", 2}};
  const long calls = argc > 2 ? atol(argv[2]) : 0;
  berth_policy* policy;
  if (argc < 3 || berth_abi_version() != BERTH_ABI_VERSION || berth_policy_load(argv[1], &policy, NULL, 0))
    return 2;
  size_t before = 0;
  clock_t begun = 0;
  for (long i = -1000; i < calls; ++i) {
    if (i == 0) before = mallinfo2().uordblks, begun = clock();
    /* Never the same twice: two or three jobs, other times, sometimes refused. */
    berth_job jobs[3] = {BERTH_JOB_INIT, BERTH_JOB_INIT, BERTH_JOB_INIT};
    const double rates[3][2] = {{2.0, 1.0}, {1.0, 0.5 + (double)(i & 15)}, {1.0, 3.0}};
    int32_t runs_on[3];
    char why[128];
    berth_cluster cluster = BERTH_CLUSTER_INIT;
    cluster.now_s = (double)(i + 1000), cluster.types = types, cluster.num_types = 2;
    cluster.jobs = jobs, cluster.num_jobs = 2 + (size_t)(i & 1), cluster.rates = &rates[0][0];
    jobs[1].remaining_steps = 1.0 + (double)(i & 1023), jobs[2].gang = (i + 1000) % 100 == 51 ? -1 : 2;
    const berth_status wanted = jobs[2].gang < 0 && cluster.num_jobs == 3 ? BERTH_BAD_ARGUMENT : BERTH_OK;
    if (berth_policy_decide(policy, &cluster, runs_on, 3, why, sizeof why) != wanted) return 1;
  }
  printf("%zu %zu %.3f\n", before, mallinfo2().uordblks,
         1e6 * (double)(clock() - begun) / CLOCKS_PER_SEC / (double)(calls > 0 ? calls : 1));
  berth_policy_free(policy);
  return 0;
}

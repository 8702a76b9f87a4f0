"""What the tests share: small environments that end soon."""

# 6 GPUs, one job of 3 or so GPU-hours every 12 minutes: a decision a job, episodes of 20 jobs.
SMALL = dict(cluster="v100=2,p100=2,k80=2", workload="synthetic(rate=5,jobs=40)", episode_jobs=20, seed=3)
HETERO = dict(SMALL, visible=4, warmup_jobs=5)
SMALL_OF = {"HeteroCluster-v0": HETERO, "TaskPlacement-v0": SMALL}

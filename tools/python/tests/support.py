"""What the tests share: small environments that end soon."""

# 6 GPUs, one job of 3 or so GPU-hours every 12 minutes: a decision a job, episodes of 20 jobs.
SMALL = dict(cluster="v100=2,p100=2,k80=2", workload="synthetic(rate=5,jobs=40)", episode_jobs=20, seed=3)
HETERO = dict(SMALL, visible=4, warmup_jobs=5)
# All that such a cluster lets a policy do.
COMMANDS = dict(HETERO, cluster="v100=4/2,p100=4/2,k80=4/2", workload="synthetic(rate=5,jobs=40,gangs=1:0.6/2:0.4)",
                features="topology;elasticity;power", actions="start,gather,resize,clock")
SMALL_OF = {"HeteroCluster-v0": HETERO, "TaskPlacement-v0": SMALL}

"""Steps per CPU-second of the Python package, for `berth bench`: random actions, of which illegal ones make way for the next legal
one, as the C++ side plays them.

usage: python_steps.py NUM_ENVS SECONDS      -> one line: the rate
"""

import sys
import time

import berth
import numpy as np

num_envs, seconds = int(sys.argv[1]), float(sys.argv[2])
envs = berth.make_vec(num_envs, "HeteroCluster-v0", visible=32)
envs.reset()
rng = np.random.default_rng(0)
for _ in range(64):
    envs.step(rng.integers(0, envs.single_action_space.n, num_envs))
steps, begin = 0, time.process_time()
while time.process_time() < begin + seconds:
    for _ in range(64):
        envs.step(rng.integers(0, envs.single_action_space.n, num_envs))
    steps += 64 * num_envs
print(steps / (time.process_time() - begin))

"""The same actions give the same episodes, bit for bit, with and without Python: berth_episode plays them in C++."""

import os
import pathlib
import subprocess
import tempfile
import unittest
import zlib

import numpy as np

import berth
from support import HETERO, SMALL

PROGRAM = os.environ.get("BERTH_EPISODE")  # tools/python/test builds it of the package's own objects
CASES = [
    ("HeteroCluster-v0", HETERO),
    ("HeteroCluster-v0", dict(HETERO, preemptive=False, knowledge="blind", reward="jct+0.5*slowdown")),
    ("HeteroCluster-v0", dict(HETERO, encoder="ObservationV2", features="failures(mtbf_h=40);power(cap_w=1500)")),
    ("HeteroCluster-v0", dict(HETERO, preemptive=False, semantics="commit", clock="event")),
    ("TaskPlacement-v0", SMALL),
    ("TaskPlacement-v0", dict(SMALL, workload="synthetic(rate=5,jobs=40,gangs=multi)", cluster="v100=8,k80=8", reward="jct")),
]


class Parity(unittest.TestCase):
    @unittest.skipUnless(PROGRAM, "needs BERTH_EPISODE, which tools/python/test sets")
    def test_python_and_cpp_play_the_same_episodes(self):
        for name, keywords in CASES:
            with self.subTest(name, **keywords), tempfile.TemporaryDirectory() as folder:
                env = berth.make(name, **keywords).unwrapped
                env.action_space.seed(4)
                crc, actions, total, signature, ends = 0, [], 0.0, 0, 0

                def add(*values):
                    nonlocal crc
                    for value in values:
                        crc = zlib.crc32(np.ascontiguousarray(value).tobytes(), crc)

                observation, info = env.reset()
                add(observation, info["action_mask"])
                for _ in range(500):
                    actions.append(int(env.action_space.sample(info["action_mask"])))
                    signature = env.signature
                    observation, reward, terminated, truncated, info = env.step(actions[-1])
                    scalars = np.float32(reward), np.float32(info["discount"]), np.uint8(terminated), np.uint8(truncated)
                    total += reward
                    if terminated or truncated:
                        ends += 1
                        final = observation
                        observation, info = env.reset()
                        add(observation, info["action_mask"], *scalars, final)
                    else:
                        add(observation, info["action_mask"], *scalars)
                self.assertGreater(ends, 1)
                path = pathlib.Path(folder, "actions.txt")
                path.write_text("\n".join(map(str, actions)))
                words = [f"{key}={str(value).lower() if isinstance(value, bool) else value}" for key, value in keywords.items()]
                found = subprocess.run([PROGRAM, name, path, *words], capture_output=True, text=True)
                self.assertEqual(found.stderr, "")
                expected = f"steps=500 crc32={crc:08x} reward={total:.17g} signature={signature:016x}"
                self.assertEqual(found.stdout.strip(), expected)

"""Single steps of Gymnasium's CartPole-v1, Acrobot-v1 and MountainCar-v0, for tests/classic_control_test.cpp.

    python transitions.py > transitions.txt          # gymnasium 1.4.0, numpy 2.4.6

One line a step: task, action, state before, "->", reward, terminated, state after, observation. Numbers are hexadecimal floats:
nothing is lost on the way. States are drawn over the task's range, and some are chosen so that every bound is met.
"""

import math

import gymnasium
import numpy as np

RANGE = {
    "CartPole-v1": [2.3, 3.0, 0.2, 3.0],
    "Acrobot-v1": [math.pi, math.pi, 4 * math.pi, 9 * math.pi],
    "MountainCar-v0": [0.0, 0.07],  # the position is drawn in [-1.2, 0.6]
}
CHOSEN = {
    "CartPole-v1": [[2.39, 3.0, 0.0, 0.0], [-2.39, -3.0, 0.0, 0.0], [0.0, 0.0, 0.209, 1.0], [0.0, 0.0, -0.209, -1.0]],
    # Angles that wrap either way, velocities at their bounds, upright enough to end.
    "Acrobot-v1": [[3.1, 0.0, 4.0, 0.0], [-3.1, -3.1, -4.0, -9.0], [0.5, 3.0, 12.5, 28.2], [-0.5, -3.0, -12.5, -28.2],
                   [3.0, 0.1, 0.0, 0.0], [2.0, 0.3, 2.0, 1.0]],
    # The wall, the bounds of the velocity, the goal.
    "MountainCar-v0": [[-1.19, -0.06], [-1.2, 0.0], [-0.6, 0.0699], [0.0, -0.0699], [0.49, 0.05], [0.59, 0.07]],
}


def text(values):
    return " ".join(float(x).hex() for x in values)


def main():
    print(f"# Gymnasium {gymnasium.__version__}, by transitions.py: task action state -> reward terminated state observation")
    random = np.random.RandomState(8)
    for name, width in RANGE.items():
        env = gymnasium.make(name).unwrapped
        drawn = [list(random.uniform(-1, 1, len(width)) * width) for _ in range(12)]
        if name == "MountainCar-v0":
            drawn = [[random.uniform(-1.2, 0.6), v] for _, v in drawn]
        for k, state in enumerate(drawn + CHOSEN[name]):
            env.reset(seed=0)
            env.state = tuple(map(float, state)) if name == "MountainCar-v0" else np.array(state, dtype=np.float64)
            if name == "CartPole-v1":
                env.steps_beyond_terminated = None
            action = k % int(env.action_space.n)
            observation, reward, terminated, _, _ = env.step(action)
            print(name, action, text(state), "->", float(reward).hex(), int(terminated), text(env.state), text(observation))


main()

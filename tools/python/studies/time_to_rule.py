"""How much CPU time `berth train` and Stable-Baselines3's MaskablePPO take to a policy as good as the best rule.

usage: LD_LIBRARY_PATH=build/python/cuda-stubs build/python/bin/python tools/python/studies/time_to_rule.py --out DIR [options]

On 12 V100 + 12 P100 + 12 K80 and `synthetic(rate=1.8,jobs=1000)`: the CPU seconds (user and system, one thread) after which
a policy's mean JCT on ten validation workloads is at most --goal times that of `nash_welfare`. Evaluation is the same for
both, `berth evaluate` on an exported policy, and its time counts for neither.

ours: a training of its own for each of --budgets, with the defaults and its validation off. theirs: MaskablePPO on the
environment of `berth.sb3`, with the reward and with the learning signal, measured after the first update and whenever its
time has grown by --every. Both are CPU times of a process from its start. A policy that is good once by chance is not there
yet: "touches" is the first measurement within the goal, "holds" the first from which on all are until the time has doubled.
A training of theirs ends when it holds, and at --limit-s unless it may be about to. What is in DIR is kept: the same command
goes on where it stopped, and prints the table of README.md.
"""
import argparse
import csv
import importlib.util
import json
import math
import multiprocessing
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
CLUSTER, WORKLOAD = "v100=12,p100=12,k80=12", "synthetic(rate=1.8,jobs=1000)"
RULE, ENVS, WIDTH = "nash_welfare", 32, 8
NETWORKS = {"pairs": f"pair_scorer(width={WIDTH},skip=true)", "mlp": "mlp(hidden=64x64,activation=tanh)"}
# Our recipe as far as MaskablePPO has it (its value loss is not halved), and how each setting differs from it. `gamma`
# None: exp(-time / tau) of a mean step. All have VecNormalize divide the rewards, which are thousands of job-seconds.
RECIPE = dict(learning_rate=2e-3, linear=True, n_steps=128, batch_size=1024, n_epochs=4, gamma=None, gae_lambda=0.9,
              ent_coef=1e-3, vf_coef=0.25, target_kl=0.02, network="pairs")
SETTINGS = {
    "recipe": {},
    "sb3": dict(learning_rate=3e-4, linear=False, n_steps=64, batch_size=64, n_epochs=10, gamma=0.99, gae_lambda=0.95,
                ent_coef=0.0, vf_coef=0.5, target_kl=None),
    "gamma99": dict(gamma=0.99),
    "lambda95": dict(gae_lambda=0.95),
    "lambda98": dict(gae_lambda=0.98),
    "slow": dict(learning_rate=3e-4, linear=False),
    "fast": dict(learning_rate=5e-3),
    "entropy01": dict(ent_coef=1e-2),
    "short": dict(n_steps=32, batch_size=256),
    "mlp": dict(network="mlp"),
}


def fail(message):
    sys.stderr.write(f"time_to_rule: {message}\n")
    sys.exit(2)


def arguments():
    if "--help" in sys.argv or "-h" in sys.argv:
        print(__doc__.strip())
    parser = argparse.ArgumentParser(prog="time_to_rule", allow_abbrev=False, usage=argparse.SUPPRESS)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--only", choices=["ours", "theirs"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3, 4], help="of ours")
    parser.add_argument("--budgets", type=int, nargs="+", default=[25_000, 50_000, 100_000, 200_000, 400_000, 1_000_000],
                        help="steps of ours")
    parser.add_argument("--settings", nargs="+", default=list(SETTINGS), help=f"of theirs: {' '.join(SETTINGS)}")
    parser.add_argument("--paid", nargs="+", choices=["reward", "signal"], default=["signal", "reward"])
    parser.add_argument("--their-seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--steps", type=int, default=500_000, help="at which their linear schedules reach 0, and learn() ends")
    parser.add_argument("--limit-s", type=float, default=3600.0, help="CPU seconds of each of theirs")
    parser.add_argument("--every", type=float, default=1.15, help="by which theirs grows between measurements")
    parser.add_argument("--goal", type=float, default=1.01)
    parser.add_argument("--validate", default="5000:5010")
    parser.add_argument("--berth", type=pathlib.Path, default=ROOT / "build" / "release" / "berth")
    options = parser.parse_args()
    for name in options.settings:
        if name not in SETTINGS:
            fail(f"--settings: expected some of {' '.join(SETTINGS)}, found '{name}'")
    if not options.berth.exists():
        fail(f"--berth: {options.berth} is not there; tools/berth builds it")
    return options


def berth(options, *words):
    """CPU seconds of the process."""
    command = [str(word) for word in (options.berth, *words)]
    before = os.times()
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"})
    if done.returncode != 0:
        fail(f"`{' '.join(command[1:])}`: {done.stderr.strip()}")
    after = os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system


def mean_jct(options, scheduler):
    path = options.out / "evaluation.json"
    berth(options, "evaluate", "--schedulers", scheduler, "--workload", WORKLOAD, "--cluster", CLUSTER, "--seeds",
          options.validate, "--window", "300:700", "--threads", 1, "--json", path)
    return json.loads(path.read_text())["schedulers"][0]["mean_jct_s"]


def measured_rule(options):
    return [(0, 0.0, mean_jct(options, RULE))]


def train(options, steps, seed, network):
    """The policy file of a whole training of ours, and its CPU seconds."""
    run, policy = options.out / "run", options.out / "policy.h5"
    subprocess.run(["rm", "-rf", str(run)], check=True)
    cpu_s = berth(options, "train", "--workload", WORKLOAD, "--cluster", CLUSTER, "--network", network, "--steps", steps,
                  "--seed", seed, "--members", 1, "--threads", 1, "--validate", 0, "--out", run)
    berth(options, "export", run, "--out", policy)
    return policy, cpu_s


def reached(options, rows):
    """(CPU seconds to the first row within the goal, to the first from which on all are until the time has doubled)."""
    touches = next((cpu_s for _, cpu_s, ratio in rows if ratio <= options.goal), None)
    for i, (_, begun, _) in enumerate(rows):
        for _, cpu_s, ratio in rows[i:]:
            if ratio > options.goal:
                break
            if cpu_s >= 2 * begun:
                return touches, begun
    return touches, None


def ours(options, rule, seed):
    """Rows (steps, CPU seconds, ratio), a training each."""
    rows = []
    for steps in sorted(options.budgets):
        policy, cpu_s = train(options, steps, seed, NETWORKS["pairs"])
        rows.append((steps, cpu_s, mean_jct(options, f"policy(file={policy})") / rule))
    return rows


def their_environments(paid, seed, gamma):
    from stable_baselines3.common.vec_env import VecNormalize

    from berth.sb3 import SB3VecEnv

    envs = SB3VecEnv(ENVS, cluster=CLUSTER, workload=WORKLOAD, encoder="auto", signal="auto" if paid == "signal" else "reward",
                     seed=seed)
    return envs.envs, VecNormalize(envs, norm_obs=False, gamma=gamma)


def matched_gamma(steps=2000):
    """exp(-t / tau), t the mean time of a step under random legal actions; the keyword tau is as `berth train` resolves it."""
    import numpy as np
    import berth as package

    envs, draw, logs = package.make_vec(ENVS, cluster=CLUSTER, workload=WORKLOAD), np.random.default_rng(0), []
    envs.reset(seed=0)
    for _ in range(steps):
        masks = envs.action_masks()
        logs.append(np.log(envs.step((draw.random(masks.shape) * masks).argmax(1))[4]["discount"]).mean())
    return math.exp(sum(logs) / steps)


def theirs(options, rule, name, paid, seed, gamma, template):
    """Rows (steps, CPU seconds of this process so far, ratio), a measurement each; the caller gives it a process of its own."""
    import torch
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.callbacks import BaseCallback

    from pair_scorer import PairScorerPolicy, write_policy

    settings = {**RECIPE, **SETTINGS[name]}
    network, linear, rate = settings.pop("network"), settings.pop("linear"), settings.pop("learning_rate")
    settings["gamma"] = settings["gamma"] or gamma
    torch.set_num_threads(1)
    torch.distributions.Distribution.set_default_validate_args(False)  # checks that cost time and find nothing here
    core, envs = their_environments(paid, seed, settings["gamma"])
    own = dict(layout=core._core.layout, width=WIDTH) if network == "pairs" else {}
    model = MaskablePPO(PairScorerPolicy if network == "pairs" else "MlpPolicy", envs, seed=seed, device="cpu",
                        learning_rate=(lambda left: rate * left) if linear else rate, policy_kwargs=own, **settings)
    rows = []

    class Clock(BaseCallback):
        not_counted, over = 0.0, False

        def _on_rollout_start(self):
            now = time.process_time()
            spent = now - self.not_counted
            if self.num_timesteps > 0 and (not rows or spent > options.every * rows[-1][1]
                                           or spent > options.limit_s >= rows[-1][1]):
                self.measure(spent)
                self.not_counted += time.process_time() - now

        def measure(self, spent):
            write_policy(model.policy, template, options.out / "theirs.h5")
            rows.append((self.num_timesteps, spent, mean_jct(options, f"policy(file={options.out}/theirs.h5)") / rule))
            held = reached(options, rows)[1] is not None
            self.over = held or spent > options.limit_s and (rows[-1][2] > options.goal or spent > 2 * options.limit_s)

        def _on_step(self):
            return not self.over

        def _on_training_end(self):  # after the last update
            if not self.over:
                self.measure(time.process_time() - self.not_counted)

    model.learn(options.steps, callback=Clock(), log_interval=None)
    return rows


def write_rows(path, compute, *arguments):
    rows = compute(*arguments)
    with open(path.with_suffix(".part"), "w", newline="") as out:
        csv.writer(out).writerows([["steps", "cpu_s", "ratio"], *rows])
    path.with_suffix(".part").rename(path)


def kept(options, name, compute, *arguments):
    """Rows from DIR/NAME.csv, which `compute` gives in a process of its own where it is not there."""
    path = options.out / f"{name}.csv"
    if not path.exists():
        child = multiprocessing.get_context("fork").Process(target=write_rows, args=(path, compute, options, *arguments))
        child.start()
        child.join()
        if child.exitcode != 0:
            sys.exit(child.exitcode)  # it has said why
    with open(path, newline="") as file:
        return [(int(row["steps"]), float(row["cpu_s"]), float(row["ratio"])) for row in csv.DictReader(file)]


def line(options, name, rows):
    seconds = [f"{found:.1f}" if found else "-" for found in reached(options, rows)]
    steps, cpu_s, _ = rows[-1]
    ratios = " ".join(f"{ratio:.3f}" for _, _, ratio in rows)
    print(f"| {name} | {seconds[0]} | {seconds[1]} | {cpu_s:.1f} | {steps / cpu_s:,.0f} | {ratios} |", flush=True)


def main():
    options = arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    rule = kept(options, "rule", measured_rule)[0][2]
    print("| who | touches, s | holds, s | measured to, s | steps a s | of the rule, a measurement each |\n|---|---|---|---|---|---|")
    if options.only != "theirs":
        for seed in options.seeds:
            line(options, f"`berth train`, seed {seed}", kept(options, f"ours_{seed}", ours, rule, seed))
    if options.only == "ours":
        return
    for needed in ("berth", "h5py", "sb3_contrib"):  # not imported here: that is part of their time
        if importlib.util.find_spec(needed) is None:
            fail(f"no Python package {needed}; `tools/setup --python` and `tools/python/test` make the Python that has it")
    templates, gamma = {}, matched_gamma()
    print(f"gamma of a mean step: {gamma:.4f}", file=sys.stderr)
    for name in options.settings:
        network = NETWORKS[{**RECIPE, **SETTINGS[name]}["network"]]
        if network not in templates:
            templates[network] = options.out / f"template_{len(templates)}.h5"
            train(options, 1, 0, network)[0].rename(templates[network])
        for paid in options.paid:
            for seed in options.their_seeds:
                rows = kept(options, f"{name}_{paid}_{seed}", theirs, rule, name, paid, seed, gamma, templates[network])
                line(options, f"MaskablePPO, `{name}`, {paid}, seed {seed}", rows)


if __name__ == "__main__":
    main()

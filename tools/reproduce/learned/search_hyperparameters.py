"""Searches hyper-parameters of `berth train` on validation workloads, which no table of `reproduce learned` uses.

usage: search_hyperparameters.py --out DIR --try 'NAME=A B C' ... [options] -- TRAIN OPTIONS

Every combination of the values (or --samples of them, drawn) takes its {NAME}s in the options of `berth train` behind
`--`, is trained with every seed, exported, and measured by `berth evaluate` on --workload, seeds --validate. A
combination's figure is the mean over workloads and seeds of its mean JCT over --reference's; the worst seed stands beside
it, because one bad seed is what a mean hides. What is trained is kept: the same command goes on where it stopped.

example:
  .venv/bin/python tools/reproduce/learned/search_hyperparameters.py --out out/search --steps 300000 --seeds 1 2 3 \\
      --try 'lr=0.001 0.002' --try 'ent=0.001 0.01' \\
      --workload 'synthetic(rate=1.24,jobs=1000) on v100=8,p100=8,k80=8 window 300:700' \\
      -- --agent 'ppo(n_steps=128,minibatch=1024,lr={lr},ent_coef={ent})' --encoder ObservationV3 \\
      --network 'pair_scorer(width=8,skip=true)' --workload 'synthetic(rate=1.24,jobs=650)' --cluster v100=8,p100=8,k80=8
"""
import argparse
import csv
import itertools
import json
import pathlib
import random
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
TEST_SEEDS = range(1000, 1020)  # of `reproduce learned`


def fail(message):
    sys.stderr.write(f"search_hyperparameters: {message}\n")
    sys.exit(2)


def arguments():
    own = sys.argv[1:]
    if not own or "--help" in own or "-h" in own:
        print(__doc__.strip())
        sys.exit(0)
    if "--" not in own:
        fail("expected `--` and the options of `berth train` behind it, found none")
    own, train = own[: own.index("--")], own[own.index("--") + 1:]
    parser = argparse.ArgumentParser(prog="search_hyperparameters", allow_abbrev=False)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--try", dest="tries", action="append", required=True, metavar="NAME=A B C")
    parser.add_argument("--samples", type=int, default=0, help="combinations, drawn; 0 = all")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--steps", type=int, default=300000)
    parser.add_argument("--workload", action="append", required=True, metavar="SPEC on CLUSTER [window A:B]")
    parser.add_argument("--knowledge", default="oracle")
    parser.add_argument("--validate", default="5000:5005")
    parser.add_argument("--reference", default="srpt")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--berth", type=pathlib.Path, default=ROOT / "build" / "release" / "berth")
    return parser.parse_args(own), train


def check(options, train):
    """(names and values, workloads as (spec, cluster, window))."""
    values = {}
    for text in options.tries:
        name, found, rest = text.partition("=")
        if not found or not rest.split():
            fail(f"--try: expected NAME=A B C, found '{text}'")
        values[name] = rest.split()
    for name in values:
        if not any("{" + name + "}" in word for word in train):
            fail(f"--try {name}: the options behind `--` do not use {{{name}}}")
    for name in re.findall(r"{(\w+)}", " ".join(train)):
        if name not in values:
            fail(f"{{{name}}} stands in the options behind `--`, but no --try gives it values")
    workloads = []
    for text in options.workload:
        match = re.fullmatch(r"(\S+) on (\S+?)(?: window (\d+:\d+))?", text)
        if not match:
            fail(f"--workload: expected 'SPEC on CLUSTER [window A:B]', found '{text}'")
        workloads.append(match.groups())
    match = re.fullmatch(r"(\d+):(\d+)", options.validate)
    if not match:
        fail(f"--validate: expected A:B, found '{options.validate}'")
    if set(range(int(match[1]), int(match[2]))) & set(TEST_SEEDS):
        fail(f"--validate: {options.validate} holds test workloads ({TEST_SEEDS[0]}:{TEST_SEEDS[-1] + 1}); hyper-parameters are "
             "chosen on others")
    if not options.berth.exists():
        fail(f"--berth: {options.berth} is not there; tools/berth builds it")
    return values, workloads


def run(command, log):
    with open(log, "w") as out:
        done = subprocess.run([str(word) for word in command], stdout=out, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        lines = pathlib.Path(log).read_text().strip().splitlines()
        fail(f"`{' '.join(map(str, command[1:3]))} …` ended with {done.returncode}: {lines[-1] if lines else 'no output'} ({log})")


def mean_jcts(options, workload, scheduler, folder):
    """[seed of --validate] mean JCT, kept in the folder."""
    spec, cluster, window = workload
    kept = folder / (re.sub(r"\W+", "_", f"{spec}_{cluster}_{window}_{options.validate}") + ".json")
    if not kept.exists():
        measured = kept.with_suffix(".part")
        run([options.berth, "evaluate", "--schedulers", scheduler, "--workload", spec, "--cluster", cluster, "--knowledge",
             options.knowledge, "--seeds", options.validate, "--threads", options.threads, "--json", measured]
            + (["--window", window] if window else []), kept.with_suffix(".log"))
        measured.rename(kept)
    return [w["mean_jct_s"] for w in json.loads(kept.read_text())["schedulers"][0]["workloads"]]


def train_one(options, words, seed, folder):
    policy = folder / f"policy_{seed}.h5"
    if not policy.exists():
        run_folder = folder / f"run_{seed}"
        begun = (run_folder / "checkpoint.h5").exists()
        run([options.berth, "train", *(["--resume"] if begun else
                                       [*words, "--seed", seed, "--steps", options.steps, "--knowledge", options.knowledge]),
             *([] if begun else ["--threads", options.threads]), "--out", run_folder], folder / f"train_{seed}.log")
        run([options.berth, "export", run_folder, "--out", policy], folder / f"export_{seed}.log")
    return policy


def main():
    options, train = arguments()
    values, workloads = check(options, train)
    combinations = [dict(zip(values, chosen)) for chosen in itertools.product(*values.values())]
    if 0 < options.samples < len(combinations):
        combinations = random.Random(0).sample(combinations, options.samples)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "reference").mkdir(exist_ok=True)
    reference = [mean_jcts(options, w, options.reference, options.out / "reference") for w in workloads]
    rows = []
    for combination in combinations:
        name = ",".join(f"{k}={v}" for k, v in combination.items())
        words = [re.sub(r"{(\w+)}", lambda m: combination[m[1]], word) for word in train]
        ratios = []
        for seed in options.seeds:
            folder = options.out / name / f"seed_{seed}"
            folder.mkdir(parents=True, exist_ok=True)
            policy = train_one(options, words, seed, folder)
            jcts = [mean_jcts(options, w, f"policy(file={policy})", folder) for w in workloads]
            ratios.append(statistics.fmean(statistics.fmean(j) / statistics.fmean(r) for j, r in zip(jcts, reference)))
        rows.append([name, statistics.fmean(ratios), max(ratios), " ".join(f"{r:.3f}" for r in ratios)])
        print(f"{name}: mean {rows[-1][1]:.3f}, worst {rows[-1][2]:.3f} of {options.reference} (seeds: {rows[-1][3]})", flush=True)
    rows.sort(key=lambda row: row[1])
    with open(options.out / "search.csv", "w", newline="") as out:
        csv.writer(out).writerows([["combination", "mean", "worst", "seeds"], *rows])
    print(f"best: {rows[0][0]}, mean {rows[0][1]:.3f} of {options.reference}; {options.out}/search.csv")


if __name__ == "__main__":
    main()

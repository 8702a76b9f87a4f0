"""A learned generator (learned_like.py) beside the fitted one of `berth generate --like`, on weeks that neither saw, by the
columns of `--check` and by what comes together (like_columns.py). Beside both stands `copy`: stretches of the earlier weeks
themselves, which begin at a random hour.

  export LD_LIBRARY_PATH=build/python/cuda-stubs OMP_NUM_THREADS=1      # of tools/setup --python
  build/python/bin/python tools/like/learned_study.py --traces DIR [--logs 'Mira;Theta'] [--nested] [--seed N]

--nested compares within the earlier weeks, split once more: what a design is chosen by. The logs and what makes scenarios of
them are those of tools/reproduce/reproduce_like.cpp, read off its page.
"""
import argparse
import pathlib
import re
import subprocess
import tempfile
import time

import numpy as np

from learned_like import Learned
from like_columns import COLUMNS, HOUR, compare, passed, read, split, together

TOP = pathlib.Path(__file__).parents[2]
SOURCE = TOP / "tools/reproduce/reproduce_like.cpp"


def logs():
    """{name: (the trace's path, a cluster, arguments of berth convert ...)}. Nothing is scheduled: where the trace states a cluster
    of its own, every job makes a step a second, and any that is large enough will do."""
    text = re.search(r"kLikeLogs\[\] = \{\n(.*?)\n\};", SOURCE.read_text(), re.DOTALL).group(1)
    rows = re.findall(r'\{"(.*?)",\s*"(.*?)",\s*"(.*?)",\s*"(.*?)",\s*"(.*?)"\}', text)
    option = lambda name, value: [name, value] if value else []
    return {name: [path, cluster or "v100=100000", "--format", kind, *option("--cluster", cluster), *option("--columns", columns)]
            for name, kind, path, cluster, columns in rows}


class Berth:
    """The command line, with a folder for what it writes."""

    def __init__(self, command, folder):
        self.command, self.folder = command, pathlib.Path(folder)

    def make(self, verb, *arguments, out):
        path = self.folder / out
        run = subprocess.run([self.command, verb, *map(str, arguments), "--out", path], capture_output=True, text=True)
        if run.returncode != 0:
            raise SystemExit(run.stderr.strip())
        return path

    def fitted(self, log, cluster, jobs, length_s, draws, seed):
        """Workloads of the model of the log's first jobs, each after as long a time that is thrown away."""
        earlier = self.make("convert", "--format", "berth", log, "--jobs", f"0:{jobs}", out="earlier.h5")
        model = self.make("generate", "--like", earlier, out="model.toml")
        wanted = int(2.5 * length_s * jobs / read(earlier).arrival[-1]) + 50
        workloads = []
        while len(workloads) < draws:
            drawn = read(self.make("generate", "--workload", f"like(file={model},jobs={wanted})", "--cluster", cluster, "--seed",
                                   seed + len(workloads), out="drawn.h5"))
            if drawn.arrival[-1] < 2 * length_s:
                wanted *= 2
                continue
            kept = slice(*np.searchsorted(drawn.arrival, [length_s, 2 * length_s]))
            workloads.append(drawn.of(kept, drawn.arrival[kept] - length_s, length_s))
        return workloads


def copies(earlier, length_s, draws, seed):
    """Stretches of the earlier weeks; after their end comes their begin."""
    random, workloads = np.random.default_rng(seed), []
    laps = int(np.ceil(length_s / earlier.length)) + 1
    arrival = np.concatenate([earlier.arrival + lap * earlier.length for lap in range(laps)])
    index = np.tile(np.arange(len(earlier)), laps)
    for start in np.floor(random.uniform(0, earlier.length, draws) / HOUR) * HOUR:
        kept = (arrival >= start) & (arrival < start + length_s)
        workloads.append(earlier.of(index[kept], arrival[kept] - start, length_s))
    return workloads


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--traces", required=True, help="folder of the public logs")
    parser.add_argument("--logs", default="", help="names of some of them, between semicolons [all]")
    parser.add_argument("--nested", action="store_true", help="within the earlier weeks: hold out the last quarter of those")
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=30, help="workloads of each generator")
    parser.add_argument("--berth", default=str(TOP / "build/release/berth"), help="the command line")
    options = parser.parse_args()
    known, totals = logs(), {}
    chosen = options.logs.split(";") if options.logs else list(known)
    for name in chosen:
        if name not in known:
            parser.error(f"--logs: expected {', '.join(known)}, found '{name}'")
    print("| log | jobs | generator | columns | what differs | together | what differs |\n|---|---|---|---|---|---|---|")
    for name in chosen:
        path, cluster, *arguments = known[name]
        with tempfile.TemporaryDirectory() as folder:
            berth = Berth(options.berth, folder)
            log = berth.make("convert", f"{options.traces}/{path}", *arguments, out="log.h5")
            earlier, later = split(read(log))
            if options.nested:
                earlier, later = split(earlier)
            begin = time.process_time()
            learned = Learned(earlier, seed=options.seed)
            drawn = {"learned": learned.draw(later.length, options.draws, options.seed)}
            seconds = time.process_time() - begin
            drawn["fitted"] = berth.fitted(log, cluster, len(earlier), later.length, options.draws, options.seed)
        drawn["copy"] = copies(earlier, later.length, options.draws, options.seed)
        for who, workloads in drawn.items():
            cells = []
            for kind, columns in (("columns", COLUMNS), ("together", together(earlier))):
                result = compare(columns, earlier, later, workloads)
                total = totals.setdefault((who, kind), [0, 0])
                total[0] += passed(result)
                total[1] += len(result)
                cells += [f"{passed(result)}/{len(result)}", "; ".join(
                    f"{column} {distance:.2f} [{of_earlier:.2f}]" for column, (verdict, distance, of_earlier) in result.items()
                    if verdict == "differs")]
            print(f"| {name} | {len(earlier)}+{len(later)} | {who} | {' | '.join(cells)} |", flush=True)
        print(f"<!-- {name}: learned in {seconds:.0f} s of CPU time, updates {learned.updates} -->", flush=True)
    for (who, kind), (good, of) in totals.items():
        print(f"{who}, {kind}: {good} of {of}")


if __name__ == "__main__":
    main()

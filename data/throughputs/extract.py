#!/usr/bin/env python3
"""Makes alone.csv and pairs.csv from the reference's simulation_throughputs.json.

usage: extract.py simulation_throughputs.json [FOLDER]      (default: the folder of this script)

The source: https://github.com/stanford-futuredata/gavel, scheduler/simulation_throughputs.json (MIT, see ../LICENSES.md).
Python prints the shortest text that reads back as the same double, so no precision is lost. Rates are steps/s of the whole
gang; 0 = cannot run. Pairs are of gang size 1, each unordered pair once: they are symmetric when swapped, which is checked.
"""
import ast
import json
import pathlib
import sys

TYPES = ("k80", "p100", "v100")
GANGS = (1, 2, 4, 8)


def row(*cells):
    return ",".join(c if isinstance(c, str) else repr(float(c)) for c in cells) + "\n"


def main(source, folder):
    table = {t: {ast.literal_eval(k): {o if o == "null" else ast.literal_eval(o): v for o, v in entry.items()}
                 for k, entry in entries.items()}
             for t, entries in json.loads(pathlib.Path(source).read_text()).items()}
    models = sorted(model for model, gang in table["v100"] if gang == 1)
    alone = row("job_type", "gang", *TYPES, *(t + "_unconsolidated" for t in TYPES))
    for model in models:
        for gang in GANGS:
            if (model, gang) not in table["v100"]:
                continue
            columns = TYPES + tuple(t + "_unconsolidated" for t in TYPES)
            alone += row(model, str(gang), *(table[c].get((model, gang), {"null": 0.0})["null"] for c in columns))
    pairs = row("job_type", "other_job_type", *(name for t in TYPES for name in (t, t + "_other")))
    for i, a in enumerate(models):
        for b in models[i:]:
            for t in TYPES:
                assert table[t][(a, 1)][(b, 1)] == table[t][(b, 1)][(a, 1)][::-1], (t, a, b)
            pairs += row(a, b, *(rate for t in TYPES for rate in table[t][(a, 1)][(b, 1)]))
    (folder / "alone.csv").write_text(alone)
    (folder / "pairs.csv").write_text(pairs)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(sys.argv[1], pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else pathlib.Path(__file__).resolve().parent)

#!/usr/bin/env python3
"""Makes shockwave.csv from tacc_throughputs.json of Shockwave (Zheng et al., NSDI 2023).

usage: shockwave.py tacc_throughputs.json [FOLDER]      (default: the folder of this script)

The source: https://github.com/uw-mad-dash/shockwave, commit 8a44f4a2, scheduler/tacc_throughputs.json (MIT, see
../LICENSES.md). Rates are steps/s of the whole gang alone; 0 = cannot run.
"""
import ast
import json
import pathlib
import sys

TYPES = ("k80", "p100", "v100")


def main(source, folder):
    table = json.loads(pathlib.Path(source).read_text())
    rates = {t: {ast.literal_eval(key): entry["null"] for key, entry in table[t].items()} for t in TYPES}
    text = ",".join(("job_type", "gang", *TYPES)) + "\n"
    for model, gang in sorted(set().union(*rates.values())):
        text += ",".join((model, str(gang), *(repr(float(rates[t].get((model, gang), 0.0))) for t in TYPES))) + "\n"
    (folder / "shockwave.csv").write_text(text)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(sys.argv[1], pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else pathlib.Path(__file__).resolve().parent)

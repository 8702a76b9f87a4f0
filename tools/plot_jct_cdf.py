"""Draws the distribution of job completion times of a berth evaluation.

usage: plot_jct_cdf.py EVALUATION.h5 --out PICTURE.png [--label SPEC=TEXT ...]
"""
import argparse
import pathlib
import re
import sys
import textwrap

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent / "report"))
import cdf  # noqa: E402  (it stands beside the report's other parts)
from evaluation_file import Evaluation, alike  # noqa: E402
from page import counted  # noqa: E402
from style import learned, log_limits, looks  # noqa: E402


# The line that the picture is about: thin and solid, so that wide ones are seen below it.
ON_TOP = {"color": "black", "alpha": 1.0, "linewidth": 1.5, "zorder": 3}


def title(attributes, workloads):
    """"36 GPUs, 10 workloads of 1,000 jobs" of what a generator drew; of a file its name."""
    cluster = re.search(r"cluster ([^ ]+?),? ", attributes["scenario"] + " ")
    jobs = re.search(r"(\d+) jobs?", attributes["scenario"])
    if not cluster or not jobs:
        return attributes["scenario"]
    gpus = sum(int(type_.split("=")[1].split("/")[0]) for type_ in cluster[1].split(","))
    drawn = counted(int(jobs[1]), "job")
    if workloads > 1:
        drawn = f"{workloads} workloads of {drawn}"
    of = "" if "(" in attributes["workload"] else f" of {pathlib.Path(attributes['workload']).name}"
    return f"{counted(gpus, 'GPU')}, {drawn}{of}"


def draw(names, jct_s, attributes, labels, out):
    mean_h = [np.nanmean(jct) / 3600 if np.isfinite(jct).any() else np.nan for jct in jct_s]
    order = np.argsort(mean_h, kind="stable")
    specs, jct_h = [names[k] for k in order], jct_s[order] / 3600
    shown = [labels.get(spec, "learned policy" if learned(spec) else spec) for spec in specs]
    drawn = [{**look, **ON_TOP} if learned(spec) else look for spec, look in zip(specs, looks(specs, alike(jct_h)))]
    figure, (axes, *_) = cdf.draw(jct_h, shown, drawn, log_limits(jct_h, share=0.9995), "job completion time (hours, log scale)",
                                  below="faster")
    for k, line in zip(order, axes.get_lines()):
        mean = f"{mean_h[k]:.1f} h" if np.isfinite(mean_h[k]) else "no job finished"
        line.set_label(f"{line.get_label()}: {mean}")
    figure.suptitle(textwrap.fill(title(attributes, jct_s.shape[1]), 110), fontsize=11, x=0.01, ha="left")
    figure.legend(*axes.get_legend_handles_labels(), title="scheduler: mean", loc="outside lower center", ncols=4, handlelength=3)
    try:
        figure.savefig(out, dpi=160)
    except (OSError, ValueError) as error:
        sys.exit(f"{out}: cannot write: {error}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("evaluation")
    parser.add_argument("--out", required=True)
    parser.add_argument("--label", action="append", default=[], metavar="SPEC=TEXT", help="legend text of a scheduler")
    arguments = parser.parse_args()
    labels = dict(label.rsplit("=", 1) for label in arguments.label)
    e = Evaluation(arguments.evaluation)
    draw(e.schedulers, e["jct_s"], e.about, labels, arguments.out)


if __name__ == "__main__":
    main()

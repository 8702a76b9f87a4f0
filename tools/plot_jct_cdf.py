"""Draws the distribution of job completion times of a berth evaluation.

usage: plot_jct_cdf.py EVALUATION.h5 --out PICTURE.png [--label SPEC=TEXT ...]
"""
import argparse
import pathlib
import sys
import textwrap

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent / "report"))
from evaluation_file import Evaluation, alike  # noqa: E402  (it stands beside the report's other parts)
from style import cumulative, learned, log_limits, looks, plain_numbers, plt  # noqa: E402


def draw(names, jct_s, attributes, labels, out):
    figure, axes = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
    mean_h = [np.nanmean(jct) / 3600 if np.isfinite(jct).any() else np.nan for jct in jct_s]
    order = np.argsort(mean_h, kind="stable")
    limits = log_limits(jct_s / 3600, share=0.9995)
    for k, look in zip(order, looks([names[k] for k in order], alike(jct_s[order]))):
        label = labels.get(names[k], "learned policy" if learned(names[k]) else names[k])
        mean = f"{mean_h[k]:.1f} h" if np.isfinite(mean_h[k]) else "no job finished"
        end = max(limits[1], np.nanmax(jct_s[k], initial=0.0) / 3600)
        axes.step(*cumulative(jct_s[k] / 3600, jct_s[k].size, (limits[0], end)), where="post", label=f"{label}: {mean}", **look)
    axes.set_xscale("log")
    axes.set_xlim(*limits)
    axes.set_ylim(0, 1)
    plain_numbers(axes.xaxis)
    axes.set_xlabel("job completion time (hours, log scale)")
    axes.set_ylabel("fraction of jobs completed within it")
    about = [f"{attributes['workload']}, jobs {attributes['window']}, {jct_s.shape[1]} workloads", attributes["scenario"]]
    axes.set_title("\n".join(textwrap.fill(line, 105) for line in about), fontsize=8.5, loc="left")
    axes.grid(True, which="major", color="#dddddd", linewidth=0.8)
    axes.grid(True, which="minor", color="#f2f2f2", linewidth=0.5)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(title="scheduler: mean", loc="upper left", frameon=False, fontsize=9, handlelength=3)
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

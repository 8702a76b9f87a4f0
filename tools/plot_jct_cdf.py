"""Draws the distribution of job completion times of a berth evaluation.

usage: plot_jct_cdf.py EVALUATION.h5 --out PICTURE.png [--label SPEC=TEXT ...]
"""
import argparse
import pathlib
import sys
import textwrap

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent / "report"))
import cdf  # noqa: E402  (it stands beside the report's other parts)
from evaluation_file import Evaluation, alike  # noqa: E402
from style import learned, log_limits, looks  # noqa: E402


def draw(names, jct_s, attributes, labels, out):
    mean_h = [np.nanmean(jct) / 3600 if np.isfinite(jct).any() else np.nan for jct in jct_s]
    order = np.argsort(mean_h, kind="stable")
    specs, jct_h = [names[k] for k in order], jct_s[order] / 3600
    shown = [labels.get(spec, "learned policy" if learned(spec) else spec) for spec in specs]
    figure, (axes, *_) = cdf.draw(jct_h, shown, looks(specs, alike(jct_h)), log_limits(jct_h, share=0.9995),
                                  "job completion time (hours, log scale)")
    for k, line in zip(order, axes.get_lines()):
        mean = f"{mean_h[k]:.1f} h" if np.isfinite(mean_h[k]) else "no job finished"
        line.set_label(f"{line.get_label()}: {mean}")
    about = [f"{attributes['workload']}, jobs {attributes['window']}, {jct_s.shape[1]} workloads", attributes["scenario"]]
    figure.suptitle("\n".join(textwrap.fill(line, 130) for line in about), fontsize=8.5, x=0.01, ha="left")
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

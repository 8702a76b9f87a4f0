"""Draws what `berth generate --like --check` compared: a panel a column, drawn, held-out and earlier jobs.

usage: plot_like.py FOLDER
"""
import csv
import pathlib
import sys
from collections import defaultdict

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend must be chosen first)
import numpy as np  # noqa: E402

# Colours that colour-blind readers can tell apart; line styles repeat the distinction.
LOOKS = {"earlier": ("#E69F00", ":", 1.6), "held out": ("black", "-", 2.2), "drawn": ("#0072B2", "--", 1.8)}
LABELS = {"earlier": "earlier weeks", "held out": "weeks held out", "drawn": "drawn"}
MOST_BARS = 10


def read(path):
    """{column: (discrete, {sample: ([value], [share])})}, in the order of the file."""
    columns = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            discrete, samples = columns.setdefault(row["column"], (row["discrete"] == "1", defaultdict(lambda: ([], []))))
            samples[row["sample"]][0].append(row["value"] if discrete else float(row["value"]))
            samples[row["sample"]][1].append(float(row["share"]))
    return columns


def draw_numbers(axes, samples):
    values = np.concatenate([np.array(v) for v, _ in samples.values()])
    least = values[values > 0].min(initial=np.inf)
    log = np.isfinite(least) and values.max() > 100 * max(least, 1e-9)
    for name, (colour, line, width) in LOOKS.items():
        value, share = np.array(samples[name][0]), np.array(samples[name][1])
        # On a logarithmic axis zeros stand at its left end.
        axes.plot(np.maximum(value, least) if log else value, share, color=colour, linestyle=line, linewidth=width,
                  label=LABELS[name])
    if log:
        axes.set_xscale("log")
    axes.set_ylim(0, 1)
    axes.set_ylabel("share of them up to it")


def number(text):
    head = text.split(" ")[0]
    return (0, float(head)) if head.replace(".", "", 1).isdigit() else (1, 0.0)


def draw_counts(axes, samples):
    names = samples["held out"][0]
    shares = {sample: dict(zip(*samples[sample])) for sample in LOOKS}
    largest = sorted(names, key=lambda n: -max(shares[s][n] for s in LOOKS))[:MOST_BARS]
    shown = sorted(largest, key=lambda n: (number(n), -shares["held out"][n]))
    x = np.arange(len(shown) + (len(names) > len(shown)))
    for k, (sample, (colour, _, _)) in enumerate(LOOKS.items()):
        heights = [shares[sample][n] for n in shown]
        if len(x) > len(shown):
            heights.append(max(0.0, 1 - sum(heights)))
        axes.bar(x + 0.27 * (k - 1), heights, width=0.25, color=colour, hatch=["..", None, "//"][k], edgecolor="white",
                 linewidth=0.4, label=LABELS[sample])
    labels = [n if len(n) <= 12 else n[:11] + "…" for n in shown] + (["others"] if len(x) > len(shown) else [])
    upright = max(map(len, labels)) > 4
    axes.set_xticks(x, labels, parse_math=False, fontsize=7, rotation=35 if upright else 0, ha="right" if upright else "center")
    axes.set_ylabel("share")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    folder = pathlib.Path(sys.argv[1])
    columns = read(folder / "check.csv")
    wide = 3
    high = -(-len(columns) // wide)
    figure, grid = plt.subplots(high, wide, figsize=(11.5, 3.0 * high + 0.4), layout="constrained", squeeze=False)
    for axes, (name, (discrete, samples)) in zip(grid.flat, columns.items()):
        (draw_counts if discrete else draw_numbers)(axes, samples)
        axes.set_title(name, loc="left", fontsize=10)
        axes.grid(True, axis="y", color="#e4e4e4", linewidth=0.7)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in grid.flat[len(columns):]:
        axes.axis("off")
    handles, labels = next(iter(grid.flat)).get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False, fontsize=10)
    figure.savefig(folder / "check.png", dpi=110)


if __name__ == "__main__":
    main()

"""Draws fgd.png from the fgd.csv that `berth reproduce fgd` wrote.

usage: plot_fgd.py FOLDER
"""
import csv
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend must be chosen first)

# Okabe and Ito's palette, which colour-blind readers can tell apart.
COLOURS = ["#000000", "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00"]
FROM = 70  # % arrived: before that everything fits under every policy


def main(folder):
    with open(folder / "fgd.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if int(row["percent"]) >= FROM]
    workloads = list(dict.fromkeys(row["workload"] for row in rows))
    policies = list(dict.fromkeys(row["policy"] for row in rows))
    across = min(len(workloads), 4)
    down = (len(workloads) + across - 1) // across
    figure, grid = plt.subplots(down, across, figsize=(4.2 * across, 3.6 * down), layout="constrained", squeeze=False)
    for axes in grid.flat[len(workloads):]:
        axes.set_visible(False)
    for axes, workload in zip(grid.flat, workloads):
        for policy, colour in zip(policies, COLOURS):
            mine = [row for row in rows if row["workload"] == workload and row["policy"] == policy]
            axes.plot([int(r["percent"]) for r in mine], [float(r["measured"]) for r in mine], color=colour,
                      label=policy, linewidth=1.3)
            theirs = [row for row in mine if row["published"]]
            at = [int(r["percent"]) for r in theirs]
            axes.fill_between(at, [float(r["low"]) for r in theirs], [float(r["high"]) for r in theirs],
                              color=colour, alpha=0.18, linewidth=0)
            axes.plot(at[::10], [float(r["published"]) for r in theirs][::10], "o", color=colour, markersize=3)
        axes.set_title(workload, loc="left", fontsize=10)
        axes.set_xlabel("GPU arrived, % of capacity")
        axes.set_ylabel("GPU allocated, % of capacity")
        axes.grid(True, color="#e4e4e4", linewidth=0.7)
        axes.spines[["top", "right"]].set_visible(False)
    grid.flat[0].legend(fontsize=8, frameon=False)
    figure.savefig(folder / "fgd.png", dpi=100)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))

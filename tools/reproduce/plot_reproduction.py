"""Draws the pictures of `berth reproduce` from the .csv files that it wrote.

usage: plot_reproduction.py FOLDER
"""
import csv
import pathlib
import sys
from collections import defaultdict

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend must be chosen first)
import numpy as np  # noqa: E402

# Okabe and Ito's palette, which colour-blind readers can tell apart; markers and line styles repeat the distinction.
COLOURS = ["#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"]
MARKERS = ["o", "s", "^", "D", "v", "P"]


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def axes_of(title, x, y, size=(7.0, 4.2)):
    figure, axes = plt.subplots(figsize=size, layout="constrained")
    axes.set_title(title, loc="left", fontsize=10)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(True, color="#e4e4e4", linewidth=0.7)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def save(figure, path):
    figure.savefig(path, dpi=110)
    plt.close(figure)


def groups(rows, key):
    found = defaultdict(list)
    for row in rows:
        found[row[key]].append(row)
    return found  # in order of first appearance


def by_x(rows, x, y):
    values = defaultdict(list)
    for row in rows:
        if row[y]:
            values[float(row[x])].append(float(row[y]))
    return sorted(values.items())


def draw_measured(axes, points, k, label):
    """Mean over seeds as a line, the range as a band."""
    if not points:
        return
    x = [p[0] for p in points]
    axes.plot(x, [np.mean(p[1]) for p in points], color=COLOURS[k % 6], marker=MARKERS[k % 6], markersize=4.5,
              linewidth=1.8, label=f"{label}, measured", zorder=3)
    axes.fill_between(x, [min(p[1]) for p in points], [max(p[1]) for p in points], color=COLOURS[k % 6], alpha=0.15,
                      linewidth=0)


def draw_published(axes, x, low, high, k, label):
    low, high = np.array(low), np.array(high)
    axes.plot(x, (low + high) / 2, color=COLOURS[k % 6], marker=MARKERS[k % 6], markersize=6, markerfacecolor="white",
              linestyle=":", linewidth=1.2, label=f"{label}, published", zorder=2)
    if np.any(high > low):
        axes.vlines(x, low, high, color=COLOURS[k % 6], linewidth=1)


def draw_load(folder, rows):
    for setting, own in groups(rows, "setting").items():
        titles = {"las_single": "Least attained service, single GPU", "las_multi": "Least attained service, multi GPU",
                  "ftf_single": "Finish-time fairness, single GPU", "fifo_single": "First in, first out, single GPU"}
        figure, axes = axes_of(titles.get(setting, setting), "arrivals (jobs per hour)", "mean JCT (hours)")
        top = 0.0
        for k, (policy, points) in enumerate(groups(own, "policy").items()):
            published = sorted((float(p["rate"]), float(p["jct_low_h"]), float(p["jct_high_h"]))
                               for p in points if p["source"] == "published")
            measured = by_x([p for p in points if p["source"] == "measured"], "rate", "jct_low_h")
            draw_measured(axes, measured, k, policy)
            if published:
                draw_published(axes, *zip(*published), k, policy)
                top = max(top, max(p[2] for p in published))
        axes.set_ylim(0, 1.25 * max(top, 40.0))  # beyond what was published a queue without end says little
        axes.legend(frameon=False, fontsize=8, loc="upper left")
        save(figure, folder / f"load_{setting}.png")


def draw_makespan(folder, rows):
    figure, axes = axes_of("Makespan, static multi-GPU workloads", "jobs", "makespan (hours, log scale)", size=(8.6, 4.2))
    for k, (policy, points) in enumerate(groups(rows, "policy").items()):
        published = by_x([p for p in points if p["source"] == "published"], "jobs", "makespan_h")
        draw_measured(axes, by_x([p for p in points if p["source"] == "measured"], "jobs", "makespan_h"), k, policy)
        if published:
            values = [p[1][0] for p in published]
            draw_published(axes, [p[0] for p in published], values, values, k, policy)
    axes.set_yscale("log")
    axes.set_ylim(100, None)
    axes.yaxis.set_major_locator(matplotlib.ticker.FixedLocator([100, 150, 200, 300, 400, 600, 800, 1200]))
    axes.yaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    axes.yaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    save(figure, folder / "makespan.png")


def draw_priorities(folder, rows):
    figure, axes = axes_of("Priorities, multi GPU", "arrivals (jobs per hour)", "mean JCT (hours)")
    for k, (jobs, points) in enumerate(groups(rows, "jobs").items()):
        published = by_x([p for p in points if p["source"] == "published"], "rate", "jct_h")
        draw_measured(axes, by_x([p for p in points if p["source"] == "measured"], "rate", "jct_h"), k, jobs)
        values = [p[1][0] for p in published]
        draw_published(axes, [p[0] for p in published], values, values, k, jobs)
    axes.set_ylim(0, 140)
    axes.legend(frameon=False, fontsize=8, loc="upper left")
    save(figure, folder / "priorities.png")


def draw_cdf(folder, rows):
    figure, axes = axes_of("Job completion times, single GPU, 5.6 jobs an hour", "job completion time (hours, log scale)",
                           "fraction of jobs completed within it")
    for k, (policy, points) in enumerate(groups(rows, "policy").items()):
        axes.plot([float(p["jct_h"]) for p in points], [float(p["fraction"]) for p in points], color=COLOURS[k % 6],
                  linestyle=["-", "--", "-.", ":"][k % 4], linewidth=1.8, label=policy)
    axes.set_xscale("log")
    axes.set_xlim(0.3, None)
    axes.set_ylim(0, 1)
    axes.xaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axes.legend(frameon=False, fontsize=9, loc="upper left")
    save(figure, folder / "jct_cdf.png")


def draw_hierarchy(folder, rows):
    rows = [row for row in rows if row["inner_policy"] == "fairness"]
    rows = [row for row in rows if row["seed"] == rows[0]["seed"]]
    times = sorted({float(row["time_h"]) for row in rows})
    per_weight = {}
    for weight, own in groups(rows, "weight").items():
        sums = defaultdict(float)
        for row in own:
            sums[float(row["time_h"])] += float(row["normalised_throughput"])
        per_weight[weight] = np.array([sums[t] for t in times])
    total = sum(per_weight.values())
    figure, axes = axes_of("Hierarchical fairness: six jobs of each of three tenants arrive one by one", "time (hours)",
                           "share of normalised effective throughput", size=(7.0, 3.8))
    shares = [100 * per_weight[w] / total for w in per_weight]
    axes.stackplot(times, shares, labels=[f"tenant of weight {w}" for w in per_weight], colors=COLOURS, alpha=0.75)
    for level in (100 / 6, 50):
        axes.axhline(level, color="black", linewidth=0.8, linestyle="--")
    axes.set_xlim(times[0], times[-1])
    axes.set_ylim(0, 100)
    axes.yaxis.set_major_formatter(matplotlib.ticker.PercentFormatter(100, 0))
    axes.annotate("dashed: shares by weight, 1 : 2 : 3", (times[-1] * 0.99, 52), ha="right", va="bottom", fontsize=9)
    axes.legend(frameon=True, framealpha=0.9, fontsize=9, loc="upper right")
    save(figure, folder / "hierarchy.png")


def draw_cost(folder, rows):
    figure, (left, right) = plt.subplots(1, 2, figsize=(10.0, 3.8), layout="constrained")
    for axes, column, label in ((left, "cost", "cost over that of max throughput"), (right, "missed_percent", "SLOs missed (%)")):
        for m, (mix, own) in enumerate(groups(rows, "workload").items()):
            policies = groups(own, "policy")
            base = np.mean([float(r["cost"]) for r in next(iter(policies.values()))])
            for k, (policy, points) in enumerate(policies.items()):
                value = np.mean([float(r[column]) for r in points]) / (base if column == "cost" else 1)
                bar = axes.bar(m * 4 + k, value, color=COLOURS[k], label=policy if m == 0 else None)
                axes.bar_label(bar, fmt="%.2f" if column == "cost" else "%.0f", fontsize=7)
        axes.set_xticks([m * 4 + 1 for m in range(len(groups(rows, "workload")))], list(groups(rows, "workload")), fontsize=8)
        axes.set_xlabel("workload, GPUs at will (cloud) or 36 of each type (cluster)")
        axes.set_title(label, loc="left", fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
    left.set_ylim(0, 1.45)
    left.legend(frameon=False, fontsize=8, loc="upper left")
    save(figure, folder / "cost.png")


def draw_ratios(axes, rows, value):
    """A bar a log and model: its error over that of the best naive model of the log; below 1 beats it."""
    logs, names = groups(rows, "log"), [m for m, own in groups(rows, "model").items() if own[0]["naive"] == "0"]
    for k, name in enumerate(names):
        ratios = []
        for own in logs.values():
            naive = min(float(r[value]) for r in own if r["naive"] == "1")
            ratios.append(next((float(r[value]) / naive for r in own if r["model"] == name), np.nan))
        x = np.arange(len(logs)) * (len(names) + 1.5) + k
        axes.bar(x, ratios, color=COLOURS[k % 6], hatch="//" if k >= 6 else None, edgecolor="white", linewidth=0.4, label=name)
    axes.axhline(1.0, color="#444444", linewidth=1)
    axes.set_ylim(0, 2)
    axes.set_xticks(np.arange(len(logs)) * (len(names) + 1.5) + (len(names) - 1) / 2, list(logs), fontsize=8)
    axes.grid(True, axis="y", color="#e4e4e4", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))


def draw_prediction(folder, rows):
    """Three rows of bars: arrivals and demand one hour ahead, run times."""
    figure, (first, second, third) = plt.subplots(3, 1, figsize=(9.6, 8.4), layout="constrained")
    for axes, series in ((first, "arrivals"), (second, "demand")):
        draw_ratios(axes, [r for r in rows if r["series"] == series and r["ahead_h"] == "1"], "mae")
        axes.set_title(f"{series}, 1 hour ahead: mean absolute error over the best naive one's", loc="left", fontsize=10)
    sizes = folder / "run_time_errors.csv"
    draw_ratios(third, read(sizes), "median_factor")
    third.set_title("run times: median factor over the best naive one's", loc="left", fontsize=10)
    save(figure, folder / "prediction.png")


def draw_pollux(folder, rows):
    """A line a policy over load; what was recorded as crosses on it."""
    figure, axes = axes_of("Workloads of the Pollux artifact, 64 T4: means of six workloads a load",
                           "load (1 = 160 jobs in 8 hours)", "mean JCT (hours)")
    recorded = {}
    for k, (policy, points) in enumerate(groups(rows, "policy").items()):
        x = [float(p["load"]) for p in points]
        axes.plot(x, [float(p["measured_h"]) for p in points], color=COLOURS[k % 6], marker=MARKERS[k % 6], markersize=5,
                  linestyle=["-", "-", "-", "--"][k % 4], linewidth=1.6, label=f"{policy}, measured")
        recorded[points[0]["recorded_policy"]] = (x, [float(p["recorded_h"]) for p in points])
    for x, y in recorded.values():
        axes.plot(x, y, linestyle="none", color="black", marker="x", markersize=10, markeredgewidth=1.4, zorder=4,
                  label="recorded" if y is next(iter(recorded.values()))[1] else None)
    axes.set_xticks(sorted({float(row["load"]) for row in rows}))
    axes.set_ylim(0, None)
    axes.legend(frameon=False, fontsize=9, loc="upper left")
    save(figure, folder / "pollux.png")


def draw_sia(folder, rows):
    """Three figures side by side: a pair of bars a policy, recorded and measured."""
    figures = groups(rows, "figure")
    figure, grid = plt.subplots(1, len(figures), figsize=(10.5, 3.6), layout="constrained")
    for axes, (name, points) in zip(grid, figures.items()):
        x = np.arange(len(points))
        for k, source in enumerate(("recorded", "measured")):
            bars = axes.bar(x + 0.4 * (k - 0.5), [float(p[f"{source}_h"]) for p in points], width=0.38,
                            color=["#b8b8b8", COLOURS[1]][k], label=source)
            axes.bar_label(bars, fmt="%.2f", fontsize=8, padding=1)
        axes.set_xticks(x, [p["policy"].replace(", ", ",\n") for p in points], fontsize=8)
        axes.set_title(f"{name} (hours)", loc="left", fontsize=10)
        axes.margins(y=0.12)
        axes.spines[["top", "right"]].set_visible(False)
    grid[0].legend(frameon=False, fontsize=9, loc="upper left")
    save(figure, folder / "sia.png")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    folder = pathlib.Path(sys.argv[1])
    drawings = {"load.csv": draw_load, "load_ftf.csv": draw_load, "makespan.csv": draw_makespan, "priorities.csv": draw_priorities,
                "jct_cdf.csv": draw_cdf, "hierarchy.csv": draw_hierarchy, "cost.csv": draw_cost,
                "forecast_errors.csv": draw_prediction, "pollux.csv": draw_pollux, "sia.csv": draw_sia}
    for name, draw in drawings.items():
        path = folder / name
        rows = read(path) if path.exists() else []
        if rows:
            draw(folder, rows)


if __name__ == "__main__":
    main()

"""Figures of how jobs fared: means, distributions, tails, fairness, decision times, load."""
import numpy as np
from style import colour, labels, legend_below, line, plain_numbers, plt


def finite(values):
    return np.sort(values[np.isfinite(values)])


def mean_jct(e):
    """Mean job completion time with its 95% interval."""
    specs, means = e.schedulers, e["mean_jct_s"].mean(axis=1) / 3600
    figure, axes = plt.subplots(figsize=(7.5, 0.9 + 0.38 * len(specs)), layout="constrained")
    low, high = e["mean_jct_ci95_s"].T / 3600
    for k, mean in enumerate(means):
        if np.isfinite(low[k]):
            axes.plot([low[k], high[k]], [k, k], color=colour(k, specs), linewidth=5, alpha=0.35, solid_capstyle="butt")
        axes.plot(mean, k, "o", color=colour(k, specs))
        axes.annotate(f"{mean:.2f} h", (np.nanmax([mean, high[k]]), k), xytext=(8, 0), textcoords="offset points", va="center")
    axes.set_yticks(range(len(specs)), labels(specs))
    axes.set_ylim(len(specs) - 0.5, -0.5)
    axes.set_xlim(0, 1.15 * np.nanmax([means.max(), np.nanmax(np.append(high, 0))]))
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("mean job completion time (hours); bars: 95% bootstrap over workloads")
    return figure


def jct_cdf(e):
    """Share of jobs completed within a time."""
    specs, jct = e.schedulers, e["jct_s"] / 3600
    figure, axes = plt.subplots(figsize=(7.5, 4.4), layout="constrained")
    names = labels(specs)
    for k in range(len(specs)):
        hours = finite(jct[k])
        if hours.size:
            axes.step(hours, np.arange(1, hours.size + 1) / jct[k].size, where="post", label=names[k], **line(k, specs))
    axes.set_xscale("log")
    axes.set_xlim(max(0.01, np.nanmin(jct)), np.nanmax(jct))
    axes.set_ylim(0, 1)
    plain_numbers(axes.xaxis)
    axes.set_xlabel("job completion time (hours, log scale)")
    axes.set_ylabel("share of jobs")
    axes.legend()
    return figure


def tails(e):
    """Share of jobs that fare worse than a value: slowdown, and wait where it was recorded."""
    specs = e.schedulers
    panels = [("bounded slowdown", e.slowdown(), 1.0)]
    if "wait_s" in e:
        panels.append(("wait until the first GPU (hours)", e["wait_s"] / 3600, 1e-2))
    figure, all_axes = plt.subplots(1, len(panels), figsize=(3.9 * len(panels), 3.9), layout="constrained", squeeze=False)
    for axes, (name, values, lowest) in zip(all_axes[0], panels):
        highest = lowest
        for k in range(len(specs)):
            v = np.maximum(finite(values[k]), lowest)
            if v.size:
                axes.step(v, 1 - np.arange(v.size) / v.size, where="post", **line(k, specs))
                highest = max(highest, v[-1])
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(lowest, max(highest * 1.1, lowest * 10))
        plain_numbers(axes.xaxis)
        plain_numbers(axes.yaxis)
        axes.set_xlabel(name)
        axes.set_ylabel("share of jobs at or above")
    legend_below(figure, specs)
    return figure


def fairness(e):
    """Finish-time fairness and Jain's index, a dot a workload."""
    specs, panels = e.schedulers, [("mean_ftf", "mean finish-time fairness ρ"), ("max_ftf", "largest ρ"), ("jain", "Jain index of 1 / slowdown")]
    figure, all_axes = plt.subplots(1, 3, figsize=(9.2, 0.9 + 0.34 * len(specs)), layout="constrained", sharey=True)
    for axes, (key, name) in zip(all_axes, panels):
        values = e["metrics/" + key]
        for k in range(len(specs)):
            axes.barh(k, values[k].mean(), color=colour(k, specs), alpha=0.35, height=0.66)
            axes.plot(values[k], np.full(values.shape[1], k), "o", color=colour(k, specs), markersize=3)
        axes.set_xlabel(name)
        axes.grid(axis="y", visible=False)
    if np.nanmax(e["metrics/max_ftf"]) > 20 * max(np.nanmin(e["metrics/max_ftf"]), 1e-9):
        all_axes[1].set_xscale("log")
        plain_numbers(all_axes[1].xaxis)
    all_axes[2].set_xlim(0, 1)
    all_axes[0].set_yticks(range(len(specs)), labels(specs))
    all_axes[0].invert_yaxis()
    return figure


def decision_times(e):
    """How long a decision takes, wall clock."""
    specs, edges, counts = e.schedulers, e["decision_us/edges"], e["decision_us/counts"]
    figure, axes = plt.subplots(figsize=(7.5, 3.4), layout="constrained")
    names = labels(specs)
    for k in range(len(specs)):
        if counts[k].sum():
            mean = e["decision_us/mean"][k]
            axes.stairs(counts[k] / counts[k].sum(), edges, label=f"{names[k]}: mean {mean:.3g} µs", **line(k, specs))
    seen = np.flatnonzero(counts.sum(axis=0))
    axes.set_xscale("log")
    axes.set_xlim(edges[max(seen[0] - 1, 0)], edges[min(seen[-1] + 2, len(edges) - 1)])
    axes.set_ylim(bottom=0)
    plain_numbers(axes.xaxis)
    axes.set_xlabel("time of a decision (µs, log scale)")
    axes.set_ylabel("share of decisions")
    axes.legend()
    return figure


def jct_load(evaluations):
    """Mean JCT against arrivals an hour, for the schedulers of several evaluations."""
    specs = list(dict.fromkeys(spec for e in evaluations for spec in e.schedulers))
    names = labels(specs)
    figure, axes = plt.subplots(figsize=(7.5, 4.0), layout="constrained")
    for k, spec in enumerate(specs):
        points = []
        for e in evaluations:
            if spec in e.schedulers:
                row = e.schedulers.index(spec)
                low, high = e["mean_jct_ci95_s"][row]
                points.append((np.nanmean(e["arrivals_per_h"]), e["mean_jct_s"][row].mean(), low, high))
        x, y, low, high = np.array(sorted(points)).T
        axes.plot(x, y / 3600, marker="o", markersize=4, label=names[k], **line(k, specs))
        if np.isfinite(low).all():
            axes.fill_between(x, low / 3600, high / 3600, color=colour(k, specs), alpha=0.15, linewidth=0)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("arrivals (jobs an hour)")
    axes.set_ylabel("mean job completion time (hours)")
    axes.legend()
    return figure



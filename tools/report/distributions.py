"""Figures of how jobs fared: means, distributions, tails, fairness, decision times, load."""
import pathlib

import cdf
import numpy as np
from evaluation_file import alike
from style import labels, legend, legend_below, log_limits, looks, plain_numbers, plt, say, time_unit


def finite(values):
    return np.sort(values[np.isfinite(values)])


NONE = "no measured job finished"


def mean_jct(e):
    """Mean job completion time with its 95% interval."""
    specs, means = e.schedulers, e["mean_jct_s"].mean(axis=1)
    ends = np.stack([means, e["mean_jct_ci95_s"][:, 1]])
    unit, factor = time_unit(ends)
    means, (low, high) = means / factor, e["mean_jct_ci95_s"].T / factor
    drawn = looks(specs, e.alike)
    figure, axes = plt.subplots(figsize=(7.5, 0.9 + 0.38 * len(specs)), layout="constrained")
    for k, mean in enumerate(means):
        if not np.isfinite(mean):
            axes.annotate(f"{NONE}{' in a workload' if np.isfinite(e['jct_s'][k]).any() else ''}", (0, k), xytext=(8, 0),
                          textcoords="offset points", va="center", color="#666666")
            continue
        if np.isfinite(low[k]):
            axes.plot([low[k], high[k]], [k, k], color=drawn[k]["color"], linewidth=5, alpha=0.35, solid_capstyle="butt")
        axes.plot(mean, k, "o", color=drawn[k]["color"])
        axes.annotate(f"{mean:.2f} {unit[0]}", (np.nanmax([mean, high[k]]), k), xytext=(8, 0), textcoords="offset points", va="center")
    axes.set_yticks(range(len(specs)), labels(specs))
    axes.set_ylim(len(specs) - 0.5, -0.5)
    axes.set_xlim(0, 1.15 * np.nanmax(ends) / factor if np.isfinite(ends).any() else 1)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel(f"mean job completion time ({unit}); bars: 95% bootstrap over workloads")
    return figure


def jct_cdf(e):
    """Share of jobs completed within a time."""
    specs, (unit, factor) = e.schedulers, time_unit(e["jct_s"])
    jct, drawn = e["jct_s"] / factor, looks(e.schedulers, e.alike)
    figure, _ = cdf.draw(jct, labels(specs), drawn, log_limits(jct), f"job completion time ({unit}, log scale)", below="faster")
    legend_below(figure, specs, drawn)
    return figure


def ftf_cdf(e):
    """Share of jobs whose finish-time fairness stays within a value."""
    specs, ftf, drawn = e.schedulers, e["ftf"], looks(e.schedulers, e.alike)
    low, high = log_limits(ftf)
    limits = min(low, 0.9), max(high, 1.1)
    figure, axes = cdf.draw(ftf, labels(specs), drawn, limits, "finish-time fairness ρ of a job (log scale)")
    axes[0].axvline(1.0, color="#666666", linewidth=0.8, zorder=1)
    legend_below(figure, specs, drawn)
    return figure


def tails(e):
    """Share of jobs that fare worse than a value: slowdown, and wait where it was recorded."""
    specs, drawn = e.schedulers, looks(e.schedulers, e.alike)
    panels = [("bounded slowdown", e.slowdown(), 1.0)]
    if "wait_s" in e:
        unit, factor = time_unit(e["wait_s"])
        panels.append((f"wait until the first GPU ({unit})", e["wait_s"] / factor, 0.01 if unit == "hours" else 0.1))
    figure, all_axes = plt.subplots(1, len(panels), figsize=(3.9 * len(panels), 3.9), layout="constrained", squeeze=False)
    for axes, (name, values, lowest) in zip(all_axes[0], panels):
        jobs = max(values[0].size, 1)
        right, floor = max(1.1 * np.max(finite(values), initial=lowest), 10 * lowest), 0.7 / jobs
        for k in range(len(specs)):
            v = np.maximum(finite(values[k]), lowest)
            # Between two values as many are at or above as at the larger one. Beyond the largest those that have no value: they fare
            # worse than anybody. Where there are none, that is below the axis.
            at_or_above = np.concatenate([[1.0], 1 - np.arange(v.size) / jobs, [max(1 - v.size / jobs, 0.1 * floor)]])
            axes.step(np.concatenate([[lowest], v, [right]]), at_or_above, where="pre", **drawn[k])
        if not np.isfinite(values).any():
            say(axes, "no values")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(lowest, right)
        axes.set_ylim(floor, 1.1)
        plain_numbers(axes.xaxis)
        plain_numbers(axes.yaxis)
        axes.set_xlabel(name)
        axes.set_ylabel("share of jobs at or above")
    legend_below(figure, specs, drawn)
    return figure


def fairness(e):
    """Finish-time fairness and Jain's index: a small dot a workload, a large one what the table says."""
    specs, panels = e.schedulers, [("mean_ftf", "mean finish-time fairness ρ"), ("max_ftf", "largest ρ"), ("jain", "Jain index of 1 / slowdown")]
    drawn = looks(specs, e.alike)
    figure, all_axes = plt.subplots(1, 3, figsize=(9.2, 0.9 + 0.34 * len(specs)), layout="constrained", sharey=True)
    for axes, (key, name) in zip(all_axes, panels):
        values, combined = e["metrics/" + key], e.metric(key)
        for k in range(len(specs)):
            axes.plot(values[k], np.full(values.shape[1], k), "o", color=drawn[k]["color"], markersize=3, alpha=0.6)
            axes.plot(combined[k], k, "o", color=drawn[k]["color"], markersize=8)
        known = values[np.isfinite(values) & (values > 0)]
        if key == "jain":
            axes.set_xlim(0, 1.03)
        elif known.size and known.max() > 20 * known.min():
            axes.set_xscale("log")
            plain_numbers(axes.xaxis)
        else:
            axes.set_xlim(0, 1.1 * known.max() if known.size else 1)
        if not known.size:
            say(axes, "no values")
        axes.set_xlabel(name)
        axes.grid(axis="y", visible=False)
    all_axes[0].set_yticks(range(len(specs)), labels(specs))
    all_axes[0].set_ylim(len(specs) - 0.5, -0.5)
    return figure


def decision_times(e):
    """How long a decision takes, wall clock."""
    specs, edges, counts = e.schedulers, e["decision_us/edges"], e["decision_us/counts"]
    figure, axes = plt.subplots(figsize=(7.5, 3.4), layout="constrained")
    names, drawn = labels(specs), looks(specs)  # who decides alike does not take equally long
    for k in range(len(specs)):
        if counts[k].sum():
            mean = e["decision_us/mean"][k]
            axes.stairs(counts[k] / counts[k].sum(), edges, label=f"{names[k]}: mean {mean:.3g} µs", **drawn[k])
    seen = np.flatnonzero(counts.sum(axis=0))
    axes.set_xscale("log")
    if seen.size:
        axes.set_xlim(edges[max(seen[0] - 1, 0)], edges[min(seen[-1] + 2, len(edges) - 1)])
    else:
        say(axes, "no decisions")
    axes.set_ylim(bottom=0)
    plain_numbers(axes.xaxis)
    axes.set_xlabel("time of a decision (µs, log scale)")
    axes.set_ylabel("share of decisions")
    legend(axes)
    return figure


def jct_load(evaluations):
    """Mean JCT against arrivals an hour, for the schedulers of several evaluations."""
    load = [np.mean(known) if (known := e["arrivals_per_h"][np.isfinite(e["arrivals_per_h"])]).size else np.nan for e in evaluations]
    unknown = [pathlib.Path(e.path).name for e, x in zip(evaluations, load) if np.isnan(x)]  # such as of jobs that all arrive at once
    specs = list(dict.fromkeys(spec for e in evaluations for spec in e.schedulers))
    names = labels(specs)
    figure, axes = plt.subplots(figsize=(7.5, 4.0), layout="constrained")
    unit, factor = time_unit(np.concatenate([e["mean_jct_s"].mean(axis=1) for e in evaluations]))
    curves = []
    for spec in specs:
        points = []
        for e, x in zip(evaluations, load):
            if spec in e.schedulers and np.isfinite(x):
                row = e.schedulers.index(spec)
                points.append((x, e["mean_jct_s"][row].mean(), *e["mean_jct_ci95_s"][row]))
        curves.append(np.array(sorted(points), float).reshape(-1, 4).T)
    for (x, y, low, high), name, look in zip(curves, names, looks(specs, alike(curves))):
        axes.plot(x, y / factor, marker="o", markersize=4, label=name, **look)
        known = np.isfinite(low)  # not of a single workload
        axes.fill_between(x, low / factor, high / factor, where=known, color=look["color"], alpha=0.15, linewidth=0)
        beside = np.append(known[1:], False) | np.append(False, known[:-1])[:known.size]
        for point in np.flatnonzero(known & ~beside):  # no band, which needs two
            axes.plot([x[point]] * 2, [low[point] / factor, high[point] / factor], color=look["color"], linewidth=5, alpha=0.15,
                      solid_capstyle="butt")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("arrivals (jobs an hour)" + (f"\nnot shown, of no known rate: {', '.join(unknown)}" if unknown else ""))
    if not any(curve.size for curve in curves):
        say(axes, "no known rates")
    axes.set_ylabel(f"mean job completion time ({unit})")
    legend(axes)
    return figure



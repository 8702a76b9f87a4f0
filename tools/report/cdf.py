"""The share of jobs within a value, a curve a scheduler. Curves that lie together there stand apart in the panel beside it."""
import numpy as np
from style import cumulative, plain_numbers, plt, say

NEAR = np.log(1.6)  # whose ratio stays within it is near
TICKS = (0, 0.5, 0.9, 0.99, 0.999)  # shares, on an axis of what is left that spreads the tail: means are made there
WIDEST = np.log(3.0)  # of the ratios that are shown


def shares_of(jobs):
    """Those at which ratios are taken, of so many jobs: as far into the tail as there are jobs, a thousandth at most."""
    return 1 - np.geomspace(1, max(0.5 / jobs, 0.001), 600)


def quantiles(values, shares):
    """The least value that so large a share of all jobs does not exceed; NaN where fewer have one."""
    known = np.sort(values[np.isfinite(values)])
    rank = np.ceil(shares * values.size).astype(int) - 1
    return np.append(known, np.nan)[np.clip(rank, 0, known.size)]


def best(values):
    """Whom the others are held against: the least mean, if possible of those under which every job has a value."""
    complete = [np.isfinite(v).all() for v in values]
    means = [np.nanmean(v) if np.isfinite(v).any() else np.inf for v in values]
    return min(range(len(values)), key=lambda k: (not complete[k], means[k]))


def ratio_limits(ratios):
    """Of a logarithmic axis that shows those near 1, or the nearest: what lies far off is seen apart anyhow."""
    logs = [np.log(r[np.isfinite(r) & (r > 0)]) for r in ratios]
    logs = [log for log in logs if log.size]
    far = [np.median(np.abs(log)) for log in logs]
    near = np.concatenate([log for log, by in zip(logs, far) if by <= max(NEAR, min(far))] or [np.zeros(1)])
    low, high = np.quantile(near, [0.02, 0.98])
    margin = 0.06 * max(high - low, 0.2)
    return np.exp(np.clip([min(low, -0.04) - margin, max(high, 0.04) + margin], -WIDEST, WIDEST))


def ratio_ticks(low, high):
    """Even ones, 1 among them."""
    step = next(step for step in (0.02, 0.05, 0.1, 0.2, 0.5) if high - low <= 6 * step)
    return [round(n * step, 2) for n in range(int(np.ceil(low / step)), int(high / step) + 1)]


def draw_shares(axes, values, names, drawn, limits, what):
    for v, name, look in zip(values, names, drawn):
        end = max(limits[1], np.max(v[np.isfinite(v)], initial=0.0))
        axes.step(*cumulative(v, v.size, (limits[0], end)), where="post", label=name, **look)
    if not np.isfinite(values).any():
        say(axes, "no measured job finished")
    axes.set_xscale("log")
    axes.set_xlim(*limits)
    axes.set_ylim(0, 1)
    plain_numbers(axes.xaxis)
    axes.set_xlabel(what)
    axes.set_ylabel("share of jobs")


def draw_ratios(axes, values, names, drawn, below):
    """What a scheduler's jobs have of a value over what those of the best have, each at the same share of jobs. `below`: what a
    ratio below 1 means."""
    reference, shares = best(values), shares_of(values[0].size)
    base = quantiles(values[reference], shares)
    ratios = [quantiles(v, shares) / base for v in values]
    for ratio, look in zip(ratios, drawn):
        axes.plot(ratio, 1 - shares, **{**look, "linewidth": 0.7 * look["linewidth"]})
    axes.set_xscale("log")
    limits = ratio_limits([r for k, r in enumerate(ratios) if k != reference])
    axes.set_xlim(*limits)
    ticks = ratio_ticks(*limits)
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.xaxis.set_minor_locator(plt.NullLocator())
    axes.set_yscale("log")
    axes.set_yticks([1 - share for share in TICKS], [f"{share:g}" for share in TICKS])
    axes.yaxis.set_minor_locator(plt.NullLocator())
    axes.set_ylim(1, 1 - shares[-1])
    axes.set_ylabel("share of jobs")
    axes.set_title(f"below 1: {below} than the reference", fontsize=9.5)
    axes.set_xlabel(f"ratio to {names[reference]}\nat the same share of jobs")


def draw(values, names, drawn, limits, what, size=(9.2, 4.9), below="less"):
    """`values` [K, ...], NaN = has none. The figure, and its axes from the left."""
    several = len(values) > 1 and np.isfinite(values).any()
    figure, axes = plt.subplots(1, 2 if several else 1, figsize=size, layout="constrained", squeeze=False,
                                width_ratios=[1.6, 1] if several else [1])
    draw_shares(axes[0, 0], values, names, drawn, limits, what)
    if several:
        draw_ratios(axes[0, 1], values, names, drawn, below)
    return figure, axes[0]

"""Completion times of kinds of jobs: a panel a gang size, or a tenant."""
import numpy as np
from style import labels, log_limits, looks, plain_numbers, plt, say, time_unit

MOST = 6  # panels
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def by_gang(e):
    """(heading, which of the measured jobs [S, W]) of every gang size; of many, of ranges that double."""
    if "gang" not in e:  # of an older file
        return []
    gang = e["gang"]
    sizes = np.unique(gang)
    ranges = [(size, size) for size in sizes]
    if len(ranges) > MOST:
        ends = [2**i for i in range(int(sizes[-1]).bit_length() + 1)]
        ranges = [(low + 1, high) for low, high in zip([0, *ends], ends)]
        ranges = [r for r in ranges if ((gang >= r[0]) & (gang <= r[1])).any()]
        if len(ranges) > MOST:
            ranges[MOST - 1:] = [(ranges[MOST - 1][0], int(sizes[-1]))]
    text = lambda low, high: f"{low} GPU{'s' if high > 1 else ''}" if low == high else f"{low} to {high} GPUs"  # noqa: E731
    return [(text(low, high), (gang >= low) & (gang <= high)) for low, high in ranges]


def by_tenant(e):
    """The same of tenants, those with most jobs first; of many, the smallest together. [] where there is one."""
    if "tenant" not in e:
        return []
    counts = np.bincount(e["tenant"].ravel(), minlength=len(e["tenants"]))
    order = [int(t) for t in np.argsort(-counts, kind="stable") if counts[t]]
    if len(order) < 2:
        return []
    alone, together = (order, []) if len(order) <= MOST else (order[:MOST - 1], order[MOST - 1:])
    groups = [(e["tenants"][t], e["tenant"] == t) for t in alone]
    return groups + ([(f"{len(together)} others", np.isin(e["tenant"], together))] if together else [])


def draw(e, groups):
    """A row a scheduler: the middle half of the jobs, 5% to 95%, the median and the mean."""
    specs, drawn, (unit, factor) = e.schedulers, looks(e.schedulers), time_unit(e["jct_s"])
    columns = min(3, len(groups)) if len(groups) != 4 else 2
    rows = -(-len(groups) // columns)
    figure, all_axes = plt.subplots(rows, columns, figsize=(9.2, rows * (0.75 + 0.26 * len(specs)) + 0.3), layout="constrained",
                                    sharex=True, sharey=True, squeeze=False)
    limits = log_limits(e["jct_s"] / factor)
    for axes, (heading, which) in zip(all_axes.flat, groups):
        for k in range(len(specs)):
            jct = e["jct_s"][k][which] / factor
            jct = jct[np.isfinite(jct)]
            if not jct.size:
                continue
            least, low, median, high, most = np.quantile(jct, QUANTILES)
            colour = drawn[k]["color"]
            axes.plot([least, most], [k, k], color=colour, linewidth=1.2)
            axes.plot([low, high], [k, k], color=colour, linewidth=6, alpha=0.45, solid_capstyle="butt")
            axes.plot(median, k, "o", color=colour, markersize=5)
            axes.plot(jct.mean(), k, "d", color="white", markeredgecolor=colour, markersize=5)
        if not np.isfinite(e["jct_s"][:, which]).any():
            say(axes, "none finished")
        axes.set_title(f"{heading}, {which.sum():,} measured")
        axes.set_xscale("log")
        axes.set_xlim(*limits)
        plain_numbers(axes.xaxis)
        axes.grid(axis="y", visible=False)
    for axes in all_axes.flat[len(groups):]:
        axes.set_visible(False)
    for axes in all_axes.flat[max(len(groups) - columns, 0):len(groups)]:  # nothing is below them
        axes.tick_params(labelbottom=True)
    all_axes[0, 0].set_yticks(range(len(specs)), labels(specs))
    all_axes[0, 0].set_ylim(len(specs) - 0.5, -0.5)
    figure.supxlabel(f"job completion time ({unit}, log scale): dot median, diamond mean, bar the middle half, line 5% to 95%",
                     fontsize="medium")
    return figure

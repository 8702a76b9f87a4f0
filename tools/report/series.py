"""Figures over simulated time: slowdown by arrival, queue and utilisation of the first workload."""
import numpy as np
from style import legend_below, looks, plain_numbers, plt, thin

BINS = 160


def slowdown(e):
    """Mean bounded slowdown of the jobs that arrive together, over all workloads."""
    specs, values, drawn = e.schedulers, e.slowdown(), looks(e.schedulers, e.alike)
    jobs = values.shape[2]
    groups = np.array_split(np.arange(jobs), min(40, max(1, jobs // 8)))
    hours = np.array([e["arrival_s"][:, group].mean() for group in groups]) / 3600
    figure, axes = plt.subplots(figsize=(9.2, 3.2), layout="constrained")
    for k in range(len(specs)):
        means = [np.nanmean(v) if np.isfinite(v).any() else np.nan for v in (values[k][:, group] for group in groups)]
        axes.plot(hours, means, marker="." if len(groups) < 3 else None, **drawn[k])
    if axes.get_ylim()[1] > 10:
        axes.set_yscale("log")
        plain_numbers(axes.yaxis)
    least, most = len(groups[-1]), len(groups[0])  # the first ones may have one more
    size = f"{most} successive jobs" if least == most else f"{least} to {most} successive jobs"
    axes.set_xlabel(f"arrival (hours); a point is the mean of {size} in each workload, of those that finished")
    axes.set_ylabel("mean bounded slowdown")
    legend_below(figure, specs, drawn)
    return figure


def steps(times, changes):
    """Times, and the sum of the changes from each on."""
    order = np.argsort(times, kind="stable")
    return times[order], np.cumsum(changes[order])


def thinned(time, values, begin, end, bins=1500):
    """The steps, or where they are many what a picture of `bins` columns shows of them: of each bin the first, the last, the least
    and the largest (M4: Jugel, Jerzak, Hackenbroich & Markl, VLDB 2014, §4.2), so that no spike is lost."""
    if len(time) <= 4 * bins:
        return time, values
    bin_of = np.clip(((time - begin) / (end - begin) * bins).astype(int), 0, bins - 1)
    order = np.lexsort((values, bin_of))  # within a bin from the least to the largest
    firsts = np.flatnonzero(np.diff(bin_of, prepend=-1))
    lasts = np.append(firsts[1:], len(time)) - 1
    keep = np.unique(np.concatenate([firsts, lasts, order[firsts], order[lasts]]))
    return time[keep], values[keep]


def queue_steps(e, k):
    """Times, and the jobs that wait and that run from each on, of scheduler k in the first workload."""
    mine, here = e["recording/spans/scheduler"] == k, e["recording/jobs_in_system/scheduler"] == k
    ended = mine & (e["recording/spans/end"] != e["recording/ends"].index("still running"))
    begin, end, changes = e["recording/spans/begin_s"][mine], e["recording/spans/end_s"][ended], e["recording/jobs_in_system/change"][here]
    time, at = np.unique(np.concatenate([[0.0], begin, end, e["recording/jobs_in_system/time_s"][here]]), return_inverse=True)
    split = np.cumsum([1, len(begin), len(end)])
    running = np.bincount(at[split[0]:split[1]], minlength=len(time)) - np.bincount(at[split[1]:split[2]], minlength=len(time))
    system = np.bincount(at[split[2]:], changes, minlength=len(time))
    running = np.cumsum(running)
    return time, np.cumsum(system) - running, running


def spread_counts(axes, most):
    """Linear up to 10 and logarithmic beyond where one queue, of the largest of `most`, would press the others to the axis."""
    if max(most) <= max(50, 4 * min(most)):
        return
    axes.set_yscale("symlog", linthresh=10, linscale=0.7)
    ticks = [tick for tick in (0, 5, 10, 20, 50, 100, 200, 500, 1000, 10000, 100000, 1000000) if tick <= max(most)]
    axes.set_yticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.yaxis.set_minor_locator(plt.NullLocator())


def queue(e):
    """Jobs that wait, that run, and both together, of the first workload."""
    specs, drawn = e.schedulers, thin(looks(e.schedulers, e.alike))
    figure, all_axes = plt.subplots(3, 1, figsize=(9.2, 6.4), layout="constrained", sharex=True)
    most = {axes: [] for axes in all_axes}
    for k in range(len(specs)):
        time, waiting, running = queue_steps(e, k)
        end = max(e["recording/end_s"][k], time[-1])
        for axes, jobs in zip(all_axes, (waiting, running, waiting + running)):
            shown, jobs = thinned(time, jobs, 0.0, end)
            axes.plot(np.append(shown, end) / 3600, np.append(jobs, jobs[-1]), drawstyle="steps-post", **drawn[k])
            most[axes].append(jobs.max())
    all_axes[-1].set_xlabel("time (hours)")
    for axes, name in zip(all_axes, ("jobs waiting", "jobs running", "jobs in the system")):
        axes.set_ylabel(name)
        spread_counts(axes, most[axes])
        axes.set_ylim(bottom=0)
        axes.set_xlim(0, max(e["recording/end_s"].max(), 1.0) / 3600)
    legend_below(figure, specs, drawn)
    return figure


def held(begin, end, edges):
    """Seconds that the intervals cover of each bin between `edges`."""
    time, open_ = steps(np.concatenate([begin, end]), np.concatenate([np.ones(len(begin)), -np.ones(len(end))]))
    covered = np.concatenate([[0.0], np.cumsum(open_[:-1] * np.diff(time))]) if len(time) else np.zeros(1)
    return np.diff(np.interp(edges, time if len(time) else [0.0], covered))


def busy_by_type(e, k, edges):
    """[G, bins] share of each type's GPU-seconds that jobs hold; what several jobs share counts once."""
    counts = e["recording/type_counts"]
    first = np.concatenate([[0], np.cumsum(counts)])
    mine = np.flatnonzero(e["recording/spans/scheduler"] == k)
    starts, sizes = e["recording/spans/devices_begin"][mine], e["recording/spans/devices_count"][mine]
    span = np.repeat(mine, sizes)
    device = e["recording/devices"][np.concatenate([np.arange(s, s + n) for s, n in zip(starts, sizes)])] if len(mine) else np.zeros(0, int)
    begin, end = e["recording/spans/begin_s"][span], e["recording/spans/end_s"][span]
    order = np.lexsort((begin, device))
    device, begin, end = device[order], begin[order], end[order].copy()
    for i in range(1, len(device)):  # the union of what overlaps on a device
        if device[i] == device[i - 1] and begin[i] < end[i - 1]:
            begin[i] = end[i - 1]
            end[i] = max(end[i], begin[i])
    shares = []
    for g, count in enumerate(counts):
        on = (device >= first[g]) & (device < first[g + 1])
        shares.append(held(begin[on], end[on], edges) / (np.diff(edges) * max(count, 1)))
    return np.array(shares)


def utilisation(e):
    """Share of each type's GPUs that jobs hold, of the first workload."""
    specs, types, ends = e.schedulers, e["recording/types"], e["recording/end_s"]
    drawn = thin(looks(specs, e.alike))
    figure, all_axes = plt.subplots(len(types), 2, figsize=(9.2, 0.7 + 1.7 * len(types)), layout="constrained", squeeze=False,
                                    sharex="col", width_ratios=[4, 1])
    for k in range(len(specs)):
        edges = np.linspace(0, max(ends[k], 1e-9), BINS + 1)
        for g, shares in enumerate(busy_by_type(e, k, edges)):
            all_axes[g, 0].stairs(100 * shares, edges / 3600, baseline=None, **drawn[k])
            all_axes[g, 1].barh(k, 100 * shares.mean(), color=drawn[k]["color"], alpha=0.6)
            all_axes[g, 1].annotate(f"{100 * shares.mean():.0f}%", (2, k), va="center", fontsize=7.5)
    for g, (axes, mean_axes) in enumerate(all_axes):
        axes.set_ylim(0, 104)
        axes.set_xlim(0, max(ends.max(), 1.0) / 3600)
        axes.set_ylabel(f"{types[g]}: % held")
        mean_axes.set_xlim(0, 100)
        mean_axes.set_yticks([])
        mean_axes.invert_yaxis()
        mean_axes.grid(axis="y", visible=False)
    all_axes[-1, 0].set_xlabel("time (hours)")
    all_axes[-1, 1].set_xlabel("mean of the run (%)")
    legend_below(figure, specs, drawn)
    return figure

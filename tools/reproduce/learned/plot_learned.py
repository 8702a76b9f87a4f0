"""Draws the pictures of `berth reproduce learned` from the .csv files that it wrote.

usage: plot_learned.py FOLDER
"""
import pathlib
import sys

import matplotlib
import numpy as np

# What the other reproductions draw with: palette, axes, reading.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from plot_reproduction import COLOURS, MARKERS, axes_of, groups, plt, read, save  # noqa: E402

LEARNED = "black"


def look(names):
    """Learned is black; the others take the palette in turn, the same in all panels of a picture."""
    others = [n for n in names if n != "learned"]
    style = {n: {"color": COLOURS[k % len(COLOURS)], "marker": MARKERS[k % len(MARKERS)],
                 "linestyle": ["-", "--"][k // len(COLOURS) % 2]} for k, n in enumerate(others)}
    style["learned"] = {"color": LEARNED, "marker": "*", "linestyle": "-"}
    return style


def draw_cluster(folder, rows):
    """A panel a knowledge and kind of job: mean JCT over the learned mean at each load, with intervals."""
    rows = [r for r in rows if r["shown"] == "1"]
    knowledges, kinds = list(groups(rows, "knowledge")), list(groups(rows, "gangs"))
    style = look(list(groups(rows, "scheduler")))
    figure, grid = plt.subplots(len(knowledges), len(kinds), figsize=(9.6, 3.6 * len(knowledges)), layout="constrained",
                                squeeze=False)
    for i, knowledge in enumerate(knowledges):
        own = [r for r in rows if r["knowledge"] == knowledge]
        for j, kind in enumerate(kinds):
            axes, panel = grid[i][j], [r for r in own if r["gangs"] == kind]
            for k, (name, points) in enumerate(groups(panel, "scheduler").items()):
                points.sort(key=lambda r: float(r["rate"]))
                x = np.array([float(p["rate"]) for p in points]) * (1 + 0.002 * (k - 4))
                y, low, high = (np.array([float(p[c]) for p in points]) for c in ("jct_h", "low", "high"))
                axes.errorbar(x, y, yerr=[y - low, high - y], capsize=2, markersize=9 if name == "learned" else 5,
                              linewidth=2.2 if name == "learned" else 1.2, label=name, zorder=3 if name == "learned" else 2,
                              **style[name])
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda v, _: f"{v:g}"))
            axes.yaxis.set_minor_formatter(matplotlib.ticker.NullFormatter())
            axes.yaxis.set_major_locator(matplotlib.ticker.LogLocator(base=10, subs=(1, 2, 3, 5)))
            axes.set_xticks(sorted({float(r["rate"]) for r in panel}))
            axes.set_title(f"{knowledge} knowledge, {'gangs' if kind == 'gangs' else 'single GPUs'}", loc="left", fontsize=10)
            axes.set_xlabel("arrivals (jobs per hour)")
            axes.set_ylabel("mean JCT (hours, log scale)")
            axes.grid(True, color="#e4e4e4", linewidth=0.7)
            axes.spines[["top", "right"]].set_visible(False)
        grid[i][-1].legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    save(figure, folder / "cluster.png")


def draw_cdf(folder, rows):
    knowledges = groups(rows, "knowledge")
    style = look(list(groups(rows, "scheduler")))
    figure, panels = plt.subplots(1, len(knowledges), figsize=(5.2 * len(knowledges), 4.0), layout="constrained", squeeze=False)
    for axes, (knowledge, own) in zip(panels[0], knowledges.items()):
        for name, points in groups(own, "scheduler").items():
            axes.plot([float(p["jct_h"]) for p in points], [float(p["fraction"]) for p in points], label=name,
                      color=style[name]["color"], linestyle=style[name]["linestyle"], linewidth=2.4 if name == "learned" else 1.4)
        axes.set_xscale("log")
        axes.set_xlim(0.3, None)
        axes.set_ylim(0, 1)
        axes.xaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda v, _: f"{v:g}"))
        axes.set_title(f"{knowledge} knowledge, 5.6 single-GPU jobs an hour", loc="left", fontsize=10)
        axes.set_xlabel("job completion time (hours, log scale)")
        axes.set_ylabel("fraction of jobs completed within it")
        axes.grid(True, color="#e4e4e4", linewidth=0.7)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=8, loc="upper left")
    save(figure, folder / "cluster_cdf.png")


def draw_bands(axes, rows, x, y):
    """Mean over training seeds of column y at common points of column x, the range as a band."""
    for k, (policy, own) in enumerate(groups(rows, "policy").items()):
        curves = [(np.array([float(r[x]) for r in c]), np.array([float(r[y] or "nan") for r in c]))
                  for c in groups(own, "seed").values()]
        at = np.linspace(max(a[0] for a, _ in curves), min(a[-1] for a, _ in curves), 200)
        values = np.array([np.interp(at, a[np.isfinite(b)], b[np.isfinite(b)]) for a, b in curves if np.isfinite(b).any()])
        if not len(values):
            continue
        axes.plot(at, values.mean(0), color=COLOURS[k % len(COLOURS)], linewidth=1.8, label=f"{policy}, {len(values)} seeds")
        axes.fill_between(at, values.min(0), values.max(0), color=COLOURS[k % len(COLOURS)], alpha=0.18, linewidth=0)
    axes.legend(frameon=False, fontsize=8)


def draw_searches(folder, rows):
    """Searches: how the centre of a generation does."""
    figure, axes = axes_of("Searches on clusters of 24 GPUs, new workloads every generation", "generation", "mean JCT / that of srpt (oracle), las (blind)")
    draw_bands(axes, rows, "generation", "ratio")
    save(figure, folder / "search_curves.png")


def draw_behaviour(folder, rows):
    """Stacked bars: a panel a way to sort the jobs, a bar a type and scheduler."""
    ways = groups(rows, "by")
    figure, panels = plt.subplots(1, len(ways), figsize=(4.8 * len(ways), 3.6), layout="constrained", squeeze=False)
    for axes, (way, own) in zip(panels[0], ways.items()):
        types, schedulers = list(groups(own, "type")), list(groups(own, "scheduler"))
        ticks = []
        for t, type_name in enumerate(types):
            for s, scheduler in enumerate(schedulers):
                x, bottom = t * (len(schedulers) + 0.8) + s, 0.0
                ticks.append((x, f"{type_name}\n{scheduler}"))
                bars = [r for r in own if r["type"] == type_name and r["scheduler"] == scheduler]
                for k, r in enumerate(bars):
                    share = 100 * float(r["share"] or 0)
                    axes.bar(x, share, bottom=bottom, color=COLOURS[k], label=r["class"] if x == 0 else None)
                    bottom += share
        axes.set_xticks([x for x, _ in ticks], [label for _, label in ticks], fontsize=7)
        axes.set_title(f"busy GPU-hours by the jobs' {way}", loc="left", fontsize=10)
        axes.yaxis.set_major_formatter(matplotlib.ticker.PercentFormatter(100, 0))
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0), title=way, title_fontsize=8)
    save(figure, folder / "behaviour.png")


def draw_gantt(folder, rows):
    """Two days: a row a GPU, a bar a job, its colour the job's rank by speed-up (fastest over slowest type)."""
    schedulers = groups(rows, "scheduler")
    types = list(groups(rows, "type"))
    per_type = 1 + max(int(r["gpu"]) for r in rows)
    figure, panels = plt.subplots(1, len(schedulers), figsize=(5.4 * len(schedulers), 4.6), layout="constrained", squeeze=False,
                                  sharey=True)
    colours = plt.get_cmap("viridis")
    for axes, (scheduler, own) in zip(panels[0], schedulers.items()):
        for r in own:
            y = types.index(r["type"]) * (per_type + 1) + int(r["gpu"])
            begin, end = float(r["begin_h"]), float(r["end_h"])
            axes.barh(y, end - begin, left=begin, height=0.92, color=colours(float(r["advantage_rank"])), edgecolor="white", linewidth=0.2)
        axes.set_yticks([i * (per_type + 1) + per_type / 2 for i in range(len(types))], types)
        axes.set_ylim(len(types) * (per_type + 1) - 0.5, -1)
        axes.set_xlim(0, max(float(r["end_h"]) for r in rows))
        axes.set_xlabel("hours")
        axes.set_title(scheduler, loc="left", fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
    figure.colorbar(plt.matplotlib.cm.ScalarMappable(cmap=colours), ax=list(panels[0]), label="job's rank by speed-up on its fastest type",
                    shrink=0.8)
    save(figure, folder / "gantt.png")


def draw_lublin(folder, rows):
    """A panel a log and semantics: mean bounded slowdown, the ten published sequences."""
    rows = [r for r in rows if r["sequences"] == "official" and r["bounded_slowdown"]]
    panels = {}
    for r in rows:
        panels.setdefault((r["semantics"], r["log"]), []).append(r)
    figure, grid = plt.subplots(2, (len(panels) + 1) // 2, figsize=(12.0, 6.4), layout="constrained", squeeze=False)
    for axes, ((semantics, log), own) in zip(grid.flat, panels.items()):
        own = [r for r in own if r["scheduler"] != "FCFS"]  # a hundred times the others: it would be all there is to see
        names = [r["scheduler"] for r in own]
        axes.bar(range(len(own)), [float(r["bounded_slowdown"]) for r in own],
                 color=[LEARNED if n.startswith("learned") else COLOURS[1] for n in names])
        axes.set_xticks(range(len(own)), names, rotation=70, fontsize=7)
        axes.set_title(f"{log}, {semantics}", loc="left", fontsize=9)
        axes.set_ylabel("mean bounded slowdown", fontsize=8)
        axes.spines[["top", "right"]].set_visible(False)
    save(figure, folder / "lublin.png")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    folder = pathlib.Path(sys.argv[1])
    drawings = {"cluster.csv": draw_cluster, "cluster_cdf.csv": draw_cdf,
                "search_curves.csv": draw_searches,
                "behaviour.csv": draw_behaviour, "gantt.csv": draw_gantt, "lublin.csv": draw_lublin}
    for name, draw in drawings.items():
        path = folder / name
        rows = read(path) if path.exists() else []
        if rows:
            draw(folder, rows)


if __name__ == "__main__":
    main()

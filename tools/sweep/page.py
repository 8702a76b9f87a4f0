"""Draws the page of a berth sweep: index.html, and every figure as SVG and PNG.

usage: page.py TABLE.h5 --out DIR
"""
import argparse
import collections
import html
import itertools
import pathlib
import sys

import h5py
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "report"))
import page  # noqa: E402  (of the report, whose looks are shared)
from evaluation_file import strings, text  # noqa: E402
from report import Figure, clean, publish, save  # noqa: E402
from style import labels, legend_below, looks, plt  # noqa: E402

MOST_PANELS = 30  # of a figure; a grid with more values is drawn in several
MOST_FIGURES = 12  # of a kind
MOST_ROWS = 400  # of the table
MOST_TICKS = 8  # at the values of an axis; of more, where matplotlib puts them
MOST_NAMED = 12  # points on a front


class Sweep:
    """table.h5: a line a cell and scheduler. Its layout stands in tools/sweep/sweep_files.hpp."""

    def __init__(self, path):
        try:
            file = h5py.File(path)
        except OSError as error:
            sys.exit(f"{path}: cannot read: {error}")
        with file:
            if text(file.attrs.get("berth_kind", "")) != "sweep":
                sys.exit(f"{path}: expected a table of berth sweep, found another file")
            self.config, self.commit = (text(file.attrs[name]) for name in ("config", "source_commit"))
            summary = file["summary"]
            self.axes = {name: strings(summary["axes"][name]) for name in strings(file["axis_names"])}
            self.numeric = {name for name in self.axes if f"axis_numbers/{name}" in file}
            self.scheduler = strings(summary["scheduler"])
            self.unstable = summary["unstable"][()].astype(bool)
            self.unfinished = summary["unfinished"][()]
            jobs = {}  # measured, of a cell and scheduler
            for run in zip(file["cell"][()], strings(file["scheduler"]), file["jobs"][()] + file["unfinished"][()]):
                jobs[run[:2]] = jobs.get(run[:2], 0) + run[2]
            rows = list(zip(summary["cell"][()], self.scheduler))
            alike = collections.Counter(rows)  # specs that are alike in a cell have a row each
            self.measured = [jobs[row] // alike[row] for row in rows]
            self.ratio = summary["ratio"][()]
            self.mean = {key: summary["metrics"][key][()] for key in summary["metrics"]}
            self.low = {key: summary["low"][key][()] for key in summary["low"]}
            self.high = {key: summary["high"][key][()] for key in summary["high"]}
            self.shown = list(zip(strings(file["shown/keys"]), strings(file["shown/titles"]), file["shown/units"][()]))
            self.front = file["front/rows"][()] if "front/rows" in file else None
            self.front_names = list(zip(*(strings(file[f"front/{part}"]) for part in ("keys", "titles")),
                                        file["front/units"][()])) if self.front is not None else []
        self.schedulers = list(dict.fromkeys(self.scheduler))
        self.seeds = next((line.split("=", 1)[1] for line in self.config.splitlines() if line.startswith("seeds=")), "")

    @property
    def usable(self):
        """[L] Did every job finish, and does the cluster keep up?"""
        return ~self.unstable & (self.unfinished == 0)

    @property
    def several(self):
        """Has anything an interval, which one seed has not?"""
        return any(np.isfinite(low).any() for low in (*self.low.values(), self.ratio[:, 1]))

    def values(self, axis):
        """In the order in which they were given."""
        return list(dict.fromkeys(self.axes[axis]))

    def place(self, axis):
        """Where each line stands along the axis: at its number, or one after the other."""
        order = {value: float(value) if axis in self.numeric else i for i, value in enumerate(self.values(axis))}
        return np.array([order[value] for value in self.axes[axis]])


def layout(s):
    """(axis along x, across, down, those of which each combination is a figure): the longest axis of numbers is x."""
    several = [name for name in s.axes if len(s.values(name)) > 1] or list(s.axes)[:1]
    along = max(several, key=lambda name: (name in s.numeric, len(s.values(name)), -several.index(name)))
    rest = [name for name in several if name != along]
    across = rest.pop(0) if rest else None
    down = rest.pop(0) if rest and len(s.values(rest[0])) * len(s.values(across)) <= MOST_PANELS else None
    return along, across, down, rest


def panel(s, axes, along, lines, mean, low, high):
    drawn = looks(s.schedulers)
    for k, scheduler in enumerate(s.schedulers):
        at = [i for i in lines if s.scheduler[i] == scheduler]
        at.sort(key=lambda i: s.place(along)[i])
        x, y = s.place(along)[at], mean[at]
        axes.plot(x, y, **drawn[k])
        axes.fill_between(x, low[at], high[at], color=drawn[k]["color"], alpha=0.15, linewidth=0)
        hollow = ~s.usable[at]
        colour = drawn[k]["color"]
        axes.plot(x[~hollow], y[~hollow], "o", color=colour, markersize=3.5)
        axes.plot(x[hollow], y[hollow], "o", color=colour, markersize=4.5, markerfacecolor="white")
    if along not in s.numeric:
        axes.set_xticks(range(len(s.values(along))), s.values(along))
    elif len(s.values(along)) <= MOST_TICKS:
        axes.set_xticks([float(value) for value in s.values(along)], s.values(along))


def facets(s, title, fixed, mean, low, high):
    along, across, down, _ = layout(s)
    columns, rows = s.values(across) if across else [None], s.values(down) if down else [None]
    figure, grid = plt.subplots(len(rows), len(columns), squeeze=False, sharex=True, sharey="row", layout="constrained",
                                figsize=(max(6.0, 3.0 * len(columns)), 1.2 + 2.5 * len(rows)))
    for r, c in itertools.product(range(len(rows)), range(len(columns))):
        wanted = {**fixed, **({across: columns[c]} if across else {}), **({down: rows[r]} if down else {})}
        lines = [i for i in range(len(s.scheduler)) if all(s.axes[name][i] == value for name, value in wanted.items())]
        panel(s, grid[r][c], along, lines, mean, low, high)
        named = [(name, value) for name, value in ((across, columns[c]), (down, rows[r])) if name]
        grid[r][c].set_title(", ".join(f"{name} = {value}" for name, value in named))
        if r == len(rows) - 1:
            grid[r][c].set_xlabel(along)
        if c == 0:
            grid[r][c].set_ylabel(title)
    legend_below(figure, s.schedulers, looks(s.schedulers))
    return figure


def front(s):
    """Every line by the two figures of --pareto; those on the front joined."""
    (a, a_title, a_unit), (b, b_title, b_unit) = s.front_names
    x, y = s.mean[a] / a_unit, s.mean[b] / b_unit
    figure, axes = plt.subplots(figsize=(8.5, 5.0), layout="constrained")
    drawn = looks(s.schedulers)
    for k, scheduler in enumerate(s.schedulers):
        own = np.array([name == scheduler for name in s.scheduler])
        axes.plot(x[own & s.usable], y[own & s.usable], "o", color=drawn[k]["color"], markersize=5)
        axes.plot(x[own & ~s.usable], y[own & ~s.usable], "o", color=drawn[k]["color"], markersize=5, markerfacecolor="white")
    axes.plot(x[s.front], y[s.front], color="black", linewidth=1.0, zorder=1)
    middle = (np.nanmin(x) + np.nanmax(x)) / 2
    for n, i in enumerate(s.front[:MOST_NAMED]):
        name = ", ".join(f"{axis}={values[i]}" for axis, values in s.axes.items())
        left = x[i] > middle
        axes.annotate(name, (x[i], y[i]), xytext=(-6 if left else 6, 6 if n % 2 == 0 else -12), textcoords="offset points",
                      fontsize=7.5, ha="right" if left else "left")
    axes.set_xlabel(a_title)
    axes.set_ylabel(b_title)
    legend_below(figure, s.schedulers, drawn)
    return figure


def figures(s):
    _, _, _, rest = layout(s)
    combinations = [dict(zip(rest, values)) for values in itertools.product(*(s.values(name) for name in rest))]
    kinds = [(key, title, s.mean[key] / unit, s.low[key] / unit, s.high[key] / unit) for key, title, unit in s.shown]
    if len(s.schedulers) > 1:
        kinds.insert(1, ("ratio", f"ratio to {labels(s.schedulers)[0]}", *s.ratio.T))
    if s.front is not None:
        yield Figure("pareto", "Pareto front", "A dot a cell under a scheduler; the line joins those that no other beats in both "
                     "figures. Hollow: jobs were lost or the cluster does not keep up, and they are left out.", lambda: front(s))
    for key, title, mean, low, high in kinds:
        if np.isnan(mean).all():
            continue
        for n, fixed in enumerate(combinations[:MOST_FIGURES]):
            name = key if len(combinations) == 1 else f"{key}_{n}"
            where = ", ".join(f"{axis} = {value}" for axis, value in fixed.items())
            left = f" {len(combinations) - MOST_FIGURES} combinations are not drawn." if n + 1 == MOST_FIGURES < len(combinations) else ""
            yield Figure(name, title[:1].upper() + title[1:] + (f" ({where})" if where else ""),
                         ("Bands are 95% intervals over the seeds. " if np.isfinite(low).any() else "")
                         + "Hollow: jobs were lost, and figures of jobs are over the others, or the cluster does not keep up." + left,
                         lambda t=title, f=fixed, m=mean, lo=low, hi=high: facets(s, t, f, m, lo, hi))


def table(s):
    head = [*s.axes, "scheduler", *(title for _, title, _ in s.shown), "ratio"]
    names = dict(zip(s.schedulers, labels(s.schedulers)))
    rows = ""
    for i in range(min(MOST_ROWS, len(s.scheduler))):
        cells = []
        for key, _, unit in s.shown:
            bounds = (s.low[key][i] / unit, s.high[key][i] / unit)
            cells.append(page.with_interval(s.mean[key][i] / unit, *bounds, 2) + ("†" if key == "mean_jct_s" and s.unstable[i] else ""))
        cells.append(page.with_interval(*s.ratio[i], 3))
        on_front = s.front is not None and i in s.front
        rows += f"<tr{' class=chosen' if on_front else ''}>"
        rows += "".join(f"<td>{html.escape(values[i])}</td>" for values in s.axes.values())
        rows += f'<td title="{html.escape(s.scheduler[i])}">{html.escape(names[s.scheduler[i]])}</td>'
        rows += "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>\n"
    more = f"<p>{len(s.scheduler) - MOST_ROWS} more rows stand in summary.csv.</p>" if len(s.scheduler) > MOST_ROWS else ""
    late = page.overloaded({"unstable": s.unstable}) if s.unstable.any() else ""
    lost = "".join(page.lost_jobs(", ".join([*(f"{axis}={values[i]}" for axis, values in s.axes.items()), s.scheduler[i]]),
                                  s.unfinished[i], s.measured[i], s.mean["mean_jct_s"][i])
                   for i in np.flatnonzero(s.unfinished[:MOST_ROWS]))
    return (f'<div class="wide"><table id="table"><thead><tr>{"".join(f"<th>{html.escape(name)}</th>" for name in head)}</tr></thead>\n'
            f"<tbody>{rows}</tbody></table></div>{more}{late}{lost}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table")
    parser.add_argument("--out", required=True, help="folder of the page and the figures")
    arguments = parser.parse_args()
    s = Sweep(arguments.table)
    folder = pathlib.Path(arguments.out)
    aside = folder / ".new"  # until all is drawn
    try:
        clean(aside, pathlib.Path(arguments.table))
    except OSError as error:
        sys.exit(f"{folder}: cannot make the folder: {error}")
    drawn = list(figures(s))
    for figure in drawn:
        save(figure, aside)
    links = "".join(f'<a href="#{name}">{html.escape(title)}</a>' for name, title in
                    [("table", "table"), *((f.name, f.title.lower()) for f in drawn), ("config", "configuration")])
    axes = ", ".join(f"{name} ({page.counted(len(s.values(name)), 'value')})" for name in s.axes)
    body = f"""<h1>A sweep over {html.escape(axes)}</h1>
<p>{page.counted(len(s.scheduler), 'row')}, a cell of the grid under a scheduler{f", seeds {s.seeds}" if s.seeds else ""}. {
    "In brackets 95% bootstrap intervals over the seeds; a" if s.several else "A"} ratio is of mean completion times
to the first scheduler of the same cell.{
    " Shaded: on the Pareto front." if s.front is not None else ""}</p>
<nav>{links}</nav>
{table(s)}
{"".join(page.picture(f, aside) for f in drawn)}
<h2 id="config">Configuration</h2>
<p>Made by berth, commit {html.escape(s.commit)}, as <code>berth sweep --config</code> reads it:</p>
<pre>{html.escape(s.config)}</pre>
"""
    (aside / "index.html").write_text(page.document("berth sweep", body))
    try:
        publish(aside, folder)
    except OSError as error:
        sys.exit(f"{folder}: cannot write: {error}")


if __name__ == "__main__":
    main()

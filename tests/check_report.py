"""Checks what the report draws of a result file against the simulator's own figures: check_report.py EVALUATION.h5.

The GPUs held of each type over time must come to the utilisation, and the jobs in the system to their mean; bars of one
lane of a GPU may not overlap; the columns of the table are its figures; a file of before is drawn with what it has. And, without the
file, the parts that figures share: looks, limits, shares and ratios, kinds of jobs, thinning, the best of a column.
"""
import argparse
import copy
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy

for folder in ("tools", "tools/report"):
    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / folder))
import cdf  # noqa: E402
import distributions  # noqa: E402
import gantt  # noqa: E402
import groups  # noqa: E402
import page  # noqa: E402
import plot_jct_cdf  # noqa: E402
import report  # noqa: E402
import series  # noqa: E402
import style  # noqa: E402
from evaluation_file import Evaluation, alike, text  # noqa: E402


def check_title():
    """Of what a generator drew its size; of a log its name: 12 and 2 x 8 GPUs by hand."""
    drawn = {"workload": "synthetic(rate=0.9,jobs=1000)", "scenario": "clock rounds(360), knowledge oracle, cluster v100=12,k80=8/4, 1000 jobs"}
    expect(plot_jct_cdf.title(drawn, 10) == "20 GPUs, 10 workloads of 1,000 jobs", f"title: {plot_jct_cdf.title(drawn, 10)}")
    log = {"workload": "/a/mine.h5", "scenario": "clock event, knowledge oracle, cluster h100=8/8, 200 jobs"}
    expect(plot_jct_cdf.title(log, 1) == "8 GPUs, 200 jobs of mine.h5", f"title: {plot_jct_cdf.title(log, 1)}")
    one = {"workload": "/a/mine.h5", "scenario": "clock event, knowledge oracle, cluster h100=1/1, 1 job"}
    expect(plot_jct_cdf.title(one, 1) == "1 GPU, 1 job of mine.h5", f"title: {plot_jct_cdf.title(one, 1)}")


def check_redraw():
    """The command is text, and a shell makes the names of it that were given."""
    for name in (b"d", b"d d", b"d\xff it's \\", "dé".encode()):
        arguments = argparse.Namespace(out=os.fsdecode(name), others=[], hours="0:1")
        command = report.redraw(arguments, "e.h5")
        expect(command.isprintable() and command.encode(), f"redraw: {command!r}")
        words = subprocess.run(["bash", "-c", f"printf '%s\\0' {command}"], capture_output=True, check=True).stdout.split(b"\0")
        expect(words[-4] == os.fsencode(pathlib.Path.cwd()) + b"/" + name, f"redraw: {command}, found {words}")


def close(found, expected, what):
    if not numpy.isclose(found, expected, rtol=1e-9, atol=0):
        sys.exit(f"{what}: expected {expected}, found {found}")


def expect(holds, what):
    if not holds:
        sys.exit(what)


def check_numbers():
    """A logarithmic axis has three numbers at least: over a decade, across a power of ten or between two."""
    for limits in ((0.0051, 0.022), (2.1, 7.0), (17.4, 17.6), (5.0, 60.0), (0.3, 700.0)):
        figure, axes = style.plt.subplots()
        axes.set_xscale("log")
        axes.set_xlim(*limits)
        style.plain_numbers(axes.xaxis)
        figure.draw_without_rendering()
        ticks = [*zip(axes.get_xticks(), axes.get_xticklabels()), *zip(axes.get_xticks(minor=True), axes.get_xticklabels(minor=True))]
        shown = [text.get_text() for at, text in ticks if limits[0] <= at <= limits[1] and text.get_text()]
        expect(len(shown) >= 3 and all(limits[0] <= float(text) <= limits[1] for text in shown), f"numbers of {limits}: {shown}")
        style.plt.close(figure)


def check_names():
    """A name with dollars is drawn as it is: as a formula this one could not be."""
    figure, axes = style.plt.subplots()
    style.legend_below(figure, ["policy(file=$_{$.h5)"], style.looks(["a"]))
    axes.set_title("a$_{$b")
    figure.draw_without_rendering()
    style.plt.close(figure)


def check_alike():
    """Curves that are one: each is drawn where the others of the group have gaps, and together without any."""
    rows = numpy.array([[1.0, numpy.nan], [2.0, 3.0], [1.0, numpy.nan], [2.0, 4.0], [1.0, numpy.nan], [2.0, 3.0], [2.0, 3.0]])
    groups = alike(rows)
    expect(groups == [[0, 2, 4], [1, 5, 6]], f"alike: {groups}")
    specs = ["a", "b", "c", "d", "e", "f", "policy(file=f)"]
    drawn, plain = style.looks(specs, groups), style.looks(specs)
    for members in ([0, 2, 4], [1, 5]):  # the policy, wide and pale, lies below
        at = numpy.arange(0.25, 40.0, 0.5)
        covers = []
        for offset, (on, off) in (drawn[k]["linestyle"] for k in members):
            expect(on + off <= style.PERIOD, f"alike: {on + off} line widths until colours come round")
            covers.append((at + offset) % (on + off) < on)
        expect((numpy.sum(covers, axis=0) == 1).all(), f"alike: {members} cover each other, or leave gaps")
        expect([drawn[k]["color"] for k in members] == [plain[k]["color"] for k in members], "alike: other colours")
    expect(drawn[3] == plain[3] and drawn[6] == plain[6], "alike: another look of who is not")


def check_hidden():
    """Of the eight that a round of colours has, and a learned one, none hides another where their curves are one for a while."""
    drawn = style.looks([f"classical{i}" for i in range(8)] + ["policy(file=p)"])
    for k, below in enumerate(drawn):
        for above in drawn[k + 1:]:
            below, above = (below, above) if below["zorder"] <= above["zorder"] else (above, below)
            narrower = below["linewidth"] - above["linewidth"] >= 1
            expect(narrower or above["linestyle"] != "-", f"looks: {above} hides {below}")
            expect(narrower or above["linestyle"] != below["linestyle"], f"looks: {above} hides {below}, gaps and all")


def check_cdf():
    """Four jobs of 1, 2, 4 and 8 h, and of who has none of the last: shares of 1/8, 3/8, 5/8 and 7/8 by hand."""
    shares = numpy.array([0.125, 0.375, 0.625, 0.875])
    values = numpy.array([[4.0, 1.0, 8.0, 2.0], [numpy.nan, 3.0, 1.0, 2.0], [1.1, 2.2, 4.4, 8.8], [100.0] * 4])
    expect(cdf.quantiles(values[0], shares).tolist() == [1, 2, 4, 8], f"quantiles: {cdf.quantiles(values[0], shares)}")
    expect(numpy.array_equal(cdf.quantiles(values[1], shares), [1, 2, 3, numpy.nan], equal_nan=True), "quantiles: of who lost one")
    expect(numpy.isnan(cdf.quantiles(values[1] * numpy.nan, shares)).all(), "quantiles: of nobody")
    expect(cdf.best(values) == 0, "best: the least mean of those that lost none")
    expect(cdf.best(values[1:2]) == 0 and cdf.best(values[[1, 3]]) == 1, "best: of those that lost some where there is no other")
    # What is always 1.1 times as much is in sight, well apart from 1, and what is 100 times as much does not press it together.
    low, high = cdf.ratio_limits([numpy.full(4, 1.1), values[3] / values[0]])
    expect(0.9 < low < 0.98 and 1.1 < high < 1.2, f"limits of ratios: {low}, {high}")
    low, high = cdf.ratio_limits([values[3] / values[0]])
    expect(low < 1 and high <= 3.0001, f"limits of ratios of who is far off: {low}, {high}")
    # The second panel has the ratios, at the shares; without a second curve there is none.
    figure, axes = cdf.draw(values[[0, 2]], ["a", "b"], style.looks(["a", "b"]), (1.0, 10.0), "h")
    ratio = axes[1].get_lines()[1].get_xdata()
    expect(numpy.allclose(ratio, 1.1) and len(ratio) == len(cdf.shares_of(4)), f"ratios: {ratio}")
    alone, only = cdf.draw(values[:1], ["a"], style.looks(["a"]), (1.0, 10.0), "h")
    expect(len(only) == 1, "ratios of one alone")
    expect(axes[1].get_title("left") == "below 1: less than the reference", "what a ratio below 1 means")
    expect(axes[1].get_ylabel() == "share of jobs", "the axis of shares has no name")
    style.plt.close(figure), style.plt.close(alone)


class Jobs(dict):
    schedulers = ["a"]


def check_groups():
    """Every measured job is in one group; few sizes are their own, many are ranges."""
    few, many = numpy.array([[1, 8, 2], [1, 1, 2]]), numpy.array([[1, 2, 3, 4, 5, 6, 7, 9, 16, 40, 300]])
    for gang, names in ((few, ["1 GPU", "2 GPUs", "8 GPUs"]),
                        (many, ["1 GPU", "2 GPUs", "3 to 4 GPUs", "5 to 8 GPUs", "9 to 16 GPUs", "33 to 300 GPUs"])):
        found = groups.by_gang(Jobs(gang=gang))
        expect([name for name, _ in found] == names, f"gangs: {found}")
        expect((sum(which.astype(int) for _, which in found) == 1).all(), f"gangs: not every job in one of {found}")
    expect(found[3][1].tolist() == [[False] * 4 + [True] * 3 + [False] * 4], "gangs: 5 to 8")
    tenant = numpy.array([[3, 3, 3, 0, 0, 1, 4, 5, 6, 7]])  # nobody is 2
    found = groups.by_tenant(Jobs(tenant=tenant, tenants=list("abcdefgh")))
    expect([name for name, _ in found] == ["d", "a", "b", "e", "f", "2 others"], f"tenants: {found}")
    expect((sum(which.astype(int) for _, which in found) == 1).all(), f"tenants: not every job in one of {found}")
    expect(groups.by_tenant(Jobs(tenant=tenant * 0, tenants=list("ab"))) == [], "tenants: one")
    # 2, 4 and 6 h of one gang and 8 h of another: their panels, the median 4 h in the first and 8 h in the second.
    e = Jobs(gang=numpy.array([[1, 1, 2, 1]]), jct_s=numpy.array([[[2.0, 4.0, 8.0, 6.0]]]) * 3600)
    figure = groups.draw(e, groups.by_gang(e))
    medians = [axes.get_lines()[2].get_xdata()[0] for axes in figure.axes if axes.get_visible()]
    expect(medians == [4.0, 8.0], f"medians by gang: {medians}")
    style.plt.close(figure)


def check_tails():
    """Of four jobs two have slowdowns, 2 and 4: all are at or above 2, three above it, and the two without stay at or above everything;
    who ends all leaves the axis."""
    e = Jobs(wait_s=numpy.full((2, 1, 4), 7200.0))
    e.schedulers, e.alike = ["a", "b"], []
    e.slowdown = lambda: numpy.array([[[4.0, numpy.nan, 2.0, numpy.nan]], [[1.0, 1.0, 2.0, 2.0]]])
    figure = distributions.tails(e)
    axes = figure.axes[0]
    starved, other = (line.get_xydata().tolist() for line in axes.get_lines())
    expect(starved == [[1.0, 1.0], [2.0, 1.0], [4.0, 0.75], [axes.get_xlim()[1], 0.5]], f"tails: {starved}")
    expect(other[-1][1] < axes.get_ylim()[0], f"tails: {other}")
    style.plt.close(figure)


def check_load():
    """Three loads, of which one is unknown and is named, and one has no interval: the band is where two beside each other have one."""
    def at(rate, mean, low, high, path):
        e = Jobs(arrivals_per_h=numpy.full(2, rate), mean_jct_s=numpy.full((1, 2), mean), mean_jct_ci95_s=numpy.array([[low, high]]))
        e.path = path
        return e

    nan = numpy.nan
    loads = [at(3.0, 9e3, 8e3, 10e3, "c"), at(nan, 1e3, 1e3, 1e3, "x/burst.h5"), at(1.0, 3e3, nan, nan, "a"), at(4.0, 9e3, 8e3, 1e4, "d")]
    for some, bands, bars in ((loads, 1, 0), (loads[:3], 0, 1)):
        figure = distributions.jct_load(some)
        axes = figure.axes[0]
        curve, *alone = axes.get_lines()
        expect(curve.get_xdata().tolist() == [1.0, 3.0, 4.0][:len(some) - 1], f"loads: {curve.get_xdata()}")
        expect("burst.h5" in axes.get_xlabel() and "c" not in axes.get_xlabel().rpartition(": ")[2], f"loads: {axes.get_xlabel()}")
        wide = [path for band in axes.collections for path in band.get_paths() if path.get_extents().width > 0]
        expect((len(wide), len(alone)) == (bands, bars), f"loads: {len(wide)} bands, {len(alone)} bars")
        style.plt.close(figure)


def check_lost():
    """Of three jobs in two workloads: some finish in each, in one alone, or none."""
    nan = numpy.nan
    for unfinished, mean, says in ((1, 5.0, "its figures are over the others, open_at_end over all"),
                                   (2, nan, "it has no figures of jobs, since none finished in a workload"), (3, nan, "it has no figures of jobs")):
        found = page.lost_jobs("a<b", unfinished, 3, mean)
        expect(found == f"<p>a&lt;b: {unfinished} of 3 measured jobs did not finish; {says}.</p>\n", f"lost: {found}")


def check_part():
    """Spans of 2 GPUs in 0-10, 10-20, 20-30 and 30-40 s and an outage in all of it, by hand: a page of 8 bars around 10-20 s has no room
    for the last one, of 4 for what is there alone; what is there at once is shown, however much it is."""
    e = {"recording/spans/begin_s": numpy.arange(0.0, 40.0, 10.0), "recording/spans/end_s": numpy.arange(10.0, 50.0, 10.0),
         "recording/spans/devices_count": numpy.full(4, 2), "recording/outages/begin_s": numpy.zeros(1),
         "recording/outages/end_s": numpy.full(1, 40.0), "recording/outages/device": numpy.zeros(1, int),
         "recording/end_s": numpy.array([40.0])}
    for most, part in ((9, None), (8, (0.0, 30.0)), (4, (10.0, 20.0)), (2, (10.0, 11.0))):
        found = gantt.part_that_fits(e, 10.0, 20.0, most)
        expect(found == part, f"part of {most} bars: expected {part}, found {found}")
    expect(gantt.part_that_fits(e, 100.0, 200.0, 4) == (30.0, 40.0), "part of a range behind the end")


def check_page(e):
    """A page has the whole run, whatever part of it is shown at first, or says which part it has; texts of the file are no HTML."""
    bars = sum(len(gantt.rectangles(e, k)) for k in range(len(e.schedulers)))
    whole = gantt.page_data(e, (3600.0, 7200.0))
    expect(sum(map(len, whole["runs"])) == bars and not whole["cut"] and whole["shown"] == [3600.0, 7200.0], "page: not the whole run")
    some = gantt.page_data(e, (3600.0, 7200.0), bars // 2)
    begin, end = some["part"]
    expect(0 < sum(map(len, some["runs"])) <= bars // 2 and some["cut"], f"page: {sum(map(len, some['runs']))} bars of {bars // 2}")
    expect(f"which has hours {begin / 3600:,.2f} to {end / 3600:,.2f}" in page.chart(some, []), "page: does not say which part it has")
    odd = copy.copy(e)
    odd.data = {**e.data, "knowledge": ["<b>"] * len(e.schedulers)}
    odd.about = {**e.about, "window": "<b>"}
    with tempfile.TemporaryDirectory() as folder:
        page.write(odd, [], [], None, pathlib.Path(folder), "")
        expect("<b>" not in (pathlib.Path(folder) / "index.html").read_text(), "page: a text of the file is HTML")


def check_older(e):
    """A file of a version that wrote less is read, and what it has is drawn."""
    older = copy.copy(e)
    newer = ("gang", "tenant", "tenants", "ftf", "table", "recording/absences", "recording/outages/why", "recording/outages/end",
             "recording/spans/marks", "recording/mark_names")
    older.data = {name: value for name, value in e.data.items() if not any(f"{name}/".startswith(f"{new}/") for new in newer)}
    names = [figure.name for figure in report.figures(older, [])]
    expect("jct_cdf" in names and not {"ftf_cdf", "jct_by_gang", "jct_by_tenant"} & set(names), f"older: {names}")
    expect("p50 h" in page.table(older), "older: a table")
    expect(all(bar[5] >= -1 for k in range(len(e.schedulers)) for bar in gantt.rectangles(older, k)), "older: bars")
    data = gantt.page_data(older, (0.0, 3600.0))
    expect("out of service" in data["shades"], "older: what is grey")
    expect(data["marks"] == [] and all(len(bar) < 8 for run in data["runs"] for bar in run), "older: marks")


def check_table(e):
    """The columns are the figures of all workloads."""
    expect("ftf_cdf" in [figure.name for figure in report.figures(e, [])], "no figure of fairness")
    for key, name, _, cells in page.chosen(e):
        unit = e["table/units"][e["table/keys"].index(key)]
        for k, spec in enumerate(e.schedulers):
            if numpy.isfinite(cells[k]):
                expect(numpy.isclose(cells[k] * unit, e.metric(key)[k], rtol=1e-9, atol=1e-12), f"{spec}: {name}: {cells[k]}")


def check_parts():
    expect(text(b"caf\xe9") == "caf\ufffd", "a text that is no UTF-8")
    specs = [f"classical{i}" for i in range(32)] + [f"policy(file={i})" for i in range(8)]
    looks = {tuple((name, str(value)) for name, value in sorted(look.items())) for look in style.looks(specs)}
    expect(len(looks) == len(specs), f"looks: expected {len(specs)} different ones, found {len(looks)}")
    # 20 s is 0.0056 h: the limits of a logarithmic axis are positive, in order and beyond the values, by 4% of the axis:
    # 1 to 10 is a decade, 10^0.04 = 1.09648.
    for values, limits in (([1.0, 10.0], (1 / 1.09648, 10.9648)), ([numpy.nan, 0.0, 2.0], (1.0, 4.0)), ([numpy.nan], (0.1, 10.0))):
        expect(numpy.allclose(style.log_limits(numpy.array(values)), limits, rtol=1e-5), f"limits of {values}: expected {limits}")
    low, high = style.log_limits(numpy.array([0.0056, 0.02]))
    expect(0 < low < 0.0056 and 0.02 < high, "limits of 20 s and 72 s")
    # A single job of two, of 3 h, on an axis of 1 to 9 h: none until 3 h, then half, to the end of the axis.
    x, y = style.cumulative(numpy.array([numpy.nan, 3.0]), 2, (1.0, 9.0))
    expect((x.tolist(), y.tolist()) == ([1.0, 3.0, 9.0], [0.0, 0.5, 0.5]), f"cumulative: {x}, {y}")
    check_numbers()
    check_names()
    check_alike()
    check_hidden()
    check_cdf()
    check_title()
    check_redraw()
    check_groups()
    check_tails()
    check_load()
    check_part()
    check_lost()
    # 60,000 steps in 1,500 bins: one spike up, one down; every bin keeps its least and its largest.
    random = numpy.random.default_rng(0)
    time, jobs = numpy.sort(random.random(60000)), random.integers(0, 50, 60000)
    jobs[31234], jobs[77] = 999, -5
    kept_time, kept = series.thinned(time, jobs, 0.0, 1.0)
    expect(len(kept) <= 4 * 1500 and (numpy.diff(kept_time) >= 0).all(), f"thinned: {len(kept)} steps, or not in order")
    for b in range(1500):
        of, kept_of = jobs[(time * 1500).astype(int) == b], kept[(kept_time * 1500).astype(int) == b]
        expect((of.min(), of.max(), of[0], of[-1]) == (kept_of.min(), kept_of.max(), kept_of[0], kept_of[-1]), f"thinned: bin {b}")
    expect((page.counted(1, "value"), page.counted(2, "value")) == ("1 value", "2 values"), "counted")
    # Who left a job unfinished, or has no figure, is never the best.
    expect(page.best(numpy.array([0.0, 1.0, 2.0]), True, numpy.array([False, True, True])) == 1, "best: of those that finished")
    expect(page.best(numpy.array([numpy.nan, 3.0, 2.0]), False, numpy.array([True] * 3)) == 1, "best: of known figures")
    expect(page.best(numpy.array([numpy.nan, 1.0]), True, numpy.array([True, True])) is None, "best: of one alone")


def main(path):
    check_parts()
    e = Evaluation(path)
    check_table(e)
    check_page(e)
    check_older(e)
    counts = e["recording/type_counts"]
    for k, spec in enumerate(e.schedulers):
        end = e["recording/end_s"][k]
        shares = series.busy_by_type(e, k, numpy.linspace(0, end, 38)).mean(axis=1)
        bars = gantt.rectangles(e, k)
        replicas = sum(until - begin for _, _, _, begin, until, job, *_ in bars if job == -2)  # the metric has them too, by use
        if replicas == 0:
            close((shares * counts).sum() / counts.sum(), e["metrics/utilization"][k, 0], f"{spec}: utilisation")
        else:
            close(replicas / 3600, e["metrics/service_gpu_hours"][k, 0], f"{spec}: GPU-hours of replicas")
        mine = e["recording/jobs_in_system/scheduler"] == k
        time, jobs = series.steps(e["recording/jobs_in_system/time_s"][mine], e["recording/jobs_in_system/change"][mine])
        held = (jobs * numpy.diff(numpy.append(time, end))).sum() / end
        close(held, e["metrics/mean_jobs_in_system"][k, 0], f"{spec}: mean jobs in system")
        free = {}
        for device, lane, of, begin, until, *_ in bars:
            if not 0 <= lane < of or begin < free.get((device, lane), 0.0):
                sys.exit(f"{spec}: GPU {device}: lane {lane} of {of} is taken at {begin} s")
            free[device, lane] = until


if __name__ == "__main__":
    main(sys.argv[1])

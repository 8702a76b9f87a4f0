"""Checks what the report draws of a result file against the simulator's own figures: check_report.py EVALUATION.h5.

The GPUs held of each type over time must come to the utilisation, and the jobs in the system to their mean; bars of one
lane of a GPU may not overlap. And, without the file, the parts that figures share: looks, limits, thinning, the best of a column.
"""
import pathlib
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tools/report"))
import gantt  # noqa: E402
import page  # noqa: E402
import series  # noqa: E402
import style  # noqa: E402
from evaluation_file import Evaluation, alike  # noqa: E402


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


def check_parts():
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
    check_alike()
    # 60,000 steps in 1,500 bins: one spike up, one down; every bin keeps its least and its largest.
    random = numpy.random.default_rng(0)
    time, jobs = numpy.sort(random.random(60000)), random.integers(0, 50, 60000)
    jobs[31234], jobs[77] = 999, -5
    kept_time, kept = series.thinned(time, jobs, 0.0, 1.0)
    expect(len(kept) <= 4 * 1500 and (numpy.diff(kept_time) >= 0).all(), f"thinned: {len(kept)} steps, or not in order")
    for b in range(1500):
        of, kept_of = jobs[(time * 1500).astype(int) == b], kept[(kept_time * 1500).astype(int) == b]
        expect((of.min(), of.max(), of[0], of[-1]) == (kept_of.min(), kept_of.max(), kept_of[0], kept_of[-1]), f"thinned: bin {b}")
    # Who left a job unfinished, or has no figure, is never the best.
    expect(page.best(numpy.array([0.0, 1.0, 2.0]), True, numpy.array([False, True, True])) == 1, "best: of those that finished")
    expect(page.best(numpy.array([numpy.nan, 3.0, 2.0]), False, numpy.array([True] * 3)) == 1, "best: of known figures")
    expect(page.best(numpy.array([numpy.nan, 1.0]), True, numpy.array([True, True])) is None, "best: of one alone")


def main(path):
    check_parts()
    e = Evaluation(path)
    counts = e["recording/type_counts"]
    for k, spec in enumerate(e.schedulers):
        end = e["recording/end_s"][k]
        shares = series.busy_by_type(e, k, numpy.linspace(0, end, 38)).mean(axis=1)
        close((shares * counts).sum() / counts.sum(), e["metrics/utilization"][k, 0], f"{spec}: utilisation")
        mine = e["recording/jobs_in_system/scheduler"] == k
        time, jobs = series.steps(e["recording/jobs_in_system/time_s"][mine], e["recording/jobs_in_system/change"][mine])
        held = (jobs * numpy.diff(numpy.append(time, end))).sum() / end
        close(held, e["metrics/mean_jobs_in_system"][k, 0], f"{spec}: mean jobs in system")
        free = {}
        for device, lane, of, begin, until, _, _ in gantt.rectangles(e, k)[0]:
            if not 0 <= lane < of or begin < free.get((device, lane), 0.0):
                sys.exit(f"{spec}: GPU {device}: lane {lane} of {of} is taken at {begin} s")
            free[device, lane] = until


if __name__ == "__main__":
    main(sys.argv[1])

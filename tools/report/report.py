"""Draws the report of a berth evaluation: index.html, and every figure as SVG and PNG.

usage: report.py EVALUATION.h5 --out DIR [--with OTHER.h5 ...] [--hours A:B]
"""
import argparse
import dataclasses
import os
import pathlib
import shlex
import shutil
import signal
import sys

import distributions
import gantt
import groups
import page
import series
from evaluation_file import Evaluation
from style import labels, plt


@dataclasses.dataclass
class Figure:
    name: str  # of the files
    title: str
    about: str
    draw: object  # () -> matplotlib figure


def figures(e, others):
    n = len(e["seeds"])
    yield Figure("mean_jct", "Mean job completion time", f"Over {n} workload{'s' if n > 1 else ''}.", lambda: distributions.mean_jct(e))
    yield Figure("jct_cdf", "Job completion times", "Of all measured jobs of all workloads. On the right, at each share of jobs, how "
                 "many times the value of the scheduler with the least mean: there curves stand apart that lie together on the left.",
                 lambda: distributions.jct_cdf(e))
    if others:
        yield Figure("jct_load", "Completion time against load", "A point an evaluation; bands are 95% intervals.",
                     lambda: distributions.jct_load([e, *others]))
    for name, kind, found in (("jct_by_gang", "gang size", groups.by_gang(e)), ("jct_by_tenant", "tenant", groups.by_tenant(e))):
        if len(found) > 1:
            yield Figure(name, f"Completion times by {kind}", "Of the measured jobs of all workloads that finished.",
                         lambda found=found: groups.draw(e, found))
    yield Figure("tails", "Tails", "The share of measured jobs that fare at least as badly: whom a scheduler starves shows to the "
                 "right, and who never ends, or never starts, at the right edge.",
                 lambda: distributions.tails(e))
    yield Figure("fairness", "Fairness", "ρ is a job's completion time over what an isolated equal share would give it; small dots "
                 "are workloads, large ones what the table says.",
                 lambda: distributions.fairness(e))
    if "ftf" in e:
        yield Figure("ftf_cdf", "Fairness job by job", "ρ of every measured job of all workloads: 1 is what an isolated equal share "
                     "would give it, above 1 it fares worse. On the right as for completion times.", lambda: distributions.ftf_cdf(e))
    yield Figure("slowdown", "Slowdown over time", "Of the measured jobs by when they arrive, all workloads.", lambda: series.slowdown(e))
    if e.recorded:
        yield Figure("queue", "Queue over time", "The first workload.", lambda: series.queue(e))
        yield Figure("utilisation", "Utilisation by type", "The first workload: GPUs that jobs hold, one that several share counted once.",
                     lambda: series.utilisation(e))
        yield Figure("decision_times", "Decision times", "Wall clock of every decision of all workloads, on the machine that ran them.",
                     lambda: distributions.decision_times(e))


def charts(e, begin_s, end_s):
    for k, name in enumerate(labels(e.schedulers)):
        yield Figure(f"gantt_{k}", name, "", lambda k=k: gantt.figure(e, k, begin_s, end_s))


def save(figure, folder):
    drawn = figure.draw()
    drawn.draw_without_rendering()  # lays it out, which is a third of the work: once for both files
    drawn.set_layout_engine("none")
    for kind, metadata in (("svg", {"Date": None}), ("png", {})):
        try:
            drawn.savefig(folder / f"{figure.name}.{kind}", metadata=metadata)
        except OSError as error:
            sys.exit(f"{folder}: cannot write: {error}")
    plt.close(drawn)


def hours(text):
    try:
        begin, end = (float(part) * 3600 for part in text.split(":"))
        if not 0 <= begin < end:
            raise ValueError
    except ValueError:
        sys.exit(f"--hours: expected A:B with 0 <= A < B, found {text!r}")
    return begin, end


def for_shell(word):
    """Quoted where a shell needs it. What is no UTF-8, such as a folder's name, is spelt as bash reads it, for a page is text."""
    try:
        word.encode()
        return shlex.quote(word)
    except UnicodeEncodeError:
        spelt = (chr(byte) if 32 <= byte < 127 and byte not in b"\\'" else f"\\{byte:03o}" for byte in os.fsencode(word))
        return f"$'{''.join(spelt)}'"


def redraw(arguments, evaluation):
    """What to type to draw this page again, from any folder of this machine."""
    path = lambda name: str(pathlib.Path(name).resolve())  # noqa: E731
    words = [sys.executable, path(__file__), path(evaluation), "--out", path(arguments.out)]
    for other in arguments.others:
        words += ["--with", path(other)]
    return " ".join(map(for_shell, words + (["--hours", arguments.hours] if arguments.hours else [])))


def clean(aside, evaluation):
    """An empty folder, but for the evaluation where berth evaluate put it there: it becomes part of the report."""
    aside.mkdir(parents=True, exist_ok=True)
    for left in aside.iterdir():
        if left.is_dir():
            shutil.rmtree(left)
        elif not left.samefile(evaluation):
            left.unlink()


def publish(aside, folder):
    """All that was drawn takes its place at once, the page last. Ctrl-C waits: it would leave a mix of two reports."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for file in sorted(aside.iterdir(), key=lambda file: (file.name == "index.html", file.name)):
        file.replace(folder / file.name)
    aside.rmdir()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("evaluation")
    parser.add_argument("--out", required=True, help="folder of the page and the figures")
    parser.add_argument("--with", dest="others", action="append", default=[], help="an evaluation at another load; may be repeated")
    parser.add_argument("--hours", help="A:B, what the Gantt charts show of the first workload (the page at first)")
    arguments = parser.parse_args()
    e, others = Evaluation(arguments.evaluation), [Evaluation(path) for path in arguments.others]
    for other in others:
        if other.setting != e.setting:
            sys.exit(f"--with {other.path}: expected an evaluation at another load and otherwise like {e.path} ({e.setting}), found {other.setting}")
    folder, evaluation = pathlib.Path(arguments.out), pathlib.Path(arguments.evaluation)
    aside = folder / ".new"  # until all is drawn, so that an older report stays whole when this is interrupted
    try:
        clean(aside, evaluation)
    except OSError as error:
        sys.exit(f"{folder}: cannot make the folder: {error}")
    if aside.samefile(evaluation.parent):
        evaluation = folder / evaluation.name
    data, drawn_charts = None, []
    if e.recorded:
        shown = hours(arguments.hours) if arguments.hours else gantt.default_range(e)
        data = gantt.page_data(e, shown)
        drawn_charts = list(charts(e, *shown))
    drawn = list(figures(e, others))
    for figure in [*drawn, *drawn_charts]:
        save(figure, aside)
    page.write(e, drawn, drawn_charts, data, aside, redraw(arguments, evaluation))
    try:
        publish(aside, folder)
    except OSError as error:
        sys.exit(f"{folder}: cannot write: {error}")


if __name__ == "__main__":
    main()

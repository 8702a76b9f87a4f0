"""The page: one file that needs no network. Figures stand in it as data, so that it can be sent around alone: nothing leads out of it."""
import base64
import html
import json
import pathlib

import numpy as np
from style import labels

HERE = pathlib.Path(__file__).parent

# Of a file that does not say what its table shows: key of metrics/, heading, what a cell is the figure over, decimals.
COLUMNS = [
    ("p50_jct_s", "p50 h", 3600, 2), ("p99_jct_s", "p99 h", 3600, 2), ("mean_slowdown", "slowdown", 1, 2),
    ("p99_wait_s", "p99 wait h", 3600, 2), ("max_wait_s", "max wait h", 3600, 2), ("utilization", "util %", 0.01, 1),
    ("makespan_s", "makespan h", 3600, 2), ("backlog_jobs", "backlog", 1, 0), ("open_at_end", "open %", 0.01, 1),
    ("max_ftf", "max rho", 1, 2), ("jain", "Jain", 1, 3), ("preemptions_per_job", "preemptions", 1, 2), ("cost", "cost", 1, 0),
    ("energy_kwh", "energy kWh", 1, 0),
]
# Figures of which the least is the best, and those of which the largest is; of the others it is a matter of taste.
SMALLER = {"p50_jct_s", "p95_jct_s", "p99_jct_s", "max_jct_s", "mean_slowdown", "p99_slowdown", "mean_wait_s", "p99_wait_s", "max_wait_s",
           "makespan_s", "mean_ftf", "max_ftf", "deadline_miss_rate", "lost_work_h", "service_p50_s", "service_p95_s", "service_p99_s"}
LARGER = {"jain", "service_goodput_per_s", "service_attainment"}
# Of the configuration, what a repetition should not write over; --report-with is of no use without --report.
OUTPUTS = {"out", "csv", "report", "report-with", "timeline"}


def audited(config):
    """What the page says of --audit."""
    return ", every run audited" if "audit=true" in config.splitlines() else ", runs not audited (--audit)"


def counted(number, what):
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def fixed(value, digits):
    return "-" if np.isnan(value) else f"{value:.{digits}f}"


def best(values, smaller, complete):
    """Row of the best value among those of schedulers that finished every job: means over fewer jobs are no contest."""
    known = np.flatnonzero(complete & np.isfinite(values))
    if not known.size or np.ptp(values[known]) == 0:
        return None
    return known[values[known].argmin() if smaller else values[known].argmax()]


def with_interval(mean, low, high, digits):
    shown = fixed(mean, digits)
    return shown if not np.isfinite(low) else f"{shown} [{low:.{digits}f}, {high:.{digits}f}]"


def chosen(e):
    """(key, heading, decimals, cells [K]) of the columns that berth evaluate --metrics asked for."""
    if "table/keys" not in e:
        return [(key, name, digits, e.metric(key) / unit) for key, name, unit, digits in COLUMNS if f"metrics/{key}" in e]
    return list(zip(e["table/keys"], e["table/titles"], e["table/decimals"], (e["table/values"] / e["table/units"]).T))


def table(e):
    """Rows of (text, is it the best of its column)."""
    means, several, complete = e["mean_jct_s"].mean(axis=1), len(e["seeds"]) > 1, e.unfinished == 0
    suffix = " [95%]" if several else ""
    columns = [("mean JCT h" + suffix, [with_interval(m / 3600, *(ci / 3600), 2) + "†" * late
                                        for m, ci, late in zip(means, e["mean_jct_ci95_s"], unstable(e))], best(means, True, complete))]
    ratios = e["jct_ratio"] if several else np.stack([means / means[0], *np.full((2, len(means)), np.nan)], axis=1)
    columns.append(("ratio" + suffix, [with_interval(*r, 3) for r in ratios], None))
    for key, name, digits, values in chosen(e):
        winner = best(values, key in SMALLER, complete) if key in SMALLER | LARGER else None
        columns.append((name, [fixed(v, digits) for v in values], winner))
    if "decision_us/mean" in e:
        columns.append(("decision µs", [f"{v:.2f}" for v in e["decision_us/mean"]], None))
    head = "".join(f"<th>{html.escape(name)}</th>" for name, _, _ in [("scheduler",) * 3, ("knowledge",) * 3, *columns])
    rows = ""
    for k, spec in enumerate(e.schedulers):
        cells = f'<td title="{html.escape(spec)}">{html.escape(labels(e.schedulers)[k])}</td><td>{html.escape(e["knowledge"][k])}</td>'
        cells += "".join(f'<td{" class=best" if winner == k else ""}>{values[k]}</td>' for _, values, winner in columns)
        rows += f"<tr>{cells}</tr>\n"
    return f'<div class="wide"><table id="table"><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table></div>'


def unstable(e):
    """[K] Does the cluster not keep up?"""
    return [bool(u) for u in e["unstable"]] if "unstable" in e else [False] * len(e.schedulers)


def overloaded(e):
    return ("<p>†: the cluster does not keep up under this scheduler: late work grew by more than 5% of the work that arrived, "
            "or nobody can tell, since a run ended before its last measured job arrived; so its means depend on which jobs are measured "
            "and are not to be averaged or compared.</p>" if any(unstable(e)) else "")


def lost_jobs(name, unfinished, measured, mean):
    """Means are over the other jobs; they are NaN where a workload has none."""
    figures = ("it has no figures of jobs" if unfinished == measured else
               "it has no figures of jobs, since none finished in a workload" if np.isnan(mean) else
               "its figures are over the others, open_at_end over all")
    return f"<p>{html.escape(name)}: {unfinished} of {measured} measured jobs did not finish; {figures}.</p>\n"


def lost(e):
    total = e["jct_s"][0].size
    return "".join(lost_jobs(spec, n, total, mean) for spec, n, mean in zip(e.schedulers, e.unfinished, e["mean_jct_s"].mean(axis=1)) if n)


def alike(e):
    """Whose curves are one."""
    return "".join(f"<p class=\"note\">{html.escape(', '.join(labels(e.schedulers)[k] for k in group))}: every measured job fares the "
                   "same, and their curves are one line of alternating colours.</p>" for group in e.alike)


def save(name, kind):
    return f'<button data-save="{name}.{kind}">{kind}</button>'


def picture(figure, folder):
    svg = base64.b64encode((folder / f"{figure.name}.svg").read_bytes()).decode()
    return (f'<h2 id="{figure.name}">{html.escape(figure.title)}</h2>\n<p>{html.escape(figure.about)}</p>\n<figure>'
            f'<img id="picture-{figure.name}" alt="{html.escape(figure.title)}" src="data:image/svg+xml;base64,{svg}">'
            f'<figcaption>save as {save(figure.name, "svg")} {save(figure.name, "png")}</figcaption></figure>\n')


def chart(data, figures):
    notes = []
    if data["cut"]:
        begin, end = (f"{seconds / 3600:,.2f}" for seconds in data["part"])
        notes.append(f"The run does not fit on the page, which has hours {begin} to {end}: tools/report/report.py --hours A:B draws "
                     "another part.")
    if any(data["unseen"]):
        notes.append(f"Of {sum(data['unseen'])} gangs that ran between two decisions only the first GPU is known.")
    names = ", ".join(f"{f.name} is {html.escape(f.title)}" for f in figures)
    script = (HERE / "gantt.js").read_text()
    blob = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return f"""<h2 id="gantt-chart">Who held which GPU</h2>
<p>The first workload: a row a GPU, a colour a job, {html.escape(data["shades"])}. The wheel zooms, dragging moves, hovering says what a
bar is. {" ".join(notes)}</p>
<div class="controls"><select id="who" aria-label="scheduler"></select> from <input id="from" type="number" step="any" aria-label="from, hours">
to <input id="to" type="number" step="any" aria-label="to, hours"> hours <button id="measured">arrivals of the measured jobs</button>
<button id="all">whole run</button> save as {save("gantt", "png")}</div>
<div><canvas id="gantt"></canvas></div><div id="marks"></div><div id="tip" hidden></div>
<p class="note">Of the files beside the page, where it was made: {names}.</p>
<script>const GANTT = {blob};
{script}</script>
"""


def rerunnable(config):
    return "\n".join(line for line in config.splitlines() if line.split("=")[0] not in OUTPUTS) + "\n"


def document(title, body):
    """A whole page, with its looks and the buttons that save figures."""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<link rel="icon" href="data:,"><style>{(HERE / "page.css").read_text()}</style></head>
<body>
{body}<script>{(HERE / "save.js").read_text()}</script>
</body></html>
"""


def write(e, figures, charts, gantt, folder, redraw):
    about = e.about
    links = "".join(f'<a href="#{name}">{html.escape(title)}</a>' for name, title in
                    [("table", "table"), *([("gantt-chart", "who held which GPU")] if gantt else []),
                     *((f.name, f.title.lower()) for f in figures), ("config", "configuration")])
    seeds = e["seeds"]
    averaged = (f"Means over {len(seeds)} workloads; maxima over all. Brackets are 95% bootstrap intervals over workloads, which ratios pair. A"
                if len(seeds) > 1 else "Of one workload, so without intervals. A")
    drawn = f", seeds {seeds[0]}:{seeds[-1] + 1}" if len(seeds) > 1 else ""
    body = f"""<h1>{counted(len(e.schedulers), 'scheduler')} on the same workloads</h1>
<p>{html.escape(about["workload"])}{drawn}; measured jobs {html.escape(about["window"])}. {html.escape(about["scenario"])}, semantics
{html.escape(about["semantics"])}.</p>
<nav>{links}</nav>
<p class="note">All pictures are part of this page, and are saved from it; where it was made each lies beside it as .svg and .png, and so does
the result file, evaluation.h5.</p>
{table(e)}
<p class="note">{averaged} ratio is of mean job completion times to the first row. Bold: the best of a column
among those that finished every job. <em>knowledge</em> is
what a scheduler uses of a job's future: compare rows of the same knowledge. Every figure is defined in env/sim/metrics.hpp.</p>
{overloaded(e)}{lost(e)}{alike(e)}{chart(gantt, charts) if gantt else ""}
{"".join(picture(f, folder) for f in figures)}
<h2 id="config">Configuration</h2>
<p>Made by berth, commit {html.escape(about["source_commit"])}{audited(about["config"])}:</p>
<pre id="command">{html.escape(about["command"])}</pre>
<p>Resolved, as <code>berth evaluate --config</code> reads it (where it wrote to is left out):</p>
<pre id="resolved">{html.escape(rerunnable(about["config"]))}</pre>
<p>Redraw from the result file, or with your own script (its layout: tools/evaluation_file.hpp):</p>
<pre id="redraw">{html.escape(redraw)}</pre>
"""
    (folder / "index.html").write_text(document("berth evaluate", body))

"""Who held which GPU when, of the first workload: data for the page, and figures."""
import textwrap

import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.patches import Patch
from style import labels, plt

MOST_BARS = 200_000  # on one page, of all schedulers: about 6 MB
GOLDEN = 137.508  # degrees: successive jobs get hues far apart
# Of what is no job, in the order of recording/absences: its colour, and when that is.
ABSENCES = [("#404040", "dark where a GPU is out of service"), ("#a9b8c6", "blue-grey where a service's replica has it"),
            ("#e2e2e2", "pale where its GPU has other slices")]
# Of the bits of recording/spans/marks, least first: the hatch over the bar, None = a wedge at its begin, and what it says.
MARKS = [("/////", "resized: on fewer or more GPUs than its gang"), ("....", "packed: beside another job for some of the time"),
         ("|||||", "on a slice of a GPU, or a share"), (None, "moved there from another type or other nodes")]
DARK = (0.0, 0.0, 0.0, 0.6)


def lanes(devices, begin, end):
    """Lane of each interval among those that overlap it on its device, and lanes of each device. Sorted by device, begin."""
    lane, most, free = np.zeros(len(devices), int), {}, []
    for i, device in enumerate(devices):
        if i == 0 or device != devices[i - 1]:
            free = []
        slot = next((s for s, until in enumerate(free) if until <= begin[i]), len(free))
        free[slot:slot + 1] = [end[i]]
        lane[i] = slot
        most[device] = max(most.get(device, 1), slot + 1)
    return lane, most


def rectangles(e, k, begin_s=0.0, end_s=np.inf):
    """Bars of scheduler k: (device, lane, lanes of the device, begin, end, job, how it ended, MARKS); job -1, -2, ... = ABSENCES."""
    spans = {name: e["recording/spans/" + name] for name in ("scheduler", "job", "begin_s", "end_s", "devices_begin", "devices_count", "end")}
    marks = e["recording/spans/marks"] if "recording/spans/marks" in e else np.zeros(len(spans["job"]), int)  # an older file
    rows = []
    for i in np.flatnonzero((spans["scheduler"] == k) & (spans["end_s"] > begin_s) & (spans["begin_s"] < end_s)):
        first = spans["devices_begin"][i]
        for device in e["recording/devices"][first:first + spans["devices_count"][i]]:
            rows.append((int(device), float(spans["begin_s"][i]), float(spans["end_s"][i]), int(spans["job"][i]), int(spans["end"][i]), int(marks[i])))
    out = {name: e["recording/outages/" + name] for name in ("scheduler", "device", "begin_s", "end_s")}
    older = np.zeros(len(out["device"]), int)
    why, how = (e[name] if name in e else older for name in ("recording/outages/why", "recording/outages/end"))
    for i in np.flatnonzero((out["scheduler"] == k) & (out["end_s"] > begin_s) & (out["begin_s"] < end_s)):
        rows.append((int(out["device"][i]), float(out["begin_s"][i]), float(out["end_s"][i]), -1 - int(why[i]), int(how[i]), 0))
    rows.sort()
    lane, most_lanes = lanes([r[0] for r in rows], [r[1] for r in rows], [r[2] for r in rows])
    return [(r[0], int(lane[i]), most_lanes[r[0]], *r[1:]) for i, r in enumerate(rows)]


def part_that_fits(e, begin_s, end_s, most=MOST_BARS):
    """From when to when all bars of all schedulers are `most` at most: a range around the one given, or of that the begin. None = the
    whole run."""
    begin, end = (np.concatenate([e[f"recording/{kind}/{name}"] for kind in ("spans", "outages")]) for name in ("begin_s", "end_s"))
    bars = np.concatenate([e["recording/spans/devices_count"], np.ones(len(e["recording/outages/device"]), int)])
    if bars.sum() <= most:
        return None
    # Up to 0 what the range has, by its begin; above it how far away the others are.
    away = np.where((end > begin_s) & (begin < end_s), np.maximum(begin, begin_s) - end_s, np.maximum(begin - end_s, begin_s - end))
    order = np.argsort(away, kind="stable")
    last = away[order][np.searchsorted(np.cumsum(bars[order]), most, side="right")]  # the first that does not fit
    run_s = float(e["recording/end_s"].max())
    # All that is there at one instant may alone be more than that; something is to be seen.
    first = max(min(begin_s - max(last, 0.0), run_s - 1.0), 0.0)
    return first, max(min(end_s + last, run_s), first + 1.0)


def absences(e):
    """What bars without a job mean, in words; of an old file, or without any, that they are out of service."""
    seen = sorted({*(int(why) for why in e["recording/outages/why"])} if "recording/outages/why" in e else ()) or [0]
    return ", ".join(ABSENCES[why][1] for why in seen)


def tenths(seconds):
    """Seconds to a tenth, as short as JSON can say it."""
    rounded = round(seconds, 1)
    return int(rounded) if rounded == int(rounded) else rounded


def page_data(e, shown, most=MOST_BARS):
    """What gantt.js draws: the whole run, `shown` of it at first; where it does not fit on the page, a `part` of it around that."""
    part, runs = part_that_fits(e, *shown, most), []
    for k in range(len(e.schedulers)):
        # The lane, and how many there are, only where jobs share a GPU or there are marks.
        runs.append([[device, tenths(begin), tenths(end), job, how, *((lane, of) if of > 1 or marks else ()), *((marks,) if marks else ())]
                     for device, lane, of, begin, end, job, how, marks in rectangles(e, k, *(part or ()))])
    seen = sorted({bar[3] for run in runs for bar in run if bar[3] >= 0})
    jobs = {job: [int(e["recording/jobs/id"][job]), e["recording/job_types"][e["recording/jobs/job_type"][job]],
                  round(float(e["recording/jobs/arrival_s"][job]), 1), int(e["recording/jobs/gang"][job])] for job in seen}
    first, last = e["arrival_s"][0][[0, -1]] if e["arrival_s"].size else (0.0, 0.0)
    return {"schedulers": labels(e.schedulers), "runs": runs, "jobs": jobs, "ends": e["recording/ends"],
            "shades": absences(e), "absences": e["recording/absences"] if "recording/absences" in e else ["out of service"],
            "marks": e["recording/mark_names"] if "recording/mark_names" in e else [],
            "greys": [colour for colour, _ in ABSENCES], "types": e["recording/types"],
            "counts": [int(n) for n in e["recording/type_counts"]],
            "end": [float(x) for x in e["recording/end_s"]], "measured": [float(first), float(last)],
            "unseen": [int(n) for n in e["recording/unseen_gangs"]], "shown": list(shown), "cut": part is not None,
            **({"part": part} if part else {})}


def default_range(e):
    """Two days from where the measured jobs begin to arrive, or the run where it is shorter."""
    begin = float(e["arrival_s"][0][0]) if e["arrival_s"].size else 0.0
    end = min(begin + 48 * 3600.0, float(e["recording/end_s"].max()))
    return (begin, end) if end > begin else (0.0, float(e["recording/end_s"].max()))


def mark(axes, corners, marks, wide):
    """Draws MARKS over bars [N, 4, 2], and a legend of those that occur; a wedge is at most `wide`."""
    legend = []
    for bit, (hatch, meaning) in enumerate(MARKS):
        chosen = corners[(marks >> bit & 1) == 1]
        if not len(chosen):
            continue
        if hatch:
            axes.add_collection(PolyCollection(chosen, facecolors="none", edgecolors=DARK, linewidths=0, hatch=hatch, rasterized=True))
        else:
            left, top, right, bottom = chosen[:, 0, 0], chosen[:, 0, 1], chosen[:, 1, 0], chosen[:, 2, 1]
            tip = np.minimum(left + wide, (left + right) / 2)
            wedges = np.stack([left, top, tip, (top + bottom) / 2, left, bottom], axis=1).reshape(-1, 3, 2)
            axes.add_collection(PolyCollection(wedges, facecolors=DARK, linewidths=0, rasterized=True))
        handle = Patch(facecolor="#dddddd", edgecolor=DARK, linewidth=0, hatch=hatch, label=meaning) if hatch else plt.Line2D(
            [], [], color=DARK, marker=">", linestyle="", label=meaning)
        legend.append(handle)
    if legend:
        axes.figure.legend(handles=legend, loc="outside lower center", ncols=2)


def figure(e, k, begin_s, end_s):
    """The chart of scheduler k over a range."""
    counts = e["recording/type_counts"]
    gpus = int(counts.sum())
    chart, axes = plt.subplots(figsize=(9.2, float(np.clip(0.9 + 0.11 * gpus, 2.2, 9))), layout="constrained")
    bars = rectangles(e, k, begin_s, end_s)
    if bars:
        device, lane, of, begin, end, job, _, marks = (np.array(column, float) for column in zip(*bars))
        hue = (job * GOLDEN % 360) / 360
        colours = plt.matplotlib.colors.hsv_to_rgb(np.stack([hue, np.full_like(hue, 0.45), np.full_like(hue, 0.86)], axis=1))
        for kind, (grey, _) in enumerate(ABSENCES):
            colours[job == -1 - kind] = plt.matplotlib.colors.to_rgb(grey)
        left, right, top, bottom = begin / 3600, end / 3600, device + (lane + 0.03) / of, device + (lane + 0.97) / of
        corners = np.stack([left, top, right, top, right, bottom, left, bottom], axis=1).reshape(-1, 4, 2)
        axes.add_collection(PolyCollection(corners, facecolors=colours, linewidths=0, rasterized=True))
        mark(axes, corners, marks.astype(int), 0.005 * (end_s - begin_s) / 3600)
    axes.set_xlim(begin_s / 3600, end_s / 3600)
    axes.set_ylim(gpus, 0)
    edges = np.concatenate([[0], np.cumsum(counts)])
    for edge in edges[1:-1]:
        axes.axhline(edge, color="black", linewidth=0.8)
    axes.set_yticks((edges[:-1] + edges[1:]) / 2, e["recording/types"])
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False)
    axes.set_xlabel(textwrap.fill(f"time (hours); a row a GPU, a colour a job, {absences(e)}", 100))
    axes.set_title(labels(e.schedulers)[k])
    return chart

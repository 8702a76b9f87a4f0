"""Checks what the report draws of a result file against the simulator's own figures: check_report.py EVALUATION.h5.

The GPUs held of each type over time must come to the utilisation, and the jobs in the system to their mean; bars of one
lane of a GPU may not overlap.
"""
import pathlib
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tools/report"))
import gantt  # noqa: E402
import series  # noqa: E402
from evaluation_file import Evaluation  # noqa: E402


def close(found, expected, what):
    if not numpy.isclose(found, expected, rtol=1e-9, atol=0):
        sys.exit(f"{what}: expected {expected}, found {found}")


def main(path):
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

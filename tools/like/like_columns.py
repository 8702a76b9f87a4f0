"""What `berth generate --like --check` compares, in numpy (check.cpp, two_sample.cpp), and beside it what comes together.

A column is (numbers, of): `of(jobs)` gives numbers, compared by Kolmogorov and Smirnov, or categories, by chi-square.
"""
import dataclasses
import math

import h5py
import numpy as np

HOUR, WEEK = 3600.0, 168 * 3600.0
LEVEL, CLOSE, DRIFT = 0.01, 0.1, 1.1  # kLikeLevel, kLikeClose, kLikeDrift


@dataclasses.dataclass
class Jobs:
    """A stretch of a log or of what was drawn, all arrays [jobs], times in seconds from its begin."""
    arrival: np.ndarray
    run: np.ndarray    # s on the GPU type that is fastest for it
    gang: np.ndarray
    milli: np.ndarray  # thousandths of each GPU
    user: np.ndarray   # names, "" without
    type: np.ndarray   # names
    limit: np.ndarray  # s, nan without
    length: float      # s

    def __len__(self):
        return len(self.arrival)

    @property
    def gpus(self):
        return self.gang * self.milli / 1000

    def of(self, index, arrival, length):
        """The jobs of an index or slice, which arrive at other times."""
        rest = (getattr(self, name)[index] for name in ("run", "gang", "milli", "user", "type", "limit"))
        return Jobs(arrival, *rest, length)


def names(dataset):
    return np.array(bytes(dataset[:]).decode().split("\0"))


def read(path):
    """Jobs of a scenario file (.h5)."""
    with h5py.File(path) as file:
        jobs, n = file["jobs"], len(file["jobs/arrival"])
        get = lambda name, default: jobs[name][:] if name in jobs else default
        gang, job_type = jobs["gang"][:], jobs["job_type"][:]
        speed = file["throughputs/alone"][:][job_type, np.searchsorted(file["throughputs/gang_sizes"][:], gang)].max(axis=1)
        user = names(file["tenants/name"])[jobs["tenant"][:]] if "tenant" in jobs else np.full(n, "")
        return Jobs(jobs["arrival"][:], jobs["total_steps"][:] / speed, gang, get("gpu_milli", np.full(n, 1000)), user,
                    names(file["throughputs/job_types"])[job_type], get("requested_s", np.full(n, np.nan)), math.inf)


def split(jobs):
    """(earlier, held out), as check.cpp splits: the last quarter of the time, in whole weeks where there are two."""
    first = jobs.arrival[0]
    span = jobs.arrival[-1] - first
    weeks = math.floor(span / WEEK)
    at, end = (0.75 * span, span) if weeks < 2 else ((weeks - max(1, math.floor(0.25 * weeks))) * WEEK, weeks * WEEK)
    cut = np.searchsorted(jobs.arrival, first + at)
    last = len(jobs) if weeks < 2 else np.searchsorted(jobs.arrival, first + end)
    return (jobs.of(slice(0, cut), jobs.arrival[:cut] - first, at),
            jobs.of(slice(cut, last), jobs.arrival[cut:last] - first - at, end - at))


def kolmogorov_smirnov(a, b):
    """(distance, p)."""
    a, b = np.sort(a), np.sort(b)
    both = np.concatenate([a, b])
    distance = np.abs(np.searchsorted(a, both, "right") / len(a) - np.searchsorted(b, both, "right") / len(b)).max()
    root = math.sqrt(len(a) * len(b) / (len(a) + len(b)))
    x = (root + 0.12 + 0.11 / root) * distance
    k = np.arange(1, 101)
    return distance, 1.0 if x < 0.2 else float(np.clip(2 * np.sum((-1.0) ** (k - 1) * np.exp(-2 * k * k * x * x)), 0, 1))


def chi_square_tail(x, degrees):
    """ChiSquareTail of two_sample.cpp."""
    a, z = 0.5 * degrees, 0.5 * x
    if z <= 0:
        return 1.0
    front = math.exp(a * math.log(z) - z - math.lgamma(a))
    if z < a + 1:
        term = total = 1 / a
        n = a + 1
        while term > 1e-17 * total:
            term *= z / n
            total += term
            n += 1
        return min(1.0, max(0.0, 1 - front * total))
    b, c = z + 1 - a, 1e300
    d = fraction = 1 / b
    for i in range(1, 10000):
        an = -i * (i - a)
        b += 2
        d = 1 / (an * d + b)
        c = b + an / c
        fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return min(1.0, max(0.0, front * fraction))


def chi_square(a, b):
    """(distance, p) of counts by category; those too rare for the test are one there."""
    n, m = a.sum(), b.sum()
    rare = (a + b) * min(n, m) < 5 * (n + m)
    merged = [np.append(x[~rare], x[rare].sum()) for x in (a, b)]
    share = (merged[0] + merged[1]) / (n + m)
    there = share > 0
    statistic = sum((((x - share * total) ** 2)[there] / (share[there] * total)).sum() for x, total in zip(merged, (n, m)))
    p = chi_square_tail(statistic, there.sum() - 1) if there.sum() > 1 else 1.0
    return 0.5 * np.abs(a / n - b / m).sum(), p


def judge(drawn, earlier):
    (distance, p), (of_earlier, _) = drawn, earlier
    if p >= LEVEL:
        return "same"
    return "close" if distance <= CLOSE else "drift" if distance <= DRIFT * of_earlier else "differs"


def hourly(jobs, weights=None):
    n = max(1, math.floor(jobs.length / HOUR))
    hour = np.floor(jobs.arrival / HOUR).astype(int)
    there = hour < n
    return np.bincount(hour[there], None if weights is None else weights[there], minlength=n).astype(float)


def rows_alike(jobs):
    new = np.ones(len(jobs), bool)
    new[1:] = False
    for column in (jobs.gpus, jobs.user, jobs.type):
        new[1:] |= column[1:] != column[:-1]
    lengths = np.diff(np.append(np.flatnonzero(new), len(jobs)))
    return [int(np.searchsorted([2, 3, 4, 8, 16, 64], length, "right")) for length in lengths]


# What --check compares.
COLUMNS = {
    "gaps": (True, lambda jobs: np.diff(jobs.arrival)),
    "hourly": (True, hourly),
    "GPUs": (False, lambda jobs: jobs.gpus.tolist()),
    "run time": (True, lambda jobs: jobs.run),
    "GPU-s": (True, lambda jobs: jobs.run * jobs.gpus),
    "limit": (True, lambda jobs: jobs.limit[jobs.limit > 0]),
    "users": (False, lambda jobs: jobs.user.tolist()),
    "types": (False, lambda jobs: jobs.type.tolist()),
    "in a row": (False, rows_alike),
}


def together(earlier):
    """What comes together, numbers by quarters of the earlier weeks. Not by hour of the day: a workload does not say at which
    hour it begins."""
    def quarter_of(sample):
        edges = np.unique(np.quantile(sample, [0.25, 0.5, 0.75]))
        side = "right" if edges[0] == sample.min() else "left"
        return lambda values: np.searchsorted(edges, values, side)

    gap_of, run_of, hour_of = quarter_of(np.diff(earlier.arrival)), quarter_of(earlier.run), quarter_of(hourly(earlier))
    gaps = lambda jobs: gap_of(np.diff(jobs.arrival))
    runs = lambda jobs: run_of(jobs.run)
    rows = lambda *columns: list(zip(*(column.tolist() for column in columns)))
    lagged = lambda values, lag: rows(values[:-lag], values[lag:])

    def busy(jobs):
        counts = hourly(jobs)
        hour = np.floor(jobs.arrival / HOUR).astype(int)
        there = hour < len(counts)
        return rows(hour_of(counts)[hour[there]], jobs.gpus[there], runs(jobs)[there])

    return {
        "user, GPUs, run time": (False, lambda jobs: rows(jobs.user, jobs.gpus, runs(jobs))),
        "busy hour, GPUs, run time": (False, busy),
        "gap, GPUs, run time": (False, lambda jobs: rows(gaps(jobs), jobs.gpus[1:], runs(jobs)[1:])),
        "gap, next gap": (False, lambda jobs: lagged(gaps(jobs), 1)),
        "hour, next hour": (False, lambda jobs: lagged(hour_of(hourly(jobs)), 1)),
        "hour, next day's": (False, lambda jobs: lagged(hour_of(hourly(jobs)), 24)),
        "run time, next": (False, lambda jobs: lagged(runs(jobs), 1)),
        "hourly GPU-s": (True, lambda jobs: hourly(jobs, jobs.run * jobs.gpus)),
    }


def compare(columns, earlier, later, drawn):
    """{column: (verdict, distance of drawn from held out, distance of earlier from held out)}; `drawn` is a list of Jobs,
    taken together. Without columns that have no values, or one category."""
    result = {}
    for name, (numbers, of) in columns.items():
        samples = [of(earlier), of(later), [value for jobs in drawn for value in of(jobs)]]
        if min(map(len, samples)) == 0:
            continue
        if not numbers:
            index = {category: i for i, category in enumerate(sorted(set().union(*samples)))}
            if len(index) < 2:
                continue
            samples = [np.bincount([index[x] for x in sample], minlength=len(index)).astype(float) for sample in samples]
        test = kolmogorov_smirnov if numbers else chi_square
        of_earlier, of_drawn = test(samples[0], samples[1]), test(samples[2], samples[1])
        result[name] = judge(of_drawn, of_earlier), of_drawn[0], of_earlier[0]
    return result


def passed(result):
    return sum(verdict != "differs" for verdict, *_ in result.values())

"""Seconds that `import berth` takes in a new interpreter, its start included, for `berth bench`.

usage: python_import.py      -> one line: s of CPU time, s of wall time, medians of ten
"""

import resource
import statistics
import subprocess
import sys
import time


def timed():
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", "import berth"], check=True)
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


print(*(statistics.median(column) for column in zip(*(timed() for _ in range(10)))))

"""What a decision costs more in Python than in C++, in CPU time, for `berth bench`: first come, first served on GPUs of one type,
where both give the same event log.

usage: python_decisions.py      -> one line: microseconds a decision, decisions
"""

import time

import berth


class First(berth.Scheduler):
    def decide(self, view, decision):
        for job in view.waiting[: view.free_gpus[0]].tolist():
            decision.start(job, 0)


def timed(scheduler):
    begin = time.process_time()
    rows = berth.evaluate([scheduler], workload="queueing(jobs=5000)", cluster="v100=1", clock="event", seeds=1000, threads=1)
    return time.process_time() - begin, rows.to_dict("records")[0]


timed("fcfs"), timed(First)  # everything is imported and made once
(bare, fcfs), (bound, first) = timed("fcfs"), timed(First)
assert first["signature"] == fcfs["signature"], "expected the same run in both"
print(1e6 * (bound - bare) / first["decisions"], first["decisions"])

"""A scheduler of one's own beside Berth's: the job with the least left to do first, each on its fastest type with room."""

import berth
import numpy as np


class ShortestFirst(berth.Scheduler):
    knowledge = "oracle"

    def decide(self, view, decision):
        free = view.free_gpus.copy()
        left = view.remaining[view.waiting] / view.rates[view.waiting].max(axis=1)
        for job in view.waiting[np.argsort(left, kind="stable")]:
            types = np.flatnonzero((view.rates[job] > 0) & (free >= view.gang[job]))
            if types.size:
                best = types[np.argmax(view.rates[job, types])]
                decision.start(job, best)
                free[best] -= view.gang[job]


if __name__ == "__main__":
    table = berth.evaluate(["fcfs", "gavel", ShortestFirst()], workload="synthetic(rate=1,jobs=200)", cluster="v100=8,k80=8")
    print(table.summary()[["mean_jct_s", "mean_jct_low_s", "mean_jct_high_s", "jct_ratio", "p99_wait_s", "utilization"]])

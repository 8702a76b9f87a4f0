"""Schedulers that travel to the workers of an executor, by the name of this module."""

import os

import numpy as np

import berth


class Shortest(berth.Scheduler):
    """The shortest that fits first, on the fastest type with room."""

    knowledge = "oracle"

    def decide(self, view, decision):
        free = view.free_gpus.copy()
        for job in view.waiting[np.argsort(view.remaining[view.waiting], kind="stable")]:
            fits = np.flatnonzero((view.rates[job] > 0) & (free >= view.gang[job]))
            if fits.size:
                best = fits[np.argmax(view.rates[job, fits])]
                decision.start(job, best)
                free[best] -= view.gang[job]


class Killer(berth.Scheduler):
    """Ends the process that it runs in, as a machine that fails does."""

    def decide(self, view, decision):
        os._exit(3)

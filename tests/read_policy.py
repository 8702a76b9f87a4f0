"""A policy of Berth's by its format alone (policies/FORMAT.md): h5py and NumPy, nothing of ours."""
import re

import h5py
import numpy as np


class Policy:
    def __init__(self, path):
        with h5py.File(path) as file:
            self.at = {k: v.decode() if isinstance(v, bytes) else v for k, v in file.attrs.items()}
            found = self.at["berth_kind"], self.at["berth_version"]
            if found != ("policy", 1):
                raise ValueError(f"{path}: expected a policy of version 1, found {found}")
            self.layers = {name: (g["weight"][:], g["bias"][:]) for name, g in file["weights"].items()}
            self.examples = {name: d[:] for name, d in file["examples"].items()}
        self.name, options = re.fullmatch(r"(\w+)\((.*)\)", self.at["network"]).groups()
        self.options = dict(option.split("=") for option in options.split(","))
        self.done = self.at["num_actions"] > self.at["queue"] * self.at["types"]

    def linear(self, layer, x):
        weight, bias = self.layers[layer]
        return x @ weight.T + bias

    def hidden(self, layer, x):
        y = self.linear(layer, x)
        return np.tanh(y) if self.options["activation"] == "tanh" else np.maximum(y, 0)

    def scores(self, row, q, g):
        """Of one observation with q rows of jobs and g GPU types: [q * g], then done's where there is one."""
        if self.name == "mlp":
            for i in range(len(self.options["hidden"].split("x"))):
                row = self.hidden(f"actor_{i}", row)
            return self.linear("actor_head", row)
        fj, fp, ft = (self.at[f"{block}_channels"] for block in ("job", "pair", "type"))
        jobs, pairs, types, rest = np.split(row, np.cumsum([q * fj, q * g * fp, g * ft]))
        jobs, pairs, types = jobs.reshape(q, 1, fj), pairs.reshape(q, g, fp), types.reshape(1, g, ft)
        present = jobs[:, 0, :1] != 0
        e = self.hidden("job", jobs[present])
        most = e.max(0, initial=-1 if self.options["activation"] == "tanh" else 0)
        pooled = [rest, e.sum(0) / max(len(e), 1), most, self.hidden("type", types[0]).mean(0)]
        c = self.hidden("context", np.concatenate(pooled))
        wide = [np.broadcast_to(x, (q, g, x.shape[-1])) for x in (jobs, pairs, types, c[None, None])]
        h = self.hidden("pair_0", np.concatenate(wide, -1))
        for i in range(1, int(self.options["layers"])):
            h = self.hidden(f"pair_{i}", h)
        skip = self.linear("skip", np.concatenate(wide[:3], -1)) if self.options.get("skip") == "true" else 0
        scores = ((self.linear("score", h) + skip)[..., 0] * present).ravel()
        return np.append(scores, self.linear("done", self.hidden("done_hidden", c))) if self.done else scores

    def plan(self, row, gangs, rates, room):
        """The GPU type that each job runs on from now on, -1 = it waits; preemptive and work_conserving."""
        runs_on, room, g = [-1] * len(gangs), list(room), len(room)
        scores = self.scores(row, self.at["queue"] if self.name == "mlp" else len(gangs), g)
        for action in np.argsort(-scores[: len(gangs) * g], kind="stable"):
            job, kind = divmod(int(action), g)
            if runs_on[job] < 0 and rates[job][kind] > 0 and gangs[job] <= room[kind]:
                runs_on[job], room[kind] = kind, room[kind] - gangs[job]
        return runs_on

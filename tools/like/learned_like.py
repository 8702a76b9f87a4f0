"""An autoregressive network of jobs: gap, kind (user, GPUs, type), limit, run time, each given the ones before it and what came
before the job. learned_study.py compares what it draws.

Numbers are steps of their distribution (at most 64 and those of values that many jobs have), a step's value one of the log's.
A column's next step has a distribution that is mixed: a network's softmax, and shares of past steps, which fade by half-lives of
0 to 256 jobs, as they were and smoothed: at first a mixture with constant weights, much as the fitted model's memory
(data/like/README.md), from which the network is trained.
"""
import statistics

import numpy as np
import torch

from like_columns import HOUR, WEEK, Jobs

HALF_LIVES = np.array([0, 1, 4, 16, 64, 256])                      # jobs
OWN_HALF_LIVES = np.array([0, 1, 4, 16])                           # jobs of a kind
WINDOWS = np.array([600, HOUR, 6 * HOUR, 24 * HOUR, WEEK])         # s, of arrivals counted
MOST_STEPS, MOST_KINDS, WIDTH, SMOOTH = 64, 48, 64, 3.0
KEPT_BACK, LEAST_KEPT, EVERY, PATIENCE, MOST_UPDATES, BATCH, CALIBRATIONS = 0.2, 50, 50, 6, 1000, 256, 4


def fading(half_lives):
    return np.where(half_lives == 0, 0.0, 0.5 ** (1 / np.maximum(half_lives, 1e-9)))


class Steps:
    """A number as one of n steps of its distribution."""

    def __init__(self, sample):
        n = len(sample)
        shares = np.linspace(0, 1, (MOST_STEPS if n >= 8 * MOST_STEPS else max(2, n // 8)) + 1)[1:-1]
        if n > 4000:
            shares = np.append(shares, [0.99, 0.995, 0.998, 0.999])
        value, count = np.unique(sample, return_counts=True)
        often = np.flatnonzero(count > n / MOST_STEPS)
        edges = [np.quantile(sample, shares, method="higher"), value[often], value[np.minimum(often + 1, len(value) - 1)]]
        self.edges = np.unique(np.concatenate(edges))
        self.edges = self.edges[self.edges > value[0]]
        self.n = len(self.edges) + 1
        self.index = self.of(sample)
        order = np.argsort(self.index, kind="stable")
        self.values = sample[order]
        self.begin = np.searchsorted(self.index[order], np.arange(self.n + 1))
        self.share = np.diff(self.begin) / n
        middle = (self.begin[:-1] + self.begin[1:]) / 2 / n
        self.score = np.array([statistics.NormalDist().inv_cdf(min(max(share, 1e-4), 1 - 1e-4)) for share in middle])

    def of(self, values):
        return np.searchsorted(self.edges, values, "right")

    def draw(self, index, random):
        count = np.diff(self.begin)[index]
        return self.values[self.begin[index] + np.minimum((random.random(len(index)) * count).astype(int), count - 1)]


class Past:
    """What came before a job, of B workloads at once; it reads the log and what is drawn alike."""

    def __init__(self, model, hour_of_week_s):
        self.model, self.rows = model, np.arange(len(hour_of_week_s))
        B, K = len(self.rows), len(model.kinds)
        many = lambda share, n: np.tile(share, (B, n, 1))
        self.now = hour_of_week_s
        self.kinds, self.gaps = many(model.kind_share, len(HALF_LIVES)), many(model.gap.share, len(HALF_LIVES))
        self.runs = many(model.run.share, len(HALF_LIVES))
        self.own_runs = np.tile(model.run.share, (B, K, len(OWN_HALF_LIVES), 1))
        self.counts = np.tile(WINDOWS * model.per_s, (B, 1))
        self.last_gaps, self.mean_gap = np.zeros((B, 4)), np.zeros((B, 4))
        self.last_runs, self.mean_run = np.zeros((B, 2)), np.zeros((B, 2))
        self.last_kind, self.alike = np.zeros(B, int), np.zeros(B)
        self.own_run, self.own_limit, self.own_age = np.zeros((B, K, 2)), np.zeros((B, K)), np.full((B, K), 6.0)

    def one_of(self, index, n):
        return np.eye(n)[np.minimum(index, n - 1)]

    def kind_one_of(self, kind):
        return self.one_of(kind, min(len(self.model.kinds), MOST_KINDS) + 1)

    def features(self):
        hour = self.now / HOUR
        angle = 2 * np.pi * (hour % 24) / 24
        mean = WINDOWS * self.model.per_s
        return np.concatenate([
            np.stack([np.sin(angle), np.cos(angle), np.sin(2 * angle), np.cos(2 * angle)], 1),
            self.one_of((hour // 24).astype(int) % 7, 7), self.last_gaps, self.mean_gap,
            np.log((self.counts + 0.1) / (mean + 0.1)) / 2, np.log1p(self.alike)[:, None] / 2, self.last_runs, self.mean_run,
            self.kind_one_of(self.last_kind)], 1)

    def features_of(self, kind):
        own = self.rows, kind
        return np.concatenate([self.own_run[own], self.own_limit[own][:, None], np.minimum(self.own_age[own], 6.0)[:, None] / 3,
                               self.kind_one_of(kind)], 1)

    def runs_of(self, kind):
        return np.concatenate([self.runs, self.own_runs[self.rows, kind]], 1)

    def fade(self, shares, half_lives, index):
        keep = fading(half_lives)
        shares *= keep[:, None]
        shares[self.rows, :, index] += 1 - keep

    def add_gap(self, gap_s, step):
        score = self.model.gap.score[step][:, None]
        self.fade(self.gaps, HALF_LIVES, step)
        self.now = (self.now + gap_s) % WEEK
        self.counts = self.counts * np.exp(-gap_s[:, None] / WINDOWS) + 1
        self.last_gaps = np.concatenate([score, self.last_gaps[:, :-1]], 1)
        keep = fading(np.array([2, 8, 32, 128]))
        self.mean_gap = self.mean_gap * keep + (1 - keep) * score

    def add_job(self, kind, limit_score, step):
        score, own = self.model.run.score[step], (self.rows, kind)
        self.fade(self.kinds, HALF_LIVES, kind)
        self.fade(self.runs, HALF_LIVES, step)
        own_runs = self.own_runs[own]
        self.fade(own_runs, OWN_HALF_LIVES, step)
        self.own_runs[own] = own_runs
        self.alike = np.where(kind == self.last_kind, self.alike + 1, 1.0)
        self.last_kind = kind
        self.last_runs = np.stack([score, self.last_runs[:, 0]], 1)
        keep = fading(np.array([4, 32]))
        self.mean_run = self.mean_run * keep + (1 - keep) * score[:, None]
        self.own_run[own] = np.stack([score, 0.7 * self.own_run[own][:, 1] + 0.3 * score], 1)
        self.own_limit[own] = limit_score
        self.own_age += 0.03
        self.own_age[own] = 0.0


class Head(torch.nn.Module):
    """Logarithms of the shares of the next step, [B, steps]; before training a mixture of the log's shares and past steps."""

    def __init__(self, inputs, share, pasts, smooth):
        super().__init__()
        n = len(share)
        self.hidden, self.out = torch.nn.Linear(inputs, WIDTH), torch.nn.Linear(WIDTH, n)
        self.skip = torch.nn.Linear(inputs, n, bias=False)
        for layer in (self.out, self.skip):
            torch.nn.init.zeros_(layer.weight)
        self.out.bias.data = torch.tensor(np.log(np.maximum(share, 1e-7)), dtype=torch.float32)
        near = np.exp(-0.5 * ((np.arange(n)[:, None] - np.arange(n)) / SMOOTH) ** 2)
        self.near = torch.tensor(near / near.sum(1, keepdims=True), dtype=torch.float32) if smooth else None
        self.gate = torch.nn.Linear(WIDTH, pasts * (1 + smooth) + 1)
        torch.nn.init.zeros_(self.gate.weight)

    def start(self, past, y):
        """The mixture's weights by maximum likelihood (expectation and maximisation)."""
        at = lambda shares: torch.gather(shares, 2, y[:, None, None].expand(-1, shares.shape[1], 1))[:, :, 0]
        parts = [torch.softmax(self.out.bias.data, 0)[y][:, None], at(past)]
        if self.near is not None:
            parts.append((past * self.near.T[y][:, None]).sum(2))
        likely = torch.cat(parts, 1) + 1e-9
        weights = torch.full((likely.shape[1],), 1 / likely.shape[1])
        for _ in range(100):
            weights = (likely * weights / (likely @ weights)[:, None]).mean(0)
        self.gate.bias.data = torch.log(weights + 1e-4)

    def forward(self, x, past):
        hidden = torch.relu(self.hidden(x))
        shares = torch.log_softmax(self.out(hidden) + self.skip(x), 1)
        gates = torch.log_softmax(self.gate(hidden), 1)
        if self.near is not None:
            past = torch.cat([past, past @ self.near], 1)
        return torch.log(torch.exp(gates[:, :1] + shares) + (torch.exp(gates[:, 1:, None]) * past).sum(1) + 1e-9)


def train(make, x, past, y, seed):
    """(head, updates). As many updates as are best for the last fifth of the jobs, then as many on all of them."""
    x, past, y = torch.tensor(x, dtype=torch.float32), torch.tensor(past, dtype=torch.float32), torch.tensor(y)
    cut = int(len(y) * (1 - KEPT_BACK))

    def updates(jobs, most, watch):
        torch.manual_seed(seed)
        head, random = make(), torch.Generator().manual_seed(seed)
        head.start(past[:jobs], y[:jobs])
        adam = torch.optim.AdamW(head.parameters(), lr=2e-3, weight_decay=1e-2)
        best, at = np.inf, 0
        for update in range(most + 1):
            if watch and update % EVERY == 0:
                with torch.no_grad():
                    loss = torch.nn.functional.nll_loss(head(x[cut:], past[cut:]), y[cut:]).item()
                if loss < best - 1e-4:
                    best, at = loss, update
                elif update - at >= PATIENCE * EVERY:
                    break
            if update < most:
                some = torch.randint(jobs, (min(BATCH, jobs),), generator=random)
                loss = torch.nn.functional.nll_loss(head(x[some], past[some]), y[some])
                adam.zero_grad()
                loss.backward()
                adam.step()
        return head, at

    at = updates(cut, MOST_UPDATES, True)[1] if len(y) - cut >= LEAST_KEPT else 0
    return updates(len(y), at, False)[0].eval(), at


class Learned:
    """Fitted to a stretch of jobs; deterministic in its arguments."""

    def __init__(self, jobs, seed=0):
        n, gaps = len(jobs), np.diff(jobs.arrival)
        self.limited = jobs.limit > 0
        limit = np.where(self.limited, jobs.limit, 0.0)
        self.gap, self.limit = Steps(gaps), Steps(limit)
        self.run = Steps(jobs.run / np.where(self.limited, limit, 1.0))  # of jobs with a limit the part that they use
        fields = [("user", "U64"), ("gang", int), ("milli", int), ("type", "U64")]
        all_kinds = np.array(list(zip(jobs.user, jobs.gang, jobs.milli, jobs.type)), dtype=fields)
        kinds, index, count = np.unique(all_kinds, return_inverse=True, return_counts=True)
        order = np.argsort(-count, kind="stable")
        self.kinds, self.kind_share = kinds[order], count[order] / n
        kind = np.argsort(order)[index.ravel()]
        self.per_s = (n - 1) / jobs.arrival[-1]
        self.heads, self.updates = {}, {}
        for name, (x, past, y, share) in self.examples(gaps, kind).items():
            if len(share) > 1:
                make = lambda: Head(x.shape[1], share, past.shape[1], smooth=name in ("gap", "run"))
                self.heads[name], self.updates[name] = train(make, x, past, y, seed)
        self.calibrate(jobs.length, seed)

    def examples(self, gaps, kind):
        """{head: (features, shares of the past, step, share of each step)}, read off the log in its order."""
        past, rows = Past(self, np.zeros(1)), {name: ([], []) for name in ("gap", "kind", "limit", "run")}

        def note(name, x, shares):
            rows[name][0].append(np.concatenate(x, 1)[0].astype(np.float32))
            rows[name][1].append(shares[0].astype(np.float32))

        for i in range(len(kind)):
            if i > 0:
                note("gap", [past.features()], past.gaps)
                past.add_gap(gaps[i - 1:i], self.gap.index[i - 1:i])
            its, score = kind[i:i + 1], self.limit.score[self.limit.index[i:i + 1]]
            x, of = past.features(), past.features_of(its)
            note("kind", [x], past.kinds)
            note("limit", [x, of], np.zeros((1, 0, self.limit.n)))
            note("run", [x, of, score[:, None]], past.runs_of(its))
            past.add_job(its, score, self.run.index[i:i + 1])
        wanted = {"gap": (self.gap.index, self.gap.share), "kind": (kind, self.kind_share),
                  "limit": (self.limit.index, self.limit.share), "run": (self.run.index, self.run.share)}
        return {name: (np.array(rows[name][0]), np.array(rows[name][1]), *wanted[name]) for name in wanted}

    def calibrate(self, length_s, seed):
        """What a network draws feeds it again, so that shares drift from the log's: each step's logit is moved by how far."""
        wanted = {"gap": self.gap.share, "kind": self.kind_share, "limit": self.limit.share, "run": self.run.share}
        for round in range(CALIBRATIONS):
            _, drawn = self.sample(min(length_s / 4, 1500 / self.per_s), 40, [seed, round])
            for name, head in self.heads.items():
                count = np.bincount(drawn[name].ravel(), minlength=len(wanted[name]))
                share = (count + 1) / (count.sum() + len(count))
                head.out.bias.data += torch.tensor(np.clip(np.log(wanted[name] / share), -1, 1), dtype=torch.float32)

    def sample(self, length_s, draws, seed):
        """(arrivals [draws, jobs], {head: steps [draws, jobs]}, gaps without the first job's) of twice that length."""
        random = np.random.default_rng(seed)
        past = Past(self, random.uniform(0, WEEK, draws))
        tensor = lambda *parts: torch.tensor(np.concatenate(parts, 1), dtype=torch.float32)

        def next_of(name, x, shares):
            if name not in self.heads:
                return np.zeros(draws, int)
            with torch.no_grad():
                up_to = np.cumsum(np.exp(self.heads[name](tensor(*x), tensor(shares)).numpy().astype(float)), 1)
            return np.minimum((up_to < random.random(draws)[:, None] * up_to[:, -1:]).sum(1), up_to.shape[1] - 1)

        now, arrivals, steps = np.zeros(draws), [], {name: [] for name in ("gap", "kind", "limit", "run")}
        while True:
            if arrivals:
                gap = next_of("gap", [past.features()], past.gaps)
                gap_s = self.gap.draw(gap, random)
                past.add_gap(gap_s, gap)
                now = now + gap_s
                if (now >= 2 * length_s).all():
                    break
                steps["gap"].append(gap)
            x = past.features()
            kind = next_of("kind", [x], past.kinds)
            of = past.features_of(kind)
            limit = next_of("limit", [x, of], np.zeros((draws, 0, self.limit.n)))
            score = self.limit.score[limit]
            run = next_of("run", [x, of, score[:, None]], past.runs_of(kind))
            past.add_job(kind, score, run)
            arrivals.append(now)
            for name, step in (("kind", kind), ("limit", limit), ("run", run)):
                steps[name].append(step)
        return np.array(arrivals).T, {name: np.array(its).T for name, its in steps.items()}

    def draw(self, length_s, draws, seed):
        """Workloads of that length, each after as long a time that is thrown away, as LikeSource::MakeUntil does it."""
        arrivals, steps = self.sample(length_s, draws, seed)
        random, workloads = np.random.default_rng([seed, draws]), []
        for i, at in enumerate(arrivals):
            kept = (at >= length_s) & (at < 2 * length_s)
            kind = self.kinds[steps["kind"][i, kept]]
            limit = self.limit.draw(steps["limit"][i, kept], random)
            run = self.run.draw(steps["run"][i, kept], random) * np.where(limit > 0, limit, 1.0)
            workloads.append(Jobs(at[kept] - length_s, np.maximum(run, 1e-3), kind["gang"], kind["milli"], kind["user"], kind["type"],
                                  np.where(limit > 0, limit, np.nan), length_s))
        return workloads

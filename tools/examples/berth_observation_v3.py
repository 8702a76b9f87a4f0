"""ObservationV3 in NumPy, for berth_policy.py: ObservationV1's blocks, each followed by where a job belongs under the
prices of GPUs (env/gym/blocks/ and env/base/grouped_assignment.cpp are what it has to equal).

Jobs that are equally well off in two places go where the last bit says, so that everything that is compared is worked
out in Berth's order and by Berth's own logarithm: the channels are the same to the bit.
"""
import heapq

import numpy as np

OUT = 1000.0  # what staying out costs, less the claim: more than any slowness
ATTAINED = 0.2  # of a claim, where it is of what a job has attained and not of what it has left
KNEES = 1.0, 4.0, 16.0, 64.0  # hours, of size_1 to size_64


def log(x):
    """Berth's natural logarithm (env/base/log_core.hpp), whose bits no C library changes; x > 0, finite."""
    half, exponent = np.frexp(np.asarray(x, float))
    low = half < 0.70710678118654752440
    f = np.where(low, half * 2.0, half) - 1.0
    e = np.where(low, exponent - 1.0, exponent)
    s = f / (2.0 + f)
    z = s * s
    series = (1.0 / 23) * z
    for odd in range(21, 1, -2):
        series = (series + 1.0 / odd) * z
    return e * 6.93147180369123816490e-01 + (2.0 * s + (2.0 * s * series + e * 1.90821492927058770002e-10))


def assign(cost, room):
    """The cheapest group of each row by successive shortest paths: cost [rows][groups], infinite where a row cannot
    go; room [groups] of sum >= rows, becomes what is left. Of equal costs what came first stays."""
    groups, group_of = range(len(room)), [-1] * len(cost)
    moves = [[[] for _ in groups] for _ in groups]  # heaps of (what the move costs, who)

    def cheapest(source, to):
        heap = moves[source][to]
        while heap and group_of[heap[0][1]] != source:  # has left meanwhile
            heapq.heappop(heap)
        return heap[0] if heap else (np.inf, -1)

    def move(row, to):
        group_of[row] = to
        for other in groups:
            if other != to and cost[row][other] < np.inf:
                heapq.heappush(moves[to][other], (cost[row][other] - cost[row][to], row))

    for row, costs in enumerate(cost):
        least, before, shorter = list(costs), [-1] * len(room), True
        while shorter:
            shorter = False
            for source in groups:
                if room[source] > 0 or least[source] == np.inf:
                    continue
                for to in groups:
                    there = least[source] + cheapest(source, to)[0] if to != source else np.inf
                    if not there < least[to]:
                        continue
                    g = source
                    while g >= 0 and g != to:
                        g = before[g]
                    if g < 0:  # the path to `source` does not lead through `to`
                        least[to], before[to], shorter = there, source, True
        end = min((g for g in groups if room[g] > 0), key=least.__getitem__)
        room[end] -= 1
        while before[end] >= 0:
            move(cheapest(before[end], end)[1], end)
            end = before[end]
        move(row, end)
    return np.array(group_of)


def dual_prices(cost, group_of, room):
    """What a place in each group costs others: the middle of the lowest and highest prices that support the
    assignment; where nothing bounds it, the lowest beside the others' middles. room: what is left."""
    n = len(room)
    gap = np.full((n, n), np.inf)  # price[source] - price[to] <= gap, or somebody would rather move
    for source in set(group_of.tolist()):
        rows = cost[group_of == source]
        gap[source] = (rows - rows[:, [source]]).min(0)
    pairs = [(source, to, gap[source, to]) for source in range(n) for to in range(n) if gap[source, to] < np.inf]
    low, high = [0.0] * n, [0.0 if left > 0 else np.inf for left in room]

    def lift():
        for _ in range(n):
            for source, to, least in pairs:
                low[to] = max(low[to], low[source] - least)

    lift()
    for _ in range(n):
        for source, to, least in pairs:
            high[source] = min(high[source], least + high[to])
    for g in range(n):
        if high[g] < np.inf:
            low[g] = max(0.0, 0.5 * (low[g] + high[g]))
    if np.inf in high:
        lift()
    return np.array(low)


def gpu_prices(slowness, gangs, claims, room, by_gpu):
    """Prices [G] of GPUs, and of each job surplus [Q], regret [Q, G] and the matched share of its GPUs [Q, G]."""
    q, g = slowness.shape
    fits = gangs[:, None] <= room
    each = 1.0 if by_gpu else 1.0 / gangs[:, None]
    cost = np.empty((q, g + 1))
    cost[:, :g] = np.where(fits, slowness * each, np.inf)
    cost[:, g] = OUT - claims
    cost = np.repeat(cost, gangs, axis=0)  # a row a member of a gang
    left = [max(0, int(n)) for n in room] + [len(cost)]
    chosen = assign(cost.tolist(), left)
    matched, job = np.zeros((q, g + 1)), np.repeat(np.arange(q), gangs)
    np.add.at(matched, (job, chosen), 1.0 / gangs[job])
    prices = dual_prices(cost, chosen, left)[:g]
    sought = (fits & (slowness < np.inf)).any(0)
    prices = np.where(sought, prices - prices[sought].min(initial=np.inf), 0.0)
    regret = np.where(fits, slowness + (1.0 if by_gpu else gangs[:, None]) * prices, np.inf)
    surplus = regret.min(1)
    surplus[surplus == np.inf] = 0.0
    return prices, surplus, regret - surplus[:, None], np.minimum(matched[:, :g], 1.0)


def running_share(keys, gangs, gpus):
    """GPUs wanted by the jobs of at most each one's key, its own too, over `gpus`, at most 4."""
    order = np.argsort(keys, kind="stable")
    share = np.empty(len(keys))
    share[order] = np.minimum(np.cumsum(gangs[order]) / gpus, 4.0)
    return share


def extend(blocks, now, counts, idle, jobs, rates, knowledge, preemptive):
    """blocks: ObservationV1's, {"jobs": [1, Q, Fj], ...}; rates [Q, G], 0 where a job cannot run. Gives V3's."""
    gangs = np.array([job.gang for job in jobs], int)
    room = np.array(counts if preemptive else idle, int)
    best = rates.max(1)
    if knowledge in ("estimate", "oracle"):
        steps = np.array([job.remaining_steps for job in jobs], float)
    elif knowledge == "blind":  # who has not run has done none
        steps = np.nan_to_num(np.array([job.attained_steps for job in jobs], float))
    else:
        steps = np.zeros(len(jobs))
    sizes = log(1.0 / 60.0 + np.maximum(steps, 0.0) / best / 3600.0)
    claims = (1.0 if knowledge in ("estimate", "oracle") else ATTAINED) * (sizes + log(gangs))
    offered = max(1, room.sum())
    load = np.clip(log(max(1.0, float(gangs.sum())) / offered), -3.0, 3.0)
    can = rates > 0.0
    slowness = np.where(can, log(best[:, None] / np.where(can, rates, best[:, None])), np.inf)
    total = np.add.accumulate(np.where(can, slowness, 0.0), axis=1)[:, -1]  # from the first type on, as Berth
    behind = slowness - (total / np.maximum(1, can.sum(1)))[:, None]
    price, surplus, regret, matched = gpu_prices(slowness, gangs, claims, room, False)
    price_gpu, surplus_gpu, regret_gpu, matched_gpu = gpu_prices(slowness, gangs, claims, room, True)
    keener = [running_share(behind[:, kind], gangs, max(1, n)) for kind, n in enumerate(room)]
    waited = np.array([max(now - job.arrival, 0.0) for job in jobs])
    size = np.clip(sizes, -5.0, 12.0)[:, None]
    near = np.minimum(regret, 5.0)

    rows = [np.clip(sizes, -5.0, 12.0), running_share(sizes, gangs, offered), np.minimum(surplus, 10.0), log(gangs)]
    rows += [np.minimum(log(1.0 + waited / 3600.0), 12.0)]
    rows += [np.maximum(np.minimum(sizes, 12.0) - log(1.0 / 60.0 + knee), 0.0) for knee in KNEES]
    rows += [np.minimum(surplus_gpu, 10.0)]
    pairs = [np.minimum(regret, 10.0), np.minimum(slowness, 5.0), np.stack(keener, 1), near * load, near * size]
    pairs += [matched, matched * load, np.minimum(regret_gpu, 10.0), matched_gpu, matched_gpu * load]
    types = [np.minimum(price, 5.0), np.minimum(price_gpu, 5.0)]
    more = {"jobs": np.stack(rows, -1), "pairs": np.stack(pairs, -1), "types": np.stack(types, -1), "global": [load]}
    return {
        name: np.concatenate([block, np.asarray(more[name], np.float32)[None]], axis=-1)
        for name, block in blocks.items()
    }

"""Water filling of few jobs in rational numbers: where solvers in floating point disagree, this decides."""
from fractions import Fraction


def maximum(cost, rows, right):
    """max cost . x, rows @ x <= right, x >= 0: the simplex method in two phases, by Bland's rule."""
    n, r = len(cost), len(rows)
    unit = [[Fraction(int(i == k)) for k in range(r)] for i in range(r)]
    table = [list(row) + unit[i] + [Fraction(-1), right[i]] for i, row in enumerate(rows)]
    basis = [n + i for i in range(r)]
    aim = [-c for c in cost] + [Fraction(0)] * (r + 2)
    phase = [Fraction(0)] * (n + r) + [Fraction(1), Fraction(0)]

    def pivot(at, column):
        scale = table[at][column]
        table[at] = [value / scale for value in table[at]]
        for row in [row for i, row in enumerate(table) if i != at] + [aim, phase]:
            factor = row[column]
            if factor != 0:
                row[:] = [a - factor * b for a, b in zip(row, table[at])]
        basis[at] = column

    def climb(line, columns):
        while True:
            column = next((k for k in range(columns) if line[k] < 0), None)
            if column is None:
                return
            ratios = [(row[-1] / row[column], basis[i], i) for i, row in enumerate(table) if row[column] > 0]
            pivot(min(ratios)[2], column)

    if min(right) < 0:
        pivot(min(range(r), key=lambda i: table[i][-1]), n + r)
        climb(phase, n + r + 1)
        assert phase[-1] == 0, "no point"
        if n + r in basis:
            at = basis.index(n + r)
            pivot(at, next(k for k in range(n + r) if table[at][k] != 0))
    climb(aim, n + r)
    return aim[-1]


def filling(worth, base, right):
    """[m] levels: worth [m, n] of shares x, base @ x <= right."""
    worth = [[Fraction(float(value)) for value in row] for row in worth]
    base = [[Fraction(float(value)) for value in row] for row in base]
    right = [Fraction(float(value)) for value in right]
    level, rising = [None] * len(worth), set(range(len(worth)))
    while rising:
        rows = [row + [Fraction(0)] for row in base]
        rows += [[-w for w in worth[i]] + [Fraction(int(i in rising))] for i in range(len(worth))]
        floors = [Fraction(0) if i in rising else -level[i] for i in range(len(worth))]
        c = maximum([Fraction(0)] * len(base[0]) + [Fraction(1)], rows, right + floors)
        floors = [-c if i in rising else -level[i] for i in range(len(worth))]
        rows = base + [[-w for w in row] for row in worth]
        held = [i for i in rising if maximum(worth[i], rows, right + floors) == c]
        for i in held:
            level[i] = c
        rising -= set(held)
    return [float(value) for value in level]

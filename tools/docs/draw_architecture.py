#!/usr/bin/env python3
"""Draws env/floors.svg and env/decision.svg (env/ARCHITECTURE.md) from the code: rooms, sizes and arrows are read from the
sources' #include lines, and every step of a decision names a symbol that must stand in the file beside it.

usage: tools/docs/draw_architecture.py [--check]      --check: exit 1 where a picture is not what the code gives
"""
import pathlib
import re
import sys
from html import escape

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLOORS = ["env", "data", "baselines", "policies", "agents", "tools"]  # low to high
ROOMS = {  # as in tests/layers_test.cpp; folders that have no order of rooms are one box
    "env": ["base", "sim", "predict", "features", "gym"],
    "agents": ["tasks", "search", "nn", "gpu", "ranks", "learner", "ppo", "dqn", "train"],
}
# (what happens, file, symbol in it); a list beside another is a fork: one of the ways is taken.
DECISION = [
    ("time runs to the next decision point", "env/sim/clocks.cpp", "AdvanceToDecision"),
    ("features' timers fire, hooks in a stated order", "env/sim/feature.hpp", "class FeatureState"),
    ("what a scheduler may know now", "env/sim/cluster_view.hpp", "class ClusterView"),
    [
        [("a rule, an LP, a search", "env/sim/scheduler.hpp", "Decide")],
        [
            ("who can be placed, in order; mask", "env/gym/decision_point.hpp", "class DecisionPoint"),
            ("what is seen of them", "env/sim/observation_block.hpp", "class ObservationBlock"),
            ("scores of all candidates", "policies/inference.hpp", "Evaluate"),
            ("scores to a plan, best first", "env/gym/score_order.hpp", "class ScoreOrder"),
        ],
    ],
    ("starts, moves, stops, controls", "env/sim/decision.hpp", "class Decision"),
    ("legal as a whole, or one rule is named", "env/sim/decision_rules.cpp", "Validate"),
    ("carried out; features' hooks; event log", "env/sim/core.cpp", "Apply"),
    ("JCT, waits, energy, cost, columns of features", "env/sim/metrics.hpp", "struct Metrics"),
]
INK, PAPER, ROOM, LINE = "#1b1f24", "#ffffff", "#eef3f8", "#5b7690"


def sources(folder):
    return [p for p in sorted((ROOT / folder).rglob("*")) if p.suffix in (".cpp", ".hpp", ".cu", ".inc")]


def includes(path):
    return re.findall(r'^\s*#\s*include\s*"([^"]+)"', path.read_text(encoding="utf8"), re.M)


class Svg:
    def __init__(self, width, height):
        self.size, self.parts = (width, height), []

    def box(self, x, y, w, h, fill, stroke=LINE):
        self.parts.append(f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="6" fill="{fill}" stroke="{stroke}"/>')

    def text(self, x, y, words, size=12, bold=False, anchor="start", mono=False):
        family = "ui-monospace,Menlo,Consolas,monospace" if mono else "system-ui,Segoe UI,Helvetica,Arial,sans-serif"
        weight = ' font-weight="600"' if bold else ""
        self.parts.append(f'<text x="{x}" y="{y}" font-size="{size}" font-family="{family}"{weight} text-anchor="{anchor}" '
                          f'fill="{INK}">{escape(words)}</text>')

    def arrow(self, points, width=1.5):
        path = "M" + " L".join(f"{x} {y}" for x, y in points)
        self.parts.append(f'<path d="{path}" fill="none" stroke="{LINE}" stroke-width="{width:.1f}" marker-end="url(#tip)"/>')

    def __str__(self):
        width, height = self.size
        head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">\n'
                f'<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
                f'<path d="M0 0 L8 4 L0 8 z" fill="{LINE}"/></marker></defs>\n'
                f'<rect width="{width}" height="{height}" fill="{PAPER}"/>\n')
        return head + "\n".join(self.parts) + "\n</svg>\n"


def title_of(folder):
    """What the folder's README says that it is: "# env: the cluster and the decision process"."""
    first = (ROOT / folder / "README.md").read_text(encoding="utf8").split("\n", 1)[0]
    return first.split(":", 1)[1].strip() if ":" in first else first.lstrip("# ")


def draw_floors():
    width, gap, heights = 980, 12, [98 if folder in ROOMS else 40 for folder in FLOORS]
    svg = Svg(width, sum(heights) + gap * len(FLOORS) + 40)
    svg.text(12, 24, "Floors: an include points down the page; rooms: within a floor to the left.", 13)
    y = 40
    for folder, height in zip(reversed(FLOORS), reversed(heights)):
        used = sorted({i.split("/")[0] for p in sources(folder) for i in includes(p)} & set(FLOORS) - {folder}, key=FLOORS.index)
        svg.box(10, y, width - 20, height, PAPER)
        svg.text(22, y + 25, f"{folder}/", 15, bold=True, mono=True)
        svg.text(140, y + 25, title_of(folder))
        svg.text(width - 22, y + 25, "on " + (", ".join(used) or "the standard library only"), anchor="end")
        rooms = ROOMS.get(folder, [])
        each = (width - 40) / max(len(rooms), 1)
        for i, room in enumerate(rooms):
            below = {q.split("/")[1] for p in sources(f"{folder}/{room}") for q in includes(p) if q.startswith(folder + "/")}
            on = [name for name in rooms if name in below - {room}]
            x = 20 + i * each
            svg.box(x, y + 36, each - 8, 52, ROOM)
            svg.text(x + 8, y + 53, room, 13, bold=True, mono=True)
            svg.text(x + 8, y + 69, "on " + ", ".join(on[:2]) if on else "on none", 10)
            svg.text(x + 8, y + 82, ", ".join(on[2:]), 10)
        y += height + gap
    return str(svg)


def step(svg, x, y, width, what, file, symbol):
    if symbol not in (ROOT / file).read_text(encoding="utf8"):
        raise SystemExit(f"draw_architecture.py: {file}: expected '{symbol}', found none: the picture's steps are out of date")
    svg.box(x, y, width, 46, ROOM)
    svg.text(x + 10, y + 19, what, 12.5, bold=True)
    svg.text(x + 10, y + 36, f"{file}: {symbol.split()[-1]}", 11, mono=True)


def draw_decision():
    high, wide, margin = 64, 420, 50
    width, left = margin + 2 * wide + 30, margin + 7 + wide / 2
    rows = sum(max(len(way) for way in s) if isinstance(s, list) else 1 for s in DECISION)
    svg, y, open_ends = Svg(width, rows * high + 30), 20, []
    for entry in DECISION:
        ways = entry if isinstance(entry, list) else [[entry]]
        columns = [margin, margin + wide + 15] if len(ways) > 1 else [left]
        height, ends = max(len(way) for way in ways) * high, []
        for way, x in zip(ways, columns):
            for end, bottom in open_ends:
                svg.arrow([(end, bottom), (end, y - 9), (x + wide / 2, y - 9), (x + wide / 2, y)])
            for i, one in enumerate(way):
                if i:
                    svg.arrow([(x + wide / 2, y + i * high - 18), (x + wide / 2, y + i * high)])
                step(svg, x, y + i * high, wide, *one)
            ends.append((x + wide / 2, y + (len(way) - 1) * high + 46))
        open_ends, y = ends, y + height
    svg.arrow([(left, y - high + 23), (20, y - high + 23), (20, 43), (left, 43)])
    svg.text(28, y - high + 16, "until the window's jobs are done", 11)
    return str(svg)


def main(check):
    stale = []
    for name, drawn in (("floors", draw_floors()), ("decision", draw_decision())):
        path = ROOT / f"env/{name}.svg"
        if check and (not path.exists() or path.read_text(encoding="utf8") != drawn):
            stale.append(path.name)
        elif not check:
            path.write_text(drawn, encoding="utf8")
    if stale:
        print(f"not what the code gives: {', '.join(stale)}; run tools/docs/draw_architecture.py")
    return bool(stale)


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))

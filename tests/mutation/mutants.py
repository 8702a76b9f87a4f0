#!/usr/bin/env python3
"""Draws mutants, and builds one binary that holds them all (README.md).

    .venv/bin/python tests/mutation/mutants.py draw     # finds points, draws, writes build/mutants/mutants.json
    .venv/bin/python tests/mutation/mutants.py build    # mutated copies, objects, binaries in build/mutants
"""
import argparse
import collections
import dataclasses
import glob
import json
import os
import random
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import Pool

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OUT = os.path.join(ROOT, "build/mutants")
RELEASE = os.path.join(ROOT, "build/release")
STRATA = {"simulator": ["env/sim/*.cpp"], "decision process": ["env/gym/*.cpp", "env/gym/*/*.cpp"],
          "gavel": ["baselines/gavel/*.cpp"]}
PREFIX = "berth::mutation::On"


def sources(patterns):
    return sorted(os.path.relpath(f, ROOT) for p in patterns for f in glob.glob(os.path.join(ROOT, p)))


def clang_arguments():
    headers = glob.glob(os.path.join(ROOT, ".venv/lib/python3*/site-packages/highsbox/highs_dist/include/highs"))
    resources = subprocess.check_output(["clang-14", "-print-resource-dir"], text=True).strip()
    return ["-x", "c++", "-std=c++20", f"-I{ROOT}", "-DNDEBUG", "-isystem", "/usr/include/eigen3", "-w", "-resource-dir", resources] + [
        f"-isystem{h}" for h in headers]


def find(name):
    from clang import cindex
    from points import points_of
    return name, [dataclasses.asdict(p) for p in points_of(ROOT, name, clang_arguments(), cindex.Index.create())]


def draw(seed, each):
    """Every n-th point of a stratum's list in the order of files and lines, from a random one on: files have mutants in the
    proportion of their points. The list is kept, since a mutant that does not compile gives way to the next point."""
    os.makedirs(OUT, exist_ok=True)
    names = [n for patterns in STRATA.values() for n in sources(patterns)]
    with Pool() as pool:
        found = dict(pool.imap_unordered(find, names))
    chance = random.Random(seed)
    mutants, lists = [], {}
    for stratum, patterns in STRATA.items():
        points = [p for name in sources(patterns) for p in found[name]]
        lists[stratum] = points
        step = len(points) / each
        at = chance.random() * step
        mutants += [{"id": len(mutants) + i, "stratum": stratum, "index": int(at + i * step)} for i in range(each)]
    for m in mutants:
        m.update(lists[m["stratum"]][m["index"]])
    json.dump(lists, open(os.path.join(OUT, "points.json"), "w"))
    save(mutants)
    print({s: len(points) for s, points in lists.items()}, dict(collections.Counter(m["kind"] for m in mutants)),
          f"{len({m['file'] for m in mutants})} files")


def save(mutants):
    json.dump(mutants, open(os.path.join(OUT, "mutants.json"), "w"), indent=1)


OUTERMOST = ["return", "removed", "condition", "expression"]


def render(data, begin, end, mutants):
    """data[begin, end) with every mutant behind its question."""
    mutants = sorted(mutants, key=lambda m: (m["begin"], -m["end"], OUTERMOST.index(m["how"]), m["id"]))
    text, at = "", begin
    while mutants:
        m, mutants = mutants[0], mutants[1:]
        inner = [o for o in mutants if o["begin"] < m["end"]]
        mutants = mutants[len(inner):]
        text += data[at:m["begin"]]
        at = m["end"]

        def within(first, last):
            return render(data, first, last, [o for o in inner if first <= o["begin"] and o["end"] <= last])
        original = within(m["begin"], m["end"])
        changed = "".join(p if isinstance(p, str) else within(*p) for p in m["pieces"])
        asked = f"{PREFIX}({m['id']})"
        if m["how"] == "return":
            text += f"{{ if ({asked}) {changed} {original} }}"
        elif m["how"] == "removed":
            text += f"({asked} ? (void)0 : (void)({original}))"
        elif m["how"] == "condition":
            text += f"({asked} ? {changed} : static_cast<bool>({original}))"
        else:
            text += f"({asked} ? ({changed}) : ({original}))"
    return text + data[at:end]


def write_copy(name, mutants):
    data = open(os.path.join(ROOT, name), encoding="latin-1").read()
    text = '#include "tests/mutation/mutant.hpp"\n' + render(data, 0, len(data), [m for m in mutants if m["file"] == name])
    path = os.path.join(OUT, "src", name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path, "w", encoding="latin-1").write(text)
    return path


def flags_of(commands, name):
    words = shlex.split(commands[os.path.join(ROOT, name)])
    # As they were built, but for what makes compiling slow; and mutants are full of what warnings are about.
    drop = {"-Winvalid-pch", "-Werror", "-O3"}
    kept, skip = [], False
    for word, after in zip(words[1:], words[2:] + [""]):
        if skip or word in drop or word == "-include":
            skip = word == "-include"
            continue
        if word == "-o":
            break
        kept.append(word)
    return kept + ["-O1", "-w"]


def compile_one(commands, name, path, out):
    run = subprocess.run(["g++", *flags_of(commands, name), "-o", out, "-c", path], capture_output=True, text=True)
    return run.stderr if run.returncode else None


def build(jobs):
    commands = {}
    for entry in json.load(open(os.path.join(RELEASE, "compile_commands.json"))):
        commands.setdefault(entry["file"], entry["command"])
    mutants = json.load(open(os.path.join(OUT, "mutants.json")))
    lists = json.load(open(os.path.join(OUT, "points.json")))
    os.makedirs(os.path.join(OUT, "obj"), exist_ok=True)
    objects = {}

    def one(name):
        out = os.path.join(OUT, "obj", name.replace("/", "_") + ".o")
        objects[name] = out
        while True:
            path = os.path.join(OUT, "src", name)
            before = open(path, encoding="latin-1").read() if os.path.exists(path) else ""
            write_copy(name, mutants)
            if os.path.exists(out) and before == open(path, encoding="latin-1").read():
                return
            error = compile_one(commands, name, path, out)
            if error is None:
                print("compiled", name, flush=True)
                return
            os.path.exists(out) and os.remove(out)
            lines = open(path, encoding="latin-1").read().split("\n")
            bad = set()
            for found in re.finditer(re.escape(path) + r":(\d+):", error):
                around = "\n".join(lines[max(0, int(found.group(1)) - 3):int(found.group(1)) + 2])
                bad |= {int(n) for n in re.findall(re.escape(PREFIX) + r"\((\d+)\)", lines[int(found.group(1)) - 1])} or {
                    int(n) for n in re.findall(re.escape(PREFIX) + r"\((\d+)\)", around)}
            if not bad:
                raise SystemExit(f"{name}: {error[:2000]}")
            for m in mutants:
                if m["id"] in bad:
                    replace(m, lists[m["stratum"]], mutants, error)

    def replace(m, points, mutants, error):
        taken = {(o["stratum"], o["index"]) for o in mutants}
        index = m["index"]
        # Within its file, so that no other copy changes.
        same = [i for i, p in enumerate(points) if p["file"] == m["file"] and (m["stratum"], i) not in taken]
        tried = m.setdefault("stillborn", [])
        tried.append(f"{m['kind']} at line {m['line']}: {m['shown']}")
        after = [i for i in same if i > index] or same
        old = {k: m[k] for k in ("id", "stratum", "stillborn")}
        m.clear()
        m.update(old, index=after[0], **points[after[0]])
        print("does not compile:", old["stillborn"][-1], "->", m["line"], m["shown"], flush=True)

    names = sorted({m["file"] for m in mutants})
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, names))
    save(mutants)
    library = os.path.join(OUT, "obj", "mutant.o")
    subprocess.run(["g++", "-std=c++20", "-O1", "-fPIC", f"-I{ROOT}", "-c", os.path.join(ROOT, "tests/mutation/mutant.cpp"), "-o", library],
                   check=True)
    for target in ("libberth.so.0.2.0", "libberth_studies.so", "berth", "berth_tests"):
        line = subprocess.check_output(["ninja", "-C", RELEASE, "-t", "commands", target], text=True).strip().split("\n")[-1]
        words = shlex.split(line.removeprefix(": && ").removesuffix(" && :").split(" && ")[0])
        at = words.index("-o")
        words[at + 1] = os.path.join(OUT, target)
        with_gavel = target != "libberth.so.0.2.0"  # it holds no baselines
        mine = [o for n, o in objects.items() if with_gavel or n.startswith("env/")] + [library]
        words = [os.path.join(OUT, w) if w == "libberth.so.0.2.0" else w for w in words]
        words[at + 2:at + 2] = mine
        subprocess.run(words, cwd=RELEASE, check=True)
        print("linked", target, flush=True)
        if target == "libberth.so.0.2.0" and not os.path.exists(os.path.join(OUT, "libberth.so.1")):
            os.symlink(target, os.path.join(OUT, "libberth.so.1"))  # the name that the suite asks for


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["draw", "build"])
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--each", type=int, default=50, help="mutants of each stratum")
    parser.add_argument("--jobs", type=int, default=2)
    a = parser.parse_args()
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    draw(a.seed, a.each) if a.verb == "draw" else build(a.jobs)

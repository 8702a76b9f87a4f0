"""Draws one picture for each example in realism.json of `berth reproduce realism`.

usage: plot_realism.py FOLDER
"""
import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend must be chosen first)

# Okabe and Ito's palette, which colour-blind readers can tell apart; markers repeat the distinction.
COLOURS = ["#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]


def draw(example, path):
    figure, axes = plt.subplots(figsize=(7.0, 4.2), layout="constrained")
    axes.set_title(example["title"], loc="left", fontsize=9, wrap=True)
    axes.set_xlabel(example["x_label"])
    axes.set_ylabel(example["y_label"])
    axes.grid(True, color="#e4e4e4", linewidth=0.7)
    axes.spines[["top", "right"]].set_visible(False)
    for k, curve in enumerate(example["curves"]):
        colour, marker = COLOURS[k % len(COLOURS)], MARKERS[k % len(MARKERS)]
        style = {"color": colour, "label": curve["name"], "linewidth": 1.5}
        if example["steps"]:
            axes.step(curve["x"], curve["y"], where="post", **style)
        else:
            dense = len(curve["x"]) > 40
            axes.plot(curve["x"], curve["y"], marker=None if dense else marker, markersize=4, **style)
        if curve["low"]:
            axes.fill_between(curve["x"], curve["low"], curve["high"], color=colour, alpha=0.15, linewidth=0)
    if example["log_x"]:
        axes.set_xscale("log")
    if example["log_y"]:
        axes.set_yscale("log")
    elif any(len(curve["x"]) > 1 for curve in example["curves"]):  # lines: from 0; single points: where they lie
        axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))
    axes.legend(fontsize=8, frameon=False)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main():
    folder = pathlib.Path(sys.argv[1])
    with open(folder / "realism.json") as file:
        examples = json.load(file)["examples"]
    for example in examples:
        if example["curves"]:
            draw(example, folder / f"{example['name']}.png")


main()

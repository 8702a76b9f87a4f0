"""How the figures look: one palette, one line style a scheduler, the same in every figure."""
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend must be chosen first)

# Okabe and Ito's palette, which colour-blind readers can tell apart; line styles repeat the distinction.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999", "#F0E442"]
STYLES = ["-", "--", "-.", ":"]

plt.rcParams.update({
    "figure.dpi": 100, "savefig.dpi": 160, "svg.hashsalt": "berth", "font.size": 9.5, "axes.titlesize": 10,
    "axes.titlelocation": "left", "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
    "grid.color": "#e4e4e4", "grid.linewidth": 0.7, "legend.frameon": False, "legend.fontsize": 8.5,
    "axes.axisbelow": True,
})


def labels(specs):
    """Short names: a policy by its file, long specs cut in the middle."""
    names = []
    for spec in specs:
        name = spec
        if spec.startswith("policy(file="):
            name = "policy " + spec[len("policy(file="):].rstrip(")").split(",")[0].rsplit("/", 1)[-1]
        names.append(name if len(name) <= 40 else name[:24] + "…" + name[-15:])
    return names if len(set(names)) == len(names) else list(specs)


def line(k, specs):
    """What draws scheduler k: learned ones are black and wide."""
    if specs[k].startswith("policy"):
        return {"color": "black", "linestyle": "-", "linewidth": 2.6, "alpha": 0.55}
    return {"color": COLOURS[k % len(COLOURS)], "linestyle": STYLES[k % len(STYLES)], "linewidth": 1.6}


def colour(k, specs):
    return line(k, specs)["color"]


def plain_numbers(axis):
    """1000 instead of 10^3, at the major ticks alone."""
    axis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(matplotlib.ticker.NullFormatter())


def legend_below(figure, specs, shown=None):
    """One legend for all panels, below them."""
    handles = [plt.Line2D([], [], **line(k, specs)) for k in range(len(specs))]
    names = shown or labels(specs)
    figure.legend(handles, names, loc="outside lower center", handlelength=3,
                  ncols=max(1, min(len(specs), int(110 / (max(map(len, names)) + 6)))))

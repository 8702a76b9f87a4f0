"""How the figures look: one palette, one line style a scheduler, the same in every figure."""
import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend must be chosen first)

# Okabe and Ito's palette, which colour-blind readers can tell apart; line styles repeat the distinction.
COLOURS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999", "#F0E442"]
STYLES = ["-", "--", "-.", ":"]
LEARNED = ["black", "#767676"]
# Of a round of colours the first four lines are wide, each with its own dashes, and the others narrow and above them: where two
# meet, the one below shows in the gaps or at the edges of the other.
WIDE, NARROW, SHARED = 2.4, 1.2, 1.8
PERIOD = 16  # line widths: alternating colours come round within what a legend shows of a line

plt.rcParams.update({
    "figure.dpi": 100, "savefig.dpi": 160, "svg.hashsalt": "berth", "font.size": 9.5, "axes.titlesize": 10,
    "axes.titlelocation": "left", "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
    "grid.color": "#e4e4e4", "grid.linewidth": 0.7, "legend.frameon": False, "legend.fontsize": 8.5,
    "axes.axisbelow": True,
    "text.parse_math": False,  # names come from files, and two dollars in one are no formula
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


def learned(spec):
    return spec.startswith("policy")


def look(nth, learned=False):
    """Of the nth line: 32 classical ones differ from each other, and 8 learned ones, which are black or grey and wider than all."""
    if learned:
        return {"color": LEARNED[nth // len(STYLES) % len(LEARNED)], "linestyle": STYLES[nth % len(STYLES)], "linewidth": 3.6, "alpha": 0.5}
    # The next round of colours begins one style later, so that it does not repeat the first.
    return {"color": COLOURS[nth % len(COLOURS)], "linestyle": STYLES[(nth + nth // len(COLOURS)) % len(STYLES)],
            "linewidth": WIDE if nth % len(COLOURS) < len(STYLES) else NARROW}


def looks(specs, groups=()):
    """What draws each scheduler. Those of a group (`alike`) would hide each other: they are one line of alternating colours."""
    drawn = []
    for k, spec in enumerate(specs):
        kind = learned(spec)
        drawn.append(look(sum(learned(other) == kind for other in specs[:k]), kind))
        # Where curves only meet, what is narrow, or has gaps, lies above.
        drawn[k]["zorder"] = 2.5 - 0.1 * drawn[k]["linewidth"] + 0.02 * STYLES.index(drawn[k]["linestyle"])
    for group in groups:
        for kind in (False, True):  # a learned one, wide and pale, is seen below a classical one as it is
            members = [k for k in group if learned(specs[k]) == kind]
            length = min(4, PERIOD / max(len(members), 1))
            for i, k in enumerate(members if len(members) > 1 else ()):
                drawn[k]["linewidth"] = SHARED if not kind else drawn[k]["linewidth"]  # dashes are in line widths
                drawn[k]["linestyle"] = (length * (len(members) - i), (length, length * (len(members) - 1)))
    return drawn


def thin(drawn):
    """The same lines for what goes up and down all the time, where wide ones would be one blot."""
    return [{**look, "linewidth": 0.6 * look["linewidth"]} for look in drawn]


def time_unit(seconds):
    """(name, seconds of it) of times that are shown together: seconds where all are short."""
    known = seconds[np.isfinite(seconds)]
    return ("s", 1.0) if known.size and known.max() < 600.0 else ("hours", 3600.0)


def log_limits(values, share=1.0):
    """Of a logarithmic axis: the positive values but for the largest 1 - share, with a margin, so that first and last steps are seen;
    some width even where they are equal."""
    known = values[np.isfinite(values) & (values > 0)]
    if not known.size:
        return 0.1, 10.0
    low, high = known.min(), np.quantile(known, share)
    margin = (high / low) ** 0.04 if high > low else 2.0
    return low / margin, high * margin


def cumulative(values, total, limits):
    """Steps (x, y) of the share of `total` that is at most x, from one limit of the axis to the other: of a single value, too."""
    known = np.sort(values[np.isfinite(values)])
    return np.concatenate([[limits[0]], known, [limits[1]]]), np.concatenate([np.arange(known.size + 1), [known.size]]) / total


def say(axes, text):
    """In the place of what there is not."""
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color="#666666")


def legend(axes):
    """Of the lines that there are."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend(handlelength=3)


def plain_numbers(axis):
    """1000 instead of 10^3, of a logarithmic axis whose limits are set: at the powers of ten, between them too where there are few,
    and where there may be none, evenly."""
    low, high = axis.get_view_interval()
    decades = np.log10(high / low)
    plain = matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:g}")
    axis.set_major_formatter(plain)
    if decades < 0.7:
        axis.set_major_locator(matplotlib.ticker.MaxNLocator(6))
        axis.set_minor_locator(matplotlib.ticker.NullLocator())
    elif decades < 2.5:
        axis.set_minor_locator(matplotlib.ticker.LogLocator(subs=(2, 5)))
        axis.set_minor_formatter(plain)
    else:
        axis.set_minor_formatter(matplotlib.ticker.NullFormatter())


def legend_below(figure, specs, drawn):
    """One legend for all panels, below them."""
    handles = [plt.Line2D([], [], **look) for look in drawn]
    names = labels(specs)
    figure.legend(handles, names, loc="outside lower center", handlelength=3,
                  ncols=max(1, min(len(specs), int(110 / (max(map(len, names)) + 6)))))

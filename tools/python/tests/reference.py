"""The pages of reference/, from the docstrings: written by `tools/python/test --update-pages`, held to be current by test_help.py."""

import ast
import inspect
import pathlib
import re
import textwrap

import public_names

FOLDER = pathlib.Path(__file__).parents[1] / "reference"
WIDTH = 100
PAGES = {
    "schedulers": ("Schedulers", ["berth.Scheduler", "berth.View", "berth.Decision", "berth.check_scheduler", "berth.Error"]),
    "runs": ("Runs and grids", ["berth.evaluate", "berth.frames.Evaluation", "berth.results.Rows", "berth.simulate", "berth.Simulation",
                                "berth.sweep", "berth.frames.Sweep", "berth.studies.SweepRows", "berth.executors.RayExecutor",
                                "berth.size", "berth.studies.Size"]),
    "environments": ("Environments", ["berth.make", "berth.make_vec", "berth.help", "berth.ClusterEnv", "berth.ClusterVectorEnv",
                                      "berth.Block", "berth.blocks.blocks_of", "berth.sb3.SB3VecEnv"]),
    "jobs": ("Jobs", ["berth.Jobs", "berth.Scenario", "berth.scenario.Frames"]),
    "training": ("Training and policies", ["berth.train", "berth.train_help", "berth.Policy", "berth.load_policy", "berth.OnnxPolicy"]),
}
MADE = "Made from the docstrings by `tools/python/test --update-pages`."


def pages():
    """Their texts, by the name of the file."""
    known = public_names.names()
    of_module = public_names.docstring(public_names.modules()[public_names.ALIASES])
    lines = ["# Reference of the Python package", "", MADE + " Guides with longer examples are on",
             "[the page above](../README.md). In the examples `berth` and `numpy as np` are imported; a test runs them.", ""]
    found = {}
    for page, (title, names) in PAGES.items():
        lines += [f"## [{title}]({page}.md)", "", "| name | what |", "|---|---|"]
        lines += [f"| [`{name}`]({page}.md#{anchor(name)}) | {summary(known[name])} |" for name in names]
        lines.append("")
        parts = [f"# {title}", "", MADE + " All names: [README.md](README.md).", ""]
        for name in names:
            parts += ["", *entry(name, known[name])]
        found[f"{page}.md"] = "\n".join(parts).replace("\n\n\n", "\n\n") + "\n"
    lines += [f"## `{public_names.ALIASES}`", "", *markdown(of_module)]
    found["README.md"] = "\n".join(lines) + "\n"
    return found


def anchor(name):
    return name.replace(".", "").lower()


def summary(value):
    """The first sentence."""
    first = public_names.docstring(value).split("\n\n")[0].replace("\n", " ")
    return code(re.split(r"(?<=\.) |:$", first)[0]).rstrip(":")


def entry(name, value):
    lines = [f"## {name}", ""]
    made = value if not isinstance(value, type) else vars(value).get("__init__")
    text = signature(made, name) if made is not None else None
    if text is not None:
        lines += ["```python", text, "```", ""]
    lines += markdown(public_names.docstring(value))
    if not isinstance(value, type):
        return lines
    short = []
    for member, its in public_names.members(value).items():
        doc = public_names.docstring(its)
        if isinstance(its, public_names.PROPERTIES) or type(its).__name__ == "nb_property":
            short.append(filled(f"- `{member}`: {code(doc)}"))
            continue
        short += [""] if short else []
        lines += [*short, f"### {name}.{member}", "", "```python", signature(public_names.function_of(its), member), "```", "",
                  *markdown(doc)]
        short = []
    return [*lines, *short, *([""] if short else [])]


def signature(function, name):
    """NAME(arguments) -> result, as the source has it, or nanobind's stub; None of what has neither."""
    if hasattr(function, "__nb_signature__"):
        text = function.__nb_signature__[0][0].removeprefix("def ")
        text = re.sub(r"\\d+|(?:typing|collections\.abc)\.", "", text)
    else:
        try:
            source = textwrap.dedent(inspect.getsource(function))
        except (OSError, TypeError):
            return None
        node = next(it for it in ast.walk(ast.parse(source)) if isinstance(it, ast.FunctionDef))
        node.body, node.decorator_list = [ast.Pass()], []
        text = ast.unparse(node).removeprefix("def ").split(":\n    pass")[0]
    arguments, _, result = text.partition("(")[2].rpartition(")")
    inner = [spaced(part) for part in split(arguments) if part not in ("self", "cls", "/")]
    result = "" if result.strip() in ("-> None", "") else " " + re.sub(r"^-> '(.*)'$", r"-> \1", result.strip())
    whole = f"{name}({', '.join(inner)}){result}"
    if len(whole) <= WIDTH:
        return whole
    return f"{name}(\n" + "".join(f"    {part},\n" for part in inner) + f"){result}"


def spaced(argument):
    """NAME: TYPE = DEFAULT."""
    return re.sub(r"(?<! )=(?! )", " = ", argument) if ": " in argument else argument


def split(arguments):
    """At the commas that no bracket holds."""
    parts, depth = [""], 0
    for letter in arguments:
        depth += (letter in "[({") - (letter in "])}")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def markdown(doc):
    """A docstring of NumPy's style as lines of Markdown."""
    found = []
    sections = re.split(r"(?m)^(\w+)\n-{3,}$", doc)
    found += [code(sections[0].strip()), ""]
    for title, body in zip(sections[1::2], sections[2::2]):
        body = body.strip("\n")
        found += [f"**{title}**", ""]
        if title == "Examples":
            found += ["```python", body.rstrip(), "```", ""]
        elif title == "Notes":
            found += [code(body.strip()), ""]
        else:
            for item in re.split(r"(?m)^(?=\S)", body):
                head, _, rest = item.partition("\n")
                if head.strip():
                    found.append(filled(f"- `{head.strip()}`: {code(rest)}"))
            found.append("")
    return found


def filled(item):
    return textwrap.fill(" ".join(item.split()), 120, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def code(text):
    return text.replace("``", "`")

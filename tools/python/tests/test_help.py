"""Help: every public name has a docstring whose example runs, and the pages of reference/ are what the docstrings say."""

import doctest
import importlib.util
import os
import pathlib
import re
import tempfile
import unittest
import unittest.mock

import numpy as np

import berth
import public_names
import reference

ROOT = pathlib.Path(__file__).parents[3]
NEEDS = {"berth.OnnxPolicy": ["torch", "onnx", "onnxruntime"], "berth.executors.RayExecutor": ["ray"]}


class Docstrings(unittest.TestCase):
    def test_every_public_name_has_one(self):
        for name, doc in public_names.docstrings().items():
            with self.subTest(name):
                self.assertRegex(doc, r"^\S.*\S")

    def test_every_public_attribute_is_in_its_class_s(self):
        for name, value in public_names.names().items():
            for attribute in public_names.attributes(value) if isinstance(value, type) else ():
                with self.subTest(f"{name}.{attribute}"):
                    self.assertIn(f"`{attribute}`", value.__doc__)
        for alias in public_names.modules()[public_names.ALIASES].__all__:
            self.assertIn(f"``{alias}``", public_names.modules()[public_names.ALIASES].__doc__)

    def test_every_public_name_has_an_example(self):
        for name, value in {"berth": berth, **public_names.names()}.items():
            with self.subTest(name):
                self.assertIn(">>> ", public_names.docstring(value))

    def test_sections_are_those_of_numpy(self):
        known = {"Parameters", "Returns", "Raises", "Notes", "Examples"}
        for name, doc in public_names.docstrings().items():
            with self.subTest(name):
                titles = re.findall(r"(?m)^(\w+)\n-{3,}$", doc)
                self.assertLessEqual(set(titles), known)
                self.assertEqual(len(titles), len(set(titles)))

    def test_parameters_are_those_of_the_function(self):
        for name, value in public_names.names().items():
            text = reference.signature(value.__init__ if isinstance(value, type) else value, name)
            doc = value.__doc__
            if text is None or "Parameters\n" not in doc:
                continue
            with self.subTest(name):
                section = re.search(r"Parameters\n +-+\n(.*?)(?:\n\n|\Z)", doc, re.DOTALL)[1]
                indent = re.match(r" *", section)[0]
                told = {word for line in section.splitlines() if re.match(indent + r"\S", line)
                        for word in re.findall(r"[*\w]+", line)}
                arguments = {re.match(r"[*\w]+", part)[0] for part in reference.split(text.partition("(")[2].rpartition(")")[0])}
                self.assertEqual(told, arguments - {"*", "render_mode"})


class Pages(unittest.TestCase):
    def test_reference_pages_are_what_the_docstrings_say(self):
        expected = reference.pages()
        if os.environ.get("BERTH_UPDATE_PAGES"):
            reference.FOLDER.mkdir(exist_ok=True)
            for name, text in expected.items():
                (reference.FOLDER / name).write_text(text)
        there = {path.name: path.read_text() for path in reference.FOLDER.glob("*.md")}
        self.assertEqual(set(there), set(expected))
        for name, text in expected.items():
            self.assertEqual(there[name], text, f"{name}: run tools/python/test --update-pages, and read the diff")

    def test_every_public_name_is_on_one(self):
        told = [name for _, names in reference.PAGES.values() for name in names]
        self.assertEqual(sorted(told), sorted(public_names.names()))


def example(test):
    """A case of a docstring's examples, in a folder of its own in which data/ is the checkout's."""
    def enter(_):
        missing = [name for name in NEEDS.get(test.name, []) if importlib.util.find_spec(name) is None]
        if missing:
            raise unittest.SkipTest(f"needs {', '.join(missing)}")
        if test.name == "berth.train" and not os.path.exists(os.environ["BERTH_LEARN_LIBRARY"]):
            raise unittest.SkipTest("needs the learners")
        folder = tempfile.TemporaryDirectory()
        environment = unittest.mock.patch.dict(os.environ, MPLBACKEND="agg")  # no window, and for no other test
        environment.start()
        leave.extend([folder.cleanup, lambda before=os.getcwd(): os.chdir(before), environment.stop])
        os.symlink(ROOT / "data", pathlib.Path(folder.name) / "data")
        os.chdir(folder.name)

    leave = []
    case = doctest.DocTestCase(test, setUp=enter, tearDown=lambda _: [leave.pop()() for _ in range(len(leave))])
    case.id = lambda: f"test_help.Example.{test.name}"
    return case


def load_tests(loader, tests, pattern):
    parser = doctest.DocTestParser()
    for name, doc in public_names.docstrings().items():
        test = parser.get_doctest(doc, {"berth": berth, "np": np}, name, name, 0)
        if test.examples:
            tests.addTest(example(test))
    return tests

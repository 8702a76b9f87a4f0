"""Types: mypy passes over the package and over a program that uses it, and what is there when it runs is what the types say."""

import ast
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import berth

TESTS = pathlib.Path(__file__).parent
SETTINGS = TESTS.parents[2] / "pyproject.toml"
CACHE = pathlib.Path(sys.prefix) / "mypy-cache"  # the second time takes seconds


def run(*words, cwd=None):
    return subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True, cwd=cwd)


class Types(unittest.TestCase):
    def strict(self, *what):
        with tempfile.TemporaryDirectory() as elsewhere:  # where no folder is named berth
            said = run("-m", "mypy", "--strict", "--config-file", SETTINGS, "--cache-dir", CACHE, *what, cwd=elsewhere)
        self.assertEqual(said.returncode, 0, said.stdout[-4000:] + said.stderr[-2000:])

    def test_the_package_says_that_it_is_typed(self):
        self.assertTrue((pathlib.Path(berth.__file__).parent / "py.typed").is_file())

    def test_the_package_is_strict(self):
        self.strict("-p", "berth")

    def test_a_program_that_uses_it_is_strict(self):
        self.strict(TESTS / "typed_program.py")

    def test_a_program_that_uses_it_runs(self):
        learners = ["learners"] if os.path.exists(os.environ["BERTH_LEARN_LIBRARY"]) else []
        with tempfile.TemporaryDirectory() as folder:
            said = run(TESTS / "typed_program.py", folder, *learners)
        self.assertEqual(said.returncode, 0, said.stderr[-4000:])

    def test_the_stub_names_what_is_there(self):
        stub = ast.parse((pathlib.Path(berth.__file__).parent / "_berth.pyi").read_text())
        told = {it.name for it in stub.body if isinstance(it, (ast.ClassDef, ast.FunctionDef))}
        self.assertEqual(told, {name for name in vars(berth._berth) if not name.startswith("_")})
        for name, value in vars(berth._berth).items():
            if type(value).__name__ == "nb_func":
                [function] = [it for it in stub.body if getattr(it, "name", None) == name]
                arguments = re.findall(r"(\w+): ", value.__nb_signature__[0][0].split(") ->")[0])
                self.assertEqual([it.arg for it in function.args.args], arguments)

    def test_stubs_say_what_is_there(self):  # of berth._berth too
        with tempfile.TemporaryDirectory() as elsewhere:
            said = run("-m", "mypy.stubtest", "--mypy-config-file", SETTINGS, "--allowlist", TESTS / "stubtest_allowlist.txt",
                       "--ignore-unused-allowlist", "berth", cwd=elsewhere)
        self.assertEqual(said.returncode, 0, said.stdout[-4000:] + said.stderr[-2000:])

"""The command `berth` of an install, the files that its binary opens, and what goes into a wheel (tools/wheel), which is not built here."""

import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import berth_command

BERTH = os.environ["BERTH"]
FOLDER = pathlib.Path(__file__).parents[1]
TOP = FOLDER.parents[1]
EVALUATE = ["evaluate", "--workload", "synthetic(rate=3,jobs=20)", "--cluster", "v100=4", "--schedulers", "fcfs", "--seeds", "0:1",
            "--report", "page"]


def run(*words, **environment):
    return subprocess.run([str(word) for word in words], env={**os.environ, **environment}, capture_output=True, text=True, timeout=120)


def write(path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.site = pathlib.Path(folder.name)
        shutil.copy(FOLDER / "berth_command.py", self.site)

    def run_main(self, body, *words, **environment):
        """What becomes of the command where the library of the package is this main()."""
        write(self.site / "berth/__init__.py", "raise SystemExit('imported')")
        write(self.site / "main.c", f"#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
                                    f"int main(int argc, char** argv) {{ {body} return 3; }}\n")
        (self.site / "berth/bin").mkdir()
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.site / "berth/bin/libberth_command.so", self.site / "main.c"], check=True)
        return run(sys.executable, self.site / "berth_command.py", *words, **environment)

    def test_without_the_library_it_says_so_in_one_line(self):
        script = pathlib.Path(sys.executable).with_name("berth")  # as `pip install .` wrote it
        done = run(script, "evaluate")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(str(berth_command.place()[0]), done.stderr)
        self.assertIn("tools/wheel", done.stderr)

    def test_it_runs_main_in_this_python_and_says_where_things_are(self):
        names = ["BERTH_HOME", "BERTH_PYTHON", "BERTH_COMMAND", "BERTH_PYTHON_LIBRARY"]
        says = "".join(f'puts(getenv("{name}"));' for name in names)
        done = self.run_main(says + 'printf("%d,%s,%d\\n", argc, argv[1], argv[argc] == 0);', "a b", "\udcff", BERTH_HOME="elsewhere")
        self.assertEqual(done.returncode, 3, done.stderr)
        suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
        self.assertEqual(done.stdout.splitlines(),
                         [f"{self.site}/berth/share", sys.executable, "berth", f"{self.site}/berth/_berth{suffix}", "3,a b,1"])

    def test_a_closed_pipe_and_ctrl_c_end_it_as_they_end_the_binary(self):
        self.assertEqual(self.run_main("raise(SIGPIPE);").returncode, -signal.SIGPIPE)
        shutil.rmtree(self.site / "berth")
        # Not ignored, as a shell's background jobs do.
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))
        self.assertEqual(self.run_main("raise(SIGINT);").returncode, -signal.SIGINT)


class InThisPython(unittest.TestCase):
    """The command line of the build in an installed package, as in a wheel."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        package = self.folder / "site/berth"
        package.mkdir(parents=True)
        for path in pathlib.Path(importlib.util.find_spec("berth").origin).parent.iterdir():
            (package / path.name).symlink_to(path)
        (package / "bin").mkdir()
        for name in ("libberth_command.so", "libberth_studies.so"):
            (package / "bin" / name).symlink_to(pathlib.Path(BERTH).with_name(name))
        shutil.copy(FOLDER / "berth_command.py", self.folder / "site")

    def command(self, *words, **environment):
        return subprocess.run([sys.executable, self.folder / "site/berth_command.py", *words], cwd=self.folder, capture_output=True,
                              text=True, timeout=300, env=os.environ | {"PYTHONPATH": str(self.folder / "site")} | environment)

    def test_schedulers_of_python_are_made_there(self):
        shutil.copy(FOLDER / "examples/shortest_first.py", self.folder / "mine.py")
        words = ["evaluate", "--schedulers", "srpt;python(file=mine.py:ShortestFirst)", "--workload", "synthetic(rate=3,jobs=40)",
                 "--cluster", "v100=4", "--seeds", "0:3", "--threads", "2", "--json"]
        done = self.command(*words, "here.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        done = subprocess.run([BERTH, *words, "there.json"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        here, there = (json.loads((self.folder / name).read_text())["schedulers"] for name in ("here.json", "there.json"))
        self.assertEqual([[run["signature"] for run in row["workloads"]] for row in here],
                         [[run["signature"] for run in row["workloads"]] for row in there])

    def test_other_verbs_find_what_lies_beside_them_and_import_nothing(self):
        for name in ("numpy", "_berth"):
            write(self.folder / f"site/{name}.py", "raise SystemExit('imported')")
        done = self.command("sweep", "--over", "rate=1,2", "--workload", "queueing(rate={rate},jobs=10)", "--schedulers", "fcfs", "--seeds", "0:2",
                            "--out", "cells")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.command("--version").stdout.split()[:2], ["berth", "0.2.0"])

    def test_what_fails_is_one_line_and_exit_code_2(self):
        write(self.folder / "mine.py", "import berth\nclass Mine(berth.Scheduler):\n    def decide(self, view, decision):\n        1 / 0\n")
        words = ["simulate", "--workload", "queueing(jobs=10)", "--scheduler"]
        for spec, says in [("python(file=mine.py:Mine)", "fails at 0 s: ZeroDivisionError: division by zero"),
                           ("python(file=none.py:Mine)", "none.py: expected a file of Python, found none"), ("fcsf", "did you mean 'fcfs'")]:
            with self.subTest(spec):
                done = self.command(*words, spec)
                self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
                self.assertIn(says, done.stderr)
        (self.folder / "site/berth/__init__.py").unlink()
        write(self.folder / "site/berth/__init__.py", "raise ImportError('not today')")
        done = self.command(*words, "python(file=mine.py:Mine)")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
        self.assertIn("cannot import berth: not today", done.stderr)


class Home(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.script = self.folder / "tools/report/report.py"

    def evaluate(self):
        return subprocess.run([BERTH, *EVALUATE], env={**os.environ, "BERTH_HOME": str(self.folder), "BERTH_PYTHON": sys.executable},
                              cwd=self.folder, capture_output=True, text=True, timeout=120)

    def test_scripts_are_those_of_berth_home(self):
        write(self.script, "import pathlib, sys\npathlib.Path('drawn').write_text(sys.executable)\n")
        done = self.evaluate()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.folder / "drawn").read_text(), sys.executable)

    def test_a_missing_script_is_named_by_its_place(self):
        self.assertIn(str(self.script), self.evaluate().stderr)

    def test_a_missing_package_comes_by_pip_where_there_is_no_checkout(self):
        write(self.script, "import a_package_that_nobody_has\n")
        self.assertIn("pip install 'berth[report]'", self.evaluate().stderr)

    def test_learners_that_cannot_be_loaded_say_how_pytorch_comes(self):
        write(self.folder / "learners.so", "no library\n")
        done = run(BERTH, "train", "--out", self.folder / "run", BERTH_LEARN_LIBRARY=str(self.folder / "learners.so"))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("pip install 'berth[train]'", done.stderr)


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        sys.path.insert(0, str(FOLDER))
        import wheel_of_all
        sys.path.remove(str(FOLDER))
        cls.wheel = wheel_of_all

    def test_it_has_every_file_that_a_verb_opens(self):
        asked = set()
        for source in (TOP / "tools").rglob("*.cpp"):
            if source.is_relative_to(TOP / "tools/bench"):
                continue  # how fast a build of a checkout is
            text = source.read_text()
            asked |= {f"tools/{name}" for name in re.findall(r'RunPlotScript\(\s*"([^"]+)"', text)}
            asked |= {f"tools/report/{name}" for name in re.findall(r'\bPart\("([^"]+)"', text)}
            asked |= {name for name in re.findall(r'HomeFile\("((?!\.)[^"]+[^"/])"\)', text)}
        self.assertIn("tools/report/report.py", asked)
        self.assertIn("tools/report/page.css", asked)
        self.assertIn("data/policies", asked)
        shipped = self.wheel.shared_files()
        for name in asked:
            self.assertTrue(any(file == name or file.startswith(name + "/") for file in shipped), name)

    def test_it_asks_for_all_but_what_is_inside(self):
        with tempfile.TemporaryDirectory() as folder:
            metadata = pathlib.Path(folder) / "METADATA"
            metadata.write_text("Name: berth\nRequires-Dist: numpy\nRequires-Dist: highsbox==1.15.1\n\nhighsbox is named here too\n")
            self.wheel.set_metadata(pathlib.Path(folder))
            self.assertEqual(metadata.read_text(), "Name: berth\nRequires-Dist: numpy\n\nhighsbox is named here too\n")

    def test_what_is_grafted_has_a_package_with_a_licence(self):
        library = next(pathlib.Path("/usr/lib").glob("*/libboost_program_options.so.*"))
        package = self.wheel.package_of(library)
        self.assertIn("libboost-program-options", package)
        self.assertTrue((pathlib.Path("/usr/share/doc") / package / "copyright").exists())

    def test_pins_are_those_of_the_checkout(self):
        torch = re.search(r"^torch==\S+", (TOP / "tools/requirements.txt").read_text(), re.M)[0]
        self.assertIn(f'"{torch}"', (TOP / "pyproject.toml").read_text())


if __name__ == "__main__":
    unittest.main()

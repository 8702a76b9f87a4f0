"""The command `berth` of an install, the files that its binary opens, and what goes into a wheel (tools/wheel), which is not built here."""

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
    def test_without_the_binary_it_says_so_in_one_line(self):
        script = pathlib.Path(sys.executable).with_name("berth")  # as `pip install .` wrote it
        done = run(script, "evaluate")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(str(berth_command.place()[0]), done.stderr)
        self.assertIn("tools/wheel", done.stderr)

    def test_it_runs_the_binary_of_the_package_and_says_where_things_are(self):
        with tempfile.TemporaryDirectory() as folder:
            site = pathlib.Path(folder)
            shutil.copy(FOLDER / "berth_command.py", site)
            write(site / "berth/__init__.py", "raise SystemExit('imported')")
            write(site / "berth/bin/berth", '#!/bin/sh\necho "$BERTH_HOME,$BERTH_PYTHON,$BERTH_COMMAND,$#,$1"; exit 3\n', 0o755)
            done = run(sys.executable, site / "berth_command.py", "a b", "c", BERTH_HOME="elsewhere")
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertEqual(done.stdout, f"{site}/berth/share,{sys.executable},berth,2,a b\n")

    def test_a_closed_pipe_ends_it_as_it_ends_the_binary(self):
        with tempfile.TemporaryDirectory() as folder:
            site = pathlib.Path(folder)
            shutil.copy(FOLDER / "berth_command.py", site)
            write(site / "berth/__init__.py", "")
            write(site / "berth/bin/berth", "#!/bin/sh\nkill -PIPE $$\nexit 3\n", 0o755)
            self.assertEqual(run(sys.executable, site / "berth_command.py").returncode, -signal.SIGPIPE)


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

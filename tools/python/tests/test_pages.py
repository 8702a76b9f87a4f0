"""The examples of OWN.md."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PAGE = pathlib.Path(__file__).parents[1] / "OWN.md"


class Pages(unittest.TestCase):
    def test_every_example_runs(self):
        examples = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
        self.assertEqual(len(examples), 5)
        with tempfile.TemporaryDirectory() as folder:
            for number, example in enumerate(examples):
                path = pathlib.Path(folder) / f"example{number}.py"  # a file: workers of a sweep import it
                path.write_text(example)
                with self.subTest(number):
                    said = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, cwd=folder)
                    self.assertEqual(said.returncode, 0, said.stderr[-2000:])
                    if "# (8, 10)" in example:
                        self.assertEqual(said.stdout.strip(), "(8, 10)")

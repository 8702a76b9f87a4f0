"""Five hundred malformed calls of everything that the package has."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

CALLS, SEED = 500, 1
MAY_RAISE = {"ValueError", "KeyError", "TypeError", "FileNotFoundError"}  # berth.Error is a ValueError


class Malformed(unittest.TestCase):
    def test_each_raises_one_line_and_the_interpreter_goes_on(self):
        program = pathlib.Path(__file__).with_name("malformed.py")
        with tempfile.TemporaryDirectory() as folder:  # a process of its own: an abort ends it, and is seen
            said = subprocess.run([sys.executable, str(program), str(CALLS), str(SEED)], cwd=folder, capture_output=True, text=True)
        lines = [json.loads(line) for line in said.stdout.splitlines() if line.startswith('{"')]
        called = {line["begun"]: line["call"] for line in lines if "begun" in line}
        ended = {line["ended"]: line for line in lines if "ended" in line}
        self.assertEqual(said.returncode, 0, f"after {called.get(len(ended))}:\n{said.stderr[-2000:]}")
        self.assertEqual(len(ended), CALLS)
        wrong = [f"{called[index]}\n  {line['kinds'][:1]}: {line['message']}" for index, line in ended.items()
                 if not MAY_RAISE & set(line["kinds"]) or line["lines"] != 1]
        self.assertFalse(wrong, f"{len(wrong)} of {CALLS}:\n" + "\n".join(wrong[:40]))
        self.assertGreater(len({call.split("(")[0] for call in called.values()}), 15)

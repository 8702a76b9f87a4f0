"""Runs the package's tests, like berth_tests: each case shows as it ends, the last line is 'N passed, N failed[, N skipped]'.

usage: python tools/python/tests/run.py [NAME...]          only cases whose name holds one of the words
       python tools/python/tests/run.py --update-pages     writes reference/ anew from the docstrings
"""

import os
import pathlib
import sys
import time
import unittest


class Result(unittest.TestResult):
    """Prints as it goes; a case with a failed subtest has failed once."""

    def __init__(self):
        super().__init__()
        self.passed = 0
        self.bad = {}

    def startTest(self, test):
        super().startTest(test)
        self.begun = time.process_time()

    def stopTest(self, test):
        super().stopTest(test)
        name = test.id()
        if name in self.bad:
            print(f"FAILED: {name}\n{self.bad[name]}", flush=True)
        elif not any(skipped is test for skipped, _ in self.skipped):
            self.passed += 1
            print(f"{time.process_time() - self.begun:.3f} s: {name}", flush=True)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        print(f"skipped: {test.id()}: {reason}", flush=True)

    def fail(self, test, error):
        self.bad[test.id()] = self._exc_info_to_string(error, test)

    def addError(self, test, error):
        self.fail(test, error)
        if not isinstance(test, unittest.TestCase):  # a module or class that could not be set up
            print(f"FAILED: {test.id()}\n{self.bad[test.id()]}", flush=True)

    addFailure = fail

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self.bad[test.id()] = f"{subtest}\n{self._exc_info_to_string(error, test)}"


def cases(suite):
    for item in suite:
        yield from cases(item) if isinstance(item, unittest.TestSuite) else [item]


def main(words):
    if words == ["--update-pages"]:
        os.environ["BERTH_UPDATE_PAGES"] = "1"
        words = ["test_help.Pages"]
    folder = pathlib.Path(__file__).parent
    sys.path.insert(0, str(folder))
    found = unittest.defaultTestLoader.discover(str(folder), "test_*.py", str(folder))
    result = Result()
    chosen = [case for case in cases(found) if not words or any(word in case.id() for word in words)]
    unittest.TestSuite(chosen).run(result)
    summary = f"{result.passed} passed, {len(result.bad)} failed"
    print(summary + (f", {len(result.skipped)} skipped" if result.skipped else ""))
    return 1 if result.bad or result.passed + len(result.skipped) == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

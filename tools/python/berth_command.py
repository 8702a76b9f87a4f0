"""The command `berth` of a wheel (tools/wheel): runs the binary that lies in the package.

A module beside the package and not of it: `import berth` would load NumPy and Gymnasium first, which the binary does without.
"""
import importlib.util
import os
import signal
import sys
from pathlib import Path
from typing import NoReturn


def place() -> tuple[Path, dict[str, str]]:
    """The binary, which may be missing, and what its environment says: where its files are, which Python draws its pictures, and what
    it is called."""
    package = Path(importlib.util.find_spec("berth").origin).parent
    return package / "bin" / "berth", {"BERTH_HOME": str(package / "share"), "BERTH_PYTHON": sys.executable, "BERTH_COMMAND": "berth"}


def main() -> NoReturn:
    binary, places = place()
    if not binary.exists():
        print(f"berth: expected the binary in {binary}, found none: pip install from sources brings the Python package alone; "
              "a wheel of tools/wheel has it, and in a checkout it is tools/berth", file=sys.stderr)
        sys.exit(2)
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # by Python, and by what it becomes; `berth list … | head` must end quietly
        signal.signal(ignored, signal.SIG_DFL)
    os.execve(binary, [str(binary), *sys.argv[1:]], {**os.environ, **places})


if __name__ == "__main__":
    main()

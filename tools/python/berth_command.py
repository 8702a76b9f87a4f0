"""The command `berth` of a wheel (tools/wheel): what is the binary in a checkout, as a library within this Python.

Not a program of its own, because a scheduler python(file=...) needs Python around it, with the packages of this environment; and many a
Python, Debian's for one, cannot be loaded into another program. A module beside the package and not of it: `import berth` would load
NumPy first, which the other schedulers do without.
"""
import ctypes
import importlib.machinery
import importlib.util
import os
import signal
import sys
from pathlib import Path
from typing import NoReturn


def place() -> tuple[Path, dict[str, str]]:
    """The library, which may be missing, and what its environment says: where its files are, which Python draws its pictures, what it is
    called, and which module makes schedulers of Python."""
    package = Path(importlib.util.find_spec("berth").origin).parent
    module = package / f"_berth{importlib.machinery.EXTENSION_SUFFIXES[0]}"
    return package / "bin" / "libberth_command.so", {"BERTH_HOME": str(package / "share"), "BERTH_PYTHON": sys.executable,
                                                     "BERTH_COMMAND": "berth", "BERTH_PYTHON_LIBRARY": str(module)}


def main() -> NoReturn:
    library, places = place()
    if not library.exists():
        print(f"berth: expected the command line in {library}, found none: pip install from sources brings the Python package alone; "
              "a wheel of tools/wheel has it, and in a checkout it is tools/berth", file=sys.stderr)
        sys.exit(2)
    os.environ.update(places)
    for its in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores; `berth list … | head` must end quietly
        signal.signal(its, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    words = [b"berth", *map(os.fsencode, sys.argv[1:])]
    sys.stdout.flush()
    sys.exit(ctypes.CDLL(str(library)).main(len(words), (ctypes.c_char_p * (len(words) + 1))(*words)))


if __name__ == "__main__":
    main()

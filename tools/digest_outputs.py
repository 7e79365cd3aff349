#!/usr/bin/env python3
"""Prints a digest of what every program says to every scenario and test input of the repository.

    tools/digest_outputs.py build/release/tools > before.txt

Run it before and after a change that must not change any byte, and compare: each line is a command,
its exit code, and the SHA-256 of its standard output, standard error and files.
"""
import concurrent.futures
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PRESETS = ("dgx-a100", "dgx-h100", "a800-amsp-testbed")


def commands() -> list[list[str]]:
    def files(folder: str, pattern: str) -> list[str]:
        return sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob(pattern))

    clusters = files("scenarios/clusters", "*.json")
    scenarios = [name for name in files("scenarios", "*.json")
                 if name not in clusters and "schema" not in name and "/tinyllama" not in name]
    small = [name for name in scenarios if name.count("/") == 1 or "/engines/" in name]
    traces = [name for name in files("tests/traces/odd_inputs", "*") if ".json" in name]
    logs = files("tests/profiling/data", "*.log") + files("tests/profiling/data", "*.json")
    result = []
    for name in scenarios:
        result.append(["amsp-sim", name])
        result.append(["amsp-sim", name, "--json"])
        result.append(["amsp-profile", "plan", name, "--missing"])
        result.append(["amsp-sim", "placement", name])
    for name in small:
        result.append(["amsp-sim", name, "--trace", "OUT/trace.json", "--report", "OUT/page.html"])
        result.append(["amsp-plan", name])
        result.append(["amsp-plan", name, "--json"])
    for cluster in [*PRESETS, *clusters]:
        result.append(["amsp-sim", "topology", cluster, "--json"])
        result.append(["amsp-sim", "topology", cluster, "--svg", "OUT/fabric.svg", "--dot", "OUT/fabric.dot"])
        for operation in ("all_reduce", "all_gather", "reduce_scatter", "broadcast"):
            result.append(["amsp-sim", "collective", cluster, "--op", operation, "--bytes", "256MiB",
                           "--explain"])
            result.append(["amsp-sim", "collective", cluster, "--op", operation, "--sweep", "--json"])
    for trace in traces:
        for command in ("summary", "validate"):
            result.append(["amsp-trace", command, trace])
        result.append(["amsp-trace", "diff", "tests/traces/odd_inputs/good_baseline.json", trace])
    for log in logs:
        result.append(["amsp-profile", "import", log, "--cluster", "dgx-h100", "--output", "OUT/profile.json"])
    for program in ("amsp-sim", "amsp-plan", "amsp-trace", "amsp-profile", "amsp-exec"):
        result.append([program, "--help"])
    return result


def digest(programs: pathlib.Path, command: list[str]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        words = [word.replace("OUT", folder) for word in command]
        run = subprocess.run([programs / words[0], *words[1:]], cwd=ROOT, capture_output=True, timeout=1200)
        said = [run.stdout, run.stderr] + [path.read_bytes() for path in sorted(pathlib.Path(folder).iterdir())]
        code = hashlib.sha256(b"\0".join(part.replace(folder.encode(), b"OUT") for part in said)).hexdigest()
        return f"{run.returncode} {code} {' '.join(command)}"


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    programs = pathlib.Path(sys.argv[1]).resolve()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for line in pool.map(lambda command: digest(programs, command), commands()):
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

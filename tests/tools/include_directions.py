"""Checks that every folder of sources only includes those that it may see (docs/architecture.md)."""
import pathlib
import re
import sys

WINGS_OF_TOPOLOGY = [f"topology/{wing}" for wing in
                     ("spec", "graph", "collective", "nccl", "profile", "models", "read", "survey")]
DESCRIPTION = ["core", "core/json", "topology/spec", "training"]
LOWERED = [*DESCRIPTION, "topology/graph", "topology/collective", "schedule", "lowering",
           "traces/terms", "traces/timeline"]
PREDICTED = [*LOWERED, "kernels", *WINGS_OF_TOPOLOGY, "data", "scenario", "prediction"]
EXECUTOR = ["core", "topology/spec", "topology/collective", "executor/interface"]
RECORDED = ["core", "core/json", "traces/terms", "trace_reader", "trace_analysis"]

MAY_SEE = {
    "core": [],
    "core/json": ["core"],
    "data": ["core"],
    "kernels": ["core", "core/json", "data"],
    "topology/spec": ["core"],
    "topology/graph": ["core", "topology/spec"],
    "topology/collective": ["core", "topology/spec", "topology/graph"],
    "topology/nccl": ["core", "topology/spec", "topology/graph", "topology/collective"],
    "topology/profile": ["core", "core/json", "data", "topology/spec", "topology/graph",
                         "topology/collective"],
    "topology/models": ["core", "core/json", "topology/spec", "topology/graph", "topology/collective",
                        "topology/nccl", "topology/profile"],
    "topology/read": ["core", "core/json", "data", "topology/spec", "topology/graph",
                      "topology/collective", "topology/nccl", "topology/profile"],
    "topology/survey": ["core", "topology/spec", "topology/graph", "topology/collective"],
    "training": ["core", "core/json", "data", "topology/spec"],
    "schedule": [*DESCRIPTION, "topology/collective"],
    "scenario": [*DESCRIPTION, "topology/graph", "topology/read"],
    "lowering": [*DESCRIPTION, "kernels", "topology/graph", "topology/collective", "topology/profile", "schedule"],
    "traces/terms": ["core", "core/json"],
    "traces/timeline": ["core", "schedule", "traces/terms"],
    "traces/write": ["core", "core/json", "schedule", "traces/terms", "traces/timeline"],
    "traces/check": ["core", "core/json", "schedule", "traces/terms"],
    "trace_reader": ["core", "core/json", "traces/terms"],
    "trace_analysis": RECORDED,
    "trace_analysis/report": RECORDED,
    "trace_report": [*RECORDED, "trace_analysis/report"],
    "trace_calibration": [*RECORDED, "topology/spec", "topology/collective", "topology/profile",
                          "training", "schedule", "scenario"],
    "sim": LOWERED,
    "prediction": PREDICTED,
    "profiling": PREDICTED,
    "fidelity": PREDICTED,
    "planner/search": PREDICTED,
    "planner/report": [*PREDICTED, "planner/search"],
    "executor/interface": ["core", "topology/spec", "topology/collective"],
    "executor/program": [*EXECUTOR, "training", "schedule"],
    "executor/run": [*EXECUTOR, "core/json", "training", "schedule", "scenario", "traces/timeline",
                     "traces/write", "executor/program"],
    "executor/measure": EXECUTOR,
    "executor/world": EXECUTOR,
    "executor/host/kernels": EXECUTOR,
    "executor/host": [*EXECUTOR, "executor/host/kernels"],
    "executor/fabric": [*EXECUTOR, "executor/host"],
    "executor/cuda/kernels": EXECUTOR,
    "executor/cuda": [*EXECUTOR, "executor/cuda/kernels"],
    "executor/cuda/fabric": [*EXECUTOR, "executor/cuda", "executor/cuda/kernels"],
}
ALL = list(MAY_SEE)
MAY_SEE |= {"tools": ALL, "tools/sim": [*ALL, "tools"], "tools/profile": [*ALL, "tools"]}
MOST_FILES = 25  # in one folder
SIMGRID = "sim/fluid_player.cpp"
# Rooms whose sources reach no header of these others, through no header in between: a trace is anyone's, so
# its readers know of no task graph.
NEVER_REACH = {room: ["topology", "schedule", "traces/timeline", "traces/write"]
               for room in ("traces/terms", "trace_reader", "trace_analysis", "trace_analysis/report",
                            "trace_report")}
# Headers of libraries that only sources in one folder may see.
KEPT_IN = {"mpi.h": "executor/fabric", "cupti.h": "executor/cuda"}
SUFFIXES = (".h", ".cpp", ".cu", ".cuh")


def folder_of(path: str) -> str:
    return path.rpartition("/")[0]


def includes_of(path: pathlib.Path) -> list[str]:
    return re.findall(r'^#include ["<]([^">]+)[">]', path.read_text(), re.M)


def reached_from(root: pathlib.Path, name: str, reached: dict[str, str]) -> dict[str, str]:
    """What a file includes, through others too, each with the file that includes it."""
    for include in includes_of(root / name):
        if include not in reached and (root / include).is_file():
            reached[include] = name
            reached_from(root, include, reached)
    return reached


def far_faults(root: pathlib.Path, path: pathlib.Path) -> list[str]:
    name = path.relative_to(root).as_posix()
    rooms = NEVER_REACH.get(folder_of(name), [])
    return [f"{name}: must not reach {include}, here through {through}"
            for include, through in reached_from(root, name, {}).items()
            if any(folder_of(include) == room or folder_of(include).startswith(room + "/")
                   for room in rooms)]


def faults_of(root: pathlib.Path, path: pathlib.Path) -> list[str]:
    name = path.relative_to(root).as_posix()
    folder = folder_of(name)
    if folder not in MAY_SEE:
        return [f"{name}: docs/architecture.md and {pathlib.Path(__file__).name} don't know this folder"]
    faults = []
    for include in includes_of(path):
        target = folder_of(include)
        if target in MAY_SEE and target != folder and target not in MAY_SEE[folder]:
            faults.append(f"{name}: {folder} must not include {include}")
        if include.startswith("simgrid/") and name != SIMGRID:
            faults.append(f"{name}: only {SIMGRID} may include {include}")
        home = KEPT_IN.get(include)
        if home and not (name.startswith(home + "/") and name.endswith(".cpp")):
            faults.append(f"{name}: only sources in {home} may include {include}")
    return faults


def rooms_of(root: pathlib.Path) -> list[str]:
    """The list that the build and the gates use."""
    return re.search(r"set\(amsp_rooms ([^)]*)\)", (root / "CMakeLists.txt").read_text()).group(1).split()


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    rooms = rooms_of(root)
    sources = [path for room in rooms for path in sorted((root / room).rglob("*"))
               if path.suffix in SUFFIXES]
    broken = [fault for path in sources for fault in faults_of(root, path)
              + far_faults(root, path)]
    architecture = (root / "docs/architecture.md").read_text()
    for folder in MAY_SEE:
        if f"`{folder}`" not in architecture:
            broken.append(f"docs/architecture.md doesn't name {folder}")
        files = sum(path.is_file() for path in (root / folder).iterdir())
        if files > MOST_FILES:
            broken.append(f"{folder}: {files} files, of at most {MOST_FILES}")
    print("\n".join(broken) or f"{len(sources)} files include in the right direction")
    return 1 if broken or len(sources) < 500 else 0


if __name__ == "__main__":
    sys.exit(main())

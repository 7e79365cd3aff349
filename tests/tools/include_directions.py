"""Checks that every library only includes those that it may see (docs/architecture.md)."""
import pathlib
import re
import sys

ALLOWED = {
    "core": [],
    "data": ["core"],
    "kernels": ["core", "data"],
    "topology": ["core", "data"],
    "schedule": ["core", "data", "topology"],
    "scenario": ["core", "data", "topology", "schedule"],
    "lowering": ["core", "data", "topology", "schedule"],
    "traces": ["core", "topology", "schedule"],
    "trace_reader": ["core", "topology", "schedule", "traces"],
    "trace_analysis": ["core", "topology", "schedule", "traces", "trace_reader"],
    "trace_report": ["core", "topology", "schedule", "traces", "trace_reader", "trace_analysis"],
    "trace_calibration": ["core", "data", "topology", "schedule", "scenario", "traces",
                          "trace_reader", "trace_analysis"],
    "sim": ["core", "topology", "schedule", "lowering", "traces"],
    "prediction": ["core", "data", "topology", "schedule", "scenario", "lowering", "traces"],
    "profiling": ["core", "data", "topology", "schedule", "scenario", "lowering", "prediction"],
    "planner": ["core", "topology", "schedule", "scenario", "lowering", "traces", "prediction"],
    "executor": ["core", "topology", "schedule", "scenario", "traces"],
    "tools": ["core", "data", "topology", "schedule", "scenario", "lowering", "traces", "trace_reader",
              "trace_analysis", "trace_report", "trace_calibration", "sim", "prediction", "profiling",
              "planner", "executor"],
}
SIMGRID = "sim/fluid_player.cpp"
# Headers of libraries that only sources in one folder may see.
KEPT_IN = {"mpi.h": "executor/fabric", "cupti.h": "executor/cuda"}


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    seen = 0
    broken = []
    for library, allowed in ALLOWED.items():
        sources = [path for path in sorted((root / library).rglob("*")) if path.suffix in (".h", ".cpp", ".cu", ".cuh")]
        for path in sources:
            seen += 1
            name = path.relative_to(root).as_posix()
            for include in re.findall(r'^#include ["<]([^">]+)[">]', path.read_text(), re.M):
                target = include.split("/")[0]
                if target in ALLOWED and target != library and target not in allowed:
                    broken.append(f"{name}: {library} must not include {include}")
                if target == "simgrid" and name != SIMGRID:
                    broken.append(f"{name}: only {SIMGRID} may include {include}")
                home = KEPT_IN.get(target)
                if home and not (name.startswith(home + "/") and name.endswith(".cpp")):
                    broken.append(f"{name}: only sources in {home} may include {include}")
    print("\n".join(broken) or f"{seen} files include in the right direction")
    return 1 if broken or seen < 20 else 0


if __name__ == "__main__":
    sys.exit(main())

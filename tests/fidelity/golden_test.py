"""Errors of the predictions for all shipped sets of measured runs are those of golden.json, within 0.1 points.

Usage: golden_test.py AMSP_SIM [--all | --update]

By default at most 24 rows of each set, evenly spread; with --all, every row. A change that makes predictions better or
worse shows up here. If it is meant, --update writes what they are now: commit golden.json with the change that moved
them, and say why.
"""
import json
import pathlib
import subprocess
import sys

GOLDEN = pathlib.Path(__file__).with_name("golden.json")
TOLERANCE = 0.1  # points of per cent
RUNS = {"24 rows a set": ["--sample", "24"], "all rows": []}


def percent(fraction):
    return round(100 * fraction, 2)


def errors_now(amsp_sim, options):
    result = subprocess.run([amsp_sim, "fidelity", "--json", *options], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"amsp-sim fidelity: {result.returncode}: {result.stderr}")
    errors = {}
    for one in json.loads(result.stdout)["sets"]:
        errors[one["name"]] = {"skipped": one["skipped"]} | {
            metric["metric"]: {
                "rows": metric["rows"],
                "rows_in_band": metric.get("rows_in_band", 0),
                "median_absolute_error_percent": percent(metric["predicted"]["median_absolute_error"]),
                "median_error_percent": percent(metric["predicted"]["median_error"]),
                "mean_error_percent": percent(metric["predicted"]["mean_error"]),
            }
            for metric in one["metrics"]
        }
    return errors


def figures(errors):
    """(set, metric, figure) -> value."""
    flat = {}
    for name, metrics in errors.items():
        for metric, values in metrics.items():
            for figure, value in values.items() if isinstance(values, dict) else [("rows", values)]:
                flat[name, metric, figure] = value
    return flat


def changes(golden, now):
    found = []
    for key in sorted(golden.keys() | now.keys()):
        before, after = golden.get(key), now.get(key)
        tolerance = 0 if key[2].startswith("rows") else TOLERANCE + 1e-9
        if before is None or after is None or abs(after - before) > tolerance:
            found.append(f"{', '.join(key)}: {before} in {GOLDEN.name}, {after} now")
    return found


def main():
    amsp_sim, options = sys.argv[1], sys.argv[2:]
    if "--update" in options:
        GOLDEN.write_text(json.dumps({run: errors_now(amsp_sim, RUNS[run]) for run in RUNS}, indent=2) + "\n")
        print(f"wrote {GOLDEN}")
        return 0
    run = "all rows" if "--all" in options else "24 rows a set"
    found = changes(figures(json.loads(GOLDEN.read_text())[run]), figures(errors_now(amsp_sim, RUNS[run])))
    if found:
        print("\n".join(found))
        print(f"If that is meant: python3 {sys.argv[0]} {amsp_sim} --update")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

"""The numbers on the pages of docs/teaching are those that amsp-sim predicts.
Usage: teaching_test.py AMSP_SIM SOURCE. With AMSP_UPDATE_GOLDEN=1 it writes the numbers into the pages
instead (their words are yours to check).

A table whose first column is `run` has a command a row; one whose first column is `scenario` has the name
of a file in scenarios/, perhaps with options (`sharp-on --set cluster.nodes=16`). The unit of a number
stands behind it, or at the end of its column's title."""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import unittest

AMSP_SIM = pathlib.Path(sys.argv[1]).resolve()
SOURCE = pathlib.Path(sys.argv[2]).resolve()
PAGES = SOURCE / "docs/teaching"
UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6, "%": 0.01, "GiB": 2**30, "GB/s": 1e9, "TB/s": 1e12, "": 1}


def share_of_pairs(report, name):
    pairs = [(distance["pairs"], distance["name"]) for distance in report["distances"]]
    return sum(count for count, at in pairs if at.startswith(name)) / sum(p[0] for p in pairs)


# What a column holds, from the JSON report of its command.
COLUMNS = {
    "step": lambda report: report["step_time_s"],
    "step time": lambda report: report["step_time_s"],
    "MFU": lambda report: report["mfu"],
    "exposed": lambda report: report["breakdown"]["exposed_s"],
    "memory": lambda report: report["memory"]["reserved_bytes"],
    "busiest link": lambda report: report["links"][0]["utilisation"],
    "bisection": lambda report: report["bisection"][0]["bandwidth_bytes_per_s"],
    "second bisection": lambda report: report["bisection"][1]["bandwidth_bytes_per_s"],
    "oversubscription": lambda report: report["switches"][0]["oversubscription"],
    "same node": lambda report: share_of_pairs(report, "same node"),
    "same leaf": lambda report: share_of_pairs(report, "other node, 1 switch"),
}
for kind in ("param_gather", "grad_scatter", "grad_reduce", "param_update"):
    for title, part in ((kind, "total"), (f"all {kind}", "total"), (f"exposed {kind}", "exposed")):
        COLUMNS[title] = lambda report, key=f"{kind}_s", part=part: \
            report["breakdown"][f"{part}_by_class"].get(key, 0)


def cells_of(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def rows(lines):
    """(line number, header, cells) of the rows of every table of numbers."""
    header = None
    for number, line in enumerate(lines):
        cells = cells_of(line)
        if not line.startswith("|"):
            header = None
        elif cells[0] in ("run", "scenario"):
            header = cells
        elif header and not set(line) <= set("|-: "):
            yield number, header, cells


def arguments(kind, cell):
    words = shlex.split(cell.strip("`"))
    if kind == "run":
        assert words[0] == "amsp-sim", cell
        return words[1:]
    return [f"scenarios/{words[0]}.json", *words[1:]]


def named(title):
    """What a column holds, and its unit."""
    name, _, unit = title.rpartition(" ")
    return (name, unit) if name and unit in UNITS else (title, "")


def parse(text, unit):
    """The value, half a unit of its last digit, and the same text for another value."""
    match = re.fullmatch(r"(\d+(?:\.(\d+))?)( ?)(\S*)", text)
    unit, digits = UNITS[match[4] or unit], len(match[2] or "")
    return (float(match[1]) * unit, 0.5 * 10 ** -digits * unit,
            lambda value: f"{value / unit:.{digits}f}{match[3]}{match[4]}")


class Teaching(unittest.TestCase):
    def test_every_number(self):
        reports, count = {}, 0
        for page in sorted(PAGES.glob("*.md")):
            lines = page.read_text(encoding="utf-8").split("\n")
            for number, header, cells in rows(lines):
                for column, title in enumerate(header[1:], 1):
                    with self.subTest(f"{page.name}: {cells[0]}: {title}"):
                        name, unit = named(title)
                        expected, half, written = parse(cells[column], unit)
                        if cells[0] not in reports:
                            reports[cells[0]] = self.report(arguments(header[0], cells[0]))
                        found = COLUMNS[name](reports[cells[0]])
                        if os.environ.get("AMSP_UPDATE_GOLDEN") and abs(found - expected) > half:
                            cells[column] = written(found)
                            lines[number] = "| " + " | ".join(cells) + " |"
                            continue
                        self.assertLessEqual(abs(found - expected), half * 1.0001,
                                             f"page says {cells[column]}, the program {written(found)}")
                        count += 1
            if os.environ.get("AMSP_UPDATE_GOLDEN"):
                page.write_text("\n".join(lines), encoding="utf-8")
        self.assertGreater(count, 100)

    def report(self, words):
        result = subprocess.run([AMSP_SIM, *words, "--json"], cwd=SOURCE, capture_output=True, text=True,
                                timeout=120)
        self.assertIn(result.returncode, (0, 3), result.stderr)
        return json.loads(result.stdout)

    def test_every_scenario_has_its_page(self):
        pages = {page.name: page.read_text(encoding="utf-8") for page in PAGES.glob("*.md")}
        for path in sorted((SOURCE / "scenarios/networks").glob("*.json")):
            with self.subTest(path.name):
                link = re.search(r"docs/teaching/(\S+\.md)", json.loads(path.read_text())["description"])
                self.assertIn(path.name, pages[link[1]])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])

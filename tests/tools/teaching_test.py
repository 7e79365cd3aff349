"""The numbers on the pages of docs/teaching are those that the commands beside them print.
Usage: teaching_test.py AMSP_SIM SOURCE. With AMSP_UPDATE_GOLDEN=1 it writes the numbers into the pages
instead (their words are yours to check)."""
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
UNITS = {"s": 1, "ms": 1e-3, "us": 1e-6, "%": 0.01, "GB/s": 1e9, "TB/s": 1e12, "": 1}


def share_of_pairs(report, name):
    pairs = [(distance["pairs"], distance["name"]) for distance in report["distances"]]
    return sum(count for count, at in pairs if at.startswith(name)) / sum(p[0] for p in pairs)


# What a column holds, from the JSON report of its command.
COLUMNS = {
    "step time": lambda report: report["step_time_s"],
    "MFU": lambda report: report["mfu"],
    "exposed": lambda report: report["breakdown"]["exposed_s"],
    "bisection": lambda report: report["bisection"][0]["bandwidth_bytes_per_s"],
    "second bisection": lambda report: report["bisection"][1]["bandwidth_bytes_per_s"],
    "oversubscription": lambda report: report["switches"][0]["oversubscription"],
    "same node": lambda report: share_of_pairs(report, "same node"),
    "same leaf": lambda report: share_of_pairs(report, "other node, 1 switch"),
}
for kind in ("param_gather", "grad_scatter", "grad_reduce", "param_update"):
    COLUMNS[kind] = lambda report, key=f"{kind}_s": report["breakdown"]["total_by_class"][key]


def rows(page):
    """(command, column, text) of every table whose first column is 'run'."""
    header = None
    for line in page.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            header = None
        elif cells[0] == "run":
            header = cells
        elif header and cells[0].startswith("`"):
            for column, text in zip(header[1:], cells[1:], strict=True):
                yield cells[0].strip("`"), column, text


def parse(text):
    """The value, half a unit of its last digit, and the same text for another value."""
    match = re.fullmatch(r"(\d+(?:\.(\d+))?)( ?)(\S*)", text)
    unit, digits = UNITS[match[4]], len(match[2] or "")
    return (float(match[1]) * unit, 0.5 * 10 ** -digits * unit,
            lambda value: f"{value / unit:.{digits}f}{match[3]}{match[4]}")


def replace(page, command, column, text):
    """Puts `text` into the column of the command's row."""
    lines, header = page.read_text(encoding="utf-8").split("\n"), []
    for i, line in enumerate(lines):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if cells[0] == "run":
            header = cells
        elif cells[0] == f"`{command}`" and column in header:
            cells[header.index(column)] = text
            lines[i] = "| " + " | ".join(cells) + " |"
    page.write_text("\n".join(lines), encoding="utf-8")


class Teaching(unittest.TestCase):
    def test_every_number(self):
        reports, count = {}, 0
        for page in sorted(PAGES.glob("*.md")):
            for command, column, text in list(rows(page)):
                with self.subTest(f"{page.name}: {command}: {column}"):
                    if command not in reports:
                        words = shlex.split(command)
                        self.assertEqual(words[0], "amsp-sim")
                        result = subprocess.run([AMSP_SIM, *words[1:], "--json"], cwd=SOURCE,
                                                capture_output=True, text=True, timeout=120)
                        self.assertIn(result.returncode, (0, 3), result.stderr)
                        reports[command] = json.loads(result.stdout)
                    expected, half, written = parse(text)
                    found = COLUMNS[column](reports[command])
                    if os.environ.get("AMSP_UPDATE_GOLDEN") and abs(found - expected) > half:
                        replace(page, command, column, written(found))
                        continue
                    self.assertLessEqual(abs(found - expected), half * 1.0001,
                                         f"page says {text}, the program {written(found)}")
                    count += 1
        self.assertGreater(count, 40)

    def test_every_scenario_has_its_page(self):
        pages = {page.name: page.read_text(encoding="utf-8") for page in PAGES.glob("*.md")}
        for path in sorted((SOURCE / "scenarios/networks").glob("*.json")):
            with self.subTest(path.name):
                named = re.search(r"docs/teaching/(\S+\.md)", json.loads(path.read_text())["description"])
                self.assertIn(path.name, pages[named[1]])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])

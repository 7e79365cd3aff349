"""The numbers in docs/teaching are what amsp-sim predicts. Usage: teaching_tables_test.py AMSP_SIM SOURCE [--update]

Every table whose first column is `scenario` is checked: a row names scenarios/NAME.json, perhaps with
overrides (`sharp-on --set cluster.nodes=16`); the other columns are figures by the names below. --update
writes the predicted values into the pages, with as many decimals as stand there.
"""
import json
import pathlib
import re
import shlex
import subprocess
import sys
import unittest

AMSP_SIM = pathlib.Path(sys.argv[1]).resolve()
SOURCE = pathlib.Path(sys.argv[2]).resolve()
UPDATE = sys.argv[3:] == ["--update"]
PAGES = sorted((SOURCE / "docs/teaching").glob("*.md"))


def predict(words):
    name, *options = shlex.split(words.strip("` "))
    result = subprocess.run([AMSP_SIM, SOURCE / f"scenarios/{name}.json", "--json", *options],
                            capture_output=True, text=True, timeout=120)
    if result.returncode not in (0, 3):
        raise AssertionError(f"{words}: {result.stderr}")
    return json.loads(result.stdout)


def figure(name, prediction):
    """The value of a column in its unit."""
    parts = prediction["breakdown"]
    if name == "step ms":
        return prediction["step_time_s"] * 1e3
    if name == "exposed ms":
        return parts["exposed_s"] * 1e3
    if name == "compute ms":
        return parts["compute_s"] * 1e3
    if name == "memory GiB":
        return prediction["memory"]["reserved_bytes"] / 2**30
    if name == "MFU %":
        return prediction["mfu"] * 100
    if match := re.fullmatch(r"(exposed|all) (\w+) ms", name):
        kind = "exposed_by_class" if match[1] == "exposed" else "total_by_class"
        return parts[kind].get(f"{match[2]}_s", 0) * 1e3
    if name == "busiest link %":
        return prediction["links"][0]["utilisation"] * 100
    raise AssertionError(f"unknown column '{name}'")


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def checked_page(text, check):
    """The page with every checked figure replaced by check(row, column, cell, value)."""
    lines = text.splitlines()
    header = None
    for number, line in enumerate(lines):
        if not line.startswith("|"):
            header = None
        elif cells(line)[0] == "scenario":
            header = cells(line)
        elif header and not set(line) <= set("|-: "):
            row = cells(line)
            prediction = predict(row[0])
            for column in range(1, len(header)):
                row[column] = check(row[0], header[column], row[column],
                                    figure(header[column], prediction))
            lines[number] = "| " + " | ".join(row) + " |"
    return "\n".join(lines) + "\n"


class TeachingTest(unittest.TestCase):
    def test_numbers_are_those_of_the_program(self):
        self.assertGreater(len(PAGES), 3)
        rows = 0
        for page in PAGES:
            def check(row, column, cell, value):
                nonlocal rows
                rows += 1
                decimals = len(cell.partition(".")[2])
                with self.subTest(f"{page.name}: {row}, {column}"):
                    self.assertAlmostEqual(float(cell), value, delta=0.5001 * 10**-decimals)
                return cell
            checked_page(page.read_text(encoding="utf-8"), check)
        self.assertGreater(rows, 30)


def update():
    for page in PAGES:
        page.write_text(checked_page(
            page.read_text(encoding="utf-8"),
            lambda row, column, cell, value: f"{value:.{len(cell.partition('.')[2])}f}"),
            encoding="utf-8")


if __name__ == "__main__":
    update() if UPDATE else unittest.main(argv=sys.argv[:1])

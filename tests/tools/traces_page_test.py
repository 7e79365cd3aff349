"""The pair of traces that docs/traces.md compares. Usage: traces_page_test.py AMSP_SIM AMSP_TRACE SOURCE

The page's own commands are run; what it shows of the answer must be what comes out.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

AMSP_SIM = pathlib.Path(sys.argv[1]).resolve()
AMSP_TRACE = pathlib.Path(sys.argv[2]).resolve()
SOURCE = pathlib.Path(sys.argv[3]).resolve()
PAGE = SOURCE / "docs/traces.md"
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def page_block():
    """Commands and table of the page: the block that simulates both sides."""
    blocks = re.findall(r"^```\w*\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.S | re.M)
    block = next(block for block in blocks if "engine=deepspeed" in block)
    commands, _, table = block.partition("\n\n")
    return commands, table


def seconds(text):
    """'-145.1 ms' in seconds."""
    if text == "0":
        return 0.0
    number, unit = text.split()
    return float(number) * UNITS[unit]


def rows(text):
    """{name: (A, B, B - A in seconds, B - A in % of A's step)} of a waterfall."""
    found = {}
    for line in text.splitlines():
        cells = re.split(r"\s{2,}", line.strip())
        if len(cells) == 5 and cells[4].endswith("%"):
            found[cells[0]] = (*map(seconds, cells[1:4]), float(cells[4].rstrip(" %")))
    return found


class PairOfTheTracesPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.commands, cls.table = page_block()
        script = f"""set -e
            amsp-sim() {{ '{AMSP_SIM}' "$@" >/dev/null; }}
            amsp-trace() {{ '{AMSP_TRACE}' "$@"; }}
            ln -s '{SOURCE}/scenarios' .
            """ + cls.commands
        cls.text = subprocess.run(["bash", "-c", script], cwd=cls.folder.name, check=True,
                                  capture_output=True, text=True, timeout=240).stdout
        cls.rows = rows(cls.text)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def near(self, value, expected, relative=0.01):
        self.assertAlmostEqual(value, expected, delta=relative * abs(expected))

    def test_amsps_schedule_takes_1039_ms_instead_of_deepspeeds_1261(self):
        a, b, delta, percent = self.rows["step"]
        self.near(a, 1.261)
        self.near(b, 1.039)
        self.near(delta, -0.2215, 0.03)
        self.near(percent, -17.6, 0.03)

    def test_two_thirds_come_from_reductions_that_are_hidden_now(self):
        parts = sorted((row for row in self.rows.items() if row[0] != "step"),
                       key=lambda row: row[1][2])
        self.assertEqual([name for name, _ in parts[:3]],
                         ["exposed grad_reduce transfer", "exposed grad_scatter transfer",
                          "exposed param_gather transfer"])
        self.near(parts[0][1][2], -0.1451, 0.03)
        self.near(parts[1][1][2], -0.09017, 0.03)
        name, (_, _, slower, _) = parts[-1]  # the price
        self.assertEqual(name, "compute")
        self.near(slower, 0.0199, 0.1)

    def test_the_page_shows_what_comes_out(self):
        shown = rows(self.table)
        self.assertEqual(list(shown), list(self.rows))
        for name, (a, b, delta, percent) in self.rows.items():
            with self.subTest(name):
                self.near(a, shown[name][0])
                self.near(b, shown[name][1])
                self.assertAlmostEqual(delta, shown[name][2], delta=0.01 * max(a, b) + 1e-9)
                self.assertAlmostEqual(percent, shown[name][3], delta=0.3)

    def test_parts_add_up(self):
        result = subprocess.run([AMSP_TRACE, "diff", "--json", "ds.json.gz", "amsp.json.gz"],
                                cwd=self.folder.name, check=True, capture_output=True, text=True)
        diff = json.loads(result.stdout)
        self.assertEqual(sum(part["delta_ns"] for part in diff["waterfall"]), diff["delta_ns"])
        self.assertEqual(diff["steps_compared"], 32)

    def test_fits_one_screen(self):
        lines = self.text.splitlines()
        self.assertLessEqual(len(lines), 50)
        self.assertLessEqual(max(map(len, lines)), 100)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

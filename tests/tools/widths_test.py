"""What the programs print for people fits 100 columns. Usage: widths_test.py BIN SOURCE

BIN is the folder of the programs.
"""
import pathlib
import re
import subprocess
import sys
import unittest

BIN = pathlib.Path(sys.argv[1]).resolve()
SOURCE = pathlib.Path(sys.argv[2]).resolve()
SCENARIOS = SOURCE / "scenarios"
COLUMNS = 100


def output(program, *arguments, codes=(0,)):
    result = subprocess.run([BIN / program, *map(str, arguments)], capture_output=True, text=True,
                            timeout=240)
    if result.returncode not in codes:
        raise AssertionError(f"{program} {arguments}: {result.returncode}: {result.stderr}")
    return result.stdout


class Widths(unittest.TestCase):
    def fits(self, text):
        self.assertEqual([line for line in text.splitlines() if len(line) > COLUMNS], [])
        self.assertNotEqual(text, "")

    def test_help(self):
        commands = [("amsp-plan",)]
        for program in ("amsp-sim", "amsp-trace"):
            text = output(program, "--help")
            found = re.findall(r"^  ([a-z-]+)  +\S", text, re.M)
            names = [name for name in found if not name.startswith(("-", "amsp"))
                     and name not in ("scenario", "traces")]
            self.assertGreaterEqual(len(names), 4)
            commands += [(program,)] + [(program, name) for name in names]
        self.assertGreaterEqual(len(commands), 12)
        for command in commands:
            with self.subTest(command):
                text = output(*command, "--help")
                self.fits(text)
                self.assertIn("--help", text)
                # a meaning that goes on stands under its beginning
                for line in text.splitlines():
                    if line.startswith(" " * 20):
                        self.assertTrue(line.startswith(" " * 30) and line[30] != " ", line)

    def test_predictions(self):
        for name in ("paper/llama-30b-amsp-1024gpu", "paper/llama-13b-zero1-8gpu",
                     "dgx-a100-40gb-13b", "conditions/lost-uplinks"):
            with self.subTest(name):
                self.fits(output("amsp-sim", SCENARIOS / f"{name}.json", codes=(0, 3)))

    def test_searches(self):
        for arguments in ((SCENARIOS / "paper/llama-30b-zero3-16gpu.json", "--top", "40"),
                          (SCENARIOS / "tiny-zero1.json", "--gpus", "8,16,...,128"),
                          (SCENARIOS / "tiny-zero1.json", "--micro-batches", "1,2,...,64")):
            with self.subTest(arguments):
                self.fits(output("amsp-plan", *arguments, "--objective", "comm-time", codes=(0, 3)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

"""The committed scenarios are what tools/generate_scenarios.py writes, byte for byte."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SCENARIOS = ROOT / "scenarios"


def files_in(folder):
    return {str(path.relative_to(folder)): path.read_bytes()
            for path in folder.rglob("*.json") if not path.name.endswith(".schema.json")}


class GeneratedScenariosTest(unittest.TestCase):
    def test_are_the_committed_ones(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-B", ROOT / "tools/generate_scenarios.py", folder],
                           check=True, stdout=subprocess.DEVNULL)
            generated, committed = files_in(Path(folder)), files_in(SCENARIOS)
            self.assertEqual(sorted(generated), sorted(committed))
            for name, content in generated.items():
                with self.subTest(name):
                    self.assertEqual(content, committed[name])

    def test_are_all_in_the_readme(self):
        readme = (SCENARIOS / "README.md").read_text(encoding="utf-8")
        for path in SCENARIOS.glob("*.json"):
            with self.subTest(path.name):
                self.assertIn(path.stem, readme)


if __name__ == "__main__":
    unittest.main()

"""amsp-sim fidelity as a user sees it. Usage: fidelity_command_test.py AMSP_SIM"""
import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

AMSP_SIM = pathlib.Path(sys.argv[1]).resolve()
SCENARIO = {
    "schema": "amsp.scenario/1", "name": "tiny", "model": {"preset": "llama-tiny"},
    "cluster": {"preset": "dgx-a100", "nodes": 1},
    "training": {"sequence_length": 512, "micro_batches": 2}, "plan": "zero1",
}


def run(*arguments, folder=None):
    return subprocess.run([AMSP_SIM, *map(str, arguments)], capture_output=True, text=True, timeout=240,
                          cwd=folder)


class Fidelity(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)
        (self.folder / "scenarios").mkdir()
        (self.folder / "scenarios/tiny.json").write_text(json.dumps(SCENARIO))

    def tearDown(self):
        self.temporary.cleanup()

    def table(self, *rows):
        path = self.folder / "runs.csv"
        path.write_text("\n".join(("scenario,overrides,metric,value,name", *rows)) + "\n")
        return path

    def test_a_users_table_against_predictions_of_the_same_scenario(self):
        predicted = json.loads(run(self.folder / "scenarios/tiny.json", "--json").stdout)
        wide = json.loads(run(self.folder / "scenarios/tiny.json", "--set", "training.micro_batch=4",
                              "--set", "plan=zero3", "--json").stdout)
        step, memory = predicted["step_time_s"], wide["memory"]["reserved_bytes"] / 2**30
        table = self.table(
            f"scenarios/tiny.json,,step_time_s,{step / 1.25},slower",
            f"scenarios/tiny.json,,tgs,{predicted['tokens_per_gpu_second']},as it is",
            f"scenarios/tiny.json,,mfu,{predicted['mfu'] * 2},half",
            f"scenarios/tiny.json,training.micro_batch=4; plan=zero3,memory_gib,{memory},memory")
        result = run("fidelity", "--measured", table, "--json")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        one, = json.loads(result.stdout)["sets"]
        errors = {row["name"]: row["error"] for row in one["rows"]}
        self.assertAlmostEqual(errors["slower"], 0.25, places=9)
        self.assertAlmostEqual(errors["as it is"], 0, places=9)
        self.assertAlmostEqual(errors["half"], -0.5, places=9)
        self.assertAlmostEqual(errors["memory"], 0, places=9)
        rows = {row["name"]: row for row in one["rows"]}
        self.assertAlmostEqual(rows["slower"]["one_after_the_other"],
                               predicted["closed_form"]["exact"]["total_s"], places=9)
        self.assertEqual(rows["as it is"]["gpus"], 8)
        self.assertEqual(rows["as it is"]["parameters"], predicted["model"]["parameters"])

    def test_output_does_not_depend_on_workers(self):
        table = self.table(*(f"scenarios/tiny.json,training.micro_batches={m},tgs,100000," for m in range(1, 9)))
        outputs = [run("fidelity", "--measured", table, "--workers", workers).stdout for workers in (1, 3)]
        self.assertEqual(outputs[0], outputs[1])
        self.assertEqual([line for line in outputs[0].splitlines() if len(line) > 100], [])

    def test_csv_and_picture_have_a_line_and_a_point_a_row(self):
        table = self.table(*(f"scenarios/tiny.json,training.micro_batches={m},tgs,100000," for m in range(1, 4)),
                           "scenarios/tiny.json,plan=zero9,tgs,1,bad & <odd>")
        svg = self.folder / "picture.svg"
        result = run("fidelity", "--measured", table, "--csv", "--svg", svg)
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = list(csv.DictReader(io.StringIO(result.stdout)))
        self.assertEqual(len(rows), 4)
        self.assertEqual([bool(row["predicted"]) for row in rows], [True, True, True, False])
        self.assertIn("zero9", rows[3]["skipped"])
        titles = xml.etree.ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}title")
        self.assertEqual(len(list(titles)), 3)

    def test_overrides_of_all_rows(self):
        table = self.table("scenarios/tiny.json,,tgs,1,")
        plain, doubled = (json.loads(run("fidelity", "--measured", table, "--json", *extra).stdout)
                          for extra in ((), ("--with", "training.micro_batch=2")))
        self.assertGreater(doubled["sets"][0]["rows"][0]["predicted"], plain["sets"][0]["rows"][0]["predicted"])

    def test_mistakes(self):
        for arguments, code, message in (
                (("--set", "amsp-table"), 2, "did you mean 'amsp-table-v'?"),
                (("--measured", self.folder / "none.csv"), 2, "none.csv"),
                (("--measured", self.table("scenarios/tiny.json,,tgs,fast,")), 2, "runs.csv:2: value"),
                (("--json", "--csv"), 2, "excludes"),
                (("--measured", self.folder / "runs.csv", "--svg", self.folder / "runs.csv"), 2, "--svg")):
            with self.subTest(arguments):
                result = run("fidelity", *arguments)
                self.assertEqual(result.returncode, code)
                self.assertIn(message, result.stderr)

    def test_nothing_to_compare(self):
        result = run("fidelity", "--measured", self.table("none.json,,tgs,1,"))
        self.assertEqual(result.returncode, 3)
        self.assertIn("skipped: 1 row", result.stdout)

    def test_list(self):
        result = run("fidelity", "--list")
        self.assertEqual(result.returncode, 0)
        for name in ("amsp-table-v", "amsp-end-to-end", "fms-fsdp", "llm-foundry-a100-2023", "h100-single-node"):
            self.assertIn(name, result.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

"""amsp-plan as a user sees it. Usage: amsp_plan_test.py AMSP_PLAN AMSP_SIM SOURCE"""
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

AMSP_PLAN = pathlib.Path(sys.argv[1]).resolve()
AMSP_SIM = pathlib.Path(sys.argv[2]).resolve()
SOURCE = pathlib.Path(sys.argv[3]).resolve()
TINY = SOURCE / "scenarios/tiny-zero1.json"
LARGE = SOURCE / "scenarios/llama-7b-amsp-1024gpu.json"


def run(*arguments, program=AMSP_PLAN):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=240)


def lines_of(text):
    return [json.loads(line) for line in text.splitlines()]


class AmspPlan(unittest.TestCase):
    def test_prints_a_ranking_that_fits_100_columns(self):
        result = run(TINY, "--pareto", "--top", "100")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        self.assertNotIn("\x1b", result.stdout)
        for part in ("meshes", "removed: nesting", "known as", "baseline", "Pareto front"):
            self.assertIn(part, result.stdout)
        self.assertEqual([line for line in result.stdout.splitlines() if len(line) > 100], [])

    def test_workers_change_no_byte(self):
        for mode in ([], ["--json"], ["--json", "--sensitivity"], ["--gpus", "8,16"]):
            outputs = [run(TINY, "--workers", str(count), *mode).stdout for count in (1, 3)]
            self.assertEqual(outputs[0], outputs[1])
            self.assertGreater(len(outputs[0]), 500)

    def test_the_best_is_what_amsp_sim_predicts_and_nothing_is_faster(self):
        lines = lines_of(run(TINY, "--json", "--top", "100").stdout)
        ranking = next(line for line in lines if line["kind"] == "ranking")["ranking"]
        self.assertEqual(len(ranking), 16)
        for entry in ranking:
            plan = {key: entry["plan"][key] for key in ("p", "g", "os")}
            report = json.loads(run(TINY, "--json", "--set", f"plan={json.dumps(plan)}",
                                    program=AMSP_SIM).stdout)
            self.assertAlmostEqual(entry["step_time_s"] / report["step_time_s"], 1, places=9)
            self.assertEqual(entry["memory_bytes"], report["memory"]["reserved_bytes"])
            self.assertAlmostEqual(entry["t_comm_s"], report["closed_form"]["paper"]["t_comm_s"])
        self.assertEqual([entry["rank"] for entry in ranking], list(range(1, 17)))

    def test_json_lines(self):
        lines = lines_of(run(TINY, "--json").stdout)
        self.assertEqual({line["schema"] for line in lines}, {"amsp.plan/1"})
        kinds = [line["kind"] for line in lines]
        self.assertEqual(kinds, ["candidate"] * 16 + ["space", "ranking"])
        space = lines[-2]
        self.assertEqual(space["tuples"] - sum(rule["tuples"] for rule in space["removed"]),
                         space["plans"])

    def test_searches_batch_and_recompute_too(self):
        lines = lines_of(run(TINY, "--json", "--search", "plan,p2,micro_batch,recompute").stdout)
        ranking = lines[-1]["ranking"]
        self.assertEqual({(e["micro_batch"], e["micro_batches"]) for e in ranking},
                         {(1, 8), (2, 4), (4, 2), (8, 1)})
        self.assertEqual({e["recompute"] for e in ranking}, {"none", "full"})
        self.assertIn("p2", {key for e in ranking for key in e["plan"]})

    def test_sweeps(self):
        result = run(TINY, "--gpus", "8,16,...,64")
        self.assertEqual(result.returncode, 0, result.stderr)
        for gpus in (8, 16, 32, 64):
            self.assertIn(f"\n{gpus} GPUs", result.stdout)
        cases = lines_of(run(TINY, "--micro-batches", "1,4", "--json").stdout)
        self.assertEqual([case["global_batch"] for case in cases], [32, 128])

    def test_compares_clusters(self):
        clusters = SOURCE / "scenarios/clusters"
        result = run(SOURCE / "scenarios/plan-30b-72gpu.json", "--compare", clusters / "rack-72.json",
                     clusters / "nodes-9x8.json", "--objective", "comm-time", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        rack, nodes = lines_of(result.stdout)
        self.assertEqual((rack["gpus"], nodes["gpus"]), (72, 72))
        self.assertLess(rack["ranking"][0]["t_comm_s"], nodes["ranking"][0]["t_comm_s"])

    def test_exports_run(self):
        with tempfile.TemporaryDirectory() as folder:
            for style in ("scenario", "deepspeed", "fsdp2", "internevo"):
                path = pathlib.Path(folder, f"best.{style}")
                result = run(TINY, "--set", "stack=reference", "--export", style, "--output", path, "--pick", "8")
                self.assertEqual(result.returncode, 0, result.stderr)
                text = path.read_text()
                if style == "scenario":
                    self.assertEqual(run(path, program=AMSP_SIM).returncode, 0)
                elif style == "deepspeed":
                    self.assertEqual(json.loads(text)["zero_optimization"]["mics_shard_size"], 4)
                elif style == "fsdp2":
                    compile(text, path, "exec")
                    self.assertIn('("cuda", (2, 4)', text)
                else:
                    names = {}
                    exec(text, names)
                    self.assertEqual(names["parallel"]["weight"]["size"], 4)
                    self.assertEqual(names["data"]["micro_num"], 2)
            result = run(TINY, "--export", "fsdp2", "--output", pathlib.Path(folder, "no"))
            self.assertEqual(result.returncode, 3)
            self.assertIn("--pick 8", result.stderr)
            self.assertFalse(pathlib.Path(folder, "no").exists())

    def test_draws_a_picture(self):
        import xml.etree.ElementTree as tree
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "pareto.svg")
            result = run(TINY, "--pareto-svg", path)
            self.assertEqual(result.returncode, 0, result.stderr)
            root = tree.parse(path).getroot()
            dots = root.findall("{http://www.w3.org/2000/svg}circle")
            self.assertEqual(len(dots), 16)

    def test_an_interrupt_prints_what_is_known(self):
        for extra in ([], ["--json"]):
            process = subprocess.Popen([AMSP_PLAN, LARGE, "--workers", "1", "--json", *extra],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            known = [process.stdout.readline() for _ in range(3)]
            process.send_signal(signal.SIGINT)
            started = time.monotonic()
            rest, errors = process.communicate(timeout=60)
            self.assertLess(time.monotonic() - started, 30)
            self.assertEqual(process.returncode, 130)
            self.assertIn("interrupted", errors)
            lines = lines_of("".join(known) + rest)
            self.assertEqual(lines[-1]["kind"], "ranking")
            self.assertTrue(lines[-1]["interrupted"])
            self.assertGreaterEqual(len(lines[-1]["ranking"]), 3)
            self.assertLess(len(lines[-1]["ranking"]), 118)

    def test_nothing_that_fits_is_no_success(self):
        result = run(SOURCE / "scenarios/paper/llama-30b-zero3-8gpu.json", "--set",
                     'training.precision={"gradients": "fp32"}')
        self.assertEqual(result.returncode, 3, result.stdout)
        self.assertIn("nothing to rank", result.stdout)
        self.assertIn("16 exceed 80.0 GiB, the nearest by", result.stdout)

    def test_a_file_that_cannot_be_written_is_found_before_the_search(self):
        for option in (["--export", "scenario", "--output"], ["--pareto-svg"]):
            result = run(TINY, "--json", *option, "/no/such/x")
            self.assertEqual(result.returncode, 2)
            self.assertIn("/no/such/x: cannot be written: No such file", result.stderr)
            self.assertEqual(result.stdout, "")  # else candidates, as they come

    def test_failures(self):
        cases = [
            (("no-such-file.json",), 2, "no-such-file.json"),
            ((TINY, "--set", "plan=zero9"), 2, "did you mean 'zero1'?"),
            ((TINY, "--search", "pln"), 2, "did you mean 'plan'?"),
            ((TINY, "--export", "scenario", "--output", TINY), 2, "is an input itself"),
            ((TINY, "--objective", "time"), 2, "--objective"),
            ((TINY, "--objective", "comm-time", "--search", "plan,recompute"), 2, "recomput"),
            ((TINY, "--gpus", "12"), 2, "12 GPUs don't fill nodes of 8"),
            ((TINY, "--gpus", "8", "--micro-batches", "1"), 2, "excludes"),
            ((TINY, "--compare", "no-such.json"), 2, "no-such.json"),
            ((TINY, "--export", "deepspeed"), 2, "--output"),
            ((TINY, "--export", "megatron", "--output", "x"), 2, "--export"),
            ((TINY, "--export", "scenario", "--output", "/no/such/x", "--pick", "1"), 2, "/no/such"),
            ((TINY, "--export", "scenario", "--output", "x", "--pick", "99"), 2, "from 1 to 16"),
            ((TINY, "--export", "scenario", "--output", "x", "--pick", "99999999999999999999"), 2,
             "--pick: Value 99999999999999999999 not in range 1 to 1000000"),
            ((TINY, "--compare", ""), 2, "must not be empty"),
            ((TINY, "--set", "cluster.node.nics.count=8"), 2, "json#/cluster: profile"),
            ((TINY, "--top", "0"), 2, "--top"),
            ((), 2, "scenario"),
        ]
        for arguments, code, part in cases:
            with self.subTest(arguments=arguments):
                result = run(*arguments)
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertIn(part, result.stderr + result.stdout.splitlines()[-1]
                              if result.stdout else result.stderr)

    def test_help_has_examples(self):
        result = run("--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("Examples:", result.stdout)
        self.assertEqual(run("--version").stdout.split()[0], "amsp-plan")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])

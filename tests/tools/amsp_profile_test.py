"""amsp-profile as a user sees it: from logs to a prediction.
Usage: amsp_profile_test.py AMSP_PROFILE AMSP_SIM SOURCE"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

AMSP_PROFILE = pathlib.Path(sys.argv[1]).resolve()
AMSP_SIM = pathlib.Path(sys.argv[2]).resolve()
SOURCE = pathlib.Path(sys.argv[3]).resolve()
LOGS = SOURCE / "tests/profiling/data"
TESTBED = SOURCE / "scenarios/table5/table5-7b-full.json"


def run(program, *arguments, cwd=None):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, cwd=cwd,
                          timeout=120)


def factor(op, ranks):
    return {"all_reduce": 2 * (ranks - 1) / ranks, "broadcast": 1}.get(op, (ranks - 1) / ranks)


def log(op, nodes, gpus, rate):
    """A log of nccl-tests: 20 us, and `rate` bytes per second of bus bandwidth."""
    ranks = nodes * gpus
    lines = [f"# Collective test starting: {op}_perf",
             "# nThread 1 nGpus 1 minBytes 8 maxBytes 4294967296 step: 8(factor) warmup iters: 5 iters: 20 "
             "agg iters: 1 validation: 1 graph: 0", "#", "# Using devices"]
    for rank in range(ranks):
        lines.append(f"#  Rank {rank:2d} Group  0 Pid {100 + rank} on node{rank // gpus} device "
                     f"{rank % gpus:2d} [0000:{rank % gpus:02x}:00] NVIDIA A100-SXM4-80GB")
    lines.append("#       size         count      type   redop    root     time   algbw   busbw #wrong     time"
                 "   algbw   busbw #wrong")
    for power in range(9, 33):
        size = 2 ** power
        us = 20 + factor(op, ranks) * size / rate * 1e6
        count = size // 4 // (1 if op in ("all_reduce", "broadcast") else ranks)
        half = f"  {us:9.2f}  {size / us / 1e3:6.2f}  {size / us / 1e3 * factor(op, ranks):6.2f}      0"
        lines.append(f"{size:12d}  {count:12d}     float     sum      -1{half}{half}")
    return "\n".join(lines) + "\n# Out of bounds values : 0 OK\n"


class Profile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def good(self, *arguments):
        result = run(AMSP_PROFILE, *arguments, cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        return result.stdout

    def refusal(self, *arguments, code=2):
        result = run(AMSP_PROFILE, *arguments, cwd=self.folder)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.assertEqual(result.stdout, "")
        return result.stderr

    def import_lab(self):
        """Logs of two sizes of nodes and groups; the scenario that uses their profile."""
        logs = []
        for op in ("all_reduce", "all_gather", "reduce_scatter", "broadcast"):
            for nodes, gpus, rate in ((1, 2, 225e9), (1, 8, 225e9), (2, 8, 180e9), (4, 8, 170e9)):
                logs.append(f"{op}-{gpus}x{nodes}.log")
                (self.folder / logs[-1]).write_text(log(op, nodes, gpus, rate))
        text = self.good("import", *logs, "--cluster", "dgx-a100", "--output", "lab.json")
        scenario = {"schema": "amsp.scenario/1", "name": "lab", "model": {"preset": "llama-7b"},
                    "cluster": {"preset": "dgx-a100", "nodes": 4, "profile": "lab.json"},
                    "training": {"sequence_length": 4096, "micro_batch": 1, "micro_batches": 2},
                    "plan": {"p": "8x1", "g": "8x1", "os": "8x2"}}
        (self.folder / "scenario.json").write_text(json.dumps(scenario))
        return text

    def simulated(self, *arguments):
        result = run(AMSP_SIM, *arguments, cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_a_prediction_rests_on_the_logs(self):
        text = self.import_lab()
        self.assertIn('lab.json: use it by "profile": "lab.json"', text)
        self.assertIn("all_reduce       8x4     24  512 B  4.29 GB        24", text)
        # 2 * 31/32 of 1 GiB at 170 GB/s and 20 us, as its log has it
        answer = json.loads(self.simulated("collective", "scenario.json", "--op", "all_reduce", "--bytes",
                                           "1GiB", "--mesh", "8x4", "--json"))
        self.assertAlmostEqual(answer["time_s"], 20e-6 + 2 * 31 / 32 * 2**30 / 170e9, delta=1e-8)
        self.assertEqual(answer["source"], "measured")
        # between two sizes, and between two numbers of nodes
        answer = json.loads(self.simulated("collective", "scenario.json", "--op", "all_gather", "--bytes",
                                           "100MB", "--mesh", "8x3", "--json"))
        low, high = (20e-6 + (n - 1) / n * 1e8 / rate for n, rate in ((16, 180e9), (32, 170e9)))
        self.assertAlmostEqual(answer["time_s"], (low + high) / 2, delta=1e-7)
        prediction = json.loads(self.simulated("scenario.json", "--json"))
        self.assertEqual(prediction["schema"], "amsp.prediction/1")
        again = json.loads(self.simulated("scenario.json", "--json", "--set",
                                          "cluster.profile_policy=strict", "--set", "plan=zero2"))
        self.assertGreater(again["step_time_s"], 0)

    def test_the_plan_sees_what_was_imported(self):
        self.import_lab()
        before = json.loads(self.good("plan", "scenario.json", "--set", "cluster.profile=none", "--json"))
        after = json.loads(self.good("plan", "scenario.json", "--json"))
        self.assertEqual(after["schema"], "amsp.measurements/1")
        self.assertEqual(after["profile"], "lab.json")
        self.assertEqual([need["name"] for need in before["kernels"]],
                         [need["name"] for need in after["kernels"]])
        self.assertEqual({need["coverage"] for need in before["collectives"]}, {"modelled"})
        known = {(need["op"], need["mesh"]): need["coverage"] for need in after["collectives"]
                 if not need["together"]}
        self.assertEqual(known["all_gather", "8x1"], "measured")
        self.assertEqual(known["broadcast", "1x2/8x1"], "derived")
        # 4 bytes are less than any size that was measured; the logs have no kernels
        missing = json.loads(self.good("plan", "scenario.json", "--missing", "--json"))
        self.assertTrue(all(need["coverage"] != "measured" for need in missing["kernels"]))
        self.assertEqual([(need["op"], need["mesh"], [size["bytes"] for size in need["sizes"]])
                          for need in missing["collectives"]], [("all_reduce", "8x2", [4])])
        lines = self.good("plan", "scenario.json").splitlines()
        self.assertEqual([line for line in lines if len(line) > 100], [])

    def test_other_hardware_is_refused_by_the_simulator(self):
        self.import_lab()
        result = run(AMSP_SIM, "scenario.json", "--set", "cluster.preset=dgx-h100", cwd=self.folder)
        self.assertEqual(result.returncode, 2)
        self.assertIn("profile 'lab' was measured on other hardware", result.stderr)

    def test_hardware_by_options_is_that_of_a_cluster(self):
        path = self.folder / "a.log"
        path.write_text(log("all_gather", 2, 8, 180e9))
        self.good("import", path, "--cluster", "dgx-a100", "--output", "one.json", "--name", "x")
        self.good("import", path, "--gpu", "A100-SXM4-80GB", "--gpus-per-node", 8, "--nvlink", "switch",
                  "--nvlink-bandwidth", "300GBps", "--nics", 8, "--nic-bandwidth", "200Gbps",
                  "--output", "two.json", "--name", "x")
        one, two = ((self.folder / name).read_text() for name in ("one.json", "two.json"))
        self.assertEqual(json.loads(one)["hardware"], json.loads(two)["hardware"])
        self.assertIn("which hardware the logs are from: give --cluster, or --gpu, --nics",
                      self.refusal("import", path, "--gpus-per-node", 8, "--nvlink", "none",
                                   "--nic-bandwidth", "25GBps"))

    def test_json_reports_what_was_imported(self):
        report = json.loads(self.good("import", LOGS / "json-1.json", LOGS / "nccl_info_within.log",
                                      "--cluster", "dgx-a100", "--json"))
        self.assertEqual(report["schema"], "amsp.import/1")
        self.assertIsNone(report["profile"])
        self.assertEqual([(table["op"], table["mesh"], table["sizes"]) for table in report["tables"]],
                         [("all_reduce", "8x1", 3), ("all_reduce", "8x2", 4)])

    def test_refusals_name_file_line_and_reason(self):
        wrong = (LOGS / "v2.16-reduce_scatter.log").read_text().replace("118.86", "108.86")
        (self.folder / "wrong.log").write_text(wrong)
        (self.folder / "kept.json").write_text("kept")
        for message, *arguments in (
                ("wrong.log:20: has a busbw of 108.86 GB/s", "wrong.log", "--output", "kept.json"),
                ("v2.13-all_reduce.log:1: does not say which operation it ran; give --op",
                 LOGS / "v2.13-all_reduce.log"),
                ("none.log: cannot be read", "none.log"),
                ("--output: wrong.log is an input itself", "wrong.log", "--output", "wrong.log"),
                ("--output: must end in .json", LOGS / "json-1.json", "--output", "profile.txt"),
                ('--mesh: must be GPUs per node x nodes such as 8x4, found "8"', "wrong.log", "--mesh", "8"),
                ("there is no file or preset 'dgx-a10'; did you mean 'dgx-a100'?", "wrong.log", "--cluster",
                 "dgx-a10")):
            self.assertIn(message, self.refusal("import", "--cluster", "dgx-a100", *arguments)
                          if "--cluster" not in arguments else self.refusal("import", *arguments))
        self.assertEqual((self.folder / "kept.json").read_text(), "kept")
        self.assertIn("--op", self.refusal("import", "wrong.log", "--op", "alltoall"))

    def test_plans_that_are_not_possible_exit_with_3(self):
        self.assertIn("plan", self.refusal("plan", TESTBED, "--set", 'plan={"p": "4x1", "g": "2x1", '
                                           '"os": "8x1"}', code=3))
        self.refusal("plan", "none.json")
        self.refusal()
        self.refusal("plann")

    def test_the_same_bytes_every_time(self):
        for arguments in (("plan", TESTBED, "--json"), ("plan", TESTBED),
                          ("import", LOGS / "json-2.json", "--cluster", "dgx-a100", "--json")):
            self.assertEqual(self.good(*arguments), self.good(*arguments))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

"""amsp-sim as a user sees it: exit codes, messages, files. Usage: amsp_sim_test.py AMSP_SIM SOURCE"""
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

AMSP_SIM = pathlib.Path(sys.argv[1]).resolve()
SOURCE = pathlib.Path(sys.argv[2]).resolve()
TINY = SOURCE / "scenarios/tiny-zero3.json"


def run(*arguments):
    words = [word if isinstance(word, bytes) else str(word) for word in arguments]
    return subprocess.run([AMSP_SIM, *words], capture_output=True, text=True, timeout=120)


def exposed_from_trace(trace):
    """Exposed communication of a one-rank trace, from its text alone: interval arithmetic on
    integer nanoseconds, clipped to ProfilerStep."""
    ns = lambda us: round(us * 1000)
    window = [(ns(e["ts"]), ns(e["ts"]) + ns(e["dur"])) for e in trace["traceEvents"]
              if e["name"].startswith("ProfilerStep")]
    begin, end = min(w[0] for w in window), max(w[1] for w in window)
    edges = []
    for event in trace["traceEvents"]:
        if event.get("cat") != "kernel":
            continue
        start = max(begin, ns(event["ts"]))
        stop = min(end, ns(event["ts"]) + ns(event["dur"]))
        if stop > start:
            kind = "comm" if event["name"].startswith("nccl") else "comp"
            edges += [(start, 1, kind), (stop, -1, kind)]
    active = {"comm": 0, "comp": 0}
    last, exposed = begin, 0
    for time, change, kind in sorted(edges):
        if active["comm"] and not active["comp"]:
            exposed += time - last
        active[kind] += change
        last = time
    return exposed


class AmspSim(unittest.TestCase):
    def test_samples_steps_under_jitter(self):
        options = ("--set", "conditions.jitter.sigma=0.05", "--samples", "12", "--json")
        results = [run(TINY, *options, "--workers", workers) for workers in (1, 2)]
        self.assertEqual(results[0].stdout, results[1].stdout)
        jitter = json.loads(results[0].stdout)["jitter"]
        times = sorted(jitter["step_times_s"])
        self.assertEqual(len(times), 12)
        self.assertEqual([jitter["p50_s"], jitter["p99_s"]], [times[5], times[11]])
        self.assertIn("jitter      p50", run(TINY, *options[:-1]).stdout)

    def test_prints_a_table_that_fits_100_columns(self):
        result = run(TINY)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("step time", result.stdout)
        self.assertIn("MFU", result.stdout)
        self.assertEqual(result.stderr, "")
        self.assertNotIn("\x1b", result.stdout)
        too_long = [line for line in result.stdout.splitlines() if len(line) > 100]
        self.assertEqual(too_long, [])

    def test_the_papers_case_fits_100_columns(self):
        result = run(SOURCE / "scenarios/llama-7b-amsp-1024gpu.json", "--set", "cluster.nodes=1",
                     "--set", "training.global_batch=8")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([line for line in result.stdout.splitlines() if len(line) > 100], [])

    def test_json_carries_the_same_step_time(self):
        report = json.loads(run(TINY, "--json").stdout)
        self.assertEqual(report["schema"], "amsp.prediction/1")
        parts = report["breakdown"]
        self.assertAlmostEqual(
            parts["compute_s"] + parts["exposed_s"] + parts["idle_s"], parts["window_s"], places=12)
        self.assertAlmostEqual(sum(report["critical_path"].values()), report["step_time_s"], places=8)

    def test_two_runs_give_the_same_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            outputs = []
            for i in range(2):
                trace = pathlib.Path(folder, f"{i}.json.gz")
                result = run(TINY, "--json", "--trace", trace, "--trace-ranks", "0-1")
                outputs.append((result.stdout, trace.read_bytes()))
            self.assertEqual(outputs[0], outputs[1])

    def test_trace_reproduces_the_exposed_communication(self):
        for overlap in ("true", "false"):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "step.json.gz")
                result = run(TINY, "--json", "--trace", path, "--set", "engine.preset=amsp",
                             "--set", f"engine.overlap.gather={overlap}")
                self.assertEqual(result.returncode, 0, result.stderr)
                report = json.loads(result.stdout)
                self.assertEqual(report["breakdown"]["rank"], 0)
                trace = json.loads(gzip.decompress(path.read_bytes()))
                self.assertEqual(exposed_from_trace(trace),
                                 round(report["breakdown"]["exposed_s"] * 1e9))

    def test_folding_changes_no_number(self):
        outputs = {}
        for network in ("full", "folded"):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "step.json")
                result = run(TINY, "--json", "--network", network, "--set", "cluster.nodes=3",
                             "--set", "plan=zero1", "--trace", path, "--trace-ranks", "13")
                self.assertEqual(result.returncode, 0, result.stderr)
                outputs[network] = (json.loads(result.stdout), json.loads(path.read_text()))
        (full, full_trace), (folded, folded_trace) = outputs["full"], outputs["folded"]
        self.assertEqual(full["simulation"].pop("rank_classes"), 24)
        self.assertLess(folded["simulation"].pop("rank_classes"), 24)
        self.assertLess(folded["simulation"].pop("activities"), full["simulation"].pop("activities"))
        self.assertAlmostEqual(folded.pop("step_time_s"), full.pop("step_time_s"), places=11)
        self.assertEqual(full.keys(), folded.keys())
        events = [[(e["name"], e.get("ts", 0), e.get("dur", 0)) for e in trace["traceEvents"]]
                  for trace in (full_trace, folded_trace)]
        self.assertEqual(len(events[0]), len(events[1]))
        for a, b in zip(*events):
            self.assertEqual(a[0], b[0])
            for i in (1, 2):  # microseconds, written to the nanosecond
                self.assertAlmostEqual(a[i], b[i], delta=0.0011)

    def test_overrides(self):
        one = json.loads(run(TINY, "--json").stdout)
        two = json.loads(run(TINY, "--json", "--set", "training.micro_batches=6").stdout)
        self.assertGreater(two["step_time_s"], 1.5 * one["step_time_s"])

    def test_predict_is_the_default_command(self):
        self.assertEqual(run("predict", TINY).stdout, run(TINY).stdout)
        help_text = run("predict", "--help").stdout
        self.assertIn("Examples:", help_text)

    def test_failures(self):
        cases = [
            (("no-such-file.json",), 2, "no-such-file.json"),
            ((TINY, "--set", "training.micro_batch"), 2, "training.micro_batch"),
            ((TINY, "--set", "plan=zero9"), 2, "did you mean 'zero1'?"),
            ((TINY, "--set", 'plan={"p":"3x1","g":"3x1","os":"3x1"}'), 3, "must divide"),
            ((TINY, "--trace-ranks", "99", "--trace", "x.json"), 2, "--trace-ranks"),
            ((TINY, "--trace", "/no/such/folder/x.json"), 2, "/no/such/folder"),
            ((TINY, "--nonsense"), 2, "--nonsense"),
            (("",), 2, "must not be empty"),
            ((TINY, "--trace", ""), 2, "must not be empty"),
            ((TINY, "--trace", TINY), 2, "is an input itself"),
            ((TINY, "--trace", "one.json", "--report", "one.json"), 2, "is the file of --trace"),
            ((TINY, "--trace", "one.json", "--report", "./one.json"), 2, "is the file of --trace"),
            (("collective", "dgx-h100", "--algo", ""), 2, "--algo: must not be empty"),
            (("collective", "dgx-h100", "--mesh", ""), 2, "--mesh: must not be empty"),
            ((TINY, "--samples", "10"), 2, "needs 'conditions/jitter'"),
            ((TINY, "--set", 'conditions={"slow_gpus":[{"at":"node0/gpu9","speed":0.5}]}'), 2,
             "tiny-zero3.json#/conditions/slow_gpus/0/at: there is no node0/gpu9"),
            ((TINY, "--set", 'conditions={"slow_gpus":[{"at":"node0/gpu[0,0]","speed":0.001}]}'), 2,
             "less than 0.001 of its speed"),
            (("topology", TINY, "--set", 'conditions={"failed_links":["leaf0"]}'), 2,
             "#/conditions: have no effect on a cluster by itself"),
            ((TINY, "--trace-ranks", "0"), 2, "needs --trace or --report"),
            ((TINY, "--set", b"name=\xff"), 2, "no UTF-8"),
            ((TINY, "--set", 'name="a\\u001b[31m"'), 2, "control characters"),
            ((TINY, "--set", "cluster.gpu.gemm_efficiency=0.01"), 2, "has no effect"),
            ((TINY, "--set", "cluster.node.nics.count=8"), 2, "json#/cluster: profile"),
            ((TINY, "--set", "training.micro_batches=1048576"), 2, "million tasks"),
            ((TINY, "--set", "cluster.profile=none", "--set", "cluster.gpu.peak_bf16=1FLOPS"), 2,
             "at most 9000 s"),
            ((TINY, "--network", "half"), 2, "--network"),
            ((), 2, "scenario"),
            (("predcit", TINY), 2, "no command or file 'predcit'; did you mean 'predict'?"),
            (("predict",), 2, "scenario"),
        ]
        for arguments, code, part in cases:
            with self.subTest(arguments=arguments):
                result = run(*arguments)
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertIn(part, result.stderr + result.stdout)
                self.assertEqual(len((result.stderr + result.stdout).strip().splitlines()) < 5, True)

    def test_output_that_does_not_arrive_is_an_error(self):
        with open("/dev/full", "w") as full:
            for arguments in ([TINY], [TINY, "--json"]):
                result = subprocess.run([AMSP_SIM, *arguments], stdout=full,
                                        stderr=subprocess.PIPE, text=True, timeout=120)
                self.assertEqual(result.returncode, 2)
                self.assertIn("standard output: can't be written", result.stderr)

    def test_a_file_that_cannot_be_written_leaves_none(self):
        with tempfile.TemporaryDirectory() as folder:
            good = pathlib.Path(folder, "good")
            for first, second in (("--trace", "--report"), ("--report", "--trace")):
                result = run(TINY, first, good, second, pathlib.Path(folder, "no", "bad"))
                self.assertEqual(result.returncode, 2)
                self.assertIn("cannot be written: No such file or directory", result.stderr)
                self.assertEqual(result.stdout, "")
                self.assertEqual(list(pathlib.Path(folder).iterdir()), [])

    def test_out_of_memory_is_predicted_and_says_what_to_change(self):
        result = run(SOURCE / "scenarios/llama-7b-amsp-1024gpu.json", "--set", "cluster.nodes=1",
                     "--set", "training.global_batch=8", "--set", "plan=ddp")
        self.assertEqual(result.returncode, 3)
        self.assertIn("OUT OF MEMORY", result.stdout)
        self.assertIn("and fits", result.stdout)

    def test_help_has_examples(self):
        result = run("--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("Examples:", result.stdout)
        self.assertEqual(run("--version").stdout.split()[0], "amsp-sim")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])

"""Prediction against execution: bench/cross-validate, amsp-profile measure, amsp-trace calibrate."""
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOLS, ROOT = None, None
SMALL = ["model.hidden=64", "model.ffn=172", "model.heads=4", "model.layers=2", "training.sequence_length=64"]
# Large enough that a step (0.1 s) isn't made of wake-ups of threads, which nobody predicts.
LARGER = ["model.hidden=256", "model.ffn=688", "model.heads=4", "model.layers=2", "training.sequence_length=128"]
# Predicted / executed of a step, either way up. In docs/cross-validation.md it is between 0.61 and 1.27 in every
# round, and executed steps spread by up to 52 % of their median, half of it to a side: 0.61 / 1.26 = 0.48. Steps of
# this model are shorter: four rounds before all others on two cores were between 0.40 and 0.83.
CLOSE = 2.5
# Where others compute on the same cores, runs are longer than what was measured a moment before: six rounds at a
# load of 11 to 19 on two cores were between 0.28 and 1.85.
CLOSE_ON_BUSY_CORES = 4
ROUNDS = 3  # of which the best counts: a neighbour may start between measurement and run


def bound():
    return CLOSE_ON_BUSY_CORES if os.getloadavg()[0] > 2 * os.cpu_count() else CLOSE


def flags(assignments):
    return [flag for one in assignments for flag in ("--set", one)]


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=280)


class CrossValidation(unittest.TestCase):
    def setUp(self):
        self.scenario = ROOT / "scenarios/host/host-two-ranks.json"
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def must(self, *command):
        done = run(*command)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def rows(self, plans):
        return json.loads(self.must(ROOT / "bench/cross-validate", TOOLS, self.scenario, "--plans", ",".join(plans),
                                    "--steps", 12, "--pace", "500MBps,20us", "--quick", "--json",
                                    *flags(LARGER)))["plans"]

    def test_three_plans_match_by_key_close_to_the_nanosecond_and_are_predicted(self):
        factors = {"ddp": [], "zero1": [], "zero3": []}
        far = list(factors)
        for _ in range(ROUNDS):
            rows = self.rows(far)
            self.assertEqual([row["plan"] for row in rows], far)
            for row in rows:
                self.assertGreaterEqual(row["matched_by_key"], 0.95)
                self.assertEqual(row["unclosed_ns"], 0)
                factors[row["plan"]].append(row["predicted_s"] / row["executed_s"])
            far = [plan for plan in far
                   if all(abs(math.log(factor)) > math.log(bound()) for factor in factors[plan])]
            if not far:
                return
        self.fail(f"predicted / executed, best of {ROUNDS} rounds, beyond a factor of {bound()}: {factors}")

    def test_what_was_measured_is_a_profile(self):
        profile = self.folder / "machine.json"
        self.must(TOOLS / "amsp-profile", "measure", self.scenario, "--virtual-ranks", "--plans", "ddp,zero3",
                  "--quick", "--output", profile, "--name", "mine", *flags(SMALL))
        content = json.loads(profile.read_text())
        self.assertEqual(content["name"], "mine")
        self.assertEqual({table["op"] for table in content["collectives"]},
                         {"all_gather", "reduce_scatter", "all_reduce"})
        for table in content["collectives"]:
            self.assertTrue(0 <= table["compute_share"] <= 1, table["compute_share"])
        self.assertEqual({(table["kernel"], table["backward"]) for table in content["memory"]},
                         {(kernel, backward) for kernel in ("rms_norm", "rotary", "residual", "swiglu", "embedding",
                                                            "loss") for backward in (False, True)}
                         | {("grad_norm", False), ("optimizer", False)})
        known = json.loads(self.must(TOOLS / "amsp-profile", "plan", self.scenario, "--json", "--set",
                                     f"cluster.profile={profile}", *flags(SMALL)))
        # Shards of the optimizer are smaller than what was measured.
        self.assertEqual({kernel["coverage"] for kernel in known["kernels"]
                          if not kernel["name"].startswith(("adam", "gradient"))}, {"measured"})

    def test_a_profile_from_traces_of_a_run(self):
        self.must(TOOLS / "amsp-exec", self.scenario, "--virtual-ranks", "--steps", 6, "--warm-up", 2, "--trace",
                  self.folder / "traces", *flags(SMALL))
        small = json.loads(self.scenario.read_text())
        small["model"].update(hidden=64, ffn=172, heads=4, layers=2)
        small["training"]["sequence_length"] = 64
        scenario = self.folder / "small.json"
        scenario.write_text(json.dumps(small))
        profile = self.folder / "calibrated.json"
        self.must(TOOLS / "amsp-trace", "calibrate", self.folder / "traces", "--scenario", scenario, "--name", "run",
                  "--out", profile)
        predicted = json.loads(self.must(TOOLS / "amsp-sim", scenario, "--json", "--set",
                                         f"cluster.profile={profile}"))
        self.assertGreater(predicted["step_time_s"], 0)

    def test_mistakes(self):
        for arguments, message in (
                (["--pace", "fast"], '--pace: must be a bandwidth and a latency such as 200MBps,50us, found "fast"'),
                (["--pace-across", "1GBps,1us"], "--pace-across: needs --pace as well"),
                (["--patience", "long"], '--patience: must be a time such as 60s, found "long"'),
                (["--output", self.scenario], f"--output: {self.scenario} is an input"),
                (["--plans", "zero9"], "zero9")):
            done = run(TOOLS / "amsp-profile", "measure", self.scenario, "--virtual-ranks", *arguments)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    TOOLS, ROOT = pathlib.Path(sys.argv.pop(1)), pathlib.Path(sys.argv.pop(1))
    unittest.main()

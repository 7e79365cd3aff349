"""amsp-sim collective as a user sees it. Usage: collective_test.py AMSP_SIM SOURCE"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

AMSP_SIM = pathlib.Path(sys.argv[1]).resolve()
SOURCE = pathlib.Path(sys.argv[2]).resolve()
A100 = SOURCE / "scenarios/dgx-a100-7b.json"
SHARP = SOURCE / "scenarios/sharp-on.json"
TESTBED = SOURCE / "scenarios/llama-7b-amsp-1024gpu.json"
HOPPER = ("--set", "cluster.gpu=H100-SXM5-80GB")


def run(*arguments):
    return subprocess.run([AMSP_SIM, "collective", *map(str, arguments)], capture_output=True,
                          text=True, timeout=120)


class Collective(unittest.TestCase):
    def answer(self, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        too_long = [line for line in result.stdout.splitlines() if len(line) > 100]
        self.assertEqual(too_long, [])
        return result.stdout

    def refusal(self, code, *arguments):
        result = run(*arguments)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.assertEqual(result.stdout, "")
        return result.stderr

    def test_lists_candidates_choice_and_links(self):
        text = self.answer(A100, "--op", "all_reduce", "--bytes", "256MiB", "--mesh", "8x4")
        for part in ("ring/simple", "tree/ll128", "<- chosen", "not possible here", "nvls  ",
                     "choice ring/simple: NCCL expects 3.309 ms", "busbw", "nic", "nvswitch"):
            self.assertIn(part, text)

    def test_json_has_the_same_numbers(self):
        answer = json.loads(self.answer(A100, "--mesh", "8x4", "--json"))
        self.assertEqual(answer["schema"], "amsp.collective/1")
        self.assertEqual(answer["choice"], "ring/simple")
        chosen = [c for c in answer["candidates"] if c["candidate"] == "ring/simple"][0]
        self.assertAlmostEqual(chosen["nccl_expects_s"], 3309e-6, delta=2e-6)
        self.assertEqual(chosen["time_s"], answer["time_s"])
        self.assertAlmostEqual(answer["bus_bandwidth_bytes_per_s"],
                               answer["algorithm_bandwidth_bytes_per_s"] * 62 / 32, delta=1)
        expected = [c["nccl_expects_s"] for c in answer["candidates"] if "obstacle" not in c]
        self.assertEqual(min(expected), chosen["nccl_expects_s"])
        for link in answer["busiest_links"]:
            self.assertLessEqual(link["utilisation"], 1 + 1e-9)

    def test_explains_every_algorithm(self):
        for algorithm, options, words in (
                ("ring", (), "In 7 more steps"),
                ("tree", (), "the result comes back the same way"),
                ("nvls", HOPPER, "the NVSwitch does the sums")):
            text = self.answer(A100, "--mesh", "8x1", "--algo", algorithm, "--explain", *options)
            self.assertIn(words, " ".join(text.split()))
        for algorithm, options, words in (
                ("tree", (), "First tree: 1 -> 2, 2 -> 0, 3 -> 2."),
                ("nvls_tree", HOPPER, "Second tree: 0 -> 1, 1 -> 3, 2 -> 1."),
                ("collnet_direct", (), "Inside a node every GPU sends each of 8 heads its part"),
                ("collnet_chain", (), "every link of the tree carries it once up")):
            text = self.answer(SHARP, "--mesh", "8x4", "--algo", algorithm, "--explain", *options)
            self.assertIn(words, " ".join(text.split()))
        text = self.answer(A100, "--mesh", "1x8/8x1", "--op", "all_gather", "--algo", "pat", "--explain")
        self.assertIn("To the rank 4 further on: 1 part", text)
        self.assertIn("all 8 sibling groups at once", text)

    def test_sweep_reads_like_nccl_tests(self):
        rows = [line.split() for line in self.answer(A100, "--mesh", "8x1", "--sweep").splitlines()
                if not line.startswith("#")]
        self.assertEqual([int(row[0]) for row in rows], [2**power for power in range(10, 35)])
        times = [float(row[2]) for row in rows]
        self.assertEqual(times, sorted(times))
        self.assertAlmostEqual(float(rows[-1][4]), 235, delta=1)  # what DGX A100 measures
        sweep = json.loads(self.answer(A100, "--mesh", "8x1", "--sweep", "--json"))
        self.assertEqual(len(sweep["rows"]), len(rows))

    def test_a_profile_comes_first(self):
        text = self.answer(TESTBED, "--mesh", "8x8", "--bytes", "1GiB")
        self.assertIn("times from profile 'a800-4xhdr': measured", text)
        self.assertIn("--algo: collectives of cluster 'a800-amsp-testbed' come from profile",
                      self.refusal(2, TESTBED, "--algo", "ring"))

    def test_reads_a_cluster_without_a_scenario(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "cluster.json")
            head = '{"schema": "amsp.cluster/1", "preset": "dgx-a100", '
            path.write_text(head + '"nodes": 2}')
            self.assertEqual(json.loads(self.answer(path, "--json"))["mesh"], "8x2")
            path.write_text(head + '"nodez": 2}')
            self.assertIn("cluster.json#/nodez: is not a known key", self.refusal(2, path))
            path.write_text('{"schema": "amsp.cluster/2", "preset": "dgx-a100", "nodes": 2}')
            self.assertIn("cluster.json#/schema: must be", self.refusal(2, path))

    def test_takes_presets_by_name(self):
        self.assertEqual(json.loads(self.answer("dgx-h100", "--set", "nodes=2", "--json"))["choice"],
                         "nvls_tree/simple")
        self.assertIn("there is no file or preset 'dgx-h10'; did you mean 'dgx-h100'?",
                      self.refusal(2, "dgx-h10"))

    def test_refuses_what_the_fabric_cannot_do(self):
        for code, message, *arguments in (
                (3, "NVSwitches reduce from generation hopper on, the GPUs are ampere", A100,
                 "--algo", "nvls"),
                (3, "it has all_reduce only", A100, "--op", "broadcast", "--algo", "tree"),
                (3, "it needs at least 2 nodes", A100, "--mesh", "8x1", "--algo", "nvls_tree", *HOPPER),
                (3, 'it needs switches that reduce ("sharp": true)', A100, "--algo", "collnet_chain"),
                (3, "all_gather needs a NIC for each GPU of a node, 8 GPUs share 4", SHARP, "--op",
                 "all_gather", "--algo", "collnet_direct", "--set", "cluster.node.nics.count=4"),
                (3, "it needs 1 GPU per node, not 8", A100, "--op", "all_gather", "--algo", "pat"),
                (3, "it has the protocol simple only", SHARP, "--algo", "collnet_chain", "--proto", "ll"),
                (3, "8x16 doesn't fit on 8 nodes of 8 GPUs", A100, "--mesh", "8x16"),
                (3, "a group of 1 GPU has nothing to say", A100, "--mesh", "1x1"),
                (2, 'found "16"', A100, "--mesh", "16"),
                (2, "did you mean 'nvls_tree'?", A100, "--algo", "nvlstree"),
                (2, "--bytes: must be a size with a unit", A100, "--bytes", "1000"),
                (2, "nvls can't run all_reduce here: NVSwitches reduce from generation hopper on", A100,
                 "--set", "cluster.collectives.algorithms.all_reduce=nvls"),
                (2, "tree can't run broadcast here: it has all_reduce only", A100, "--set",
                 "cluster.collectives.algorithms.broadcast=tree"),
                (2, "has no effect beside profile 'a800-4xhdr'", TESTBED, "--set",
                 "cluster.collectives.sharp=true")):
            self.assertIn(message, self.refusal(code, *arguments))

    def test_predictions_refuse_the_same(self):
        result = subprocess.run([AMSP_SIM, A100, "--set",
                                 "cluster.collectives.algorithms.broadcast=tree"],
                                capture_output=True, text=True)
        self.assertEqual(result.returncode, 2)
        self.assertIn("#/cluster/collectives/algorithms/broadcast: tree can't run broadcast here",
                      result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])

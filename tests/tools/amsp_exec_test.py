"""amsp-exec as a user sees it: results, exit codes, messages, what becomes of a job that loses a rank.
Usage: amsp_exec_test.py AMSP_EXEC AMSP_SIM SOURCE MPIEXEC [FLAG...]"""
import gzip
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

AMSP_EXEC, AMSP_SIM, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
LAUNCH = sys.argv[4:]
AMSP_TRACE = AMSP_EXEC.parent / "amsp-trace"

SCENARIO = {
    "schema": "amsp.scenario/1",
    "name": "host",
    "model": {"name": "small", "hidden": 32, "layers": 2, "heads": 4, "ffn": 88, "vocab": 256},
    "cluster": {
        "name": "host", "nodes": 1, "profile": "none",
        "gpu": {"name": "host core", "peak_bf16": "100GFLOPS", "memory": "4GiB", "hbm_bandwidth": "10GBps",
                "hbm_efficiency": 0.8, "gemm_efficiency": 0.7, "attention_efficiency": 0.4, "sms": 100},
        "node": {"gpus": 4, "nvlink": {"kind": "direct", "bandwidth": "2GBps"}, "pcie": {"bandwidth": "2GBps"},
                 "nics": {"count": 1, "bandwidth": "10Gbps"}, "comm_sms": {"intra": 30, "inter": 30}}},
    "training": {"sequence_length": 32, "micro_batches": 2, "precision": {"parameters": "fp32"}},
    "plan": "zero3",
}


def execute(*arguments, ranks=None):
    """Runs amsp-exec by itself, or `ranks` processes of it. Returns exit code, output, messages."""
    launch = [*LAUNCH, "-n", str(ranks)] if ranks else []
    result = subprocess.run([*launch, AMSP_EXEC, *map(str, arguments)], capture_output=True, text=True, timeout=120)
    return result.returncode, result.stdout, result.stderr


def messages(text):
    """What amsp-exec itself wrote, without the launcher's words."""
    return [line for line in text.splitlines() if line.startswith("amsp-exec: ")]


def task_keys(path):
    with gzip.open(path, "rt") as file:
        events = json.load(file)["traceEvents"]
    return sorted(event["args"]["sk"] for event in events if "sk" in event.get("args", {}))


class AmspExec(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.scenario = self.folder / "host.json"
        self.scenario.write_text(json.dumps(SCENARIO))

    def refused(self, code, message, *arguments, ranks=None):
        got, output, errors = execute(self.scenario, *arguments, ranks=ranks)
        self.assertEqual((got, output, messages(errors)), (code, "", ["amsp-exec: " + message]), errors)

    # What it does.

    def test_trains_alike_as_processes_and_as_threads(self):
        options = ("--steps", 5, "--text", SOURCE / "LICENSE", "--json")
        results = []
        for ranks, more in ((4, ()), (None, ("--virtual-ranks",))):
            code, output, errors = execute(self.scenario, *options, *more, ranks=ranks)
            self.assertEqual(code, 0, errors)
            results.append(json.loads(output))
        processes, threads = results
        self.assertEqual(processes["losses"], threads["losses"])
        self.assertEqual(len(processes["losses"]), 5)
        self.assertGreater(processes["losses"][0], processes["losses"][-1])
        self.assertEqual((processes["ranks"], processes["fabric"], threads["fabric"]),
                         (4, "sockets of one machine", "threads of one process"))
        self.assertEqual(processes["data"], f"{SOURCE}/LICENSE ({(SOURCE / 'LICENSE').stat().st_size} bytes)")

    def test_prints_a_report_that_fits_100_columns(self):
        code, output, errors = execute(self.scenario, "--virtual-ranks", "--steps", 4, "--set", "plan=zero1")
        self.assertEqual(code, 0, errors)
        self.assertRegex(output, r"(?m)^step time   .* median of 1 steps ")
        self.assertLessEqual(max(map(len, output.splitlines())), 100)

    def test_its_traces_hold_the_tasks_of_the_simulated_ones(self):
        real, simulated = self.folder / "real", self.folder / "simulated"
        plan = '{"p": "2x1", "g": "4x1", "os": "4x1"}'
        code, _, errors = execute(self.scenario, "--steps", 4, "--set", "plan=" + plan, "--trace", real, ranks=4)
        self.assertEqual(code, 0, errors)
        for rank in range(4):
            path = simulated.with_name(f"simulated{rank}.json.gz")
            subprocess.run([AMSP_SIM, self.scenario, "--set", "plan=" + plan, "--trace", path, "--trace-ranks",
                            str(rank)], check=True, capture_output=True, timeout=120)
            keys = task_keys(real / f"rank{rank}.json.gz")
            self.assertGreater(len(keys), 100)
            self.assertEqual(keys, task_keys(path))

    def test_kernels_stand_in_traces_that_are_read_as_without_them(self):
        folder = self.folder / "traces"
        code, output, errors = execute(self.scenario, "--steps", 4, "--trace", folder, "--kernels", "--json", ranks=4)
        self.assertEqual(code, 0, errors)
        with_kernels = [folder / f"rank{rank}.json.gz" for rank in range(4)]
        plain = [self.folder / f"rank{rank}.json" for rank in range(4)]
        runs, total_ns, tasks, bare = {}, {}, 0, []
        for rank, path in enumerate(with_kernels):
            with gzip.open(path, "rt") as file:
                lines = file.read().splitlines()
            for number, line in enumerate(lines):
                if '"cat": "kernel"' not in line:
                    continue
                event = json.loads(line.rstrip(","))
                for kernel in event["args"].get("kernels", []) if (rank, event["args"]["step"]) == (0, 1) else []:
                    runs[kernel["kernel"]] = runs.get(kernel["kernel"], 0) + 1
                    total_ns[kernel["kernel"]] = total_ns.get(kernel["kernel"], 0) + kernel["dur_ns"]
                tasks += 1
                bare += [] if "kernels" in event["args"] else [event["args"]["sk"]]
                lines[number] = re.sub(r', "kernels": \[.*?\]', "", line)
            plain[rank].write_text("\n".join(lines) + "\n")
            self.assertNotIn('"kernels"', plain[rank].read_text())
        self.assertGreater(tasks, 400)
        self.assertEqual(bare, [])
        report = json.loads(output)
        rows = report["kernels"]
        self.assertEqual((report["kernels_lost"], report["kernels_without_task"]), (0, 0))
        self.assertEqual({row["name"]: row["runs"] for row in rows}, runs)
        for row in rows:
            self.assertAlmostEqual(row["total_s"], total_ns[row["name"]] / 1e9, places=9)
        self.assertEqual([row["total_s"] for row in rows], sorted((row["total_s"] for row in rows), reverse=True))
        self.assertLessEqual({"gemm", "rms_norm_backward", "all_gather", "reduce_scatter", "adamw"}, set(runs))
        for path in with_kernels:
            subprocess.run([AMSP_TRACE, "validate", path], check=True, capture_output=True, timeout=120)
        profile = self.folder / "profile.json"
        told = []
        for paths in (with_kernels, plain):
            summary = json.loads(self.told("summary", *paths, "--json"))
            self.assertEqual(len(summary["steps"]), 4)
            del summary["read"]  # names and sizes of the files
            self.told("calibrate", *paths, "--scenario", self.scenario, "--name", "calibrated", "--out", profile)
            told.append((summary, profile.read_text().replace(str(folder), str(self.folder)).replace(".json.gz", ".json")))
        self.assertEqual(*told)
        diff = json.loads(self.told("diff", with_kernels[0], plain[0], "--json"))
        self.assertEqual(diff["coverage"]["a_ns"], diff["coverage"]["b_ns"])

    def told(self, *arguments):
        return subprocess.run([AMSP_TRACE, *map(str, arguments)], check=True, capture_output=True, text=True,
                              timeout=120).stdout

    def test_prints_a_table_of_kernels(self):
        code, output, errors = execute(self.scenario, "--virtual-ranks", "--steps", 4, "--trace", self.folder / "t",
                                       "--kernels")
        self.assertEqual(code, 0, errors)
        self.assertRegex(output, r"(?m)^kernel \(rank 0, step 4\) +runs +in all +of all$")
        self.assertRegex(output, r"(?m)^gemm +\d+ +[\d.]+ .s +[\d.]+ %$")
        self.assertRegex(output, r"(?m)^\d+ others +\d+ ")
        self.assertLessEqual(max(map(len, output.splitlines())), 100)

    def test_without_kernels_there_is_no_word_of_them(self):
        code, output, errors = execute(self.scenario, "--virtual-ranks", "--steps", 4, "--trace", self.folder / "t",
                                       "--json")
        self.assertEqual(code, 0, errors)
        self.assertNotIn("kernels", output)
        with gzip.open(self.folder / "t/rank0.json.gz", "rt") as file:
            self.assertNotIn('"kernels"', file.read())

    # What it refuses.

    def test_kernels_without_a_trace(self):
        self.refused(2, "--kernels: needs --trace as well", "--kernels", "--virtual-ranks")

    def test_more_ranks_needed_than_launched(self):
        self.refused(3, f"{self.scenario}: the plan is for 4 ranks (dp 4x1), 2 were started; start it with: "
                     "mpirun -n 4", ranks=2)
        self.refused(3, f"{self.scenario}: the plan is for 4 ranks (dp 4x1), 1 was started; start it with: "
                     "mpirun -n 4")

    def test_unreadable_text(self):
        self.refused(2, "no-such-file: can't be read", "--text", "no-such-file", ranks=4)

    def test_text_that_is_too_short(self):
        text = self.folder / "short.txt"
        text.write_text("x" * 32)
        self.refused(2, f"{text}: has 32 bytes; a sequence of 32 tokens needs 33", "--text", text, "--virtual-ranks")
        text.write_text("x" * 33)
        code, _, errors = execute(self.scenario, "--text", text, "--virtual-ranks", "--steps", 4)
        self.assertEqual(code, 0, errors)

    def test_a_folder_for_a_text(self):
        self.refused(2, f"{self.folder}: is a folder, not a text", "--text", self.folder, "--virtual-ranks")

    def test_a_vocabulary_too_small_for_bytes(self):
        text = SOURCE / "LICENSE"
        self.refused(2, f"{self.scenario}#/model/vocab: {text} ({text.stat().st_size} bytes) has tokens up to 255; "
                     "the model's vocabulary has 200", "--text", text, "--set", "model.vocab=200", ranks=4)

    def test_another_optimizer(self):
        self.refused(2, f"{self.scenario}#/training/optimizer: 'lion' can't be executed yet, only simulated; "
                     "allowed: adam", "--set", "training.optimizer=lion", ranks=4)

    def test_another_family(self):
        self.refused(2, f"{self.scenario}#/model: LayerNorm, norms of q and k, ALiBi, GELU without a gate can't be "
                     "executed yet, only simulated; allowed: RMSNorm, rotary positions, a gated feed-forward network",
                     "--set", "model.norm=layer_norm", "--set", "model.qk_norm=true", "--set",
                     "model.positions=alibi", "--set", "model.gated=false", ranks=4)

    def test_too_little_memory(self):
        code, output, errors = execute(self.scenario, "--set", "cluster.gpu.memory=256KiB", ranks=4)
        self.assertEqual((code, output, len(messages(errors))), (4, "", 1), errors)
        self.assertRegex(messages(errors)[0], MEMORY)

    def test_a_folder_that_cannot_be_made(self):
        self.refused(2, f"--trace: {self.scenario}/x can't be made a folder: Not a directory", "--trace",
                     self.scenario / "x", "--virtual-ranks")

    # What becomes of a job that loses a rank.

    def test_a_killed_rank_ends_the_job(self):
        scenario = ["--set", "model.hidden=256", "--set", "model.ffn=688", "--set", "model.layers=4"]
        job = subprocess.Popen([*LAUNCH, "-n", "4", AMSP_EXEC, self.scenario, *scenario, "--steps", "1000000"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(job.kill)
        ranks = self.processes_of(job.pid)
        victim = next(pid for pid, rank in ranks.items() if rank == 2)
        time.sleep(3)  # many steps
        os.kill(victim, signal.SIGKILL)
        start = time.monotonic()
        output, errors = job.communicate(timeout=60)
        self.assertLess(time.monotonic() - start, 10)
        self.assertNotEqual(job.returncode, 0)
        self.assertEqual(output, "")
        told = messages(errors)
        self.assertTrue(told, errors)
        for line in told:
            self.assertRegex(line, LOST)
        deadline = time.monotonic() + 10
        while any(alive(pid) for pid in ranks) and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual([pid for pid in ranks if alive(pid)], [])

    def processes_of(self, launcher):
        """The four ranks that the launcher started, once all train: {pid: rank}."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            found = {}
            for entry in pathlib.Path("/proc").glob("[0-9]*"):
                try:
                    if os.readlink(entry / "exe") != str(AMSP_EXEC):
                        continue
                    environment = (entry / "environ").read_bytes()
                    parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                except OSError:
                    continue
                rank = re.search(rb"OMPI_COMM_WORLD_RANK=(\d+)", environment)
                if rank and parent == launcher and len(list((entry / "task").iterdir())) >= 5:
                    found[int(entry.name)] = int(rank[1])
            if sorted(found.values()) == [0, 1, 2, 3]:
                return found
            time.sleep(0.05)
        self.fail("the job doesn't begin to train")


def alive(pid):
    try:
        return "zombie" not in pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


MEMORY = (r"^amsp-exec: out of memory: a rank may use 256 KiB; the plan needs [\d.]+ kB: "
          r"parameters [\d.]+ kB, gradients [\d.]+ kB, optimizer states [\d.]+ kB, activations [\d.]+ kB, "
          r"logits [\d.]+ kB, gathered parameters [\d.]+ kB, pending gradients [\d.]+ kB, inputs [\d.]+ kB$")
# Rank and task of who tells it, and the rank that was lost.
LOST = r"^amsp-exec: rank [013]: s\d+/(mb\d+/)?\w+/\S+: lost rank 2: "


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

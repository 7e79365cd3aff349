"""What the survivors of a job see when a rank is lost: lost_process_test.py PROGRAM MPIEXEC [FLAG...]"""
import pathlib
import re
import subprocess
import sys
import time
import unittest

PROGRAM, *LAUNCH = sys.argv[1:]


class LostProcess(unittest.TestCase):
    def survivors(self, way):
        """Runs a job of 4; its printed lines as {rank: (ms, message)}."""
        start = time.monotonic()
        job = subprocess.run([*LAUNCH, "-n", "4", PROGRAM, way], capture_output=True, text=True, timeout=60)
        self.assertLess(time.monotonic() - start, 10)
        self.assertNotEqual(job.returncode, 0)
        pids = re.findall(r"pid (\d+)", job.stdout)
        self.assertEqual(len(pids), 4, job.stdout)
        for pid in pids:
            state = pathlib.Path(f"/proc/{pid}/status")
            alive = state.exists() and "zombie" not in state.read_text()
            self.assertFalse(alive, f"process {pid} has survived")
        lines = re.findall(r"rank (\d) after (-?\d+) ms: (.*)", job.stdout)
        return {int(rank): (int(ms), message) for rank, ms, message in lines}

    def check(self, seen, pattern, ranks=(0, 1, 3)):
        self.assertEqual(sorted(rank for rank in seen if rank != 2), sorted(ranks), seen)
        for rank in ranks:
            ms, message = seen[rank]
            self.assertRegex(message, pattern)
            self.assertLess(ms, 1000)

    def test_killed_in_an_all_reduce(self):
        self.check(self.survivors("kill"),
                   r"^reduce: lost rank 2: (Connection closed by peer|Connection reset by peer|Broken pipe)$")

    def test_killed_in_an_exchange(self):
        self.check(self.survivors("exchange"), r"^lost rank 2: its process has ended$")

    def test_failed_in_an_all_reduce(self):
        seen = self.survivors("throw")
        self.assertEqual(seen[2][1], "bad luck")
        self.check(seen, r"^reduce: lost rank 2: ")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)

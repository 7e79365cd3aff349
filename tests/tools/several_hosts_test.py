"""Ranks on several hosts, without MPI: two network namespaces joined by a cable stand for two hosts.

Skipped (77) where namespaces can't be made: that needs root and ip (iproute2).
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

AMSP_EXEC, SCENARIO = None, None
HOSTS = [f"amsp-{os.getpid()}-{rank}" for rank in range(2)]
SMALL = ["--set", "model.hidden=64", "--set", "model.ffn=172", "--set", "model.heads=4", "--set", "model.layers=2",
         "--set", "training.sequence_length=64"]
SECRET = "a secret of these two"


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def make_hosts():
    for host in HOSTS:
        ip("netns", "add", host)
    ip("link", "add", "cable0", "netns", HOSTS[0], "type", "veth", "peer", "name", "cable1", "netns", HOSTS[1])
    for rank, host in enumerate(HOSTS):
        ip("-n", host, "address", "add", f"10.77.0.{rank + 1}/24", "dev", f"cable{rank}")
        for device in ("lo", f"cable{rank}"):
            ip("-n", host, "link", "set", device, "up")


def remove_hosts():
    for host in HOSTS:
        subprocess.run(["ip", "netns", "delete", host], capture_output=True)


def start(rank, *arguments, program=()):
    variables = {"AMSP_RANK": str(rank), "AMSP_WORLD_SIZE": "2", "AMSP_MASTER": "10.77.0.1:29500",
                 "AMSP_SECRET": SECRET}
    # stdin must not be a terminal's: killed ranks would leave it in disorder.
    return subprocess.Popen(["ip", "netns", "exec", HOSTS[rank], *(program or (AMSP_EXEC,)), SCENARIO, *SMALL,
                             *map(str, arguments)],
                            env={**os.environ, **variables}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def end(process):
    output, errors = process.communicate(timeout=100)
    return process.returncode, output, errors


class SeveralHosts(unittest.TestCase):
    def test_train_as_the_same_ranks_of_one_host_do(self):
        arguments = ("--steps", 3, "--warm-up", 1, "--json")
        ranks = [start(rank, *arguments, "--interface", f"cable{rank}") for rank in range(2)]
        (code, output, errors), other = end(ranks[0]), end(ranks[1])
        self.assertEqual((code, errors, other), (0, "", (0, "", "")))
        there = json.loads(output)
        self.assertEqual(there["fabric"], "TCP (cable0)")
        here = json.loads(subprocess.run([AMSP_EXEC, SCENARIO, *SMALL, *map(str, arguments), "--virtual-ranks"],
                                         check=True, capture_output=True, text=True, timeout=100).stdout)
        self.assertEqual(there["losses"], here["losses"])

    def test_an_interface_that_is_not_there(self):
        ranks = [start(0, "--interface", "eth7"), start(1, "--interface", "cable1")]
        results = [end(rank) for rank in ranks]
        self.assertEqual([code for code, _, _ in results], [2, 2])
        self.assertEqual(results[0][2], "amsp-exec: rank 0: network interface 'eth7' doesn't exist on the host of "
                                        "rank 0; there are cable0, lo\n")

    def test_are_not_measured_by_several_clocks(self):
        profile = pathlib.Path(AMSP_EXEC).parent / "amsp-profile"
        ranks = [start(rank, "--interface", f"cable{rank}", program=(*clock, profile, "measure"))
                 for rank, clock in enumerate(((), ("unshare", "--time", "--fork")))]
        (code, output, errors), other = end(ranks[0]), end(ranks[1])
        self.assertEqual((code, output, other[:2]), (2, "", (2, "")))
        self.assertIn("measure: collectives are timed by one clock, and the ranks are on several hosts", errors)

    def test_a_rank_that_is_killed_ends_the_other(self):
        ranks = [start(rank, "--steps", 100000, "--interface", f"cable{rank}") for rank in range(2)]
        time.sleep(3)
        self.assertEqual([rank.poll() for rank in ranks], [None, None])
        ranks[1].send_signal(signal.SIGKILL)
        killed = time.monotonic()
        code, _, errors = end(ranks[0])
        end(ranks[1])
        self.assertEqual(code, 4)
        self.assertLess(time.monotonic() - killed, 10)
        self.assertRegex(errors, r"^amsp-exec: rank 0: s\d+/.*lost rank 1")


if __name__ == "__main__":
    AMSP_EXEC, SCENARIO = sys.argv.pop(1), sys.argv.pop(1)
    try:
        make_hosts()
    except (OSError, subprocess.CalledProcessError) as problem:
        remove_hosts()
        print(f"skipped: no network namespaces: {getattr(problem, 'stderr', problem)}")
        sys.exit(77)
    try:
        unittest.main()
    finally:
        remove_hosts()

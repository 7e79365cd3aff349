"""amsp-sim topology and placement as a user sees them. Usage: amsp_topology_test.py AMSP_SIM SOURCE"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

AMSP_SIM = pathlib.Path(sys.argv[1]).resolve()
SOURCE = pathlib.Path(sys.argv[2]).resolve()
DUMP = SOURCE / "tests/topology/data/hgx.xml"
SCENARIO = SOURCE / "scenarios/networks/oversubscribed.json"


def run(*arguments):
    return subprocess.run([AMSP_SIM, *map(str, arguments)], capture_output=True, text=True,
                          timeout=120)


def topology(*arguments):
    result = run("topology", *arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout


class Topology(unittest.TestCase):
    def test_fits_100_columns_for_every_preset(self):
        names = run("topology", "no-such-preset").stderr.split("(presets: ")[1].split(")")[0]
        self.assertGreaterEqual(len(names.split(", ")), 9)
        for name in names.split(", "):
            for nodes in (1, 2, 9):
                with self.subTest(name, nodes=nodes):
                    text = topology(name, "--set", f"nodes={nodes}")
                    self.assertIn("bisection", text)
                    self.assertEqual([line for line in text.splitlines() if len(line) > 100], [])

    def test_json_of_a_superpod(self):
        report = json.loads(topology("dgx-h100", "--set", "nodes=64", "--json"))
        self.assertEqual(report["schema"], "amsp.topology/1")
        leaf, spine = report["switches"]
        # 2 units of 32 nodes, 8 rails; 32 ports down and 32 up of a switch with 64
        self.assertEqual((leaf["count"], leaf["ports"], leaf["oversubscription"]), (16, 64, 1))
        self.assertEqual((spine["count"], spine["oversubscription"]), (16, None))
        # 32 nodes x 8 NICs x 50 GB/s
        self.assertEqual(report["bisection"][0]["bandwidth_bytes_per_s"], 12.8e12)
        pairs = [distance["pairs"] for distance in report["distances"]]
        self.assertEqual(sum(pairs), 512 * 511)
        self.assertEqual(pairs[1], 512 * 31)  # the same rail of the same unit

    def test_what_two_to_one_changes(self):
        full, half = (json.loads(topology(SCENARIO, "--json", "--set",
                                          f"cluster.fabric.oversubscription={ratio}"))
                      for ratio in (1, 2))
        self.assertEqual(half["switches"][0]["oversubscription"], 2)
        self.assertEqual(2 * half["bisection"][0]["bandwidth_bytes_per_s"],
                         full["bisection"][0]["bandwidth_bytes_per_s"])
        self.assertEqual(half["bisection"][1], full["bisection"][1])  # inside leaves

    def test_a_scenarios_plan_need_not_fit(self):
        self.assertIn("2 nodes x 8", topology(SCENARIO, "--set", "cluster.nodes=2"))

    def test_reads_what_nccl_dumps(self):
        text = topology(DUMP)
        self.assertIn("hgx.xml: 1 node x 4 GPUs = 4 GPUs", text)
        self.assertIn("same node, NVSwitch", text)

    def test_reads_a_cluster_by_itself(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "cluster.json")
            path.write_text(json.dumps({"schema": "amsp.cluster/1", "name": "mine", "nodes": 2,
                                        "gpu": "H100-SXM5-80GB", "profile": "none",
                                        "node": {"nccl_topology": str(DUMP),
                                                 "comm_sms": {"intra": 16, "inter": 16}},
                                        "fabric": {"nodes_per_leaf": 2, "spines": 0}}))
            self.assertIn("mine: 2 nodes x 4 H100-SXM5-80GB = 8 GPUs", topology(path))
            self.assertIn("mine: 1 node x 4", topology(path, "--set", "nodes=1"))
            path.write_text('{"schema": "amsp.cluster/2", "name": "mine"}')
            result = run("topology", path)
            self.assertEqual(result.returncode, 2)
            self.assertIn("schema: must be one of amsp.cluster/1", result.stderr)

    def test_two_runs_give_the_same_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for i in range(2):
                dot, svg = (pathlib.Path(folder, f"{i}.{kind}") for kind in ("dot", "svg"))
                text = topology("dgx-a100", "--set", "nodes=5", "--dot", dot, "--svg", svg)
                files.append((text, dot.read_bytes(), svg.read_bytes()))
            self.assertEqual(files[0], files[1])

    def test_dot_has_every_cable(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "fabric.dot")
            report = json.loads(topology("l40s-pcie", "--set", "nodes=3", "--json", "--dot", path))
            text = path.read_text()
            self.assertEqual(text.count(" -- "), sum(sort["count"] for sort in report["cables"]))
            self.assertEqual(text.count("subgraph"), 3)
            self.assertEqual(text.count("{"), text.count("}"))

    def test_svg_is_well_formed_and_inside_its_frame(self):
        for arguments in (("dgx-h100", "--set", "nodes=64"), ("l40s-pcie", "--set", "nodes=2"),
                          ("gb200-nvl72", "--set", "nodes=4"), ("dgx-a100", "--set", "nodes=1"),
                          (DUMP,), ("dgx-h100", "--set", 'name="a<b&c\\""', "--set", "nodes=2")):
            with self.subTest(arguments), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "fabric.svg")
                topology(*arguments, "--svg", path)
                root = xml.etree.ElementTree.parse(path).getroot()
                width, height = float(root.get("width")), float(root.get("height"))
                self.assertLess(width, 2200)
                boxes = [box for box in root.iter("{http://www.w3.org/2000/svg}rect")
                         if box.get("class") == "box"]
                self.assertGreater(len(boxes), 5)
                places = set()
                for box in boxes:
                    x, y, wide = (float(box.get(key)) for key in ("x", "y", "width"))
                    self.assertGreater(wide, 10)
                    self.assertTrue(0 <= x and x + wide <= width and 0 <= y <= height)
                    places.add((x, y))
                self.assertEqual(len(places), len(boxes))  # none on top of another

    def test_failures(self):
        cases = [
            (("topology",), "cluster"),
            (("topology", "dgx-h10"), "there is no file or preset 'dgx-h10'; did you mean 'dgx-h100'?"),
            (("topology", "dgx-h100"), "dgx-h100#/nodes: is missing"),
            (("topology", DUMP, "--set", "nodes=2"), "--set: has no effect"),
            (("topology", SCENARIO, "--svg", SCENARIO), "is an input itself"),
            (("topology", SCENARIO, "--dot", "/no/such/folder/x.dot"), "/no/such/folder"),
            (("topology", "dgx-h100", "--set", "nodes=40", "--set", "fabric.spines=0"),
             "two leaves and no spine"),
            (("topolgy", "dgx-h100"), "did you mean 'topology'?"),
        ]
        for arguments, part in cases:
            with self.subTest(arguments):
                result = run(*arguments)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn(part, result.stderr + result.stdout)


class Placement(unittest.TestCase):
    def test_table_and_json(self):
        text = run("placement", SCENARIO).stdout
        self.assertIn("oversubscribed: 128 ranks, 8 GPUs in each of 16 of 16 nodes, packed", text)
        report = json.loads(run("placement", SCENARIO, "--json", "--set",
                                "placement=scattered").stdout)
        self.assertEqual([node["node"] for node in report["nodes"]][:5], [0, 4, 8, 12, 1])
        self.assertEqual([node["leaf_group"] for node in report["nodes"]][:5], [0, 1, 2, 3, 0])
        self.assertEqual(report["nodes"][1]["first_rank"], 8)

    def test_exports(self):
        job = ("placement", SCENARIO, "--set", "placement=scattered", "--hosts", "gpu[001-016]",
               "--format")
        self.assertEqual(run(*job, "hostfile").stdout.splitlines()[:3],
                         ["gpu001 slots=8", "gpu005 slots=8", "gpu009 slots=8"])
        ranks = run(*job, "rankfile").stdout.splitlines()
        self.assertEqual(len(ranks), 128)
        self.assertEqual(ranks[9], "rank 9=gpu005 slot=1")
        order = run(*job, "slurm-hostfile").stdout.splitlines()
        self.assertEqual((len(order), order[7], order[8]), (128, "gpu001", "gpu005"))
        packed = ("placement", SCENARIO, "--hosts", "gpu[001-016]", "--format", "slurm")
        self.assertEqual(run(*packed).stdout, "gpu[001-016]\n")
        some = json.dumps({"nodes": [4, 5, 6, 0, 1, 2, 3, 9]})
        self.assertEqual(run(*packed, "--set", f"placement={some}", "--set",
                             'plan={"name": "hsdp-8x4", "dp": "8x8"}').stdout,
                         "gpu[005-007,001-004,010]\n")

    def test_hosts_from_a_file_and_an_explicit_list(self):
        with tempfile.TemporaryDirectory() as folder:
            hosts, output = pathlib.Path(folder, "hosts"), pathlib.Path(folder, "ranks")
            hosts.write_text("# rack A\n" + "".join(f"a{i}\n" for i in range(8)) +
                             "b[0-7] slots=8\n")
            nodes = list(range(15, -1, -1))
            result = run("placement", SCENARIO, "--hosts", hosts, "--format", "hostfile", "--output",
                         output, "--set", f'placement={{"nodes": {nodes}}}')
            self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
            self.assertEqual(output.read_text().splitlines()[0], "b7 slots=8")
            self.assertEqual(output.read_text().splitlines()[15], "a0 slots=8")

    def test_failures(self):
        cases = [
            (("--hosts", "gpu[1-8]"), "names 8 hosts, the cluster has 16 nodes"),
            (("--hosts", "gpu[1-"), "must be a file or names such as gpu[001-128]"),
            (("--hosts", "gpu[1-15],gpu1"), "names gpu1 twice"),
            (("--format", "yaml"), "--format"),
            (("--json", "--format", "slurm"), "--json"),
            (("--set", "placement=random"),
             "placement: must be one of packed, scattered; found \"random\""),
            (("--set", 'placement={"nodes": [0, 1]}'),
             "must have one entry for each of the 16 nodes of 8x16, has 2"),
            (("--output", SCENARIO), "is an input"),
        ]
        for arguments, part in cases:
            with self.subTest(arguments):
                result = run("placement", SCENARIO, *arguments)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertIn(part, result.stderr + result.stdout)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])

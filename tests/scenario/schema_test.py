"""The published JSON Schema against the shipped scenarios and the table that the reader is tested with.

variations_test.cpp asks the reader the same questions; both have to give the answers of the table.
"""

import copy
import json
import unittest
from pathlib import Path

from jsonschema import Draft202012Validator

HERE = Path(__file__).resolve().parent
SCENARIOS = HERE.parent.parent / "scenarios"
FULL = ("full-explicit.json", "full-preset.json", "full-hf.json", "full-links.json",
        "full-dump.json")


def load(path):
    return json.loads(Path(path).read_text(encoding="utf-8"))


def merge_patch(target, patch):
    """RFC 7396."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge_patch(result.get(key), value)
    return result


def objects(value):
    """All objects inside a JSON value."""
    if isinstance(value, dict):
        yield value
        for member in value.values():
            yield from objects(member)


class SchemaTest(unittest.TestCase):
    def setUp(self):
        self.schema = load(SCENARIOS / "amsp.scenario.schema.json")
        self.validator = Draft202012Validator(self.schema)

    def problem(self, scenario):
        return next((error.message for error in self.validator.iter_errors(scenario)), None)

    def test_is_a_schema(self):
        Draft202012Validator.check_schema(self.schema)

    def test_accepts_what_comes_with_the_product(self):
        files = [path for path in sorted(SCENARIOS.rglob("*.json"))
                 if path.name != "config.json" and not path.name.endswith(".schema.json")
                 and path.parent.name != "clusters"]
        self.assertGreater(len(files), 100)
        for path in files:
            with self.subTest(path.name):
                self.assertIsNone(self.problem(load(path)))

    def test_accepts_the_clusters_that_come_with_the_product(self):
        scenario = load(SCENARIOS / "plan-13b-64gpu.json")
        files = sorted((SCENARIOS / "clusters").glob("*.json"))
        self.assertGreater(len(files), 5)
        for path in files:
            with self.subTest(path.name):
                self.assertIsNone(self.problem({**scenario, "cluster": load(path)}))

    def test_names_itself_in_every_scenario(self):
        for path in SCENARIOS.rglob("*.json"):
            scenario = load(path)
            if scenario.get("schema") == "amsp.scenario/1":
                with self.subTest(path.name):
                    named = (path.parent / scenario["$schema"]).resolve()
                    self.assertEqual(named, SCENARIOS / "amsp.scenario.schema.json")

    def test_agrees_with_the_table_of_variations(self):
        for variation in load(HERE / "variations.json"):
            with self.subTest(variation["name"]):
                base = load(HERE / "data" / variation["base"])
                problem = self.problem(merge_patch(base, variation["patch"]))
                self.assertEqual(problem is None, variation["accepted"], problem)

    def test_refuses_an_unknown_key_in_every_object(self):
        for name in FULL:
            scenario = load(HERE / "data" / name)
            for index, _ in enumerate(list(objects(scenario))):
                changed = copy.deepcopy(scenario)
                list(objects(changed))[index]["no_such_key"] = 1
                with self.subTest(f"{name}, object {index}"):
                    self.assertIsNotNone(self.problem(changed))

    def test_describes_every_key(self):
        for owner in objects(self.schema):
            if "additionalProperties" not in owner:
                continue  # a condition, which only points at keys described elsewhere
            for key, value in owner["properties"].items():
                definition = self.schema["$defs"].get(value.get("$ref", "").rsplit("/", 1)[-1], {})
                with self.subTest(key):
                    self.assertIn("description", {**definition, **value})

    def test_gives_examples_that_are_valid(self):
        for node in objects(self.schema):
            if not isinstance(node.get("examples"), list):
                continue
            validator = Draft202012Validator({**node, "$defs": self.schema["$defs"]})
            for example in node["examples"]:
                with self.subTest(example):
                    self.assertTrue(validator.is_valid(example))


if __name__ == "__main__":
    unittest.main()

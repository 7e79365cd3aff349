#!/usr/bin/env python3
"""Prints a libFuzzer dictionary of what a scenario may say: dictionary.py SCHEMA"""
import json
import sys

QUANTITIES = ["80GiB", "400Gbps", "25GBps", "312TFLOPS", "3us", "0", "-1", "1e308", "null", "true"]


def words(schema):
    """Keys and values that the schema names."""
    if isinstance(schema, list):
        return set().union(*map(words, schema))
    if not isinstance(schema, dict):
        return set()
    found = set(schema.get("properties", {}))
    found.update(value for value in schema.get("enum", []) if isinstance(value, str))
    return found.union(*map(words, schema.values()))


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    for word in sorted(words(schema)):
        print(f'"\\"{word}\\""')
    for word in QUANTITIES:
        print(f'"{word}"')


if __name__ == "__main__":
    main()

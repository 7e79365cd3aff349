"""amsp-trace from outside: commands, exit codes, files."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

TRACE, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
ODD = ROOT / "tests/traces/odd_inputs"


def run(*arguments, code=0):
    result = subprocess.run([TRACE, *map(str, arguments)], capture_output=True, text=True)
    assert result.returncode == code, (arguments, result.returncode, result.stdout, result.stderr)
    return result


def expect(condition, what):
    assert condition, what


def check_summary():
    text = run("summary", ODD / "good_baseline.json").stdout
    expect("rank 0 step 1  1000.000  400.000  200.000" in text, text)
    steps = json.loads(run("summary", "--json", ODD / "h76_three_steps.json").stdout)["steps"]
    expect([step["step"] for step in steps] == [0, 1, 2], steps)
    for step in steps:
        parts = ("compute_ns", "exposed_ns", "memory_only_ns", "idle_ns")
        expect(sum(step[part] for part in parts) == step["window_ns"], step)
    both = run("summary", ODD / "clock_rank0.json", ODD / "clock_rank1.json").stdout
    expect("850.000 us" in both and "790.000 us .. 950.000 us" in both, both)


def check_errors():
    bad = run("summary", ODD / "bz11863_truncated.json", code=2)
    expect(bad.stdout == "" and "4 events recovered" in bad.stderr, bad.stderr)
    run("summary", "--allow-partial", ODD / "bz11863_truncated.json")
    expect("empty file" in run("summary", ODD / "empty.json", code=2).stderr, "empty")
    run("summary", "--salvage", ODD / "p146900_unescaped_quotes.json")
    expect("cannot be read" in run("summary", "no_such_file.json", code=2).stderr, "missing file")
    run(code=2)
    run("sumary", code=2)
    good = ODD / "good_baseline.json"
    for arguments in (("report", good, "--out", "x.html", "--against", ""),
                      ("report", good, "--out", ""),
                      ("calibrate", good, "--scenario", "s.json", "--out", "x.json", "--name", ""),
                      ("diff", good, good, "--merged", ""), ("diff", good, ""),
                      ("summary", good, "--rules", "")):
        refused = run(*arguments, code=2)
        expect("must not be empty" in refused.stderr and refused.stdout == "", refused)


def check_diff(folder):
    a, b = ODD / "diff_a.json", ODD / "diff_b.json"
    expect("only in B: 1 event, 30.00 us" in run("diff", a, b).stdout, "one unmatched event")
    slow = folder / "slow.json"
    trace = json.loads((ODD / "good_baseline.json").read_text())
    trace["traceEvents"][0]["dur"] = 1100
    slow.write_text(json.dumps(trace))
    good = ODD / "good_baseline.json"
    run("diff", good, slow, "--fail-above", "11%")
    failed = run("diff", good, slow, "--fail-above", "9.5 %", code=1)
    expect("differs by +10.00 %" in failed.stderr, failed.stderr)
    for text in ("5", "x%", "-1%"):
        run("diff", good, slow, "--fail-above=" + text, code=2)
    written = slow.read_text()
    refused = run("diff", good, slow, "--merged", slow, code=2)
    expect("is an input itself" in refused.stderr, refused.stderr)
    refused = run("report", slow, "--out", slow, code=2)
    expect("is an input itself" in refused.stderr and slow.read_text() == written, refused.stderr)
    ranks = f"{ODD / 'clock_rank0.json'},{ODD / 'clock_rank1.json'}"
    same = json.loads(run("diff", "--json", ranks, ranks).stdout)
    expect(same["delta_ns"] == 0 and same["steps_compared"] == 2, same)
    merged = folder / "both.json.gz"
    run("diff", good, slow, "--merged", merged)
    run("validate", merged)


def check_rules(folder):
    rules = folder / "rules.json"
    rules.write_text(json.dumps({"schema": "amsp.trace-rules/1", "rules": [
        {"name_contains": "gemm", "activity": "communication", "op": "all_reduce", "group": "dp"}]}))
    step = json.loads(run("summary", "--json", "--rules", rules,
                          ODD / "good_baseline.json").stdout)["steps"][0]
    expect(step["compute_ns"] == 0 and step["by_group"]["dp"]["total_ns"] == 400000, step)
    rules.write_text('{"schema": "amsp.trace-rules/1", "rules": [{"name": "gemm"}]}')
    expect("/rules/0" in run("summary", "--rules", rules, ODD / "good_baseline.json",
                             code=2).stderr, "the place of a bad rule")


def check_validate():
    run("validate", ODD / "good_baseline.json")
    with tempfile.TemporaryDirectory() as folder:
        for rank in range(2):
            shutil.copy(ODD / "good_baseline.json", pathlib.Path(folder) / f"rank{rank}.json")
        text = run("validate", folder).stdout
        expect(text.count(": good (viewers' rules)") == 2, text)
    broken = run("validate", ODD / "pf4280_partial_overlap.json", code=1).stdout
    expect("overlaps event 1" in broken, broken)
    run("validate", "--schema", "amsp", ODD / "good_baseline.json", code=1)


def check_report(folder):
    page = folder / "page.html"
    run("report", ODD / "good_baseline.json", "--out", page, "--title", "a < b")
    text = page.read_text()
    expect("<title>a &lt; b</title>" in text and "http" not in text.split("<script>")[0], "page")
    first = page.read_bytes()
    run("report", ODD / "good_baseline.json", "--out", page, "--title", "a < b")
    expect(first == page.read_bytes(), "the same page twice")
    run("report", ODD / "good_baseline.json", "--out", page, "--ranks", "7", code=2)
    run("report", ODD / "good_baseline.json", "--out", folder / "no" / "page.html", code=2)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_summary()
        check_errors()
        check_diff(folder)
        check_rules(folder)
        check_validate()
        check_report(folder)
    run("critical-path", ODD / "good_baseline.json")
    print("amsp-trace does as it says")


if __name__ == "__main__":
    main()

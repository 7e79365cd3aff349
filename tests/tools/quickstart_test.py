"""What README.md shows of the quickstart's output, compared with what the program prints."""
import pathlib
import re
import subprocess
import sys

PROGRAMS, ROOT = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])


def last_command() -> list[str]:
    """What ./quickstart ends with, run from the build folder under test."""
    words = (ROOT / "quickstart").read_text().splitlines()[-1].split()
    if words[0] != "exec":
        sys.exit("quickstart: the last line must be its `exec` of the program")
    return [str(PROGRAMS / pathlib.Path(words[1]).name), *words[2:]]


def shown() -> list[str]:
    block = re.search(r"^The quickstart ends with \(shortened\):\n\n```\n(.*?)^```$",
                      (ROOT / "README.md").read_text(), re.M | re.S)
    if not block:
        sys.exit("README.md: no block of code after \"The quickstart ends with (shortened):\"")
    return block.group(1).splitlines()


def first_missing(lines: list[str], printed: list[str]) -> str | None:
    """The first of `lines` that isn't printed after those before it."""
    rest = iter(printed)
    return next((line for line in lines if line not in rest), None)


def main() -> int:
    run = subprocess.run(last_command(), cwd=ROOT, capture_output=True, text=True, timeout=120)
    if run.returncode != 0:
        print(run.stderr)
        return 1
    lines = shown()
    missing = first_missing(lines, run.stdout.splitlines())
    if missing is None and len(lines) > 20:
        print(f"{len(lines)} lines of README.md are printed, in this order")
        return 0
    print(f"README.md shows a line that isn't printed there:\n{missing}\n\nprinted:\n{run.stdout}")
    return 1


if __name__ == "__main__":
    sys.exit(main())

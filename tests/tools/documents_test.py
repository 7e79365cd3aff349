"""Files and names that the documents give exist: every path in backticks, and CONTRIBUTING.md's "Where is ..."."""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1])
SUFFIXES = "cpp|h|cu|cuh|py|cmake|csv|json|md"


def documents() -> list[pathlib.Path]:
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def missing_paths() -> list[str]:
    return [f"{document.relative_to(ROOT)}: there is no {path}" for document in documents()
            for path in re.findall(rf"`([\w.-]+/[\w./-]+\.(?:{SUFFIXES}))`", document.read_text())
            if not (ROOT / path).exists()]


def where_is() -> list[tuple[str, str]]:
    """File and name of each row."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    table = text[text.index("## Where is"):text.index("## Adding")]
    return re.findall(r"^\| [^|]+ \| `([^`]+)` \| `([^`]+)` \|$", table, re.M)


def missing_names() -> list[str]:
    return [f"CONTRIBUTING.md: there is no {name} in {path}" for path, name in where_is()
            if (ROOT / path).exists()
            and not re.search(rf"\b{re.escape(name)}\b", (ROOT / path).read_text())]


def main() -> int:
    rows = len(where_is())
    faults = missing_paths() + missing_names()
    if rows < 20:
        faults.append(f"CONTRIBUTING.md: only {rows} rows under \"Where is ...\"")
    print("\n".join(faults) or f"all paths exist, and the names of {rows} rows")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

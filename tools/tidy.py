"""The house rules that a compiler does not check. Prints file:line: rule, and ends with 1 when anything is found."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE_LINES_MAX = 600
FUNCTION_LINES_MAX = 70
HEADER_PARTS = ("**Source**", "**Idea**", "| parameter", "**Deviations**", "**Checked by**")
# What the lower layers must not touch: they are told the time and keep their order.
FORBIDDEN_BELOW = ("std::time::Instant", "SystemTime", "std::net::", "std::thread", "std::fs", "HashMap", "HashSet")
LOWER = ("base", "net", "transport", "record")
ARROWS = {
    "base": set(),
    "net": {"base"},
    "transport": {"base"},
    "record": {"base"},
    "sim": {"base", "net", "transport", "record"},
    "emu": {"base", "net", "record"},
    "py": {"base", "sim", "emu", "record"},
}
PRIVATE_PATHS = re.compile(r"(?<![\w.])/(?:work|root|tmp)/\w")
Finding = tuple[Path, int, str]


def tracked() -> list[Path]:
    """Files under version control, and new ones that are not ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode == 0:
        return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]
    skipped = {"target", ".venv", "out", "dist"}
    return [p for p in ROOT.rglob("*") if p.is_file() and not skipped & set(p.relative_to(ROOT).parts)]


def long_files(path: Path, lines: list[str]) -> Iterator[Finding]:
    if len(lines) > FILE_LINES_MAX:
        yield path, len(lines), f"{len(lines)} lines; a file has at most {FILE_LINES_MAX}"


def long_python_functions(path: Path, text: str) -> Iterator[Finding]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > FUNCTION_LINES_MAX:
                yield (
                    path,
                    node.lineno,
                    f"`{node.name}` has {length} lines; a function has at most {FUNCTION_LINES_MAX}",
                )


def long_rust_functions(path: Path, lines: list[str]) -> Iterator[Finding]:
    """In formatted code a function ends at the first closing brace with the indentation of its first line."""
    start = re.compile(r"^(\s*)(?:pub(?:\([^)]*\))? )?(?:const |unsafe |async )*fn (\w+)")
    for i, line in enumerate(lines):
        if found := start.match(line):
            end = next((j for j in range(i, len(lines)) if lines[j] == found.group(1) + "}"), None)
            one_line = line.rstrip().endswith(("}", ";"))
            if end is not None and not one_line and end - i + 1 > FUNCTION_LINES_MAX:
                name = found.group(2)
                yield path, i + 1, f"`{name}` has {end - i + 1} lines; a function has at most {FUNCTION_LINES_MAX}"


def is_test(path: Path) -> bool:
    parts = path.relative_to(ROOT).parts
    return "tests" in parts or "benches" in parts or path.name in ("tests.rs", "fuzz.rs") or "testkit" in parts


def rust_habits(path: Path, lines: list[str]) -> Iterator[Finding]:
    crate = path.relative_to(ROOT).parts[1]
    for number, line in enumerate(lines, start=1):
        if line.strip().startswith("#[cfg(test)]"):
            break
        code = line.split("//")[0]
        if ".unwrap()" in code and not is_test(path):
            yield path, number, 'unwrap() outside tests; use expect("why it cannot fail")'
        if crate in LOWER and not is_test(path):
            yield from ((path, number, f"{word} below the simulator") for word in FORBIDDEN_BELOW if word in code)


def headers(files: list[Path]) -> Iterator[Finding]:
    """Every file that a registry names starts with the full header, and its sources are known."""
    known = set()
    if (ROOT / "docs/sources.toml").exists():
        known = set(tomllib.loads((ROOT / "docs/sources.toml").read_text(encoding="utf-8")))
    for registry in (f for f in files if f.name == "registry.rs" and f.parent.name == "src"):
        text = registry.read_text(encoding="utf-8")
        for name in sorted(set(re.findall(r'"((?:\w+/)*\w+\.rs)"', text))):
            element = registry.parent / name
            head = [line for line in element.read_text(encoding="utf-8").splitlines() if line.startswith("//!")]
            page = "\n".join(head)
            missing = [part for part in HEADER_PARTS if part not in page]
            if missing or not page.startswith("//! # "):
                yield element, 1, f"header lacks {', '.join(missing) or 'its title'}"
            source = page.partition("**Source**:")[2].partition("**Idea**")[0].replace("//!", " ")
            if known and not any(key in source for key in known):
                yield element, 1, "the header's source is not a key of docs/sources.toml"


def arrows(files: list[Path]) -> Iterator[Finding]:
    """Dependencies between crates follow the layers."""
    for manifest in (f for f in files if f.name == "Cargo.toml" and f.parent.parent.name == "crates"):
        crate = manifest.parent.name
        if crate in ARROWS:
            data = tomllib.loads(manifest.read_text(encoding="utf-8"))
            used = {d.removeprefix("crosswind-") for d in data.get("dependencies", {}) if d.startswith("crosswind-")}
            for wrong in sorted(used - ARROWS[crate]):
                yield manifest, 1, f"crate {crate} must not depend on {wrong}"


def findings() -> Iterator[Finding]:
    """Everything that breaks a rule."""
    files = tracked()
    for path in files:
        if path.suffix not in {".rs", ".py", ".toml", ".md", ".sh", ".tcl", ".html", ""} or path.name == "LICENSE":
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        lines = text.splitlines()
        if path.suffix in {".rs", ".py"}:
            yield from long_files(path, lines)
        if path.suffix == ".py":
            yield from long_python_functions(path, text)
        if path.suffix == ".rs" and path.relative_to(ROOT).parts[0] == "crates":
            yield from long_rust_functions(path, lines)
            yield from rust_habits(path, lines)
        for number, line in enumerate(lines, start=1):
            if PRIVATE_PATHS.search(line) and path != Path(__file__).resolve():
                yield path, number, "a path of one machine"
    yield from headers(files)
    yield from arrows(files)


def main() -> int:
    found = list(findings())
    for path, line, rule in found:
        print(f"{path.relative_to(ROOT)}:{line}: {rule}")
    print(f"tidy: {len(found)} finding{'s' if len(found) != 1 else ''}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

"""The house rules that a compiler does not check. Prints file:line: rule, and ends with 1 when anything is found."""

from __future__ import annotations

import ast
import graphlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from rust_rooms import Crate

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "crosswind"
FILE_LINES_MAX = 600
FUNCTION_LINES_MAX = 70
HEADER_PARTS = ("**Source**", "**Idea**", "| parameter", "**Deviations**", "**Checked by**")
# Files that hold a registry: every source file they name is an element.
REGISTRIES = ("registry.rs", "workload/mod.rs", "law/table.rs", "detect/table.rs", "rate/table.rs", "undo/mod.rs")
# What the lower layers must not touch: they are told the time, keep their order and share nothing.
FORBIDDEN_BELOW = (
    *("std::time::Instant", "SystemTime", "std::net::", "std::thread", "std::fs", "HashMap", "HashSet"),
    *("static mut", "thread_local!", "OnceLock", "LazyLock", "Mutex<", "RwLock<"),
)
LOWER = ("base", "net", "engine", "transport", "record")
# The only places where a packet may end, and where a random stream may begin.
PACKETS_END = (
    "crates/base/src/stage.rs",
    "crates/sim/src/flows/endpoint.rs",
    "crates/emu/src/hosts.rs",
    "crates/sim/examples/hot_paths.rs",
)
# The shell of every law, and the decorator that knows lifetimes: nothing else in that room drops or marks.
QUEUES_DROP = ("crates/net/src/queue/aqm.rs", "crates/net/src/queue/lpd.rs")
# What a plan is run by: it sees types, no JSON.
BELOW_SCENARIOS = ("crates/sim/src/world/", "crates/sim/src/flows/", "crates/sim/src/results/")
STREAMS_BEGIN = ("crates/base/src/rng.rs",)
# Only controllers write the window. What the connection still asks of it by name (`Change`), by file. The numbers fall;
# none of them rises.
TCP = "crates/transport/src/tcp/"
WINDOW_CAPS = re.compile(r"Change::(Cap|CapToThreshold|ReducingTo|Reduced)\b")
WINDOW_REQUESTS = {
    "sender.rs": 7,
    "sender/caps.rs": 6,
    "sender/output.rs": 2,
    "sender/undo.rs": 3,
    "conn/recall.rs": 4,
    # A QUIC connection: its first window, persistent congestion, another size of datagrams.
    "crates/stacks/src/quic/law.rs": 3,
}
ARROWS = {
    "base": set(),
    "net": {"base"},
    "transport": {"base"},
    "record": {"base"},
    "engine": {"base", "net"},
    "sim": {"base", "net", "engine", "transport", "record", "stacks"},
    "emu": {"base", "net", "engine", "record"},
    "stacks": {"base", "transport"},
    "host": {"base", "emu", "record", "stacks", "transport"},
    "py": {"base", "net", "transport", "record", "sim", "emu", "host"},
    "testkit": {"base", "net", "transport"},
}
# Rooms of python/crosswind, from the ground up: each imports from those before it only. What stands in one row does not
# know its neighbours.
ROOMS = (
    *(("_core", "starting"), ("errors",), ("core", "optional", "table")),
    *(
        ("scenario",),
        ("results",),
        ("run",),
        ("stats",),
        ("figures",),
        ("report",),
        ("lessons", "emulate"),
        ("sweep", "suites"),
        ("reproduce",),
    ),
    *(("theory",), ("studio", "experiments"), ("bench",), ("__init__",), ("cli",), ("__main__",)),
)
# Rooms of crates, from the ground up: each imports from those before it only.
RUST_ROOMS = {"sim": ("scenario", "flows", "world", "results", "runs")}
# Files of a crate that name each other in a circle: none. Tables of elements (a registry, `laws!`) stand on top of what
# they list.
CIRCLES: dict[str, int] = {}
RFC = re.compile(r"\bRFC[ -]?(\d{3,5})\b", re.IGNORECASE)
UNFINISHED = re.compile(r"\b(?:TODO|FIXME|XXX)\b")
RANDOM = re.compile(r"seed_from_u64|from_seed\(|thread_rng|rand::rng\(|from_os_rng")
DROPS = re.compile(r"\bcx\.(?:drop|mark)\(")
TEXTS = {".rs", ".py", ".toml", ".md", ".sh", ".tcl", ".html", ".cff", ""}
# These name what they forbid, or quote titles.
EXEMPT = ("tools/tidy.py", "docs/sources.toml", "docs/glossary.md", "clippy.toml")
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
    name = path.relative_to(ROOT).as_posix()
    crate = path.relative_to(ROOT).parts[1]
    if is_test(path):
        return
    for number, line in enumerate(lines, start=1):
        if line.strip().startswith("#[cfg(test)]"):
            break
        code = line.split("//")[0]
        if ".unwrap()" in code:
            yield path, number, 'unwrap() outside tests; use expect("why it cannot fail")'
        if "pool.remove(" in code and name not in PACKETS_END:
            yield path, number, "a packet ends in Cx::drop or at its endpoint, nowhere else"
        if name.startswith("crates/net/src/queue/") and DROPS.search(code) and name not in QUEUES_DROP:
            yield path, number, "a law decides; the shell around it (queue/aqm.rs) drops and marks"
        if RANDOM.search(code) and name not in STREAMS_BEGIN:
            yield path, number, "random numbers come from a named stream (Streams::named)"
        if name.startswith(BELOW_SCENARIOS) and "serde_json" in code:
            yield path, number, "JSON ends in scenario/: a plan has typed parameters"
        if crate in LOWER:
            yield from ((path, number, f"{word} below the simulator") for word in FORBIDDEN_BELOW if word in code)


def window_writers(path: Path, lines: list[str]) -> Iterator[Finding]:
    """The window belongs to its controller (`tcp/law/`): nobody else borrows it, and what is asked of it is counted."""
    name = str(path.relative_to(ROOT))
    if path.suffix != ".rs" or name.startswith(TCP + "law/"):
        return
    asked = [n for n, line in enumerate(lines, 1) if "change(Change::" in line]
    borrowed = [n for n, line in enumerate(lines, 1) if "window_mut(" in line]
    yield from ((path, n, "only controllers write the window") for n in borrowed)
    if name.removeprefix(TCP) != "sender/caps.rs" and not is_test(path):
        caps = [n for n in asked if WINDOW_CAPS.search(lines[n - 1])]
        yield from ((path, n, "what holds the window down stands in sender/caps.rs") for n in caps)
    allowed = WINDOW_REQUESTS.get(name.removeprefix(TCP), 0)
    if not is_test(path) and len(asked) > allowed:
        yield path, asked[-1], f"{len(asked)} requests to change the window, not {allowed}: let the controller decide"
    if len(asked) < allowed:
        yield path, 1, f"{len(asked)} requests to change the window, not {allowed}: lower the number"


def sources() -> set[str]:
    return set(tomllib.loads((ROOT / "docs/sources.toml").read_text(encoding="utf-8")))


def headers(files: list[Path]) -> Iterator[Finding]:
    """Every file that a registry names starts with the full header, and its sources are known."""
    known = sources()
    for registry in (f for f in files if f.as_posix().endswith(REGISTRIES) and "crates" in f.parts):
        text = registry.read_text(encoding="utf-8")
        for name in sorted(set(re.findall(r'"((?:\.\./)?(?:\w+/)*\w+\.rs)"', text))):
            element = registry.parent / name
            head = [line for line in element.read_text(encoding="utf-8").splitlines() if line.startswith("//!")]
            page = "\n".join(head)
            missing = [part for part in HEADER_PARTS if part not in page]
            if missing or not page.startswith("//! # "):
                yield element, 1, f"header lacks {', '.join(missing) or 'its title'}"
            source = page.partition("**Source**:")[2].partition("**Idea**")[0].replace("//!", " ")
            for part in (p.strip(" .\n") for p in re.sub(r"\([^)]*\)", "", source).split(";")):
                if part and part.split()[0].rstrip(",:.") not in known | {"none", "ours"}:
                    yield element, 1, f"source `{part}` does not start with a key of docs/sources.toml"


def words(path: Path, lines: list[str], known: set[str]) -> Iterator[Finding]:
    """Unfinished work, unknown RFCs and paths of one machine."""
    for number, line in enumerate(lines, start=1):
        if PRIVATE_PATHS.search(line):
            yield path, number, "a path of one machine"
        if UNFINISHED.search(line):
            yield path, number, "unfinished work; finish it or open an issue"
        for rfc in RFC.findall(line):
            if f"rfc{rfc}" not in known:
                yield path, number, f"RFC {rfc} is not in docs/sources.toml"


def arrows(files: list[Path]) -> Iterator[Finding]:
    """Dependencies between crates follow the layers."""
    for manifest in (f for f in files if f.name == "Cargo.toml" and f.parent.parent.name == "crates"):
        crate = manifest.parent.name
        if crate in ARROWS:
            data = tomllib.loads(manifest.read_text(encoding="utf-8"))
            used = {d.removeprefix("crosswind-") for d in data.get("dependencies", {}) if d.startswith("crosswind-")}
            for wrong in sorted(used - ARROWS[crate]):
                yield manifest, 1, f"crate {crate} must not depend on {wrong}"


def python_imports(path: Path, modules: set[str]) -> Iterator[tuple[str, int]]:
    """Modules of the package that a file imports, anywhere in it, with the line; not what only type checkers read."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = {
        inside
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inside in ast.walk(node)
    }
    for node in ast.walk(tree):
        if node in for_types or not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        start = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
        for full in (start + alias.name for alias in node.names):
            if full == PACKAGE or full.startswith(f"{PACKAGE}."):
                yield full if full in modules else full.rpartition(".")[0], node.lineno


def rooms(files: list[Path]) -> Iterator[Finding]:
    """Python imports go downwards from room to room, and files do not import each other in a circle."""
    top = ROOT / "python"
    package = [f for f in files if f.suffix == ".py" and f.is_relative_to(top / PACKAGE)]
    named = {".".join(f.relative_to(top).with_suffix("").parts).removesuffix(".__init__"): f for f in package}
    floor = {room: number for number, row in enumerate(ROOMS) for room in row}
    imported: dict[str, set[str]] = {}
    for name, path in named.items():
        room = [*name.split("."), "__init__"][1]
        if room not in floor:
            yield path, 1, f"room {room} has no row in ROOMS"
            continue
        for other, line in python_imports(path, set(named)):
            imported.setdefault(name, set()).add(other)
            there = [*other.split("."), "__init__"][1]
            if there != room and floor.get(there, len(ROOMS)) >= floor[room]:
                yield path, line, f"{room} must not import {there}"
    try:
        tuple(graphlib.TopologicalSorter(imported).static_order())
    except graphlib.CycleError as e:
        yield named[e.args[1][0]], 1, f"imports in a circle: {', '.join(e.args[1])}"


def rust_tests(files: list[Path]) -> Iterator[Finding]:
    """A file of tests that its crate's one program of tests does not name would never be run."""
    for program in (f for f in files if f.name == "all.rs" and f.parent.name == "tests"):
        named = set(re.findall(r"^mod (\w+);", program.read_text(encoding="utf-8"), re.MULTILINE))
        beside = {f.stem: f for f in files if f.parent == program.parent and f.suffix == ".rs" and f != program}
        beside |= {f.parent.name: f for f in files if f.name == "mod.rs" and f.parent.parent == program.parent}
        for name in sorted(set(beside) - named):
            yield beside[name], 1, f"all.rs beside it does not name it (`mod {name};`), so it is no test"


def rust_rooms(files: list[Path]) -> Iterator[Finding]:
    """In a crate, too, imports go downwards from room to room, and files do not name each other in a circle."""
    for root in sorted(f.parent for f in files if f.name == "lib.rs" and f.parent.parent.parent.name == "crates"):
        name, crate = root.parent.name, Crate(root)
        order = RUST_ROOMS.get(name, ())
        for module, other, line in crate.arrows():
            here, there = (m.name[0] if m.name else "" for m in (module, other))
            if order and here and here not in order:
                yield module.file, 1, f"room {here} has no row in RUST_ROOMS"
            elif here in order and there != here and (there not in order or order.index(there) > order.index(here)):
                yield module.file, line, f"{here} must not import {there or 'the whole crate'}"
        circle = sorted(crate.in_circles(), key=lambda m: m.file)
        allowed = CIRCLES.get(name, 0)
        if len(circle) > allowed:
            names = ", ".join(m.file.relative_to(root).as_posix() for m in circle)
            yield circle[0].file, 1, f"imports in a circle: {names}"
        elif len(circle) < allowed:
            yield root / "lib.rs", 1, f"{len(circle)} files in circles, not {allowed}: lower the number"


def findings() -> Iterator[Finding]:
    """Everything that breaks a rule."""
    files = tracked()
    known = sources()
    for path in files:
        name = path.relative_to(ROOT).as_posix()
        if path.suffix not in TEXTS or path.name.startswith("LICENSE"):
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
            yield from window_writers(path, lines)
        if name not in EXEMPT and not name.startswith("docs/reference/"):
            yield from words(path, lines, known)
    yield from headers(files)
    yield from arrows(files)
    yield from rooms(files)
    yield from rust_tests(files)
    yield from rust_rooms(files)


def main() -> int:
    found = list(findings())
    for path, line, rule in found:
        print(f"{path.relative_to(ROOT)}:{line}: {rule}")
    print(f"tidy: {len(found)} finding{'s' if len(found) != 1 else ''}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

"""Mutation tests: changes one place of an algorithm after the other, and sees whether the tests nearest to it notice.

cargo-mutants (`cargo install cargo-mutants --locked`) says what may be changed. Some hundred changes at a time are
compiled into one copy of the code, below target/mutants, where the environment says which of them is there: so a mutant
costs a run of the tests and no build. The sample is random but seeded, with a share for each room. Survivors that
docs/mutants.md explains are counted apart.

python tools/mutants.py [--seconds 600] [--seed 1] [--only ROOM] [--named PATTERN]
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import itertools
import json
import os
import random
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "target" / "mutants"
TREE = PLACE / "tree"
EXPLAINED = ROOT / "docs" / "mutants.md"
#: What is mutated; each room gets its share.
TCP, NET = ("transport", "transport"), ("net", "testkit")
ROOMS = {
    "law": (["crates/transport/src/tcp/law/**"], TCP),
    "queue": (["crates/net/src/queue/**", "crates/net/src/sched/**"], NET),
    "detect": (["crates/transport/src/tcp/detect/**"], TCP),
    "undo": (["crates/transport/src/tcp/undo/**"], TCP),
    "signal": (["crates/transport/src/tcp/signal/**", "crates/transport/src/tcp/reduction/**"], TCP),
}
#: What is no algorithm: oracles and tests, texts for people, schemas, what only reports state.
LEFT_OUT_FILES = ["**/*oracle*", "**/oracle/**", "**/tests.rs", "**/drive.rs"]
LEFT_OUT = r"<impl (Debug|Display|JsonSchema|Serialize|Deserialize)|schema|describe|fmt ->|own\.rs"
#: Tests that take longer than all others together: only what survives the others meets them.
SLOW = [
    "a_window_told_in_few_acks_is_the_one_told_in_many",
    "reno_has_the_square_root_response",
    "every_registered_element_conforms",
    "every_element_takes_changes_in_its_stride",
    "a_damaged_tape_plays_or_says_which_line_is_wrong",
    "claims_jarvinen",
    "links_closed_form",
]
#: Hashes of what elements did before: they notice that something has changed, and not what is right. Asked last.
KEPT = ["_they_did"]
#: Of a test program; more is an endless loop, which is noticed too. Seconds of the processor: other work on the machine
#: makes no mutant look caught.
PROCESSOR_s = 60
MEMORY_B = 8 << 30
SWITCH = """
/// Which mutant is there; 0: none.
pub fn mutant() -> u32 {
    static NUMBER: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    *NUMBER.get_or_init(|| std::env::var("MUTANT").ok().and_then(|n| n.parse().ok()).unwrap_or(0))
}
"""


@dataclass
class Mutant:
    """One change: where it is made, in which function, and where its variant of the function stands in the copy."""

    room: str
    name: str
    file: str
    span: tuple[int, int]
    function: tuple[int, int]
    replacement: str
    number: int = 0


def sources() -> dict[str, str]:
    """The files of the project; the tests of a crate are one program there, since linking takes longer than testing."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    wanted = (n for n in names.split("\0") if n.startswith(("crates/", "Cargo.")))
    files = {n: (ROOT / n).read_text(encoding="utf-8") for n in wanted if (ROOT / n).is_file()}
    for crate in ("transport", "testkit"):
        tests = sorted(Path(n).stem for n in files if re.fullmatch(rf"crates/{crate}/tests/\w+\.rs", n))
        files[f"crates/{crate}/tests/all.rs"] = "".join(f'#[path = "{t}.rs"]\nmod {t};\n' for t in tests)
        own = 'autotests = false\n\n[[test]]\nname = "all"\n\n[lints]'
        files[f"crates/{crate}/Cargo.toml"] = files[f"crates/{crate}/Cargo.toml"].replace("[lints]", own, 1)
    files["crates/base/src/lib.rs"] += SWITCH
    files["Cargo.toml"] = files["Cargo.toml"].replace('"deny"', '"warn"')
    return files


def written(files: dict[str, str]) -> None:
    """Brings the copy up to date; what has not changed keeps its time, so that little is built again."""
    for name, content in files.items():
        there = TREE / name
        if not there.is_file() or there.read_text(encoding="utf-8") != content:
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_text(content, encoding="utf-8")
    for old in (f for f in TREE.rglob("*") if f.is_file() and str(f.relative_to(TREE)) not in files):
        old.unlink()


def possible(room: str, only: str, files: dict[str, str]) -> list[Mutant]:
    """All mutants of a room that can stand beside the original: those in a function that runs, and in no other."""
    command = ["cargo", "mutants", "--list", "--json", "--exclude-re", LEFT_OUT]
    command += [*(x for f in ROOMS[room][0] for x in ("-f", f)), *(x for f in LEFT_OUT_FILES for x in ("-e", f))]
    told = subprocess.run(command, cwd=TREE, capture_output=True, text=True, check=True).stdout
    found = []
    for m in json.loads(told or "[]"):
        if m["function"] is None or not re.search(only, m["name"]):
            continue
        text = files[m["file"]]
        function = spanned(text, m["function"]["span"])
        signature = text[function[0] : body_of(text, function)]
        if "const fn" not in signature and "-> impl" not in signature:
            found.append(Mutant(room, m["name"], m["file"], spanned(text, m["span"]), function, m["replacement"]))
    functions = {(m.file, m.function) for m in found}
    is_inner = {
        (file, f) for file, f in functions for other, g in functions if file == other and g[0] < f[0] and f[1] < g[1]
    }
    return [m for m in found if (m.file, m.function) not in is_inner]


def spanned(text: str, span: dict[str, Any]) -> tuple[int, int]:
    """From where to where, in characters."""
    lines = text.split("\n")
    starts = [0, *itertools.accumulate(len(line) + 1 for line in lines)]
    first, last = ((p["line"], p["column"]) for p in (span["start"], span["end"]))
    return starts[first[0] - 1] + first[1] - 1, starts[last[0] - 1] + last[1] - 1


def body_of(text: str, function: tuple[int, int]) -> int:
    """Where the opening brace of a function stands."""
    depth = 0
    for at in range(text.index("fn ", function[0]), function[1]):
        depth += (text[at] in "([") - (text[at] in ")]")
        if text[at] == "{" and depth == 0:
            return at
    raise ValueError(text[function[0] : function[0] + 80])


def planted(text: str, mutants: Iterable[Mutant]) -> str:
    """The file with all variants of its functions; the environment chooses one."""
    of: dict[tuple[int, int], list[Mutant]] = collections.defaultdict(list)
    for m in mutants:
        of[m.function].append(m)
    for (begin, end), some in sorted(of.items(), reverse=True):
        brace = body_of(text, (begin, end))
        arms = ""
        for m in some:
            body = text[brace : m.span[0]] + m.replacement + text[m.span[1] : end]
            arms += f"/*mutant {m.number}*/ {m.number} => {body} /*mutant 0*/\n"
        body = text[brace:end]
        text = f"{text[:brace]}{{ match crosswind_base::mutant() {{\n{arms}_ => {body}\n}} }}{text[end:]}"
    return text


def built(mutants: list[Mutant], files: dict[str, str]) -> tuple[dict[str, Path], set[int]]:
    """The test programs with all mutants that compile, by package and kind; and the numbers of those that do not."""
    unviable: set[int] = set()
    while True:
        there = dict(files)
        for name in {m.file for m in mutants}:
            there[name] = planted(files[name], (m for m in mutants if m.file == name and m.number not in unviable))
        written(there)
        command = ["cargo", "test", "--no-run", "--message-format", "json", "--lib", "--test", "all"]
        command += [x for package in ("transport", "net", "testkit") for x in ("-p", f"crosswind-{package}")]
        env = {**os.environ, "CARGO_TARGET_DIR": str(PLACE / "build")}
        done = subprocess.run(command, cwd=TREE, env=env, capture_output=True, text=True, check=False)
        told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode == 0:
            programs = [t for t in told if t["reason"] == "compiler-artifact" and t["executable"]]
            crate_of = {t["executable"]: Path(t["manifest_path"]).parent.name for t in programs}
            return {
                f"{crate_of[e]} {t['target']['kind'][0]}": Path(e) for t in programs for e in [t["executable"]]
            }, unviable
        wrong = set(blamed(told, there, mutants))
        if not wrong - unviable:
            raise SystemExit(f"the copy does not compile:\n{done.stderr[-3000:]}")
        unviable |= wrong


def blamed(told: list[dict[str, Any]], there: dict[str, str], mutants: list[Mutant]) -> Iterator[int]:
    """The mutants in whose text the compiler found errors; all of a function when they cannot stand side by side."""
    for message in (t["message"] for t in told if t["reason"] == "compiler-message"):
        for span in message["spans"] if message["level"] == "error" else ():
            if span["file_name"] not in there:
                continue
            marks = re.findall(r"/\*mutant (\d+)\*/", there[span["file_name"]].encode()[: span["byte_end"]].decode())
            if marks and marks[-1] != "0":
                yield int(marks[-1])
            elif marks and len(marks) > 1:
                last = next(m for m in mutants if m.number == int(marks[-2]))
                yield from (m.number for m in mutants if (m.file, m.function) == (last.file, last.function))


def bounded() -> None:
    """What a test program that a mutant has broken may use."""
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_s, PROCESSOR_s))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_B, MEMORY_B))


def noticed(programs: dict[str, Path], room: str, number: int, named: str) -> str | None:
    """Which tests fail with this mutant: first those `named` like its file, then all, the slow, what is kept."""
    unit, whole = f"{ROOMS[room][1][0]} lib", f"{ROOMS[room][1][1]} test"
    without = [x for name in SLOW + KEPT for x in ("--skip", name)]
    for which in ([named, *without], without, SLOW, KEPT):
        for program in (unit, whole):
            # The first test that fails is enough; Rust calls the word for that unstable.
            command = [str(programs[program]), "-q", "-Zunstable-options", "--fail-fast", *which]
            env = {**os.environ, "MUTANT": str(number), "RUSTC_BOOTSTRAP": "1", "RUST_BACKTRACE": "0"}
            folder = TREE / "crates" / program.split()[0]
            done = subprocess.run(command, cwd=folder, env=env, capture_output=True, check=False, preexec_fn=bounded)
            if done.returncode != 0:
                return "kept" if which is KEPT else "caught"
    return None


def element(file: str) -> str:
    """What tests of the element in this file are called."""
    path = Path(file)
    return path.parent.name if path.stem == "mod" else path.stem


def key(name: str) -> str:
    """A mutant without line and column, which move: file, what was changed and in which function."""
    return re.sub(r":\d+:\d+: ", ": ", name)


class Sample:
    """Mutants that are compiled together."""

    def __init__(self, mutants: list[Mutant], files: dict[str, str], until: float) -> None:
        self.mutants, self.until = mutants, until
        for number, m in enumerate(mutants, 1):
            m.number = number
        self.programs, self.unviable = built(mutants, files)
        rooms = {ROOMS[m.room][1]: m.room for m in mutants}
        wrong = [r for r in rooms.values() if noticed(self.programs, r, 0, "")]
        if wrong:
            raise SystemExit(f"tests fail without a mutant: {', '.join(wrong)}")
        self.explained = EXPLAINED.read_text(encoding="utf-8") if EXPLAINED.is_file() else ""

    def end_of(self, m: Mutant) -> str | None:
        """What becomes of a mutant; None: the time is over."""
        if time.monotonic() > self.until:
            return None
        if m.number in self.unviable:
            return "unviable"
        if word := noticed(self.programs, m.room, m.number, element(m.file)):
            return word
        return "explained" if key(m.name) in self.explained else "missed"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=list(ROOMS), help="one of the rooms")
    parser.add_argument("--named", default="", help="only mutants whose line in the list has this regular expression")
    parser.add_argument("--sample", type=int, default=300, help="how many are compiled at a time")
    parser.add_argument("--jobs", type=int, default=1, help="mutants that are tried at the same time")
    options = parser.parse_args()
    until, files = time.monotonic() + options.seconds, sources()
    written(files)
    shares: list[list[Mutant]] = []
    sizes: dict[str, int] = {}
    for room in ROOMS if options.only is None else [options.only]:
        some = possible(room, options.named, files)
        print(f"{room}: {len(some)} mutants", flush=True)
        random.Random(f"{options.seed} {room}").shuffle(some)
        shares.append(some)
        sizes[room] = len(some)
    todo = [m for turn in itertools.zip_longest(*shares) for m in turn if m is not None]
    results: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    while todo and time.monotonic() < until:
        sample, todo = Sample(todo[: options.sample], files, until), todo[options.sample :]
        print(f"  {len(sample.mutants)} compiled, {len(sample.unviable)} of them cannot be", flush=True)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for m, word in zip(sample.mutants, pool.map(sample.end_of, sample.mutants), strict=True):
                if word is not None:
                    results[m.room][word] += 1
                    results[m.room]["caught"] += word == "kept"
                if word in ("missed", "explained", "kept"):
                    print(f"{word} {m.name}", flush=True)
                if m.number % 25 == 0:
                    print(f"  {m.number} of {len(sample.mutants)}, {until - time.monotonic():.0f} s left", flush=True)
        for room, counted in {**results, "all": sum(results.values(), collections.Counter())}.items():
            print(f"{room}: {summary(counted)}", flush=True)
        print(f"weighted by the mutants of a room: {weighted(results, sizes):.1f} % caught", flush=True)
    return 1 if any(c["missed"] for c in results.values()) else 0


def weighted(results: dict[str, collections.Counter[str]], sizes: dict[str, int]) -> float:
    """The share caught, each room counting as much as it has mutants."""
    tried = {room: c["caught"] + c["missed"] + c["explained"] for room, c in results.items()}
    whole = sum(sizes[room] for room, n in tried.items() if n)
    return 100 * sum(sizes[room] * results[room]["caught"] / n for room, n in tried.items() if n) / max(1, whole)


def summary(counted: collections.Counter[str]) -> str:
    survived = counted["missed"] + counted["explained"]
    share = 100 * counted["caught"] / max(1, counted["caught"] + survived)
    return (
        f"{counted['caught'] + survived + counted['unviable']} mutants, {counted['caught']} caught ({share:.1f} %; "
        f"{counted['kept']} by what is kept alone), {survived} survived "
        f"({counted['explained']} of them explained), {counted['unviable']} did not compile"
    )


if __name__ == "__main__":
    sys.exit(main())

"""Mutation tests: changes one place of an algorithm after the other, and sees whether a narrow set of tests notices.

Needs cargo-mutants (`cargo install cargo-mutants --locked`). Works in a copy below target/mutants, a random but seeded
sample at a time, for as long as it is given. Survivors that docs/mutants.md explains are counted apart.

python tools/mutants.py [--seconds 600] [--seed 1] [--only transport|net] [--file PART]
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACE = ROOT / "target" / "mutants"
TREE = PLACE / "tree"
EXPLAINED = ROOT / "docs" / "mutants.md"
#: Mutants of one call of cargo-mutants, about.
BATCH = 12
TESTS = "tapes bounds undo mechanisms linux6 habits patience host_queue properties oracle_*"
#: What is mutated, and by which tests of which packages that is to be noticed.
ROOMS = {
    "transport": {
        "files": [f"crates/transport/src/tcp/{d}/**" for d in ("law", "detect", "undo", "spend", "signal")],
        "packages": ["crosswind-transport"],
        "nearest": ["--lib", "--test", "tapes", "--test", "bounds"],
        "tests": ["--lib", *(x for name in TESTS.split() for x in ("--test", name))],
    },
    "net": {
        "files": ["crates/net/src/queue/**"],
        "packages": ["crosswind-net", "crosswind-testkit"],
        "nearest": ["--lib", "--test", "oracle_red", "--test", "oracle_bounded", "--test", "oracle_lpd"],
        "tests": ["--lib", "--test", "oracle_*", "--test", "egress", "--test", "conformance"],
    },
}
#: Comparisons of ways to drive a law take longer than all the rest.
SKIPPED = ["a_window_told_in_few_acks_is_the_one_told_in_many", "reno_has_the_square_root_response"]
#: What is no algorithm: oracles and tests, texts for people, schemas, what only reports state.
LEFT_OUT_FILES = ["**/*oracle*", "**/oracle/**", "**/tests.rs", "**/drive.rs"]
LEFT_OUT = r"<impl (Debug|Display|JsonSchema|Serialize|Deserialize)|schema|describe|fmt ->|own\.rs"


def copied() -> None:
    """Brings the copy up to date; what has not changed keeps its time, so that little is built again."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    wanted = {n for n in names.split("\0") if n and (ROOT / n).is_file()}
    for name in wanted:
        here, there = ROOT / name, TREE / name
        if not there.is_file() or there.read_bytes() != here.read_bytes():
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(here, there)
    for old in (f for f in TREE.rglob("*") if f.is_file()):
        if str(old.relative_to(TREE)) not in wanted:
            old.unlink()


def batch(room: str, shard: str, only: str | None) -> list[tuple[str, str]]:
    """Tries the mutants of a shard with the nearest tests, and what survives with all: names and ends."""
    first = outcomes(room, only, "nearest", ["--shard", shard, "--sharding", "round-robin"])
    left = [n for n, word in first if word == "MissedMutant"]
    again: dict[str, str] = {}
    if left:
        again = dict(outcomes(room, only, "tests", [x for n in left for x in ("-F", f"^{re.escape(n)}$")]))
    return [(n, again.get(n, word)) for n, word in first]


def outcomes(room: str, only: str | None, tests: str, which: list[str]) -> list[tuple[str, str]]:
    """One call of cargo-mutants: names of mutants with what became of them."""
    what = ROOMS[room]
    command = ["cargo", "mutants", "--in-place", "--baseline", "skip", *which]
    command += ["--timeout", "120", "--build-timeout", "300", "--colors", "never", "-o", str(PLACE), "--no-shuffle"]
    command += [*selected(room, only), "--exclude-re", LEFT_OUT, "--test-package", ",".join(what["packages"])]
    command += ["--", *what[tests], "--", *(x for name in SKIPPED for x in ("--skip", name))]
    env = {**os.environ, "CARGO_TARGET_DIR": str(PLACE / "build"), "CARGO_PROFILE_DEV_DEBUG": "0"}
    done = subprocess.run(command, cwd=TREE, env=env, capture_output=True, text=True, check=False)
    file = PLACE / "mutants.out" / "outcomes.json"
    if done.returncode not in (0, 2, 3):
        raise SystemExit(f"cargo mutants failed:\n{done.stdout}{done.stderr}")
    found = json.loads(file.read_text(encoding="utf-8"))["outcomes"] if file.is_file() else []
    return [(o["scenario"]["Mutant"]["name"], o["summary"]) for o in found if isinstance(o["scenario"], dict)]


def selected(room: str, only: str | None) -> list[str]:
    """The files to mutate, as arguments."""
    files = [f"**/{only}"] if only else ROOMS[room]["files"]
    return [*(x for f in files for x in ("-f", f)), *(x for f in LEFT_OUT_FILES for x in ("-e", f))]


def number_of(room: str, only: str | None) -> int:
    command = ["cargo", "mutants", "--list", *selected(room, only), "--exclude-re", LEFT_OUT]
    return len(subprocess.run(command, cwd=TREE, capture_output=True, text=True, check=True).stdout.splitlines())


def key(name: str) -> str:
    """A mutant without line and column, which move: file, what was changed and in which function."""
    return re.sub(r":\d+:\d+: ", ": ", name)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=list(ROOMS), help="one of the rooms")
    parser.add_argument("--file", help="the mutants of files with this name alone")
    parser.add_argument("--after", type=int, default=0, help="go on after so many parts of the sample")
    parser.add_argument("--list", action="store_true", help="only say how many mutants there are")
    options = parser.parse_args()
    copied()
    began, results = time.monotonic(), collections.Counter()
    survivors: list[str] = []
    explained = EXPLAINED.read_text(encoding="utf-8") if EXPLAINED.is_file() else ""
    todo = []
    for room in ROOMS if options.only is None else [options.only]:
        count = number_of(room, options.file)
        print(f"{room}: {count} mutants", flush=True)
        shards = max(1, count // BATCH)
        todo += [(room, f"{k}/{shards}") for k in range(shards)]
    random.Random(options.seed).shuffle(todo)
    for room, shard in todo[options.after :] if not options.list else []:
        if time.monotonic() - began > options.seconds:
            break
        for name, word in batch(room, shard, options.file):
            if word == "MissedMutant":
                word = "explained" if key(name) in explained else "missed"
                survivors += [name] if word == "missed" else []
            results[word] += 1
        print(f"  {room} {shard}: {dict(results)}, {time.monotonic() - began:.0f} s", flush=True)
    for name in sorted(survivors):
        print(f"missed {name}")
    caught, missed = results["CaughtMutant"] + results["Timeout"], results["missed"] + results["explained"]
    share = 100 * caught / max(1, caught + missed)
    of_them, unviable = f"{results['explained']} of them explained", results["Unviable"]
    print(
        f"{sum(results.values())} mutants in {time.monotonic() - began:.0f} s: {caught} caught ({share:.1f} %)", end=""
    )
    print(f", {missed} survived ({of_them}), {unviable} did not compile")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())

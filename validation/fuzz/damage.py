"""Damaged folders of results: every command that reads them ends with a message, never with a stack of calls."""

from __future__ import annotations

import contextlib
import io
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from crosswind.cli import main as command

SCENARIO = """name = "small"
duration = "1 s"
link.l = { from = "a", to = "b", rate = "2 Mbit/s", queue = { limit = "5 packets" } }
flow.f = { from = "a", to = "b", count = 2, workload = { type = "bulk", size = "20 kB" } }
record = { sample = "100 ms", events = "all", hist = "all" }
"""
#: How commands read a folder; `{}` stands for it, `[]` for a folder that is whole.
READERS = [
    ["report", "{}"],
    ["compare", "{}", "[]"],
    ["compare", "[]", "{}"],
    ["query", "{}", "select * from flow"],
    ["export", "{}", "--as", "csv"],
    ["scoreboard", "{}"],
    ["study", "eplr", "{}"],
]
ODD: list[Any] = [None, -1, 1e308, "", "x", [], {}, [[]], {"": None}, True, "\x00", "../../etc"]


def whole(folder: Path) -> Path:
    """A folder of results as `run` writes it."""
    file = folder / "small.toml"
    file.write_text(SCENARIO, encoding="utf-8")
    out = folder / "whole"
    code, said, _ = told(["run", str(file), "--reps", "2", "--out", str(out)])
    assert code == 0, said
    return out


def told(arguments: list[str]) -> tuple[int, str, BaseException | None]:
    """A command's exit code and what it said; the exception when it ended with one."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            return command(arguments), said.getvalue(), None
        except Exception as e:
            return -1, said.getvalue(), e


def damaged(folder: Path, rng: random.Random) -> str:
    """Does one random damage to a folder of results; says which."""
    files = sorted(f for f in folder.iterdir() if f.suffix in (".parquet", ".json"))
    file = rng.choice([*files, folder / "manifest.json"])
    kinds: list[Callable[[Path, random.Random], str]] = [_bit, _cut, _gone, _swapped, _empty]
    if file.suffix == ".json":
        kinds = [_bit, _cut, _gone, _key, _key, _key, _key]
    return f"{file.name}: {rng.choice(kinds)(file, rng)}"


def _bit(file: Path, rng: random.Random) -> str:
    data = bytearray(file.read_bytes())
    at = rng.randrange(len(data))
    data[at] ^= 1 << rng.randrange(8)
    file.write_bytes(data)
    return f"a bit of byte {at}"


def _cut(file: Path, rng: random.Random) -> str:
    data = file.read_bytes()
    at = rng.randrange(len(data))
    file.write_bytes(data[:at])
    return f"cut after {at} bytes"


def _gone(file: Path, _rng: random.Random) -> str:
    file.unlink()
    return "gone"


def _empty(file: Path, _rng: random.Random) -> str:
    file.write_bytes(b"")
    return "empty"


def _swapped(file: Path, rng: random.Random) -> str:
    other = rng.choice(sorted(f for f in file.parent.iterdir() if f.suffix == ".parquet"))
    if other == file:
        return "as it was"
    shutil.copyfile(other, file)
    return f"in its place {other.name}"


def _key(file: Path, rng: random.Random) -> str:
    """Another value, or none, somewhere in a JSON file."""
    data = json.loads(file.read_text(encoding="utf-8"))
    path, at = [], data
    for _ in range(rng.randint(1, 6)):
        inner: list[Any] = list(at) if isinstance(at, dict) else list(range(len(at))) if isinstance(at, list) else []
        if not inner:
            break
        path.append(rng.choice(inner))
        above, at = at, at[path[-1]]
    if not path:
        return "as it was"
    if rng.random() < 0.4:
        del above[path[-1]]
        what = "without"
    else:
        above[path[-1]] = rng.choice(ODD)
        what = f"{above[path[-1]]!r} for"
    file.write_text(json.dumps(data), encoding="utf-8")
    return f"{what} {'.'.join(map(str, path))}"


def broken(folder: Path, seeds: range) -> list[str]:
    """Damages copies of a folder of results, and gives each to a reader: what ended otherwise than with a message."""
    sound = whole(folder)
    found = []
    for seed in seeds:
        rng = random.Random(seed)
        copy = folder / "copy"
        shutil.copytree(sound, copy)
        damage = damaged(copy, rng)
        reader = [a.replace("{}", str(copy)).replace("[]", str(sound)) for a in rng.choice(READERS)]
        code, said, error = told(reader)
        is_whole = damage.endswith("as it was")
        tampered = damage.split(":")[0].endswith(".parquet") and not is_whole
        is_sealed = "files" in json.loads((sound / "manifest.json").read_text(encoding="utf-8"))
        if error is not None:
            found.append(f"seed {seed}: {reader[0]}, {damage}: {type(error).__name__}: {error}")
        elif code != 0 and not said.strip():
            found.append(f"seed {seed}: {reader[0]}, {damage}: code {code} without a word")
        elif tampered and is_sealed and code == 0 and reader[0] != "scoreboard":
            found.append(f"seed {seed}: {reader[0]}, {damage}: taken for whole")
        shutil.rmtree(copy)
    return found

"""Files that cannot change unnoticed: what is written gets a checksum, and what is read is held against it.

One mechanism for the tables of runs, experiments and sweeps.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from crosswind.errors import InputError
from crosswind.results.interrupt import heeded
from crosswind.results.tables import Kept, Source, write_parquet

SEAL = "checksum"
LEFT = "results as they were written"
AGAIN = "the same command makes them again"
_DIGEST_BYTES = 12
Sums = dict[str, str]
Last = Callable[[Sums], Mapping[str, str]]


class DamagedError(InputError):
    """A file is not what was written."""


def checksum(data: bytes) -> str:
    """Of some bytes: BLAKE2b, 96 bits, in hexadecimal."""
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).hexdigest()


def checksum_of(path: Path) -> str:
    """The same of a file, which may be larger than the memory."""
    with path.open("rb") as f:
        return hashlib.file_digest(f, lambda: hashlib.blake2b(digest_size=_DIGEST_BYTES)).hexdigest()


def check(path: Path, expected: str | None) -> None:
    """Raises DamagedError when a file has another checksum than `expected`; None: it was written without one."""
    if expected is not None and checksum_of(path) != expected:
        found = f"{path.name}, which is not what was written"
        raise DamagedError(str(path.parent), found=found, expected=LEFT, hint=AGAIN)


def write_all(
    folder: Path,
    tables: Mapping[str, Source],
    texts: Mapping[str, str],
    last: Callable[[Sums], Mapping[str, str]],
) -> None:
    """Writes `<table>.parquet`, texts by file name, and what `last` makes of the checksums of these by file name.

    Nothing takes its place before all of it is on the disk, so a full disk leaves what was there, and so does Ctrl-C
    while a large table is written. Raises OSError or what polars raises.
    """
    parts: dict[str, Path] = {}

    def write(name: str, into: Callable[[Path], object]) -> None:
        parts[name] = part = folder / f".{name}.{os.getpid()}.part"
        into(part)
        with part.open("rb+") as f:
            os.fsync(f.fileno())

    try:
        for name, frame in tables.items():
            with nullcontext() if isinstance(frame, pl.DataFrame) else heeded():
                write(f"{name}.parquet", partial(write_parquet, frame))
        for name, text in texts.items():
            write(name, _writer(text))
        for name, text in last({name: checksum_of(part) for name, part in parts.items()}).items():
            write(name, _writer(text))
        for name, part in parts.items():
            part.replace(folder / name)
    except BaseException:
        for part in parts.values():
            part.unlink(missing_ok=True)
        raise


def _writer(text: str) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(text.encode())


def opened(path: Path, expected: str | None) -> Kept:
    """A table in a Parquet file, which has been held against its checksum."""
    check(path, expected)
    return Kept.at(path)


def sealed(content: Mapping[str, Any]) -> dict[str, Any]:
    """The content of a JSON file with a checksum over all of it."""
    bare = {k: v for k, v in content.items() if k != SEAL}
    return {**bare, SEAL: _of_json(bare)}


def unsealed(path: Path, content: Any) -> dict[str, Any]:
    """The content without its checksum. Raises DamagedError when that does not fit."""
    bare = {k: v for k, v in content.items() if k != SEAL}
    if SEAL in content and content[SEAL] != _of_json(bare):
        found = f"{path.name}, which is not what was written"
        raise DamagedError(str(path.parent), found=found, expected=LEFT, hint=AGAIN)
    return bare


def _of_json(content: Mapping[str, Any]) -> str:
    return checksum(json.dumps(json.loads(json.dumps(content)), sort_keys=True).encode())

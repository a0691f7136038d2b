"""Where results are kept: a folder, or any address that fsspec knows (`s3://bucket/sweep`, `memory://x`).

Writing is all or nothing: a name holds the whole content or does not exist.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple, Protocol

import polars as pl

from crosswind.errors import BlockedError, InputError
from crosswind.results.folder import NO_SPACE, lock, prepare_out, why_not_written
from crosswind.results.sealed import checksum, checksum_of
from crosswind.results.tables import Source, write_parquet

#: Stores without folders, where making one would make a bucket.
OBJECT_STORES = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "az", "adl", "oss", "oci"})


class NoRoomError(BlockedError):
    """Nothing more can be written; what was written before stays."""


#: What polars reads a table from.
File = Path | io.BytesIO


class Written(NamedTuple):
    """What lies under a name."""

    checksum: str
    size_bytes: int

    @staticmethod
    def of(file: File) -> Written:
        if isinstance(file, Path):
            return Written(checksum_of(file), file.stat().st_size)
        return Written(checksum(file.getvalue()), len(file.getvalue()))


class Place(Protocol):
    """A folder of named contents. Names may contain slashes."""

    def __str__(self) -> str: ...
    def read(self, name: str) -> bytes: ...
    def open(self, name: str) -> File: ...
    def write(self, name: str, data: bytes) -> None: ...
    def write_table(self, name: str, table: Source, metadata: Mapping[str, str] | None = None) -> Written: ...
    def names(self, folder: str) -> list[str]: ...
    def remove(self, name: str) -> None: ...
    def move(self, name: str, to: str) -> None: ...
    def lock(self) -> None: ...
    def unlock(self) -> None: ...


class Folder:
    """A folder of this machine."""

    def __init__(self, path: str | Path) -> None:
        self.path = prepare_out(path)

    def __str__(self) -> str:
        return str(self.path)

    def read(self, name: str) -> bytes:
        return (self.path / name).read_bytes()

    def open(self, name: str) -> File:
        return self.path / name

    def write(self, name: str, data: bytes) -> None:
        self._write(name, lambda f: f.write(data))

    def write_table(self, name: str, table: Source, metadata: Mapping[str, str] | None = None) -> Written:
        self._write(name, lambda f: write_parquet(table, f, metadata))
        return Written.of(self.path / name)

    def _write(self, name: str, into: Callable[[IO[bytes]], object]) -> None:
        """Written beside, forced to the disk, then renamed. Raises NoRoomError when the disk takes no more."""
        target = self.path / name
        part = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with part.open("wb") as f:
                into(f)
                f.flush()
                os.fsync(f.fileno())
            part.replace(target)
        except (OSError, pl.exceptions.PolarsError) as e:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
            raise _no_room(str(self.path), e) from None

    def names(self, folder: str) -> list[str]:
        """Names of the contents right below a folder, sorted; nothing when there is no such folder."""
        try:
            return sorted(p.name for p in (self.path / folder).iterdir() if p.is_file() and not p.name.startswith("."))
        except FileNotFoundError:
            return []

    def lock(self) -> None:
        """Keeps other processes out until this one ends, however it ends. Raises InputError when one is in already."""
        self._lock = lock(self.path)

    def unlock(self) -> None:
        self._lock.close()

    def remove(self, name: str) -> None:
        (self.path / name).unlink(missing_ok=True)

    def move(self, name: str, to: str) -> None:
        (self.path / to).parent.mkdir(parents=True, exist_ok=True)
        (self.path / name).replace(self.path / to)


class Remote:
    """An address of fsspec. Object stores put an object whole or not at all."""

    def __init__(self, url: str) -> None:
        try:
            import fsspec

            self._fs, self._root = fsspec.core.url_to_fs(url)
        except ImportError as e:
            raise InputError(
                "--out", found=url, expected="a folder", hint=f"{e}; pip install 'crosswind[cluster]'"
            ) from e
        except (ValueError, OSError) as e:
            raise InputError("--out", found=f"{url} ({e})", expected="a folder or an address that fsspec knows") from e
        self._url = url
        named = self._fs.protocol
        self._flat = not OBJECT_STORES.isdisjoint([named] if isinstance(named, str) else named)

    def __str__(self) -> str:
        return self._url

    def _at(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}"

    @contextlib.contextmanager
    def _reached(self) -> Iterator[None]:
        """Turns what the store's own library raises into one error; what Python knows stays what it is."""
        try:
            yield
        except (OSError, KeyboardInterrupt, MemoryError):
            raise
        except Exception as e:
            said = " ".join(str(e).split())
            raise BlockedError(f"{self._url}: cannot be reached ({type(e).__name__}: {said})") from e

    def read(self, name: str) -> bytes:
        with self._reached():
            data: Any = self._fs.cat_file(self._at(name))
        return bytes(data)

    def open(self, name: str) -> File:
        return io.BytesIO(self.read(name))

    def write_table(self, name: str, table: Source, metadata: Mapping[str, str] | None = None) -> Written:
        """Compressed in memory: an object is put whole or not at all."""
        out = io.BytesIO()
        write_parquet(table, out, metadata)
        self.write(name, out.getvalue())
        return Written.of(out)

    def write(self, name: str, data: bytes) -> None:
        try:
            with self._reached():
                if not self._flat:
                    self._fs.makedirs(self._at(name).rsplit("/", 1)[0], exist_ok=True)
                self._fs.pipe_file(self._at(name), data)
        except OSError as e:
            raise _no_room(self._url, e) from None

    def names(self, folder: str) -> list[str]:
        self._fs.invalidate_cache()
        try:
            with self._reached():
                found = self._fs.ls(self._at(folder), detail=False)
        except FileNotFoundError:
            return []
        return sorted(str(n).rstrip("/").rsplit("/", 1)[1] for n in found)

    def remove(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._fs.rm_file(self._at(name))

    def lock(self) -> None:
        """Object stores know no locks."""

    def unlock(self) -> None:
        """Nothing to release."""

    def move(self, name: str, to: str) -> None:
        self.write(to, self.read(name))
        self.remove(name)


def place(where: str | Path) -> Place:
    """A folder, or an address with `://`."""
    return Remote(str(where)) if "://" in str(where) else Folder(where)


def _no_room(where: str, e: OSError | pl.exceptions.PolarsError) -> NoRoomError:
    why = why_not_written(e)
    why = why if why == NO_SPACE else f"cannot be written ({why})"
    return NoRoomError(
        f"{where}: {why}; finished runs are kept, and the same command goes on from there; "
        "what was there before is kept"
    )


def carry(folder: Path, to: Place) -> None:
    """Writes every file below a folder of this machine to a place, under the same names."""
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        to.write(path.relative_to(folder).as_posix(), path.read_bytes())

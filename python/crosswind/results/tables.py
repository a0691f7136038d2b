"""Tables of results: whole in memory while they are small, read part by part where they are large.

A table of a million runs' samples does not fit into the memory of every machine. Nothing here ever holds more than
`PART_ROWS` rows of a table of more than `HELD_ROWS`, but for whoever asks for all of it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import polars as pl
from polars.io.plugins import register_io_source

from crosswind.core import column
from crosswind.results.interrupt import is_unwanted

#: Larger than what a full disk still takes where it did not take the end of a table.
MORE_bytes = 1 << 16
#: Rows that are read, made and written at a time: those of a row group of a Parquet file.
PART_ROWS = 1 << 18
#: A table of more rows stays where it is: each use of it reads what it needs.
HELD_ROWS = 1 << 20
#: What the name of a class of a queue has in the column `entity` of samples, and that of a whole link has not.
CLASS = r"/(forward|reverse)/"


class Source(Protocol):
    """What a table can be read from: polars' frames, lazy ones, and files."""

    def lazy(self) -> pl.LazyFrame: ...


class ChangedError(OSError):
    """A file is no longer the one that was opened."""


@dataclass(frozen=True)
class Kept:
    """A table in a Parquet file, which must stay what it was when this was made."""

    path: Path
    stamp: tuple[int, int, int]

    @staticmethod
    def at(path: Path) -> Kept:
        """Raises FileNotFoundError where there is none, and what polars raises when it is no Parquet file."""
        found = Kept(path, _stamp(path))
        pl.read_parquet_schema(path)
        return found

    def lazy(self) -> pl.LazyFrame:
        """Raises ChangedError when another command has replaced it."""
        if _stamp(self.path) != self.stamp:
            raise ChangedError(f"{self.path} has been replaced since it was opened")
        return pl.scan_parquet(self.path)


def _stamp(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


class Tables(MutableMapping[str, pl.DataFrame]):
    """Tables by name. One that lies in a file is read when it is asked for, and held if it is small."""

    def __init__(self, tables: Mapping[str, Source] | None = None) -> None:
        self._of: dict[str, Source] = dict(tables._of if isinstance(tables, Tables) else tables or {})

    def __getitem__(self, name: str) -> pl.DataFrame:
        source = self._of[name]
        if isinstance(source, pl.DataFrame):
            return source
        frame = source.lazy().collect()
        if frame.height <= HELD_ROWS:
            self._of[name] = frame
        return frame

    def __setitem__(self, name: str, source: Source) -> None:
        self._of[name] = source

    def __delitem__(self, name: str) -> None:
        del self._of[name]

    def __contains__(self, name: object) -> bool:
        return name in self._of

    def __iter__(self) -> Iterator[str]:
        return iter(self._of)

    def __len__(self) -> int:
        return len(self._of)

    def lazy(self, name: str) -> pl.LazyFrame:
        """A table as a polars query: of a large one only what the answer needs is read."""
        return self._of[name].lazy()

    def sources(self) -> dict[str, Source]:
        """All tables that have a column, unopened."""
        return {n: s for n, s in self._of.items() if not isinstance(s, pl.DataFrame) or s.width}

    @property
    def are_large(self) -> bool:
        """Whether one of them does not lie in the memory."""
        return any(not isinstance(s, pl.DataFrame) for s in self._of.values())

    def hold(self) -> None:
        """Reads all of them into the memory: the files are about to go."""
        for name in self:
            self._of[name] = self[name]


class Columns:
    """A table as the engine gives it: an array for each column, codes and texts for one of text: half a frame.

    `change`: what is done to every part of it on its way into a frame.
    """

    def __init__(self, raw: Mapping[str, Any], change: Callable[[pl.DataFrame], pl.DataFrame] | None = None) -> None:
        self._raw = dict(raw)
        self._change = change
        first: Any = next(iter(self._raw.values()), [])
        self.rows = len(first[0] if isinstance(first, tuple) else first)

    def slice(self, first: int, rows: int) -> pl.DataFrame:
        """Some rows as a frame. Columns of 64 bits are not copied."""
        some = slice(first, first + rows)
        cut = {k: (v[0][some], v[1]) if isinstance(v, tuple) else v[some] for k, v in self._raw.items()}
        part = pl.DataFrame({k: column(k, v) for k, v in cut.items()})
        return part if self._change is None else self._change(part)

    @property
    def schema(self) -> pl.Schema:
        return self.slice(0, 0).schema

    def _parts(self) -> Iterator[pl.DataFrame]:
        return (self.slice(first, PART_ROWS) for first in range(0, self.rows, PART_ROWS))

    def lazy(self) -> pl.LazyFrame:
        return self.slice(0, self.rows).lazy() if self.rows <= PART_ROWS else streamed(self._parts, self.schema)


def streamed(parts: Callable[[], Iterable[pl.DataFrame]], schema: pl.Schema) -> pl.LazyFrame:
    """A table that is made part by part whenever it is read; `parts` gives frames of the schema, in order.

    Inside of `interrupt.heeded` it breaks off at Ctrl-C.
    """

    def read(
        columns: list[str] | None, predicate: pl.Expr | None, rows: int | None, _size: int | None
    ) -> Iterator[pl.DataFrame]:
        for part in parts():
            if is_unwanted():
                return
            some = part if rows is None else part.head(rows)
            rows = None if rows is None else rows - some.height
            some = some if predicate is None else some.filter(predicate)
            yield some if columns is None else some.select(columns)
            if rows == 0:
                return

    return register_io_source(read, schema=schema)


def write_parquet(source: Source, to: Any, metadata: Mapping[str, str] | None = None) -> None:
    """Writes a table to a path or a binary file, a large one row group by row group: the bytes are the same.

    Raises OSError when the system takes no more, or what polars raises.
    """
    told = dict(metadata) if metadata else None
    if isinstance(source, Columns) and source.rows <= PART_ROWS:
        source = source.slice(0, source.rows)
    try:
        if isinstance(source, pl.DataFrame):
            source.write_parquet(to, row_group_size=PART_ROWS, metadata=told)
        else:
            source.lazy().sink_parquet(to, row_group_size=PART_ROWS, metadata=told)
    except pl.exceptions.PolarsError:
        _ask_for_more(to)
        raise


def _ask_for_more(to: Any) -> None:
    """polars does not say why the end of a file could not be written; the system does. Raises OSError."""
    with Path(to).open("ab") if isinstance(to, str | Path) else contextlib.nullcontext(to) as f:
        f.write(bytes(MORE_bytes))
        f.flush()

"""One table of many runs out of the shards that hold them, in the order of an index and a part at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple, Protocol

import polars as pl

from crosswind.results.tables import HELD_ROWS, PART_ROWS, Columns, Source, streamed

LABELS = ("configuration", "rep")
#: Tables of shards that are open at a time.
OPEN_MAX = 4
Places = dict[str, tuple[int, int]]


class Facts(NamedTuple):
    """What is known of a table of a shard without opening it."""

    schema: pl.Schema
    rows: int

    @staticmethod
    def of(source: Source, keys_of: pl.DataFrame | None = None) -> Facts:
        """`keys_of` as in `Part`."""
        schema = source.schema if isinstance(source, pl.DataFrame | Columns) else source.lazy().collect_schema()
        if keys_of is not None and schema:
            schema = pl.Schema({"key": pl.String(), **{c: t for c, t in schema.items() if c not in LABELS}})
        if isinstance(source, pl.DataFrame | Columns):
            return Facts(schema, source.height if isinstance(source, pl.DataFrame) else source.rows)
        return Facts(schema, int(source.lazy().select(pl.len()).collect().item()) if schema else 0)


class Part:
    """A table of a shard. The rows of a run lie together, those of a small table in memory.

    `keys_of`: the key of each configuration and repetition, where the table has these columns in its place.
    """

    def __init__(self, source: Source, rows: int, keys_of: pl.DataFrame | None = None) -> None:
        whole = source if isinstance(source, Columns) else source.lazy()
        self._source = whole.collect() if isinstance(whole, pl.LazyFrame) and rows <= PART_ROWS else whole
        self._rows = rows
        self._keys_of = keys_of

    def rows(self, first: int, rows: int) -> Iterator[pl.DataFrame]:
        """Some rows, with their key."""
        for at in range(first, first + rows, PART_ROWS):
            yield self._keyed(self._cut(at, min(PART_ROWS, first + rows - at), pl.all()))

    def _cut(self, at: int, rows: int, columns: pl.Expr) -> pl.DataFrame:
        some = self._source.slice(at, rows).select(columns)
        return some if isinstance(some, pl.DataFrame) else some.collect()

    def _keyed(self, frame: pl.DataFrame) -> pl.DataFrame:
        if self._keys_of is None:
            return frame
        both = frame.join(self._keys_of, on=LABELS, how="left", maintain_order="left")
        return both.select("key", pl.exclude("key", *LABELS))

    def places(self) -> Places:
        """First row and number of rows of every run that has any."""
        out: Places = {}
        names = pl.col("key") if self._keys_of is None else pl.col(LABELS)
        for first in range(0, self._rows, PART_ROWS):
            part = self._keyed(self._cut(first, PART_ROWS, names))
            for key, n in part.select(pl.col("key").rle()).unnest("key").select("value", "len").iter_rows():
                before = out.get(key, (first, 0))
                assert key is None or sum(before) == first, f"the rows of run {key} do not lie together"
                if key is not None:
                    out[key] = (before[0], before[1] + n)
                first += n
        return out


class Holder(Protocol):
    """A shard."""

    name: str
    tables: dict[str, Facts]

    def open(self, table: str) -> Part: ...


def gathered(shard_of: Mapping[str, Holder], table: str, index: pl.DataFrame, *, hold: bool) -> Source:
    """The rows of the runs in `index` (`key`, and columns to put in its place), run by run in its order."""
    shards = {s.name: s for k in index["key"] if (s := shard_of.get(k)) is not None and table in s.tables}
    if not shards:
        return pl.DataFrame()
    schema = _common({tuple(f.items()): f for s in shards.values() if (f := s.tables[table].schema)}.values())
    schema = pl.Schema({c: t for c, t in (*index.schema.items(), *schema.items()) if c != "key"})
    if not hold or sum(s.tables[table].rows for s in shards.values()) > HELD_ROWS:
        return streamed(lambda: _parts(shard_of, table, index, schema), schema)
    return pl.concat([schema.to_frame(), *_parts(shard_of, table, index, schema)], rechunk=True)


def _common(schemas: Iterable[pl.Schema]) -> pl.Schema:
    """The columns of all, each of a type that holds the values of all."""
    return pl.concat([s.to_frame() for s in schemas], how="diagonal_relaxed").schema


def _parts(
    shard_of: Mapping[str, Holder], table: str, index: pl.DataFrame, schema: pl.Schema
) -> Iterator[pl.DataFrame]:
    opened: dict[str, tuple[Part, Places]] = {}
    keys = index["key"].to_list()
    names = [s.name if (s := shard_of.get(k)) is not None and table in s.tables else "" for k in keys]
    for name, group in groupby(range(len(keys)), names.__getitem__):
        if not name:
            continue
        rows = list(group)
        if name not in opened:
            if len(opened) == OPEN_MAX:
                opened.pop(next(iter(opened)))
            part = shard_of[keys[rows[0]]].open(table)
            opened[name] = part, part.places()
        part, places = opened[name]
        for some, first, length in _stretches(rows, [places.get(keys[i], (0, 0)) for i in rows]):
            labels = index[some.start : some.stop]
            for frame in part.rows(first, length):
                yield fitted(frame.join(labels, on="key", how="left", maintain_order="left"), schema)


def _stretches(rows: list[int], places: list[tuple[int, int]]) -> Iterator[tuple[range, int, int]]:
    """Rows of the index whose runs follow each other in a shard: which, the first row there, how many rows."""
    begin, first, length = rows[0], 0, 0
    for row, (start, n) in zip(rows, places, strict=True):
        if n and length and start != first + length:
            yield range(begin, row), first, length
            begin, length = row, 0
        if n:
            first = first if length else start
            length += n
    if length:
        yield range(begin, rows[-1] + 1), first, length


def fitted(frame: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    """The columns of the schema; what the frame lacks is missing as in the engine's: -1, NaN or the empty text."""
    return frame.select(_cell(c, frame.schema.get(c), t) for c, t in schema.items())


def _cell(column: str, there: pl.DataType | None, kind: pl.DataType) -> pl.Expr:
    if there is None:
        return pl.lit(_missing(kind)).cast(kind).alias(column)
    if there.is_integer() and kind.is_float():
        return pl.when(pl.col(column) != -1).then(pl.col(column)).otherwise(float("nan")).cast(kind).alias(column)
    return pl.col(column).cast(kind)


def _missing(kind: pl.DataType) -> Any:
    return "" if kind == pl.String else float("nan") if kind.is_float() else -1

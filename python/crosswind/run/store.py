"""Finished runs by what went into them: content-addressed, in Parquet, safe against being killed at any moment.

A *key* names a run: the scenario with every default filled in, the build of the engine, the seed, the repetition. Runs
arrive in *shards*. A shard is one Parquet file for each table; `run` is written last and holds the checksums of the
others, so a shard either is there and whole, or does not exist. Damaged shards are set aside and their runs made again.
A store without a place keeps its runs in memory.
"""

from __future__ import annotations

import io
import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import polars as pl

from crosswind.results.place import Place
from crosswind.results.sealed import checksum

RUNS, DAMAGED = "runs", "damaged"
MARK = "crosswind"
SMALL_BYTES = 32_000_000
MERGE_ABOVE = 48
Tables = dict[str, pl.DataFrame]


@dataclass
class Shard:
    """Some finished runs: their keys and the tables they have, which are in memory where they are `held`."""

    name: str
    keys: frozenset[str]
    tables: list[str]
    size_bytes: int
    held: Tables | None = None


@dataclass
class Store:
    """The runs kept in a place. `damaged` names shards that could not be read and were set aside."""

    place: Place | None = None
    shards: dict[str, Shard] = field(default_factory=dict)
    damaged: list[str] = field(default_factory=list)

    @staticmethod
    def open(place: Place, users: Literal["one", "several"] = "one") -> Store:
        """Reads what is there and checks it; leftovers of an interrupted write are removed.

        With several users at a time nothing is removed: it may be what another is about to complete.
        """
        store = Store(place)
        by_shard: dict[str, list[str]] = {}
        for name in place.names(RUNS):
            shard, _, rest = name.partition(".")
            by_shard.setdefault(shard, []).append(rest.removesuffix(".parquet"))
        for shard, tables in by_shard.items():
            if "run" not in tables:  # the writer was stopped before the last table
                for t in tables if users == "one" else ():
                    place.remove(_file(shard, t))
                continue
            try:
                store.shards[shard] = _checked(place, shard)
            except (OSError, ValueError, KeyError, pl.exceptions.PolarsError):
                store._set_aside(shard, tables)
        return store

    def keys(self) -> set[str]:
        """The runs that are there."""
        return {k for s in self.shards.values() for k in s.keys}

    def put(self, tables: Mapping[str, pl.DataFrame]) -> None:
        """Keeps finished runs. Every table has a column `key`. Raises NoRoomError; then nothing is kept of them."""
        if self.place is None:
            self.hold(tables)
            return
        name = uuid.uuid4().hex[:16]
        sums: dict[str, str] = {}
        size = 0
        written: list[str] = []
        try:
            for table, frame in tables.items():
                if table != "run" and frame.width:
                    data = _parquet(frame, {})
                    sums[table] = checksum(data)
                    size += len(data)
                    self.place.write(_file(name, table), data)
                    written.append(table)
            run = tables["run"]
            self.place.write(_file(name, "run"), _parquet(run, {MARK: json.dumps({"tables": sums})}))
        except BaseException:
            for table in written:
                self.place.remove(_file(name, table))
            raise
        self.shards[name] = Shard(name, frozenset(run["key"].to_list()), ["run", *sums], size)

    def hold(self, tables: Mapping[str, pl.DataFrame]) -> None:
        """Adds finished runs that are kept elsewhere: in memory only."""
        name = uuid.uuid4().hex[:16]
        full = {t: f for t, f in tables.items() if f.width}
        if "run" in full and full["run"].height:
            self.shards[name] = Shard(name, frozenset(full["run"]["key"].to_list()), list(full), 0, full)

    def load(self, table: str, keys: Iterable[str] | None = None) -> pl.DataFrame:
        """One table of the wanted runs (all, if not said), each run once, shards in the order of the keys.

        A column that some runs do not have is filled as the engine does: -1, NaN or the empty text.
        """
        wanted = keys if keys is not None else (k for s in self.shards.values() for k in s.keys)
        order = {k: i for i, k in enumerate(wanted)}
        left = set(order)
        parts: list[tuple[int, pl.DataFrame]] = []
        for shard in self.shards.values():
            mine = shard.keys & left
            left -= mine
            if mine and table in shard.tables:
                frame = self._read(shard, table)
                frame = frame if len(mine) == len(shard.keys) else frame.filter(pl.col("key").is_in(mine))
                parts.append((min(map(order.__getitem__, mine)), frame))
        return joined([frame for _, frame in sorted(parts, key=lambda p: p[0])])

    def _read(self, shard: Shard, table: str) -> pl.DataFrame:
        if shard.held is not None:
            return shard.held[table]
        assert self.place is not None
        return pl.read_parquet(io.BytesIO(self.place.read(_file(shard.name, table))))

    def tables(self) -> list[str]:
        """The tables that some shard has."""
        return list(dict.fromkeys(t for s in self.shards.values() for t in s.tables))

    def merge(self) -> None:
        """Puts many small shards into one. The old ones go when the new one is complete."""
        small = [s for s in self.shards.values() if s.held is None and s.size_bytes < SMALL_BYTES]
        if len(small) < MERGE_ABOVE:
            return
        part = Store(self.place, {s.name: s for s in small})
        before = set(part.shards)
        part.put({t: part.load(t) for t in part.tables()})
        for name in set(part.shards) - before:
            self.shards[name] = part.shards[name]
        for old in small:
            self.shards.pop(old.name)
            self._remove(old)

    def clear(self) -> None:
        """Forgets all runs, for they are kept elsewhere by now."""
        for shard in self.shards.values():
            self._remove(shard)
        self.shards.clear()

    def _remove(self, shard: Shard) -> None:
        if self.place is None or shard.held is not None:
            return
        for table in shard.tables:  # `run` first: without it the shard does not exist
            self.place.remove(_file(shard.name, table))

    def _set_aside(self, shard: str, tables: list[str]) -> None:
        assert self.place is not None
        self.damaged.append(shard)
        for table in sorted(tables, key=lambda t: t != "run"):
            self.place.move(_file(shard, table), f"{DAMAGED}/{shard}.{table}.parquet")


def _file(shard: str, table: str) -> str:
    return f"{RUNS}/{shard}.{table}.parquet"


def _parquet(frame: pl.DataFrame, metadata: dict[str, str]) -> bytes:
    out = io.BytesIO()
    frame.write_parquet(out, metadata=metadata or None)
    return out.getvalue()


def _checked(place: Place, shard: str) -> Shard:
    """Raises ValueError (or what reading raises) when a table is missing or is not what was written."""
    data = place.read(_file(shard, "run"))
    keys = pl.read_parquet(io.BytesIO(data))["key"].to_list()
    sums: dict[str, str] = json.loads(pl.read_parquet_metadata(io.BytesIO(data))[MARK])["tables"]
    size = len(data)
    for table, expected in sums.items():
        content = place.read(_file(shard, table))
        size += len(content)
        if checksum(content) != expected:
            raise ValueError(f"{shard}.{table}: not what was written")
    return Shard(shard, frozenset(keys), ["run", *sums], size)


def joined(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Frames one below the other; what one of them lacks is missing as in the engine's: -1, NaN or the empty text."""
    some = [f for f in frames if f.width]
    frame = pl.concat(some, how="diagonal_relaxed") if some else pl.DataFrame()
    return frame.with_columns(_filled(frame, c) for c in frame.columns if any(c not in f.columns for f in some))


def _filled(frame: pl.DataFrame, column: str) -> pl.Expr:
    kind = frame.schema[column]
    missing: Any = "" if kind == pl.String else float("nan") if kind.is_float() else -1
    return pl.col(column).fill_null(missing)

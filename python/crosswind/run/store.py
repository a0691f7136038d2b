"""Finished runs by what went into them: content-addressed, in Parquet, safe against being killed at any moment.

A *key* names a run: the scenario with every default filled in, the build of the engine, the seed, the repetition. Runs
arrive in *shards*. A shard is one Parquet file for each table; `run` is written last and holds the checksums of the
others, so a shard either is there and whole, or does not exist. Damaged shards are set aside and their runs made again.
"""

from __future__ import annotations

import io
import json
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import polars as pl

from crosswind.results.place import Place
from crosswind.results.sealed import checksum

SHARDS, DAMAGED = "runs", "damaged"
MARK = "crosswind"
SMALL_BYTES = 32_000_000
MERGE_ABOVE = 48
Tables = dict[str, pl.DataFrame]


@dataclass
class Shard:
    """Some finished runs: their keys and the tables they have."""

    name: str
    keys: frozenset[str]
    tables: list[str]
    size_bytes: int


@dataclass
class Store:
    """The runs kept in a place. `damaged` names shards that could not be read and were set aside."""

    place: Place
    shards: dict[str, Shard] = field(default_factory=dict)
    damaged: list[str] = field(default_factory=list)

    @staticmethod
    def open(place: Place) -> Store:
        """Reads what is there and checks it; leftovers of an interrupted write are removed."""
        store = Store(place)
        by_shard: dict[str, list[str]] = {}
        for name in place.names(SHARDS):
            shard, _, rest = name.partition(".")
            by_shard.setdefault(shard, []).append(rest.removesuffix(".parquet"))
        for shard, tables in by_shard.items():
            if "run" not in tables:  # the writer was stopped before the last table
                for t in tables:
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

    def load(self, table: str, keys: Iterable[str] | None = None) -> pl.DataFrame:
        """One table of the wanted runs (all, if not said), each run once."""
        left = set(keys) if keys is not None else self.keys()
        parts: list[pl.DataFrame] = []
        for shard in self.shards.values():
            mine = shard.keys & left
            left -= mine
            if mine and table in shard.tables:
                frame = pl.read_parquet(io.BytesIO(self.place.read(_file(shard.name, table))))
                parts.append(frame if len(mine) == len(shard.keys) else frame.filter(pl.col("key").is_in(mine)))
        return pl.concat(parts, how="diagonal_relaxed") if parts else pl.DataFrame()

    def tables(self) -> list[str]:
        """The tables that some shard has."""
        return list(dict.fromkeys(t for s in self.shards.values() for t in s.tables))

    def merge(self) -> None:
        """Puts many small shards into one. The old ones go when the new one is complete."""
        small = [s for s in self.shards.values() if s.size_bytes < SMALL_BYTES]
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

    def _remove(self, shard: Shard) -> None:
        for table in shard.tables:  # `run` first: without it the shard does not exist
            self.place.remove(_file(shard.name, table))

    def _set_aside(self, shard: str, tables: list[str]) -> None:
        self.damaged.append(shard)
        for table in sorted(tables, key=lambda t: t != "run"):
            self.place.move(_file(shard, table), f"{DAMAGED}/{shard}.{table}.parquet")


def _file(shard: str, table: str) -> str:
    return f"{SHARDS}/{shard}.{table}.parquet"


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

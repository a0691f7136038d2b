"""Finished runs by what went into them: content-addressed, in Parquet, safe against being killed at any moment.

A *key* names a run: the scenario with every default filled in, the build of the engine, the seed, the repetition. Runs
arrive in *shards*. A shard is one Parquet file for each table; `run` is written last and holds the checksums of the
others, so a shard either is there and whole, or does not exist. Damaged shards are set aside and their runs made again.
A store without a place keeps its runs in memory. Tables come out of it shard by shard (`gathered`), never all at once
when they are large.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import polars as pl

from crosswind.results.place import Place, Written
from crosswind.results.tables import HELD_ROWS, Source
from crosswind.run.gather import Facts, Part, gathered

RUNS, DAMAGED = "runs", "damaged"
MARK = "crosswind"
SMALL_BYTES = 4_000_000
MERGE_ABOVE = 48


@dataclass
class Shard:
    """Some finished runs: their keys, what is known of their tables, and the files or frames that hold these.

    `keys_of`: the key of each configuration and repetition, where the tables have these instead. Only files that are
    `removable` may be removed: others belong to somebody else.
    """

    name: str
    keys: frozenset[str]
    tables: dict[str, Facts]
    size_bytes: int = 0
    place: Place | None = None
    held: Mapping[str, Source] = field(default_factory=dict)
    keys_of: pl.DataFrame | None = None
    removable: bool = True

    def open(self, table: str) -> Part:
        """One of its tables."""
        if table in self.held:
            return Part(self.held[table], self.tables[table].rows, self.keys_of)
        assert self.place is not None
        return Part(pl.scan_parquet(self.place.open(_file(self.name, table))), self.tables[table].rows)


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

    def put(self, tables: Mapping[str, Source]) -> None:
        """Keeps finished runs. Every table has a column `key`. Raises NoRoomError; then nothing is kept of them."""
        if self.place is None:
            self.hold(tables)
            return
        name = uuid.uuid4().hex[:16]
        facts = {t: Facts.of(s) for t, s in tables.items()}
        facts = {t: f for t, f in facts.items() if f.schema}
        sums: dict[str, str] = {}
        size = 0
        try:
            for table in facts.keys() - {"run"}:
                written = self.place.write_table(_file(name, table), tables[table])
                sums[table], size = written.checksum, size + written.size_bytes
            marks = {MARK: json.dumps({"tables": sums})}
            size += self.place.write_table(_file(name, "run"), tables["run"], marks).size_bytes
        except BaseException:
            for table in sums:
                self.place.remove(_file(name, table))
            raise
        keys = tables["run"].lazy().select("key").collect()["key"]
        self.shards[name] = Shard(name, frozenset(keys), facts, size, self.place)

    def hold(self, tables: Mapping[str, Source], keys_of: pl.DataFrame | None = None) -> None:
        """Adds finished runs that are kept elsewhere, in memory or in files that stay.

        `keys_of` has the key of each `configuration` and `rep`, where the tables have these columns in its place.
        """
        facts = {t: f for t, s in tables.items() if (f := Facts.of(s, keys_of)).schema}
        if "run" not in facts or not facts["run"].rows:
            return
        shard = Shard(uuid.uuid4().hex[:16], frozenset(), facts, held=tables, keys_of=keys_of, removable=False)
        self.shards[shard.name] = replace(shard, keys=frozenset(shard.open("run").places()))

    def adopt(self, other: Store, keys: Iterable[str]) -> None:
        """Adds runs of another store where they lie."""
        left = set(keys)
        for shard in other.shards.values():
            if mine := shard.keys & left:
                self.shards[shard.name] = replace(shard, keys=mine, removable=False)
                left -= mine

    def gathered(self, table: str, index: pl.DataFrame, *, hold: bool = True) -> Source:
        """One table of the runs that `index` names (`key`, and columns to put in its place), in its order.

        Each run is taken once for each of its rows there. A column that some runs do not have is filled as the engine
        does: -1, NaN or the empty text. Large tables (and all, unless `hold`) are read from their shards at each use.
        """
        shard_of: dict[str, Shard] = {}
        for shard in self.shards.values():
            for key in shard.keys:
                shard_of.setdefault(key, shard)
        return gathered(shard_of, table, index, hold=hold)

    def load(self, table: str, keys: Iterable[str] | None = None) -> pl.DataFrame:
        """One table of the wanted runs (all, if not said) in this order, each run once, with the column `key`."""
        wanted = keys if keys is not None else (k for s in self.shards.values() for k in s.keys)
        return self._load(table, wanted).lazy().collect()

    def _load(self, table: str, keys: Iterable[str]) -> Source:
        names = list(dict.fromkeys(keys))
        index = pl.DataFrame({"key": names, "_key": names}, schema={"key": pl.String, "_key": pl.String})
        return self.gathered(table, index).lazy().rename({"_key": "key"}, strict=False)

    def packets(self, keys: Iterable[str]) -> int:
        """How many packets there were in some runs."""
        left, found = set(keys), 0
        for shard in self.shards.values():
            if (mine := shard.keys & left) and "run" in shard.tables:
                left -= mine
                for part in shard.open("run").rows(0, shard.tables["run"].rows):
                    found += int(part.filter(pl.col("key").is_in(list(mine)))["packets"].sum())
        return found

    def tables(self) -> list[str]:
        """The tables that some shard has."""
        return list(dict.fromkeys(t for s in self.shards.values() for t in s.tables))

    @property
    def is_large(self) -> bool:
        """Whether one of the tables of all runs would not be held in memory."""
        tables = [[s.tables[t].rows for s in self.shards.values() if t in s.tables] for t in self.tables()]
        return any(sum(rows) > HELD_ROWS for rows in tables)

    def merge(self) -> None:
        """Puts many small shards into fewer. The old ones go when the new one is complete."""
        small = [s for s in self.shards.values() if s.removable and s.size_bytes < SMALL_BYTES]
        if len(small) < MERGE_ABOVE:
            return
        some: list[Shard] = []
        for shard in small:
            some.append(shard)
            if shard is small[-1] or sum(s.size_bytes for s in some) >= SMALL_BYTES:
                self._merge(some)
                some = []

    def _merge(self, some: list[Shard]) -> None:
        part = Store(self.place, {s.name: s for s in some})
        keys = [k for s in some for k in s.open("run").places()]
        part.put({t: part._load(t, keys) for t in part.tables()})
        for name in set(part.shards) - {s.name for s in some}:
            self.shards[name] = part.shards[name]
        for old in some:
            self.shards.pop(old.name)
            self._remove(old)

    def clear(self) -> None:
        """Forgets all runs, for they are kept elsewhere by now."""
        for shard in self.shards.values():
            self._remove(shard)
        self.shards.clear()

    def _remove(self, shard: Shard) -> None:
        if shard.place is None or not shard.removable:
            return
        for table in sorted(shard.tables, key=lambda t: t != "run"):  # without `run` the shard does not exist
            shard.place.remove(_file(shard.name, table))

    def _set_aside(self, shard: str, tables: list[str]) -> None:
        assert self.place is not None
        self.damaged.append(shard)
        for table in sorted(tables, key=lambda t: t != "run"):
            self.place.move(_file(shard, table), f"{DAMAGED}/{shard}.{table}.parquet")


def _file(shard: str, table: str) -> str:
    return f"{RUNS}/{shard}.{table}.parquet"


def _checked(place: Place, shard: str) -> Shard:
    """Raises ValueError (or what reading raises) when a table is missing or is not what was written."""
    file = place.open(_file(shard, "run"))
    run = pl.read_parquet(file)
    sums: dict[str, str] = json.loads(pl.read_parquet_metadata(file)[MARK])["tables"]
    size = Written.of(file).size_bytes
    facts = {"run": Facts.of(run)}
    for table, expected in sums.items():
        file = place.open(_file(shard, table))
        found = Written.of(file)
        size += found.size_bytes
        if found.checksum != expected:
            raise ValueError(f"{shard}.{table}: not what was written")
        facts[table] = Facts.of(pl.scan_parquet(file))
    return Shard(shard, frozenset(run["key"]), facts, size, place)

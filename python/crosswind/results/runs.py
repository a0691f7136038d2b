"""The results of many runs: long tables, read as polars frames, kept as Parquet with a manifest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import polars as pl

from crosswind.core import registry
from crosswind.errors import BlockedError, InputError, MissingExtraError, RunFailedError, UnknownNameError
from crosswind.results import delays, outcomes, sealed
from crosswind.results.folder import MANIFEST, UNJOINED, clear_after, manifest_in, prepare_out, why_not_written
from crosswind.results.interrupt import held
from crosswind.results.tables import Columns, Kept, Source, Tables
from crosswind.scenario import Scenario

#: What an event can be.
EVENT_KINDS = (
    *("send", "retransmit", "ack", "receive", "drop", "lost", "mark", "timeout", "recovery", "recovered", "ecn_reduce"),
    *("spurious", "open", "close", "sack", "cwnd", "rtt"),
)
SCHEMA_VERSION = 1
TABLES = ("run", "flow", "page", "object", "link", "class", "boundary", "sample", "event", "hist")
FAILED_SHOWN = 5


class Runs:
    """Tables of finished runs. Every table has `configuration` (the scenario's label) and `rep`.

    Times are nanoseconds since the start of a run, sizes bytes, rates bits per second (`_Bps` columns: bytes per
    second); -1 in a `_ns` column of the flow table means that it did not happen.
    """

    def __init__(
        self,
        tables: Mapping[str, Source],
        scenarios: dict[str, Scenario],
        manifest: dict[str, Any],
        extra: Mapping[str, pl.DataFrame] | None = None,
    ) -> None:
        self.tables = Tables(tables)
        self.scenarios = scenarios
        self.manifest = manifest
        #: Tables of an experiment, by names that no table of the engine has.
        self.extra = dict(extra or {})

    @staticmethod
    def from_engine(
        raw: Mapping[str, Mapping[str, Any]],
        scenarios: dict[str, Scenario],
        manifest: dict[str, Any],
    ) -> Runs:
        """Builds the frames out of the engine's columns and notes in the manifest what a reader must know."""
        tables = {name: _labelled(Columns(columns), list(scenarios)) for name, columns in raw.items()}
        out = Runs(tables, scenarios, manifest)
        finished = tables["run"].height if "run" in tables else 0
        manifest["runs"] = finished
        manifest["warnings"] = out.warnings()
        manifest["trusted"] = out.may_be_trusted()
        return out

    @property
    def interrupted(self) -> bool:
        """Ctrl-C ended the work early; the tables hold what was finished."""
        return bool(self.manifest.get("interrupted", False))

    @property
    def failed(self) -> list[dict[str, Any]]:
        """Runs that broke down and are missing: configuration, rep, seed, message."""
        return list(self.manifest.get("failed", ()))

    def raise_failed(self, folder: str | Path) -> None:
        """Raises RunFailedError when runs broke down; `folder` is where the others have been saved."""
        if self.failed:
            raise RunFailedError(f"{'; '.join(self._broken())}. The other {self.runs().height} are kept in {folder}")

    def _broken(self) -> list[str]:
        """The first runs that broke down, in words."""
        all_of = self.failed
        asked = self.runs().height + len(all_of)
        said = [f"{len(all_of)} of {asked} run{'s' if asked != 1 else ''} broke down, with no results"]
        said += [f"{_place(f)}: {f['message']}" for f in all_of[:FAILED_SHOWN]]
        return [*said, ".."] if len(all_of) > FAILED_SHOWN else said

    def may_be_trusted(self) -> bool:
        """False when runs are missing or ended early, or when transfers gave up: that biases statistics of the rest."""
        return not self.interrupted and not self.failed and outcomes.may_be_trusted(self)

    @property
    def run_id(self) -> str:
        """Names a set of runs by what went into it: the same scenarios, seed and repetitions give the same id."""
        parts = [s.digest() for s in self.scenarios.values()]
        key = ":".join([*parts, *(str(self.manifest.get(k)) for k in ("seed", "reps", "reps_total", "ties"))])
        return hashlib.sha256(key.encode()).hexdigest()[:10]

    def __repr__(self) -> str:
        n = self.runs().height
        return (
            f"Runs({n} run{'s' if n != 1 else ''} of {', '.join(list(self.scenarios)[:4])}; {', '.join(self.tables)})"
        )

    def __str__(self) -> str:
        """What the flows got, as the command line shows it."""
        from crosswind.results.summary import flow_table
        from crosswind.table import as_text

        table = flow_table(self)
        said = [f"warning: {w}" for w in self.manifest.get("warnings", ())]
        return "\n".join([repr(self), *([as_text(table)] if table else []), *said])

    def _repr_html_(self) -> str:
        from crosswind.results.summary import runs_html

        return runs_html(self)

    def table(self, name: str) -> pl.DataFrame:
        """A table by name; an empty frame when the runs did not record it. Raises InputError for a name of none."""
        if name not in self.tables and name not in TABLES:
            raise UnknownNameError("table", name, "table", {*TABLES, *self.tables})
        try:
            return self.tables.get(name, pl.DataFrame())
        except OSError as e:
            raise _gone(name, e) from None

    def scan(self, name: str) -> pl.LazyFrame:
        """A table by name as a polars query, which reads only what its answer needs; empty as `table`.

        Raises DamagedError when its file has been replaced.
        """
        if name not in self.tables:
            return pl.LazyFrame()
        try:
            return self.tables.lazy(name)
        except OSError as e:
            raise _gone(name, e) from None

    def runs(self) -> pl.DataFrame:
        """One row per run: seed, end, events, packets, outcome."""
        return self.table("run")

    def flows(self) -> pl.DataFrame:
        """One row per flow and run."""
        return self.table("flow")

    def generators(self) -> pl.DataFrame:
        """One row per traffic generator and run: as `flows`, but a web page stands for all its connections.

        A page's `elapsed_ns` is its response time, its delays and losses are those of its connections
        (`crosswind.results.delays.of_pages`); what else only connections have is null. `loss_ratio` and, where
        there are telephone calls, `mos` are added (`judged` there).
        """
        flows, pages = delays.judged(self.flows(), self.scenarios), self.table("page")
        if flows.is_empty() or pages.is_empty():
            return flows
        alone = flows.join(pages.select("configuration", "group").unique(), on=["configuration", "group"], how="anti")
        pages = delays.of_pages(flows, pages)
        pages = pages.with_columns(elapsed_ns=pl.col("response_ns"), protocol=pl.lit("tcp"))
        shared = [c for c in flows.columns if c in pages.columns]
        return pl.concat([alone, pages.select(shared)], how="diagonal_relaxed")

    def links(self) -> pl.DataFrame:
        """One row per link direction and run."""
        return self.table("link")

    def classes(self) -> pl.DataFrame:
        """One row per class of a link's queue and run: packets, bytes, drops by reason, marks, delay percentiles.

        `class` is the name in the scenario; flow queues are summed up as `new` and `old`. Empty without such queues.
        """
        return self.table("class")

    def sample(self, metric: str | None = None, entity: str | None = None) -> pl.DataFrame:
        """Sampled time series (time_ns, entity, metric, value), all or those of one metric and entity.

        Empty when it was not recorded. Raises InputError for a name that no metric, flow or link has.
        """
        return self._recorded("sample", metric, entity)

    def first_sample(self, metric: str) -> pl.DataFrame:
        """The samples of one metric in the first repetition that has any; without rows when nothing was recorded."""
        rows = self.scan("sample")
        if not rows.collect_schema():
            return pl.DataFrame(
                schema={"configuration": pl.String, "time_ns": pl.Int64, "entity": pl.String, "value": pl.Float64}
            )
        first = rows.select(pl.col("rep").min()).collect(engine="streaming").item()
        rows = rows.filter((pl.col("rep") == first) & (pl.col("metric") == metric))
        return rows.select("configuration", "time_ns", "entity", "value").collect(engine="streaming")

    def hist(self, metric: str | None = None, entity: str | None = None) -> pl.DataFrame:
        """Histograms (entity, metric, low, high, count), all or those of one metric and entity. Errors as `sample`."""
        return self._recorded("hist", metric, entity)

    def _recorded(self, table: str, metric: str | None, entity: str | None) -> pl.DataFrame:
        if metric is None and entity is None:
            return self.table(table)
        if metric is not None:
            self._check_name(table, "metric", metric, {r["name"] for r in registry("metric")})
        if entity is not None:
            links, flows = self.links(), self.flows()
            ends = links.select("link", "direction").unique().iter_rows() if links.width else ()
            names = flows["name"].unique().to_list() if flows.width else []
            self._check_name(table, "entity", entity, {*names, *("/".join(e) for e in ends)})
        return _filtered(self.scan(table), metric=metric, entity=entity).collect(engine="streaming")

    def _check_name(self, table: str, column: str, name: str, known: set[str]) -> None:
        """Raises UnknownNameError for a name that is neither in the table nor known to be possible."""
        if name in known:
            return
        rows = self.scan(table)
        there = (
            set(rows.select(pl.col(column).unique()).collect(engine="streaming")[column])
            if rows.collect_schema()
            else set()
        )
        if name not in there:
            raise UnknownNameError(table, name, column, there or known)

    def to_pandas(self, table: str = "flow") -> Any:
        """A table by name as a pandas DataFrame. Raises MissingExtraError without pandas."""
        try:
            import pandas
        except ImportError:
            raise MissingExtraError("to_pandas", "pandas", "pandas") from None
        frame = self.table(table)
        return pandas.DataFrame({name: frame[name].to_list() for name in frame.columns})

    def events(self, flow: str | None = None, kind: str | None = None) -> pl.DataFrame:
        """Logged events with the flow's name in `name`, all or those of one flow and kind, in order of time.

        Raises InputError for a flow or a kind that does not exist.
        """
        if kind is not None and kind not in EVENT_KINDS:
            raise UnknownNameError("events", kind, "kind", EVENT_KINDS)
        if flow is not None and self.flows().width and flow not in (known := set(self.flows()["name"])):
            raise UnknownNameError("events", flow, "name", known)
        events, keys = self.scan("event"), ["configuration", "rep", "flow"]
        if not events.collect_schema():
            return pl.DataFrame()
        names = _filtered(self.flows().lazy().select(*keys, "name"), name=flow).collect()
        events = _filtered(events, kind=kind)
        events = events.with_columns(pl.col("flow").cast(names["flow"].dtype), pl.col("rep").cast(names["rep"].dtype))
        how: Literal["left", "inner"] = "left" if flow is None else "inner"
        return events.join(names.lazy(), on=keys, how=how, maintain_order="left").collect()

    def repetitions_are_identical(self) -> bool:
        """Whether there are several repetitions, and all have the same flows, links and pages: nothing is random."""
        if int(self.manifest.get("reps", 1)) < 2 or self.runs().is_empty():
            return False
        for name in ("flow", "link", "page"):
            table = self.table(name)
            if not table.is_empty() and table.drop("rep").n_unique() * table["rep"].n_unique() != table.height:
                return False
        return True

    def only(self, configuration: str, reps: Iterable[int] | None = None) -> Runs:
        """The part that belongs to one configuration (and, if given, to some repetitions)."""
        if configuration not in self.scenarios:
            raise UnknownNameError("only", configuration, "configuration", self.scenarios)
        test = pl.col("configuration") == configuration
        if reps is not None:
            test = test & pl.col("rep").is_in(list(reps))
        tables = {
            k: t.filter(test) if isinstance(t, pl.DataFrame) else self.scan(k).filter(test)
            for k, t in self.tables.sources().items()
        }
        return Runs(tables, {configuration: self.scenarios[configuration]}, self.manifest)

    def save(self, directory: str | Path, texts: Mapping[str, str] | None = None) -> Path:
        """Writes Parquet tables, `texts` by file name and manifest.json.

        Ctrl-C waits until they are whole, or leaves what was there before where a table is large. The manifest holds
        the checksums of all of them. What another run has left in the folder goes. Raises InputError when the folder
        cannot be written, BlockedError when the disk is full.
        """
        out = prepare_out(directory)
        try:
            self._write(out, texts or {})
        except (OSError, pl.exceptions.PolarsError) as e:
            raise BlockedError(
                f"{out}: the results cannot be written ({why_not_written(e)}); what was there before is kept"
            ) from None
        return out

    def _write(self, out: Path, texts: Mapping[str, str]) -> None:
        taken = sorted(self.tables.keys() & self.extra.keys())
        assert not taken, f"tables of an experiment would replace those of its runs: {', '.join(taken)}"
        tables = self.sources()

        def manifest(sums: sealed.Sums) -> dict[str, str]:
            text = json.dumps(self.complete_manifest(sums), indent=2, ensure_ascii=False)
            return {MANIFEST: f"{text}\n"}

        with held():
            before = manifest_in(out)
            sealed.write_all(out, tables, texts, manifest)
            clear_after(out, before, self.manifest)
        for name, source in self.tables.sources().items():
            if not isinstance(source, pl.DataFrame):  # what it was made from may go
                self.tables[name] = Kept.at(out / f"{name}.parquet")

    def sources(self) -> dict[str, Source]:
        """All tables that have a column, those of an experiment too, unopened."""
        return {**self.tables.sources(), **{n: f for n, f in self.extra.items() if f.width}}

    def complete_manifest(self, sums: sealed.Sums) -> dict[str, Any]:
        """The manifest with the name of these runs, the list of their tables and the checksums of their files."""
        self.manifest["files"] = sums
        self.manifest["run_id"] = self.run_id
        self.manifest["tables"] = sorted(self.sources())
        self.manifest.update(sealed.sealed(self.manifest))
        return self.manifest

    @staticmethod
    def load(directory: str | Path) -> Runs:
        """Opens what `save` wrote; tables are read when they are asked for.

        Raises InputError when it is not a folder of results, or not what was written, or when finished runs of an
        interrupted command wait there to be joined.
        """
        if (Path(directory) / UNJOINED).is_file():
            raise InputError(
                str(directory), found="finished runs of an interrupted command that are no tables yet",
                expected="`crosswind report` on this folder first, or the same command again",
            )  # fmt: skip
        return Runs.saved(directory)

    @staticmethod
    def saved(directory: str | Path) -> Runs:
        """As `load`, whatever a later command has left unjoined beside."""
        folder = Path(directory)
        try:
            manifest = sealed.unsealed(folder / MANIFEST, json.loads((folder / MANIFEST).read_text(encoding="utf-8")))
            sums = manifest.get("files", {})
            tables = {n: sealed.opened(folder / f"{n}.parquet", sums.get(f"{n}.parquet")) for n in manifest["tables"]}
            for name in sums.keys() - {f"{n}.parquet" for n in tables}:
                sealed.check(folder / name, sums[name])
            scenarios = scenarios_of(manifest)
        except FileNotFoundError as e:
            missing = Path(e.filename or MANIFEST).name
            kind = InputError if missing == MANIFEST else sealed.DamagedError
            raise kind(
                str(folder), found=f"no {missing}", expected="a folder written by `crosswind run` or `reproduce`"
            ) from None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, pl.exceptions.PolarsError) as e:
            raise sealed.DamagedError(
                str(folder),
                found=f"results that cannot be read ({type(e).__name__}: {e})",
                expected="a folder written by `crosswind run` or `reproduce`",
            ) from None
        if manifest.get("schema_version") != SCHEMA_VERSION:
            raise InputError(
                str(folder),
                found=f"schema version {manifest.get('schema_version')}",
                expected=f"schema version {SCHEMA_VERSION}",
            )
        main = {k: v for k, v in tables.items() if k in TABLES}
        extra = {k: v.lazy().collect() for k, v in tables.items() if k not in TABLES}
        return Runs(main, scenarios, manifest, extra)

    def warnings(self) -> list[str]:
        """What a reader of these runs must know before trusting them."""
        runs = self.runs()
        found = [*(self._broken() if self.failed else ()), *outcomes.warnings(self)]
        if not runs.is_empty() and "truncated_events" in runs.columns:
            cut = runs.filter(pl.col("truncated_events") > 0)
            if cut.height:
                found.append(
                    f"{cut.height} of {runs.height} runs had more events than their log keeps: the last "
                    f"{cut['truncated_events'].sum()} are missing (record parts of the run with `record.between`, or "
                    "stream them with `record.event_file`)"
                )
        if self.manifest.get("interrupted"):
            asked = self.manifest.get("asked", self.manifest["reps"] * len(self.scenarios))
            found.append(f"interrupted: {runs.height} runs finished of {asked} asked for")
        if self.manifest.get("ties") == "shuffled":
            found.append(_meetings(runs))
        return found


def _meetings(runs: pl.DataFrame) -> str:
    """Whether the order of simultaneous events, which was shuffled, decided anything."""
    said = "simultaneous events were shuffled"
    if runs.is_empty() or "first_meeting_ns" not in runs.columns:
        return said
    met = runs.filter(pl.col("first_meeting_ns") >= 0).sort("first_meeting_ns")
    if met.is_empty():
        return f"{said}: the order decided nothing, as nowhere packets from two places arrived at one instant"
    first = met.row(0, named=True)
    return (
        f"{said}: in {met.height} of {runs.height} runs packets from different places came to one line at the same "
        f"instant ({met['meetings_packets'].sum()} packets; first at {first['first_meeting']}, "
        f"{first['first_meeting_ns'] / 1e9:g} s), so the order decides who is first: equal flows may change places; "
        "different starts avoid it"
    )


def _place(failed: Mapping[str, Any]) -> str:
    """Which run it is: its scenario, repetition and seed."""
    parts = (("", "configuration"), ("repetition ", "rep"), ("seed ", "seed"))
    return ", ".join(f"{word}{failed[key]}" for word, key in parts if failed.get(key) is not None)


def scenarios_of(manifest: dict[str, Any]) -> dict[str, Scenario]:
    """Label -> scenario; those of a sweep are written as changes of one."""
    if "base" in manifest:
        base = Scenario(manifest["base"])
        return {s["configuration"]: base.with_(s["changes"]) for s in manifest["scenarios"]}
    return {s["configuration"]: Scenario(s["scenario"], s.get("file")) for s in manifest["scenarios"]}


def _labelled(columns: Columns, labels: Sequence[str]) -> pl.DataFrame:
    """A table of the engine with a label in the place of its scenario's number."""
    frame = columns.slice(0, columns.rows)
    if "scenario" not in frame.columns:
        return frame
    label = pl.Series("configuration", labels, dtype=pl.String).gather(frame["scenario"])
    return frame.select(label, pl.exclude("configuration", "scenario"))


def _filtered(rows: pl.LazyFrame, **wanted: str | None) -> pl.LazyFrame:
    for name, value in wanted.items():
        if value is not None and name in rows.collect_schema():
            rows = rows.filter(pl.col(name) == value)
    return rows


def _gone(name: str, e: OSError) -> sealed.DamagedError:
    return sealed.DamagedError(name, found=f"a table that is gone ({why_not_written(e)})", expected=sealed.LEFT)


def latest(directory: Path) -> Path:
    """The newest result folder at or below `directory`. Raises InputError when there is none."""
    found = [p.parent for p in directory.rglob("manifest.json")]
    if not found:
        raise InputError(str(directory), found="no results", expected="results at or below this folder")
    return max(found, key=lambda p: (p / "manifest.json").stat().st_mtime)

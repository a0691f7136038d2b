"""What an experiment is: a question, scenarios that answer it, tables, claims and figures."""

from __future__ import annotations

import csv
import sys
import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind.figures import Picture
from crosswind.reproduce.claims import BrokenClaimError, Claim, MissingDataError
from crosswind.reproduce.claims.book import Book
from crosswind.results import Runs
from crosswind.results.tables import HELD_ROWS
from crosswind.scenario import Scenario

Tables = dict[str, pl.DataFrame]
Vector = npt.NDArray[np.float64]
Configurations = Callable[..., dict[str, Scenario]]
#: What an experiment takes from its module where that has it: field -> name there.
OWN = {"configurations": "configurations", "tables": "tables", "figures": "pictures", "headline": "headline"}


@dataclass
class Results:
    """What claims and figures look at: the raw runs and the tables that the experiment derived from them.

    `others` holds the results of the experiments that this one `uses`, by the last part of their id. `trouble` says why
    there are no tables, where they could not be made.
    """

    runs: Runs
    tables: Tables
    others: Mapping[str, Results] = field(default_factory=dict)
    trouble: BrokenClaimError | MissingDataError | None = None
    _parts: dict[str, dict[Any, pl.DataFrame]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _read: dict[tuple[object, ...], pl.DataFrame] = field(default_factory=dict, init=False, repr=False, compare=False)

    def _part(self, table: str, configuration: str) -> pl.DataFrame:
        """The rows of one configuration in order of repetitions; a table is taken apart once."""
        whole = self.table(table)
        if table not in self._parts:
            self._parts[table] = {
                k[0]: v for k, v in whole.sort("rep").partition_by("configuration", as_dict=True).items()
            }
        return self._parts[table].get(configuration, whole.clear())

    def table(self, name: str) -> pl.DataFrame:
        """A derived table.

        Raises BrokenClaimError when the experiment did not make it, and what hindered it if something did.
        """
        if name not in self.tables and self.trouble:
            raise self.trouble
        if name not in self.tables:
            raise BrokenClaimError(f"no table `{name}`")
        return self.tables[name]

    def of(
        self, configuration: str, column: str, where: pl.Expr | None = None, table: str = "repetition"
    ) -> npt.NDArray[np.float64]:
        """One value per repetition, in order of repetitions: comparable pair by pair between configurations.

        `configuration` is a label, or `w1-e0/BL` for one of another experiment that this one uses.
        Raises BrokenClaimError when there is no such experiment, column or configuration, MissingDataError when no
        repetition of it is left to look at.
        """
        other, _, label = configuration.rpartition("/")
        if other:
            if other not in self.others:
                raise BrokenClaimError(f"no results of experiment {other}")
            return self.others[other].of(label, column, where, table)
        frame = self._part(table, configuration)
        if frame.is_empty() and configuration not in self.runs.scenarios:
            raise self.absent(f"configuration {configuration}")
        if where is not None:
            frame = frame.filter(where)
        if column not in frame.columns:
            raise BrokenClaimError(f"no column `{column}`")
        if frame.is_empty():
            raise MissingDataError(f"no repetition of {configuration} to look at")
        return frame[column].cast(pl.Float64).fill_null(np.nan).to_numpy()

    def absent(self, what: str) -> BrokenClaimError | MissingDataError:
        """Why something is not there: a first look may leave it out, else a claim asks for what cannot be."""
        if self.size == "quick":
            return MissingDataError(f"no {what} in a first look")
        return BrokenClaimError(f"no {what}")

    def mean(self, configuration: str, column: str) -> float:
        """The mean of a column over the repetitions."""
        return float(np.nanmean(self.of(configuration, column)))

    def series(self, configuration: str, metric: str, entity: str, rep: int = 0) -> tuple[Vector, Vector]:
        """Times in seconds and values of a time series of one repetition.

        Raises BrokenClaimError without samples, MissingDataError in a first look, InputError for a name that no metric,
        flow or link has.
        """
        what = f"samples of {metric} of {entity} in {configuration}"
        if configuration not in self.runs.scenarios:
            raise self.absent(what)
        read = partial(self._sampled, configuration, metric, entity, rep)
        s = self.held(("sample", configuration, metric, entity, rep), read)
        if s.is_empty():
            raise self.absent(what)
        return s["time_ns"].to_numpy() / 1e9, s["value"].to_numpy()

    def events(self, configuration: str, flow: str, *kinds: str, end: str = "sender", rep: int = 0) -> pl.DataFrame:
        """The events of a flow at one end in one repetition, in order of time, which is `t` in seconds; or some kinds.

        Raises BrokenClaimError when nothing of the flow was recorded there, MissingDataError in a first look.
        """
        all_kinds = self.log(configuration, rep).filter(pl.col("name") == flow)
        if all_kinds.is_empty():
            raise self.absent(f"events of {flow} in {configuration}")
        mine = all_kinds.filter((pl.col("end") == end) & (pl.col("kind").is_in(list(kinds)) if kinds else True))
        return mine.with_columns(t=pl.col("time_ns") / 1e9)

    def log(self, configuration: str, rep: int = 0) -> pl.DataFrame:
        """The events of all flows in one repetition.

        Raises BrokenClaimError when nothing was recorded, MissingDataError in a first look.
        """
        if configuration not in self.runs.scenarios:
            raise self.absent(f"events in {configuration}")
        log = self.held(("event", configuration, rep), self.runs.only(configuration, [rep]).events)
        if log.is_empty():
            raise self.absent(f"events in {configuration}")
        return log

    def _sampled(self, configuration: str, metric: str, entity: str, rep: int) -> pl.DataFrame:
        return self.runs.only(configuration, [rep]).sample(metric, entity).select("time_ns", "value").sort("time_ns")

    def held(self, name: tuple[object, ...], read: Callable[[], pl.DataFrame]) -> pl.DataFrame:
        """What `read` makes of the runs, by a name: what was asked for last is held, as long as it is few rows."""
        rows = self._read.pop(name, None)
        if rows is None:
            rows = read()
        while self._read and sum(r.height for r in self._read.values()) + rows.height > HELD_ROWS:
            self._read.pop(next(iter(self._read)))
        if rows.height <= HELD_ROWS:
            self._read[name] = rows
        return rows

    def flow(self, configuration: str, flow: str, column: str) -> float:
        """A value of the flow table, of the first repetition.

        Raises BrokenClaimError when there is no such column or flow; MissingDataError for what a first look lacks.
        """
        rows = self.runs.flows().filter((pl.col("configuration") == configuration) & (pl.col("name") == flow))
        if rows.is_empty():
            raise self.absent(f"flow {flow} in {configuration}")
        if column not in rows.columns:
            raise BrokenClaimError(f"no column `{column}`")
        return float(rows[column][0])

    @property
    def size(self) -> str:
        """`full`, or `quick` where it was scaled down."""
        return str(self.runs.manifest.get("size", "full"))

    def points(self, prefix: str) -> list[str]:
        """The second words of the configurations that begin so and were run, in numerical order: `f65 200 LTCP`."""
        labels = self.table("repetition")["configuration"].unique().to_list()
        return sorted({x.split()[1] for x in labels if x.startswith(f"{prefix} ")}, key=float)


def _no_tables(_: Runs) -> Tables:
    return {}


def _no_pictures(_: Results) -> list[Picture]:
    return []


def _no_headline(_: Results) -> dict[str, str]:
    return {}


@dataclass(frozen=True)
class Variant:
    """Another reading of a point that the source leaves open: what it is, and what `configurations` is given for it."""

    title: str
    settings: Mapping[str, Any]


class Definition(NamedTuple):
    """What a column of a derived table is, and where the source defines it."""

    unit: str
    meaning: str
    source: str


@dataclass(frozen=True)
class Experiment:
    """One published experiment.

    `doc` holds the question, what the source printed, what may differ here, and the cause found for claims that fail.
    `configurations(**settings)` returns label -> scenario; `variants` names other readings of what the source left
    open, `headline` the numbers by which readings are compared (label -> text). `uses` names other experiments of the
    same source (`w1-e0`) whose results its claims look at too; they are run as well. `quick` is what `--quick` scales
    down beyond the number of repetitions. `metrics` says what the columns of its derived tables are. `beside` names
    readings that stand beside the main one in the table of claims, `grades` says how firm each claim is. `block`: hosts
    that remember do so through so many repetitions, then they begin anew.
    """

    id: str
    title: str
    source: str
    doc: str
    configurations: Configurations
    claims: Sequence[Claim]
    reps: int = 120
    quick_reps: int = 12
    seed: int = 1
    tables: Callable[[Runs], Tables] = _no_tables
    figures: Callable[[Results], list[Picture]] = _no_pictures
    variants: Mapping[str, Variant] = field(default_factory=dict)
    uses: Sequence[str] = ()
    quick: Variant | None = None
    headline: Callable[[Results], dict[str, str]] = _no_headline
    metrics: Mapping[str, Definition] = field(default_factory=dict)
    beside: Sequence[str] = ()
    grades: Mapping[str, str] = field(default_factory=dict)
    block: int = 0

    def companions(self) -> set[str]:
        """The ids of the experiments that this one uses."""
        return {f"{self.id.split('/')[0]}/{name}" for name in self.uses}

    def settings(self, variant: str, size: str) -> dict[str, Any]:
        """What `configurations` is given for a reading (nothing, if there is no such) and a size."""
        scaled = dict(self.quick.settings) if self.quick and size == "quick" else {}
        return scaled | (dict(self.variants[variant].settings) if variant in self.variants else {})

    def question(self) -> str:
        """The first paragraph of the docstring, on one line."""
        return " ".join(self.doc.strip().split("\n\n")[0].split())


@dataclass(frozen=True)
class Study:
    """What the experiments of one source have in common; `book` holds their claims, `readings` other readings of each.

    `quick_reps` bounds what `--quick` runs of an experiment that says nothing of it.
    """

    id: str
    source: str
    book: Book
    reps: int = 120
    quick_reps: int = 12
    tables: Callable[[Runs], Tables] = _no_tables
    variants: Mapping[str, Variant] = field(default_factory=dict)
    metrics: Mapping[str, Definition] = field(default_factory=dict)
    beside: Sequence[str] = ()
    readings: Mapping[str, Mapping[str, Variant]] = field(default_factory=dict)

    def experiment(
        self,
        module: str,
        title: str,
        *,
        where: str = "",
        reps: int | None = None,
        partly: Collection[str] = (),
        read: Callable[[Configurations], Configurations] = lambda c: c,
        **more: Any,
    ) -> Experiment:
        """The experiment that a module (`__name__`) is: named like it, described by its docstring.

        It has the module's `configurations` and `CLAIMS` (id -> label -> measure), and its `tables`, `pictures` and
        `headline` where there are such. `where` is its place in the source; `partly` names claims of which other
        experiments measure other parts; `read` adds settings to its configurations; `more` are any other fields of
        Experiment.
        """
        here = sys.modules[module]
        runs = self.reps if reps is None else reps
        common: dict[str, Any] = {
            "quick_reps": min(runs, self.quick_reps),
            "tables": self.tables,
            "variants": self.variants,
            "metrics": self.metrics,
            "beside": self.beside,
            "grades": self.book.grades(),
        }
        own = {part: getattr(here, word) for part, word in OWN.items() if hasattr(here, word)}
        made = common | own | more
        name = module.rpartition(".")[2].replace("_", "-")
        made["variants"] = {**made["variants"], **self.readings.get(name, {})}
        return Experiment(
            id=f"{self.id}/{name}",
            title=title,
            source=", ".join(filter(None, (self.source, where))),
            doc=here.__doc__ or "",
            configurations=read(made.pop("configurations")),
            claims=self.book.claims(getattr(here, "CLAIMS", {}), partly),
            reps=runs,
            **made,
        )


def variants(here: str) -> dict[str, dict[str, Variant]]:
    """`data/readings.toml` beside the module `here`: group or experiment -> name -> reading.

    `title` says what it is, `settings` what `configurations` is given, `unset` what is given as None.
    """
    written = tomllib.loads((Path(here).parent / "data" / "readings.toml").read_text(encoding="utf-8"))
    return {
        group: {
            name: Variant(row["title"], row.get("settings", {}) | dict.fromkeys(row.get("unset", ())))
            for name, row in rows.items()
        }
        for group, rows in written.items()
    }


def definitions(here: str) -> dict[str, Definition]:
    """What the columns of derived tables are: `data/metrics.csv` (metric, unit, meaning, source) beside `here`."""
    with (Path(here).parent / "data" / "metrics.csv").open(encoding="utf-8", newline="") as f:
        return {r["metric"]: Definition(r["unit"], r["meaning"], r["source"]) for r in csv.DictReader(f)}


def published(file: str, here: str) -> dict[tuple[str, str], float]:
    """Printed numbers out of `data/<file>` beside the module `here`: (quantity, configuration) -> value.

    The file has the columns quantity, configuration, value, unit, where.
    """
    path = Path(here).parent / "data" / file
    with path.open(encoding="utf-8", newline="") as f:
        return {(r["quantity"], r["configuration"]): float(r["value"]) for r in csv.DictReader(f)}

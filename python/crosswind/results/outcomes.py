"""What became of flows and pages, counted and in words: what statistics leave out, and what a reader must know."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from crosswind.results.runs import Runs

#: How a flow may end that did what it was to do. `endless` ones have no end of their own.
AS_WANTED = ("complete", "endless")
GAVE_UP, CUT_OFF, NOT_OPENED = "gave up", "cut off", "not opened"
#: A flow of which everything arrived, and whose closing was never acknowledged.
NEVER_CLOSED = "never closed"
NAMES_SHOWN = 4


def left_out(frame: pl.DataFrame, column: str = "elapsed_ns") -> pl.DataFrame:
    """Rows of the flow or page table that have an end and no value of a time (-1); a column `why` says why."""
    if "outcome" not in frame.columns or column not in frame.columns:
        return frame.clear()
    why = pl.when(pl.col("outcome") == "complete").then(pl.lit(NEVER_CLOSED)).otherwise(pl.col("outcome"))
    return frame.filter((pl.col(column) == -1) & (pl.col("outcome") != "endless")).with_columns(why=why)


def said(rows: pl.DataFrame, column: str = "outcome") -> str:
    """The outcomes of some rows, counted: "2 gave up, 1 cut off"."""
    counted = rows.group_by(column, maintain_order=True).len().sort("len", descending=True)
    return ", ".join(f"{n} {outcome}" for outcome, n in counted.iter_rows())


def note(frame: pl.DataFrame, what: str = "Elapsed times", column: str = "elapsed_ns") -> str:
    """A sentence about what a statistic of a time leaves out; an empty text when that is nothing."""
    gone = left_out(frame, column)
    if gone.is_empty():
        return ""
    total = frame.filter(pl.col("outcome") != "endless").height
    return f"{what} leave out {gone.height} of {total} ({said(gone, 'why')})."


def outcome_of(outcomes: pl.Series) -> str:
    """The outcomes of one flow in all repetitions, for a cell: "complete", or "18 of 20 complete"."""
    if outcomes.n_unique() == 1:
        return str(outcomes[0])
    return f"{(outcomes == 'complete').sum()} of {outcomes.len()} complete"


def warnings(runs: Runs) -> list[str]:
    """What went otherwise than it was to go, for the reader of the results."""
    found: list[str] = []
    table, flows = runs.runs(), runs.flows()
    if "outcome" in flows.columns:
        ends = flows.filter(pl.col("outcome") != "endless")
        gone = ends.filter(pl.col("outcome") == GAVE_UP)
        if gone.height:
            names = gone["name"].unique(maintain_order=True).to_list()
            shown = ", ".join(names[:NAMES_SHOWN]) + (", .." if len(names) > NAMES_SHOWN else "")
            found.append(
                f"{gone.height} of {ends.height} flows gave up ({shown}): they have no elapsed time, and statistics of "
                "the others show what went well"
            )
        late = ends.filter(pl.col("outcome").is_in([CUT_OFF, NOT_OPENED]))
        late = late.join(_ended(table, "duration reached"), on=["configuration", "rep"], how="semi")
        if late.height:
            n = late.select("configuration", "rep").unique().height
            found.append(
                f"{n} of {table.height} runs reached the time limit with transfers still open ({said(late)}): "
                "statistics of elapsed times leave these out"
            )
    pages = runs.table("page")
    if "outcome" in pages.columns:
        gone = pages.filter(pl.col("outcome") != "complete")
        if gone.height:
            found.append(f"{gone.height} of {pages.height} pages are not complete ({said(gone)})")
    if stuck := _ended(table, "nothing left to do").height:
        found.append(f"{stuck} of {table.height} runs stopped with flows open, because nothing was left to do")
    if full := _ended(table, "out of memory").height:
        found.append(f"{full} of {table.height} runs ended early: the machine was about to run out of memory")
    return found


def may_be_trusted(runs: Runs) -> bool:
    """Whether all runs came to the end that they were to come to; what gave up biases the statistics of the others."""
    flows = runs.flows()
    if "outcome" in flows.columns and (flows["outcome"] == GAVE_UP).any():
        return False
    stopped = ("nothing left to do", "out of memory")
    return all(_ended(runs.runs(), why).is_empty() for why in stopped)


def _ended(table: pl.DataFrame, why: str) -> pl.DataFrame:
    return table.filter(pl.col("outcome") == why) if "outcome" in table.columns else table.clear()

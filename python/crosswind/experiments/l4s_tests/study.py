"""How the experiments of [l4s-tests] are declared. Each row of a table is a claim, judged by the larger flow's share.

The bands are those of the study's digest: the larger share within 15 % of the printed one or, where one flow has five
times the other's rate or more, the logarithm of the ratio within a factor of two; and the same side of 2:1, unless the
printed ratio lies between 1.7 and 2.4. Rows of a drop-tail queue with Prague differ by more than that from run to run
in the source, so only their side of 2:1 counts.
"""

import csv
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from crosswind.reproduce import Runs, Study, Tables
from crosswind.reproduce.claims.book import Book, load

DATA = Path(__file__).parent / "data"
WITHHELD = "withheld"


class Row(NamedTuple):
    """A printed row: what ran, and the rates of its two flows where they are known."""

    id: str
    rate_mbps: int
    queue: str
    laws: tuple[str, str]
    rtts_ms: tuple[int, int]
    goodputs_mbps: tuple[float, float] | None

    @property
    def cell(self) -> str:
        """Its configuration: `fq_codel 50: cubic 20, prague 20`."""
        flows = ", ".join(f"{law} {rtt}" for law, rtt in zip(self.laws, self.rtts_ms, strict=True))
        return cell(self.queue, self.rate_mbps, flows)


def cell(queue: str, rate_mbps: int, flows: str) -> str:
    """The name of a configuration: a stroke would divide it."""
    return f"{queue.replace('/', ' ')} {rate_mbps}: {flows}"


def rows(file: str, prefix: str) -> list[Row]:
    """The rows of a table in the order of the source; `prefix` begins the ids of their claims."""
    with (DATA / file).open(encoding="utf-8", newline="") as f:
        return [_row(r, prefix) for r in csv.DictReader(f)]


def _row(r: dict[str, str], prefix: str) -> Row:
    is_known = WITHHELD not in (r["goodput1_mbps"], r["goodput2_mbps"])
    return Row(
        f"{prefix}.{r['row'].partition('-')[2]}",
        int(r["rate_mbps"]),
        r["qdisc"],
        (r["cc1"], r["cc2"]),
        (int(r["rtt1_ms"]), int(r["rtt2_ms"])),
        (float(r["goodput1_mbps"]), float(r["goodput2_mbps"])) if is_known else None,
    )


def share_band(first: float, second: float, queue: str, laws: tuple[str, str]) -> tuple[float, float]:
    """The shares of the first flow that count as the printed one (see the top of this file)."""
    larger = max(first, second) / (first + second)
    ratio = larger / (1 - larger)
    low, high = 0.85 * larger, min(1.15 * larger, 1.0)
    if ratio >= 5:
        low, high = min(low, _share(math.sqrt(ratio))), max(high, _share(ratio**2))
    is_noisy = queue.startswith("pfifo") and "prague" in laws
    if is_noisy:
        low, high = 0.0, 1.0
    if not 1.7 <= ratio <= 2.4:
        side = (2 / 3, 1.0) if ratio > 2 else (1 / 3, 2 / 3)
        low, high = max(low, side[0]), min(high, side[1])
    return (low, high) if first >= second else (1 - high, 1 - low)


def _share(ratio: float) -> float:
    return ratio / (1 + ratio)


def entry(row: Row, where: str) -> dict[str, Any]:
    """The claim of a row, as a data file would have it."""
    statement = f"The first flow's share of what both carry, {row.cell}"
    if row.goodputs_mbps is None:
        hidden = {"share": {"digits": 3}}
        return {"statement": statement, "where": where, "withheld": True, "set": "corrected", "parts": hidden}
    first, second = row.goodputs_mbps
    low, high = share_band(first, second, row.queue, row.laws)
    part: dict[str, Any] = {"print": round(first / (first + second), 3), "digits": 3, "band": f"{low:.4f}..{high:.4f}"}
    printed = f"{first:g} and {second:g} Mbit/s"
    return {
        "statement": statement,
        "where": where,
        "published": printed,
        "set": "corrected",
        "parts": {"share": part},
    }


RTT_FAIRNESS = rows("rtt-fairness.csv", "LT1")
ONE_QUEUE = rows("one-queue.csv", "LT6")


def _book() -> Book:
    text = load(sorted(DATA.glob("claims*.toml")))
    made = {r.id: (entry(r, "scenario 1"), "rtt-fairness.csv") for r in RTT_FAIRNESS}
    made |= {r.id: (entry(r, "scenario 6"), "one-queue.csv") for r in ONE_QUEUE}
    entries = {id: e for id, (e, _) in made.items()} | dict(text.entries)
    return Book(entries, {id: file for id, (_, file) in made.items()} | dict(text.files))


KEYS = ["configuration", "rep"]
BOTH = ("first", "second")


def tables_of(first_s: int, last_s: int) -> Callable[[Runs], Tables]:
    """`repetition`: the goodput of each flow between two seconds (Mbit/s), the first one's share, Jain's index."""

    def tables(runs: Runs) -> Tables:
        ends = pl.col("time_ns").is_in([first_s * 1_000_000_000, last_s * 1_000_000_000])
        totals = runs.sample("size_bytes").filter(pl.col("entity").is_in(BOTH) & ends).sort("time_ns")
        rate = (pl.col("value").last() - pl.col("value").first()) * 8e-6 / (last_s - first_s)
        wide = totals.group_by(*KEYS, "entity").agg(rate.alias("mbps")).pivot("entity", index=KEYS, values="mbps")
        a, b = (pl.col(flow) for flow in BOTH)
        named = wide.select(
            *KEYS,
            first_mbps=a,
            second_mbps=b,
            sum_mbps=a + b,
            share=a / (a + b),
            jain=(a + b) ** 2 / (2 * (a**2 + b**2)),
        )
        return {"repetition": named.sort(KEYS)}

    return tables


STUDY = Study("l4s-tests", "[l4s-tests]", _book(), reps=3, quick_reps=1)

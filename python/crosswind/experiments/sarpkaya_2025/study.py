"""How the experiments of [Sarpkaya 2025] are declared. Each row is a claim, judged by the share of the Prague flows.

Bands come from our summary of the study, for rows of this kind, as for [l4s-tests]: the larger share within 15 % of
the printed one or, where one side has five times the other's rate or more, the logarithm of the ratio within a factor
of two; and the same side of 2:1, unless the printed ratio lies between 1.7 and 2.4.
"""

import csv
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from crosswind.experiments.l4s_tests.study import share_band
from crosswind.reproduce import Results, Runs, Scenario, Study, Tables
from crosswind.reproduce.claims.book import Book, load

DATA = Path(__file__).parent / "data"
WITHHELD = "withheld"
KEYS = ["configuration", "rep"]
SECONDS, RATE_MBPS, RTT_MS = 60, 100, 10
BOTH = ("prague", "classic")


class Row(NamedTuple):
    """A printed row: what ran, and the rates of both sides (Mbit/s) where they are known."""

    id: str
    aqm: str
    buffer_bdp: float
    #: How many Prague flows, and how many of the other law.
    flows: tuple[int, int]
    other: str
    fallback: str
    printed: tuple[float, float] | None

    @property
    def cell(self) -> str:
        """Its configuration: `DualPI2 2: 1 prague, 1 cubic+ecn`."""
        faulty = "" if self.fallback == "off" else " that falls back"
        return f"{self.aqm} {self.buffer_bdp:g}: {self.flows[0]} prague{faulty}, {self.flows[1]} {self.other}"


def _printed(r: Mapping[str, str], *columns: str) -> tuple[float, float] | None:
    a, b = (r[c] for c in columns)
    return None if WITHHELD in (a, b) else (float(a), float(b))


def _read(file: str) -> list[dict[str, str]]:
    with (DATA / file).open(encoding="utf-8", newline="") as f:
        return list(csv.DictReader(f))


#: What the source calls ECN of the classic flow, and BBR of Linux and version 3.
LAWS = {"cubic": "cubic", "bbr": "bbr", "bbr1": "bbr", "bbr3": "bbr3"}


def _pair(r: Mapping[str, str]) -> Row:
    other = LAWS[r["classic_cc"]] + ("" if r["classic_ecn"] == "off" else "+ecn")
    fallback = "linux-5.15" if r["prague_fallback"] == "1" else "off"
    printed = _printed(r, "prague_mbps", "classic_mbps")
    return Row(f"LA.{r['row'][3:]}", r["aqm"], float(r["buffer_bdp"]), (1, 1), other, fallback, printed)


def _group(r: Mapping[str, str]) -> Row:
    flows = (int(r["n_prague"]), int(r["n_cubic"]))
    printed = _printed(r, "prague_total_mbps", "cubic_total_mbps")
    return Row(f"LM.{r['row'][3:]}", r["aqm"], float(r["buffer_bdp"]), flows, "cubic+ecn", "off", printed)


PAIRS = [_pair(r) for r in _read("pairs.csv")]
GROUPS = [_group(r) for r in _read("groups.csv")]

TCP: dict[str, dict[str, Any]] = {
    "cubic": {"preset": "linux-6-cubic"},
    "cubic+ecn": {"preset": "linux-6-cubic", "ecn": "on"},
    "bbr": {"preset": "linux-6-bbr"},
    "bbr3": {"preset": "bbr3-google"},
    "bbr3+ecn": {"preset": "bbr3-google", "ecn": "accurate", "bbr3": {"version": "google", "ecn": "on"}},
}


def queue(aqm: str, buffer_bdp: float) -> dict[str, Any]:
    """The queue above the shaper; a buffer in packets as the source computes it."""
    packets = f"{int(buffer_bdp * 1000 * RATE_MBPS * RTT_MS / 8) // 1500 + 1} packets"
    codel = {"type": "codel", "profile": "linux", "limit": packets, "target": "5 ms", "interval": "100 ms"}
    fq = {"type": "fq", "pacing": False, "flow_limit": int(packets.split()[0]), "limit": "10000 packets"}
    fq_codel = {"type": "fq-codel", "limit": packets, "target": "5 ms", "interval": "100 ms", "ecn": "mark"}
    queues: dict[str, dict[str, Any]] = {
        "FIFO": {"type": "droptail", "limit": packets},
        # Orphans in one queue of `fq`: first in, first out, and marks above the threshold; its own target is never met.
        "single_queue_FQ": codel | {"target": "100 s", "interval": "100 s", "ecn": "mark", "ce_threshold": "5 ms"},
        "Codel": codel | {"ecn": "mark"},
        "Codel_drop": codel | {"ecn": "drop"},
        "pie_drop": {"type": "pie", "profile": "linux", "limit": packets, "target": "5 ms", "ecn": "drop"},
        "FQ": fq | {"ce_threshold": "5 ms"},
        "FQ_Codel": fq_codel,
        "FQ_Codel_L4S": fq_codel | {"ce_threshold": "1 ms", "ce_threshold_mask": 3, "ce_threshold_selector": 1},
        "DualPI2": {"type": "dualpi2", "profile": "linux", "limit": "10000 packets", "target": "5 ms"},
    }
    return queues[aqm]


def scenario_of(row: Row) -> Scenario:
    """Two groups of greedy flows over one bottleneck of 100 Mbit/s and 10 ms; frames of 1514 bytes are shaped."""
    bottleneck = {"from": "router", "to": "receiver", "delay": "0 ms", "queue": queue(row.aqm, row.buffer_bdp)}
    bottleneck["rate"] = f"{RATE_MBPS * 1_000_000 * 1500 // 1514} bit/s"
    long = {"type": "droptail", "limit": "60000 packets"}
    links: dict[str, Any] = {"bottleneck": bottleneck}
    flows: dict[str, Any] = {}
    prague = {"preset": "prague", "prague": {"fallback": row.fallback}}
    for name, count, tcp in zip(BOTH, row.flows, (prague, TCP[row.other]), strict=True):
        host = f"{name}-host"
        links[name] = {"from": host, "to": "router", "rate": "10 Gbit/s", "delay": f"{RTT_MS / 2} ms", "queue": long}
        start = {"uniform": ["0 s", "20 ms"]}
        flows[name] = {"from": host, "to": "receiver", "count": count, "start": start, "workload": {"type": "bulk"}}
        flows[name]["tcp"] = tcp
    record = {"sample": "100 ms", "sampled": list(BOTH)}
    whole = {"name": "beside-prague", "duration": f"{SECONDS} s", "link": links, "flow": flows, "record": record}
    return Scenario.from_dict(whole)


def tables(runs: Runs) -> Tables:
    """`repetition`: goodput of both groups over the run (Mbit/s), Prague's share, mean smoothed round trips (ms)."""
    rate = pl.col("size_bytes").sum() * 8e-6 / SECONDS
    goodput = runs.flows().group_by(*KEYS, "group").agg(rate.alias("mbps")).pivot("group", index=KEYS, values="mbps")
    group = pl.col("entity").str.extract(r"^(prague|classic)")
    srtt = (
        runs.sample("srtt_ns").with_columns(group=group).group_by(*KEYS, "group").agg(ms=pl.col("value").mean() / 1e6)
    )
    wide = srtt.pivot("group", index=KEYS, values="ms").rename({name: f"{name}_ms" for name in BOTH})
    p, c = (pl.col(name) for name in BOTH)
    named = goodput.select(*KEYS, prague_mbps=p, classic_mbps=c, sum_mbps=p + c, share=p / (p + c))
    return {"repetition": named.join(wide, on=KEYS).sort(KEYS)}


def _entry(row: Row, where: str) -> dict[str, Any]:
    """The claim of a row, as a data file would have it."""
    statement = f"The share of the Prague flows in what all carry, {row.cell}"
    common: dict[str, Any] = {"statement": statement, "where": where, "set": "corrected"}
    if row.printed is None:
        return common | {"withheld": True, "parts": {"share": {"digits": 3}}}
    prague, classic = row.printed
    low, high = share_band(prague, classic, row.aqm, ("prague", row.other))
    part = {"print": round(prague / (prague + classic), 3), "digits": 3, "band": f"{low:.4f}..{high:.4f}"}
    return common | {"published": f"{prague:g} and {classic:g} Mbit/s", "parts": {"share": part}}


def _book() -> Book:
    text = load(sorted(DATA.glob("claims*.toml")))
    made = {r.id: (_entry(r, "one flow beside one"), "pairs.csv") for r in PAIRS}
    made |= {r.id: (_entry(r, "several flows beside several"), "groups.csv") for r in GROUPS}
    for group in tomllib.loads((DATA / "causes.toml").read_text(encoding="utf-8"))["group"]:
        for id in group["rows"]:
            made[id][0].update(cause=group["cause"], because=group["because"])
    entries = {id: e for id, (e, _) in made.items()} | dict(text.entries)
    return Book(entries, {id: file for id, (_, file) in made.items()} | dict(text.files))


def chosen(rows: Iterable[Row], **wanted: Any) -> list[Row]:
    """The rows whose fields have these values; a list means one of them."""

    def fits(row: Row) -> bool:
        return all(getattr(row, k) in (v if isinstance(v, list) else [v]) for k, v in wanted.items())

    return [r for r in rows if fits(r)]


def extreme(rows: list[Row], column: str, of: Any) -> Any:
    """The least, the largest or the mean of a column over rows, each by the mean of its repetitions."""
    if not rows:
        raise ValueError("no row was chosen")
    return lambda r: float(of([_mean(r, row, column) for row in rows]))


def _mean(r: Results, row: Row, column: str) -> float:
    return float(np.mean(r.of(row.cell, column)))


STUDY = Study("sarpkaya-2025", "[Sarpkaya 2025]", _book(), reps=3, quick_reps=1, tables=tables)

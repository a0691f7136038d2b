"""How the experiments of [Ware 2019] are declared: greedy flows over one drop-tail queue counted in bytes.

The values are those of the replication that our summary names: real hosts (Linux 5.15), one loss-based flow beside N of
BBR version 1. A share is goodput over the rate of the link: the printed ones end at 0.94, which is the payload of a
frame, and agree with the printed goodputs so. A printed share is met between the model and itself, 0.08 wider on both
sides; a row is reproduced if all cells but one are met.
"""

import csv
from collections.abc import Mapping
from pathlib import Path as File
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from crosswind.experiments.ware_2019.model import Path, share
from crosswind.reproduce import Results, Runs, Scenario, Study, Tables
from crosswind.reproduce.claims.book import book

BBR = {"preset": "linux-6-bbr"}
OTHERS = {"cubic": {"preset": "linux-6-cubic"}, "reno": {"preset": "linux-6"}}
KEYS = ["configuration", "rep"]
TOLERANCE = 0.08
EXCEPTIONS = 1


class Setting(NamedTuple):
    """One of the three sets of runs: path, the loss-based law, and the length of a run."""

    path: Path
    other: str
    seconds: int


SETTINGS = {
    "A": Setting(Path(10, 40), "cubic", 400),
    "B": Setting(Path(50, 30), "cubic", 400),
    "C": Setting(Path(10, 40), "reno", 200),
}


class Cell(NamedTuple):
    """A printed share: N flows of BBR beside one, over a buffer of `buffer_bdp`; None where it is withheld."""

    claim: str
    setting: str
    flows: int
    buffer_bdp: float
    printed: float | None

    @property
    def name(self) -> str:
        return f"{self.setting}: {self.flows} BBR, {self.buffer_bdp:g} BDP"

    @property
    def model(self) -> float:
        return share(SETTINGS[self.setting].path, self.flows, self.buffer_bdp)

    def accepts(self, value: float) -> bool:
        """Whether a share is the printed one; only for cells that are printed."""
        known = (self.model, self.printed if self.printed is not None else self.model)
        return min(known) - TOLERANCE <= value <= max(known) + TOLERANCE


def cells() -> list[Cell]:
    """The printed shares in the order of the source."""
    with (File(__file__).parent / "data" / "shares.csv").open(encoding="utf-8", newline="") as f:
        return [
            Cell(r["claim"], r["setting"], int(r["flows"]), float(r["bdp"]), float(r["share"]) if r["share"] else None)
            for r in csv.DictReader(f)
        ]


def scenario(
    path: Path,
    buffer_bdp: float,
    flows: Mapping[str, tuple[int, Mapping[str, Any]]],
    seconds: int,
    sample: str | None = None,
    **record: Any,
) -> Scenario:
    """Groups of greedy flows (name -> how many, TCP) over one queue; they start within a round trip."""
    links: dict[str, Any] = {
        "bottleneck": {
            "from": "router",
            "to": "sink",
            "rate": f"{path.rate_mbps} Mbit/s",
            "delay": f"{path.rtt_ms / 2} ms",
            "queue": {"type": "droptail", "limit": f"{round(buffer_bdp * path.bdp_bytes)} B"},
            "reverse": {"queue": {"type": "droptail", "limit": "100000 packets"}},
        },
        "access": {
            "from": "host",
            "to": "router",
            "rate": "10 Gbit/s",
            "delay": "0 ms",
            "queue": {"type": "droptail", "limit": "1000000 packets"},
        },
    }
    groups = {
        name: {
            "from": "host",
            "to": "sink",
            "count": n,
            "start": {"uniform": ["0 s", f"{path.rtt_ms} ms"]},
            "workload": {"type": "bulk"},
            "tcp": dict(tcp),
        }
        for name, (n, tcp) in flows.items()
    }
    more: dict[str, Any] = {"record": {"sample": sample, **record}} if sample else {}
    return Scenario.from_dict({"name": "shares", "duration": f"{seconds} s", "link": links, "flow": groups, **more})


def tables(runs: Runs) -> Tables:
    """`repetition`: what BBR and the others carry together (Mbit/s), and BBR's share of the link."""
    ends = runs.runs().select(*KEYS, seconds=pl.col("end_ns") / 1e9)
    both = runs.flows().with_columns(pl.col("group").fill_null(pl.col("name")).alias("law"))
    sums = both.group_by(*KEYS, "law").agg(pl.col("size_bytes").sum() * 8e-6)
    wide = ends.join(sums.pivot("law", index=KEYS, values="size_bytes"), on=KEYS, how="left")
    for law in ("bbr", "other"):
        if law not in wide.columns:
            wide = wide.with_columns(pl.lit(0.0).alias(law))
    named = wide.with_columns(pl.col("bbr") / pl.col("seconds"), pl.col("other") / pl.col("seconds"))
    line = runs.links().filter((pl.col("link") == "bottleneck") & (pl.col("direction") == "forward"))
    shares = named.join(line.select(*KEYS, "rate_bps"), on=KEYS)
    return {"repetition": shares.with_columns(share=pl.col("bbr") / (pl.col("rate_bps") / 1e6)).sort(KEYS)}


def mean_share(r: Results, cell: Cell) -> float:
    """BBR's share of a cell, mean of the repetitions."""
    return float(np.mean(r.of(cell.name, "share")))


STUDY = Study("ware-2019", "[Ware 2019]", book(__file__), reps=5, quick_reps=1, tables=tables)

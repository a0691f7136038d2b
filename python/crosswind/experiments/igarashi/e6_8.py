"""Where do packets in and out of profile get lost in a domain with several RIO queues?

Model 6.4, original marking, 50 s: arrivals and drops by colour at RIO2, RIO4 and RIO6, and packets re-marked at
the edge of domain B as a share of those that crossing flows had in profile.

What the source printed (Table 6.10): no packet in profile is lost; of those out of profile 0.7 % at RIO6, 0.34 % at
RIO2, 0.12 % at RIO4; 64 packets are re-marked, 0.044 % of those in profile.

What may differ here: the layout (see `chain_of_queues`). Rates are drops over arrivals of the colour at the queue
(open point O6.6); packets in profile are counted where the markers of domain A let them go.
"""

import polars as pl

from crosswind.experiments.igarashi import assured, chain_of_queues, drawing, study
from crosswind.experiments.igarashi.chain_of_queues import KINDS, QUEUES
from crosswind.reproduce import Measure, Picture, Results, Runs, Tables, measures
from crosswind.reproduce.claims.quantities import runs

COLOURS = {"IN": "green", "OUT": "yellow"}


def tables(of: Runs) -> Tables:
    """As `assured.tables`, with `<queue>_<colour>_drops`, `_arrived` and `_rate`."""
    made = assured.tables(of)
    links = of.links().filter((pl.col("direction") == "forward") & pl.col("link").is_in(QUEUES))
    columns = []
    for q in QUEUES:
        for name, colour in COLOURS.items():
            here = pl.col("link") == q
            arrived = pl.col(f"{colour}_arrived_packets").filter(here).first()
            drops = pl.sum_horizontal(f"{colour}_early_drops_packets", f"{colour}_full_drops_packets")
            drops = drops.filter(here).first()
            columns += [
                drops.alias(f"{q}_{name}_drops"),
                arrived.alias(f"{q}_{name}_arrived"),
                (drops / arrived).alias(f"{q}_{name}_rate"),
            ]
    rows = links.group_by(assured.KEYS, maintain_order=True).agg(columns)
    crossing = [f"ab{k}" for k in assured.FLOWS]
    repetition = made["repetition"].join(rows, on=assured.KEYS)
    repetition = repetition.with_columns(pl.sum_horizontal(f"remarked_{f}" for f in crossing).alias("remarked"))
    marked = of.table("boundary").filter((pl.col("domain") == "a") & pl.col("name").is_in(crossing))
    marked = marked.group_by(assured.KEYS).agg(pl.col("left_green_packets").sum().alias("in_crossing"))
    repetition = repetition.join(marked, on=assured.KEYS)
    share = (pl.col("remarked") / pl.col("in_crossing")).alias("remarked_share")
    repetition = repetition.with_columns(share).sort(assured.KEYS)
    return {**made, "repetition": repetition}


def _losses() -> dict[str, Measure]:
    return {
        f"{q.upper()} {name}, {c}, {what}": measures.value(c, f"{q}_{name}_{what}")
        for c in KINDS
        for q in QUEUES
        for name in COLOURS
        for what in ("drops", "rate")
    }


def _more(one: str, other: str) -> dict[str, Measure]:
    """How much higher the loss rate of packets out of profile is at one queue than at another."""
    return {
        f"{one.upper()} OUT, {c}, rate minus {other.upper()} OUT, {c}, rate": study.difference(
            runs(c, f"{one}_OUT_rate"), runs(c, f"{other}_OUT_rate")
        )
        for c in KINDS
    }


def _printed(queue: str, colour: str, kind: str) -> float:
    """The printed loss rate in per cent; the one that is misprinted as it was meant."""
    rates = study.BOOK.numbers("IC6.14") | {"RIO6 OUT, (b) intra, rate": 0.005757}
    return 100 * rates.get(f"{queue.upper()} {colour}, {kind}, rate", 0.0)


CLAIMS = {
    "IC6.14": {**_losses(), **_more("rio6", "rio2"), **_more("rio2", "rio4")},
    "IC6.15": {
        "count": measures.value("(a) inter", "remarked"),
        "share of packets in profile": measures.value("(a) inter", "remarked_share"),
    },
}


def pictures(r: Results) -> list[Picture]:
    """Table 6.10."""
    out = []
    for name in COLOURS:
        bars = {
            f"{q.upper()} {c[:3]}": {"dropped": float(r.of(c, f"{q}_{name}_rate").mean() * 100)}
            for q in QUEUES
            for c in KINDS
        }
        printed = {f"{q.upper()} {c[:3]}": {"dropped": _printed(q, name, c)} for q in QUEUES for c in KINDS}
        caption = f"Loss rate of {name} packets by queue (Table 6.10), mean over the seeds."
        out.append(drawing.stacks(f"table-6-10-{name.lower()}", caption, bars, "dropped (%)", printed=printed))
    return out


EXPERIMENT = study.experiment(
    __name__, "Several RIO queues in a domain: losses", configurations=chain_of_queues.configurations
)

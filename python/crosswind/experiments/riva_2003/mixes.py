"""What the tests of one transfer beside a stream share: cells, printed tables, parts of claims, figures."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.riva_2003 import pictures, study, testbed
from crosswind.experiments.riva_2003.testbed import Mix, Queue
from crosswind.figures import side_by_side
from crosswind.reproduce import Experiment, Measure, Picture, Results, Scenario, measured, measures
from crosswind.reproduce.claims import BrokenClaimError

PRINTED_AS = {"TD": "Tail Drop", "RED": "RED", "TD+DS": "Tail Drop+DS", "RED+DS": "RED+DS"}
PANELS = ("elapsed time of TCP (s)", "TCP packets retransmitted", "UDP packets received")
# Claims that hold the printed medians of each test case: elapsed times, packets retransmitted, packets received.
PRINTED_IN: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "d": (("R71", "R75"), (), ()),
    "e": (("R85", "R86", "R89"), (), ("R92",)),
    "f": (("R100", "R101"), (), ("R103",)),
    "g": ((), ("R99",), ()),
}
BOTH: tuple[Queue, ...] = ("TD", "RED")
ALONE = ("TD alone", "RED alone")


def cells(
    mix: Mix, variant: dict[str, Any], logged: tuple[str, ...] = (), alone: tuple[Queue, ...] = ()
) -> dict[str, Scenario]:
    """All cells of a test case; the transfer alone on the reduced rate behind the queues named."""
    reading = testbed.reading(**variant)
    out = {}
    for c in testbed.FOUR:
        for s in mix.starts_s:
            label = testbed.cell(c, s)
            out[label] = testbed.mixed(mix, c, s, reading, events=("tcp",) if label in logged else ())
    return out | {f"{q} alone": testbed.alone(mix, q, reading) for q in alone}


def statistics_picture(r: Results, mix: Mix, name: str, caption: str, alone: Sequence[Queue] = ()) -> Picture:
    """Elapsed time and packets retransmitted of the transfer, packets of the stream that arrived, against its start.

    The transfer alone on the reduced rate has no start to vary: its values go across the panel.
    """
    ends_s = (mix.starts_s[0], mix.starts_s[-1])

    def curves(column: str, by: Sequence[Queue] = ()) -> dict[str, Any]:
        shared = {
            PRINTED_AS[c]: pictures.curve(r, {s: testbed.cell(c, s) for s in mix.starts_s}, column)
            for c in testbed.FOUR
        }
        return shared | {
            f"{PRINTED_AS[q]} alone": pictures.curve(r, dict.fromkeys(ends_s, f"{q} alone"), column) for q in by
        }

    elapsed, again, received = PANELS
    panels = {
        elapsed: curves("tcp_elapsed_s", alone),
        again: curves("tcp_retx", alone),
        received: curves("udp_received"),
    }
    marks = {
        panel: {
            PRINTED_AS[c]: pictures.printed({s: f"{testbed.cell(c, s)}{word}" for s in mix.starts_s}, printed)
            for c in testbed.FOUR
        }
        for panel, ids, word in zip(PANELS, PRINTED_IN[mix.name], ("", ", retransmitted", ""), strict=True)
        if (printed := study.printed(*ids))
    }
    return side_by_side.against_start(name, caption, panels, "start of UDP (s)", marks=marks)


def sequence_picture(r: Results, name: str, caption: str, labels: tuple[str, ...]) -> list[Picture]:
    """Sequence graphs of the transfer in several cells, each in the run nearest to the median."""
    e = r.runs.events(flow="tcp")
    if e.is_empty():
        return []
    flows = {}
    for c in labels:
        elapsed = r.of(c, "tcp_elapsed_s")
        rep = int(np.nanargmin(np.abs(elapsed - np.nanmedian(elapsed))))
        flows[c] = e.filter((pl.col("configuration") == c) & (pl.col("rep") == rep))
    return [side_by_side.sequences(name, caption, flows)]


def steps(cells: Sequence[str], column: str, pick: Any) -> Measure:
    """The smallest or largest change of a median from one start to the next."""
    return measures.across(cells, column, lambda m: pick(np.diff(m, axis=0), axis=0))


def sent(r: Results, c: str, kind: str) -> pl.DataFrame:
    """What the sender of a cell's transfer did, as `rep`, `s` and `seq` in order of time."""
    e = r.runs.events(flow="tcp")
    e = e.filter((pl.col("configuration") == c) & (pl.col("kind") == kind) & (pl.col("end") == "sender"))
    if e.is_empty():
        raise BrokenClaimError(f"no {kind} was recorded in {c}")
    return e.select("rep", "seq", s=pl.col("time_ns") / 1e9).sort("rep", "s")


def acknowledged_at_first_repair(r: Results, c: str, size: int) -> Any:
    """The share of the transfer that was acknowledged when something was retransmitted for the first time, by run."""
    first = sent(r, c, "retransmit").group_by("rep").agg(at=pl.col("s").min())
    acks = sent(r, c, "ack").join(first, on="rep").filter(pl.col("s") <= pl.col("at"))
    return acks.group_by("rep").agg(pl.col("seq").max()).sort("rep")["seq"].to_numpy() / size


@measured
def _headline(r: Results, starts_s: Sequence[float]) -> dict[str, str]:
    """Median elapsed time and packets received in some cells, by which readings are compared."""
    out = {}
    for c in testbed.FOUR:
        for s in starts_s:
            label = testbed.cell(c, s)
            received = np.nanmedian(r.of(label, "udp_received"))
            out[label] = f"{np.nanmedian(r.of(label, 'tcp_elapsed_s')):.2f} s, {received:g}"
    return out


def declare(
    module: str,
    mix: Mix,
    title: str,
    statistics: str,
    *,
    sequences: Mapping[str, tuple[str, tuple[str, ...]]] | None = None,
    alone: tuple[Queue, ...] = (),
    starts_s: Sequence[float] = (0.0,),
    uses: Sequence[str] = (),
) -> Experiment:
    """A test case with its cells and figures.

    `statistics` is the number of the source's figure with elapsed times and counts; `sequences` gives each figure
    with sequence graphs a caption and the cells that it shows; readings are compared by `starts_s`.
    """
    graphs = sequences or {}
    logged = tuple(c for _, chosen in graphs.values() for c in chosen)

    def pictures_of(r: Results) -> list[Picture]:
        caption = f"{title} (Fig. {statistics}): medians and quartiles."
        caption += f" Alone: without the stream on {testbed.REDUCED_kbit} kbit/s." if alone else ""
        found = [statistics_picture(r, mix, f"fig-{statistics}", caption, alone)]
        for number, (what, chosen) in graphs.items():
            found += sequence_picture(r, f"fig-{number}", f"{what} (as Fig. {number}).", chosen)
        return found

    return study.experiment(
        module,
        title,
        configurations=lambda **variant: cells(mix, variant, logged, alone),
        figures=pictures_of,
        headline=_headline(starts_s),
        uses=uses,
    )

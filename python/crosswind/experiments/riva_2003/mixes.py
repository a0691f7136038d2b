"""What the tests of one transfer beside a stream share: cells, printed tables, figures."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.base import Results
from crosswind.experiments.riva_2003 import pictures, published, testbed
from crosswind.experiments.riva_2003.testbed import Mix, Queue
from crosswind.figures import Picture
from crosswind.scenario import Scenario

PRINTED_AS = {"TD": "Tail Drop", "RED": "RED", "TD+DS": "Tail Drop+DS", "RED+DS": "RED+DS"}
ELAPSED, RECEIVED = "tcp_elapsed_median_s", "udp_packets_received_median"
BOTH: tuple[Queue, ...] = ("TD", "RED")
ALONE = ("TD alone", "RED alone")


def printed(table: str, column: str, configuration: str) -> dict[str, float]:
    """The printed medians of a configuration by cell; without what is withheld."""
    found = published.cells(table, column, "udp_start_s", htb_config=PRINTED_AS[configuration])
    return {testbed.cell(configuration, s): v for s, v in found.items()}


def cells(
    mix: Mix, variant: dict[str, Any], logged: tuple[str, ...] = (), alone: tuple[Queue, ...] = ()
) -> dict[str, Scenario]:
    """All cells of a test case; the transfer alone on the reduced rate behind the queues named."""
    reading = testbed.Reading(**variant)
    out = {}
    for c in testbed.FOUR:
        for s in mix.starts_s:
            label = testbed.cell(c, s)
            out[label] = testbed.mixed(mix, c, s, reading, events=("tcp",) if label in logged else ())
    return out | {f"{q} alone": testbed.alone(mix, q, reading) for q in alone}


def statistics_picture(r: Results, mix: Mix, name: str, caption: str) -> Picture:
    """Elapsed time and packets sent again of the transfer, packets of the stream that arrived, against its start."""

    def curves(column: str) -> dict[str, Any]:
        return {
            PRINTED_AS[c]: pictures.curve(r, {s: testbed.cell(c, s) for s in mix.starts_s}, column)
            for c in testbed.FOUR
        }

    panels = {
        "elapsed time of TCP (s)": curves("tcp_elapsed_s"),
        "TCP packets sent again": curves("tcp_retx"),
        "UDP packets received": curves("udp_received"),
    }
    return pictures.against_start(name, caption, panels, "start of UDP (s)")


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
    return [pictures.sequences(name, caption, flows)]


def headline(mix: Mix, starts_s: tuple[float, ...]) -> Any:
    """Median elapsed time and packets received in some cells, by which readings are compared."""

    def numbers(r: Results) -> dict[str, str]:
        out = {}
        for c in testbed.FOUR:
            for s in starts_s:
                label = testbed.cell(c, s)
                received = np.nanmedian(r.of(label, "udp_received"))
                out[label] = f"{np.nanmedian(r.of(label, 'tcp_elapsed_s')):.2f} s, {received:g}"
        return out

    return numbers

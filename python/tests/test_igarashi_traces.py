"""Figures of single packets in chapters 4 and 5: which segments and ACKs of a log they show, and when."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from crosswind.experiments.igarashi import drawing, e5_7, e5_10
from crosswind.experiments.igarashi.paths import MSS_BYTES
from crosswind.reproduce.claims import MissingDataError

BACK_NS = 50_000_000


def log(arrivals_ns: list[int], acknowledged: list[int]) -> pl.DataFrame:
    """Segments that arrive at these times; after each of the named ones an ACK comes to the sender `BACK_NS` later."""
    rows = [
        {"time_ns": t, "end": "receiver", "kind": "receive", "seq": 1 + i * MSS_BYTES, "len": MSS_BYTES}
        for i, t in enumerate(arrivals_ns)
    ]
    rows += [{"time_ns": t, "end": "receiver", "kind": "ack", "seq": 1, "len": 0} for t in arrivals_ns]
    rows += [
        {"time_ns": arrivals_ns[n - 1] + BACK_NS, "end": "sender", "kind": "ack", "seq": 1 + n * MSS_BYTES, "len": 0}
        for n in acknowledged
    ]
    return pl.DataFrame(rows).sort("time_ns", maintain_order=True)


def drawn(picture, label: str) -> tuple[np.ndarray, np.ndarray]:
    line = next(x for x in picture.figure.axes[0].lines if str(x.get_label()).startswith(label))
    return np.asarray(line.get_xdata()), np.asarray(line.get_ydata())


def test_an_ack_is_drawn_at_the_arrival_of_the_segment_that_it_answers():
    p = drawing.ack_trace("f", "Trace.", log([i * 100_000 for i in range(20)], list(range(2, 21, 2))), segments=4)
    data, acks = drawn(p, "data"), drawn(p, "ACKs")
    p.close()
    assert data[0] == pytest.approx([0.0, 0.1, 0.2, 0.3])
    assert list(data[1]) == [1, 2, 3, 4]
    assert acks[0] == pytest.approx([0.1, 0.3])
    assert list(acks[1]) == [2, 4]


def test_a_trace_shows_segments_that_follow_each_other_without_a_pause():
    times = list(np.concatenate([np.arange(12) * 10_000, 10_000_000 + np.arange(12) * 10_000]))
    p = drawing.ack_trace("f", "Trace.", log([int(t) for t in times], list(range(1, 25))), segments=8)
    x, _ = drawn(p, "data")
    p.close()
    assert x[-1] == pytest.approx(0.07)


def test_an_ack_of_nothing_new_stands_out_and_is_counted():
    p = drawing.ack_trace("f", "Trace.", log([i * 100_000 for i in range(16)], [2, 4, 6, 8, 10, 10, 12, 14, 16]), 8)
    x, y = drawn(p, "ACKs of nothing new")
    p.close()
    assert (list(x), list(y)) == (pytest.approx([0.1]), [2])
    assert "1 of nothing new" in p.alt


def test_a_trace_without_enough_acknowledged_segments_says_so():
    with pytest.raises(MissingDataError, match="4 acknowledged segments were kept"):
        drawing.ack_trace("f", "Trace.", log([i * 1000 for i in range(100)], [4]), segments=40)


def test_duplicate_acks_after_a_change_are_told_from_new_ones():
    events = log([i * 10_000_000 for i in range(30)], [1, 2, 3, 3, 3, 5, 8, 30])
    p = drawing.acknowledged("f", "ACKs.", events, at_s=0.06, until_s=0.2)
    new, again = drawn(p, "new data"), drawn(p, "the same again")
    p.close()
    assert len(new[0]) == 5  # the ACK of all 30 comes later than is shown
    assert (new[1][0], list(again[1])) == (0, [2, 2])


def test_what_is_kept_of_a_trace_is_longer_than_its_acks_take():
    for s in (e5_7.configurations()[e5_7.spacing(o)] for o in e5_7.RECEIVERS):
        (low, high), *_ = s.get("record.between")
        assert float(high.split()[0]) - float(low.split()[0]) > e5_7.paths.EMULATOR.rtt_ms / 2e3


@pytest.mark.parametrize("size", ["full", "quick"])
def test_events_around_a_change_of_the_path_begin_before_it_and_last_as_long_as_is_shown(size):
    s = e5_10.configurations(size)["FAST"]
    changes = [float(e["at"].split()[0]) for e in s.get("timeline")]
    for at, (low, high) in zip(changes, s.get("record.between"), strict=True):
        assert float(low.split()[0]) == pytest.approx(at - e5_10.SHOWN_S / 4)
        assert float(high.split()[0]) >= at + e5_10.SHOWN_S

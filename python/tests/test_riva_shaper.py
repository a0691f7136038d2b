"""The shaper of [Riva 2003] against its printed minima: how much it may send beyond its rate (decision 0023).

A transfer in a class of its own beside a stream in another cannot end before the shaper has let its frames pass. TCP
can only add to that, so the least of the printed runs bound the credit from below.
"""

from __future__ import annotations

import pytest

from crosswind.experiments.riva_2003 import published
from crosswind.experiments.riva_2003.testbed import ALONE_BYTES, BRIEF, LONG, MSS, Mix, RATE_Bps, UDP_PER_s

FRAME_BYTES, STREAM_BYTES = 1512, 144
BUCKET_BYTES = RATE_Bps / 100 + 1600
WITHOUT_DEBT = BUCKET_BYTES + FRAME_BYTES
WITH_DEBT = BUCKET_BYTES + 2 * FRAME_BYTES


def charged(payload_bytes: int) -> int:
    """A segment in cells of 8 bytes, as tc's table charges it: IP and TCP headers, timestamps, link-layer header."""
    return (payload_bytes + 52 + 14) // 8 * 8


def transfer_bytes() -> int:
    """SYN, ACK and all segments of the transfer."""
    full, rest = divmod(ALONE_BYTES, MSS)
    return charged(8) + charged(0) + full * charged(MSS) + charged(rest)


def earliest_s(mix: Mix, start_s: float, credit_bytes: float) -> float:
    """When the last segment can have left, if all that the stream has sent by then has left before it."""
    all_of_it = (transfer_bytes() + mix.udp_packets * STREAM_BYTES - credit_bytes) / RATE_Bps
    if all_of_it >= start_s + mix.udp_s:
        return all_of_it
    per_s = UDP_PER_s * STREAM_BYTES
    return (transfer_bytes() + STREAM_BYTES - start_s * per_s - credit_bytes) / (RATE_Bps - per_s)


def minima() -> list[tuple[Mix, float, float]]:
    """Test case, start of the stream and least elapsed time of 20 runs, two classes with drop-tail queues."""
    out = []
    for mix, table in ((LONG, "table_8-8.csv"), (BRIEF, "table_8-10.csv")):
        rows = [row for row in published.table(table) if row["htb_config"] == "Tail Drop+DS"]
        out += [(mix, float(row["udp_start_s"]), float(row["tcp_elapsed_min_s"])) for row in rows]
    return out


def test_a_full_segment_and_a_packet_of_the_stream_are_charged_as_frames_in_cells() -> None:
    assert charged(MSS) == FRAME_BYTES
    assert charged(104 + 28 - 52) == STREAM_BYTES


@pytest.mark.parametrize(("mix", "start_s", "least_s"), minima())
def test_printed_minima_are_those_of_a_shaper_in_debt_and_impossible_without(
    mix: Mix, start_s: float, least_s: float
) -> None:
    assert earliest_s(mix, start_s, WITH_DEBT) == pytest.approx(least_s, abs=0.05)
    assert earliest_s(mix, start_s, WITHOUT_DEBT) > least_s + 0.05


def test_a_larger_bucket_without_debt_meets_them_nearly_as_well() -> None:
    late = [earliest_s(mix, start, 3000 + FRAME_BYTES) - least for mix, start, least in minima()]
    assert 0 < max(late) < 0.08 and len(late) == len(LONG.starts_s) + len(BRIEF.starts_s)

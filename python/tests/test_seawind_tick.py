"""Seawind's transmission times in whole milliseconds against printed throughputs of [Järvinen 2006] (decision 0024).

What a run takes beyond the transmission of its packets is set-up and tear-down: two round trips of 600 ms at least, and
about 2.2 s for Baseline TCP where all packets are full segments, which take whole milliseconds anyway.
"""

from __future__ import annotations

SEGMENT_BYTES, STREAM_BYTES, STREAM_PACKETS = 576, 76, 1147


def beyond_transmission_s(segments: int, kbps: int, printed_Bps: float, tick_ms: int) -> float:
    """Elapsed time of a workload with a stream less the time on the line of all its packets."""

    def on_line_ms(size: int) -> float:
        bits_ms = size * 8 / kbps
        return bits_ms // tick_ms * tick_ms if tick_ms else bits_ms

    wire = segments * SEGMENT_BYTES + STREAM_PACKETS * STREAM_BYTES
    line_s = (segments * on_line_ms(SEGMENT_BYTES) + STREAM_PACKETS * on_line_ms(STREAM_BYTES)) / 1e3
    return wire / printed_Bps - line_s


def test_with_whole_milliseconds_the_fast_link_with_a_stream_takes_as_long_to_set_up_as_the_others() -> None:
    segments = 2 * 1_029_120 // 536
    exact, ticking = (beyond_transmission_s(segments, 384, 46_535, tick) for tick in (0, 1))
    assert abs(ticking - 2.2) < 0.05 < 0.6 < 2.2 - exact


def test_on_the_slow_link_they_explain_more_than_half_of_what_is_missing() -> None:
    segments = 2 * 343_040 // 536
    for printed_Bps, others_s in ((7903, 2.22), (7940, 1.60)):
        missing = [others_s - beyond_transmission_s(segments, 64, printed_Bps, tick) for tick in (0, 1)]
        assert missing[0] > 0.8 and 0.2 < missing[1] < 0.5 * missing[0]

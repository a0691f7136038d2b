"""Transports on fast long paths on paper [Igarashi 2007, chapter 2]: windows, loss rates, times of recovery.

Windows are in segments, times in seconds, rates in bits per second.

>>> round(needed_window(10e9, 0.1))
83333
>>> f"{standard_loss(needed_window(10e9, 0.1)):.3g}"
'2.07e-10'
>>> round(hstcp_increase(83_000)), round(hstcp_decrease(83_000), 3)
(71, 0.1)
>>> round(scalable_recovery_rtts(), 1), round(standard_recovery_s(500e6, 1e9, 0.2) / 60, 1)
(13.4, 27.8)
>>> round(atm_efficiency(1500), 3)
0.884
"""

from __future__ import annotations

import math

PACKET_BYTES = 1500
CELL_BYTES, CELL_PAYLOAD_BYTES = 53, 48
# LLC/SNAP header and AAL5 trailer.
ADAPTATION_BYTES = 16


def needed_window(rate_bps: float, rtt_s: float, packet_bytes: int = PACKET_BYTES) -> float:
    """Segments in flight that fill a path."""
    return rate_bps * rtt_s / 8 / packet_bytes


def standard_window(loss: float) -> float:
    """Average window of Standard TCP: 1.2 / sqrt(p)."""
    return 1.2 / math.sqrt(loss)


def standard_loss(window: float) -> float:
    """The loss rate at which Standard TCP has that average window."""
    return (1.2 / window) ** 2


def hstcp_window(loss: float) -> float:
    """Average window of HSTCP above 38 segments: 0.12 / p^0.835 (RFC 3649 section 5)."""
    return 0.12 / loss**0.835


def hstcp_decrease(window: float) -> float:
    """b(w): the share that a loss costs, 0.5 up to 38 segments, 0.1 at 83 000."""
    if window <= 38:
        return 0.5
    return (0.1 - 0.5) * (math.log(window) - math.log(38)) / (math.log(83_000) - math.log(38)) + 0.5


def hstcp_increase(window: float) -> float:
    """a(w): segments per round trip; 1 up to 38 segments."""
    if window <= 38:
        return 1.0
    b = hstcp_decrease(window)
    return window**2 * 0.078 / window**1.2 * 2 * b / (2 - b)


def scalable_recovery_rtts(per_ack: float = 0.01, decrease: float = 0.125) -> float:
    """Round trips until Scalable TCP has what a loss cost, whatever its window."""
    return math.log(1 / (1 - decrease)) / math.log(1 + per_ack)


def standard_recovery_s(low_bps: float, high_bps: float, rtt_s: float, packet_bytes: int = PACKET_BYTES) -> float:
    """Time in which Standard TCP grows from one rate to another."""
    return (needed_window(high_bps, rtt_s, packet_bytes) - needed_window(low_bps, rtt_s, packet_bytes)) * rtt_s


def fast_step(window: float, capacity: float, alpha: float, gamma: float = 0.5) -> float:
    """The next window of one FAST flow on a path that holds `capacity` segments without a queue."""
    base_over_rtt = min(1.0, capacity / window)
    return min(2 * window, (1 - gamma) * window + gamma * (base_over_rtt * window + alpha))


def cubic_k(w_max: float, c: float = 0.4, beta: float = 0.2) -> float:
    """Seconds after a loss at which CUBIC of 2005 is back at `w_max`; `beta` is the share that the loss cost."""
    return float((w_max * beta / c) ** (1 / 3))


def cubic_window(t_s: float, w_max: float, c: float = 0.4, beta: float = 0.2) -> float:
    """W(t) = C (t - K)^3 + w_max."""
    return c * (t_s - cubic_k(w_max, c, beta)) ** 3 + w_max


def htcp_increase(since_s: float, low_speed_s: float = 1.0) -> float:
    """alpha(D): segments per round trip, D seconds after the last loss."""
    high = max(0.0, since_s - low_speed_s)
    return 1 + 10 * high + (high / 2) ** 2


def growth_per_rtt(segments_per_ack: float) -> float:
    """What Standard TCP that counts ACKs gains in a round trip."""
    return 1 / segments_per_ack


def atm_efficiency(packet_bytes: int) -> float:
    """The share of an ATM line's cells that are bytes of IP packets of this length (AAL5 with LLC/SNAP)."""
    cells = math.ceil((packet_bytes + ADAPTATION_BYTES) / CELL_PAYLOAD_BYTES)
    return packet_bytes / (cells * CELL_BYTES)

"""Average windows of all window laws under random losses, as their sources compute them.

Each function takes the loss probability and the round-trip time in seconds and gives the average window in
segments. `SOURCES` says where each comes from. Laws whose window does not follow from the loss rate alone have
none: Westwood gives nothing up without a queue.

>>> round(reno(1.5e-4)), round(hstcp(1e-7)), round(cubic(1e-6, 0.1))
(100, 83981, 5926)
"""

from __future__ import annotations

import math
from collections.abc import Callable

from crosswind.theory import ltcp as layers

Response = Callable[[float, float], float]


def aimd(increase: float, decrease: float, loss: float) -> float:
    """AIMD with `increase` segments per round trip and `decrease` of the window per loss, losses at regular intervals.

    With randomly spaced losses the average is a little larger.
    """
    return math.sqrt(increase * (2 - decrease) / (2 * decrease * loss))


def reno(loss: float, _: float = 0.1) -> float:
    """sqrt(3/2) / sqrt(p)."""
    return aimd(1, 0.5, loss)


def hstcp(loss: float, _: float = 0.1) -> float:
    """0.12 / p^0.835 above 38 segments (RFC 3649 section 5)."""
    return max(0.12 / loss**0.835, min(38.0, reno(loss)))


def scalable(loss: float, _: float = 0.1) -> float:
    """a (1/b - 1/2) / p: the window doubles in a time that does not depend on it."""
    return max(0.01 * (1 / 0.125 - 0.5) / loss, min(16.0, reno(loss)))


def cubic(loss: float, rtt_s: float = 0.1) -> float:
    """(C (3 + beta) / (4 (1 - beta)))^(1/4) (rtt / p)^(3/4), or AIMD where that is larger (RFC 9438 section 5)."""
    window = (0.4 * 3.7 / (4 * 0.3)) ** 0.25 * (rtt_s / loss) ** 0.75
    return max(window, reno(loss))


def cubic_2005(loss: float, rtt_s: float = 0.1) -> float:
    """One cycle of CUBIC as published in 2005, which keeps 0.8 and gains 160 segments a second at most; or AIMD.

    From 0.8 of its maximum the window is on the curve or, where that is lower, on the line of the fastest growth.
    """
    c, kept, steepest, steps = 0.4, 0.8, 160.0, 2000

    def cycle(top: float) -> tuple[float, float]:
        """Segments sent until the window is at `top` again, and the time that takes."""
        k = (top * (1 - kept) / c) ** (1 / 3)
        span = max(k, (1 - kept) * top / steepest)
        at = [span * (i + 0.5) / steps for i in range(steps)]
        windows = [min(c * (t - k) ** 3 + top, kept * top + steepest * t) for t in at]
        return sum(windows) / steps * span / rtt_s, span

    low, high = 1.0, 1e9
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if cycle(middle)[0] * loss < 1 else (low, middle)
    sent, span = cycle(low)
    return max(sent * rtt_s / span, aimd(3 * (1 - kept) / (1 + kept), 1 - kept, loss))


def ltcp(loss: float, _: float = 0.1) -> float:
    """C / p^0.6 (equation 3.20 of the thesis), with K_R = 1."""
    return max(layers.average_window(loss), 1.0)


def ltcp_variable(loss: float, _: float = 0.1) -> float:
    """The same balance with beta = 1 / (K + 1): solved for the window, since beta depends on it."""
    low, high = 1.0, 1e9
    for _step in range(80):
        w = math.sqrt(low * high)
        k = (6 * w / layers.THRESHOLD) ** (1 / 3)
        beta = 1 / (k + 1)
        sent = beta * w * w / k * (1 - beta / 2)
        low, high = (w, high) if sent * loss < 1 else (low, w)
    k = (6 * low / layers.THRESHOLD) ** (1 / 3)
    return low * (1 - 0.5 / (k + 1))


def htcp(loss: float, rtt_s: float = 0.1) -> float:
    """One cycle of H-TCP at an empty queue, which keeps 0.8 of the window: integrated until one loss is due."""
    beta, scale = 0.8, min(max(rtt_s / 0.1, 0.1), 2.0)

    def cycle(start: float) -> tuple[float, float]:
        """Segments sent until the window is 1/beta of its start, and the time that takes."""
        w, t, sent = start, 0.0, 0.0
        while w < start / beta:
            high = max(t - 1, 0.0)
            alpha = 2 * (1 - beta) * max((1 + 10 * high + high * high / 4) * scale, 1.0)
            step = max(1.0, (start / beta - start) / alpha / 2000)
            w, t, sent = w + alpha * step, t + rtt_s * step, sent + w * step
        return sent, t

    low, high = 1.0, 1e8
    for _ in range(40):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if cycle(middle)[0] * loss < 1 else (low, middle)
    sent, t = cycle(low)
    return sent * rtt_s / t


def bic(loss: float, _: float = 0.1) -> float:
    """One cycle of BIC: from (1 - beta) of the maximum it approaches it, at most s_max segments per round trip.

    A cycle begins below the maximum, searches it with a quarter of the distance per round trip, and ends with a loss
    there; where that is not the whole cycle (small windows), it is AIMD from the low window down.
    """
    if reno(loss) < 14:
        return reno(loss)

    def cycle(top: float) -> tuple[float, float]:
        w, rounds, sent = 0.875 * top, 0.0, 0.0
        while w < top - 0.01:
            step = min(max((top - w) / 4, 0.01), 32.0)
            w, rounds, sent = w + step, rounds + 1, sent + w
        return sent, rounds

    low, high = 14.0, 1e9
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if cycle(middle)[0] * loss < 1 else (low, middle)
    sent, rounds = cycle(low)
    return sent / rounds


def fast(loss: float, _: float = 0.1) -> float:
    """With no queue FAST adds gamma alpha = 50 segments per round trip, and a loss halves: AIMD(50, 1/2)."""
    return aimd(50, 0.5, loss)


def vegas(loss: float, _: float = 0.1) -> float:
    """With no queue Vegas adds one segment per round trip, and a loss costs a quarter: AIMD(1, 1/4)."""
    return aimd(1, 0.25, loss)


RESPONSES: dict[str, Response] = {
    "reno": reno,
    "ltcp": ltcp,
    "ltcp-variable": ltcp_variable,
    "hstcp": hstcp,
    "scalable": scalable,
    "bic": bic,
    "htcp": htcp,
    "cubic": cubic,
    "cubic-2005": cubic_2005,
    "fast": fast,
    "vegas": vegas,
}

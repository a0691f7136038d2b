"""LTCP on paper [Bhandarkar 2006, chapter III]: layers, speed-ups, response function, buffers, unfairness.

Windows are in segments, times in round trips, buffers in parts of the product of capacity and round-trip time.
`W_T`, where the second layer begins, is 50 unless said otherwise; K_R is 1.

>>> [layer_start(k) for k in (1, 2, 3, 13)]
[0.0, 50.0, 200.0, 18200.0]
>>> layer_of(30_000)
15
>>> round(minimum_buffer(0.15), 3)
0.176
"""

from __future__ import annotations

import math

THRESHOLD = 50.0
BETA = 0.15


def layer_start(k: int, threshold: float = THRESHOLD) -> float:
    """W_K: the window at which layer K begins (equation 3.11)."""
    return k * (k + 1) * (k - 1) / 6 * threshold


def layer_length(k: int, threshold: float = THRESHOLD) -> float:
    """delta_K = W_(K+1) - W_K (equation 3.12)."""
    return k * (k + 1) / 2 * threshold


def layer_of(window: float, threshold: float = THRESHOLD) -> int:
    """The layer K in which a window lies: W_K <= window < W_(K+1)."""
    k = 1
    while layer_start(k + 1, threshold) <= window:
        k += 1
    return k


def beta_variable(k: int) -> float:
    """The share that a loss costs in layer K with the variable decrease (equation 3.41 with alpha = 1/3)."""
    return 1 / (k + 1)


def beta_bound(k: int) -> float:
    """A fixed share must lie below this in layer K, or a loss may cost more than one layer (equation 3.14)."""
    return 3 / (k + 1)


def claim_time(k: int, threshold: float = THRESHOLD) -> float:
    """Round trips from W_T to W_K with whole layers (equation 3.15)."""
    return (k - 2) * (k + 3) / 4 * threshold


def claim_time_continuous(k: int, threshold: float = THRESHOLD) -> float:
    """The same when growth is K plus the share of the layer: delta_K ln((K+1)/K) per layer."""
    return sum(layer_length(j, threshold) * math.log((j + 1) / j) for j in range(2, k))


def claim_speed_up(k: int) -> float:
    """How much sooner than TCP a flow reaches W_K from W_T."""
    if k == 2:
        return 1.0
    return (layer_start(k) - THRESHOLD) / claim_time(k)


def recovery_speed_up(k: int, beta: float = BETA) -> float:
    """How much sooner than TCP a flow in layer K regains what a loss cost, with a fixed share."""
    return 0.5 / beta * (k - 1)


def recovery_speed_up_variable(k: int) -> float:
    """The same with the variable share 1 / (K + 1)."""
    return (k + 1) * (k - 1) / 2


def response_constant(beta: float = BETA, threshold: float = THRESHOLD) -> float:
    """C of equation 3.20, with the factor (1 - beta/2) of equation 3.19 (the thesis prints 1 - beta there)."""
    mean = 1 - beta / 2
    return float((6 / threshold) ** 0.2 * mean / (beta * mean) ** 0.6)


def average_window(loss: float, beta: float = BETA, kr: float = 1.0, threshold: float = THRESHOLD) -> float:
    """Average window under losses with probability `loss` (equation 3.20 times the round trip)."""
    return float(response_constant(beta, threshold) * (kr / loss) ** 0.6)


def minimum_buffer(decrease: float) -> float:
    """Buffer with which one flow never lets the link run idle, when a loss costs the share `decrease`."""
    return decrease / (1 - decrease)


def largest_decrease(buffer: float) -> float:
    """The share that a loss may cost when the buffer is this large: the inverse of `minimum_buffer`."""
    return buffer / (1 + buffer)


def utilisation(decrease: float, buffer: float) -> float:
    """Utilisation of one flow whose window grows linearly in round trips: a saw-tooth up to capacity and buffer.

    >>> round(utilisation(0.5, 1.0), 3), round(utilisation(0.5, 0.1), 3)
    (1.0, 0.818)
    """
    top = 1 + buffer
    bottom = (1 - decrease) * top
    if bottom >= 1:
        return 1.0
    # Below capacity a round trip carries the window; above it, the round trip grows with the window.
    queued = (top**2 - 1) / 2
    return ((1 - bottom**2) / 2 + queued) / (1 - bottom + queued)


def tcp_loss_per_cycle(capacity: float, buffer: float) -> float:
    """Loss rate of one TCP flow that loses one segment per saw-tooth; both in segments."""
    return 8 / 3 / (capacity + buffer) ** 2


def kr(rtt_s: float, ref: float = 2.4, ref_rtt_s: float = 0.12, exponent: float = 1 / 3) -> float:
    """K_R for a least round-trip time (equation 3.28; the constant is inferred from the loss rates)."""
    return float(ref * (rtt_s / ref_rtt_s) ** exponent)


def unfairness_exponent(kr_exponent: float = 1 / 3) -> float:
    """Power of the ratio of round-trip times in the ratio of rates, under synchronised losses (equation 3.27)."""
    return 2.5 - 1.5 * kr_exponent


def mathis_rate(size_bytes: float, rtt_s: float, loss: float, constant: float = 1.22) -> float:
    """Rate of TCP in bit/s [Mathis et al. 1997]: constant * size / (rtt sqrt(p))."""
    return 8 * constant * size_bytes / (rtt_s * math.sqrt(loss))


def mathis_loss(size_bytes: float, rtt_s: float, rate_bps: float, constant: float = 1.22) -> float:
    """The loss rate at which TCP has a rate: the inverse of `mathis_rate`."""
    return (8 * constant * size_bytes / (rtt_s * rate_bps)) ** 2


def two_flows(windows: tuple[float, float], capacity: float, losses: int, beta: float = BETA) -> list[float]:
    """Jain's index after each of `losses` losses that two flows with one round-trip time always see together."""
    a, b = windows
    out = []
    for _ in range(losses):
        while a + b < capacity:
            a, b = (w + layer_of(w) + (w - layer_start(layer_of(w))) / layer_length(layer_of(w)) for w in (a, b))
        a, b = a * (1 - beta), b * (1 - beta)
        out.append((a + b) ** 2 / (2 * (a * a + b * b)))
    return out

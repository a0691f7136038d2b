"""What do a real-time stream and a download do to each other on a link with delay spikes, with lifetime discard?

One TFRC and one TCP flow over 30 kbit/s with spikes of 7 to 10 s every 30 s; lifetimes of 3, 5, 8 and 10 s for TFRC,
the timeout for TCP; queues of 5 to 80 packets (figures 5.11 and 5.12).

What the source printed: with discard TFRC gets more packets through in time and nearly none too late, the more so with
longer queues; TCP is done earlier, the more so with shorter lifetimes of TFRC; needless retransmissions stay few, where
with drop-tail they grow with the queue; the throughputs of both come closer.

What may differ here: the source gives no size of the download (300 kB here) and no queues; TFRC runs as long as the
download, and is ns-2's (RFC 3448's rule is a variant). Packets in time are counted as shares of those sent, as in
figure 5.9. A download without end within 3000 s counts as 3000 s.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from crosswind import figures
from crosswind.experiments.gurtov_2004 import f5_6, f5_7, overlay
from crosswind.reproduce import Picture, Quantity, Results, Scenario, seeds
from crosswind.reproduce.claims.quantities import least, mean, runs

LIFETIMES_S = (3, 5, 8, 10)
LIMITS = (5, 10, 20, 40, 80)
SIZE = "300 kB"
END_S = 3000.0
# G53 is about queues that hold the data of this lifetime.
LIFETIME_S, LINK_BPS = 5, 30e3


def label(kind: str, lifetime_s: int, limit: int) -> str:
    """Name of a configuration."""
    return f"{kind} {lifetime_s} s {limit}"


def configurations(discipline: str = "droptail", preset: str = "ns2-tfrc-2003", **reading: Any) -> dict[str, Scenario]:
    """Two routers, four lifetimes, five queues; `reading` are keys of TFRC."""
    out = {}
    for kind in ("DT", "LPD"):
        for life in LIFETIMES_S:
            for limit in LIMITS:
                queue = overlay.queue(kind, limit) if discipline == "droptail" else overlay.red(kind, limit, 1000)
                flows: dict[str, Any] = {"tfrc": f5_7.tfrc(kind, f"{life} s", preset, **reading)}
                flows["tcp"] = f5_6.download(kind, SIZE)
                hop = overlay.slow_hop(queue, overlay.SPIKES_RECURRING)
                one = overlay.world("f5-11", flows, f"{END_S:g} s", hop=hop)
                out[label(kind, life, limit)] = one.with_({"until": ["tcp"]})
    return out


CELLS = [(life, n) for life in LIFETIMES_S for n in LIMITS]


def _mean(some: Sequence[Quantity]) -> Quantity:
    return Quantity(lambda r: float(np.mean([q(r) for q in some])))


def valid(kind: str, life: int, limit: int) -> Quantity:
    """Share of TFRC's packets in time, in per cent."""
    return 100 * overlay.shares(label(kind, life, limit), "tfrc", "valid_packets").then(np.mean)


def valid_gap(life: int, limit: int) -> Quantity:
    """Share of TFRC's packets in time, discard less drop-tail."""
    return valid("LPD", life, limit) - valid("DT", life, limit)


def stale(kind: str) -> Quantity:
    """Late bytes of TFRC, of all that reached the mobile, over all lifetimes and queues, in per cent."""
    late, all_ = (_mean([mean(label(kind, *c), f"tfrc_{x}_bytes") for c in CELLS]) for x in ("stale", "received"))
    return 100 * late / all_


def seconds(kind: str, life: int, limit: int) -> Quantity:
    """Download times; the whole run where one is not done."""
    return runs(label(kind, life, limit), "tcp_elapsed_s").then(lambda t: np.nan_to_num(t, nan=END_S))


def saved(life: int) -> Quantity:
    """Download time saved by discard, mean over the queues, in per cent."""
    times = [seconds("LPD", life, n).then(np.mean) / seconds("DT", life, n).then(np.mean) for n in LIMITS]
    return 100 * (1 - _mean(times))


def needless(kind: str, limit: int) -> Quantity:
    """Retransmissions of what had arrived, mean over the lifetimes."""
    return _mean([_needless(kind, life, limit) for life in LIFETIMES_S])


def _needless(kind: str, life: int, limit: int) -> Quantity:
    return mean(label(kind, life, limit), "tcp_unnecessary_retransmissions_packets")


def _late_kilobytes(kind: str, life: int, limit: int) -> Quantity:
    return mean(label(kind, life, limit), "tfrc_stale_bytes") / 1e3


def apart(kind: str, limit: int) -> Quantity:
    """Difference of the two throughputs in kbit/s, one value per repetition."""
    name = label(kind, LIFETIME_S, limit)
    difference = runs(name, "tcp_received_bytes") - runs(name, "tfrc_received_bytes")
    return (difference * 8 / seconds(kind, LIFETIME_S, limit) / 1e3).then(np.abs)


def imbalance(kind: str, limits: Sequence[int] = LIMITS) -> Quantity:
    """Its mean over the repetitions and the queues."""
    return _mean([apart(kind, n).then(np.mean) for n in limits])


MORE = {kind: needless(kind, 80) - needless(kind, 5) for kind in ("DT", "LPD")}
CLAIMS = {
    "G50": {
        "gained, least of all lifetimes and queues": least(valid_gap(*c) for c in CELLS),
        **{f"gain with 80 packets less gain with 5, {a} s": valid_gap(a, 80) - valid_gap(a, 5) for a in LIFETIMES_S},
        "late bytes with discard, of those with drop-tail": 100 * stale("LPD") / stale("DT"),
        "late with discard, of what arrives": stale("LPD"),
        "late with drop-tail, of what arrives": stale("DT"),
    },
    "G51": {
        **{f"saved, {life} s": saved(life) for life in LIFETIMES_S},
        "saved with 3 s less with 10 s": saved(3) - saved(10),
    },
    "G52": {
        "discard, 80 packets less 5, of the same with drop-tail": 100 * MORE["LPD"] / MORE["DT"],
        "drop-tail, 80 packets less 5": MORE["DT"],
        **{f"{kind}, {n}": needless(kind, n) for kind in ("DT", "LPD") for n in LIMITS},
    },
    "G53": {
        "difference with discard over drop-tail, mean over the queues": imbalance("LPD") / imbalance("DT"),
        **{
            f"discard less drop-tail, {n} packets": seeds(apart("LPD", n) - apart("DT", n))
            for n in LIMITS
            if n * f5_7.PACKET_BYTES >= LIFETIME_S * LINK_BPS / 8
        },
        **{f"{kind}, {n}": imbalance(kind, [n]) for kind in ("DT", "LPD") for n in LIMITS},
    },
}


def pictures(r: Results) -> list[Picture]:
    """The four graphs of figure 5.11, over the queue: TFRC in time and late, TCP's time and needless copies."""
    out = []
    for name, word, of in (
        ("valid", "packets of TFRC in time (%)", valid),
        ("stale", "late bytes of TFRC (kB)", _late_kilobytes),
        ("time", "download time (s)", lambda *cell: seconds(*cell).then(np.mean)),
        ("needless", "needless retransmissions", _needless),
    ):
        lines = {
            f"{kind}, {life} s": (np.array(LIMITS), np.array([of(kind, life, n)(r) for n in LIMITS]))
            for kind in ("DT", "LPD")
            for life in (3, 10)
        }
        caption = f"{word[0].upper()}{word[1:]} by limit of the queue (figure 5.11)."
        out.append(figures.scatter(f"fig-5-11-{name}", caption, lines, "queue (packets)", word))
    return out


EXPERIMENT = overlay.experiment(
    __name__,
    "TFRC and TCP on a link with delay spikes, with and without lifetime discard",
    where="figures 5.11 and 5.12",
    reps=20,
)

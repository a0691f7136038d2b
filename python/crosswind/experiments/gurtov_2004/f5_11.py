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
from crosswind.experiments.gurtov_2004 import f5_6, f5_7, overlay, study
from crosswind.reproduce import Measure, Picture, Results, Scenario, measures

LIFETIMES_S = (3, 5, 8, 10)
LIMITS = (5, 10, 20, 40, 80)
SIZE = "300 kB"
END_S = 3000.0
# G53 is about queues that hold the data of this lifetime.
LIFETIME_S, LINK_BPS = 5, 30e3


def label(kind: str, lifetime_s: int, limit: int) -> str:
    """Name of a configuration."""
    return f"{kind} {lifetime_s} s {limit}"


def configurations(discipline: str = "droptail", preset: str = "ns2-tfrc-2003") -> dict[str, Scenario]:
    """Two routers, four lifetimes, five queues."""
    out = {}
    for kind in ("DT", "LPD"):
        for life in LIFETIMES_S:
            for limit in LIMITS:
                queue = overlay.queue(kind, limit) if discipline == "droptail" else overlay.red(kind, limit, 1000)
                flows: dict[str, Any] = {"tfrc": f5_7.tfrc(kind, f"{life} s", preset)}
                flows["tcp"] = f5_6.download(kind, SIZE)
                hop = overlay.slow_hop(queue, overlay.SPIKES_RECURRING)
                one = overlay.world("f5-11", flows, f"{END_S:g} s", hop=hop)
                out[label(kind, life, limit)] = one.with_({"until": ["tcp"]})
    return out


def _mean(r: Results, kind: str, life: int, limit: int, column: str) -> float:
    return float(np.mean(r.of(label(kind, life, limit), column)))


def valid(r: Results, kind: str, life: int, limit: int) -> float:
    """Share of TFRC's packets in time, in per cent."""
    return 100 * float(np.mean(overlay.shares(r, label(kind, life, limit), "tfrc", "valid_packets")))


def valid_gap(r: Results, life: int, limit: int) -> float:
    """Share of TFRC's packets in time, discard less drop-tail."""
    return valid(r, "LPD", life, limit) - valid(r, "DT", life, limit)


def stale(r: Results, kind: str) -> float:
    """Late bytes of TFRC, of all that reached the mobile, over all lifetimes and queues, in per cent."""
    cells = [(life, n) for life in LIFETIMES_S for n in LIMITS]
    late = sum(_mean(r, kind, *c, "tfrc_stale_bytes") for c in cells)
    return 100 * late / sum(_mean(r, kind, *c, "tfrc_received_bytes") for c in cells)


def seconds(r: Results, kind: str, life: int, limit: int) -> Any:
    """Download times; the whole run where one is not done."""
    return np.nan_to_num(r.of(label(kind, life, limit), "tcp_elapsed_s"), nan=END_S)


def saved(r: Results, life: int) -> float:
    """Download time saved by discard, mean over the queues, in per cent."""
    times = [float(np.mean(seconds(r, "LPD", life, n)) / np.mean(seconds(r, "DT", life, n))) for n in LIMITS]
    return 100 * (1 - float(np.mean(times)))


def needless(r: Results, kind: str, limit: int) -> float:
    """Retransmissions of what had arrived, mean over the lifetimes."""
    return float(np.mean([_mean(r, kind, life, limit, "tcp_unnecessary_resends_packets") for life in LIFETIMES_S]))


def apart(r: Results, kind: str, limit: int) -> Any:
    """Difference of the two throughputs in kbit/s, one value per repetition; a lifetime of 5 s."""
    name, span = label(kind, 5, limit), seconds(r, kind, 5, limit)
    both = (r.of(name, f"{f}_received_bytes") * 8 / span for f in ("tcp", "tfrc"))
    return np.abs(np.subtract(*both)) / 1e3


def _closer(limit: int) -> Measure:
    """By how much the throughputs are closer with discard, one value per repetition."""
    return measures.seeds(lambda r: apart(r, "LPD", limit) - apart(r, "DT", limit))


def imbalance(r: Results, kind: str, limits: Sequence[int] = LIMITS) -> float:
    """Its mean over the repetitions and the queues."""
    return float(np.mean([np.mean(apart(r, kind, n)) for n in limits]))


CLAIMS = {
    "G50": {
        "gained, least of all lifetimes and queues": lambda r: min(
            valid_gap(r, life, n) for life in LIFETIMES_S for n in LIMITS
        )
    }
    | {
        f"gain with 80 packets less gain with 5, {life} s": lambda r, a=life: valid_gap(r, a, 80) - valid_gap(r, a, 5)
        for life in LIFETIMES_S
    }
    | {
        "late bytes with discard, of those with drop-tail": lambda r: 100 * stale(r, "LPD") / stale(r, "DT"),
        "late with discard, of what arrives": lambda r: stale(r, "LPD"),
        "late with drop-tail, of what arrives": lambda r: stale(r, "DT"),
    },
    "G51": {f"saved, {life} s": lambda r, a=life: saved(r, a) for life in LIFETIMES_S}
    | {"saved with 3 s less with 10 s": lambda r: saved(r, 3) - saved(r, 10)},
    "G52": {
        "discard, 80 packets less 5, of the same with drop-tail": lambda r: (
            100 * (needless(r, "LPD", 80) - needless(r, "LPD", 5)) / (needless(r, "DT", 80) - needless(r, "DT", 5))
        ),
        "drop-tail, 80 packets less 5": lambda r: needless(r, "DT", 80) - needless(r, "DT", 5),
    }
    | {f"{kind}, {n}": lambda r, k=kind, n=n: needless(r, k, n) for kind in ("DT", "LPD") for n in LIMITS},
    "G53": {
        "difference with discard over drop-tail, mean over the queues": lambda r: (
            imbalance(r, "LPD") / imbalance(r, "DT")
        )
    }
    | {
        f"discard less drop-tail, {n} packets": _closer(n)
        for n in LIMITS
        if n * f5_7.PACKET_BYTES >= LIFETIME_S * LINK_BPS / 8
    }
    | {f"{kind}, {n}": lambda r, k=kind, n=n: imbalance(r, k, [n]) for kind in ("DT", "LPD") for n in LIMITS},
}


def _late_kilobytes(r: Results, kind: str, life: int, limit: int) -> float:
    return _mean(r, kind, life, limit, "tfrc_stale_bytes") / 1e3


def _needless(r: Results, kind: str, life: int, limit: int) -> float:
    return _mean(r, kind, life, limit, "tcp_unnecessary_resends_packets")


def pictures(r: Results) -> list[Picture]:
    """The four graphs of figure 5.11, over the queue: TFRC in time and late, TCP's time and needless copies."""
    out = []
    for name, word, of in (
        ("valid", "packets of TFRC in time (%)", valid),
        ("stale", "late bytes of TFRC (kB)", _late_kilobytes),
        ("time", "download time (s)", lambda *a: float(np.mean(seconds(*a)))),
        ("needless", "needless retransmissions", _needless),
    ):
        lines = {
            f"{kind}, {life} s": (np.array(LIMITS), np.array([of(r, kind, life, n) for n in LIMITS]))
            for kind in ("DT", "LPD")
            for life in (3, 10)
        }
        caption = f"{word[0].upper()}{word[1:]} by limit of the queue (figure 5.11)."
        out.append(figures.scatter(f"fig-5-11-{name}", caption, lines, "queue (packets)", word))
    return out


EXPERIMENT = study.experiment(
    __name__,
    "TFRC and TCP on a link with delay spikes, with and without lifetime discard",
    where="figures 5.11 and 5.12",
    tables=overlay.repetition,
    reps=20,
)

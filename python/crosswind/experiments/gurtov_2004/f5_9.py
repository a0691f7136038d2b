"""How much of a real-time stream arrives in time over a link with delay spikes, and how much arrives for nothing?

A stream of 25 kbit/s over 30 kbit/s and 300 ms, with spikes of 7 to 10 s every 30 s; lifetimes of 3, 5, 8 and 10 s,
queues of 5 to 200 packets, drop-tail and lifetime packet discard (figure 5.9).

What the source printed: with discard about 85 % of the packets arrive in time whatever lifetime and queue, none is
stale; with drop-tail valid packets become fewer with shorter lifetimes and longer queues, in the end nearly all that is
delivered is stale.

What may differ here: the source gives neither the link's rate nor the range of queues. With these, and without the 8
bytes of the option (the stream counts them in its rate), at most 30 (30 - 8.5) / 30 / 25 = 86 % can arrive in time.
While the link is blocked everything waits in the queue, where the router throws away what expires, by a deadline that
the sender set (decision 0027).
"""

from collections.abc import Callable

import numpy as np

from crosswind import figures
from crosswind.experiments.gurtov_2004 import overlay, study
from crosswind.reproduce import Picture, Quantity, Results, Scenario, measured, measures
from crosswind.reproduce.claims.quantities import largest, least

LIFETIMES_S = (3, 5, 8, 10)
LIMITS = (5, 10, 20, 40, 80, 200)
PACKET_BYTES = 500


def label(kind: str, lifetime_s: int, limit: int) -> str:
    """Name of a configuration."""
    return f"{kind} {lifetime_s} s {limit}"


def configurations(discipline: str = "droptail", holds: str = "queue") -> dict[str, Scenario]:
    """Two routers, four lifetimes, six queues."""
    out = {}
    spikes = overlay.SPIKES_RECURRING | {"holds": holds}
    for kind in ("DT", "LPD"):
        for life in LIFETIMES_S:
            for limit in LIMITS:
                red = overlay.red(kind, limit, PACKET_BYTES)
                queue = overlay.queue(kind, limit) if discipline == "droptail" else red
                work = {"type": "cbr", "payload": f"{PACKET_BYTES - 36} B", "interval": "160 ms"}
                stream = {"workload": work, "lifetime": overlay.lifetime(f"{life} s", holds)}
                hop = overlay.slow_hop(queue, spikes)
                out[label(kind, life, limit)] = overlay.world("f5-9", {"stream": stream}, "1000 s", hop=hop)
    return out


def share(kind: str, life: int, limit: int, what: str) -> Quantity:
    """Share of the packets sent, mean over the repetitions."""
    return overlay.shares(label(kind, life, limit), "stream", what).then(np.mean)


def _holds_lifetime(life: int, limit: int) -> bool:
    """The queue has room for a lifetime's worth of data of the stream."""
    return limit >= life / 0.16


CELLS = [(life, limit) for life in LIFETIMES_S for limit in LIMITS]
ENOUGH = [cell for cell in CELLS if _holds_lifetime(*cell)]
ALL_VALID = [share("LPD", life, limit, "valid_packets") for life, limit in ENOUGH if life >= 5]


def _delivered_stale(r: Results) -> float:
    name = label("DT", 3, 200)
    stale, valid = r.of(name, "stream_stale_packets"), r.of(name, "stream_valid_packets")
    return 100 * float(np.mean(stale / (stale + valid)))


@measured
def _falls(r: Results, where: Callable[[int, int], bool] = lambda life, limit: True) -> bool:
    """Valid shares of drop-tail fall with the queue and rise with the lifetime (but for noise of 2 points)."""
    found = [share("DT", *cell, "valid_packets")(r) if where(*cell) else np.nan for cell in CELLS]
    grid = np.reshape(found, (len(LIFETIMES_S), len(LIMITS)))
    rises, falls = np.diff(grid, axis=1), np.diff(grid, axis=0)
    return not (np.any(rises > 0.02) or np.any(falls < -0.02))


CLAIMS = {
    "G40": {
        **{
            f"{life} s, {limit} packets": measures.mean(
                overlay.shares(label("LPD", life, limit), "stream", "valid_packets")
            )
            for life, limit in ENOUGH
        },
        "spread over lifetimes from 5 s on": 100 * (largest(ALL_VALID) - least(ALL_VALID)),
    },
    "G41": {"largest share over lifetimes and queues": 100 * largest(share("LPD", *c, "stale_packets") for c in CELLS)},
    "G42": {
        "valid share falls with the queue and rises with the lifetime": _falls(),
        "the same where the queue holds the data of the lifetime": _falls(_holds_lifetime),
        "stale share of what is delivered, 3 s and 200 packets": _delivered_stale,
        "valid share, 10 s and 5 packets": 100 * share("DT", 10, 5, "valid_packets"),
    },
}


def printed(life: int) -> dict[str, float]:
    """The published shares of a lifetime, by limit of the queue."""
    found = study.BOOK.numbers("G40", [f"{a} s, {n} packets" for a, n in ENOUGH if a == life])
    return {label.split()[2]: v for label, v in found.items()}


def pictures(r: Results) -> list[Picture]:
    """Valid and stale shares over the queue (figure 5.9)."""
    out = []
    for what, word in (("valid_packets", "in time"), ("stale_packets", "too late")):
        series = {
            f"{kind}, {life} s": {str(n): share(kind, life, n, what)(r) for n in LIMITS}
            for kind in ("DT", "LPD")
            for life in (3, 10)
        }
        name = f"fig-5-9-{what.split('_')[0]}"
        caption = f"Share of packets that arrive {word}, by limit of the queue (figure 5.9)."
        known = {f"LPD, {life} s": printed(life) for life in (3, 10)} if what == "valid_packets" else {}
        out.append(figures.bars(name, caption, series, "share", known))
    return out


EXPERIMENT = overlay.experiment(
    __name__, "A real-time stream over a link with delay spikes: lifetimes and queues", where="figure 5.9", reps=5
)

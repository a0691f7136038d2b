"""What does a receiver of real-time objects see after a delay spike of 10 s, with and without lifetime packet discard?

An object every 5 s with a lifetime of 5 s, 58 % of a link of 30 kbit/s, and a spike from 10 s to 20 s (figure 5.5).

What the source printed: with drop-tail nothing arrives from 10 to 20 s, then only stale packets for 7 s; with discard
fresh packets arrive at once after the spike and no stale one is sent.

What may differ here: the source gives neither rate nor load; 7 s of stale packets after a spike of 10 s mean that 7/12
of the link is used. Nor does it say for how long the source is on: for half of the time here, at twice the mean rate
(variants: an object at once, and evenly over the five seconds), nor the phase of the objects against the spike: ten are
drawn. Each packet has a lifetime of its own.
"""

from collections.abc import Callable

import polars as pl

from crosswind import figures
from crosswind.experiments.gurtov_2004 import overlay, study
from crosswind.reproduce import Measure, Picture, Results, Scenario, Variant

LIFETIME_S = 5.0
PACKET_BYTES = 500
# 7/12 of 30 kbit/s is 17.5 kbit/s: 21.9 packets in 5 s.
PACKETS = 22


PHASES = 10


def configurations(on_s: float = 2.5, holds: str = "queue", phase_s: float = LIFETIME_S) -> dict[str, Scenario]:
    """Drop-tail and discard; the packets of an object leave evenly over `on_s`."""
    work = {
        "type": "on-off",
        "payload": f"{PACKET_BYTES - 36} B",
        "interval": f"{on_s / PACKETS * 1000:.3f} ms",
        "on": f"{on_s:g} s",
        "off": f"{LIFETIME_S - on_s:g} s",
        "rounding": "nearest",
    }
    stream = {
        "start": {"uniform": ["0 s", f"{phase_s:g} s"]} if phase_s else "0 s",
        "workload": work,
        "lifetime": overlay.lifetime(f"{LIFETIME_S:g} s", holds),
    }
    return {
        kind: overlay.world(
            "f5-5",
            {"objects": stream},
            "55 s",
            hop=overlay.slow_hop(overlay.queue(kind, 200), overlay.SPIKE_ONCE | {"holds": holds}),
            record={"events": "all"},
        )
        for kind in ("DT", "LPD")
    }


def _arrivals(r: Results, kind: str, rep: int = 0) -> pl.DataFrame:
    return overlay.delays(r, kind, "objects", rep).with_columns((LIFETIME_S - pl.col("delay")).alias("left"))


def _stale(kind: str) -> Callable[[Results, int], float]:
    """How many packets arrive stale."""
    return lambda r, rep: _arrivals(r, kind, rep).filter(pl.col("left") < 0).height


def _in_spike(r: Results, rep: int) -> float:
    t = _arrivals(r, "DT", rep)["t"]
    return float(((t >= 10.5) & (t < 20.0)).sum())


def _stale_for(r: Results, kind: str, rep: int = 0) -> float:
    """For how long after the spike only stale packets arrive."""
    after = _arrivals(r, kind, rep).filter(pl.col("t") > 20.0)
    fresh = after.filter(pl.col("left") >= 0.0)
    return float(fresh["t"].min()) - 20.0  # type: ignore[arg-type]


def _most(of: Callable[[Results, int], float]) -> Measure:
    return lambda r: max(overlay.of_starts(r, of))


def _least(of: Callable[[Results, int], float]) -> Measure:
    return lambda r: min(overlay.of_starts(r, of))


CLAIMS = {
    "G43": {
        "drop-tail: packets between 10.5 and 20 s": _most(_in_spike),
        "drop-tail: only stale packets for": overlay.over_starts(lambda r, rep: _stale_for(r, "DT", rep)),
        "discard: first fresh packet after the spike": _most(lambda r, rep: _stale_for(r, "LPD", rep)),
        "discard: stale packets": _most(_stale("LPD")),
        "drop-tail: stale packets": _least(_stale("DT")),
    }
}


def pictures(r: Results) -> list[Picture]:
    """The remaining lifetime of the packets as they arrive (figure 5.5)."""
    lines = {}
    for kind, name in (("DT", "drop-tail"), ("LPD", "lifetime discard")):
        a = _arrivals(r, kind)
        lines[name] = (a["t"].to_numpy(), a["left"].to_numpy())
    caption = "Remaining lifetime of packets at the receiver; a spike from 10 to 20 s (figure 5.5)."
    fresh = 20.0 + study.BOOK.number("G43", "drop-tail: only stale packets for")
    known = {"first fresh packet, drop-tail": fresh}
    return [figures.over_time("fig-5-5", caption, lines, "remaining lifetime (s)", "lines", known)]


EXPERIMENT = study.experiment(
    __name__,
    "Objects with a deadline and a delay spike, with and without lifetime discard",
    where="figure 5.5",
    tables=overlay.repetition,
    reps=PHASES,
    variants={
        "former": Variant(f"{overlay.HELD}; one phase", {"holds": "line", "phase_s": 0.0}),
        "held": Variant(overlay.HELD, {"holds": "line"}),
        "at-once": Variant("an object leaves within 10 ms", {"on_s": 0.01}),
        "evenly": Variant("the packets of an object leave evenly until the next one", {"on_s": 4.999}),
    },
)

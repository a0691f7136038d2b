"""What does a receiver of real-time objects see after a delay spike of 10 s, with and without lifetime packet discard?

An object every 5 s with a lifetime of 5 s, 58 % of a link of 30 kbit/s, and a spike from 10 s to 20 s (figure 5.5).

What the source printed: with drop-tail nothing arrives from 10 to 20 s, then only stale packets for 7 s; with discard
fresh packets arrive at once after the spike and no stale one is sent.

What may differ here: the source gives neither rate nor load; 7 s of stale packets after a spike of 10 s mean that 7/12
of the link is used. Nor does it say for how long the source is on: for half of the time here, at twice the mean rate
(variants: an object at once, and evenly over the five seconds), nor the phase of the objects against the spike: ten are
drawn. Each packet has a lifetime of its own.
"""

import numpy as np
import polars as pl

from crosswind import figures
from crosswind.experiments.gurtov_2004 import overlay, study
from crosswind.experiments.gurtov_2004.overlay import by_start
from crosswind.reproduce import Picture, Results, Scenario, seeds

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


@by_start
def _stale(r: Results, rep: int, kind: str) -> float:
    """How many packets arrive stale."""
    return _arrivals(r, kind, rep).filter(pl.col("left") < 0).height


@by_start
def _in_spike(r: Results, rep: int) -> float:
    t = _arrivals(r, "DT", rep)["t"]
    return float(((t >= 10.5) & (t < 20.0)).sum())


@by_start
def _stale_for(r: Results, rep: int, kind: str) -> float:
    """For how long after the spike only stale packets arrive."""
    after = _arrivals(r, kind, rep).filter(pl.col("t") > 20.0)
    fresh = after.filter(pl.col("left") >= 0.0)
    return float(fresh["t"].min()) - 20.0  # type: ignore[arg-type]


CLAIMS = {
    "G43": {
        "drop-tail: packets between 10.5 and 20 s": _in_spike().then(np.max),
        "drop-tail: only stale packets for": seeds(_stale_for("DT")),
        "discard: first fresh packet after the spike": _stale_for("LPD").then(np.max),
        "discard: stale packets": _stale("LPD").then(np.max),
        "drop-tail: stale packets": _stale("DT").then(np.min),
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


EXPERIMENT = overlay.experiment(
    __name__,
    "Objects with a deadline and a delay spike, with and without lifetime discard",
    where="figure 5.5",
    reps=PHASES,
)

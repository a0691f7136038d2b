"""How does TCP take a handover between GPRS and UMTS, and does a queue as large as the largest path help?

One TCP download; at 30 s the last hop becomes another system at one moment: rate, delay and queue of table 2.1 (7
packets for GPRS, 20 for UMTS). Then the same with 20 packets everywhere, "overbuffering" (figures 6.4 and 6.8).

What the source printed: GPRS to UMTS takes about 10 s until UMTS is used in full (4 s of underutilisation in another
place); UMTS to GPRS overflows the queue, loses many segments, and waits several seconds for a timeout. With 20 packets
everywhere the first has no visible underutilisation and the second neither losses nor a timeout.

What may differ here: segments of 1500 bytes on the wire (the script's 1460 bytes of packet is a variant). "In full" is
the first time after which 95 % of what a second can carry is delivered in each of three seconds running.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from crosswind import figures
from crosswind.claims import Claim, MissingDataError, above, at_least, at_most, between
from crosswind.experiments.base import Results, Variant
from crosswind.experiments.gurtov_2004 import overlay, study
from crosswind.figures import Picture
from crosswind.scenario import Scenario

HANDOVER_S = 30.0
END_S = 90.0
SYSTEMS = {
    "GPRS": {"rate": "30 kbit/s", "delay": "300 ms", "limit": 7, "bps": 30e3},
    "UMTS": {"rate": "384 kbit/s", "delay": "150 ms", "limit": 20, "bps": 384e3},
}
UP = ("GPRS", "UMTS")
DOWN = ("UMTS", "GPRS")


def label(pair: tuple[str, str], over: str = "") -> str:
    """Name of a configuration."""
    return f"{pair[0]}-{pair[1]}" + (f" {over}" if over else "")


def system(name: str, limit: int | None) -> dict[str, Any]:
    """Keys of the link; the way back has the same delay and is never the bottleneck."""
    s = SYSTEMS[name]
    packets = int(s["limit"]) if limit is None else limit  # type: ignore[call-overload]
    return {"rate": s["rate"], "delay": s["delay"], "queue": overlay.queue("DT", packets)}


def handover(pair: tuple[str, str], flows: dict[str, Any], limit: int | None = None, **more: Any) -> Scenario:
    """From one system to the other at 30 s."""
    first, then = system(pair[0], limit), system(pair[1], limit)
    change = dict(then)
    change["queue"] = {"limit": then["queue"]["limit"]}
    timeline = [{"at": f"{HANDOVER_S:g} s", "link": overlay.HOP, "set": change}]
    record = {"events": "all", "sample": "100 ms"}
    return overlay.world("f6-4", flows, f"{END_S:g} s", hop=first, timeline=timeline, record=record, **more)


def tcp(packet_bytes: int = 1500) -> dict[str, Any]:
    """Reno-SACK as the source's chapter 6 has it, always with data to send."""
    settings = {
        "preset": "rfc",
        "mss": f"{packet_bytes - 52} B",
        "timestamps": "on",
        "window_limit_segments": 50,
        "rto_min": "1 s",
    }
    return {"workload": {"type": "bulk"}, "tcp": settings}


def configurations(packet_bytes: int = 1500) -> dict[str, Scenario]:
    """Both ways, with the queues of each system and with 20 packets everywhere."""
    flows = {"tcp": tcp(packet_bytes)}
    return {label(p, w): handover(p, flows, n) for p in (UP, DOWN) for w, n in (("", None), ("overbuffered", 20))}


def rates(r: Results, configuration: str, flow: str, step: float = 1.0) -> tuple[Any, Any]:
    """Payload and headers that reach the receiver, in bits per second, per step."""
    e = overlay.events(r, configuration, flow, "receive", "receiver").filter(pl.col("len") > 0)
    edges = np.arange(0.0, END_S + step / 2, step)
    sizes, _ = np.histogram(e["t"].to_numpy(), bins=edges, weights=e["len"].to_numpy() + 52.0)
    return edges[:-1], sizes * 8 / step


def adaptation(r: Results, configuration: str, flow: str, bps: float, share: float = 0.95) -> float:
    """Seconds from the handover until each of three seconds running carries `share` of the new link."""
    t, rate = rates(r, configuration, flow)
    full = (rate >= share * bps) & (t >= HANDOVER_S)
    for i in range(len(t) - 2):
        if full[i : i + 3].all():
            return float(t[i] - HANDOVER_S)
    raise MissingDataError("the new link is never used in full")


def _window(r: Results, configuration: str, kind: str, length: float = 30.0) -> int:
    e = overlay.events(r, configuration, "tcp", kind, "sender")
    return e.filter((pl.col("t") >= HANDOVER_S) & (pl.col("t") < HANDOVER_S + length)).height


def _idle(r: Results, configuration: str) -> float:
    """Longest time without sending in the 20 s after the handover."""
    e = r.runs.events(flow="tcp").filter(
        (pl.col("configuration") == configuration)
        & (pl.col("end") == "sender")
        & pl.col("kind").is_in(["send", "resend"])
    )
    t = np.sort(e["time_ns"].to_numpy() / 1e9)
    near = t[(t >= HANDOVER_S - 2) & (t <= HANDOVER_S + 20)]
    return float(np.max(np.diff(near)))


def _adapts(configuration: str) -> Any:
    return lambda r: adaptation(r, configuration, "tcp", 384e3)


OVER_UP, OVER_DOWN = label(UP, "overbuffered"), label(DOWN, "overbuffered")
CLAIMS = (
    Claim(
        "G60",
        "TCP from GPRS to UMTS uses the new link in full after 4 to 10 s",
        "4-10 s",
        [overlay.count("time to full use", _adapts(label(UP)), between(2, 15), "s", "4-10 s", 1)],
    ),
    Claim(
        "G61",
        "From UMTS to GPRS with a queue of 7 packets: several losses, a timeout, and idle for a second or more",
        "overflow, timeout, idle for several seconds",
        [
            overlay.count("drops after the handover", lambda r: _window(r, label(DOWN), "drop"), above(1), "segments"),
            overlay.count("timeouts", lambda r: _window(r, label(DOWN), "timeout"), at_least(1)),
            overlay.count(
                "longest pause of the sender", lambda r: _idle(r, label(DOWN)), at_least(1), "s", "several", 1
            ),
        ],
    ),
    Claim(
        "G62",
        "With 20 packets everywhere: down without loss and timeout; up at least 30 % faster in full use",
        "0; 0; no visible underutilisation",
        [
            overlay.count("down: drops", lambda r: _window(r, OVER_DOWN, "drop"), at_most(0), "segments", "0"),
            overlay.count("down: timeouts", lambda r: _window(r, OVER_DOWN, "timeout"), at_most(0), "", "0"),
            overlay.count(
                "up: time to full use, relative to 7 packets",
                lambda r: adaptation(r, OVER_UP, "tcp", 384e3) / adaptation(r, label(UP), "tcp", 384e3),
                at_most(0.7),
                "",
                "",
                2,
            ),
            overlay.count("up: time to full use", _adapts(OVER_UP), between(0, 60), "s", "", 1),
        ],
    ),
)


def pictures(r: Results) -> list[Picture]:
    """Time-sequence graphs around the handover (figures 6.4 and 6.8)."""
    out = []
    for name, configuration in (("6-4a", label(UP)), ("6-4b", label(DOWN)), ("6-8a", OVER_UP), ("6-8b", OVER_DOWN)):
        e = (
            r.runs.only(configuration, [0])
            .events(flow="tcp")
            .filter((pl.col("time_ns") > 20e9) & (pl.col("time_ns") < 60e9))
        )
        out.append(figures.time_sequence(f"fig-{name}", f"TCP and a handover at 30 s, {configuration}.", e))
    return out


EXPERIMENT = study.experiment(
    "f6-4",
    "TCP and ideal handovers between GPRS and UMTS, with and without overbuffering",
    __doc__,
    configurations,
    CLAIMS,
    where="figures 6.4 and 6.8",
    figures=pictures,
    tables=overlay.repetition,
    variants={"script-packet": Variant("packets of 1460 bytes, as in the author's script", {"packet_bytes": 1460})},
)

"""What the experiments on TFRC and handovers share: links, flows, and measures over time."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.gurtov_2004 import overlay
from crosswind.reproduce import Results, Scenario

HANDOVER_S = 30.0
END_S = 60.0
# Segments of chapters 4 and 5, and ns-2's default for TCP and TFRC (decision 0028); the testbed had Ethernet's packets.
SEGMENT_BYTES = 1000
TESTBED_BYTES = 1500
# Single traces depend on the moment of the handover within a round trip: every repetition draws when its flows start.
STARTS = {"uniform": ["0.1 s", "3.1 s"]}
REPS = 10
# Rate, buffer and base round-trip time; the rest, and the uplink, is in the profile of the same name.
SYSTEMS: dict[str, dict[str, Any]] = {
    "GPRS": {"limit": 7, "bps": 30e3, "rtt_s": 0.7},
    "UMTS": {"limit": 20, "bps": 384e3, "rtt_s": 0.4},
    "WLAN": {"limit": 7, "bps": 11e6, "rtt_s": 0.11},
}
ACKS = {"queue": {"type": "droptail", "limit": "1000 packets"}}
# Table 6.1: seconds, share lost downwards and upwards (none where not measurable). Chapter 3: the card and its queue.
MEASURED = {("GPRS", "WLAN"): (1.0, 0.95, 0.0), ("WLAN", "GPRS"): (4.0, 0.0, 1.0)}
CARD = {"rate": "36 kbit/s", "delay": "300 ms", "reverse": {"rate": "12 kbit/s"}}
IN_GPRS = 50_000 // TESTBED_BYTES
UP = ("GPRS", "UMTS")
DOWN = ("UMTS", "GPRS")


def label(pair: tuple[str, str], what: str = "") -> str:
    """Name of a configuration."""
    return f"{pair[0]}-{pair[1]}" + (f" {what}" if what else "")


def handover(
    name: str, pair: tuple[str, str], flows: dict[str, Any], limit: int | None = None, end_s: float = END_S
) -> Scenario:
    """One system becomes the other at 30 s, at one moment; the way back has the uplink's rate and loses nothing."""
    first, then = (overlay.queue("DT", limit or int(SYSTEMS[s]["limit"])) for s in pair)
    hop = {"profile": pair[0].lower(), "queue": first, "reverse": ACKS}
    change = {"profile": pair[1].lower(), "queue": {"limit": then["limit"]}, "reverse": _limit(ACKS["queue"])}
    flows = {name: f | {"start": STARTS} for name, f in flows.items()}
    return _over(name, flows, end_s, hop, change)


def testbed(name: str, pair: tuple[str, str], flows: dict[str, Any], end_s: float = END_S) -> Scenario:
    """A handover of the source's testbed: at 30 s nothing passes for the time, and with the losses, of table 6.1.

    GPRS is the card of chapter 3 with the queue that was measured, 50 kB; the wireless LAN has a queue of 7 packets.
    """
    length, down, up = MEASURED[pair]
    outage = {"at": [f"{HANDOVER_S:g} s"], "length": f"{length:g} s", "loss": down, "discard": round(down * IN_GPRS)}
    back = {"spikes": outage | {"loss": up, "discard": 0}}
    ends: list[dict[str, Any]] = [CARD if s == "GPRS" else {"profile": s.lower()} for s in pair]
    first, then = ends
    queue = {s: {"limit": "50 kB" if s == "GPRS" else "7 packets"} for s in pair}
    hop = first | {"queue": queue[pair[0]], "spikes": outage, "reverse": first.get("reverse", {}) | ACKS | back}
    change = then | {"queue": queue[pair[1]], "reverse": then.get("reverse", {}) | _limit(ACKS["queue"])}
    return _over(name, flows, end_s, hop, change)


def _limit(queue: Mapping[str, Any]) -> dict[str, Any]:
    return {"queue": {"limit": queue["limit"]}}


def _over(
    name: str, flows: dict[str, Any], end_s: float, hop: Mapping[str, Any], change: Mapping[str, Any]
) -> Scenario:
    timeline = [{"at": f"{HANDOVER_S:g} s", "link": overlay.HOP, "set": change}]
    record = {"events": "all", "sample": "100 ms"}
    return overlay.world(name, flows, f"{end_s:g} s", hop=hop, timeline=timeline, record=record)


def tfrc(preset: str = "ns2-tfrc-2003", packet_bytes: int = SEGMENT_BYTES, **keys: Any) -> dict[str, Any]:
    """TFRC that always has data, history discounting on, one report per round-trip time."""
    settings = {"preset": preset, "packet_size": f"{packet_bytes} B", **keys}
    return {"workload": {"type": "bulk"}, "start": "0.1 s", "tfrc": settings}


def tcp(segment_bytes: int = SEGMENT_BYTES) -> dict[str, Any]:
    """The SACK TCP of the source's chapter 6."""
    return {"workload": {"type": "bulk"}, "start": "0.8 s", "tcp": overlay.sender(segment_bytes)}


def linux_tcp() -> dict[str, Any]:
    """The testbed's TCP: FACK with Linux's minimum of the timer."""
    return {**tcp(), "tcp": overlay.sender(TESTBED_BYTES - 52, preset="gurtov-fack", rto_min="200 ms")}


def notice(system: str, reset: str = "on") -> list[dict[str, Any]]:
    """The receiver learns of the new link at the handover."""
    s = SYSTEMS[system]
    told = {"at": f"{HANDOVER_S:g} s", "rate": f"{s['bps']:g} bit/s", "rtt": f"{s['rtt_s'] * 1000:g} ms", "for_rtts": 3}
    return [told | {"reset": reset}]


def arrivals(r: Results, configuration: str, flow: str, rep: int = 0) -> pl.DataFrame:
    """Packets with data that reach the receiver: `t`, `bytes` with about the headers that they have."""
    e = r.events(configuration, flow, "receive", end="receiver", rep=rep).filter(pl.col("len") > 0)
    return e.select("t", (pl.col("len") + 48).alias("bytes"))


def carried_bps(r: Results, configuration: str, flow: str, start: float, end: float, rep: int = 0) -> float:
    """Mean rate at the receiver in [start, end)."""
    e = arrivals(r, configuration, flow, rep).filter((pl.col("t") >= start) & (pl.col("t") < end))
    return float(e["bytes"].sum()) * 8 / (end - start)


def allowed_at(r: Results, configuration: str, flow: str, t: float, rep: int = 0) -> float:
    """The rate that the sender allows itself at a time."""
    times, values = r.series(configuration, "allowed_rate_bps", flow, rep)
    return float(values[np.searchsorted(times, t, side="right") - 1])


def drops_after(
    r: Results, configuration: str, flow: str, start: float = HANDOVER_S, end: float = END_S, rep: int = 0
) -> int:
    """Packets of the flow that the queue drops in [start, end)."""
    t = r.log(configuration, rep).filter((pl.col("name") == flow) & (pl.col("kind") == "drop"))["time_ns"] / 1e9
    return int(((t >= start) & (t < end)).sum())


def first_drop(r: Results, configuration: str, rep: int) -> float:
    """When the bottleneck drops its first packet before the handover; the handover, if it drops none."""
    t = r.log(configuration, rep).filter(pl.col("kind") == "drop")["time_ns"].to_numpy() / 1e9
    return float(min(t[t < HANDOVER_S], default=HANDOVER_S))


def time_to_use(
    r: Results, configuration: str, flow: str, bps: float, share: float = 0.9, span: float = 0.5, rep: int = 0
) -> float:
    """Seconds from the handover until `share` of the link is carried for `span` seconds; to the end, if it never is."""
    e = arrivals(r, configuration, flow, rep).filter(pl.col("t") >= HANDOVER_S)
    t, size = e["t"].to_numpy(), e["bytes"].to_numpy().astype(float)
    total = np.concatenate(([0.0], np.cumsum(size)))
    for start in np.arange(HANDOVER_S, END_S - span, 0.05):
        a, b = np.searchsorted(t, [start, start + span])
        if (total[b] - total[a]) * 8 / span >= share * bps:
            return float(start + span - HANDOVER_S)
    return END_S - HANDOVER_S

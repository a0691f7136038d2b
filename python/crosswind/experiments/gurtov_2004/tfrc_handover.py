"""What the experiments on TFRC and handovers share: links, flows, and measures over time."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind.claims import MissingDataError
from crosswind.experiments.base import Results
from crosswind.experiments.gurtov_2004 import overlay
from crosswind.scenario import Scenario

HANDOVER_S = 30.0
END_S = 60.0
PACKET_BYTES = 1500
SYSTEMS: dict[str, dict[str, Any]] = {
    "GPRS": {"rate": "30 kbit/s", "delay": "300 ms", "limit": 7, "bps": 30e3, "rtt_s": 0.7},
    "UMTS": {"rate": "384 kbit/s", "delay": "150 ms", "limit": 20, "bps": 384e3, "rtt_s": 0.4},
    "WLAN": {"rate": "11 Mbit/s", "delay": "5 ms", "limit": 7, "bps": 11e6, "rtt_s": 0.11},
}
UP = ("GPRS", "UMTS")
DOWN = ("UMTS", "GPRS")
Floats = npt.NDArray[np.float64]


def label(pair: tuple[str, str], what: str = "") -> str:
    """Name of a configuration."""
    return f"{pair[0]}-{pair[1]}" + (f" {what}" if what else "")


def handover(
    name: str, pair: tuple[str, str], flows: dict[str, Any], limit: int | None = None, end_s: float = END_S
) -> Scenario:
    """One system becomes the other at 30 s, at one moment; the way back is never the bottleneck."""

    def body(system: str) -> dict[str, Any]:
        s = SYSTEMS[system]
        return {"rate": s["rate"], "delay": s["delay"], "queue": overlay.queue("DT", limit or int(s["limit"]))}

    first, then = body(pair[0]), body(pair[1])
    change = then | {"queue": {"limit": then["queue"]["limit"]}}
    timeline = [{"at": f"{HANDOVER_S:g} s", "link": overlay.HOP, "set": change}]
    first["reverse"] = {"queue": {"type": "droptail", "limit": "1000 packets"}}
    record = {"events": "all", "sample": "100 ms"}
    return overlay.world(name, flows, f"{end_s:g} s", hop=first, timeline=timeline, record=record)


def tfrc(preset: str = "ns2-tfrc", **keys: Any) -> dict[str, Any]:
    """TFRC that always has data, history discounting on, one report per round-trip time."""
    settings = {"preset": preset, "packet_size": f"{PACKET_BYTES} B", **keys}
    return {"workload": {"type": "bulk"}, "start": "0.1 s", "tfrc": settings}


def tcp() -> dict[str, Any]:
    """The SACK TCP of the source's chapter 6."""
    settings = {
        "preset": "rfc",
        "mss": f"{PACKET_BYTES - 52} B",
        "timestamps": "on",
        "window_limit_segments": 50,
        "rto_min": "1 s",
    }
    return {"workload": {"type": "bulk"}, "start": "0.8 s", "tcp": settings}


def notice(system: str, reset: str = "on") -> list[dict[str, Any]]:
    """The receiver learns of the new link at the handover."""
    s = SYSTEMS[system]
    told = {"at": f"{HANDOVER_S:g} s", "rate": s["rate"], "rtt": f"{s['rtt_s'] * 1000:g} ms", "for_rtts": 3}
    return [told | {"reset": reset}]


def arrivals(r: Results, configuration: str, flow: str) -> pl.DataFrame:
    """Packets with data that reach the receiver: `t`, `bytes` with about the headers that they have."""
    e = overlay.events(r, configuration, flow, "receive", "receiver").filter(pl.col("len") > 0)
    return e.select("t", (pl.col("len") + 48).alias("bytes"))


def carried_bps(r: Results, configuration: str, flow: str, start: float, end: float) -> float:
    """Mean rate at the receiver in [start, end)."""
    e = arrivals(r, configuration, flow).filter((pl.col("t") >= start) & (pl.col("t") < end))
    return float(e["bytes"].sum()) * 8 / (end - start)


def sampled(r: Results, configuration: str, flow: str, metric: str) -> tuple[Floats, Floats]:
    """A time series of the first repetition."""
    s = r.runs.sample(metric).filter((pl.col("configuration") == configuration) & (pl.col("entity") == flow))
    s = s.filter(pl.col("rep") == 0).sort("time_ns")
    if s.is_empty():
        raise MissingDataError(f"no samples of {metric}")
    return s["time_ns"].to_numpy() / 1e9, s["value"].to_numpy()


def allowed_at(r: Results, configuration: str, flow: str, t: float) -> float:
    """The rate that the sender allows itself at a time."""
    times, values = sampled(r, configuration, flow, "allowed_rate_bps")
    return float(values[np.searchsorted(times, t, side="right") - 1])


def drops_after(r: Results, configuration: str, flow: str, start: float = HANDOVER_S, end: float = END_S) -> int:
    """Packets of the flow that the queue drops in [start, end)."""
    e = r.runs.events(flow=flow, kind="drop").filter(pl.col("configuration") == configuration)
    t = e["time_ns"] / 1e9
    return int(((t >= start) & (t < end)).sum())


def time_to_use(r: Results, configuration: str, flow: str, bps: float, share: float = 0.9, span: float = 0.5) -> float:
    """Seconds from the handover until `share` of the link is carried for `span` seconds."""
    e = arrivals(r, configuration, flow).filter(pl.col("t") >= HANDOVER_S)
    t, size = e["t"].to_numpy(), e["bytes"].to_numpy().astype(float)
    total = np.concatenate(([0.0], np.cumsum(size)))
    for start in np.arange(HANDOVER_S, END_S - span, 0.05):
        a, b = np.searchsorted(t, [start, start + span])
        if (total[b] - total[a]) * 8 / span >= share * bps:
            return float(start + span - HANDOVER_S)
    raise MissingDataError(f"{share:.0%} of the new link is never used")

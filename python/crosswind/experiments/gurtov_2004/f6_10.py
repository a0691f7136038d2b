"""What does a broken-off download cost on a slow link, and how much of that does Fast Reset save?

Downloads over 30 kbit/s are broken off by the mobile at 60 s while 25 kB of their data wait (figure 6.10, section 6.6).

What the source printed: 7 s and about 25 kB delivered after the user had left the page; with Fast Reset 1 or 2 packets
for each connection, without it 5 to 25.

What may differ here: the source measured a live network and browsers. Here the mobile answers with a reset at once and
again for every segment that still comes; what waits is the window of the connection, 25 kB less what is on the way, in
packets of 1500 bytes. What still comes is counted from the abort, and from the moment at which the reset reaches the
router: then it is what is on the line and in transmission. A flow stands for its five-tuple here, so the new
connection that follows the abort has other ports; one on the same ports cannot be tested.
"""

from typing import Any

import polars as pl

from crosswind import figures
from crosswind.experiments.gurtov_2004 import overlay, study
from crosswind.reproduce import MissingDataError, Picture, Results, Scenario, measured

ABORT_S = 60.0
CONNECTIONS = (1, 4)
# 25 kB wait, 2.25 kB are on the link of 30 kbit/s and 300 ms, and one acknowledgement's worth on its way back.
WINDOW_BYTES = 28_000
PACKET_BYTES = 1500
PACKET_S = PACKET_BYTES * 8 / 30e3


def label(kind: str, n: int) -> str:
    """Name of a configuration."""
    return f"{kind}, {n}"


# Until then nothing crosses from the router to the server: the first resets are lost upstream.
HEALED_S = ABORT_S + 3.0
UNHEARD = "fast reset, resets lost upstream"


def _unheard(one: Scenario) -> Scenario:
    """The same, but the resets do not reach the server at first."""

    def change(at: float, probability: float) -> dict[str, Any]:
        lost = {"loss": {"probability": probability}}
        return {"at": f"{at:g} s", "link": "access", "direction": "reverse", "set": lost}

    before = [change(ABORT_S - 0.001, 1.0), *one.get("timeline"), change(HEALED_S, 0.0)]
    return one.with_({"link.access.loss": {"type": "uniform"}, "timeline": before})


def configurations(packet_bytes: int = PACKET_BYTES) -> dict[str, Scenario]:
    """With and without Fast Reset; one connection, or four that share the same window; and resets that get lost."""
    out = {}
    for kind in ("plain", "fast reset"):
        for n in CONNECTIONS:
            segments = max(round(WINDOW_BYTES / packet_bytes / n), 2)
            tcp = {"preset": "rfc", "mss": f"{packet_bytes - 40} B", "window_limit_segments": segments}
            page: dict[str, Any] = {"workload": {"type": "bulk"}, "tcp": tcp, "count": n}
            work = {"type": "cbr", "payload": "64 B", "interval": "2 s", "packets": 50}
            other = {"workload": work}
            hop: dict[str, Any] = {"rate": "30 kbit/s", "delay": "300 ms", "queue": {"limit": "50 kB"}}
            hop["reverse"] = {"rate": "10 kbit/s"}
            if kind == "fast reset":
                hop["fast_reset"] = {}
            timeline = [{"at": f"{ABORT_S:g} s", "flow": "page", "set": {"abort": "receiver"}}]
            # A new connection between the same hosts, right behind the abort.
            new = {"workload": {"type": "bulk", "size": "10 kB"}, "start": f"{ABORT_S + 0.4:g} s", "tcp": tcp}
            flows = {"page": page, "other": other, "new": new}
            record = {"events": "all", "sample": "50 ms"}
            out[label(kind, n)] = overlay.world("f6-10", flows, "130 s", hop=hop, timeline=timeline, record=record)
    out[UNHEARD] = _unheard(out[label("fast reset", 1)])
    return out


@measured
def _delivered_after(r: Results, configuration: str) -> float:
    """Packets of the page that arrive after the abort: all that arrived less those that its end took."""
    flows = r.runs.flows().filter((pl.col("configuration") == configuration) & (pl.col("group") == "page"))
    arrived = float(flows["received_packets"].sum())
    e = r.runs.table("event").filter((pl.col("configuration") == configuration) & (pl.col("end") == "receiver"))
    mine = e.filter(pl.col("flow").is_in(flows["flow"].cast(e["flow"].dtype).to_list()) & (pl.col("kind") == "receive"))
    handshakes = float(flows.height)  # SYN-ACKs are no receive events
    return arrived - mine.height - handshakes


@measured
def _after_the_reset(r: Results, configuration: str) -> float:
    """Those that arrive after the resets have emptied the queue: until then a full link delivers one a packet time."""
    flushed = ABORT_S + _queue_empty(configuration)(r)
    here = (pl.col("configuration") == configuration) & (pl.col("end") == "receiver") & (pl.col("len") > 100)
    t = r.runs.events(kind="receive").filter(here & (pl.col("time_ns") < ABORT_S * 1e9))["time_ns"].to_numpy() / 1e9
    return _delivered_after(configuration)(r) - float((flushed - t.max()) // PACKET_S)


def _repeats(r: Results) -> int:
    """How often the server sends something of the page after the abort because its timer has run off."""
    return r.events(UNHEARD, "page", "retransmit").filter(pl.col("t") > ABORT_S).height


def _closed(r: Results) -> float:
    """How long after the abort the server learns of it."""
    opened, closed = (r.flow(UNHEARD, "page", f"{x}_ns") for x in ("open", "close"))
    return (closed - opened) / 1e9 - ABORT_S


def _queue(r: Results, configuration: str, metric: str) -> tuple[Any, Any]:
    """What waits in front of the mobile from the abort on: times in s and values."""
    t, v = r.series(configuration, metric, f"{overlay.HOP}/forward")
    return t[t >= ABORT_S], v[t >= ABORT_S]


@measured
def _queue_empty(r: Results, configuration: str) -> float:
    """Seconds from the abort until nothing waits."""
    t, v = _queue(r, configuration, "queue_packets")
    return float(t[v == 0][0]) - ABORT_S


@measured
def _waiting(r: Results, configuration: str) -> float:
    """kB at the abort."""
    return float(_queue(r, configuration, "queue_bytes")[1][0]) / 1000


def _lost_by_others(r: Results) -> float:
    flows = r.runs.flows().filter(pl.col("group") == "other")
    return float((flows["sent_packets"] - flows["received_packets"]).sum())


def _lost_by_new(r: Results) -> float:
    return float(r.runs.flows().filter(pl.col("group") == "new")["drops_packets"].sum())


def _lost_on_the_same_ports(r: Results) -> float:
    raise MissingDataError("cannot be tested: a flow stands for its ports, and no second connection can take them")


PLAIN, FAST = ({n: label(kind, n) for n in CONNECTIONS} for kind in ("plain", "fast reset"))
CLAIMS = {
    "G80": {
        "from the abort until the queue is empty": _queue_empty(PLAIN[1]),
        "waiting at the abort": _waiting(PLAIN[1]),
    },
    "G81": {
        **{f"without, {n}": _delivered_after(PLAIN[n]) for n in CONNECTIONS},
        **{f"with, {n}, for each connection": _delivered_after(FAST[n]) / n for n in CONNECTIONS},
        **{f"with, {n}, from the reset at the router on": _after_the_reset(FAST[n]) / n for n in CONNECTIONS},
    },
    "G82": {
        "lost packets of the other flow": _lost_by_others,
        "lost packets of a new connection on the same ports": _lost_on_the_same_ports,
        "lost packets of a new connection on other ports": _lost_by_new,
    },
    "G83": {
        "retransmitted by the timer": _repeats,
        "thrown away at the router": lambda r: float(r.of(UNHEARD, "hop_drops_reset_packets")[0]),
        "delivered after the abort, less those with a reset that arrives": (
            _delivered_after(UNHEARD) - _delivered_after(FAST[1])
        ),
        "the server knows after": _closed,
    },
}


def pictures(r: Results) -> list[Picture]:
    """What waits at the router after the abort, and the published end of it (section 6.6)."""
    lines = {}
    for kind in ("plain", "fast reset"):
        t, v = _queue(r, label(kind, 1), "queue_bytes")
        lines[kind] = (t, v / 1e3)
    known = {"queue empty, plain": ABORT_S + study.BOOK.number("G80", "from the abort until the queue is empty")}
    caption = "What waits for the mobile after a download is broken off at 60 s."
    return [figures.over_time("queue-after-abort", caption, lines, "queue (kB)", printed=known)]


EXPERIMENT = overlay.experiment(
    __name__, "Downloads that are broken off, with and without Fast Reset", where="figure 6.10 and section 6.6"
)

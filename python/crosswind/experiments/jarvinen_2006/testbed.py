"""The testbed of [Järvinen 2006] as scenarios: the last hop, the hosts, the workloads, and the source's open points.

The fixed host, the last-hop router and the mobile host stand in a row. The local network in front of the router is
fast and short; the last hop is the emulated wireless link in both directions.

A configuration is named as in the source: `BL` or `ETCP` (Baseline or Enhanced TCP), then `+DS` or `+DS-U` (service
classes at the router), then `+ECN` (RED that marks). Where an experiment has several links, the link comes first:
`r4 BL+ECN`; at 384 kbit/s the router's queue: `B80 ETCP`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from crosswind.reproduce import Scenario

SOURCE = "I. Järvinen, M.Sc. thesis, University of Helsinki, 2006"
MSS, MTU = 536, 576
WRITE_BYTES = 8 * MSS
BULK_BYTES = 640 * MSS
SHORT_BYTES = 40 * MSS
STREAM_PACKETS, STREAM_PACKET_BYTES = 1147, 76
RATE_Bps = {64: 8000.0, 384: 48000.0}
FOUR = ("BL", "BL+ECN", "ETCP", "ETCP+ECN")
EIGHT = tuple(f"{tcp}{ds}{ecn}" for tcp in ("BL", "ETCP") for ds in ("", "+DS") for ecn in ("", "+ECN"))
TWELVE = tuple(f"{tcp}{ds}{ecn}" for tcp in ("BL", "ETCP") for ds in ("", "+DS-U", "+DS") for ecn in ("", "+ECN"))
LOSSY = ("r4", "r2", "r1")

MaxP = Literal["nominal", "linux-plog"]
Damping = Literal["fixed", "exact", "overflow32"]
Unit = Literal["bytes", "packets"]


@dataclass(frozen=True)
class Reading:
    """What the source leaves open; the defaults are the main reading (decision 0024).

    `tick`: the emulator's transmissions last whole multiples of it (None: exact). `max_p`: RED's maximum probability as
    the Linux tool rounds it, or as printed. `damping_rate`: the rate that RED's damping in idle periods was told (None:
    that of the link), and `idle_damping` its curve. `leaf_idle`: whether RED in a class of HTB hears of idle time,
    which the kernel's HTB does not tell it (decision 0064). `lifetime`: how often the cache of shared control blocks is
    flushed (None: never). `limit_unit`: unit of the drop-tail limit. `admission`: a packet is taken while the backlog
    before it is not above the limit, as in Linux until 2.4.23, or it must fit. `class_rate`: the classes of page and
    bulk have half of the link each and may borrow up to its rate, or rates above the link's. `spread`: the two bulk
    flows start within it, each at a time of its own. `ack_delay`: how long after delivery the link's send buffer is
    freed on ARQ links (None: the propagation delay of the way back). `state_at`: the channel's state is looked at for
    every attempt, or frozen at the first. `outside`: what happens to state lengths outside their limits. `history`:
    repetitions meet stretches of one long history of the channel, or each has its own. `audio_limit`: when the shaper
    of the stream's class (32 kbit/s, a bucket of one MTU) meters a packet: as it arrives, so that a stream of 30.4
    kbit/s never exceeds it, or when it could leave. `audio_queue`: the shaper's own, which in Linux 2.4 is plain
    and takes what fits (decision 0067), or that of the other classes. `quantum`: of the classes of page and bulk.
    `tcp_class_burst`: burst of a shaped TCP class (None: the link's buffer). `tcp`: changes to TCP at both ends of
    every flow. `page`: to the page. `router`: whether RED begins every repetition with an average of zero, or goes on
    with that of the one before (decision 0068).
    """

    tick: str | None = "1 ms"
    max_p: MaxP = "linux-plog"
    damping_rate: str | None = None
    idle_damping: Damping = "fixed"
    leaf_idle: Literal["untold", "told"] = "untold"
    lifetime: str | None = "600 s"
    limit_unit: Unit = "bytes"
    admission: Literal["fits", "linux-2.4"] = "linux-2.4"
    class_rate: Literal["half", "above"] = "half"
    spread: str = "0.3 s"
    ack_delay: str | None = None
    state_at: Literal["attempt", "first"] = "attempt"
    outside: Literal["redraw", "clamp"] = "redraw"
    history: Literal["one", "each"] = "one"
    audio_limit: Literal["arrival", "departure"] = "arrival"
    audio_queue: Literal["own", "as-others"] = "own"
    quantum: Literal["two-packets", "htb"] = "two-packets"
    tcp_class_burst: str | None = None
    tcp: Mapping[str, Any] = field(default_factory=dict)
    page: Mapping[str, Any] = field(default_factory=dict)
    router: Literal["anew", "stays"] = "anew"


@dataclass(frozen=True)
class Setting:
    """One configuration: the link, the router and TCP. `tcp` is `BL` or `ETCP`, `classes` as in the source.

    `queue_packets`: the router's limit (20 or 80). `buffer`: the link's send buffer, as printed or a single packet
    (`lsb1`). `tcp_rate`: the class of TCP takes what the stream leaves, or is held to the nominal rate of the link.
    """

    tcp: Literal["BL", "ETCP"]
    classes: Literal["", "DS", "DS-U"] = ""
    ecn: Literal["", "ECN"] = ""
    link: Literal["e0", "r4", "r2", "r1"] = "e0"
    speed: Literal[64, 384] = 64
    queue_packets: Literal[20, 80] = 20
    buffer: Literal["normal", "lsb1"] = "normal"
    tcp_rate: Literal["free", "link"] = "free"


def setting(label: str, **fixed: Any) -> Setting:
    """The setting that a label names: `BL+DS-U+ECN`, `r4 ETCP`, `B80 BL+DS`, `LSB1 B20 BL`."""
    *front, name = label.split()
    tcp, *rest = name.split("+")
    found: dict[str, Any] = {"tcp": tcp, "ecn": "ECN" if "ECN" in rest else ""}
    found["classes"] = next((x for x in rest if x.startswith("DS")), "")
    for word in front:
        if word in ("e0", *LOSSY):
            found["link"] = word
        elif word == "LSB1":
            found["buffer"] = "lsb1"
        else:
            found["queue_packets"] = int(word.removeprefix("B"))
    return Setting(**{**found, **fixed})


# ---- the router ------------------------------------------------------------------------------------------------------


def red_queue(
    max_p: MaxP = "linux-plog",
    damping_rate: str = "64 kbit/s",
    idle_damping: Damping = "fixed",
    limit_bytes: int = 20 * MTU,
) -> dict[str, Any]:
    """The RED queue of the source's Table 6, as Linux computes it; ECN marks what is ECN-capable.

    The traffic-control tool of Linux makes 3456/65536 = 0.0527 of the printed max_p of 0.1. Which rate it was told for
    the damping in idle periods is not known: that of the emulated link, or that of the network card. The kernel damps
    along a line that is steeper than the exponential that the source prints; `exact` is the exponential.
    """
    return {
        "type": "red-linux",
        "limit": f"{limit_bytes} B",
        "min_th": "1728 B",
        "max_th": "5184 B",
        "w_q": 2.0**-9,
        "max_p": 0.1,
        "max_p_rounding": "tc-plog" if max_p == "linux-plog" else "none",
        "avpkt": "576 B",
        "ecn": "mark",
        "rate": damping_rate,
        "idle_damping": idle_damping,
    }


def _leaf(s: Setting, reading: Reading) -> dict[str, Any]:
    """The queue of one class, or of the whole router when there are no classes."""
    rule = {} if reading.admission == "fits" else {"admission": reading.admission}
    if s.ecn:
        rate = reading.damping_rate or f"{s.speed} kbit/s"
        return red_queue(reading.max_p, rate, reading.idle_damping, s.queue_packets * MTU) | rule
    size = f"{s.queue_packets * MTU} B" if reading.limit_unit == "bytes" else f"{s.queue_packets} packets"
    return {"type": "droptail", "limit": size} | rule


def _below_htb(leaf: dict[str, Any], reading: Reading) -> dict[str, Any]:
    """The queue as a class of HTB has it, which never asks one that holds nothing: RED there knows of no idle time."""
    is_untold = leaf["type"] == "red-linux" and reading.leaf_idle == "untold"
    return leaf | {"idle_damping": "none"} if is_untold else leaf


def _intermediate(s: Setting, reading: Reading, leaf: dict[str, Any]) -> dict[str, Any]:
    """Page and bulk flows in equal classes that may borrow; after an idle time each can fill the link's send buffer.

    The source names no quanta: they are equal, of two packets, or what HTB makes of the rate (1000 B at 64 kbit/s).
    """
    tokens = {"burst": f"{send_buffer_bytes(s)} B", "cburst": f"{send_buffer_bytes(s)} B"}
    half = reading.class_rate == "half"
    own, ceil, whole = (s.speed / 2, s.speed, s.speed) if half else (s.speed, 2 * s.speed, 2 * s.speed)
    quantum = {"quantum": f"{2 * MTU} B"} if reading.quantum == "two-packets" else {}
    rates = {"rate": f"{own:g} kbit/s", "ceil": f"{ceil} kbit/s"}
    child = {"parent": "tcp", **rates, **tokens, **quantum, "queue": _below_htb(leaf, reading)}
    return {
        "type": "htb",
        "default": "bulk",
        "filter": [{"class": "page", "flow": "page"}],
        "class": {"tcp": {"rate": f"{whole} kbit/s", **tokens}} | {name: dict(child) for name in ("page", "bulk")},
    }


def router(s: Setting, reading: Reading, others: Sequence[str]) -> dict[str, Any]:
    """The router's queue: one for all, or classes for those of the other transfers that get their own."""
    leaf = _leaf(s, reading)
    if not s.classes:
        return leaf
    inner = _intermediate(s, reading, leaf) if "page" in others and s.classes == "DS" else leaf
    if "audio" not in others:
        return inner
    if s.tcp_rate == "link":
        size = reading.tcp_class_burst or f"{MTU if s.buffer == 'lsb1' else send_buffer_bytes(s)} B"
        own = {"rate": f"{s.speed} kbit/s", "ceil": f"{s.speed} kbit/s", "burst": size, "cburst": size}
        inner = {"type": "htb", "default": "bulk", "class": {"bulk": {**own, "queue": _below_htb(inner, reading)}}}
    plain = {"type": "droptail", "limit": f"{s.queue_packets * MTU} B"}
    queue = leaf if reading.audio_queue == "as-others" else plain
    priority = {"type": "tbf", "rate": "32 kbit/s", "burst": f"{MTU} B", "metered": reading.audio_limit, "queue": queue}
    return {
        "type": "prio",
        "default": "tcp",
        "filter": [{"class": "audio", "flow": "audio"}],
        "class": {"audio": {"prio": 0, "queue": priority}, "tcp": {"prio": 1, "queue": inner}},
    }


# ---- the links -------------------------------------------------------------------------------------------------------

ARQ_PRESET = {"r4": "arq-high", "r2": "arq-medium", "r1": "arq-low"}


def send_buffer_bytes(s: Setting) -> int:
    return 12_000 if s.speed == 64 else 42_000


def last_hop(s: Setting, queue: dict[str, Any], reading: Reading = Reading()) -> dict[str, Any]:
    """The router's queue and the emulated wireless link behind it; the uplink input queue is unlimited."""
    size = f"{send_buffer_bytes(s)} B"
    link: dict[str, Any] = {
        "from": "router",
        "to": "mobile",
        "type": "seawind",
        "rate": f"{s.speed} kbit/s",
        "delay": "300 ms" if s.speed == 64 else "200 ms",
        "send_buffer": size if s.buffer == "normal" else f"{MTU} B",
        "receive_buffer": size,
        "in_transit": 3,
        "queue": queue,
        "reverse": {"queue": {"type": "droptail", "limit": "100000 packets"}},
    }
    if reading.tick:
        link["tx_tick"] = reading.tick
    if s.buffer == "lsb1":
        link["reverse"]["send_buffer"] = size
    if s.link in ARQ_PRESET:
        link |= {"preset": ARQ_PRESET[s.link]}
        if reading.ack_delay is not None:
            link["ack_delay"] = reading.ack_delay
        if reading.state_at != "attempt":
            link["arq"] = {"state_at": reading.state_at}
        channel: dict[str, Any] = {}
        if reading.history == "one":
            channel["stretch"] = STRETCH
        if reading.outside != "redraw":
            channel |= {k: {"length": _length(*v, reading.outside)} for k, v in STATE_LENGTHS_s.items()}
        if channel:
            link["channel"] = channel
    return link


# One repetition after the other takes its stretch of the channel's history; the longest (W2 on r1) last about so long.
STRETCH = "300 s"
STATE_LENGTHS_s = {"good": (10.0, 5.0, 15.0), "bad": (2.5, 1.4, 4.0)}


def _length(mean_s: float, low_s: float, high_s: float, outside: str) -> dict[str, str]:
    return {"exponential": f"{mean_s} s", "min": f"{low_s} s", "max": f"{high_s} s", "outside": outside}


def lan() -> dict[str, Any]:
    """The local network in front of the router; its delay does not matter."""
    return {
        "from": "server",
        "to": "router",
        "type": "wire",
        "rate": "100 Mbit/s",
        "delay": "100 us",
        "queue": {"type": "droptail", "limit": "100000 packets"},
    }


# ---- the hosts and what they send ------------------------------------------------------------------------------------


def sender(s: Setting, reading: Reading = Reading()) -> dict[str, Any]:
    """TCP of one configuration, at both ends of every flow.

    The kernel halves the window at once, and in a recovery bounds it to what is in flight and one segment (decision
    0024). Enhanced TCP ran with a defect: F-RTO took what its peer retransmitted for a duplicate ACK.
    """
    enhanced = {"preset": "enhanced-linux-2.4", "frto_peer_retransmissions": "count-as-duplicate"}
    return {
        **(enhanced if s.tcp == "ETCP" else {"preset": "baseline-linux-2.4"}),
        "mss": f"{MSS} B",
        "ecn": "on" if s.ecn else "off",
        "flight_bound": "on",
        **reading.tcp,
    }


def bulk(tcp: dict[str, Any], size_bytes: int, start: Any, count: int = 1) -> dict[str, Any]:
    """Transfers as the source's generator makes them: writes of eight segments."""
    return {
        "from": "server",
        "to": "mobile",
        "count": count,
        "start": start,
        "tcp": tcp,
        "workload": {"type": "bulk", "size": f"{size_bytes} B", "write": f"{WRITE_BYTES} B"},
    }


def sharing(s: Setting, reading: Reading) -> dict[str, Any]:
    """What outlives a repetition; the next one starts 19 s later, as the source's flows do."""
    across = {"gap": "19 s"}
    if s.tcp == "ETCP":
        across |= {"persist": "across-repetitions"} | ({"lifetime": reading.lifetime} if reading.lifetime else {})
    if s.ecn and reading.router == "stays":
        across |= {"queues": "across-repetitions"}
    return {"sharing": across} if len(across) > 1 else {}


LATE_s = {64: 36.0, 384: 13.5}
Other = Literal["third", "page", "audio"]


def _late(speed: int) -> dict[str, list[str]]:
    return {"stratified": ["0 s", f"{LATE_s[speed]} s"]}


def hosts(s: Setting) -> dict[str, Any]:
    """Socket limits. The receive window never limits: three quarters of the buffer (`tcp_adv_win_scale` 2), 65535 B at
    64 kbit/s; scaled and larger at 384 kbit/s."""
    if s.speed == 64:
        return {"receive_window": "buffer", "receive_buffer": "65535 B"}
    return {"receive_window": "buffer", "receive_buffer": "1398080 B", "window_scaling": "on"}


@dataclass(frozen=True)
class Workload:
    """What runs: two bulk flows from the start on, and other transfers that join later.

    `third_bytes`: size of the third bulk flow. `bursts`: how often the audio stream of 1147 packets is sent.
    """

    name: str
    others: tuple[Other, ...]
    bulk_bytes: int = BULK_BYTES
    third_bytes: int = SHORT_BYTES
    bursts: Literal[1, 2] = 1
    events: tuple[str, ...] = ()


def flows(w: Workload, s: Setting, reading: Reading) -> dict[str, Any]:
    """The flows of a workload: `bulk-1`, `bulk-2`, and those of `third`, `page` (nine connections) and `audio`."""
    tcp = {**sender(s), **hosts(s), **reading.tcp}
    late = _late(s.speed)
    path = {"from": "server", "to": "mobile", "start": late}
    start: Any = {"uniform": ["0 s", reading.spread]} if reading.spread != "0 s" else "0 s"
    out: dict[str, Any] = {"bulk": bulk(tcp, w.bulk_bytes, start, 2)}
    if "third" in w.others:
        out["third"] = bulk(tcp, w.third_bytes, late)
    if "page" in w.others:
        out["page"] = {**path, "tcp": tcp, "workload": {"type": "page", **reading.page}}
    if "audio" in w.others:
        stream: dict[str, Any] = {"type": "cbr", "payload": "48 B", "interval": "20 ms", "packets": STREAM_PACKETS}
        if w.bursts > 1:
            stream |= {"bursts": w.bursts, "idle": {"uniform": ["5 s", "15 s"]}}
        out["audio"] = {**path, "dscp": "EF", "workload": stream}
    return out


def world(w: Workload, s: Setting, reading: Reading = Reading(), label: str = "") -> Scenario:
    """One configuration of a workload as a scenario."""
    return Scenario.from_dict(
        {
            "name": w.name,
            "title": f"{w.name}, {label}",
            "seed": 1,
            "duration": "1500 s",
            "link": {"lan": lan(), "last-hop": last_hop(s, router(s, reading, w.others), reading)},
            "flow": flows(w, s, reading),
            **sharing(s, reading),
            "record": {"events": list(w.events), **({"hist": ["audio"]} if "audio" in w.others else {})},
        }
    )


def configurations(w: Workload, labels: Sequence[str], reading: Mapping[str, Any], **fixed: Any) -> dict[str, Scenario]:
    """Label -> scenario. `reading`: what differs from the suggested reading; `fixed`: what all settings share."""
    chosen = Reading(**reading)
    return {x: world(w, setting(x, **fixed), chosen, x) for x in labels}

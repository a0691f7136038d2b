"""The testbed of [Riva 2003] as scenarios: four machines in a row, the shaped last hop, the hosts, the workloads.

Kemi-1 (source), Kemi-2 (a router that never drops), Kemi-3 (the router whose egress is shaped to 140 kbit/s and holds
the queues under study) and Kemi-4 (sink). ACKs come back unshaped. A configuration is named as in the source: `TD` or
`RED`, then `+DS` where UDP has a class of its own, and the start of the flow that is varied: `TD 5.5`, `RED+DS 2`.

Every repetition draws when each process really starts (within 20 ms) and how long the first router takes for each
packet (within 1 ms): nothing else is random under tail drop.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from crosswind.reproduce import Scenario

SOURCE = "O. Riva, M.Sc. thesis, Politecnico di Milano and University of Helsinki, 2003"
MSS, MTU = 1448, 1500
WRITE_BYTES = 4 * 1460
LONG_BYTES, SHORT_BYTES = 50 * WRITE_BYTES, 8 * WRITE_BYTES
ALONE_BYTES, MEDIUM_BYTES = 67 * WRITE_BYTES, 20 * WRITE_BYTES
UDP_PAYLOAD_BYTES, UDP_BYTES, UDP_PER_s = 104, 132, 50
RATE_kbit = 140
RATE_Bps = RATE_kbit * 1024 / 8
PRINTED_RATE_bps = 140_000
LIMIT_BYTES = 20_000
KNOWN_WINDOW = 3
PACKET_s = MTU / RATE_Bps
TAIL_DROP_STARTS_s = (0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 4.5, 5.0, 5.5, 6.0, 6.5, 7.0)
RED_STARTS_s = (0.0, 2.0, 4.0, 5.0, 5.5)
FOUR = ("TD", "RED", "TD+DS", "RED+DS")

Queue = Literal["TD", "RED"]


@dataclass(frozen=True)
class RedSet:
    """RED's parameters as `tc` takes them; sizes in bytes, burst in packets of `avpkt`."""

    min: int = 5000
    max: int = 18000
    burst: int = 12
    limit: int = LIMIT_BYTES
    avpkt: int = 1000
    probability: float = 0.1

    @property
    def label(self) -> str:
        return f"{self.min}-{self.max}-{self.burst}"


CLASS_2 = RedSet(min=800, max=3500, burst=12, limit=5000, avpkt=150)
TRIED = (RedSet(), RedSet(burst=9), RedSet(4000, 16000, 11), RedSet(5000, 15000, 8), RedSet(5000, 15000, 12))


# The suggested resolution of O-14 and O-15: RFC behaviour with timeouts of at least 200 ms, and ACKs that are quick 16
# times, then for two segments or within 40 ms. What the preset takes from the kernel instead is undone key by key.
RFC: Mapping[str, Any] = {
    "avoidance_counting": "bytes",
    "limited_transmit": "off",
    "recovery": "sack",
    "reduction": "at-once",
    "window_moderation": "off",
    "reduce_from": "flight",
    "retransmit_overdue": "off",
    "restart_timer_on_retransmission": "off",
    "rto": "rfc6298",
    "syn_loss": "one",
    "sack_after_timeout": "clear",
    "timeout_in_recovery": "reduce",
    "delayed_ack": "40 ms",
    "quick_acks": 16,
    "final_segment": "window",
}


@dataclass(frozen=True)
class Reading:
    """What the source leaves open. Each default is the resolution that was suggested before anything was measured.

    `admission`: whether a queue takes a packet while its backlog is not above the limit, or only if the packet fits
    (O-6); `counted`: link-layer bytes that it counts for each. `kbit`: bits in the shaper's kbit; `overhead`: what it
    charges beyond the IP length (O-2), rounded down to a multiple of `cell`; `tick`: the clock by which it gives credit
    back; `hysteresis`: whether classes go into debt; `bucket`: bytes of their buckets where `tc` does not choose them.
    `red_clock`: the rate that `tc` was told for the damping in idle time (O-8). `leaf_idle`: whether RED in a class of
    HTB hears of idle time, which the kernel's HTB does not tell it (decision 0064). `red_law`: the kernel's RED, or
    that of Floyd and Jacobson with the same weight (section 2.3). `ceil_2`: the ceiling of the class of UDP in
    kbit/s (O-4). `hosts`: RFC behaviour and ACKs that are quick 16 times (O-14, O-15), or what the kernel's code does.
    `tcp`: further changes to TCP at both ends (O-1, O-13 to O-15). `memory`: whether hosts remember slow-start
    thresholds and round-trip times from one repetition to the next. `peer`: whether, where they remember, a threshold
    above any window was known before the first repetition of a test case with a stream. `router`: whether the router
    stays up, so that RED goes on from repetition to repetition with the average that it has. `jitter`: whether the
    first router's processing time varies.
    """

    admission: Literal["linux-2.4", "fits"] = "linux-2.4"
    kbit: int = 1024
    overhead: int = 0
    cell: int = 1
    counted: int = 0
    tick: str = "0 ms"
    hysteresis: Literal["on", "off"] = "off"
    bucket: int = 0
    red_clock: str = "140 kbit/s"
    leaf_idle: Literal["untold", "told"] = "told"
    red_law: Literal["linux", "floyd-jacobson"] = "linux"
    ceil_2: int = 70
    hosts: Literal["rfc", "kernel"] = "rfc"
    tcp: Mapping[str, Any] = field(default_factory=dict)
    memory: Literal["kept", "none"] = "none"
    peer: Literal["unknown", "known"] = "unknown"
    router: Literal["stays", "anew"] = "anew"
    jitter: Literal["processing", "none"] = "processing"


# What the machines of the source ran: kernel 2.4.17, `tc` and HTB of May 2002 (decision 0016).
LINUX: dict[str, Any] = {
    "overhead": 14,
    "cell": 8,
    "counted": 14,
    "tick": "10 ms",
    "hysteresis": "on",
    "leaf_idle": "untold",
    "hosts": "kernel",
    "memory": "kept",
    "router": "stays",
    "tcp": {
        "delayed_ack": "40 ms",
        "delayed_ack_timer": "linux-2.4",
        "writing": "linux-2.4",
        "receive_window": "linux-2.4",
        "receive_buffer": "87380 B",
        "initial_window_known_segments": 2,
    },
}


def reading(base: Literal["linux", "suggested"] = "linux", tcp: Mapping[str, Any] = {}, **changes: Any) -> Reading:
    """A reading: the main one, or what was suggested before, and what is changed in it."""
    own: dict[str, Any] = LINUX if base == "linux" else {}
    return Reading(**(own | changes | {"tcp": {**own.get("tcp", {}), **tcp}}))


# ---- the last hop ----------------------------------------------------------------------------------------------------


def leaf(queue: Queue, reading: Reading, red: RedSet = RedSet()) -> dict[str, Any]:
    """The queue of one class: a FIFO of so many bytes, or RED as `tc` gives it to the kernel."""
    limit = {"limit": f"{red.limit} B", "admission": reading.admission}
    limit |= {"overhead": f"{reading.counted} B"} if reading.counted else {}
    if queue == "TD":
        return {"type": "droptail", **limit}
    law = {"min_th": f"{red.min} B", "max_th": f"{red.max} B", "avpkt": f"{red.avpkt} B", "ecn": "drop"}
    if reading.red_law == "linux":
        rounding = {"burst": red.burst, "max_p": red.probability, "max_p_rounding": "tc-plog"}
        idle = {} if reading.leaf_idle == "told" else {"idle_damping": "none"}
        return {"type": "red-linux", **limit, **law, **rounding, "rate": reading.red_clock, **idle}
    return {
        "type": "red-floyd-jacobson",
        **limit,
        **law,
        "measure": "bytes",
        "w_q": weight(red),
        "max_p": red.probability,
    }


def weight(red: RedSet) -> float:
    """The weight that `tc` derives from the burst: the smallest power of two that lets it pass."""
    a = red.burst + 1 - red.min / red.avpkt
    return next(2.0**-k for k in range(1, 32) if a <= (1 - (1 - 2.0**-k) ** red.burst) * 2**k)


def _class(rate: int, ceil: int, queue: dict[str, Any] | None, parent: str | None, bucket: int) -> dict[str, Any]:
    """A class of the shaper; its quantum is one MTU, since a smaller one would only matter while both borrow."""
    own = {"rate": f"{rate} kbit/s", "ceil": f"{ceil} kbit/s"}
    own |= {"burst": f"{bucket} B", "cburst": f"{bucket} B"} if bucket else {}
    return own | ({"queue": queue, "quantum": f"{MTU} B"} if queue else {}) | ({"parent": parent} if parent else {})


def shaper(queue: Queue, classes: Literal["T", "1", "2"], reading: Reading, **more: Any) -> dict[str, Any]:
    """HTB with one of the three layouts: `T` for the TCP-only tests, `1` for one class in use, `2` for both."""
    red, rate = more.get("red", RedSet()), more.get("rate", RATE_kbit)
    first, second = leaf(queue, reading, red), leaf(queue, reading, CLASS_2)
    htb: dict[str, Any] = {"type": "htb", "kbit": reading.kbit, "overhead": f"{reading.overhead} B"}
    htb |= {"cell": f"{reading.cell} B", "hysteresis": reading.hysteresis, "tick": reading.tick}
    if classes == "T":
        # The two siblings are promised more than the link has; the second never sees a packet.
        tree = {
            "link": _class(rate, rate, None, None, reading.bucket),
            "tcp": _class(100 * rate // RATE_kbit, rate, first, "link", reading.bucket),
            "rest": _class(100 * rate // RATE_kbit, rate, leaf(queue, reading), "link", reading.bucket),
        }
        return htb | {"oversubscription": "allow", "default": "tcp", "filter": [_udp("rest")], "class": tree}
    tree = {
        "link": _class(rate, rate, None, None, reading.bucket),
        "one": _class(rate // 2, rate, first, "link", reading.bucket),
        "two": _class(rate // 2, reading.ceil_2 * rate // RATE_kbit, second, "link", reading.bucket),
    }
    # In layout 1 both kinds of traffic go to class one, and the other stays empty.
    second_gets = _udp("two") if classes == "2" else {"class": "two", "dscp": "CS7"}
    return htb | {"default": "one", "filter": [second_gets], "class": tree}


def _udp(to: str) -> dict[str, Any]:
    return {"class": to, "proto": "udp"}


def links(queue: dict[str, Any], reading: Reading) -> dict[str, Any]:
    """The three Ethernets. The first carries the jitter of processing; a packet never overtakes another."""
    deep = {"type": "droptail", "limit": "4096 packets"}
    wire = {"type": "wire", "rate": "10 Mbit/s", "delay": "100 us", "queue": deep}
    first: dict[str, Any] = {"from": "kemi-1", "to": "kemi-2", "rate": "100 Mbit/s", "delay": "100 us", "queue": deep}
    if reading.jitter == "processing":
        wait = {"probability": 1.0, "length": {"uniform": ["0 ms", "1 ms"]}}
        buffers = {"send_buffer": "4096 packets", "receive_buffer": "10000000 B", "in_transit": 1, "mtu": f"{MTU} B"}
        first |= {"type": "seawind", **buffers, "random_delay": wait}
    else:
        first |= {"type": "wire"}
    return {
        "first": first,
        "second": {"from": "kemi-2", "to": "kemi-3", **wire},
        "last-hop": {"from": "kemi-3", "to": "kemi-4", **wire, "queue": queue, "reverse": {"queue": deep}},
    }


# ---- the hosts and what they send ------------------------------------------------------------------------------------


def started(at_s: float) -> dict[str, list[str]]:
    """A start with the jitter of a process."""
    return {"uniform": [f"{at_s} s", f"{at_s + 0.02:.6g} s"]}


def transfer(size_bytes: int, at_s: float, reading: Reading, count: int = 1) -> dict[str, Any]:
    """A transfer by the source's generator: writes of four times 1460 bytes, back to back."""
    share = {} if reading.memory == "kept" else {"share_ssthresh": "off", "share_rtt": "off"}
    share |= RFC if reading.hosts == "rfc" else {}
    tcp = {"preset": "linux-2.4.17", **share, **reading.tcp}
    if not tcp.get("rto", "linux-2.4").startswith("linux-2.4"):
        # Only that kernel's timer hands its state on.
        tcp["share_rtt"] = "off"
    return {
        "from": "kemi-1",
        "to": "kemi-4",
        "count": count,
        "start": started(at_s),
        "tcp": tcp,
        "workload": {"type": "bulk", "size": f"{size_bytes} B", "write": f"{WRITE_BYTES} B"},
    }


def stream(at_s: float, length_s: float) -> dict[str, Any]:
    """The stream: 50 packets a second, the first and the last `length_s` apart."""
    packets = round(UDP_PER_s * length_s) + 1
    return {
        "from": "kemi-1",
        "to": "kemi-4",
        "start": started(at_s),
        "workload": {"type": "cbr", "payload": f"{UDP_PAYLOAD_BYTES} B", "interval": "20 ms", "packets": packets},
    }


@dataclass(frozen=True)
class Mix:
    """A test case: how much TCP sends, for how long UDP sends, and when UDP starts."""

    name: str
    tcp_bytes: int
    udp_s: float
    starts_s: tuple[float, ...]

    @property
    def udp_packets(self) -> int:
        return round(UDP_PER_s * self.udp_s) + 1

    def labels(self, configuration: str) -> list[str]:
        """The cells of one configuration, by rising start of UDP."""
        return [cell(configuration, s) for s in self.starts_s]


LONG = Mix("d", ALONE_BYTES, 40.0, (0.0, 1.0, 2.0, 3.0))
SHORT = Mix("e", SHORT_BYTES, 6.0, (0.0, 0.5, 1.0, 1.5, 2.0))
MEDIUM = Mix("g", MEDIUM_BYTES, 12.0, (0.0, 1.0, 2.0, 3.0, 4.0))
BRIEF = Mix("f", ALONE_BYTES, 5.0, (0.0, 2.0, 7.0, 12.0, 16.0, 18.0))


def cell(configuration: str, start_s: float) -> str:
    """The name of a cell: `RED+DS 0.5`."""
    return f"{configuration} {start_s:g}"


def _world(
    name: str, label: str, queue: dict[str, Any], flows: dict[str, Any], reading: Reading, **more: Any
) -> Scenario:
    across = "across-repetitions"
    sharing = {"persist": across} if reading.memory == "kept" else {}
    sharing |= {"queues": across} if reading.router == "stays" and "red-" in str(queue) else {}
    return Scenario.from_dict(
        {
            "name": name,
            "title": f"riva-2003 {name}, {label}",
            "seed": 1,
            "duration": "600 s",
            "link": links(queue, reading),
            "flow": flows,
            **({"sharing": {**sharing, "gap": "19 s"}} if sharing else {}),
            "record": {"events": list(more.get("events", ()))},
        }
    )


def three(
    queue: Queue, start_s: float, reading: Reading, red: RedSet = RedSet(), events: Sequence[str] = ()
) -> Scenario:
    """Two long transfers and a short one that starts later."""
    flows = {"long": transfer(LONG_BYTES, 0.0, reading, 2), "third": transfer(SHORT_BYTES, start_s, reading)}
    router = shaper(queue, "T", reading, red=red)
    return _world("three-tcp", cell(queue, start_s), router, flows, reading, events=events)


def known(transfer: dict[str, Any], reading: Reading) -> dict[str, Any]:
    """The transfer with the initial window that this kernel has towards a peer of known threshold: 3 segments."""
    if reading.memory == "kept" and reading.peer == "known":
        transfer["tcp"] = {"initial_window_segments": KNOWN_WINDOW, **transfer["tcp"]}
    return transfer


def mixed(mix: Mix, configuration: str, start_s: float, reading: Reading, events: Sequence[str] = ()) -> Scenario:
    """One transfer and a stream, in one class or in two."""
    queue: Queue = "TD" if configuration.startswith("TD") else "RED"
    classes: Literal["1", "2"] = "2" if configuration.endswith("DS") else "1"
    flows = {"tcp": known(transfer(mix.tcp_bytes, 0.0, reading), reading), "udp": stream(start_s, mix.udp_s)}
    router = shaper(queue, classes, reading)
    return _world(mix.name, cell(configuration, start_s), router, flows, reading, events=events)


REDUCED_kbit = 87


def alone(mix: Mix, queue: Queue, reading: Reading, rate: int = REDUCED_kbit, events: Sequence[str] = ()) -> Scenario:
    """The transfer of a test case alone, on what the stream would leave of the rate (O-20)."""
    flows = {"tcp": known(transfer(mix.tcp_bytes, 0.0, reading), reading)}
    router = shaper(queue, "1", reading, rate=rate)
    return _world(mix.name, f"{queue} alone", router, flows, reading, events=events)

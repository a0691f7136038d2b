"""The testbeds of chapters 4 and 5: fast long paths, hosts of 2003 to 2006, one bottleneck with a drop-tail buffer.

| path | what | capacity | round trip | buffer |
|---|---|---|---|---|
| JAPAN | ATM, limited by the bus of a router | 310 Mbit/s of IP | 100 ms | 100 packets (open point O4.4) |
| EARTH2 | ATM over a satellite behind a host of 100 Mbit/s | 100 Mbit/s of IP | 460 ms | the host's: 356 packets |
| international | Gigabit Ethernet, path (d) of chapter 5 | 941 Mbit/s of payload | 189 ms | 100 (Small) or 2000 |
| emulator | path (a): the emulator drops nothing | the same | 189 ms | endless |
| domestic | losses are likely: 1 packet in 10 million; as many are late | the same | 39 ms | 100 packets |

Behind the bottleneck of JAPAN and EARTH2 packets travel in ATM cells (600 and 120 Mbit/s of them, which leave 531 and
106 Mbit/s of IP): the tax is paid in time, not in rate. What is late on the domestic line is late by 0.2 ms (deviation
0.1 ms): "small" (O5.3), the numbers are ours. Hosts of chapter 4 have a bus that carries 620 Mbit/s (decision 0026).

Those of chapter 5 have Gigabit Ethernet in front of another Gigabit Ethernet whose frames are longer by a tag of 4
bytes, 0.26 %: with equal frames one flow would never queue in the router, and with much faster hosts no buffer of less
than 200 packets would survive slow start, while the source sees both flat series below the BDP and losses above it.
Receivers are Linux unless said (`tcp.receiver`), FAST keeps alpha = 200 packets in the queue (O4.7), more than a buffer
of 100 packets holds, and measures round trips in microseconds, where the other kernels have ticks of 10 ms; CUBIC knows
no socket buffer (O5.5). H-TCP grows as the formula says, without the scaling by round-trip times of later kernels.
Senders repair losses as kernels 2.4.18 to 2.4.25 do: forward acknowledgement, rate halving, windows moderated after
ACKs out of the ordinary (decision 0028; the reading `rfc` has RFC 3517).

A size divides capacity, buffers, alpha, socket buffers and the rate and number of what competes by the same number, and
leaves round trips, sizes of transfers and packets alone. Verdicts are those of the full size. With `--quick` chapter 4
is run at half the size and chapter 5 at a sixteenth, for a part of the time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from crosswind.reproduce import Scenario, Variant

MSS_BYTES, MTU_BYTES = 1448, 1500
FRAME_BYTES, TAG_BYTES = 1538, 4
ALPHA_PACKETS = 200
CHUNK_SEGMENTS = 14
SABUL_PACKETS = 25_600
LATE_ms = 0.2
# Packets that the domestic line loses; as many are late (decision 0028).
DOMESTIC_LOSS = 1e-7
# Of the way to each receiver: a line with a delay can be planned in batches.
BOTTLENECK_ms = 1
SMALL, LARGE, ENDLESS = 100, 2000, 1_000_000
OTHER_LARGE = (400, 920)


@dataclass(frozen=True)
class Size:
    """What capacities, buffers and counts are divided by, and which part of the time is run."""

    divisor: int
    time: float = 1.0

    def seconds(self, s: float) -> float:
        return s * self.time

    def packets(self, n: float) -> int:
        return max(4, round(n / self.divisor))


SIZES_4: Mapping[str, Size] = {"full": Size(1), "quick": Size(2, 0.25)}
SIZES_5: Mapping[str, Size] = {"full": Size(1), "quarter": Size(4), "quick": Size(16, 0.2)}
QUICK = Variant("half the rates in chapter 4, a sixteenth in chapter 5, a part of the time", {"size": "quick"})


@dataclass(frozen=True)
class Path:
    """A bottleneck and the hosts' lines to it, at full size. Rates count IP packets."""

    name: str
    mbps: float
    rtt_ms: float
    buffer_packets: int
    access_mbps: float
    loss: float = 0.0
    late_share: float = 0.0
    cell_mbps: float = 0.0
    # The host's own interface is the bottleneck: its queue and the ring of its driver; a socket of datagrams.
    host_segments: int = 0
    host_datagrams: int = 0
    # A stage of the router in front of the bottleneck, one for all hosts and as fast as one of them.
    port_packets: int = 0

    def payload_mbps(self, size: Size) -> float:
        """What TCP can carry."""
        return self.mbps / size.divisor * MSS_BYTES / MTU_BYTES

    def bdp_bytes(self, size: Size) -> float:
        """Payload in flight that fills the path and no queue."""
        return self.payload_mbps(size) * 1e6 / 8 * self.rtt_ms / 1e3

    def unharmed(self) -> Path:
        """The same, where nothing is lost or late but by the queue."""
        return replace(self, loss=0.0, late_share=0.0)

    def losing(self, share: float) -> Path:
        """The same, where so many packets are lost and as many are late."""
        return replace(self, loss=share, late_share=share)

    def buffered(self, packets: int) -> Path:
        return replace(self, buffer_packets=packets)

    def staged(self, packets: int) -> Path:
        """The same, with so much room in front of the buffer that can be configured; none at 0."""
        return replace(self, port_packets=packets)

    def bottleneck(self, size: Size) -> dict[str, Any]:
        """The line between the routers; one that is slower than the host is where packets wait."""
        held = ENDLESS if self.buffer_packets == ENDLESS else size.packets(self.buffer_packets)
        line: dict[str, Any] = {
            "rate": _rate(self.mbps / size.divisor),
            "delay": f"{BOTTLENECK_ms} ms",
            "queue": _droptail(held),
            "reverse": {"queue": _droptail(ENDLESS)},
        }
        if self.host_segments:
            line |= {"type": "atm", "rate": _rate(self.cell_mbps / size.divisor)}
        if self.late_share:
            late = {"share": self.late_share, "late_mean": f"{LATE_ms * size.divisor} ms"}
            line |= {"type": "reordering", **late, "late_deviation": f"{LATE_ms / 2 * size.divisor} ms"}
            line["share"] *= size.divisor
            line["reverse"] = {**line["reverse"], "share": 0.0}
        if self.loss:
            line["loss"] = {"type": "uniform", "probability": self.loss * size.divisor}
        return line

    def at_host(self, flow: Mapping[str, Any], size: Size) -> Mapping[str, Any]:
        """A flow whose host holds what its own interface does not carry yet."""
        rate = {"rate": _rate(self.mbps / size.divisor)}
        if not self.host_segments:
            return flow
        if "tcp" in flow:
            queue = {"limit_segments": size.packets(self.host_segments), **rate}
            return {**flow, "tcp": {**flow["tcp"], "host_queue": queue}}
        return {**flow, "host_queue": {"limit_packets": size.packets(self.host_datagrams), **rate}}


_GIGABIT = 1000 * MTU_BYTES / FRAME_BYTES
_TAGGED = 941 * MTU_BYTES / MSS_BYTES
_HOST = _TAGGED * (FRAME_BYTES + TAG_BYTES) / FRAME_BYTES
# 32-bit PCI (Table 4.3).
BUS_MBPS = 620
JAPAN = Path("japan", 310, 100, 100, BUS_MBPS, cell_mbps=600)
EARTH2 = Path("earth2", 100, 460, ENDLESS, 100, cell_mbps=120, host_segments=356, host_datagrams=30)
# The former reading of EARTH2: a router's buffer in front of a hub.
EARTH2_HUB = Path("earth2", 100, 460, 100, _GIGABIT, cell_mbps=120)
INTERNATIONAL = Path("international", _TAGGED, 189, SMALL, _HOST)
EMULATOR = Path("emulator", _TAGGED, 189, ENDLESS, _HOST)
DOMESTIC = Path("domestic", _TAGGED, 39, SMALL, _HOST).losing(DOMESTIC_LOSS)


def tcp(size: Size, law: str = "reno", **changes: Any) -> dict[str, Any]:
    """A greedy TCP flow to a Linux receiver.

    Where packets are divided, so is the longest chunk that one ACK acknowledges (two at least): a chunk is a burst of
    the sender, to be compared with a buffer. The mean stays, because growth goes by ACKs.
    """
    own: dict[str, Any] = {"preset": "linux-2.4-highspeed", "law": law, "receiver": "linux-2.4", **changes}
    if own["receiver"] == "linux-2.4" and size.divisor > 1:
        most = max(2, round(CHUNK_SEGMENTS / size.divisor))
        least = 2 if most == 2 else 1
        own["ack_habit"] = {"least_segments": least, "mean_segments": 2.0, "most_segments": most}
    return {"workload": {"type": "bulk"}, "tcp": own}


def udt(preset: str, path: Path, size: Size) -> dict[str, Any]:
    """A greedy flow over UDP; UDT's window holds four times the path, SABUL's receiver notes 25 600 packets."""
    packets = 4 * path.bdp_bytes(size) / MSS_BYTES + 100 if preset == "udt-2" else SABUL_PACKETS / size.divisor
    return {"workload": {"type": "bulk"}, "udt": {"preset": preset, "window_limit_packets": round(packets)}}


def fast(size: Size, policy: str = "fixed") -> dict[str, Any]:
    """FAST's settings: 200 packets, or with `by-rate` 8 up to 10 Mbit/s and 20 up to 100 Mbit/s.

    It is that of its paper: no slow start, and an empty path doubles the window (decision 0030).
    """
    n = size.divisor
    out: dict[str, Any] = {"version": "published", "empty_growth": 2.0, "alpha": ALPHA_PACKETS / n, "gamma": 0.5}
    if policy == "by-rate":
        low = {"low_alpha": 8 / n, "low_rate": _rate(10 / n)}
        out |= {"policy": policy, **low, "middle_alpha": 20 / n, "middle_rate": _rate(100 / n)}
    return out


KERNEL = {"recovery": "linux-2.4-fack", "reduction": "linux-2.4", "window_moderation": "linux-2.4"}
TCP_VARIANTS = ("HSTCP", "Scalable", "FAST", "CUBIC", "HTCP")


def protocol(name: str, path: Path, size: Size, **changes: Any) -> dict[str, Any]:
    """A flow of a protocol by the name that the source uses; `changes` are keys of TCP."""
    if name in ("UDT", "SABUL"):
        return udt({"UDT": "udt-2", "SABUL": "sabul-2.2"}[name], path, size)
    laws: dict[str, dict[str, Any]] = {
        "Standard": {"law": "reno"},
        "HSTCP": {"law": "hstcp"},
        "Scalable": {"law": "scalable"},
        "FAST": {
            "law": "fast",
            "fast": fast(size),
            "grow_when": "always",
            "timestamp_tick": "1 us",
            "pacing": "window",
        },
        "CUBIC": {"law": "cubic", "cubic": {"version": "2005"}},
        "HTCP": {"law": "htcp", "htcp": {"rtt_scaling": "off"}},
    }
    return tcp(size, **{**laws[name], **changes})


def buffered(
    name: str, path: Path, size: Size, share: float, *, heedless: Sequence[str] = ("CUBIC",), **changes: Any
) -> dict[str, Any]:
    """The same with a socket buffer of a share of the BDP, which CUBIC does not heed."""
    if name in ("UDT", "SABUL"):
        return protocol(name, path, size)
    window = {} if name in heedless else {"receive_buffer": f"{round(share * path.bdp_bytes(size))} B"}
    return protocol(name, path, size, **window, **changes)


def on_kernels(scenario: Scenario) -> Scenario:
    """The same with senders that repair losses as Linux 2.4 does; to a receiver without SACK they stay NewReno."""
    changes: dict[str, Any] = {}
    for name, flow in scenario.data["flow"].items():
        if "tcp" in flow:
            has_sack = flow["tcp"].get("receiver") != "freebsd-4.7"
            own = {k: v for k, v in KERNEL.items() if has_sack or k != "recovery"}
            changes[f"flow.{name}.tcp"] = {**flow["tcp"], **own}
    return scenario.with_(changes)


def stepwise(scenario: Scenario) -> Scenario:
    """The same with FAST as it was read before."""
    changes: dict[str, Any] = {}
    for name, flow in scenario.data["flow"].items():
        if flow.get("tcp", {}).get("law") == "fast":
            own = {"fast.version": "stepwise", "fast.empty_growth": 0.0, "pacing": "off"}
            changes |= {f"flow.{name}.tcp.{k}": v for k, v in own.items()}
    return scenario.with_(changes)


def cbr(mbps: float, packet_bytes: int, seconds: float, every_ms: float = 0.0) -> dict[str, Any]:
    """Datagrams at a constant rate for a time; their length counts IP.

    With `every_ms` what belongs to so long a time leaves together, as fast as the host's line takes it.
    """
    interval_ns = round(packet_bytes * 8e3 / mbps)
    packets = round(seconds * 1e9 / interval_ns)
    source: dict[str, Any] = {"type": "cbr", "payload": f"{packet_bytes - 28} B"}
    if not every_ms:
        return {"workload": {**source, "interval": f"{interval_ns} ns", "packets": packets}}
    together = max(1, round(every_ms * 1e6 / interval_ns))
    source |= {"interval": "1 ns", "packets": together, "bursts": max(1, round(packets / together))}
    return {"workload": {**source, "idle": f"{together * (interval_ns - 1) + 1} ns"}}


def others(mbps: float, seconds: float, size: Size) -> dict[str, dict[str, Any]]:
    """What others send over the path: all of a second at once, as fast as a host's line brings it; none at 0 Mbit/s."""
    if not mbps:
        return {}
    return {"others": cbr(mbps / size.divisor, MTU_BYTES, size.seconds(seconds), every_ms=1000)}


def at(seconds: float, flow: Mapping[str, Any]) -> dict[str, Any]:
    """A flow that starts later."""
    return {**flow, "start": f"{seconds:g} s"}


def scenario(
    path: Path,
    flows: Mapping[str, Mapping[str, Any]],
    seconds: float,
    size: Size,
    *,
    bin_s: float,
    rtts_ms: Mapping[str, float] | None = None,
    link: Mapping[str, Any] | None = None,
    record: Mapping[str, Any] | None = None,
    timeline: Sequence[Mapping[str, Any]] = (),
    shared: Sequence[str] = (),
) -> Scenario:
    """Flows from hosts of their own through the bottleneck of a path to hosts of their own.

    `seconds` is the time at full size. `rtts_ms` gives flows another round trip than the path's; what differs lies
    behind the bottleneck. Flows whose name begins with a word of `shared` start at one host together.
    """
    access = {"rate": _rate(path.access_mbps / size.divisor), "delay": "0 ms", "queue": _droptail(ENDLESS)}
    line: dict[str, Any] = {"rate": _rate(max(path.access_mbps, path.mbps) / size.divisor * 1.05)}
    if path.cell_mbps and not path.host_segments:
        line = {"type": "atm", "rate": _rate(path.cell_mbps / size.divisor)}
    ends = {"from": "router-a", "to": "router-b"}
    links: dict[str, Any] = {"bottleneck": {**ends, **path.bottleneck(size), **(link or {})}}
    first = "router-a"
    if path.port_packets:
        first = "port"
        links["port"] = {"from": first, "to": "router-a", **access, "queue": _droptail(size.packets(path.port_packets))}
        links["port"]["reverse"] = {"queue": _droptail(ENDLESS)}
    placed: dict[str, Any] = {}
    for name, flow in flows.items():
        host = next((word for word in shared if name.startswith(word)), name)
        behind_ms = (rtts_ms or {}).get(name, path.rtt_ms) / 2 - BOTTLENECK_ms
        links[f"in-{host}"] = {"from": f"host-{host}", "to": first, **access}
        way_out = {"from": "router-b", "to": f"sink-{host}", **access, **line}
        links[f"out-{host}"] = {**way_out, "delay": f"{behind_ms:g} ms"}
        placed[name] = {"from": f"host-{host}", "to": f"sink-{host}", "start": {"uniform": ["0 s", "100 ms"]}}
        placed[name] |= path.at_host(flow, size)
    sampled = ["bottleneck", *(name for name in flows if not name.startswith("short"))]
    return Scenario.from_dict(
        {
            "name": path.name,
            "duration": f"{size.seconds(seconds):g} s",
            "link": links,
            "flow": placed,
            "timeline": list(timeline),
            "record": {"sample": f"{bin_s:g} s", "sampled": sampled, **(record or {})},
        }
    )


def _rate(mbps: float) -> str:
    return f"{round(mbps * 1e6)} bit/s"


def _droptail(packets: int) -> dict[str, Any]:
    return {"type": "droptail", "limit": f"{packets} packets"}

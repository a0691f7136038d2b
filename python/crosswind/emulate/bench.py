"""How punctual, how fast and how exact emulation is on this machine, beside a bare pair of virtual devices.

Probes carry the time of their sending; what they take beyond the delay of the link is the error. Rows name the load of
the machine: on one that is busy with other work the numbers say as much about that work.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from crosswind.core import core
from crosswind.emulate import hosts as machine
from crosswind.emulate.hosts import Host
from crosswind.emulate.network import Network
from crosswind.scenario import Scenario

PORT = 7000
PRIORITY = 5
# Until a connection has found its rate, at the highest of them.
SETTLE_s = 8.0
FLOOD_BYTES = 100
HEADER_BYTES = 28
FAST = "10 Gbit/s"
# Delay of the link (ms) and probes per second.
PROBES = ((0, 10_000), (1, 10_000), (10, 10_000), (100, 10_000), (10, 50_000))
SHAPES_bps = (10_000_000, 100_000_000, 1_000_000_000)
SHAPED_RTT_ms = 60
DROPTAIL, FLOWS = "droptail", "fq-codel"
# Payload of a full segment with time stamps in a packet of 1500 bytes.
PAYLOAD_SHARE = 1448 / 1500
# The windows must hold the product of rate and round trip.
BULK_SETTINGS = {
    "net.ipv4.tcp_rmem": "4096 131072 67108864",
    "net.ipv4.tcp_wmem": "4096 131072 67108864",
}

Row = dict[str, Any]


def run(seconds: float, on_row: Callable[[Row], None] | None = None) -> list[Row]:
    """The whole benchmark, in a sandbox; rows as they come."""
    from crosswind.emulate import needs, sandbox

    privileges = needs.check()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "rows"
        process = sandbox.start({"kind": "bench", "seconds": seconds, "out": str(out)}, privileges)
        rows: list[Row] = []
        try:
            while True:
                is_over = process.poll() is not None
                lines = out.read_text(encoding="utf-8").splitlines() if out.exists() else []
                for line in lines[len(rows) :]:
                    rows.append(json.loads(line))
                    if on_row:
                        on_row(rows[-1])
                if is_over:
                    break
                time.sleep(0.2)
        finally:
            process.kill()
        if process.returncode != 0:
            raise machine.SetupError(f"the benchmark ended with exit code {process.returncode}")
        return rows


def inside(job: dict[str, Any]) -> int:
    """Runs in the sandbox: one line of JSON for each row."""
    machine.prepare()
    with Path(job["out"]).open("w", encoding="utf-8") as out:
        for row in rows(job["seconds"]):
            row["load"] = round(os.getloadavg()[0], 1)
            out.write(json.dumps(row) + "\n")
            out.flush()
    return 0


def rows(seconds: float) -> Iterator[Row]:
    """All measurements, in order."""
    bare = veth()
    for pace in sorted({p for _, p in PROBES}):
        yield {"what": "delay error", "path": "bare pair", "packets_per_s": pace, **probe(bare, pace, seconds, 0)}
    for delay_ms, pace in PROBES:
        yield delay_row(delay_ms, pace, seconds)
    yield delay_row(10, 10_000, seconds, FLOWS)
    yield flood_row_bare(bare, seconds)
    for ways in (1, 2):
        yield flood_row(ways, seconds)
    yield flood_row(1, seconds, FLOWS)
    for rate in SHAPES_bps:
        yield shape_row(rate, max(seconds, 5.0))


def veth() -> list[Host]:
    """Two namespaces joined by a pair of virtual devices, nothing between them."""
    pair = [Host("bare-a", "198.51.100.1", ""), Host("bare-b", "198.51.100.2", "")]
    for h in pair:
        machine.call(["ip", "netns", "add", h.name])
    machine.call(["ip", "-n", "bare-a", "link", "add", "cw0", "type", "veth", "peer", "name", "cw0", "netns", "bare-b"])
    for h in pair:
        lines = f"addr add {h.v4}/30 dev cw0\nlink set lo up\nlink set cw0 up\n"
        machine.call(["ip", "-n", h.name, "-batch", "-"], lines)
    return pair


@contextlib.contextmanager
def with_priority() -> Iterator[None]:
    """The flood gets a fixed priority below the driver's, so that it is the driver that sets the limit."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    except OSError:
        yield
        return
    try:
        yield
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def probe(pair: list[Host], pace: int, seconds: float, offset_ns: int) -> Row:
    """Delay beyond `offset_ns` of evenly spaced small packets from the first host to the second."""
    spaces = [h.namespace for h in pair]
    said = json.loads(core().emulate_probe(spaces, f"{pair[1].v4}:{PORT}", float(pace), seconds, offset_ns))
    return {
        "sent": said["sent"],
        "received": said["received"],
        **{f"error_{q}_us": round(said[f"{q}_ns"] / 1e3, 1) for q in ("min", "p50", "p99", "p999", "max")},
        "sender_late_p99_us": round(said["sender_late_p99_ns"] / 1e3, 1),
    }


_made = 0


def network(rate: str, delay: str, limit: str = "1000 packets", queue: str = DROPTAIL) -> Network:
    """Two hosts and a link between them; hosts of every network have names of their own."""
    global _made
    _made += 1
    a, b = f"a{_made}", f"b{_made}"
    held = {"type": queue, "limit": limit}
    scenario = Scenario.from_dict(
        {
            "name": "bench",
            "duration": "1 h",
            "link": {"path": {"from": a, "to": b, "rate": rate, "delay": delay, "queue": held}},
            "flow": {"f": {"from": a, "to": b, "workload": {"type": "bulk"}}},
        }
    )
    made = Network.build(scenario, seed=1)
    made.open()
    return made


def lateness(result: dict[str, Any]) -> Row:
    """What the driver itself saw."""
    late, over = result["machine"]["lateness"], result["machine"]["oversleep"]
    return {
        **{f"late_{q}_us": round(late[f"{q}_ns"] / 1e3, 1) for q in ("p50", "p99", "p999", "max")},
        "oversleep_p99_us": round(over["p99_ns"] / 1e3, 1),
        "has_priority": result["machine"]["has_priority"],
        "stolen_ms": round(result["machine"]["stolen_s"] * 1e3),
        "warnings": result["warnings"],
    }


def _named(path: str, queue: str) -> str:
    return path if queue == DROPTAIL else f"{path}, {queue}"


def delay_row(delay_ms: int, pace: int, seconds: float, queue: str = DROPTAIL) -> Row:
    net = network(FAST, f"{delay_ms} ms", queue=queue)
    net.start()
    # 128 bytes at 10 Gbit/s take a tenth of a microsecond.
    row = probe(net.hosts, pace, seconds, delay_ms * 1_000_000 + 102)
    return {
        "what": "delay error",
        "path": _named(f"link of {delay_ms} ms", queue),
        "packets_per_s": pace,
        **row,
        **lateness(net.stop()),
    }


def flood_row(ways: int, seconds: float, queue: str = DROPTAIL) -> Row:
    """Packets a second through a queue and a delay line of 10 ms."""
    net = network(FAST, "10 ms", queue=queue)
    net.start()
    a, b = net.hosts
    paths = [((a.namespace, b.namespace), f"{b.v4}:{PORT}"), ((b.namespace, a.namespace), f"{a.v4}:{PORT}")][:ways]
    with with_priority():
        said = json.loads(core().emulate_flood(paths, seconds, FLOOD_BYTES))
    time.sleep(0.1)
    result = net.stop()
    delivered = result["view"]["delivered_packets"]
    return {
        "what": "packets a second",
        "path": _named("link of 10 ms, one way" if ways == 1 else "link of 10 ms, both ways", queue),
        "packets_per_s": round(delivered / said["seconds"]),
        "offered_per_s": round(said["sent"] / said["seconds"]),
        **lateness(result),
    }


def flood_row_bare(pair: list[Host], seconds: float) -> Row:
    count = "cat /sys/class/net/cw0/statistics/rx_packets"
    before = int(pair[1].shell(count))
    path = [((pair[0].namespace, pair[1].namespace), f"{pair[1].v4}:{PORT}")]
    with with_priority():
        said = json.loads(core().emulate_flood(path, seconds, FLOOD_BYTES))
    received = int(pair[1].shell(count)) - before
    return {
        "what": "packets a second",
        "path": "bare pair, one way",
        "packets_per_s": round(received / said["seconds"]),
        "offered_per_s": round(said["sent"] / said["seconds"]),
    }


def shape_row(rate_bps: int, seconds: float) -> Row:
    """Goodput of one connection of the kernel against what the rate leaves after headers."""
    limit_bytes = max(rate_bps * SHAPED_RTT_ms // 8000, 30_000)
    net = network(f"{rate_bps} bit/s", f"{SHAPED_RTT_ms // 2} ms", f"{limit_bytes} B")
    for h in net.hosts:
        machine.settings(h, BULK_SETTINGS)
    net.start()
    a, b = net.hosts
    said = json.loads(core().emulate_bulk([a.namespace, b.namespace], f"{b.v4}:{PORT}", seconds, SETTLE_s))
    result = net.stop()
    expected = rate_bps * PAYLOAD_SHARE
    forward = next(v for v in result["view"]["links"] if v["direction"] == "forward")
    return {
        "what": "shaping",
        "path": f"{rate_bps // 1_000_000} Mbit/s, {SHAPED_RTT_ms} ms",
        "goodput_bps": round(said["goodput_bps"]),
        "expected_bps": round(expected),
        "ratio": round(said["goodput_bps"] / expected, 4),
        "drops_packets": forward["drops_packets"],
        **lateness(result),
    }


def line(row: Row) -> str:
    """A row for people."""
    head = f"{row['what']:<17}{row['path']:<34}"
    if row["what"] == "delay error":
        body = (
            f"{row['packets_per_s']:>7} packets/s   error p50 {row['error_p50_us']:>8} p99 {row['error_p99_us']:>8} "
            f"p99.9 {row['error_p999_us']:>8} us"
        )
    elif row["what"] == "shaping":
        body = f"{row['goodput_bps'] / 1e6:>9.2f} Mbit/s goodput, {row['ratio'] * 100:.1f} % of what the rate leaves"
    else:
        body = f"{row['packets_per_s']:>7} packets/s of {row['offered_per_s']} offered"
    if "late_p99_us" in row:
        body += f"   left late p50 {row['late_p50_us']} p99 {row['late_p99_us']} p99.9 {row['late_p999_us']} us"
    if row.get("stolen_ms"):
        body += f"   {row['stolen_ms']} ms stolen"
    return f"{head}{body}   load {row['load']}" + "".join(f"\n    {w}" for w in row.get("warnings", []))

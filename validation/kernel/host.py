"""Drives the kernel's own `htb` and `tbf`: two namespaces joined by a veth, datagrams offered faster than they may
leave, counters read by `tc`. Classes are chosen by the sockets' priority, so no filter is needed."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from validation.kernel.cases import ETHERNET_BYTES, Case, Class

NAMESPACE, PEER = "crosswind-qos-a", "crosswind-qos-b"
LIMIT_PACKETS = 20
TIME_UNSURE_MAX = 0.01
"""Largest part of a measurement by which its duration may be wrong."""

SENDER = r"""
import json, socket, sys, time
flows, longest_s = json.loads(sys.argv[1]), 0.0
for f in flows:
    s = f["socket"] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, f["priority"])
    s.setblocking(False)
    f["due"], f["data"] = time.monotonic(), bytes(f["payload"])
last = time.monotonic()
end = last + float(sys.argv[2])
while (now := time.monotonic()) < end:
    longest_s, last = max(longest_s, now - last), now
    for f in flows:
        while f["due"] <= now:
            # After a stall it goes on from now; a full queue needs no more.
            f["due"] = max(f["due"], now - 0.02) + f["interval"]
            try:
                f["socket"].sendto(f["data"], ("10.9.0.77", 9))
            except OSError:
                pass
    time.sleep(max(0.0, min(f["due"] for f in flows) - time.monotonic()))
print(longest_s)
"""


@dataclass(frozen=True)
class Measured:
    """What a kernel gave, and whether the machine let us see it."""

    rates: dict[str, float]
    """Rate of each class that sends, in kbit/s with the Ethernet header, after the buckets have been emptied."""
    disturbed: str = ""
    """Why the rates say nothing about the shaper; empty when they do."""


def missing() -> str:
    """Why the kernel cannot be asked here; empty when it can."""
    if sys.platform != "linux":
        return "this is not Linux"
    if os.geteuid() != 0:
        return "it takes root to make network namespaces"
    for program in ("ip", "tc"):
        if shutil.which(program) is None:
            return f"`{program}` is not installed (Debian: iproute2)"
    try:
        with _namespaces():
            for kind in ("htb", "tbf rate 1mbit burst 5000 limit 9000"):
                _tc("qdisc", "replace", "dev", "qa", "root", *kind.split())
    except subprocess.CalledProcessError as e:
        return f"{' '.join(e.cmd)}: {e.stderr.strip()}"
    return ""


def _run(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def _tc(*words: str) -> str:
    return _run("tc", "-n", NAMESPACE, *words)


@contextmanager
def _namespaces() -> Iterator[None]:
    _remove()
    try:
        _run("ip", "netns", "add", NAMESPACE)
        _run("ip", "netns", "add", PEER)
        _run("ip", "link", "add", "qa", "netns", NAMESPACE, "type", "veth", "peer", "name", "qb", "netns", PEER)
        _run("ip", "-n", NAMESPACE, "addr", "add", "10.9.0.1/24", "dev", "qa")
        _run("ip", "-n", NAMESPACE, "link", "set", "qa", "up")
        _run("ip", "-n", PEER, "link", "set", "qb", "up")
        # Nobody has this address: what arrives is thrown away without an answer.
        neighbour = ("lladdr", "02:00:00:00:00:77", "dev", "qa")
        _run("ip", "-n", NAMESPACE, "neigh", "add", "10.9.0.77", *neighbour)
        yield
    finally:
        _remove()


def _remove() -> None:
    for name in (NAMESPACE, PEER):
        subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def measure(case: Case, seconds: float, tries: int = 5) -> Measured:
    """The first measurement that the machine did not disturb, else the last of `tries`."""
    found = _measure(case, seconds)
    for _ in range(tries - 1):
        if not found.disturbed:
            break
        found = _measure(case, seconds)
    return found


def _measure(case: Case, seconds: float) -> Measured:
    numbers = {c.name: i for i, c in enumerate(case.classes, start=0x10)}
    with _namespaces():
        _configure(case, numbers)
        flows = [_flow(c, numbers[c.name]) for c in case.leaves() if c.offered]
        words = ["ip", "netns", "exec", NAMESPACE, sys.executable, "-c", SENDER, json.dumps(flows), str(seconds + 1.5)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as sender:
            time.sleep(1.0)
            before, start, unsure_s = _timed_bytes(case, numbers)
            time.sleep(seconds)
            after, end, unsure_too_s = _timed_bytes(case, numbers)
            stall_s = float(sender.communicate()[0])
    sends = [c.name for c in case.leaves() if c.offered]
    rates = {name: (after[name] - before[name]) * 8 / (end - start) / 1000 for name in sends}
    return Measured(rates, _disturbance(case, stall_s, (unsure_s + unsure_too_s) / (end - start)))


def _disturbance(case: Case, stall_s: float, unsure: float) -> str:
    """What spoilt a measurement: a queue empty while the sender paused, or counters read at no certain time."""
    # A class is backlogged as long as its queue lasts; nobody is served faster than all together.
    together = sum(case.expected.values())
    lasts_s = min(
        LIMIT_PACKETS * (c.packet_bytes + ETHERNET_BYTES) * 8e-3 / together for c in case.leaves() if c.offered
    )
    if stall_s > lasts_s:
        return f"the sender paused for {stall_s * 1e3:.0f} ms; a queue lasts {lasts_s * 1e3:.0f} ms"
    if unsure > TIME_UNSURE_MAX:
        return f"the counters were read {unsure:.1%} of the time too early or too late"
    return ""


def _timed_bytes(case: Case, numbers: dict[str, int]) -> tuple[dict[str, int], float, float]:
    """Bytes that have left by class, the time at which they were read, and by how much it may be wrong, in s."""
    start = time.monotonic()
    counted = _bytes(case, numbers)
    end = time.monotonic()
    return counted, (start + end) / 2, (end - start) / 2


def _flow(c: Class, number: int) -> dict[str, float]:
    interval = (c.packet_bytes + ETHERNET_BYTES) * 8e-3 / c.offered
    return {"priority": 0x10000 + number, "payload": c.packet_bytes - 28, "interval": interval}


def _configure(case: Case, numbers: dict[str, int]) -> None:
    if case.is_tbf:
        rate, limit = (
            f"{case.classes[0].rate}kbit",
            str(LIMIT_PACKETS * (case.classes[0].packet_bytes + ETHERNET_BYTES)),
        )
        _tc("qdisc", "add", "dev", "qa", "root", "tbf", "rate", rate, "burst", str(case.burst_bytes), "limit", limit)
        return
    _tc("qdisc", "add", "dev", "qa", "root", "handle", "1:", "htb", "default", "0")
    leaves = case.leaves()
    for c in case.classes:
        parent = f"1:{numbers[c.parent]:x}" if c.parent else "1:"
        name, burst = f"1:{numbers[c.name]:x}", str(case.burst_bytes)
        words = ["rate", f"{c.rate}kbit", "ceil", f"{c.ceil or c.rate}kbit", "burst", burst, "cburst", burst]
        words += ["prio", str(c.prio), "quantum", str(c.quantum_bytes)]
        _tc("class", "add", "dev", "qa", "parent", parent, "classid", name, "htb", *words)
        if c in leaves:
            _tc("qdisc", "add", "dev", "qa", "parent", name, "pfifo", "limit", str(LIMIT_PACKETS))


def _bytes(case: Case, numbers: dict[str, int]) -> dict[str, int]:
    """Bytes that have left, by class."""
    if case.is_tbf:
        sent = json.loads(_tc("-s", "-j", "qdisc", "show", "dev", "qa"))[0]["bytes"]
        return {case.classes[0].name: int(sent)}
    text = _tc("-s", "class", "show", "dev", "qa")
    found = {m[1]: int(m[2]) for m in re.finditer(r"class htb 1:(\w+) [^\n]*\n\s+Sent (\d+) bytes", text)}
    return {name: found[f"{number:x}"] for name, number in numbers.items()}

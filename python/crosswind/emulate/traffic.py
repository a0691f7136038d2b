"""Load, sink and echo in real time: greedy TCP flows, and what they do to the round trips of a UDP echo beside them.

Standard library only: `crosswind shell` starts this file itself as the program of `server`, and it listens at once.

The sink answers two things on one port. A TCP connection begins with a line: `up` (what comes is thrown away; at its
end the sink says how many bytes came in how many seconds) or `down` (it sends until the other end closes), each with
the name of a congestion control behind it or none. A datagram of UDP comes back as it is.
"""

from __future__ import annotations

import contextlib
import json
import math
import select
import socket
import struct
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

PORT = 5001
BLOCK = bytes(65536)
ECHO = struct.Struct("!QQ")
# Lengths of a probe as those of a voice call, and how long after the load an answer may still come.
ECHO_bytes = 172
LINGER_s = 2.0
CONNECT_s = 10.0
CLOSED = "closed by the sink before its time, as where that has no such congestion control"


def sink(port: int = PORT, address: str = "") -> None:
    """Throws away or sends whatever it is asked for, and echoes datagrams, until it is ended."""
    family = socket.AF_INET6 if socket.has_ipv6 and not address else socket.AF_INET
    try:
        listening = socket.create_server((address, port), family=family, dualstack_ipv6=family == socket.AF_INET6)
    except OSError:
        listening = socket.create_server((address, port))
    echo = socket.socket(listening.family, socket.SOCK_DGRAM)
    if listening.family == socket.AF_INET6:
        echo.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    echo.bind((address, port))
    threading.Thread(target=_echo, args=(echo,), daemon=True).start()
    while True:
        connection, _ = listening.accept()
        threading.Thread(target=_serve, args=(connection,), daemon=True).start()


def _echo(echo: socket.socket) -> None:
    while True:
        data, whom = echo.recvfrom(65536)
        with contextlib.suppress(OSError):
            echo.sendto(data, whom)


def _serve(connection: socket.socket) -> None:
    with connection, contextlib.suppress(OSError):
        way, _, law = connection.recv(64).split(b"\n")[0].partition(b" ")
        if law:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, law)
        if way == b"down":
            while True:
                connection.sendall(BLOCK)
        first, last, total, buffer = 0.0, 0.0, 0, bytearray(len(BLOCK))
        while n := connection.recv_into(buffer):
            last = time.monotonic()
            first = first or last
            total += n
        connection.sendall(json.dumps([total, last - first]).encode())


@dataclass(frozen=True)
class Load:
    """What is to be sent: greedy flows each way for `seconds`, after `idle` seconds of echoes alone."""

    host: str
    port: int = PORT
    down: int = 4
    up: int = 0
    seconds: float = 10.0
    idle: float = 2.0
    interval: float = 0.02
    law: str = ""
    probe: str = "on"


@dataclass
class Seen:
    """What happened. `echoes`: (time sent, round trip) in seconds; `flows`: direction, bytes, seconds."""

    asked: Load
    sent: int = 0
    echoes: list[tuple[float, float]] = field(default_factory=list)
    flows: list[tuple[str, int, float]] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def phase(self, which: str) -> list[float]:
        """Round trips of echoes sent before the load (`idle`), or beside it (`loaded`, a second after its start)."""
        begin, end = (0.0, self.asked.idle) if which == "idle" else (self.asked.idle + 1.0, self._end)
        return [rtt for at, rtt in self.echoes if begin <= at < end]

    @property
    def _end(self) -> float:
        return self.asked.idle + self.asked.seconds

    def as_dict(self) -> dict[str, Any]:
        """For scripts: times in seconds, rates in bit/s; what was not measured is null."""
        rates = [{"direction": d, "bytes": n, "goodput_bps": 8 * n / s if s > 0 else None} for d, n, s in self.flows]
        phases = {which: summary(self.phase(which)) for which in ("idle", "loaded")}
        loaded = phases["loaded"]["mean_s"]
        return {
            "host": self.asked.host, "echoes_sent": self.sent, "echoes_answered": len(self.echoes), **phases,
            "responsiveness_rpm": 60 / loaded if loaded else None, "flows": rates, "failed": self.failed,
        }  # fmt: skip


def summary(trips: Sequence[float]) -> dict[str, float | int | None]:
    """Number, mean and quantiles of round trips in seconds."""
    ranked = sorted(trips)

    def at(q: float) -> float | None:
        return ranked[min(len(ranked) - 1, math.ceil(q * len(ranked)) - 1)] if ranked else None

    mean = sum(ranked) / len(ranked) if ranked else None
    return {"echoes": len(ranked), "mean_s": mean, "p50_s": at(0.5), "p95_s": at(0.95), "p99_s": at(0.99)}


def load(asked: Load) -> Seen:
    """Runs the load and the echoes; returns when both are over. Raises OSError where the sink cannot be reached."""
    seen = Seen(asked)
    _connected(asked).close()
    start = time.monotonic()
    probe = threading.Thread(target=_probe, args=(asked, start, seen), daemon=True)
    if asked.probe == "on":
        probe.start()
    time.sleep(asked.idle)
    until = start + asked.idle + asked.seconds
    ways = ["down"] * asked.down + ["up"] * asked.up
    flows = [threading.Thread(target=_flow, args=(asked, way, until, seen), daemon=True) for way in ways]
    for flow in flows:
        flow.start()
    for flow in flows:
        flow.join(max(0.0, until - time.monotonic()) + CONNECT_s)
    if asked.probe == "on":
        probe.join()
    return seen


def _connected(asked: Load) -> socket.socket:
    return socket.create_connection((asked.host, asked.port), CONNECT_s)


def _flow(asked: Load, way: str, until: float, seen: Seen) -> None:
    try:
        with _connected(asked) as flow:
            if asked.law:
                flow.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, asked.law.encode())
            flow.sendall(f"{way} {asked.law}\n".encode())
            total, took = _down(flow, until) if way == "down" else _up(flow, until)
            seen.flows.append((way, total, took))
    except OSError as e:
        seen.failed.append(f"{way}: {e.strerror or e}")


def _down(flow: socket.socket, until: float) -> tuple[int, float]:
    total, start, buffer = 0, time.monotonic(), bytearray(len(BLOCK))
    while (left := until - time.monotonic()) > 0:
        flow.settimeout(left)
        try:
            n = flow.recv_into(buffer)
        except TimeoutError:
            break
        if not n:
            raise ConnectionError(CLOSED)
        total += n
    return total, time.monotonic() - start


def _up(flow: socket.socket, until: float) -> tuple[int, float]:
    while (left := until - time.monotonic()) > 0:
        flow.settimeout(left)
        try:
            flow.send(BLOCK)
        except TimeoutError:
            break
    flow.settimeout(CONNECT_s)
    flow.shutdown(socket.SHUT_WR)
    if not (answer := flow.recv(64)):
        raise ConnectionError(CLOSED)
    total, took = json.loads(answer)
    return int(total), float(took)


def _probe(asked: Load, start: float, seen: Seen) -> None:
    """Echoes at a fixed interval, whether or not answers come."""
    kind = socket.getaddrinfo(asked.host, asked.port, type=socket.SOCK_DGRAM)[0]
    with socket.socket(kind[0], socket.SOCK_DGRAM) as probe:
        probe.connect(kind[4])
        probe.setblocking(False)
        end, number = asked.idle + asked.seconds, 0
        while (now := time.monotonic() - start) < end + LINGER_s:
            due = number * asked.interval
            if now >= due and due < end:
                with contextlib.suppress(OSError):
                    probe.send(ECHO.pack(number, time.monotonic_ns()).ljust(ECHO_bytes, b"\0"))
                    seen.sent += 1
                number += 1
                continue
            wait = (due if due < end else end + LINGER_s) - now
            if select.select([probe], [], [], max(0.0, wait))[0]:
                with contextlib.suppress(OSError):
                    n, sent_ns = ECHO.unpack(probe.recv(65536)[: ECHO.size])
                    seen.echoes.append((n * asked.interval, (time.monotonic_ns() - sent_ns) / 1e9))
            if number * asked.interval >= end and len(seen.echoes) == seen.sent:
                break


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sink(int(sys.argv[1]) if len(sys.argv) > 1 else PORT)

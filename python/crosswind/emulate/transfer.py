"""One transfer between our own TCP and the kernel's of this machine, byte for byte; or its twin in virtual time."""

from __future__ import annotations

import json
import os
import signal
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from crosswind.core import core, has_hook
from crosswind.emulate import needs, sandbox
from crosswind.emulate.hosts import prepare
from crosswind.emulate.opposite import punctual
from crosswind.errors import CrosswindError, InputError, InterruptedRunError

Table = dict[str, Any]
#: Buffers of both ends: the windows of long transfers are not to be held by them.
BUFFER = "8 MB"
SETTINGS = {"net.ipv4.tcp_rmem": "4096 131072 67108864", "net.ipv4.tcp_wmem": "4096 131072 67108864"}
SWITCHED = {True: "1", False: "0"}
#: `tcp_ecn` of Linux.
ECN = {"off": "0", "classic": "1", "accurate": "3"}


@dataclass(frozen=True)
class Transfer:
    """What is sent over which link.

    `size_bytes`: payload. `rate`, `delay` (one way) and `queue` as in a scenario. `loss`: probability of each packet of
    the data's direction, 0 to 1. `ecn`: what both ends ask for, `off`, `classic` (RFC 3168) or `accurate` (RFC 9768,
    which kernels up to 6.18 refuse). `tcp`: further keys of our own end. `kernels_law`: where the kernel sends.
    `limit_s`: it is broken off then.
    """

    size_bytes: int
    rate: str
    delay: str
    queue: Table
    loss: float = 0.0
    ecn: Literal["off", "classic", "accurate"] = "off"
    sack: bool = True
    tcp: Table | None = None
    kernels_law: str = "cubic"
    seed: int = 1
    limit_s: float = 600.0

    def request(self, *, to_kernel: bool, is_virtual: bool = False, pcap: Path | None = None) -> Table:
        """What the engine is asked for."""
        # What Linux does of today needs SACK.
        base = {"preset": "linux-6-cubic"} if self.sack else {"preset": "rfc", "sack": "off", "recovery": "newreno"}
        own = {
            **base, "mss": "1448 B", "timestamps": "on", "receive_buffer": BUFFER, "send_buffer": BUFFER,
            "ecn": self.ecn, **(self.tcp or {}),
        }  # fmt: skip
        settings = {**SETTINGS, "net.ipv4.tcp_sack": SWITCHED[self.sack], "net.ipv4.tcp_ecn": ECN[self.ecn]}
        return {
            "to_kernel": to_kernel, "size_bytes": self.size_bytes, "own": own,
            # Linux acknowledges every segment of a transfer like this one.
            "twins": {**own, "ack_every_segments": 1},
            "kernels_law": self.kernels_law, "settings": sorted(settings.items()),
            "link": {"type": "wire", "rate": self.rate, "delay": self.delay}, "queue": self.queue,
            "loss": {"type": "uniform", "probability": self.loss} if self.loss else None,
            "seed": self.seed, "limit_s": self.limit_s, "is_virtual": is_virtual,
            "pcap": str(pcap.resolve()) if pcap else None,
        }  # fmt: skip


def transfer(request: Table) -> dict[str, Any]:
    """Runs a transfer, in real time in a sandbox of its own; returns what came out (`crosswind host --json`).

    Raises MissingError where the build or the machine lacks something, InputError for a table that the engine refuses.
    """
    if not has_hook("host_transfer"):
        raise needs.MissingError("our own TCP in real bytes is in another build: `make stacks`")
    if request["is_virtual"]:
        return _asked(request)
    privileges = needs.check()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "outcome.json"
        code = sandbox.listen({"kind": "transfer", "request": request, "out": str(out)}, privileges, lambda _line: None)
        if code in (128 + signal.SIGINT, 128 + signal.SIGTERM):
            raise InterruptedRunError("interrupted; nothing of the transfer is left")
        if not out.exists():
            raise CrosswindError(f"the sandbox of the transfer ended with exit code {code}")
        said: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    error = said.get("error")
    if error and "tcp_ecn" in error and request["own"].get("ecn") == "accurate":
        raise InputError(
            "--accecn", found="a kernel without accurate ECN", expected="one with `net.ipv4.tcp_ecn = 3`, or --ecn"
        )
    if error:
        raise InputError("host", found=error, expected="a transfer that the engine and this machine can make")
    return said


def inside(job: dict[str, Any]) -> int:
    """The transfer, in the sandbox. The engine cannot be interrupted, so that a signal ends the process itself."""
    prepare()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL if os.getpid() != 1 else _end)
    punctual()
    try:
        said = _asked(job["request"])
    except InputError as e:
        said = {"error": e.found}
    Path(job["out"]).write_text(json.dumps(said), encoding="utf-8")
    return 0


def _end(number: int, _frame: object) -> None:
    os._exit(128 + number)


def _asked(request: Table) -> dict[str, Any]:
    try:
        said: dict[str, Any] = json.loads(core().host_transfer(json.dumps(request)))
    except (OSError, ValueError) as e:
        raise InputError(
            "host", found=str(e), expected="a transfer that the engine and this machine can make"
        ) from None
    return said

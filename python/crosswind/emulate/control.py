"""The door of a running emulation: a socket through which it can be watched and changed from outside.

One line of JSON in, lines of JSON out. `{"do": "view"}`, `{"do": "watch", "every": 1.0}`,
`{"do": "change", "link": "last-hop", "direction": null, "set": {"rate": "32 kbit/s"}}`.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import socketserver
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crosswind.errors import CrosswindError, InputError, did_you_mean
from crosswind.scenario import parse_value

if TYPE_CHECKING:
    from crosswind.emulate.network import Network

LONGEST_LINE_bytes = 1 << 16
ANSWER_TIMEOUT_s = 10.0
# The driver notes a change at once; it is seen at the next look, a tenth of a second later on an idle machine.
NOTE_TIMEOUT_s = 5.0


def folder() -> Path:
    """Where the doors of this user are."""
    base = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    path = Path(base) / f"crosswind-{os.getuid()}"
    path.mkdir(mode=0o700, exist_ok=True)
    if path.stat().st_uid != os.getuid():
        raise CrosswindError(f"{path} belongs to somebody else")
    return path


def doors() -> list[Path]:
    """The doors of emulations that run; those of runs that were killed are taken away."""
    found = []
    for path in sorted(folder().glob("*.sock")):
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(str(path))
            except OSError:
                path.unlink(missing_ok=True)
                continue
            found.append(path)
    return found


def new_door() -> Path:
    """A place for the door of this process."""
    doors()
    return folder() / f"{os.getpid()}.sock"


def notes(network: Network) -> list[str]:
    """What has been changed so far, as far as it has been seen."""
    found: list[str] = network.view().get("notes", [])
    return found


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    network: Network
    over: threading.Event


class _Visitor(socketserver.StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        with contextlib.suppress(OSError):
            line = self.rfile.readline(LONGEST_LINE_bytes)
            if not line:
                return
            try:
                for answer in self.answers(json.loads(line)):
                    self.wfile.write(json.dumps(answer).encode() + b"\n")
            except (ValueError, KeyError, TypeError) as e:
                self.wfile.write(json.dumps({"error": str(e)}).encode() + b"\n")

    def answers(self, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
        network = self.server.network
        if request["do"] == "view":
            yield network.view()
        elif request["do"] == "change":
            before = len(notes(network))
            network.change(str(request["link"]), request.get("direction"), dict(request["set"]))
            until = time.monotonic() + NOTE_TIMEOUT_s
            while len(notes(network)) == before and time.monotonic() < until:
                time.sleep(0.02)
            yield {"done": notes(network)[before:]}
        elif request["do"] == "watch":
            every = max(0.1, float(request.get("every", 1.0)))
            while not self.server.over.wait(every):
                yield network.view()
        else:
            raise ValueError(f"no such request: {request['do']}")


class Door:
    """The inner side of the door."""

    @staticmethod
    @contextlib.contextmanager
    def open(network: Network, path: str | None) -> Iterator[None]:
        """Lets visitors in while the block runs."""
        if path is None:
            yield
            return
        Path(path).unlink(missing_ok=True)
        server = _Server(path, _Visitor)
        server.network, server.over = network, threading.Event()
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
        try:
            yield
        finally:
            server.over.set()
            server.shutdown()
            Path(path).unlink(missing_ok=True)


def _the_door(number: int | None) -> Path:
    found = doors()
    if number is not None:
        found = [d for d in found if d.stem == str(number)]
    if not found:
        raise CrosswindError("no emulation is running" + (f" as process {number}" if number else ""))
    if len(found) > 1:
        which = ", ".join(d.stem for d in found)
        raise InputError("--of", found=f"{len(found)} emulations that run", expected=f"one of the processes {which}")
    return found[0]


def ask(request: dict[str, Any], number: int | None = None) -> Iterator[dict[str, Any]]:
    """Says one thing to a running emulation and yields its answers."""
    with socket.socket(socket.AF_UNIX) as door:
        door.settimeout(ANSWER_TIMEOUT_s)
        door.connect(str(_the_door(number)))
        door.sendall(json.dumps(request).encode() + b"\n")
        with door.makefile("rb") as lines:
            for line in lines:
                answer = json.loads(line)
                if "error" in answer:
                    raise CrosswindError(f"the emulation refused: {answer['error']}")
                yield answer


def parse_change(text: str, links: list[str]) -> dict[str, Any]:
    """`last-hop.rate=32 kbit/s` or `last-hop/reverse.delay=1 s` as a request. Raises InputError."""
    place, eq, value = text.partition("=")
    link, _, key = place.partition(".")
    link, _, direction = link.partition("/")
    if not eq or not key or direction not in ("", "forward", "reverse"):
        raise InputError("--control", found=f"`{text}`", expected="LINK.KEY=VALUE, e.g. last-hop.rate='32 kbit/s'")
    if link not in links:
        raise InputError("--control", found=f"link `{link}`", expected=", ".join(links), hint=did_you_mean(link, links))
    values: dict[str, Any] = {}
    node = values
    *above, last = key.split(".")
    for name in above:
        node = node.setdefault(name, {})
    node[last] = parse_value(value)
    return {"do": "change", "link": link, "direction": direction or None, "set": values}

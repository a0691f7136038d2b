"""Results for other programs: CSV, Arrow, qlog (opens in qvis), text traces in the manner of ns-2."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl

from crosswind.core import version
from crosswind.errors import InputError, did_you_mean
from crosswind.results.folder import prepare_out
from crosswind.results.runs import Runs

NS_PER_MS = 1e6
# Event -> the letter of ns-2: a packet enters the sender's queue, is received, is dropped.
NS2_LETTERS = {"send": "+", "retransmit": "+", "receive": "r", "drop": "d", "lost": "d"}


def csv(runs: Runs, folder: Path) -> list[Path]:
    """Every table as CSV."""
    return _tables(runs, folder, ".csv", lambda rows, path: rows.sink_csv(path))


def arrow(runs: Runs, folder: Path) -> list[Path]:
    """Every table as an Arrow IPC file (Feather)."""
    return _tables(runs, folder, ".arrow", lambda rows, path: rows.sink_ipc(path))


def _tables(runs: Runs, folder: Path, suffix: str, write: Callable[[pl.LazyFrame, Path], Any]) -> list[Path]:
    out = []
    for name, table in runs.sources().items():
        path = prepare_out(folder) / f"{name}{suffix}"
        write(table.lazy(), path)
        out.append(path)
    return out


def events_of(runs: Runs, flow: str | None) -> pl.DataFrame:
    """The logged events of the first configuration and repetition (of one flow). Raises InputError without any."""
    events = runs.events()
    if events.is_empty():
        raise InputError(
            "export", found="no events", expected="a run that logs them: --set record.events=all, or [record] events"
        )
    names = events["name"].unique(maintain_order=True).to_list()
    if flow is not None and flow not in names:
        raise InputError(
            "--flow", found=f"`{flow}`", expected=f"one of {', '.join(names)}", hint=did_you_mean(flow, names)
        )
    first = events.head(1)
    events = events.filter(
        (pl.col("configuration") == first["configuration"][0]) & (pl.col("rep") == events["rep"].min())
    )
    return events if flow is None else events.filter(pl.col("name") == flow)


def qlog(runs: Runs, flow: str | None = None) -> dict[str, Any]:
    """The sender's events as qlog 0.3, one trace per flow. Packet numbers count transmissions; times are in ms."""
    events = events_of(runs, flow)
    traces = []
    for (name,), part in events.filter(pl.col("end") == "sender").group_by(["name"], maintain_order=True):
        traces.append(
            {
                "title": str(name),
                "vantage_point": {"name": str(name), "type": "server"},
                "common_fields": {"ODCID": str(name), "time_format": "relative", "reference_time": 0},
                "events": list(_Qlog().events(part)),
            }
        )
    return {
        "qlog_version": "0.3",
        "qlog_format": "JSON",
        "title": next(iter(runs.scenarios.values())).title,
        "description": f"Crosswind {version()}; TCP written in the events of QUIC",
        "traces": traces,
    }


class _Qlog:
    """Turns the events of one sender into those of qlog."""

    def __init__(self) -> None:
        self.number = self.acks = 0
        self.flying: dict[int, tuple[int, int]] = {}
        self.latest: dict[int, int] = {}

    def events(self, part: pl.DataFrame) -> Iterator[dict[str, Any]]:
        for time_ns, kind, seq, length, aux in part.select("time_ns", "kind", "seq", "len", "aux").iter_rows():
            for name, data in self.one(kind, seq, length, aux):
                yield {"time": time_ns / NS_PER_MS, "name": name, "data": data}

    def one(self, kind: str, seq: int, length: int, aux: int) -> Iterator[tuple[str, dict[str, Any]]]:
        if kind in ("send", "retransmit") and length > 0:
            if kind == "retransmit" and seq in self.latest:
                old = self.latest[seq]
                self.flying.pop(old, None)
                yield "recovery:packet_lost", {"header": _header(old)}
            frames = [{"frame_type": "stream", "stream_id": 0, "offset": max(0, seq - 1), "length": length}]
            self.flying[self.number] = (seq, seq + length)
            self.latest[seq] = self.number
            yield (
                "transport:packet_sent",
                {"header": _header(self.number), "raw": {"length": length + 40}, "frames": frames},
            )
            self.number += 1
        elif kind in ("ack", "sack"):
            covers = (lambda a, b: b <= seq) if kind == "ack" else (lambda a, b: a >= seq and b <= seq + length)
            numbers = [n for n, (a, b) in self.flying.items() if covers(a, b)]
            for n in numbers:
                del self.flying[n]
            if numbers:
                frames = [{"frame_type": "ack", "acked_ranges": _ranges(numbers)}]
                self.acks += 1
                yield (
                    "transport:packet_received",
                    {"header": _header(self.acks), "raw": {"length": 40}, "frames": frames},
                )
        elif kind == "cwnd":
            flying = sum(b - a for a, b in self.flying.values())
            yield "recovery:metrics_updated", {"congestion_window": seq, "ssthresh": aux, "bytes_in_flight": flying}
        elif kind == "rtt":
            yield "recovery:metrics_updated", {"latest_rtt": seq / NS_PER_MS}
        elif kind in ("timeout", "recovery", "recovered", "spurious", "ecn_reduce"):
            yield "recovery:congestion_state_updated", {"new": kind}


def _header(number: int) -> dict[str, Any]:
    return {"packet_type": "1RTT", "packet_number": number}


def _ranges(numbers: list[int]) -> list[list[int]]:
    out: list[list[int]] = []
    for n in sorted(numbers):
        if out and out[-1][1] == n - 1:
            out[-1][1] = n
        else:
            out.append([n, n])
    return out


def write_qlog(runs: Runs, path: Path, flow: str | None = None) -> Path:
    """Writes a .qlog file."""
    path.write_text(json.dumps(qlog(runs, flow)) + "\n", encoding="utf-8")
    return path


def ns2(runs: Runs, flow: str | None = None) -> Iterator[str]:
    """Lines like ns-2's: event, seconds, from, to, type, bytes, flags, flow id, source, destination, sequence, number.

    Sequence numbers are bytes. Hops between the ends are not in the log: packets go from end to end.
    """
    events = events_of(runs, flow).filter(pl.col("kind").is_in(list(NS2_LETTERS)))
    ends = {"sender": ("0", "1"), "receiver": ("1", "0")}
    columns = ("time_ns", "flow", "end", "kind", "seq", "len")
    for number, (time_ns, fid, end, kind, seq, length) in enumerate(events.select(columns).iter_rows()):
        a, b = ends.get(end, ends["sender"])
        if kind == "receive":
            a, b = b, a
        packet = "tcp" if length > 0 else "ack"
        head = f"{NS2_LETTERS[kind]} {time_ns / 1e9:.9g} {a} {b} {packet} {length + 40}"
        yield f"{head} ------- {fid} {a}.0 {b}.0 {seq} {number}"

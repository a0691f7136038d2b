"""All benchmarks as one page: `docs/performance.md`, its data and its figures."""

from __future__ import annotations

import datetime
import json
import os
import platform
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from crosswind import figures
from crosswind.bench import instructions, many, scale
from crosswind.bench.curves import Line, curves
from crosswind.bench.peers import Ns2
from crosswind.core import build
from crosswind.results.summary import show_bytes
from crosswind.table import Table

Say = Callable[[str], None]
Results = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """How thorough, and against whom."""

    reps: int = 3
    pace: scale.Pace = "full"
    peers: Literal["installed", "none"] = "installed"
    instructions: instructions.Store = "compare"


def measure(part: str, settings: Settings, say: Say) -> Any:
    """Runs one part."""
    pace, reps = settings.pace, settings.reps
    quick = pace == "quick"
    parts: dict[str, Callable[[], Any]] = {
        "scale": lambda: list(scale.costs(pace, reps, say)),
        "crowds": lambda: list(scale.crowds(pace, reps, say)),
        "long": lambda: scale.long_pair(pace, say, Ns2.find() if settings.peers == "installed" else None),
        "cores": lambda: many.cores(say, 200 if quick else 1000),
        "start": lambda: many.start_cost(say, 2000 if quick else 20_000),
        "recording": lambda: many.recording(say, 15.0 if quick else 60.0),
        "answers": lambda: many.answers(say, 10 if quick else 30),
        "instructions": lambda: instructions.measure(say, settings.instructions),
        "queues": lambda: instructions.queues(say),
        "senders": lambda: instructions.senders(say),
    }
    return parts[part]()


def number(value: object) -> str:
    """A figure for a table: three digits, a dash for none."""
    if value is None:
        return "-"
    if not isinstance(value, float):
        return str(value)
    return f"{value:.2f}" if abs(value) < 100 else f"{float(f'{value:.3g}'):,.0f}"


def _spread(row: dict[str, Any], name: str, unit: str = "") -> str:
    low, high = row.get(f"{name}_min"), row.get(f"{name}_max")
    text = f"{number(row[name])}{unit}"
    return text if low is None or low == high else f"{text} ({number(low)}-{number(high)})"


def _dumbbell(rows: Sequence[dict[str, Any]]) -> list[Table]:
    heads = [
        "rate",
        "queue",
        "flows",
        "packets per CPU second",
        "ns per packet",
        "times ns-2",
        "times ns-3",
        "kB per flow",
    ]
    body = [
        [
            r["rate"],
            r["queue"].split()[0],
            str(r["flows"]),
            _spread(r, "packets_per_cpu_s"),
            number(1e9 / r["packets_per_cpu_s"]),
            _spread(r, "ratio_ns2"),
            _spread(r, "ratio_ns3"),
            number(r["bytes_per_flow"] / 1e3),
        ]
        for r in rows
    ]
    notes = sorted({f"{who}: {r[f'{who}_note']}" for r in rows for who in ("ns2", "ns3") if r[f"{who}_note"]})
    return [Table("Side by side", heads, body, "; ".join(notes))]


def _costs(title: str, rows: Sequence[dict[str, Any]]) -> list[Table]:
    heads = ["series", "at", "packets", "ns per packet", "events per packet", "build (ms)", "memory", "per flow"]
    body = [
        [
            r["series"],
            f"{r['x']:g}",
            str(r["packets"]),
            _spread(r, "ns_per_packet"),
            number(r["events_per_packet"]),
            number(r["build_cpu_s"] * 1e3),
            show_bytes(r["added_bytes"]),
            show_bytes(r["bytes_per_flow"]),
        ]
        for r in rows
    ]
    return [Table(title, heads, body)]


def _long(r: dict[str, Any]) -> list[Table]:
    heads = ["simulated", "packets", "CPU time", "packets per CPU second", "ns-2", "times ns-2", "memory"]
    body = [
        f"{r['simulated_s']:g} s",
        str(r["packets"]),
        f"{r['cpu_s']:.1f} s",
        number(r["packets_per_cpu_s"]),
        number(r["ns2_packets_per_cpu_s"]),
        number(r["ratio_ns2"]),
        show_bytes(r["added_bytes"]),
    ]
    return [Table("One flow at 1 Gbit/s", heads, [body], r["ns2_note"] or "")]


def _cores(r: dict[str, Any]) -> list[Table]:
    body = [str(r["runs"]), f"{r['one_core_s']:.2f} s", f"{r['two_cores_s']:.2f} s", _spread(r, "speedup")]
    return [Table("Small runs on one core and on two", ["runs", "one core", "two cores", "times"], [body])]


def _start(r: dict[str, Any]) -> list[Table]:
    return [Table("The start of a run", ["runs", "each"], [[str(r["runs"]), _spread(r, "start_us", " µs")]])]


def _recording(rows: Sequence[dict[str, Any]]) -> list[Table]:
    body = [
        [
            r["record"],
            f"{r['cpu_s']:.2f} s",
            _spread(r, "extra_percent", " %"),
            show_bytes(r["written_bytes"]) if r["written_bytes"] else "-",
        ]
        for r in rows
    ]
    return [Table("What recording costs", ["record", "CPU time", "extra", "written"], body)]


def _answers(r: dict[str, Any]) -> list[Table]:
    body = [str(r["packets"]), _spread(r, "answer_ms", " ms")]
    return [Table("An answer of the studio", ["packets", "processor time"], [body])]


def _instructions(rows: Sequence[dict[str, Any]]) -> list[Table]:
    body = [
        [
            r["what"],
            number(r["instructions"]),
            number(r.get("reference")),
            number(r.get("change_percent")),
            r["note"] or "",
        ]
        for r in rows
    ]
    return [Table("Instructions", ["path", "instructions", "reference", "change (%)", "note"], body)]


def _queues(rows: Sequence[dict[str, Any]]) -> list[Table]:
    body = [[r["queue"], number(r["instructions"]), number(r["relative"]), r["note"] or ""] for r in rows]
    return [Table("Queues", ["queue", "instructions", "times drop-tail", "note"], body)]


def _senders(rows: Sequence[dict[str, Any]]) -> list[Table]:
    body = [
        [r["sender"], r["queue"] or "-", number(r["instructions"]), number(r["relative"]), r["note"] or ""]
        for r in rows
    ]
    return [Table("Senders", ["sender", "queue", "instructions", "times Reno", "note"], body)]


def tables(part: str, result: Any) -> list[Table]:
    """The results of a part as tables."""
    makers: dict[str, Callable[[Any], list[Table]]] = {
        "dumbbell": _dumbbell,
        "scale": lambda r: _costs("What the cost of a packet depends on", r),
        "crowds": lambda r: _costs("Many flows", r),
        "long": _long,
        "cores": _cores,
        "start": _start,
        "recording": _recording,
        "answers": _answers,
        "instructions": _instructions,
        "queues": _queues,
        "senders": _senders,
    }
    return makers[part](result)


def _markdown(table: Table) -> str:
    rows = [table.heads, ["---"] * len(table.heads), *table.rows]
    lines = "\n".join("| " + " | ".join(r) + " |" for r in rows)
    return f"{lines}\n\n{table.note}\n" if table.note else f"{lines}\n"


def pictures(results: Results) -> list[figures.Picture]:
    """Cost per packet against flows, hops and window."""
    rows = results.get("scale", [])

    def line(series: str) -> Line:
        mine = [r for r in rows if r["series"] == series]
        return [r["x"] for r in mine], [r["ns_per_packet"] for r in mine]

    flows = {
        s.removeprefix("flows, "): line(s) for s in dict.fromkeys(r["series"] for r in rows) if s.startswith("flows")
    }
    unit = "CPU time per data packet (ns)"
    wanted = [
        ("cost-flows", "Cost of a data packet against the number of flows.", flows, "flows"),
        (
            "cost-hops",
            "Cost of a data packet against the number of links it crosses.",
            {"10 flows": line("hops")},
            "links",
        ),
        ("cost-window", "Cost of a data packet against the window.", {"1 flow": line("window")}, "window (segments)"),
    ]
    return [curves(n, caption, lines, x, unit) for n, caption, lines, x in wanted if any(x for x, _ in lines.values())]


TEXT: dict[str, tuple[str, str]] = {
    "dumbbell": (
        "Beside ns-2 and ns-3",
        "Data packets through the bottleneck of a dumbbell (three hops each way, 60 ms, a queue of one bandwidth-delay "
        "product, every segment acknowledged) per second of processor time, one core, in one session, in turns. "
        "Medians, with the lowest and the highest in brackets. ns-2 runs with the fastest of its schedulers for each "
        "cell, and its agents are one-way: no handshake, no receive window, no close. What the time is spent on is in "
        "[looking ahead](look-ahead.md).",
    ),
    "scale": (
        "What the cost of a packet depends on",
        "The same dumbbell with more flows, a longer row of routers or a larger window. The costs are per data packet "
        "that left the bottleneck; all hops and the ACK are in it.",
    ),
    "crowds": (
        "Crowds",
        "Transfers of 50 kB that arrive as a Poisson process at a link of 1 Gbit/s and load it to 85 %, beside ten "
        "endless flows on the same link; open connections that are idle; and ten endless flows each of CUBIC, BBR "
        "version 3 and Prague behind DualPI2. Memory is what the run adds to a fresh process.",
    ),
    "long": ("A long run", "One endless flow, a window of up to 15 000 segments, ns-2 beside it."),
    "cores": ("Many runs", "Repetitions of a run of about 1300 data packets, on one core and on two, in turns."),
    "start": ("", "A run in which nothing happens: the world is built, its tables are collected and merged."),
    "recording": (
        "Recording",
        "Ten flows at 100 Mbit/s with each kind of record, against the same run with nothing recorded. Samples are of "
        "every gauge: windows, round-trip times, timers and rates of flows, queues and rates of lines. "
        "Events and packets stream to a file; they take no memory however long a run is.",
    ),
    "answers": ("", "What the studio computes for an answer: ten flows at 50 Mbit/s for 30 s, tables and curves."),
    "instructions": (
        "Instructions",
        "Counts by callgrind, which no other work on the machine disturbs. The reference is in "
        "`benches/instructions.json`.",
    ),
    "queues": (
        "Queues",
        "Instructions of a data packet of the dumbbell (ten flows, 100 Mbit/s; hops and ACK are in it) by the "
        "queue at the bottleneck, each with its defaults and the same limit, and how many times those behind "
        "drop-tail. A queue that drops more also makes senders work more.",
    ),
    "senders": (
        "Senders",
        "Instructions of a data packet of the dumbbell (ten flows, 100 Mbit/s; hops and ACK are in it) by who sends, "
        "behind drop-tail and behind DualPI2, and how many times those of Reno of the RFCs (`reno`) behind the same "
        "queue. The others are presets.",
    ),
}


def write(results: Results, settings: Settings, folder: Path) -> Path:
    """Writes `performance.md`, `performance.json` and `images/*.svg` into a folder; returns the page.

    Parts that the folder has from before, and that were not measured now, stay.
    """
    folder.mkdir(parents=True, exist_ok=True)
    known = _known(folder / "performance.json")
    known |= {part: {"measured": _circumstances(settings), "result": result} for part, result in results.items()}
    known = {part: known[part] for part in TEXT if part in known}
    (folder / "performance.json").write_text(json.dumps(known, indent=1) + "\n")
    drawn = {p.name: p for p in pictures({part: k["result"] for part, k in known.items()})}
    for p in drawn.values():
        _save(p, folder / "images")
    told = ""
    parts = [
        "# Performance",
        "Written by `crosswind bench --report docs` (`--only` measures some parts and keeps the others); do not edit. "
        "The data are in `performance.json`. Compare figures of one part only: the machine is not always the same.",
    ]
    for part, one in known.items():
        title, text = TEXT[part]
        parts += [f"## {title}"] if title else []
        if told != one["measured"]:
            told = one["measured"]
            parts.append(f"*Measured {told}.*")
        parts += [text, *(_markdown(t) for t in tables(part, one["result"]))]
        if part == "scale":
            parts += [f"![{p.alt}](images/{p.name}.svg)" for p in drawn.values()]
    figures.close_all(list(drawn.values()))
    page = folder / "performance.md"
    page.write_text("\n\n".join(p.rstrip() for p in parts) + "\n")
    return page


def _circumstances(settings: Settings) -> str:
    today = datetime.datetime.now(datetime.UTC).date().isoformat()
    machine = f"{_processor()}, {os.cpu_count()} cores, {platform.system()}"
    return f"on {today}: {machine}; {settings.pace} runs, {settings.reps} of each; engine {build()}"


def _known(data: Path) -> Results:
    """What an earlier report measured; nothing where there is none, or none that can be read."""
    try:
        found = json.loads(data.read_text())
    except (OSError, ValueError):
        return {}
    readable = isinstance(found, dict) and all(isinstance(v, dict) and "result" in v for v in found.values())
    return found if readable else {}


def _save(picture: figures.Picture, folder: Path) -> None:
    """The figure as a file of its own; a page shows one format."""
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as drawn:
        picture.save(Path(drawn), "crosswind bench --report docs")
        shutil.copy(Path(drawn) / f"{picture.name}.svg", folder)


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.is_file() else []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())

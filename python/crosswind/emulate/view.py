"""What a running emulation looks like on a terminal or in a pipe, and the summary at its end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console
from rich.live import Live
from rich.table import Table

NS = 1e9


def rate(bits_per_s: float) -> str:
    for unit, scale in (("Gbit/s", 1e9), ("Mbit/s", 1e6), ("kbit/s", 1e3)):
        if bits_per_s >= scale:
            return f"{bits_per_s / scale:.1f} {unit}"
    return f"{bits_per_s:.0f} bit/s"


def span(ns: float) -> str:
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if ns >= scale:
            return f"{ns / scale:.1f} {unit}"
    return f"{ns:.0f} ns"


@dataclass(frozen=True)
class Row:
    """One direction of a link, now."""

    name: str
    sent: str
    rate: str
    queue_packets: int
    queue_delay: str
    drops: int
    lost: int
    marks: int


def rows(now: dict[str, Any], before: dict[str, Any] | None) -> Iterator[Row]:
    """All directions that have carried something, against the look before."""
    past = {(v["link"], v["direction"]): v for v in (before or {}).get("links", [])}
    since = max(1, now["time_ns"] - (before or {}).get("time_ns", 0)) / NS
    for v in now["links"]:
        if not v["arrived_packets"]:
            continue
        old = past.get((v["link"], v["direction"]), {})
        yield Row(
            name=f"{v['link']} {'->' if v['direction'] == 'forward' else '<-'}",
            sent=rate((v["sent_bytes"] - old.get("sent_bytes", 0)) * 8 / since),
            rate=rate(v["rate_bps"]) if v["rate_bps"] else "",
            queue_packets=v["queue_packets"],
            queue_delay=span(v["queue_bytes"] * 8 / v["rate_bps"] * NS) if v["rate_bps"] else "",
            drops=v["drops_packets"],
            lost=v["lost_packets"],
            marks=v["marks_packets"],
        )


def state(now: dict[str, Any]) -> str:
    """Packets inside, and the place on the timeline."""
    text = f"{now['packets_inside']} packets under way"
    timeline = now.get("timeline") or {"all": 0}
    if not timeline["all"]:
        return text
    text += f"   timeline: {timeline['done']} of {timeline['all']}"
    if (coming := timeline["next"]) is None:
        return text
    return f"{text}, next in {(coming['at_ns'] - now['time_ns']) / NS:.1f} s: {in_words(coming['change'])}"


def in_words(change: dict[str, Any]) -> str:
    values = ", ".join(f"{key} = {value}" for key, value in change["set"].items())
    return f"{change['link']}{'/' + change['direction'] if change.get('direction') else ''} {values}"


def new_notes(now: dict[str, Any], before: dict[str, Any] | None) -> list[str]:
    """Changes that were made since the look before."""
    return [f"changed at {note}" for note in now.get("notes", [])[len((before or {}).get("notes", [])) :]]


def live_lines(now: dict[str, Any], before: dict[str, Any] | None) -> Iterator[str]:
    """The look of a pipe: a headline, and one line for each direction that carries something."""
    if not now:
        return
    yield f"{now['time_ns'] / NS:8.1f} s   {state(now)}"
    for r in rows(now, before):
        of = f"of {r.rate}" if r.rate else ""
        yield (
            f"  {r.name:<20}{r.sent:>14} {of:<15} queue {r.queue_packets:>5} packets {r.queue_delay:>9}   "
            f"drops {r.drops}  lost {r.lost}  marks {r.marks}"
        )
    yield from (f"  {note}" for note in new_notes(now, before))


def live_table(now: dict[str, Any], before: dict[str, Any] | None) -> Table:
    """The look of a terminal, drawn over itself again and again."""
    table = Table(title=f"{now['time_ns'] / NS:.1f} s   {state(now)}", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("direction")
    for name in ("sent", "of", "in queue", "queue delay", "drops", "lost", "marks"):
        table.add_column(name, justify="right")
    for r in rows(now, before):
        table.add_row(
            r.name, r.sent, r.rate, f"{r.queue_packets} p", r.queue_delay, str(r.drops), str(r.lost), str(r.marks)
        )
    return table


def watch(looks: Iterable[dict[str, Any]], console: Console) -> None:
    """Shows one look after the other: in place on a terminal, as plain lines in a pipe."""
    before: dict[str, Any] | None = None
    if not console.is_terminal:
        for now in looks:
            for line in live_lines(now, before):
                print(line, flush=True)
            before = now
        return
    with Live(console=console, auto_refresh=False) as live:
        for now in looks:
            if not now:
                continue
            for note in new_notes(now, before):
                live.console.print(note, highlight=False)
            live.update(live_table(now, before), refresh=True)
            before = now


def summary_lines(facts: dict[str, Any]) -> Iterator[str]:
    """The end of a session: what went through, and how punctual the machine was."""
    seconds = facts["time_ns"] / NS
    yield f"crosswind: {facts['scenario']} for {seconds:.1f} s, command at {facts['host']}"
    for v in facts["links"]:
        if v["arrived_packets"]:
            mean = v["sent_bytes"] * 8 / max(seconds, 1e-9)
            yield (
                f"  {v['link'] + '/' + v['direction']:<24}{v['sent_packets']:>9} packets  mean {rate(mean):>12}  "
                f"queue delay p95 {span(v['queue_delay_p95_ns']):>9}  "
                f"drops {v['drops_packets']}  lost {v['lost_packets']}  marks {v['marks_packets']}"
            )
    if facts["too_big_packets"] or facts["fragmented_packets"]:
        yield (
            f"  too big for a link: {facts['too_big_packets']} packets, whose senders were told (path MTU); "
            f"cut into pieces: {facts['fragmented_packets']}"
        )
    late, over = facts["machine"]["lateness"], facts["machine"]["oversleep"]
    fixed = "fixed priority" if facts["machine"]["has_priority"] else "no fixed priority"
    yield (
        f"  packets left late by {span(late['p50_ns'])} (median), {span(late['p99_ns'])} (p99), "
        f"{span(late['max_ns'])} (worst); sleeps overran by {span(over['p99_ns'])} (p99); {fixed}"
    )
    for note in facts.get("notes", []):
        yield f"  changed at {note}"
    for warning in facts["warnings"]:
        yield f"  warning: {warning}"

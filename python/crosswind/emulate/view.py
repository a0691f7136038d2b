"""What a running emulation looks like on a terminal: one line for each direction of each link."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

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


def live_lines(now: dict[str, Any], before: dict[str, Any] | None) -> Iterator[str]:
    """One line for each direction that carries something, against the look before."""
    if not now:
        return
    past = {(v["link"], v["direction"]): v for v in (before or {}).get("links", [])}
    since = max(1, now["time_ns"] - (before or {}).get("time_ns", 0)) / NS
    yield f"{now['time_ns'] / NS:8.1f} s   {now['packets_inside']} packets under way"
    for v in now["links"]:
        old = past.get((v["link"], v["direction"]), {})
        sent = (v["sent_bytes"] - old.get("sent_bytes", 0)) * 8 / since
        if not v["arrived_packets"]:
            continue
        queue = v["queue_bytes"] * 8 / v["rate_bps"] * NS if v["rate_bps"] else 0.0
        yield (
            f"  {v['link'] + ' ' + ('->' if v['direction'] == 'forward' else '<-'):<20}{rate(sent):>14} of "
            f"{rate(v['rate_bps']):<12} queue {v['queue_packets']:>5} packets {span(queue):>9}   "
            f"drops {v['drops_packets']}  lost {v['lost_packets']}  marks {v['marks_packets']}"
        )
    for note in now.get("notes", [])[len((before or {}).get("notes", [])) :]:
        yield f"  changed at {note}"


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

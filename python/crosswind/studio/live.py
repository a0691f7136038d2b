"""An emulation that runs, for the page: one look after the other, and changes to its links."""

from __future__ import annotations

from typing import Any

from crosswind.emulate.control import ask, parse_change
from crosswind.errors import InputError

#: Characters of a change.
CHANGE_MAX = 500


def look(number: int | None) -> dict[str, Any]:
    """What the directions of the links that carry something have counted, and hold now.

    Raises CrosswindError when no emulation runs (as process `number`).
    """
    seen = next(ask({"do": "view"}, number))
    links = [
        {
            "name": f"{v['link']}/{v['direction']}",
            "rate_bps": v["rate_bps"],
            "sent_bytes": v["sent_bytes"],
            "delay": v.get("delay", ""),
            "waited_p95_s": v["queue_delay_p95_ns"] / 1e9,
            "queue_packets": v["queue_packets"],
            "queue_bytes": v["queue_bytes"],
            "drops": v["drops_packets"],
            "lost": v["lost_packets"],
            "marks": v["marks_packets"],
        }
        for v in seen.get("links", ())
        if v["arrived_packets"]
    ]
    return {"time_s": seen.get("time_ns", 0) / 1e9, "links": links, "notes": seen.get("notes", [])}


def change(told: Any, number: int | None) -> dict[str, Any]:
    """Changes a link of the emulation, `{"change": "last-hop.rate=32 kbit/s"}`; says what was done."""
    text = told.get("change") if isinstance(told, dict) else None
    if not isinstance(text, str) or len(text) > CHANGE_MAX:
        raise InputError("studio", path="change", found="no change", expected="LINK.KEY=VALUE")
    links = [v["link"] for v in next(ask({"do": "view"}, number)).get("links", ())]
    wanted = parse_change(text, list(dict.fromkeys(links)))
    return {"done": [note for answer in ask(wanted, number) for note in answer["done"]]}

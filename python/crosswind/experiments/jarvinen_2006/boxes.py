"""Figures with a box for each configuration, in the manner of the source: which quantity each shows, and its axis."""

from collections.abc import Mapping, Sequence
from typing import Any

from crosswind import figures
from crosswind.experiments.jarvinen_2006 import metrics
from crosswind.reproduce import Picture, Results

Shown = tuple[str, dict[str, str], str, float | None]
BULK = {"faster": "faster_elapsed_s", "slower": "slower_elapsed_s"}
DELAY = {q: f"audio_delay_{q}_ms" for q in ("p25", "p50", "p75", "max")}
IPDV = {q: f"audio_ipdv_{q}_ms" for q in ("p25", "p50", "p75", "max")}


def quantities(other: str) -> dict[str, Shown]:
    """Title, columns by label, axis and floor of what a figure shows; `other`: who is beside the two bulk flows."""
    roles = ("faster", "slower", other)
    named = {"third": "third flow", "page": "page", "audio": "stream"}[other]
    drops = {"stream" if x == "audio" else x: f"{x}_drops" for x in roles}
    vain = {f"{x}, {w}": f"{x}_{c}" for w, c in (("spurious", "spurious"), ("in vain", "unnecessary")) for x in roles}
    lost = {f"{x}, {what}": f"{x}_{what}" for what in ("drops", "lost") for x in roles}
    return {
        "overall": ("Overall throughput", {"all": "overall_throughput"}, "overall throughput (B/s)", None),
        "third": ("Elapsed time of the third flow", {"third": "third_elapsed_s"}, "elapsed time (s)", 0.0),
        "response": ("Response time of the page", {"page": "page_response_s"}, "response time (s)", 0.0),
        "stream": ("Throughput of the stream", {"stream": "audio_throughput"}, "throughput (B/s)", None),
        "delay": ("One-way delay of the stream", DELAY, "delay (ms)", 0.0),
        "ipdv": ("Delay variation of the stream", IPDV, "IPDV (ms)", None),
        "bulk": ("Elapsed times of the bulk flows", BULK, "elapsed time (s)", None),
        "shares": (
            f"Simultaneous throughput of the bulk flows and the {named}",
            {x: f"simultaneous_{x}" for x in roles},
            "simultaneous throughput (B/s)",
            0.0,
        ),
        "jain": ("Jain's index over the simultaneous throughputs", {"all": "jain"}, "Jain's index", None),
        "drops": ("Packets dropped at the router, by flow", drops, "drops (packets)", 0.0),
        "lost": ("Drops and losses, by flow", lost, "packets", 0.0),
        "spurious": ("Spurious timeouts", {x: f"{x}_spurious" for x in roles}, "spurious timeouts", 0.0),
        "vain": ("Unnecessary retransmissions", {x: f"{x}_unnecessary" for x in roles}, "retransmissions", 0.0),
        "both": ("Spurious timeouts and retransmissions in vain", vain, "number", 0.0),
        "marks": ("Marks", {"all": "marks"}, "marks (packets)", 0.0),
    }


def pictures(
    r: Results,
    other: str,
    panels: Mapping[str, str],
    *,
    link: str = "",
    where: str = "",
    only: tuple[str, ...] = (),
    printed: Mapping[str, Any] = {},
) -> list[Picture]:
    """Median, quartiles and range in each configuration; `panels`: number of the figure -> quantity.

    `link`, `only`: configurations of one link, or these; `printed`: number -> label -> configuration -> median.
    """
    shown, out = quantities(other), []
    for number, what in panels.items():
        title, columns, axis, floor = shown[what]
        groups = metrics.columns(r, columns, link=link)
        if only:
            groups = {c.removeprefix("LSB1 "): v for c, v in groups.items() if c in only}
        numbered = f"fig-{number}" if number[0].isdigit() else number
        figure = f" (Fig. {number.split('-')[0]})" if number[0].isdigit() else ""
        caption = f"{title}{f' on {link}' if link else where}{figure}: median, quartiles, range."
        out.append(figures.quartile_bars(numbered, caption, groups, axis, floor, printed=printed.get(number, {})))
    return out


def against_start(
    r: Results, figure: str, what: str, cells: Sequence[str], other: str, column: str, axis: str, **more: Any
) -> Picture:
    """A column against the start of the transfer that joins the bulk flows, a point for each repetition."""
    joins = {"third": "third flow", "page": "page", "audio": "stream"}[other]
    points = {c: (r.of(c, f"{other}_start_s"), r.of(c, column)) for c in cells}
    whose = "its" if joins in what else f"the {joins}'s"
    caption = f"{what} against {whose} start: {' and '.join(cells)} (Fig. {figure})."
    return figures.scatter(f"fig-{figure}", caption, points, f"start of the {joins} (s)", axis, **more)

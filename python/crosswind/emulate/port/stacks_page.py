"""What a reader gets of a law in a QUIC stack: its window beside that of the same law in TCP."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crosswind import report
from crosswind.core import version
from crosswind.emulate.port.stacks import RELEASES, WITHIN, BesideTcp, FROM_s, slug
from crosswind.figures import Format, Picture, over_time
from crosswind.table import Table

INTRODUCTION = (
    "One transfer, twice, both in virtual time: in the QUIC stack with the law in the place of its own controller, and "
    "in Crosswind's TCP with the same law. Rate, delay and queue are the same; loss detection, acknowledgements and "
    "pacing are each sender's own, and how a reduction is spread over a recovery."
)


def table(found: BesideTcp) -> Table:
    """Both windows, and what they differ by."""
    (tcp, ours), (tcp_cuts, our_cuts) = found.means, found.cuts
    rows = [
        ["mean window (segments, datagrams)", f"{tcp:.2f}", f"{ours:.2f}", f"{found.difference:+.1%}"],
        ["cuts", str(tcp_cuts), str(our_cuts), f"{our_cuts - tcp_cuts:+d}"],
    ]
    said = "alike" if found.is_alike else "not alike"
    note = (
        f"{said}: accepted are {WITHIN:.0%} of the mean window from {FROM_s:g} s on, and one cut in ten. At one moment "
        "the saw-teeth need not be in step."
    )
    return Table(f"{found.law} in {found.stack}", ["", "TCP", found.stack, "difference"], rows, note)


def picture(found: BesideTcp) -> Picture:
    """Both windows over time."""
    caption = f"Window of {found.law} in {found.stack} and in Crosswind's TCP: {found.scenario.title}."
    curves = {found.stack: found.ours, "TCP": found.tcp}
    return over_time(f"window-{slug(found.law)}-{found.stack}", caption, curves, "window (segments, datagrams)")


def write(found: BesideTcp, folder: Path, command: str = "", formats: Sequence[Format] = ()) -> Path:
    """Writes report.html and the figure; returns the path of the page."""
    shown = [picture(found)]
    crate, release = RELEASES[found.stack]
    html = (
        report.environment()
        .get_template("port.html")
        .render(
            title=f"{found.law} in {found.stack} and in TCP",
            byline=table(found).note,
            warnings=[],
            prose=INTRODUCTION,
            summary=table(found),
            pictures=report.for_page(shown, formats),
            facts=[("engine", f"Crosswind {version()}"), ("stack", f"{crate} {release}")],
            scenario=(found.scenario.name, found.scenario.to_toml()),
            command=command,
        )
    )
    folder.mkdir(parents=True, exist_ok=True)
    return report.write(folder, html, shown, command, formats)

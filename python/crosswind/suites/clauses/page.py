"""The table and the page of `audit`: every case with clause, expectation, measurement, verdict and window."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crosswind import report
from crosswind.core import version
from crosswind.figures import Format, Picture, over_time
from crosswind.suites.clauses.audit import VERDICTS as ORDER
from crosswind.suites.clauses.audit import Audit, Finding
from crosswind.table import Table

INTRODUCTION = (
    "Each case is one clause of a standard as a small network. It says nothing before its condition has come about "
    "(else it is inconclusive), and it is run in three phases of the packet clock. Only a broken *must*, or a "
    "number that the clause leaves no choice of, fails; a broken *should* deviates."
)
LIVE = (
    "Each case is one clause of a standard as a small network in real time: the kernel sends, our own TCP receives. It "
    "says nothing before its condition has come about, or where the machine was too late to tell (then it is "
    "inconclusive). Only a broken *must*, or a number that the clause leaves no choice of, fails; a broken *should* "
    "deviates, and so does a choice that Linux documents."
)


def table(found: Audit) -> Table:
    """One row for each case that applies, the worst first."""
    shown = sorted((f for f in found.findings if not f.why), key=lambda f: ORDER.index(f.verdict))
    rows = [[f.case.id, f.case.clause, f.case.strength, _measured(f), f.verdict] for f in shown]
    return Table(f"Audit of {found.body}", ["case", "clause", "", "measured [accepted]", "verdict"], rows, _note(found))


def _note(found: Audit) -> str:
    counts = ", ".join(f"{n} {v}" for v in ORDER if (n := found.count(v)))
    return f"{len(found.findings)} cases: {counts}."


def _measured(f: Finding) -> str:
    """What decides: the condition where that was not met, else the expectations."""
    parts = f.given if f.verdict == "inconclusive" else f.expect
    return "; ".join(f"{m.bound.quantity.replace('_', ' ')} {m.text()} [{m.bound.accept()}]" for m in parts)


def write(found: Audit, folder: Path, command: str = "", formats: Sequence[Format] = ()) -> Path:
    """Writes report.html and the figures; returns the path of the page."""
    shown = [p for f in found.findings if (p := _picture(f)) is not None]
    cases = [
        (
            f.case,
            f,
            Table("", ["", "quantity", "accepted", "measured", "tolerance because"], _rows(f)),
            _logs(f, folder),
        )
        for f in found.findings
        if not f.why
    ]
    html = (
        report.environment()
        .get_template("audit.html")
        .render(
            title=f"Audit of {found.body}",
            byline=_note(found),
            prose=LIVE if found.transport["type"] == "kernel" else INTRODUCTION,
            summary=table(found),
            pictures=report.for_page(shown, formats),
            cases=cases,
            left_out=[(f.case.id, f.why) for f in found.findings if f.why],
            facts=[
                ("engine", f"Crosswind {version()}"),
                ("base seed", str(found.seed)),
                ("body", str(found.transport)),
            ],
            command=command,
        )
    )
    folder.mkdir(parents=True, exist_ok=True)
    return report.write(folder, html, shown, command, formats)


def _logs(f: Finding, folder: Path) -> list[str]:
    """What the body logged, as the page names it."""
    found = sorted((folder / f.log).rglob("*.sqlog")) if f.log else []
    return [p.relative_to(folder).as_posix() for p in found]


def _rows(f: Finding) -> list[list[str]]:
    return [
        [kind, f"{'' if m.bound.of == 'each' else m.bound.of + ' of '}{m.bound.quantity.replace('_', ' ')}",
         m.bound.accept(), m.text(), m.bound.because]
        for kind, parts in (("given", f.given), ("expected", f.expect))
        for m in parts
    ]  # fmt: skip


def _picture(f: Finding) -> Picture | None:
    """The window over time, of the first phase."""
    if f.trace is None or not len(f.trace.window_rows):
        return None
    at = f.trace.time[f.trace.window_rows]
    caption = f"{f.case.id}: the congestion window. {f.case.title}."
    return over_time(f.case.id, caption, {"window": (at, f.trace.windows)}, "window (segments)")

"""Writes docs/validation.md from the comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from string import Template

from validation.compare import TICK_US, TOLERANCE, Comparison, Row
from validation.ns2.scenarios import REPETITIONS
from validation.ns2.tfrc import Compared
from validation.ns2.tfrc import table as tfrc_table

TEMPLATE = Path(__file__).with_name("template.md")
WORDS = {"same": "same", "explained": "close", "differs": "**differs**"}


@dataclass(frozen=True)
class Findings:
    """Everything that the page shows."""

    ns2: str
    """Version of ns-2, or why it did not run."""
    comparisons: Sequence[Comparison]
    stale: Sequence[str]
    """Cases whose stored reference is not what ns-2 gives now."""
    rows: Sequence[Row]
    skipped: int
    tfrc: Sequence[Compared] = ()
    """Rate curves of TFRC."""


def page(f: Findings) -> str:
    """The Markdown page."""
    return Template(TEMPLATE.read_text()).substitute(
        summary=_summary(f),
        tick_ms=TICK_US // 1000,
        deterministic=_deterministic_table(f.comparisons),
        repetitions=REPETITIONS,
        tfrc=tfrc_table(f.tfrc),
        tolerance=f"{TOLERANCE:.0%}",
        statistical="\n\n".join(_study_tables(f.rows)) or "Skipped.",
    )


def _summary(f: Findings) -> str:
    same = sum(c.verdict == "same" for c in f.comparisons)
    lines = [f"* ns-2: {f.ns2}.", f"* {same} of {len(f.comparisons)} deterministic cases are the same."]
    if f.tfrc:
        fits = sum(c.verdict != "differs" for c in f.tfrc)
        lines.append(f"* {fits} of {len(f.tfrc)} rate curves of TFRC fit.")
    if f.rows:
        near = sum(r.verdict != "differs" for r in f.rows)
        lines.append(f"* {near} of {len(f.rows)} statistical comparisons show no difference that matters.")
    if f.stale:
        lines.append(f"* **{len(f.stale)} stored references are not what ns-2 gives now**: {', '.join(f.stale)}.")
    if f.skipped:
        lines.append(f"* {f.skipped} comparisons were skipped.")
    return "\n".join(lines)


def _deterministic_table(comparisons: Iterable[Comparison]) -> str:
    """One line per pattern, one column per sender and receiver."""
    lines: list[str] = []
    for family, members in groupby(comparisons, key=lambda c: c.case.family):
        lines += ["", f"### {family[0].upper()}{family[1:]}", ""]
        group = list(members)
        columns = list(dict.fromkeys(_column(c) for c in group))
        lines.append("| case | lost packets | " + " | ".join(columns) + " |")
        lines.append("|---|---|" + "---|" * len(columns))
        for name, row in groupby(group, key=lambda c: c.case.name):
            cells = {_column(c): c for c in row}
            first = next(iter(cells.values()))
            lost = " / ".join(dict.fromkeys(_listed(c.case.drops) for c in cells.values()))
            lines.append(
                f"| **{name}**: {first.case.question} | {lost} | " + " | ".join(_cell(cells[k]) for k in columns) + " |"
            )
        remarks = [c for c in group if c.verdict != "same"]
        if remarks:
            lines += ["", "| case | difference | explanation |", "|---|---|---|"]
            lines += [f"| {c.case.key} | {c.remark} | {c.case.expect or '**none**'} |" for c in remarks]
    return "\n".join(lines[1:])


def _column(c: Comparison) -> str:
    return f"{c.case.sender}{', delayed ACK' if c.case.delayed_ack else ''}"


def _listed(drops: Sequence[int]) -> str:
    if len(drops) > 6:
        return f"{drops[0]}-{drops[-1]}"
    return ", ".join(map(str, drops)) or "-"


def _cell(c: Comparison) -> str:
    if c.verdict == "differs":
        return "**differs**"
    if c.verdict == "explained":
        return "explained"
    return f"same, {c.largest_dt_us} us" + (f", {c.timeouts} RTO" if c.timeouts else "")


def _study_tables(rows: Sequence[Row]) -> list[str]:
    out = []
    for study, group in groupby(rows, key=lambda r: r.study):
        lines = [
            f"### {study.name}: {study.question}",
            "",
            "| metric | ns-2 | Crosswind | difference | 95 % interval | |",
            "|---|---|---|---|---|---|",
        ]
        lines += [
            f"| {r.metric} | {_number(r.ns2)} | {_number(r.crosswind)} | {_number(r.difference.value)} | "
            f"[{_number(r.difference.low)}, {_number(r.difference.high)}] | {_word(r)} |"
            for r in group
        ]
        out.append("\n".join(lines))
    return out


def _word(r: Row) -> str:
    return f"differs: {r.reason}" if r.verdict == "differs" and r.reason else WORDS[r.verdict]


def _number(v: float) -> str:
    return f"{v:.0f}" if abs(v) >= 1000 else f"{v:.4g}"

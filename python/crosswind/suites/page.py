"""Tables and the page of `characterise`; cells of tables for both suites."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from crosswind import report
from crosswind.figures import Format, Picture
from crosswind.stats import Estimate
from crosswind.suites import measured, operation, pictures
from crosswind.suites.case import Answers, Case, Measure
from crosswind.suites.characterise import SENSITIVITY, Characterised
from crosswind.table import Table

GENERAL = (
    Measure("delay_p50_ms", "median delay (ms)"),
    Measure("delay_p95_ms", "p95 delay (ms)"),
    Measure("utilisation", "use (%)", "higher", 1),
    Measure("dropped", "dropped (%)", digits=2),
    Measure("marked", "marked (%)", digits=2),
    Measure("jain", "Jain", "higher", 3),
)
IN_PERCENT = ("utilisation", "dropped", "marked", "retransmitted")
INTRODUCTION = (
    "Each cell below is one run of a scenario that RFC 7928 asks for, repeated with other random numbers: the 95th "
    "percentile of the time that packets spent in the queue, and the share of time in which the bottleneck was busy. "
    "All queues meet the same arrivals as far as the senders let them, so they are compared repetition by repetition. "
    "A verdict is only given from six repetitions on, where the 95 % interval of the difference excludes zero, and "
    "where the difference is at least a tenth of the delay (and 1 ms), or one point of utilisation."
)


def matrix(found: Characterised) -> Table:
    """One row for each variant of a case, one column for each queue: delay and utilisation."""
    cells = measured.cells(found.rows, ["delay_p95_ms", "utilisation"])
    subjects = list(found.subjects)
    rows = []
    for case, variant in dict.fromkeys((c, v) for c, v, _ in cells if c != SENSITIVITY.id):
        row = [f"{case}: {variant}"]
        for s in subjects:
            e = cells.get((case, variant, s))
            row.append(f"{e['delay_p95_ms'].value:.1f} / {100 * e['utilisation'].value:.0f}" if e else "-")
        rows.append(row)
    worst = _worst(cells, subjects)
    note = f"p95 of the delay (ms) / utilisation (%); medians of {found.setting.reps} repetitions. {worst}"
    return Table("Delay and utilisation", ["case", *subjects], rows, note)


def _worst(cells: dict[measured.Key, dict[str, Estimate]], subjects: Sequence[str]) -> str:
    said = []
    for s in subjects:
        mine = {k[:2]: e["delay_p95_ms"].value for k, e in cells.items() if k[2] == s and k[0] != SENSITIVITY.id}
        if mine:
            (case, variant), most = max(mine.items(), key=lambda item: item[1])
            said.append(f"{s} {most:.0f} ms ({case}: {variant})")
    return f"Longest: {'; '.join(said)}." if said else ""


def verdict_table(found: Characterised) -> Table:
    """What the first queue did beside each of the others."""
    first = next(iter(found.subjects))
    rows = [
        [
            f"{v.case}: {v.variant}",
            v.against,
            _change(v.delay_change_ms, 1.0, 1),
            _change(v.utilisation_change, 100.0, 1),
            v.words,
        ]
        for v in found.verdicts
    ]
    note = "Differences of the medians of pairs with 95 % intervals; negative: less than beside it."
    heads = ["case", "beside", "p95 delay (ms)", "use (points)", f"{first} has"]
    return Table(f"Verdicts on {first}", heads, rows, note)


def _change(e: Estimate, factor: float, digits: int) -> str:
    if math.isnan(e.value):
        return "-"
    return f"{e.value * factor:+.{digits}f} ({e.low * factor:+.{digits}f} to {e.high * factor:+.{digits}f})"


def case_table(found: Answers, case: Case, general: Sequence[Measure] = GENERAL, kind: str = "queue") -> Table:
    """All that was measured in a case, with intervals; `kind` says what the subjects are."""
    columns = [*general, *(m for m in case.measures if m not in general)]
    cells = measured.cells(found.rows.filter(pl.col("case") == case.id), [m.column for m in columns])
    there = [m for m in columns if any(not math.isnan(e[m.column].value) for e in cells.values() if m.column in e)]
    rows = [
        [variant, subject, *(cell(e.get(m.column), m) for m in there)] for (_, variant, subject), e in cells.items()
    ]
    return Table(case.title, ["variant", kind, *(m.title for m in there)], rows)


def cost_table(found: Characterised) -> Table:
    """What a packet costs behind each queue, beside drop-tail."""
    plain = found.costs.get("", math.nan)
    rows = [[s or "droptail (plain)", f"{ns:.0f}", f"{ns / plain:.2f}"] for s, ns in found.costs.items()]
    note = (
        f"Ten greedy flows over {operation.RATE_bps / 1e6:g} Mbit/s: hosts, links and queue together, on this machine,"
        f" in one session; least of {operation.TRIES} runs. `crosswind bench --queue NAME` measures with more care."
    )
    return Table(operation.COST.title, ["queue", "ns per packet", "times drop-tail"], rows, note)


def control_table(found: Characterised) -> Table:
    """What an operator can set, and what is set here (RFC 7928, section 12)."""
    rows = []
    for name, queue in found.subjects.items():
        known = operation.parameters(str(queue["type"]))
        mine = ", ".join(f"{k} = {v}" for k, v in queue.items() if k != "type")
        rows.append([name, str(len(known)), ", ".join(k for k in known if k not in queue), mine or "nothing"])
    note = "`crosswind show NAME` says what each of them is and where its default comes from."
    return Table("What an operator sets", ["queue", "parameters", "left as they are", "set here"], rows, note)


def cell(e: Estimate | None, m: Measure) -> str:
    """Median and interval of a measure, as a cell of a table shows it."""
    if e is None or math.isnan(e.value):
        return "-"
    value, low, high = (x * factor(m) for x in (e.value, e.low, e.high))
    return f"{value:.{m.digits}f} ({low:.{m.digits}f} to {high:.{m.digits}f})"


def factor(m: Measure) -> float:
    """What a column is multiplied with for people: shares are shown in per cent."""
    return 100.0 if m.column in IN_PERCENT else 1.0


def write(found: Characterised, folder: Path, command: str = "", formats: Sequence[Format] = ()) -> Path:
    """Writes report.html, the figures and `cases.csv`; returns the path of the page."""
    tables = {
        "matrix": matrix(found),
        "verdicts": verdict_table(found),
        "cases": [(c, cost_table(found) if c is operation.COST else case_table(found, c)) for c in found.cases],
        "more": control_table(found),
    }
    return written(found, "RFC 7928", INTRODUCTION, tables, pictures.pictures(found), folder, command, formats)


def written(
    found: Answers,
    source: str,
    prose: str,
    tables: Mapping[str, object],
    shown: Sequence[Picture],
    folder: Path,
    command: str,
    formats: Sequence[Format],
) -> Path:
    """The page of either suite: `tables` holds `matrix`, `verdicts`, and `cases` with the table of each."""
    first, *others = found.subjects
    s = found.setting
    html = (
        report.environment()
        .get_template("suite.html")
        .render(
            title=f"{first}, as {source} asks",
            source=source,
            byline=f"Beside {', '.join(others) or 'nothing'}; {s.rate_bps / 1e6:g} Mbit/s, {s.rtt_ms:g} ms, "
            f"{s.seconds:g} s, {s.reps} repetitions, where a case says nothing else.",
            name=first,
            prose=prose,
            pictures=report.for_page(shown, formats),
            warnings=found.runs.manifest.get("warnings", []),
            facts=report.facts(found.runs),
            command=command,
            **tables,
        )
    )
    page = report.write(folder, html, shown, command, formats)
    found.rows.write_csv(folder / "cases.csv")
    return page

"""`crosswind reproduce`: a published experiment, its claims checked one by one."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table as RichTable
from rich.text import Text

from crosswind.cli.shared import (
    VERDICT_STYLE,
    AgainOption,
    FormatsOption,
    JsonOption,
    OutOption,
    RepsOption,
    SeedOption,
    SetOption,
    ShuffleOption,
    WorkersOption,
    command_line,
    console,
    formats_of,
    print_json,
    print_table,
    there_already,
)
from crosswind.errors import EXIT_DONE, EXIT_FAILED, InputError
from crosswind.reproduce.claims import MEANING, columns, tally
from crosswind.run.progress import Bar

if TYPE_CHECKING:
    from crosswind.reproduce import Experiment
    from crosswind.reproduce.campaign import Finished
    from crosswind.reproduce.one import Outcome, Plan
    from crosswind.reproduce.readings import Reading

EPILOG = "Example: crosswind reproduce jarvinen-2006/w2-e0 --out out/w2   (all experiments: crosswind reproduce all)"
PAGES = Path("docs/reproduction")
#: What is said beside verdicts of a scaled-down run.
FIRST_LOOK = "first look"
NameArgument = Annotated[
    str,
    typer.Argument(
        metavar="EXPERIMENT",
        help="An id, a source such as jarvinen-2006, a pattern such as 'igarashi/e[67]-*', or all.",
    ),
]


def register(app: typer.Typer) -> None:
    app.command("reproduce", epilog=EPILOG)(reproduce)


def reproduce(
    name: NameArgument,
    reps: RepsOption = None,
    quick: Annotated[bool, typer.Option("--quick", help="A tenth of the repetitions: a first look.")] = False,
    seed: SeedOption = None,
    variant: Annotated[str, typer.Option("--variant", help="Another reading of what the source leaves open.")] = "",
    variants: Annotated[
        bool, typer.Option("--variants", help="Run every other reading too, and compare the verdicts.")
    ] = False,
    assign: SetOption = None,
    write_scenarios: Annotated[
        Path | None,
        typer.Option("--write-scenarios", help="Only write what would be run, as TOML files in this folder."),
    ] = None,
    formats: FormatsOption = "",
    out: OutOption = None,
    workers: WorkersOption = None,
    shuffle_ties: ShuffleOption = False,
    again: AgainOption = False,
    pages: Annotated[
        Path | None, typer.Option("--pages", help="Write a page for each study to this folder, and their index.")
    ] = None,
    json: JsonOption = False,
) -> int:
    """Runs published experiments; prints published | measured | verdict; writes figures, report.html, claim tables.

    After an interruption the same command makes only the runs that are missing. `all` also writes the pages of
    docs/reproduction here. --set checks the claims on what was changed, and marks them so. Exit code 1: claims fail.
    """
    from crosswind.reproduce import catalogue
    from crosswind.reproduce import pages as reproduction
    from crosswind.reproduce.one import Plan

    chosen = catalogue.find(name)
    _contradictions(("--quick", quick, "--reps", reps), ("--variants", variants, "--variant", variant))
    _contradictions(("--set", bool(assign), "--pages", pages))
    files = formats_of(formats)
    plan = Plan(
        reps=reps,
        size="quick" if quick else "full",
        seed=seed,
        workers=workers,
        variant=variant,
        ties="shuffled" if shuffle_ties else "fixed",
        readings="all" if variants else "one",
        figures="files" if files or len(chosen) == 1 else "report",
        formats=files,
        again=again,
        changes=tuple(assign or ()),
    )
    if write_scenarios is not None:
        return _write_scenarios(chosen, plan, write_scenarios)
    base = out or Path("out/changed" if assign else "out")
    made = (
        _one(chosen[0], out or base / chosen[0].id, plan, json)
        if len(chosen) == 1
        else _several(chosen, base, plan, json)
    )
    if into := pages or (PAGES if name.strip() == "all" and not assign else None):
        where = (out or base / chosen[0].id) if len(chosen) == 1 else base
        if made.rows:
            reproduction.refresh([where], into, [e.id for e in chosen])
        elif not json:
            print("no claims belong to what was run: pages stay as they are")
    if json:
        print_json(made.rows)
    elif made.runs_before:
        console().print(Text(there_already(made.runs_before), style="dim"))
    found = tally(made.rows)
    return EXIT_FAILED if found.evidence["fail"] or found.broken else EXIT_DONE


@dataclass(frozen=True)
class Made:
    """What came out of all that was asked for."""

    rows: list[dict[str, Any]]
    readings: Mapping[str, Sequence[Reading]]
    runs_before: int


def _contradictions(*pairs: tuple[str, object, str, object]) -> None:
    """Refuses two options of which only one can be heeded."""
    for first, one, second, other in pairs:
        if one and other:
            shown = " with ".join(f"{k} {v}" if v is not True else k for k, v in ((first, one), (second, other)))
            raise InputError(first, found=shown, expected="one of the two")


def _pace(packets: int, seconds: float) -> str:
    """What was simulated, data and ACKs alike, and how fast."""
    return (
        f"{packets / 1e6:.1f} million packets in {seconds:.1f} s ({packets / 1e6 / max(seconds, 1e-3):.2f} million/s)"
    )


def _write_scenarios(chosen: Sequence[Experiment], plan: Plan, folder: Path) -> int:
    """Writes the configurations of each experiment, and says what runs one."""
    from crosswind.reproduce.one import write_scenarios

    for experiment in chosen:
        files = write_scenarios(experiment, plan, folder)
        ask = plan.ask(experiment)
        print(f"{experiment.id}: {len(files)} scenarios in {files[0].parent}; to run one as the experiment does:")
        print(f"  crosswind run {files[0]} --reps {ask.reps} --seed {ask.seed}")
    return EXIT_DONE


def _one(experiment: Experiment, folder: Path, plan: Plan, quiet: bool) -> Made:
    """A single experiment, with every claim in a table."""
    from crosswind.reproduce.one import reproduce as run_experiment

    with Bar(experiment.id) as bar:
        outcome = run_experiment(experiment, folder, plan, command=command_line(), progress=bar)
    if not quiet:
        _print(experiment, outcome)
    before = int(outcome.results.runs.manifest.get("runs_before", 0))
    return Made(outcome.rows, {outcome.name: outcome.readings}, before)


def _several(chosen: list[Experiment], out: Path, plan: Plan, quiet: bool) -> Made:
    """Side by side; figures stand in the reports (not with --quick: `crosswind report DIR` draws them)."""
    from crosswind.reproduce.campaign import campaign

    began = time.monotonic()
    if plan.variant:
        chosen = [e for e in chosen if plan.variant in e.variants] or chosen
    if plan.size == "quick" and plan.figures == "report":
        plan = replace(plan, figures="none")
    with Bar("experiments") as bar:
        done = campaign(chosen, lambda e: out / e.id, plan, command=command_line(), progress=bar)
    rows = [row for one in done for row in one.rows]
    if not quiet:
        _print_summary(done, plan.size)
        _print_tallies(chosen, done)
        pace = _pace(sum(one.packets for one in done), time.monotonic() - began)
        console().print(Text(f"{_counts(rows, plan.size)}; {pace}", style="bold"))
    readings = {str(one.rows[0]["experiment"]): one.readings for one in done if one.rows}
    return Made(rows, readings, sum(one.runs_before for one in done))


def _print_tallies(chosen: list[Experiment], done: list[Finished]) -> None:
    """The verdicts of each source by reading and grade, where several readings were run."""
    from crosswind.reproduce.readings import tallies

    for source in dict.fromkeys(e.id.split("/")[0] for e in chosen):
        grades = {c: g for e in chosen if e.id.split("/")[0] == source for c, g in e.grades.items()}
        readings = [one.readings for one in done if one.id.split("/")[0] == source]
        if counted := tallies(readings, grades):
            print_table(replace(counted, title=f"{source}: {counted.title[0].lower()}{counted.title[1:]}"))


def _print_summary(done: list[Finished], size: str) -> None:
    """One line per experiment, then every claim that did not come out."""
    from crosswind.reproduce.readings import beside, passed_failed_unclear

    screen = console()
    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    verdicts = columns(row for one in done for row in one.rows)
    others = list(dict.fromkeys(r.name for one in done for r in beside(one.readings)))
    first = f"experiment ({FIRST_LOOK})" if size == "quick" else "experiment"
    for column in (first, *verdicts, "apart", *others, "report"):
        table.add_column(column, justify="left" if column in (first, "report") else "right")
    for one in done:
        n = tally(one.rows)
        theirs = {r.name: passed_failed_unclear(r.evidence()) for r in beside(one.readings)}
        counts = [str(k) if k else "" for k in (*(n.evidence[v] for v in verdicts), n.aside)]
        table.add_row(one.id, *counts, *(theirs.get(o, "") for o in others), str(one.folder / "report.html"))
    screen.print(table)
    for one in done:
        for row in one.rows:
            if row["verdict"] in ("error", "fail", "unclear", "not yet"):
                head = Text(f"{row['experiment']} {row['claim']} ", style="bold")
                head.append(row["verdict"], style=VERDICT_STYLE[row["verdict"]])
                for r in beside(one.readings):
                    verdict = r.verdicts.get(row["claim"], "-")
                    head.append(f", {r.name}: ").append(verdict, style=VERDICT_STYLE.get(verdict, ""))
                screen.print(head, Text(row["statement"]))
                for part in row["parts"]:
                    if part["verdict"] in ("error", "fail", "unclear"):
                        screen.print(Text(f"    {part['text']}", style="dim"))


def _counts(rows: list[dict[str, Any]], size: str) -> str:
    return (f"{FIRST_LOOK}, no verdicts: " if size == "quick" else "") + tally(rows).text()


def _of_reading(r: Reading, claim: str) -> tuple[Text, Text]:
    """What a reading beside the main one measured, and its verdict."""
    verdict = r.verdicts.get(claim, "-")
    style = VERDICT_STYLE.get(verdict, "")
    measured = r.measured.get(claim, "-").replace("; ", "\n")
    return Text(measured, style=style if verdict in ("fail", "unclear") else ""), Text(verdict, style=style)


def _print(experiment: Experiment, outcome: Outcome) -> None:
    from crosswind.reproduce.readings import beside, comparison, tallies

    screen = console()
    screen.print(Text(f"{outcome.name}: {experiment.title}", style="bold"))
    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, show_lines=False)
    others = beside(outcome.readings)
    size = outcome.results.size
    verdict = f"verdict ({FIRST_LOOK})" if size == "quick" else "verdict"
    heads = [("claim", 1), ("statement", 5), ("published", 4), ("measured", 6), (verdict, 2)]
    for head, ratio in heads + [c for r in others for c in ((f"measured, {r.name}", 6), (f"verdict, {r.name}", 2))]:
        table.add_column(head, ratio=ratio, overflow="fold", no_wrap=head == "claim")
    for checked in outcome.checked:
        measured = Text()
        for i, m in enumerate(checked.parts):
            good = m.verdict in ("pass", "reported")
            style = VERDICT_STYLE[m.verdict] if not good and checked.verdict != "withheld" else ""
            band = "" if good else f" (accepted {m.show_band()})"
            measured.append(("\n" if i else "") + m.text() + band, style=style)
        if not checked.parts:
            measured.append(checked.measured(), style="dim")
        table.add_row(
            checked.claim.id,
            Text(checked.claim.statement),
            Text(checked.claim.published),
            measured,
            Text(checked.verdict, style=VERDICT_STYLE[checked.verdict]),
            *(text for r in others for text in _of_reading(r, checked.claim.id)),
        )
    screen.print(Text(MEANING, style="dim"))
    screen.print(table)
    if others and (counted := tallies([outcome.readings], experiment.grades)):
        print_table(counted)
    if compared := comparison(outcome.readings):
        print_table(compared)
    manifest = outcome.results.runs.manifest
    for warning in manifest["warnings"]:
        screen.print(Text(f"warning: {warning}", style="yellow"))
    screen.print(
        Text(
            f"{_counts(outcome.rows, size)}; {manifest['runs']} runs, "
            f"{_pace(manifest['packets'], manifest['wall_s'])}; report: {outcome.folder / 'report.html'}"
        )
    )

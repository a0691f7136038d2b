"""`crosswind run`: one scenario, a summary, tables, a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from crosswind.cli.shared import (
    AgainOption,
    FormatsOption,
    JsonOption,
    OutOption,
    ReportOption,
    RepsOption,
    SeedOption,
    SetOption,
    ShuffleOption,
    WorkersOption,
    changed,
    command_line,
    console,
    formats_of,
    print_json,
    print_table,
    there_already,
)
from crosswind.errors import EXIT_DONE, InputError, InterruptedRunError
from crosswind.figures.charts import Format
from crosswind.results import Runs
from crosswind.results.folder import CAPTURE, results_in
from crosswind.results.summary import load_rows, sparks, tables_of
from crosswind.run import Ties
from crosswind.run.kept import keep
from crosswind.run.progress import Bar
from crosswind.run.simulate import run_into
from crosswind.run.wanted import seed_of
from crosswind.scenario import Scenario
from crosswind.stats.precision import Precision, until_precise

SAMPLED_FLOWS_MAX = 20
SAMPLED_LINKS_MAX = 200
EPILOG = "Example: crosswind run scenarios/gprs.toml --reps 10 --set link.last-hop.rate='384 kbit/s' --out out/gprs"


class Vantage(Enum):
    """Where a capture is taken."""

    both = "both"
    sender = "sender"
    receiver = "receiver"


VantageOption = Annotated[
    Vantage,
    typer.Option(
        "--pcap-at", metavar="END", help="Where --pcap looks: both, sender or receiver. tcptrace needs one end."
    ),
]


class Mode(Enum):
    """Who the hosts are."""

    simulate = "simulate"
    emulate = "emulate"


def register(app: typer.Typer) -> None:
    app.command("run", epilog=EPILOG)(run)


def run(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO.toml", help="The scenario file.")],
    seed: SeedOption = None,
    reps: RepsOption = None,
    assign: SetOption = None,
    out: OutOption = None,
    pcap: Annotated[bool, typer.Option("--pcap", help="Write the packets to OUT/packets.pcapng.")] = False,
    pcap_at: VantageOption = Vantage.both,
    precision: Annotated[
        list[str] | None,
        typer.Option("--precision", metavar="METRIC=SHARE", help="Repeat until every mean is that sure: goodput=1%."),
    ] = None,
    reps_max: Annotated[int, typer.Option("--reps-max", min=1, help="Most repetitions for --precision.")] = 1000,
    workers: WorkersOption = None,
    shuffle_ties: ShuffleOption = False,
    again: AgainOption = False,
    mode: Annotated[
        Mode, typer.Option("--mode", help="emulate: real kernels are the hosts, in real time; see docs/emulation.md.")
    ] = Mode.simulate,
    formats: FormatsOption = "",
    report: ReportOption = None,
    json: JsonOption = False,
) -> int:
    """Runs a scenario; prints a summary and writes Parquet tables, manifest.json and report.html.

    Runs that the folder holds already (same scenario, build and seed) are read; after an interruption the same command
    makes only those that are missing.
    """
    files = formats_of(formats)
    targets = [Precision.parse(p) for p in precision or ()]
    count = reps or (8 if targets else 1)
    what = _recorded(changed(scenario, assign), count)
    if pcap and (targets or count > 1):
        found = "--precision" if targets else f"--reps {reps}"
        raise InputError("--pcap", found=found, expected="one repetition: a capture holds one run")
    if pcap_at is not Vantage.both and not pcap:
        raise InputError("--pcap-at", found="no --pcap", expected="--pcap with it")
    what.validate()
    folder = out or Path("out") / what.name / f"{what.digest()}-s{seed if seed is not None else what.get('seed', 1)}"
    ties: Ties = "shuffled" if shuffle_ties else "fixed"
    with results_in(folder), Bar(what.name) as bar:
        if pcap and mode is Mode.simulate:
            what = what.with_({"record.pcap": CAPTURE, "record.pcap_at": pcap_at.value})

        made: list[Runs] = []  # what is made in real time is not in the folder before the end

        def repeated(n: int) -> Runs:
            how: dict[str, Any]
            if mode is Mode.emulate:
                wanted = pcap or what.get("record.pcap") is not None
                how = {"pcap": folder if wanted else None, "together": workers or 1, "progress": bar, "made": made}
                return _emulated(what, seed, n, how)
            how = {"seed": seed, "workers": workers, "ties": ties, "progress": bar}
            return run_into(folder, what, reps=n, folder=folder, again=again and n == count, **how)

        runs = until_precise(targets, count, max(reps_max, count), repeated)
        keep(runs, folder)
        if runs.interrupted:  # at once: what is drawn can be drawn later
            kept = f"{runs.manifest['runs']} of {runs.manifest['reps']} runs are finished and kept in {folder}"
            then = "goes on from there" if mode is Mode.simulate else "begins anew"
            raise InterruptedRunError(f"interrupted: {kept}; the same command {then}")
        if not runs.manifest["runs"]:
            runs.raise_failed(folder)
        page = _report(runs, folder, files) if (report if report is not None else not json or bool(files)) else None
    if json:
        print_json(_as_json(runs, folder, page))
    else:
        _print(runs, folder, page)
    runs.raise_failed(folder)
    return EXIT_DONE


def _report(runs: Runs, folder: Path, formats: Sequence[Format]) -> Path:
    from crosswind import report  # loads the templates

    html, pictures = report.run_report(runs, command_line(), formats)
    return report.write(folder, html, pictures, command_line(), formats)


def _emulated(what: Scenario, seed: int | None, reps: int, how: Mapping[str, Any]) -> Runs:
    from crosswind.emulate import testbed

    return testbed.run(what, seed=seed if seed is not None else seed_of(what), reps=reps, **how)


def _recorded(scenario: Scenario, reps: int) -> Scenario:
    """Adds time series to a single run of few flows and links when the file does not say what to record."""
    flows = [f for f in (scenario.get("flow") or {}).values() if isinstance(f, dict)]
    members = sum(f.get("count", 1) for f in flows if isinstance(f.get("count", 1), int))
    links = scenario.get("link")
    is_small = members <= SAMPLED_FLOWS_MAX and (not isinstance(links, dict) or len(links) <= SAMPLED_LINKS_MAX)
    if reps == 1 and is_small and scenario.get("record") is None:
        return scenario.with_({"record": {"sample": "100 ms"}})
    return scenario


def _print(runs: Runs, folder: Path, page: Path | None) -> None:
    screen = console()
    for table in tables_of(runs):
        print_table(table)
    lines = sparks(runs, screen.width)
    if lines:
        width = max(len(s.label) for s in lines)
        end = float(runs.runs()["end_ns"][0]) / 1e9
        screen.print(Text(f"Over the first repetition (0 to {end:.1f} s)", style="bold"))
        for s in lines:
            screen.print(Text(f"{s.label:<{width}}  {s.line}  max {s.top}"))
    for warning in runs.manifest["warnings"]:
        screen.print(Text(f"warning: {warning}", style="yellow"))
    m = runs.manifest
    if before := m.get("runs_before"):
        screen.print(Text(there_already(before), style="dim"))
    where = f"report: {page}" if page else f"results in {folder}"
    screen.print(Text(f"{m['runs']} run{'s' if m['runs'] != 1 else ''} in {m['wall_s']:.2f} s; {where}"))


def _as_json(runs: Runs, folder: Path, page: Path | None) -> dict[str, Any]:
    return {
        "folder": str(folder),
        "report": str(page) if page else None,
        "interrupted": runs.interrupted,
        "failed": runs.failed,
        "trusted": runs.manifest["trusted"],
        "seed": runs.manifest["seed"],
        "reps": runs.manifest["reps"],
        "warnings": runs.manifest["warnings"],
        "flows": runs.flows().to_dicts(),
        "generators": runs.generators().to_dicts(),
        "under_load": load_rows(runs).to_dicts(),
        "links": runs.links().to_dicts(),
        "classes": runs.classes().to_dicts(),
        "runs": runs.runs().to_dicts(),
    }

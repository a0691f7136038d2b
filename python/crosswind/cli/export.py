"""Ways out: `crosswind export` (results), `crosswind topology` (the network), `crosswind completion` (for shells)."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from crosswind.cli.shared import SetOption, changed, results_of
from crosswind.errors import InputError
from crosswind.results.folder import prepare_out

EXPORT_EPILOG = "Example: crosswind export out/lossy --as qlog --out out/lossy.qlog"
TOPOLOGY_EPILOG = "Example: crosswind topology scenarios/gprs.toml --as dot | dot -Tsvg > network.svg"
COMPLETION_EPILOG = "Example: crosswind completion bash > ~/.local/share/bash-completion/completions/crosswind"


class Form(Enum):
    """What results are written as."""

    csv = "csv"
    arrow = "arrow"
    qlog = "qlog"
    ns2 = "ns2"


class Graph(Enum):
    """What a network is written as."""

    mermaid = "mermaid"
    dot = "dot"
    svg = "svg"


class Shell(Enum):
    bash = "bash"
    zsh = "zsh"
    fish = "fish"


def register(app: typer.Typer) -> None:
    app.command("export", epilog=EXPORT_EPILOG)(export)
    app.command("topology", epilog=TOPOLOGY_EPILOG)(topology)
    app.command("completion", epilog=COMPLETION_EPILOG)(completion)


def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of results.")],
    form: Annotated[Form, typer.Option("--as", help="CSV or Arrow tables, qlog for qvis, text lines like ns-2's.")],
    flow: Annotated[str | None, typer.Option("--flow", help="Only this flow (qlog, ns2).")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder (tables) or file (qlog, ns2).")] = None,
) -> None:
    """Writes saved results for other programs; qlog and ns2 need logged events ([record] events)."""
    from crosswind.results import export as writers

    runs = results_of(folder)
    if form in (Form.csv, Form.arrow):
        write = writers.csv if form is Form.csv else writers.arrow
        for path in write(runs, out or folder / form.value):
            print(path)
        return
    target = out or folder / ("events.qlog" if form is Form.qlog else "events.tr")
    prepare_out(target.parent)
    if target.is_dir():
        raise InputError("--out", found=f"{target}, which is a folder", expected="a file")
    if form is Form.qlog:
        writers.write_qlog(runs, target, flow)
    else:
        target.write_text("".join(f"{line}\n" for line in writers.ns2(runs, flow)), encoding="utf-8")
    print(target)


def topology(
    scenario: Annotated[Path, typer.Argument(metavar="SCENARIO.toml", help="The scenario file.")],
    form: Annotated[
        Graph, typer.Option("--as", help="Mermaid (for Markdown), Graphviz, or a picture.")
    ] = Graph.mermaid,
    assign: SetOption = None,
) -> None:
    """Prints the network of a scenario as a graph."""
    from crosswind.scenario import topology as graphs

    what = changed(scenario, assign)
    print({Graph.mermaid: graphs.mermaid, Graph.dot: graphs.dot, Graph.svg: graphs.svg}[form](what), end="")


def completion(shell: Annotated[Shell, typer.Argument(help="bash, zsh or fish.")]) -> None:
    """Prints what makes a shell complete commands, options and names."""
    from typer.completion import get_completion_script

    print(get_completion_script(prog_name="crosswind", complete_var="_CROSSWIND_COMPLETE", shell=shell.value))

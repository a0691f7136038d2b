"""`crosswind show`: the reference page of an element, or what an experiment asks and claims."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markdown import Markdown
from rich.text import Text

from crosswind.cli.shared import JsonOption, console, print_json
from crosswind.core import core, registry
from crosswind.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from crosswind.experiments.base import Experiment

EPILOG = "Example: crosswind show red-linux   (or an experiment: crosswind show jarvinen-2006/w2-e0; or: show schema)"


def register(app: typer.Typer) -> None:
    app.command("show", epilog=EPILOG)(show)


def show(
    name: Annotated[str, typer.Argument(help="An element, a preset, a metric, an experiment, or `schema`.")],
    json: JsonOption = False,
) -> None:
    """Shows what something is, its parameters with units and defaults, and where it comes from."""
    if name == "schema":
        print(core().schema())
        return
    from crosswind.experiments import registry as experiments  # loads matplotlib

    found = experiments().get(name)
    if found is not None:
        _show_experiment(found, "json" if json else "text")
        return
    rows = [r for r in registry() if r["name"] == name]
    if not rows:
        valid = [*(r["name"] for r in registry()), *experiments(), "schema"]
        raise InputError(
            "show", found=f"`{name}`", expected="a name that `crosswind list` prints", hint=did_you_mean(name, valid)
        )
    if json:
        print_json(rows)
        return
    for row in rows:
        text = row["doc"] or f"# {row['title']}"
        console().print(Markdown(f"{text}\n\n({row['kind']} `{row['name']}`)"))
        _show_params(row.get("params") or {})


def _show_params(schema: dict[str, Any]) -> None:
    properties = schema.get("properties") or {}
    if not properties:
        return
    lines = ["| key | default | meaning |", "|---|---|---|"]
    for key, p in properties.items():
        default = p.get("default", "")
        lines.append(f"| {key} | {default} | {' '.join(str(p.get('description', '')).split())} |")
    console().print(Markdown("\n".join(lines)))


def _show_experiment(e: Experiment, form: str) -> None:
    if form == "json":
        print_json(
            {
                "id": e.id,
                "title": e.title,
                "source": e.source,
                "reps": e.reps,
                "doc": e.doc,
                "variants": {name: v.title for name, v in e.variants.items()},
                "claims": [
                    {"claim": c.id, "statement": c.statement, "published": c.published, "needs": c.needs}
                    for c in e.claims
                ],
            }
        )
        return
    screen = console()
    screen.print(Text(f"{e.id}: {e.title}", style="bold"))
    screen.print(Text(f"Source: {e.source}; {e.reps} repetitions of each configuration\n"))
    screen.print(Markdown(e.doc))
    if e.variants:
        lines = [f"* `{name}`: {v.title}" for name, v in e.variants.items()]
        screen.print(Markdown("\n".join(["Other readings (`--variant NAME`):", "", *lines])))
    rows = [
        f"| {c.id} | {c.statement} | {c.published}{f' (not yet: needs {c.needs})' if c.needs else ''} |"
        for c in e.claims
    ]
    screen.print(Markdown("\n".join(["| claim | statement | published |", "|---|---|---|", *rows])))

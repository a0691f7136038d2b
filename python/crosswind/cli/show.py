"""`crosswind show`: the reference page of an element, or what an experiment asks and claims."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from crosswind.cli.shared import JsonOption, console, print_json
from crosswind.core import registry
from crosswind.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from rich.markdown import Markdown

    from crosswind.reproduce import Experiment

EPILOG = "Example: crosswind show red-linux   (or an experiment: crosswind show jarvinen-2006/w2-e0)"


def register(app: typer.Typer) -> None:
    app.command("show", epilog=EPILOG)(show)


def show(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="An element, a preset, a metric, an experiment or all of a source.")
    ],
    json: JsonOption = False,
) -> None:
    """Shows what something is, its parameters with units and defaults, and where it comes from."""
    from crosswind.reproduce.catalogue import of_study  # loads matplotlib
    from crosswind.reproduce.catalogue import registry as experiments

    found = experiments().get(name)
    if found is not None:
        _show_experiment(found, "json" if json else "text")
        return
    if study := of_study(name) if "/" not in name else {}:
        _show_study(name, list(study.values()), "json" if json else "text")
        return
    rows = [r for r in registry() if r["name"] == name]
    if not rows:
        studies = {e.split("/")[0] for e in experiments()}
        valid = [*(r["name"] for r in registry()), *experiments(), *sorted(studies)]
        raise InputError(
            "show", found=f"`{name}`", expected="a name that `crosswind list` prints", hint=did_you_mean(name, valid)
        )
    if json:
        print_json(rows)
        return
    for row in rows:
        # Elements with a page of their own begin with their title; a metric's title is its definition.
        titled = row["doc"].startswith("# ") or row["doc"] == row["title"]
        text = row["doc"] if titled else f"# {row['title']}\n\n{row['doc']}"
        where = f" of the table {row['params']['kind']}; {row['params']['source']}" if row["kind"] == "metric" else ""
        console().print(_markdown(f"{text}\n\n({row['kind']} `{row['name']}`{where})"))
        _show_params(row.get("params") or {})


def _markdown(text: str) -> Markdown:
    from rich.markdown import Markdown  # takes long to load, and other commands do not need it

    return Markdown(text)


def _show_params(schema: dict[str, Any]) -> None:
    properties = schema.get("properties") or {}
    if not properties:
        return
    lines = ["| key | default | meaning |", "|---|---|---|"]
    for key, p in properties.items():
        default = p.get("default", "")
        lines.append(f"| {key} | {default} | {' '.join(str(p.get('description', '')).split())} |")
    console().print(_markdown("\n".join(lines)))


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
                "metrics": {name: m._asdict() for name, m in e.metrics.items()},
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
    screen.print(_markdown(e.doc))
    if e.variants:
        lines = [f"* `{name}`: {v.title}" for name, v in e.variants.items()]
        screen.print(_markdown("\n".join(["Other readings (`--variant NAME`):", "", *lines])))
    _show_metrics(e)
    rows = [
        f"| {c.id} | {c.statement} | {c.published}{f' (not yet: needs {c.needs})' if c.needs else ''} |"
        for c in e.claims
    ]
    screen.print(_markdown("\n".join(["| claim | statement | published |", "|---|---|---|", *rows])))


def _show_metrics(e: Experiment) -> None:
    """What the columns of the derived tables are."""
    if e.metrics:
        rows = [f"| {name} | {m.unit} | {m.meaning} | {m.source} |" for name, m in e.metrics.items()]
        heads = ["Columns of the derived tables:", "", "| column | unit | definition | source |", "|---|---|---|---|"]
        console().print(_markdown("\n".join([*heads, *rows])))


def _show_study(name: str, experiments: list[Experiment], form: str) -> None:
    """The experiments of one source: what each asks, and how many claims it checks."""
    if form == "json":
        rows = [{"id": e.id, "title": e.title, "question": e.question(), "claims": len(e.claims)} for e in experiments]
        print_json({"id": name, "experiments": rows})
        return
    screen = console()
    screen.print(Text(f"{name}: {len(experiments)} experiments", style="bold"))
    lines = [f"| {e.id} | {e.question()} | {len(e.claims)} |" for e in experiments]
    screen.print(_markdown("\n".join(["| experiment | what it asks | claims |", "|---|---|---|", *lines])))
    screen.print(_markdown(f"`crosswind reproduce {name}` runs them; `crosswind show {experiments[0].id}` tells more."))

"""`crosswind list`: what there is, by kind."""

from __future__ import annotations

from typing import Annotated

import typer

from crosswind.cli.shared import JsonOption, print_json, print_table
from crosswind.core import KINDS, registry
from crosswind.errors import InputError, did_you_mean
from crosswind.table import Table

PLURALS = {k if k == "undo" else f"{k}es" if k.endswith("s") else f"{k}s": k for k in (*KINDS, "stack")}
#: Characters of examples, so that a line of the table fits a terminal of 80.
WIDTH = 50
EPILOG = "Example: crosswind list queues   (all kinds: crosswind list)"


def register(app: typer.Typer) -> None:
    app.command("list", epilog=EPILOG)(list_)


def list_(
    kind: Annotated[str | None, typer.Argument(metavar="KIND", help="One kind only, e.g. queues.")] = None,
    json: JsonOption = False,
) -> None:
    """Lists elements, presets, metrics and experiments of one kind; without one, how many there are of each."""
    rows = entries(kind)
    if json:
        print_json(rows)
        return
    if kind is None:
        print_table(_kinds(rows))
        return
    print_table(Table("", [rows[0]["kind"], "what it is"], [[r["name"], r["title"]] for r in rows]))


def _kinds(rows: list[dict[str, str]]) -> Table:
    """One row a kind: how many there are, and the first few."""
    named: dict[str, list[str]] = {}
    for r in rows:
        named.setdefault(r["kind"], []).append(r["name"])
    body = []
    for kind, names in named.items():
        few = names[:1]
        while len(few) < len(names) and len(", ".join(names[: len(few) + 1])) <= WIDTH:
            few = names[: len(few) + 1]
        plural = "experiments" if kind == "experiment" else next((p for p, k in PLURALS.items() if k == kind), kind)
        body.append([plural, str(len(names)), ", ".join(few) + (", .." if len(few) < len(names) else "")])
    note = "`crosswind list KIND` names all; `crosswind show NAME` explains."
    return Table("", ["kind", "number", "such as"], body, note)


def entries(kind: str | None = None) -> list[dict[str, str]]:
    """Rows {kind, name, title}. Raises InputError for an unknown kind."""
    valid = sorted({*PLURALS, *KINDS, *(r["kind"] for r in registry()), "experiments", "experiment"})
    if kind is not None and kind not in valid:
        raise InputError(
            "list",
            found=f"`{kind}`",
            expected=f"one of {', '.join(sorted({*PLURALS, 'experiments'}))}",
            hint=did_you_mean(kind, valid),
        )
    rows: list[dict[str, str]] = []
    if kind not in ("experiment", "experiments"):
        wanted = PLURALS.get(kind, kind) if kind else None
        if wanted == "stack" and not any(r["kind"] == "stack" for r in registry()):
            raise InputError(
                "list", found=f"`{kind}`", expected="a build that has real stacks", hint="`make stacks` builds one"
            )
        rows += [{"kind": r["kind"], "name": r["name"], "title": r["title"]} for r in registry(wanted)]
    if kind in (None, "experiment", "experiments"):
        from crosswind.reproduce.catalogue import registry as experiments  # loads matplotlib

        rows += [{"kind": "experiment", "name": e.id, "title": e.title} for e in experiments().values()]
    return rows

"""Reports: one self-contained HTML file with tables, inline figures and everything needed to run it again."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from crosswind import figures
from crosswind.errors import BlockedError
from crosswind.figures import Format, Picture
from crosswind.figures.of_runs import run_pictures
from crosswind.results import Runs
from crosswind.results.folder import clear_drawn, why_not_written
from crosswind.results.folder import drawn as drawn_into
from crosswind.results.summary import tables_of
from crosswind.scenario import Scenario
from crosswind.table import Table


@cache
def environment() -> jinja2.Environment:
    """The templates of the reports."""
    env = jinja2.Environment(
        loader=jinja2.PackageLoader("crosswind.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    env.filters["prose"] = prose
    env.globals["asset"] = asset
    return env


def asset(name: str) -> Markup:
    """A script or style sheet of the package, to stand in a page as it is."""
    return Markup((Path(__file__).parent / "templates" / name).read_text(encoding="utf-8"))


def prose(text: str) -> Markup:
    """Paragraphs, lists and `code` of a docstring as HTML."""
    out: list[str] = []
    for block in re.split(r"\n\s*\n", text.strip()):
        lines = [line.strip() for line in block.splitlines()]
        if re.match(r"\s*([-*]|\d+\.)\s", block):
            items = re.split(r"(?m)^\s*(?:[-*]|\d+\.)\s+", block)[1:]
            out.append("<ul>" + "".join(f"<li>{_inline(' '.join(i.split()))}</li>" for i in items) + "</ul>")
        else:
            out.append(f"<p>{_inline(' '.join(lines))}</p>")
    return Markup("\n".join(out))


def _inline(text: str) -> str:
    html = str(escape(text))
    html = re.sub(r"`([^`]+)`", r"<code>\1</code>", html)
    return re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", html)


def for_page(pictures: Sequence[Picture], formats: Sequence[Format] = ()) -> list[dict[str, Any]]:
    """What the page needs of each figure; one that no chart can show is drawn."""
    return [
        {
            "name": p.name,
            "caption": p.caption,
            "alt": p.alt,
            "svg": Markup(p.svg()) if not (p.charts or p.matrix) else "",
            "shape": "wide" if p.is_wide else "",
            "files": [*formats, *(["csv"] if p.table() is not None else [])],
            "charts": _embedded([c.told() for c in p.charts]),
            "matrix": p.matrix,
        }
        for p in pictures
    ]


def _embedded(charts: list[dict[str, Any]]) -> Markup:
    """JSON that may stand in a page; nothing when there are no charts."""
    if not charts:
        return Markup("")
    return Markup(json.dumps(charts, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/"))


def facts(runs: Runs) -> list[tuple[str, str]]:
    """What a reader must know to run it again."""
    m = runs.manifest
    return [
        ("engine", f"Crosswind {m['code_version']}, packet-level simulation"),
        ("base seed", str(m["seed"])),
        (
            "runs",
            f"{m['runs']} ({len(runs.scenarios)} configuration{'s' if len(runs.scenarios) != 1 else ''}, "
            f"{m['reps']} repetition{'s' if m['reps'] != 1 else ''} each)",
        ),
        ("wall time", f"{m['wall_s']:.2f} s with {m.get('workers', 1)} workers"),
        ("run id", runs.run_id),
        ("made", str(m["created"])),
    ]


def scenario_texts(scenarios: Mapping[str, Scenario]) -> list[tuple[str, str]]:
    return [
        (label, s.text if s.text else json.dumps(s.data, indent=2, ensure_ascii=False))
        for label, s in scenarios.items()
    ]


def run_report(runs: Runs, command: str = "", formats: Sequence[Format] = ()) -> tuple[str, list[Picture]]:
    """The HTML of `crosswind run` and its pictures (the caller saves them, in `formats`, and closes them)."""
    pictures = run_pictures(runs)
    first = next(iter(runs.scenarios.values()))
    html = (
        environment()
        .get_template("run.html")
        .render(
            title=first.title,
            name=first.name,
            facts=facts(runs),
            warnings=runs.manifest.get("warnings", []),
            tables=tables_of(runs),
            pictures=for_page(pictures, formats),
            scenarios=scenario_texts(runs.scenarios),
            command=command,
        )
    )
    return html, pictures


def sweep_page(
    runs: Runs,
    *,
    title: str,
    varied: Sequence[tuple[str, str]],
    tables: Sequence[Table],
    pictures: Sequence[Picture],
    command: str = "",
    formats: Sequence[Format] = (),
) -> str:
    """The HTML of `crosswind sweep`."""
    base = Scenario(runs.manifest["base"])
    return (
        environment()
        .get_template("sweep.html")
        .render(
            title=title,
            name=base.name,
            varied=varied,
            facts=facts(runs),
            warnings=runs.manifest.get("warnings", []),
            tables=tables,
            pictures=for_page(pictures, formats),
            scenarios=scenario_texts({base.name: base}),
            command=command,
        )
    )


def comparison_page(
    *,
    table: Table,
    pictures: Sequence[Picture],
    sides: Sequence[tuple[str, list[tuple[str, str]]]],
    command: str = "",
    formats: Sequence[Format] = (),
) -> str:
    """The HTML of `crosswind compare`; `sides`: name and facts of what is compared."""
    page = environment().get_template("comparison.html")
    return page.render(
        title="Comparison", table=table, pictures=for_page(pictures, formats), sides=sides, command=command
    )


def write(
    folder: Path,
    html: str,
    pictures: Sequence[Picture],
    command: str = "",
    formats: Sequence[Format] = (),
) -> Path:
    """Writes report.html, the figures' data as CSV, and the figures as files in `formats`; returns the page's path."""
    page = folder / "report.html"
    try:
        clear_drawn(folder)
        page.write_text(html, encoding="utf-8")
        files = [
            f.relative_to(folder).as_posix() for p in pictures for f in p.save(folder / "figures", command, formats)
        ]
        drawn_into(folder, [page.name, *files])
    except OSError as e:
        raise BlockedError(f"{folder}: the report cannot be written ({why_not_written(e)})") from None
    figures.close_all(pictures)
    return page

"""The pages of docs/reproduction: one per study, and an index with the score of all.

Each page begins with what a reader may conclude on one screen: how many claims pass, why others fail, how much came
from bands and how much from models. Below it every claim of every experiment. All is made out of the rows of
`claims.json` and the readings that were run; nothing is written by hand but `data/conclusions.md` of a study.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from crosswind.reproduce import before, catalogue, gathered
from crosswind.reproduce.claims import MEANING, tally
from crosswind.reproduce.claims.tally import distinct, in_order, study_of
from crosswind.reproduce.gathered import JUDGED
from crosswind.reproduce.readings import FORMER, Reading, beside, comparison, tallies
from crosswind.table import Table

SCORES = "scores.json"
#: Claims and how they were made, an experiment a folder: pages are written from it.
KEPT_IN = "results"
PARTS_SHOWN = 6
#: Columns of the index; `not yet`: first looks, and what waits for a part of the laboratory.
COUNTED = (*JUDGED, "not yet", "withheld")
UNMARKED = ("pass", "reported", "not yet")
CAUSES = {
    "model": "a defect of the model that is known and not mended",
    "set-up": "a set-up that cannot be known",
    "source": "the source contradicts itself",
    "reading": "our reading of an open point",
    "open": "looked into, and the mechanism not found",
    "": "not explained",
}
#: Figures are not kept in the repository: they are large, and a command draws them.
FIGURES = "Figures and intervals: `crosswind reproduce {0}`, then `out/{0}/report.html`."
#: How the conclusions of a study begin.
CONCLUDE = "**What a reader may conclude.**"
CELLS = (
    "a: the claims that passed by bands and readings of before, as first scored; c: by bands of now and readings of "
    "before; d: by both of now. From a to c is what bands alone gained, from c to d what models did."
)
FIRST = (
    "The first score is that of the engine and the readings of then, as it was printed; the bands of now are held "
    "against the printed values alone, so an order counts by its sign without an interval."
)
Row = Mapping[str, Any]


def refresh(folders: Sequence[Path], pages: Path, only: Collection[str] = ()) -> list[Path]:
    """Keeps what lies in some folders (of `only` these experiments) in `results`, and writes the pages of its studies.

    A page is written from all that is kept of its study. Raises InputError as `gather` does.
    """
    kept = gathered.keep(folders, pages / KEPT_IN, only)
    studies = {name.split("/")[0] for name in kept}
    found = gathered.gather([pages / KEPT_IN] if kept else folders).of(studies)
    return write(found.rows, found.readings, pages, found.made)


def write(
    rows: Sequence[Row], readings: Mapping[str, Sequence[Reading]], folder: Path, made: Callable[[str], str]
) -> list[Path]:
    """Writes the pages of all studies in `rows`, and the index of all whose scores are known in that folder.

    `readings`: experiment -> its readings, the one of the rows first. `made(study)` says by which command and version.
    """
    folder.mkdir(parents=True, exist_ok=True)
    scores: dict[str, Any] = {}
    if (folder / SCORES).is_file():
        scores = json.loads((folder / SCORES).read_text(encoding="utf-8"))
    pages = []
    for study in dict.fromkeys(study_of(r) for r in rows):
        mine = [r for r in rows if study_of(r) == study]
        own = {name: r for name, r in readings.items() if name.split("/")[0] == study}
        pages.append(folder / f"{study}.md")
        pages[-1].write_text("\n".join(page(study, mine, own, made(study))) + "\n", encoding="utf-8")
        scores[study] = score(mine, before.cells(*_earlier(study, own)))
    (folder / SCORES).write_text(json.dumps(scores, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    index = folder / "index.md"
    index.write_text("\n".join(_index(scores)) + "\n", encoding="utf-8")
    return [*pages, index]


def score(rows: Sequence[Row], earlier: Mapping[str, before.Share]) -> dict[str, Any]:
    """Distinct claims of one study: evidence by verdict, others by kind, failing ones by cause; what it was before."""
    found = tally(rows)
    return {
        "evidence": {v: n for v, n in found.evidence.items() if n},
        "apart": {k: sum(n.values()) for k, n in found.apart.items() if sum(n.values())},
        "causes": {k: len(ids) for k, ids in _causes(rows).items()},
        "before": {k: v.text() for k, v in earlier.items()},
    }


def _earlier(
    study: str, readings: Mapping[str, Sequence[Reading]]
) -> tuple[before.Column | None, before.Column | None]:
    """The first score of a study, and its former readings with the engine of now."""
    experiments = catalogue.of_study(study)
    claims = [c for e in experiments.values() for c in e.claims]
    have = [name for name, e in experiments.items() if FORMER in e.variants]
    return before.first_score(study, claims), before.former(readings, have)


def _causes(rows: Sequence[Row]) -> dict[str, list[str]]:
    """Cause -> the claims that do not pass because of it."""
    verdicts = distinct(rows)
    found: dict[str, list[str]] = {}
    for r in rows:
        failing = r.get("kind", "evidence") == "evidence" and verdicts[study_of(r), r["claim"]] in ("fail", "error")
        ids = found.setdefault(r.get("cause", ""), [])
        if failing and r["claim"] not in ids:
            ids.append(r["claim"])
    return {k: v for k in CAUSES if (v := found.get(k, []))}


def lines(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """A table in Markdown, with an empty line after it."""
    body = ["| " + " | ".join(str(c).replace("|", "\\|").replace("\n", " ") for c in row) + " |" for row in rows]
    return ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads), *body, ""]


def _table(table: Table | None) -> list[str]:
    return [] if table is None else [*filter(None, [table.note]), "", *lines(table.heads, table.rows)]


def _share(evidence: Mapping[str, int]) -> str:
    judged = sum(evidence.get(v, 0) for v in JUDGED)
    return f"{100 * evidence.get('pass', 0) / judged:.0f} %" if judged else "-"


def _index(scores: Mapping[str, Any]) -> list[str]:
    """The score of all studies, why claims fail, and what each study comes to."""
    whole: dict[str, int] = {}
    rows = []
    for study, s in [*sorted(scores.items()), ("all", None)]:
        evidence = whole if s is None else s["evidence"]
        if s is not None:
            for v, n in evidence.items():
                whole[v] = whole.get(v, 0) + n
        apart = sum(n for k in scores.values() for n in k["apart"].values()) if s is None else sum(s["apart"].values())
        name = "**all**" if s is None else f"[{study}]({study}.md)"
        counts = [evidence.get(v, 0) for v in COUNTED]
        earlier = (s or {}).get("before", {})
        rows.append([name, *counts, apart, *(earlier.get(k, "-") for k in "ac"), _share(evidence)])
    heads = ["study", *COUNTED, "counted apart", "a", "c", "pass, of those judged (d)"]
    intro = "Published statements, measured anew. One page per study; distinct claims are counted, not rows of tables."
    out = ["# Reproduction", "", intro, "", *lines(heads, rows), *([CELLS, ""] if any(map(_known, rows)) else [])]
    out += [MEANING, "", *_why(scores)]
    said = [(f"[{study}]({study}.md)", text) for study in sorted(scores) if (text := _in_short(study))]
    return [*out, *(lines(["study", "in short"], said) if said else [])]


def _known(row: Sequence[object]) -> bool:
    return row[-2] != "-"


def _why(scores: Mapping[str, Any]) -> list[str]:
    """Failing claims by cause, over all studies."""
    found = {k: {study: s["causes"][k] for study, s in sorted(scores.items()) if k in s["causes"]} for k in CAUSES}
    shown = [
        (CAUSES[k], sum(by.values()), ", ".join(f"[{study}]({study}.md) {n}" for study, n in by.items()))
        for k, by in found.items()
        if by
    ]
    return lines(["fails because of", "claims", ""], shown) if shown else []


def page(study: str, rows: Sequence[Row], readings: Mapping[str, Sequence[Reading]], made: str) -> list[str]:
    """The page of one study."""
    today = datetime.date.today().isoformat()
    out = [f"# {study}", "", f"Written by {made}, {today}. Do not edit.", "", *_summary(study, rows, readings)]
    for experiment in dict.fromkeys(r["experiment"] for r in rows):
        own = readings.get(experiment, ())
        out += [f"## {experiment}", "", FIGURES.format(experiment.split(" ")[0]), ""]
        out += _claims([r for r in rows if r["experiment"] == experiment], [o.name for o in beside(own)])
        if (compared := comparison(own)) is not None:
            out += ["Other readings of the open points:", "", *(f"* `{r.name}`: {r.title}" for r in own), ""]
            out += _table(compared)
    return out


def _summary(study: str, rows: Sequence[Row], readings: Mapping[str, Sequence[Reading]]) -> list[str]:
    """What a reader may conclude, on one screen."""
    found = tally(rows)
    columns = _earlier(study, readings)
    earlier = before.cells(*columns)
    head = f"**{_share(found.evidence)}** of {found.judged} judged claims pass"
    if earlier:
        head += f" (d: bands and readings of now); a {earlier['a'].text()}, c {earlier['c'].text()}"
    out = [f"{head}. {found.text()}.", "", *([CELLS, ""] if earlier else [])]
    agreeing = {(study_of(r), r["claim"]): r["agreement"] for r in rows if r.get("agreement")}
    if agreeing:
        yes = sum(a == "yes" for a in agreeing.values())
        out += [f"Within the sampling error alone, where a spread is printed: {yes} of {len(agreeing)} claims.", ""]
    if causes := _causes(rows):
        shown = ((CAUSES[k], len(ids), ", ".join(in_order(ids))) for k, ids in causes.items())
        out += lines(["fails because of", "claims", ""], shown)
    out += _conclusions(study)
    if apart := before.aside(rows):
        out += lines(["counted apart", "claims", ""], apart)
    if (quadrants := before.quadrants(*columns, before.of_now(rows))) is not None:
        out += ["How much came from bands and how much from models:", "", *_table(quadrants), FIRST, ""]
    grades = {r["claim"]: r.get("grade", "") for r in rows}
    if any(beside(r) for r in readings.values()):
        out += _table(tallies(list(readings.values()), grades))
    return [*out, MEANING, ""]


def _in_short(study: str) -> str:
    """The first sentence of what is concluded of a study."""
    text = " ".join(_conclusions(study)).replace(CONCLUDE, "").strip()
    found = re.match(r".+?[.?!](?= [A-Z]|$)", text)
    return found[0] if found else text


def _conclusions(study: str) -> list[str]:
    """What somebody who knows the study says of it: `data/conclusions.md` beside its experiments."""
    file = before.package(study) / "data" / "conclusions.md"
    return [*file.read_text(encoding="utf-8").rstrip().split("\n"), ""] if file.is_file() else []


def _claims(rows: Sequence[Row], others: Sequence[str]) -> list[str]:
    heads = ["claim", "statement", "published", "ours", "measured", "verdict", "agrees", "cause", *others]
    return lines(heads, ([*_cells(r), *(r.get("readings", {}).get(o, "-") for o in others)] for r in rows))


def _cells(r: Row) -> list[str]:
    kind = r.get("kind", "evidence")
    apart = f" ({kind})" if kind != "evidence" else ""
    aside = " (first look)" if r.get("first_look") else ""
    earlier = r.get("earlier", r["verdict"])
    was = f" (was {earlier})" if earlier not in (r["verdict"], "not yet") else ""
    cause = " ".join(filter(None, (r.get("because", ""), f"Corrected: {r['change']}." if r.get("change") else "")))
    where = f" [{r['where']}]" if r.get("where") else ""
    return [
        *(r["claim"], r["statement"] + where, r["published"], r.get("ours", ""), _measured(r)),
        *(r["verdict"] + apart + aside + was, r.get("agreement", ""), cause),
    ]


def _measured(r: Row) -> str:
    """The parts that matter, each with what is accepted: all of them if they are few, else first what does not pass."""
    parts = r["parts"]
    if not parts:
        return str(r["measured"])
    worse = [p for p in parts if p["verdict"] not in UNMARKED]
    few = parts if len(parts) <= PARTS_SHOWN else [*worse, *(p for p in parts if p not in worse)][:PARTS_SHOWN]
    said = [p["shown"] + (f" [{p['accept']}]" if p["accept"] != "reported" else "") + _mark(p) for p in few]
    return "; ".join(said) + (f"; and {len(parts) - len(few)} more" if len(parts) > len(few) else "")


def _mark(part: Row) -> str:
    """The verdict of a part that does not pass, and its kind where that is not the claim's."""
    verdict = "" if part["verdict"] in UNMARKED else f" **{part['verdict']}**"
    return verdict + (f" ({part['kind']})" if part.get("kind") else "")

"""What finished reproductions have left in folders, for pages and scoreboards: without running anything.

Studies can be run at separate times and into separate folders, and another reading of an experiment after its main one.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from crosswind.errors import InputError
from crosswind.reproduce.catalogue import of_study
from crosswind.reproduce.readings import MAIN, MAIN_TITLE, Reading
from crosswind.results.sealed import AGAIN

Rows = list[dict[str, Any]]
#: Verdicts that a first look cannot give.
JUDGED = ("pass", "consistent", "unclear", "fail")
#: What a manifest warns of when an experiment was run with fewer repetitions than it has.
FEWER = "repetitions instead of"
#: What is kept of a manifest: how the claims were made.
KEPT = (
    *("experiment", "variant", "code_version", "created", "seed", "reps", "size", "wall_s", "warnings", "packets"),
    "reading",
)


@dataclass
class Gathered:
    """The rows of the main readings, the readings of each experiment (its main one first), and how they were made."""

    rows: Rows = field(default_factory=list)
    readings: dict[str, list[Reading]] = field(default_factory=dict)
    versions: set[str] = field(default_factory=set)
    seconds: dict[str, float] = field(default_factory=dict)
    first_looks: list[str] = field(default_factory=list)

    def of(self, studies: Collection[str]) -> Gathered:
        """The same without other studies."""
        rows = [r for r in self.rows if str(r["experiment"]).split("/")[0] in studies]
        return replace(self, rows=rows)

    def made(self, study: str) -> str:
        """By what the results of a study were made, for the head of its page."""
        seconds = sum(s for name, s in self.seconds.items() if name.split("/")[0] == study)
        short = [name for name in self.first_looks if name.split("/")[0] == study]
        missing = [name for name, e in of_study(f"{study}/").items() if e.claims and name not in self.seconds]
        by = f"`crosswind reproduce` (Crosswind {', '.join(sorted(self.versions))}; {seconds:.0f} s of runs)"
        by += f", **not at full length: {', '.join(short)}**" if short else ""
        return by + (f", **not run: {', '.join(missing)}**" if missing else "")


def keep(folders: Sequence[Path], into: Path, only: Collection[str] = ()) -> list[str]:
    """Keeps claims and how they were made, of all that lies below some folders or of `only` these experiments.

    A study need not be run in one go: what is kept of an experiment stays until it is run again, at full length if it
    was. Returns the names of the experiments. Raises InputError for claims that cannot be read, or are made of a
    part of the runs.
    """
    kept = []
    for rows, m in _claims(folders):
        name, variant = str(m["experiment"]), str(m["variant"])
        if only and name not in only:
            continue
        kept.append(name)
        place = into / name if variant == MAIN else into / name / variant
        before = place / "manifest.json"
        if not is_full(m) and before.is_file() and is_full(_read(before)):
            continue  # a first look says less than what is there
        if variant != MAIN and "reading" in m:  # what is compared stands in its manifest
            rows = [{k: r[k] for k in ("experiment", "claim", "verdict")} for r in rows]
        place.mkdir(parents=True, exist_ok=True)
        for part, data in (("claims", rows), ("manifest", {k: m[k] for k in KEPT if k in m})):
            (place / f"{part}.json").write_text(json.dumps(data, separators=(",", ":")) + "\n", encoding="utf-8")
    return kept


def gather(folders: Sequence[Path]) -> Gathered:
    """All that lies below some folders; of an experiment that lies there twice the last one counts.

    Raises InputError for claims that cannot be read or are made of a part of the runs, and when there are none.
    """
    found = {(str(m["experiment"]), str(m["variant"])): (rows, m) for rows, m in _claims(folders)}
    out = Gathered()
    for (name, variant), (rows, m) in sorted(found.items(), key=lambda item: (item[0][0], item[0][1] != MAIN)):
        out.versions.add(str(m["code_version"]))
        out.seconds[name] = out.seconds.get(name, 0.0) + float(m["wall_s"])
        quick = m.get("size") == "quick"
        if variant == MAIN:
            out.rows += [_not_yet(r) for r in rows] if quick else rows
            if not is_full(m):
                out.first_looks.append(name)
        elif name not in out.readings:
            continue  # of what is compared there is no main reading
        own = _reading(rows, m)
        own = replace(own, verdicts={}, earlier={}) if quick else own
        out.readings.setdefault(name, []).append(own)
    if not out.rows:
        places = ", ".join(map(str, folders))
        raise InputError(places, found="no claims", expected="results of `crosswind reproduce` at or below it")
    for row in out.rows:
        _explain(row)
        others = out.readings[str(row["experiment"])][1:]
        row["readings"] = {r.name: r.verdicts[row["claim"]] for r in others if row["claim"] in r.verdicts}
    return out


def is_full(manifest: Mapping[str, Any]) -> bool:
    """Whether an experiment was run at full length: no first look, and with all of its repetitions."""
    return manifest.get("size") == "full" and not any(FEWER in w for w in manifest.get("warnings", ()))


def _claims(folders: Sequence[Path]) -> Iterator[tuple[Rows, dict[str, Any]]]:
    """Claims of published experiments below some folders, each with the manifest of its runs."""
    for folder in folders:
        for file in sorted(folder.rglob("claims.json")):
            rows, m = _read(file), _read(file.with_name("manifest.json"))
            if not rows or any(r.get("changed") for r in rows):
                continue
            if m.get("failed"):
                found = f"claims about the rest of runs of which {len(m['failed'])} broke down"
                raise InputError(str(file), found=found, expected="claims of all runs", hint=AGAIN)
            yield rows, m


def _not_yet(row: dict[str, Any]) -> dict[str, Any]:
    """The row of a first look: what was measured is shown, and judged when it has been run at full size."""
    looked = {**row, "first_look": "yes"}
    if row["verdict"] not in JUDGED:
        return looked
    parts = [{**p, "verdict": "not yet"} for p in row["parts"]]
    return {**looked, "verdict": "not yet", "earlier": "not yet", "agreement": "", "parts": parts}


def _explain(row: dict[str, Any]) -> None:
    """A cause that was found after the runs counts: it is the claim's."""
    name = str(row["experiment"])
    experiment = of_study(name).get(name)
    claim = next((c for c in experiment.claims if c.id == row["claim"]), None) if experiment else None
    if claim and claim.because:
        row["cause"], row["because"] = claim.cause, claim.because


def _read(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as e:
        raise InputError(str(file), found=f"claims that cannot be read ({e})", expected="JSON") from None


def _reading(rows: Rows, manifest: dict[str, Any]) -> Reading:
    if "reading" in manifest:
        return Reading(**manifest["reading"])
    variant = str(manifest["variant"])
    verdicts, earlier = (
        {r["claim"]: r[key] for r in rows if r.get(key, "not yet") != "not yet"} for key in ("verdict", "earlier")
    )
    apart = [r["claim"] for r in rows if r.get("kind", "evidence") != "evidence"]
    return Reading(variant, MAIN_TITLE if variant == MAIN else variant, {}, verdicts, {}, apart, earlier)

"""The door to the compiled engine: the one place that imports `crosswind._core`."""

from __future__ import annotations

import hashlib
import importlib
import json
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from crosswind.errors import EngineMissingError, UnknownNameError

KINDS = (
    "queue",
    "link",
    "loss",
    "meter",
    "delayer",
    "profile",
    "law",
    "detector",
    "signal",
    "undo",
    "transport",
    "workload",
    "template",
    "preset",
    "metric",
)


def core() -> Any:
    """The engine module. Raises EngineMissingError when it has not been built."""
    try:
        return importlib.import_module("crosswind._core")
    except ImportError as e:
        raise EngineMissingError(
            f"the compiled engine (crosswind._core) cannot be loaded: {e}; build it with `make setup`"
        ) from e


def has_hook(name: str) -> bool:
    """Whether this build of the engine offers the function `name`."""
    return hasattr(core(), name)


def version() -> str:
    """Version of the engine, as text. Raises EngineMissingError without the compiled engine."""
    return str(core().version())


def schema() -> dict[str, Any]:
    """JSON Schema of a scenario file: the engine's, and the [sweep] table that the engine never sees."""
    found: dict[str, Any] = json.loads(core().schema())
    values = {"type": "object", "description": "Paths, dotted or as tables, with lists of values."}
    drawn = {"type": "object", "properties": {"points": {"type": "integer", "minimum": 1}, "seed": {"type": "integer"}}}
    found.setdefault("properties", {})["sweep"] = {
        "type": "object",
        "description": "What `crosswind sweep` varies.",
        "additionalProperties": False,
        "properties": {
            "reps": {"type": "integer", "minimum": 1, "description": "Repetitions of each combination."},
            "seed": {"type": "integer", "minimum": 0, "description": "Base seed of all combinations."},
            "precision": {"type": ["string", "array"], "description": "Repeat until that sure, e.g. goodput=1%."},
            "skip_invalid": {"type": "boolean", "description": "Leave out combinations that are no valid scenario."},
            "grid": {**values, "description": "Every combination of these values."},
            "zip": {"type": ["array", "object"], "description": "Values that step together."},
            "random": {**drawn, "description": "Points drawn independently from ranges or choices."},
            "latin-hypercube": {**drawn, "description": "Points that cover ranges or choices evenly."},
        },
    }
    return found


def build() -> str:
    """Version and fingerprint of the compiled engine: two builds that may compute differently differ here."""
    file = getattr(core(), "__file__", None)
    return f"{version()}+{_fingerprint(str(file), Path(file).stat().st_mtime_ns)}" if file else version()


@cache
def _fingerprint(file: str, _changed_ns: int) -> str:
    return hashlib.blake2b(Path(file).read_bytes(), digest_size=5).hexdigest()


@cache
def _rows(_engine: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(core().registry())
    return rows + _templates()


def _templates() -> list[dict[str, Any]]:
    """Rows of the templates that `topology` may name: their keys stand in the schema alone."""
    rows = []
    for one in schema().get("$defs", {}).get("Topology", {}).get("oneOf", []):
        keys = dict(one["properties"])
        name = keys.pop("template")["const"]
        picture, _, meaning = one["description"].partition("\n")[0].partition(": ")
        doc = (
            f'# Template {name}\n\n{one["description"]}\n\nIn a scenario: `topology = {{ template = "{name}", .. }}`.\n'
        )
        title = f"{picture.strip('`')}: {meaning}".rstrip(".")
        rows.append({"kind": "template", "name": name, "title": title, "doc": doc, "params": {"properties": keys}})
    return rows


def registry(kind: str | None = None) -> list[dict[str, Any]]:
    """What a scenario may name: a list of dicts with kind, name, title, doc (Markdown), params (JSON Schema).

    `kind`: only those of a kind, such as "queue" or "metric". Raises InputError for a kind that does not exist,
    EngineMissingError without the compiled engine.
    """
    rows = _rows(id(core()))
    if kind is not None and kind not in (known := {*KINDS, *(r["kind"] for r in rows)}):
        raise UnknownNameError("registry", kind, "kind", known)
    return [r for r in rows if kind is None or r["kind"] == kind]


def column(name: str, data: Any) -> pl.Series:
    """A column of the engine: an array, or a pair (codes, texts). Whole numbers become signed.

    Arrays of 64 bits are not copied.
    """
    if isinstance(data, tuple):
        codes, texts = data
        return pl.Series(name, texts, dtype=pl.String).gather(pl.Series(codes, dtype=pl.UInt32)).alias(name)
    if getattr(data, "dtype", None) == "uint64":
        signed = data.view("int64")
        if signed.size and signed.min() < 0:
            raise OverflowError(f"{name}: {data.max()} does not fit into 63 bits")
        return pl.Series(name, signed)
    column = pl.Series(name, data)
    return column.cast(pl.Int64) if column.dtype.is_unsigned_integer() else column

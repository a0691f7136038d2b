"""Figures and tables of an answer as files."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from crosswind import optional
from crosswind.errors import InputError, UnknownNameError
from crosswind.figures.charts import Chart, Series
from crosswind.figures.pictures import Picture
from crosswind.results import Runs
from crosswind.results.runs import TABLES

MEDIA = {
    "svg": "image/svg+xml",
    "png": "image/png",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}
_SCALES = {
    "bit/s": ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")),
    "B": ((1e6, "MB"), (1e3, "kB"), (1.0, "B")),
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")),
}


def table(runs: Runs, name: str, kind: str) -> bytes:
    """A table of the results as CSV or Parquet. Raises InputError for another name or kind."""
    if name not in TABLES:
        raise UnknownNameError("export", name[:40], "table", TABLES)
    frame = runs.events() if name == "event" else runs.table(name)
    out = io.BytesIO()
    if kind == "csv":
        frame.write_csv(out)
    elif kind == "parquet":
        frame.write_parquet(out)
    else:
        raise InputError("export", found=f"`{kind[:20]}`", expected="csv or parquet")
    return out.getvalue()


def figure(panels: Any, kind: str, command: str) -> bytes:
    """Charts of the page, drawn for print, as SVG or PNG. `panels`: title, unit, x, series, shown (from, to in s).

    Raises InputError for what cannot be drawn, MissingExtraError without matplotlib.
    """
    if kind not in ("svg", "png"):
        raise InputError("export", found=f"`{kind[:20]}`", expected="svg or png")
    optional.load("matplotlib", "a figure")
    try:
        charts = [_chart(p) for p in panels]
    except (KeyError, TypeError, ValueError) as e:
        raise InputError("export", found=f"panels that cannot be drawn ({e})", expected="those of the page") from None
    if not charts:
        raise InputError("export", found="no chart", expected="at least one")
    picture = Picture("studio", "Drawn by the studio.", "Charts of the studio.", shown=charts)
    with tempfile.TemporaryDirectory() as folder:
        picture.save(Path(folder), command, (kind,))  # type: ignore[arg-type]
        drawn = (Path(folder) / f"studio.{kind}").read_bytes()
    picture.close()
    return drawn


def _chart(panel: Mapping[str, Any]) -> Chart:
    x = np.asarray(panel["x"], dtype=np.float64)
    low, high = (float(v) for v in panel.get("shown") or (x.min(), x.max()))
    inside = (x >= low) & (x <= high)
    columns = {str(s["name"]): np.array([np.nan if v is None else v for v in s["y"]], float) for s in panel["series"]}
    top = max((float(np.nanmax(y[inside])) for y in columns.values() if np.isfinite(y[inside]).any()), default=1.0)
    unit = str(panel["unit"])
    factor, word = next(((f, w) for f, w in _SCALES.get(unit, ()) if top >= f), (1.0, unit))
    series = []
    for place, (name, y) in enumerate(columns.items()):
        there = inside & np.isfinite(y)
        series.append(Series(name, x[there], y[there] / factor, place=place))
    title = str(panel["title"])
    return Chart("time (s)", f"{title} ({word})", [s for s in series if s.x.size], title="")


def tables_there(runs: Runs) -> list[str]:
    """Names of the tables that have rows."""
    return [t for t in TABLES if not _empty(runs.table(t))]


def _empty(frame: pl.DataFrame) -> bool:
    return frame.is_empty()

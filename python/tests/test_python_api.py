"""The Python interface as a person meets it: examples in docstrings, notebooks, metrics of one's own."""

from __future__ import annotations

import doctest
import importlib
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import crosswind as cw
from crosswind.errors import InputError

Engine = Callable[..., Any]
ROOT = Path(__file__).resolve().parents[2]
WITH_EXAMPLES = (
    "figures.charts",
    "stats.comparing",
    "sweep.design",
    "run.laws",
    "results.metrics",
    "stats.precision",
    "scenario.quantity",
    "scenario.scenario",
)
NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_the_examples_in_docstrings_are_true(module: str) -> None:
    result = doctest.testmod(importlib.import_module(f"crosswind.{module}"))
    assert result.attempted > 0 and result.failed == 0


def test_every_public_name_has_a_docstring() -> None:
    for name in cw.__all__:
        assert inspect.getdoc(getattr(cw, name)), name


@pytest.mark.engine
def test_a_scenario_draws_its_network_and_says_what_is_wrong() -> None:
    html = cw.Scenario.load(ROOT / "scenarios/gprs.toml")._repr_html_()
    assert "<svg" in html and "64 kbit/s, 300 ms" in html and "343040 B" in html
    wrong = cw.Scenario.load(ROOT / "scenarios/gprs.toml").with_({"link.last-hop.rate": "-1 bit/s"})
    assert "a positive rate" in wrong._repr_html_() and "<svg" not in wrong._repr_html_()


def test_runs_sweeps_and_figures_show_themselves(engine: Engine, file: Path, tmp_path: Path) -> None:
    runs = cw.run(file)
    assert repr(runs).startswith("Runs(1 run of pair; run, flow, link")
    assert "goodput" in runs._repr_html_() and "▁" in runs._repr_html_()
    sweep = cw.sweep(file, {"link.last-hop.rate": ["1 Mbit/s", "2 Mbit/s"]}, reps=3, out=tmp_path / "s")
    assert repr(sweep).startswith("Sweep(2 configurations over rate") and "(95 %)" in sweep._repr_html_()
    picture = cw.figures.over_time("a", "Caption.", {"x": ([0, 1], [1, 2])}, "y")
    assert "<svg" in picture._repr_html_() and "Caption." in picture._repr_html_()
    picture.close()


def test_a_metric_of_ones_own_becomes_a_column(engine: Engine, file: Path) -> None:
    @cw.metric("cwnd_peak_bytes", sample="cwnd_bytes")
    def peak(time_s: Any, value: Any) -> float:
        """Largest window in the first minute."""
        return float(value[time_s < 60].max())

    runs = cw.run(file, reps=2)
    table = peak.measure(runs)
    assert table.columns == ["configuration", "rep", "entity", "cwnd_peak_bytes"] and table.height == 4
    flows = peak.add_to(runs).flows()
    assert flows["cwnd_peak_bytes"].null_count() == 0 and flows.height == runs.flows().height
    with pytest.raises(InputError, match="ends in its unit"):
        cw.metric("peak", sample="cwnd_bytes")
    with pytest.raises(InputError, match="did you mean `cwnd_bytes`"):
        cw.metric("peak_bytes", sample="cwnd_byte")(lambda t, v: 0.0).measure(runs)


@pytest.mark.engine
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda p: p.stem)
def test_the_notebooks_run_from_top_to_bottom(notebook: Path, tmp_path: Path) -> None:
    book = nbformat.read(notebook, as_version=4)
    nbformat.validate(book)
    assert all(not c.get("outputs") for c in book.cells if c.cell_type == "code"), "notebooks are kept without outputs"
    NotebookClient(
        book, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(notebook.parent)}}
    ).execute()
    shown = [o for c in book.cells if c.cell_type == "code" for o in c.outputs]
    assert any("image/svg" in str(o.get("data", {})) or "<svg" in str(o.get("data", {})) for o in shown)


def test_there_are_three_notebooks() -> None:
    assert len(NOTEBOOKS) >= 3

"""The Python interface as a person meets it: examples in docstrings, notebooks, metrics of one's own."""

from __future__ import annotations

import doctest
import importlib
import inspect
import itertools
import re
import subprocess
import sys
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
    "results.summary",
    "stats.precision",
    "scenario.quantity",
    "scenario.scenario",
)
VERBS = {
    "audit",
    "characterise",
    "compare",
    "evaluate",
    "metric",
    "registry",
    "reproduce",
    "run",
    "sweep",
    "version",
    "window_law",
}
TYPES = {"CrosswindError", "InputError", "Metric", "Runs", "Scenario", "Sweep", "WindowLaw"}
MODULES = {"claims", "delays", "design", "early_discard", "export", "figures", "pl", "place", "stats", "topology"}
NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_the_examples_in_docstrings_are_true(module: str) -> None:
    result = doctest.testmod(importlib.import_module(f"crosswind.{module}"))
    assert result.attempted > 0 and result.failed == 0


def test_the_public_names_are_these_and_no_others() -> None:
    assert set(cw.__all__) == VERBS | TYPES | MODULES and len(VERBS) <= 12
    assert all(inspect.isfunction(getattr(cw, n)) for n in VERBS)
    assert all(inspect.isclass(getattr(cw, n)) for n in TYPES)
    assert all(inspect.ismodule(getattr(cw, n)) for n in MODULES)


@pytest.mark.parametrize("verb", ["run", "sweep", "reproduce"])
def test_the_modules_of_a_room_hang_on_the_verb_of_its_name(verb: str) -> None:
    files = sorted((ROOT / "python/crosswind" / verb).glob("[a-z]*"))
    names = [f.stem for f in files if f.suffix == ".py" or (f / "__init__.py").exists()]
    said = f"import inspect, crosswind, crosswind.{verb}.{names[0]} as first\n"
    for name in names:
        path = f"crosswind.{verb}.{name}"
        said += f"import {path}\nassert inspect.ismodule({path}) and {path}.__name__ == '{path}'\n"
    said += f"assert first.__name__ == 'crosswind.{verb}.{names[0]}' and inspect.isfunction(crosswind.{verb})\n"
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True)
    assert len(names) > 4 and done.returncode == 0, done.stderr


def test_the_page_of_the_interface_names_each_of_them_once() -> None:
    page = (ROOT / "docs/python-interface.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| `cw\.(\w+)` \|", page, re.M)) == sorted(cw.__all__)
    for name, methods in re.findall(r"^\| `cw\.([A-Z]\w+)` \| ([^|]*) \|$", page, re.M):
        for method in re.findall(r"`(\w+)`", methods):
            assert hasattr(getattr(cw, name), method) or method in inspect.get_annotations(getattr(cw, name)), method


@pytest.mark.parametrize("name", sorted(VERBS))
def test_a_verb_says_what_its_parameters_are_and_what_it_raises(name: str) -> None:
    verb = getattr(cw, name)
    said = inspect.getdoc(verb) or ""
    assert [p for p in inspect.signature(verb).parameters if f"`{p}" not in said] == []
    assert "Raises " in said


def test_every_public_name_has_a_docstring() -> None:
    for name in cw.__all__:
        assert inspect.getdoc(getattr(cw, name)), name


@pytest.mark.engine
def test_a_published_experiment_is_reproduced_and_two_runs_are_compared(tmp_path: Path) -> None:
    done = cw.reproduce("igarashi/e6-6", out=tmp_path, size="quick", workers=1)
    assert {r["verdict"] for r in done.rows} <= {"pass", "consistent", "fail", "unclear", "withheld"} and done.rows
    again = cw.reproduce("igarashi/e6-6", out=tmp_path, size="quick", workers=1)
    assert again.results.runs.manifest["packets"] == 0
    with pytest.raises(InputError, match="one experiment"):
        cw.reproduce("igarashi")
    base = cw.Scenario.load(ROOT / "scenarios/gprs.toml")
    slow, fast = (cw.run(base.with_({"link.last-hop.rate": r}), reps=3) for r in ("32 kbit/s", "64 kbit/s"))
    table = cw.compare(fast, slow, metrics=["goodput"])
    assert table.height > 0 and table["pairing"].unique().to_list() == ["paired"] and table["change"].min() > 0.5


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
    kept = [_kinds(c) for c in book.cells if c.cell_type == "code"]
    NotebookClient(
        book, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(notebook.parent)}}
    ).execute()
    assert kept == [_kinds(c) for c in book.cells if c.cell_type == "code"], "run tools/notebooks.py"
    shown = [o for c in book.cells if c.cell_type == "code" for o in c.outputs]
    assert any("image/svg" in str(o.get("data", {})) or "<svg" in str(o.get("data", {})) for o in shown)


def _kinds(cell: Any) -> list[list[str]]:
    """What a cell shows, by kind. What it says on stderr is not kept, and a print may come in pieces."""
    kinds = [sorted(o.get("data", [o.output_type])) for o in cell.outputs if o.get("name") != "stderr"]
    return [kind for kind, _ in itertools.groupby(kinds)]


def test_there_are_three_notebooks() -> None:
    assert len(NOTEBOOKS) >= 3

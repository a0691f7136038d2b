"""The rooms of the Python package: imports go downwards, and nothing runs in a circle."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tidy() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tidy", ROOT / "tools/tidy.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def findings(tidy: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **files: str) -> list[str]:
    """What the rule says of a package with these files (`room__name="source"`)."""
    monkeypatch.setattr(tidy, "ROOT", tmp_path)
    paths = []
    for name, text in files.items():
        paths.append(tmp_path / "python/crosswind" / f"{name.replace('__', '/')}.py")
        paths[-1].parent.mkdir(parents=True, exist_ok=True)
        paths[-1].write_text(text, encoding="utf-8")
    return [rule for _, _, rule in tidy.rooms(paths)]


def test_this_package_keeps_the_rule(tidy: ModuleType) -> None:
    files = list((ROOT / "python/crosswind").rglob("*.py"))
    assert len(files) > 200 and list(tidy.rooms(files)) == []


def test_an_import_upwards_is_found_even_inside_a_function(
    tidy: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = findings(
        tidy,
        tmp_path,
        monkeypatch,
        report__page="def late():\n    from crosswind.sweep import plan\n",
        sweep__plan="from crosswind.report import page\n",
        figures__types="from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from crosswind.sweep import plan\n",
    )
    assert found[0] == "report must not import sweep" and len(found) == 2


def test_a_circle_inside_a_room_and_a_room_without_a_place_are_found(
    tidy: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    circle = {"run__a": "from crosswind.run import b\n", "run__b": "from crosswind.run.a import x\n"}
    (found,) = findings(tidy, tmp_path, monkeypatch, **circle)
    assert found.startswith("imports in a circle: crosswind.run.")
    (found,) = findings(tidy, tmp_path, monkeypatch, attic__a="")
    assert found == "room attic has no row in ROOMS"


def test_who_writes_the_window_beside_its_controller_is_found(tidy: ModuleType) -> None:
    sender = tidy.ROOT / tidy.TCP / "sender/undo.rs"
    asks = "self.law.change(Change::Cap(1.0));"
    allowed = tidy.WINDOW_REQUESTS["sender/undo.rs"]
    assert [r for *_, r in tidy.window_writers(sender, [asks] * allowed)] == []
    (more,) = tidy.window_writers(sender, [asks] * (allowed + 1))
    assert "let the controller decide" in more[2]
    (fewer,) = tidy.window_writers(sender, [asks])
    assert "lower the number" in fewer[2]
    (elsewhere,) = tidy.window_writers(tidy.ROOT / "crates/sim/src/world.rs", ["law.window_mut().reset();"])
    assert elsewhere[2] == "only controllers write the window"
    assert list(tidy.window_writers(tidy.ROOT / tidy.TCP / "law/reno.rs", ["law.window_mut();"])) == []

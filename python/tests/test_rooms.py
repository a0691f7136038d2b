"""Imports of the Python package go downwards, and nothing runs in a circle; no file of Rust tests is left out."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tidy() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tidy", ROOT / "tools/tidy.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # As when it is run as a script: its neighbours are found.
    sys.path.insert(0, str(ROOT / "tools"))
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


def test_a_file_of_tests_that_is_not_named_is_found(tidy: ModuleType, tmp_path: Path) -> None:
    folder = tmp_path / "tests"
    files = [folder / name for name in ("all.rs", "named.rs", "forgotten.rs", "folder/mod.rs", "folder/part.rs")]
    for f in files:
        f.parent.mkdir(parents=True, exist_ok=True)
        f.write_text("mod named;\n" if f.name == "all.rs" else "", encoding="utf-8")
    assert [f.name for f, _, _ in tidy.rust_tests(files)] == ["mod.rs", "forgotten.rs"]


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
    asks = "self.law.change(Change::GiveUp);"
    allowed = tidy.WINDOW_REQUESTS["sender/undo.rs"]
    assert [r for *_, r in tidy.window_writers(sender, [asks] * allowed)] == []
    (more,) = tidy.window_writers(sender, [asks] * (allowed + 1))
    assert "let the controller decide" in more[2]
    (fewer,) = tidy.window_writers(sender, [asks])
    assert "lower the number" in fewer[2]
    caps = tidy.window_writers(sender, ["self.law.change(Change::Cap(1.0));"] * allowed)
    assert {r for *_, r in caps} == {"what holds the window down stands in sender/caps.rs"}
    (elsewhere,) = tidy.window_writers(tidy.ROOT / "crates/sim/src/world/run.rs", ["law.window_mut().reset();"])
    assert elsewhere[2] == "only controllers write the window"
    assert list(tidy.window_writers(tidy.ROOT / tidy.TCP / "law/reno.rs", ["law.window_mut();"])) == []


ROOMS_OF_SIM = ("scenario", "flows", "world", "results", "runs")


def crate(tidy: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **files: str) -> list[str]:
    """What the rule says of the simulator with these files, each room with a `mod.rs` at least."""
    monkeypatch.setattr(tidy, "ROOT", tmp_path)
    root = tmp_path / "crates/sim/src"
    named = {f"{room}__mod": "" for room in ROOMS_OF_SIM} | {"lib": "".join(f"pub mod {r};\n" for r in ROOMS_OF_SIM)}
    for name, text in (named | files).items():
        path = root / f"{name.replace('__', '/')}.rs"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return [rule for _, _, rule in tidy.rust_rooms([root / "lib.rs"])]


def test_the_crates_keep_the_rule(tidy: ModuleType) -> None:
    roots = list((ROOT / "crates").glob("*/src/lib.rs"))
    assert len(roots) > 7 and list(tidy.rust_rooms(roots)) == []
    sim = tidy.Crate(ROOT / "crates/sim/src")
    assert len(sim.modules) > 60 and len(list(sim.arrows())) > 300
    assert {name[0] for name in sim.modules if name} == set(ROOMS_OF_SIM)


@pytest.mark.parametrize(
    "arrow",
    [
        "use crate::world::World;",
        "use crate::{\n    flows::Own,\n    world::{self, run::World},\n};",
        "pub use crate::world as below;",
        "fn f() {\n    crate::world::run();\n}",
        "fn f() {\n    super::super::world::run();\n}",
    ],
)
def test_an_arrow_that_is_turned_round_is_found(
    tidy: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arrow: str
) -> None:
    down = {"world__mod": "pub mod run;\npub use run::World;\n", "world__run": "use crate::scenario::Plan;\n"}
    below = {"scenario__mod": "pub mod plan;\npub use plan::Plan;\n"}
    quiet = "// use crate::world::World;\n#[cfg(test)]\nmod tests {\n    use crate::world::World;\n}\n"
    assert crate(tidy, tmp_path, monkeypatch, **down, **below, scenario__plan=quiet) == []
    found = crate(tidy, tmp_path, monkeypatch, **down, **below, scenario__plan=arrow)
    assert "scenario must not import world" in found


def test_a_circle_of_rust_files_is_found_through_what_a_room_hands_on(
    tidy: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = "mod port;\nmod end;\npub use end::End;\npub use port::Port;\n"
    files = {"flows__mod": room, "flows__port": "use super::End;\n", "flows__end": "use crate::flows::port::Port;\n"}
    (found,) = crate(tidy, tmp_path, monkeypatch, **files)
    assert found == "imports in a circle: flows/end.rs, flows/port.rs"
    assert crate(tidy, tmp_path, monkeypatch, **files | {"flows__port": ""}) == []


def test_a_room_of_a_crate_without_a_place_is_found(
    tidy: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = crate(tidy, tmp_path, monkeypatch, lib="pub mod attic;\npub mod flows;\n", attic="use crate::flows::X;\n")
    assert found == ["room attic has no row in RUST_ROOMS"]

"""Running, tables, saving and loading."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import crosswind as cw
from crosswind.cli import main
from crosswind.results import Runs

Engine = Callable[..., Any]


def test_run_returns_frames_with_the_configurations_label(engine: Engine, file: Path) -> None:
    base = cw.Scenario.load(file)
    runs = cw.run({"slow": base, "fast": base.with_({"link.last-hop.rate": "1 Mbit/s"})}, reps=3)
    assert runs.flows().height == 2 * 3 * 2
    assert runs.flows()["configuration"].unique(maintain_order=True).to_list() == ["slow", "fast"]
    assert runs.only("fast").flows()["configuration"].unique().to_list() == ["fast"]
    assert runs.sample("cwnd_bytes", "bulk-1")["entity"].unique().to_list() == ["bulk-1"]
    assert set(runs.events(kind="drop")["name"]) == {"bulk-1"}


def test_a_scenario_with_two_labels_is_run_once(engine: Engine, file: Path) -> None:
    base = cw.Scenario.load(file)
    renamed = base.with_({"name": "again", "title": "the same under another name"})
    runs = cw.run({"a": base, "b": base.with_({"link.last-hop.rate": "1 Mbit/s"}), "c": renamed}, reps=2)
    assert runs.runs()["configuration"].to_list() == ["a", "a", "b", "b", "c", "c"]
    assert_frame_equal(runs.only("a").flows().drop("configuration"), runs.only("c").flows().drop("configuration"))
    apart = cw.run({"a": base, "b": base.with_({"link.last-hop.rate": "1 Mbit/s"})}, reps=2)
    assert runs.manifest["packets"] == apart.manifest["packets"]


def test_what_is_saved_can_be_loaded_again(engine: Engine, file: Path, tmp_path: Path) -> None:
    runs = cw.run(file, reps=2)
    folder = runs.save(tmp_path / "deep" / "out")
    again = cw.Runs.load(folder)
    for name, table in runs.tables.items():
        assert_frame_equal(table, again.tables[name])
    assert again.run_id == runs.run_id
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["schema_version"] == 1
    assert manifest["seed"] == 1 and manifest["reps"] == 2 and manifest["mode"] == "simulate"
    assert manifest["scenarios"][0]["digest"] == cw.Scenario.load(file).digest()


def test_the_run_id_depends_on_scenario_and_seed_only(engine: Engine, file: Path) -> None:
    one, same, other = cw.run(file), cw.run(file, workers=1), cw.run(file, seed=2)
    assert one.run_id == same.run_id != other.run_id


def test_an_interrupted_run_keeps_what_is_finished_and_says_so(engine: Engine, file: Path) -> None:
    engine(stop_after=2)
    runs = cw.run(file, reps=5)
    assert runs.interrupted
    assert runs.runs().height == 2
    assert not runs.manifest["trusted"]
    assert "2 runs finished of 5" in runs.manifest["warnings"][0]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"reps": 0}, "--reps"),
        ({"seed": -1}, "--seed"),
        ({"workers": 0}, "--workers"),
        ({"reps": [3], "reps_total": 3}, "--reps"),
    ],
)
def test_bad_numbers_are_refused(engine: Engine, file: Path, options: dict[str, Any], expected: str) -> None:
    with pytest.raises(cw.InputError, match=expected):
        cw.run(file, **options)


@pytest.mark.parametrize("seed", ['"x"', "-1", "true", str(2**63)])
def test_a_seed_that_is_none_is_refused_with_its_line(
    engine: Engine, file: Path, capsys: pytest.CaptureFixture[str], seed: str
) -> None:
    file.write_text(f"seed = {seed}\n{file.read_text()}")
    with pytest.raises(cw.InputError, match=r"pair\.toml:1: seed: found .*, expected a whole number from 0"):
        cw.run(file)
    assert main(["validate", str(file)]) == 2
    assert "pair.toml:1: seed: found" in capsys.readouterr().err


def test_the_engines_complaint_gets_file_and_line(engine: Engine, file: Path) -> None:
    file.write_text(file.read_text().replace("64 kbit/s", "-64 kbit/s"))
    with pytest.raises(cw.InputError) as e:
        cw.run(file)
    assert str(e.value).startswith(f'{file}:8: link.last-hop.rate: found "-64 kbit/s", expected a positive rate')


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(cw.InputError, match=r"found no manifest\.json"):
        cw.Runs.load(tmp_path)
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(cw.InputError, match="cannot be read"):
        cw.Runs.load(tmp_path)


def test_a_missing_table_is_an_empty_frame(engine: Engine, file: Path) -> None:
    runs = cw.run(cw.Scenario.load(file).with_({"record": None}))
    assert runs.sample("cwnd_bytes").is_empty()
    assert runs.events("bulk-1").is_empty()
    assert isinstance(runs.hist(), pl.DataFrame)


def test_a_log_that_was_full_is_a_warning() -> None:
    run = {"configuration": ["a", "a"], "rep": [0, 1], "outcome": ["all flows closed"] * 2, "truncated_events": [0, 7]}
    (found,) = Runs({"run": pl.DataFrame(run)}, {}, {"reps": 2}).warnings()
    assert "1 of 2 runs" in found and "the last 7 are missing" in found


def test_shuffled_runs_say_where_the_order_of_simultaneous_events_decided_something() -> None:
    def said(meetings: list[int], first_ns: list[int]) -> str:
        run = {
            "rep": [0, 1],
            "outcome": ["duration reached"] * 2,
            "meetings_packets": meetings,
            "first_meeting_ns": first_ns,
        }
        run["first_meeting"] = ["last-hop/forward" if m else "" for m in meetings]
        return Runs({"run": pl.DataFrame(run)}, {}, {"reps": 2, "ties": "shuffled"}).warnings()[-1]

    assert "the order decided nothing" in said([0, 0], [-1, -1])
    both = said([3, 4], [2_500_000_000, 40_000_000])
    assert "in 2 of 2 runs" in both and "7 packets" in both and "last-hop/forward, 0.04 s" in both

"""The maker of random scenarios, the checks, and scenarios that failed once."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crosswind.core import core
from crosswind.scenario import Scenario
from validation.fuzz import checks, damage, making
from validation.fuzz.runner import Runner, Verdict
from validation.fuzz.shrinking import shrunk, toml

ROOT = Path(__file__).parent.parent.parent
SHIPPED = [ROOT / "scenarios" / f"{name}.toml" for name in ("lossy", "radio", "red-ecn", "two-classes")]
PAST = sorted((Path(__file__).parent.parent / "fuzz" / "past").glob("*.toml"))

# One line alone, whose queue decides when packets leave, or which is not steady.
NOTHING_EARLY = ("l4s", "starlink")


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    runner = Runner()
    yield runner
    runner.close()


@pytest.fixture(scope="module")
def schema() -> Any:
    return json.loads(core().schema())


@pytest.mark.parametrize("file", SHIPPED + PAST, ids=lambda f: f.stem)
def test_what_is_shipped_and_what_failed_once_holds(file: Path, runner: Runner) -> None:
    verdict = runner.examine({"scenario": tomllib.loads(file.read_text(encoding="utf-8"))})
    assert "check" not in verdict, verdict["seen"]


@pytest.mark.parametrize("file", sorted((ROOT / "scenarios").glob("*.toml")), ids=lambda f: f.stem)
def test_what_is_shipped_does_not_depend_on_what_lines_decide_early(file: Path) -> None:
    text = Scenario.load(file).with_({"record": None}).to_json()
    early, late = (
        core().run_many([text], 1, [0], 1, 1, False, None, look_ahead=is_early)["tables"] for is_early in (True, False)
    )
    checks._same(early, late, "look-ahead-differs", checks.OF_THE_ENGINE)
    fewer = (early["run"]["events"] < late["run"]["events"]).all()
    assert fewer == (file.stem not in NOTHING_EARLY), (
        "the oracle decides nothing early, or something where it should not"
    )


def test_scenarios_of_a_seed_are_the_same_and_nearly_all_are_accepted(schema: Any) -> None:
    used: dict[str, set[str]] = {"queue": set(), "loss": set(), "link": set(), "workload": set(), "preset": set()}
    accepted = 0
    for seed in range(300):
        maker = making.Maker(schema, seed)
        scenario, refused = maker.mended(maker.scenario(), checks.refusal)
        again = making.Maker(schema, seed)
        assert again.mended(again.scenario(), checks.refusal) == (scenario, refused)
        accepted += refused is None
        text = toml(scenario)
        assert tomllib.loads(text) == scenario
        for kind, names in used.items():
            names.update(n for n in _names(schema, kind) if f'"{n}"' in text)
    assert accepted > 240, accepted
    for kind, names in used.items():
        missing = set(_names(schema, kind)) - names
        assert len(missing) <= (3 if kind == "preset" else 0), f"{kind}: never made {missing}"


def _names(schema: Any, kind: str) -> list[str]:
    if kind == "preset":
        return [p["const"] for p in schema["$defs"]["tcp"]["properties"]["preset"]["oneOf"]]
    where = {"link": schema["$defs"]["Link"], "workload": schema["$defs"]["WorkloadParams"]}
    some = where.get(kind, schema["$defs"].get(kind))["oneOf"]
    return [n["properties"]["type"]["const"] for n in some if "properties" in n]


def test_a_failure_is_shrunk_to_what_it_needs() -> None:
    class Fails:
        deaf_s = 60.0

        def examine(self, job: dict[str, Any]) -> Verdict:
            scenario = job["scenario"]
            lossy = scenario["link"].get("a", {}).get("loss") == "uniform"
            return Verdict(check="odd") if lossy else Verdict()

    scenario = {
        "name": "x",
        "duration": "8 s",
        "title": "t",
        "link": {"a": {"loss": "uniform", "rate": "1 Mbit/s"}, "b": {}},
    }
    least, verdict = shrunk(Fails(), scenario, Verdict(check="odd"))  # type: ignore[arg-type]
    assert verdict["check"] == "odd"
    assert least == {"name": "x", "duration": "0.0156 s", "link": {"a": {"loss": "uniform"}}}


@pytest.mark.parametrize(
    ("column", "value", "check"),
    [
        ("sent_packets", 11, "link-balance"),
        ("delivered_packets", 9, "link-balance"),
        ("drops_queue_packets", 3, "link-balance"),
    ],
)
def test_a_wrong_balance_is_noticed(column: str, value: int, check: str) -> None:
    def tables(**changed: int) -> checks.Tables:
        link = {"arrived_packets": 10, "sent_packets": 8, "delivered_packets": 8, "drops_queue_packets": 2, "rep": 0}
        text = {"link": np.array(["l"]), "direction": np.array(["forward"]), "utilisation_ratio": np.array([0.5])}
        flow = {"received_packets": 8, "sent_packets": 10, "drops_packets": 2, "lost_packets": 0, "rep": 0}
        return {
            "link": {**{k: np.array([v]) for k, v in {**link, **changed}.items()}, **text},
            "flow": {**{k: np.array([v]) for k, v in flow.items()}, "name": np.array(["f"])},
            "run": {"leaked_packets": np.array([0])},
        }

    checks._balance(tables(), has_boundaries=False)
    with pytest.raises(checks.Failure) as e:
        checks._balance(tables(**{column: value}), has_boundaries=False)
    assert e.value.check == check


def test_a_run_that_differs_is_noticed() -> None:
    a = {"run": {"end_ns": np.array([1, 2]), "wall_ns": np.array([1, 1])}}
    checks._same(a, {"run": {"end_ns": np.array([1, 2]), "wall_ns": np.array([5, 1])}}, "differs", set())
    with pytest.raises(checks.Failure, match=r"run\.end_ns, row 1"):
        checks._same(a, {"run": {"end_ns": np.array([1, 3]), "wall_ns": np.array([1, 1])}}, "differs", set())


def test_damaged_folders_of_results_are_refused_with_a_message(tmp_path: Path) -> None:
    assert damage.broken(tmp_path, range(30)) == []


def test_random_scenarios_of_fixed_seeds_hold(runner: Runner) -> None:
    failed = []
    for seed in range(50):
        verdict = runner.examine({"seed": seed})
        if "check" in verdict:
            failed.append(f"seed {seed}: {verdict['check']}: {verdict['seen']}\n{toml(verdict['scenario'])}")
    assert not failed, "\n".join(failed)

"""Claims over two experiments, the testbed's labels, campaigns and phenomena."""

from __future__ import annotations

import multiprocessing
import threading
import time
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from crosswind.errors import CrosswindError, InputError, InterruptedRunError
from crosswind.experiments.jarvinen_2006 import testbed
from crosswind.reproduce import Results, explain, one
from crosswind.reproduce.campaign import Finished, Turns, Workers, asked_twice, campaign, chains
from crosswind.reproduce.claims import BrokenClaimError, measures
from crosswind.reproduce.one import Plan, catalogue, reproduce
from crosswind.results import Runs
from crosswind.run.gather import fitted
from crosswind.run.kept import run_kept


def _results(label: str, values: list[float], others: dict[str, Results] | None = None) -> Results:
    table = pl.DataFrame({"configuration": [label] * len(values), "rep": range(len(values)), "x": values})
    return Results(Runs({}, {}, {}), {"repetition": table}, others or {})


def test_a_claim_compares_configurations_of_two_experiments() -> None:
    r = _results("r4 BL", [2.0, 3.0, 4.0], {"w1-e0": _results("BL", [1.0, 2.0, 3.0])})
    assert measures.change("r4 BL", "w1-e0/BL", "x")(r).value == pytest.approx(0.5)
    with pytest.raises(BrokenClaimError, match="w9"):
        r.of("w9/BL", "x")


def test_labels_name_settings() -> None:
    s = testbed.setting("LSB1 B80 ETCP+DS-U+ECN", speed=384)
    assert (s.buffer, s.queue_packets, s.tcp, s.classes, s.ecn, s.speed) == ("lsb1", 80, "ETCP", "DS-U", "ECN", 384)
    assert testbed.setting("r2 BL").link == "r2"


def test_every_claim_of_the_source_belongs_to_an_experiment() -> None:
    of_study = [e for e in catalogue.registry().values() if e.id.startswith("jarvinen-2006/")]
    numbers = {int(c.id[1:]) for e in of_study for c in e.claims if c.id.startswith("J")}
    assert numbers == set(range(1, 138))
    known = set(catalogue.registry())
    assert all(e.companions() <= known for e in of_study)


def test_rank_correlation_ignores_scale_and_missing_values() -> None:
    x = np.array([1.0, 2.0, 3.0, np.nan, 5.0])
    found = measures.rank_correlation(lambda _: x, lambda _: -np.exp(x))(_results("BL", []))
    assert found.value == pytest.approx(-1.0)


def test_equal_values_have_equal_ranks_whatever_their_order() -> None:
    x, y = np.array([1.0, 1.0, 2.0, 2.0]), np.array([1.0, 2.0, 1.0, 2.0])
    found = measures.rank_correlation(lambda _: x, lambda _: y)(_results("BL", []))
    assert found.value == pytest.approx(0.0)


def test_an_unknown_phenomenon_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(InputError, match="frto-window"):
        explain.find("frto-windows")


@pytest.mark.engine
def test_a_campaign_runs_companions_once_and_keeps_the_order(tmp_path: Path) -> None:
    chosen = catalogue.find("jarvinen-2006/w2-e0") + catalogue.find("jarvinen-2006/mechanisms")
    done = campaign(chosen, lambda e: tmp_path / e.id, Plan(reps=3, figures="none"))
    assert [d.id for d in done] == [e.id for e in chosen]
    assert all((d.folder / "claims.json").is_file() for d in done)


@pytest.mark.engine
def test_a_process_that_is_killed_loses_its_experiment_alone(tmp_path: Path) -> None:
    chosen = catalogue.find("jarvinen-2006/links") + catalogue.find("jarvinen-2006/mechanisms")

    def kill_the_first() -> None:
        while not (children := multiprocessing.active_children()):
            time.sleep(0.01)
        children[0].kill()

    killer = threading.Thread(target=kill_the_first)
    killer.start()
    with pytest.raises(CrosswindError, match=r"while it ran jarvinen-2006/\w+; the results of the other 1 of 2"):
        campaign(chosen, lambda e: tmp_path / e.id, Plan(reps=3, workers=1, figures="none"))
    killer.join()
    assert len(list(tmp_path.glob("**/claims.json"))) == 1


class _Killed(Workers):
    """Workers whose processes are killed while they run one experiment, and do nothing otherwise."""

    def __init__(self, victim: str) -> None:
        super().__init__(1)
        self.victim = victim
        self.started: list[str] = []

    def start(self, name: str, folder: Path, plan: Plan, command: str) -> Future[Finished]:
        self.started.append(name)
        future: Future[Finished] = Future()
        self._busy[future] = self._idle.pop()
        if name == self.victim:
            future.set_exception(BrokenProcessPool())
        else:
            future.set_result(Finished(name, "", [], [], folder, [], 0))
        return future


@pytest.mark.engine
def test_what_waits_for_a_lost_experiment_is_not_run_and_all_else_is(tmp_path: Path) -> None:
    chosen = catalogue.find("jarvinen-2006")
    victim = "jarvinen-2006/w4h"
    waiting = {e.id for e in chosen if victim in e.companions()}
    turns, workers = Turns(chosen, Plan(), asked_twice(chosen, Plan())), _Killed(victim)
    done = {one.id for one in turns.run(workers, lambda e: tmp_path / e.id, "")}
    assert turns.lost == [victim] and waiting and not waiting & set(workers.started)
    assert {e.id for e in chosen if not e.companions() & {victim, *waiting}} <= done | {victim}


@pytest.mark.engine
def test_what_others_wait_for_lies_further_from_the_end_than_they_do() -> None:
    chosen = catalogue.find("jarvinen-2006")
    ahead = chains(chosen, Plan())
    for user in chosen:
        assert all(ahead[companion] > ahead[user.id] for companion in user.companions())
    assert ahead["jarvinen-2006/many"] == max(ahead.values())


def test_one_source_is_found_without_the_others_and_an_unknown_one_is_empty() -> None:
    study = catalogue.of_study("jarvinen-2006/w2-e0")
    assert study == {k: v for k, v in catalogue.registry().items() if k.startswith("jarvinen-2006/")}
    assert catalogue.of_study("jarvinen") == catalogue.of_study("base") == {}


@pytest.mark.engine
@pytest.mark.parametrize("name", ["slow-start-overshoot", "frto-window"])
def test_a_phenomenon_is_told_with_measured_numbers_and_figures(name: str, tmp_path: Path) -> None:
    text, page = explain.explain(explain.find(name)[0], tmp_path)
    assert page.read_text(encoding="utf-8") == text
    assert "{" not in text and "nan" not in text and "inf" not in text.split("(")[0]
    assert all(
        (tmp_path / f).is_file()
        for f in [line.split("](")[1].rstrip(")") for line in text.splitlines() if "](" in line]
    )


@pytest.mark.engine
def test_a_single_reading_is_compared_with_the_same_of_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    user, used = (catalogue.find(f"jarvinen-2006/{name}")[0] for name in ("w1-arq", "w1-e0"))
    plan = Plan(reps=3, variant="former", ties="shuffled", figures="none")
    found = reproduce(user, Path("mine"), plan)  # a place that has no folders above it
    others = found.results.others["w1-e0"].runs.manifest
    assert others["ties"] == "shuffled" and "seed" in others
    # In a campaign both lie side by side, and what is there is read.
    reproduce(used, Path("w1-e0"), plan)
    monkeypatch.setattr(one, "_companion", None)
    again = reproduce(user, Path("mine"), replace(plan, fresh=frozenset({used.id})))
    read = again.results.others["w1-e0"].runs.manifest
    assert read["variant"] == "former" and again.rows[0]["measured"] == found.rows[0]["measured"]


@pytest.mark.engine
def test_runs_of_another_experiment_are_read_where_they_lie_and_kept_when_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user, used = (catalogue.find(f"jarvinen-2006/{name}")[0] for name in ("w1-arq", "w1-e0"))
    plan = Plan(reps=3, figures="none")
    made: list[tuple[str, int]] = []
    stop = True

    def counting(configurations: Any, ask: Any, **others: Any) -> Any:
        runs = run_kept(configurations, ask, **others)
        made.append((others["folder"].name, runs.manifest["packets"]))
        runs.manifest["interrupted"] = stop and others["folder"].name == "w1-e0"
        return runs

    monkeypatch.setattr(one, "run_kept", counting)
    with pytest.raises(InterruptedRunError, match=r"w1-e0: finished runs are kept in .*alone"):
        reproduce(user, tmp_path / "alone", plan)
    assert all(packets for _, packets in made) and [name for name, _ in made] == ["alone", "w1-e0"]
    stop = False
    alone = reproduce(user, tmp_path / "alone", plan)
    assert made[2:] == [("alone", 0), ("w1-e0", 0)] and not (tmp_path / "alone/companions").exists()
    reproduce(used, tmp_path / "w1-e0", plan)
    there = sorted(p.name for p in (tmp_path / "w1-e0").iterdir())
    beside = reproduce(user, tmp_path / "w1-arq", plan)
    assert (
        made[-1] == ("w1-e0", 0)
        and made[-2][1]
        and [r["measured"] for r in beside.rows] == [r["measured"] for r in alone.rows]
    )
    assert sorted(p.name for p in (tmp_path / "w1-e0").iterdir()) == there


@pytest.mark.engine
def test_what_two_experiments_ask_for_is_run_once_and_gives_the_same_tables(tmp_path: Path) -> None:
    chosen = catalogue.find("igarashi/e6-[16]")
    plan = Plan(reps=1, size="quick", figures="none", workers=1)
    wanted = asked_twice(chosen, plan)
    assert {id: len(names) for id, names in wanted.items()} == {"igarashi/e6-1": 1, "igarashi/e6-6": 1}
    done = campaign(chosen, lambda e: tmp_path / e.id, plan)
    alone = reproduce(chosen[1], tmp_path / "alone", plan)
    assert done[1].packets == 0 and alone.results.runs.manifest["packets"] > 0
    saved = Runs.load(tmp_path / chosen[1].id)
    for name in ("run", "flow", "link"):
        own, read = (r.table(name).drop("wall_ns", strict=False) for r in (alone.results.runs, saved))
        assert read.equals(own, null_equal=True), name


def test_tables_that_lack_a_column_are_filled_as_the_engine_does() -> None:
    one = pl.DataFrame({"configuration": ["a"], "x": [1]})
    two = pl.DataFrame({"configuration": ["b"], "x": [2], "y": [3], "z": [0.5], "w": ["?"]})
    made = fitted(one, two.schema)
    assert made.columns == ["configuration", "x", "y", "z", "w"]
    assert made.row(0)[:3] == ("a", 1, -1) and np.isnan(made["z"][0]) and made["w"][0] == ""


def test_a_pattern_names_several_experiments() -> None:
    assert [e.id for e in catalogue.find("igarashi/e6-[12]")] == ["igarashi/e6-1", "igarashi/e6-2"]
    with pytest.raises(InputError, match="e9"):
        catalogue.find("igarashi/e9-*")

"""Large tables go to their folder part by part, and come out of it as they would have come out of the memory."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import crosswind as cw
from crosswind.cli import main
from crosswind.errors import InputError, InterruptedRunError
from crosswind.results import tables
from crosswind.results.place import NoRoomError
from crosswind.results.runs import Runs
from crosswind.results.sealed import DamagedError
from crosswind.results.tables import Columns, Kept
from crosswind.run import gather, kept, store, work

pytestmark = pytest.mark.engine
ROOT = Path(__file__).resolve().parents[2]
GPRS = ROOT / "scenarios" / "gprs.toml"
PART, SHARD = 300, 1500


def world() -> dict[str, cw.Scenario]:
    """Three configurations, two of which are the same and one of which has columns of its own."""
    a = cw.Scenario.load(GPRS).with_({"record": {"sample": "1 s"}})
    more = {
        "flow.ping": {
            "from": "server",
            "to": "mobile",
            "workload": {"type": "cbr", "payload": "100 B", "interval": "1 s"},
        }
    }
    return {"x": a, "y": a.with_(more), "again": a}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Makes nearly every table a large one; the rows of each part that is made or read while one is streamed."""
    seen: list[int] = []
    real = tables.streamed

    def counted(parts: Callable[[], Iterable[pl.DataFrame]], schema: pl.Schema) -> pl.LazyFrame:
        def count() -> Iterator[pl.DataFrame]:
            for part in parts():
                seen.append(part.height)
                yield part

        return real(count, schema)

    for module in (tables, gather):
        monkeypatch.setattr(module, "HELD_ROWS", PART)
        monkeypatch.setattr(module, "PART_ROWS", PART)
        monkeypatch.setattr(module, "streamed", counted)
    monkeypatch.setattr(store, "HELD_ROWS", PART)
    monkeypatch.setattr(work, "SHARD_ROWS", SHARD)
    return seen


def assert_same(one: Runs, two: Runs) -> None:
    """The same tables, row by row, but for the time that runs took."""
    assert set(one.tables.sources()) == set(two.tables.sources())
    for name in one.tables.sources():
        a, b = (runs.table(name).drop("wall_ns", strict=False) for runs in (one, two))
        assert_frame_equal(a, b)


def test_a_folder_holds_the_tables_that_the_memory_would_and_no_part_of_it_is_large(
    tmp_path: Path, small: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    put: list[int] = []
    real = store.Store.put

    def counted(self: store.Store, given: dict[str, pl.DataFrame]) -> None:
        put.append(max(gather.Facts.of(t).rows for t in given.values()))
        real(self, given)

    monkeypatch.setattr(store.Store, "put", counted)
    whole = cw.run(world(), reps=5)
    some = cw.run(world(), reps=5, out=tmp_path, workers=2)
    rows = whole.sample().height
    a_run = whole.sample().group_by("configuration", "rep").len()["len"].max()
    assert max(small) <= PART < sum(small) / 10, "parts are small, and there are many"
    assert isinstance(a_run, int) and max(put) <= max(SHARD, a_run) < rows / 4, "runs come a few at a time"
    assert isinstance(some.tables.sources()["sample"], Kept), "and the table stays in its file"
    assert_same(whole, some)
    assert_same(whole, Runs.load(tmp_path))
    assert not (tmp_path / "runs").exists()


def test_a_streamed_file_has_the_bytes_of_one_that_was_written_at_once(tmp_path: Path, small: list[int]) -> None:
    whole = cw.run(world(), reps=2)
    whole.save(tmp_path / "a")
    cw.run(world(), reps=2, out=tmp_path / "b")
    for name in ("sample", "flow", "link", "hist"):
        one, two = ((tmp_path / f / f"{name}.parquet").read_bytes() for f in "ab")
        assert one == two, name
    assert small


def test_what_is_asked_of_large_tables_is_what_small_ones_answer(tmp_path: Path, small: list[int]) -> None:
    whole, some = cw.run(world(), reps=3), cw.run(world(), reps=3, out=tmp_path)
    assert_same(whole.only("y", [1, 2]), some.only("y", [1, 2]))
    assert_frame_equal(whole.sample("cwnd_bytes", "third"), some.sample("cwnd_bytes", "third"))
    assert_frame_equal(whole.first_sample("queue_bytes"), some.first_sample("queue_bytes"))
    count = pl.len().alias("n")
    assert_frame_equal(whole.scan("hist").select(count).collect(), some.scan("hist").select(count).collect())
    with pytest.raises(InputError, match="cwnd_bytes"):
        some.sample("cwnd_byte")
    assert small


def test_some_repetitions_and_their_strata_are_the_same_in_a_folder(tmp_path: Path) -> None:
    for reps, total in (([2, 0], 5), (2, 6)):
        there = cw.run(world(), reps=reps, reps_total=total, out=tmp_path)
        assert_same(cw.run(world(), reps=reps, reps_total=total), there)
        assert there.manifest["reps"] == 2 and there.manifest["reps_total"] == total


def test_a_run_that_was_stopped_goes_on_and_a_large_one_that_is_complete_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: list[int]
) -> None:
    def killed(*_: object) -> None:
        raise SystemExit

    with monkeypatch.context() as m:
        m.setattr(kept, "manifest_of", killed)
        with pytest.raises(SystemExit):
            cw.run(world(), reps=3, out=tmp_path, workers=1)
    next((tmp_path / "runs").glob("*.run.parquet")).unlink()
    after = cw.run(world(), reps=3, out=tmp_path)
    assert 0 < after.manifest["runs_before"] < 9 and after.manifest["packets"] > 0
    whole = cw.run(world(), reps=3)
    assert_same(whole, after)
    read = cw.run(world(), reps=3, out=tmp_path)
    assert (read.manifest["runs_before"], read.manifest["packets"]) == (9, 0) and small
    assert_same(whole, read)
    assert "runs_before" not in cw.run(world(), reps=3, out=tmp_path, again=True).manifest


def test_a_file_that_another_run_has_replaced_is_not_read_for_the_first(tmp_path: Path, small: list[int]) -> None:
    first = cw.run(world(), reps=2, out=tmp_path)
    cw.run(world(), reps=3, out=tmp_path, again=True)
    with pytest.raises(DamagedError, match="replaced since it was opened"):
        first.sample()
    assert small


@pytest.mark.parametrize(("shard_s", "least"), [(0.0, 6), (1e9, 2)])
def test_brief_runs_with_the_same_columns_share_a_shard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shard_s: float, least: int
) -> None:
    monkeypatch.setattr(work, "SHARD_S", shard_s)
    put: list[int] = []
    real = store.Store.put

    def counted(self: store.Store, given: dict[str, pl.DataFrame]) -> None:
        put.append(gather.Facts.of(given["run"]).rows)
        real(self, given)

    monkeypatch.setattr(store.Store, "put", counted)
    three = {f"{n} flows": world()["x"].with_({"flow.bulk.count": n}) for n in (1, 2, 3)}
    other = world()["x"].with_({"record": {"events": "all"}})
    kept = cw.run({**three, "other": other}, reps=2, out=tmp_path, workers=1)
    assert sum(put) == 8 and len(put) >= least and (shard_s == 0.0 or len(put) == least)
    assert_same(cw.run({**three, "other": other}, reps=2), kept)


def test_a_full_disk_keeps_the_runs_that_are_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = tables.write_parquet, []

    def filling(*arguments: object, **more: object) -> None:
        calls.append(1)
        if len(calls) > 12:
            raise OSError(28, "No space left on device")
        real(*arguments, **more)  # type: ignore[arg-type]

    with monkeypatch.context() as m:
        m.setattr(work, "SHARD_S", 0.0)
        m.setattr("crosswind.results.place.write_parquet", filling)
        with pytest.raises(NoRoomError, match="no space left; finished runs are kept"):
            cw.run(world(), reps=4, out=tmp_path, workers=1)
    assert not list(tmp_path.rglob("*.part"))
    after = cw.run(world(), reps=4, out=tmp_path)
    assert after.manifest["runs_before"] > 0
    assert_same(cw.run(world(), reps=4), after)


def test_the_command_and_sweeps_stream_too(
    tmp_path: Path, small: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    command = ["run", str(GPRS), "--reps", "3", "--set", 'record={sample="1 s"}', "--out", str(out)]
    assert main(command) == 0 and "report" in capsys.readouterr().out
    made = max(small)
    whole = cw.run(cw.Scenario.load(GPRS).with_({"record": {"sample": "1 s"}}), reps=3)
    assert made <= PART
    assert_same(whole, Runs.load(out))
    small.clear()
    limits = {"link.last-hop.queue.limit": ["10 packets", "40 packets"]}
    base = cw.Scenario.load(GPRS).with_({"record": {"sample": "1 s"}})
    narrow = cw.sweep(base, {name: values[1:] for name, values in limits.items()}, reps=3, out=tmp_path / "s")
    wide = cw.sweep(base, limits, reps=3, out=tmp_path / "s")
    assert max(small) <= PART and (narrow.made, wide.kept, wide.made) == (3, 3, 3)
    assert_same(cw.sweep(base, limits, reps=3, out=tmp_path / "t").runs, wide.runs)
    counted = wide.sql("select queue_limit, count(*) n from sample group by queue_limit")
    assert counted["n"].sum() == wide.table("sample").height


def test_ctrl_c_while_large_tables_are_joined_leaves_the_runs_and_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: list[int]
) -> None:
    cw.run(world(), reps=1, out=tmp_path)
    whole, real = cw.run(world(), reps=3), tables.streamed

    def pressed(parts: Callable[[], Iterable[pl.DataFrame]], schema: pl.Schema) -> pl.LazyFrame:
        def press() -> Iterator[pl.DataFrame]:
            for i, part in enumerate(parts()):
                yield part
                if i == 1 and "metric" in schema:
                    os.kill(os.getpid(), signal.SIGINT)
                assert i < 4, "goes on for ever"

        return real(press, schema)

    with monkeypatch.context() as m:
        m.setattr(gather, "streamed", pressed)
        with pytest.raises(InterruptedRunError, match="interrupted: 9 finished runs are kept in"):
            cw.run(world(), reps=3, out=tmp_path)
    assert not list(tmp_path.rglob("*.part"))
    with pytest.raises(InputError, match="no tables yet"):
        Runs.load(tmp_path)
    assert Runs.saved(tmp_path).manifest["reps"] == 1
    assert main(["report", str(tmp_path)]) == 0
    assert_same(whole, Runs.load(tmp_path))


class Mine:
    """A window law that stays where it is."""

    def on_ack(self, _: object) -> float | None:
        return 10.0

    def on_loss(self, _: object) -> float | None:
        return 5.0


def left_single(monkeypatch: pytest.MonkeyPatch, folder: Path, **how: Any) -> Runs:
    """Runs that `keep` leaves to be joined, as Ctrl-C does while large tables are written."""

    def pressed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as m:
        m.setattr(Runs, "save", pressed)
        with pytest.raises(InterruptedRunError):
            cw.run(**how, out=folder)
    return cw.run(**how)


def test_runs_with_a_law_in_no_file_and_chains_of_some_repetitions_are_joined_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: list[int]
) -> None:
    class Cell(Mine):
        """As a notebook has it."""

    a = world()["x"].with_({"duration": "60 s", "record": {"sample": "100 ms"}})
    own = a.with_({"flow.bulk.tcp": {"law": "own", "own_law": "mine"}})
    chained = a.with_({"sharing": {"persist": "across-repetitions"}})
    for name, how in (
        ("own", {"scenario": own, "reps": 2, "laws": {"mine": Cell}}),
        ("chained", {"scenario": chained, "reps": [3, 1]}),
    ):
        whole = left_single(monkeypatch, tmp_path / name, **how)
        assert main(["report", str(tmp_path / name)]) == 0
        assert_same(whole, Runs.load(tmp_path / name))
    assert small


def test_runs_that_are_no_longer_there_are_missed_and_the_others_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: list[int]
) -> None:
    monkeypatch.setattr(work, "SHARD_S", 0.0)
    left_single(monkeypatch, tmp_path, scenario=world()["x"], reps=3)
    gone, *others = (tmp_path / "runs").glob("*.run.parquet")
    gone.unlink()
    with pytest.raises(DamagedError, match=r"of the 3 finished runs that unjoined\.json tells of"):
        kept.settle(tmp_path)
    assert others and all(p.is_file() for p in others) and (tmp_path / "unjoined.json").is_file() and small


def test_columns_of_the_engine_are_handed_over_without_a_copy() -> None:
    import numpy as np

    time_ns, value = np.arange(5, dtype=np.uint64), np.ones(5)
    entity = (np.zeros(5, dtype=np.uint32), ["a"])
    taken = Columns({"time_ns": time_ns, "value": value, "entity": entity}).slice(0, 5)
    assert np.shares_memory(taken["time_ns"].to_numpy(), time_ns) and taken.schema["time_ns"] == pl.Int64
    assert np.shares_memory(taken["value"].to_numpy(), value) and taken["entity"].to_list() == ["a"] * 5
    with pytest.raises(OverflowError, match="63 bits"):
        Columns({"n": np.array([2**63], dtype=np.uint64)}).slice(0, 1)

"""Window laws in Python that remember something."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
import pytest

import crosswind as cw
from crosswind.cli import main
from crosswind.errors import InputError
from crosswind.sweep import sweeps

# A segment of 1024 bytes: windows in segments and in bytes are the same numbers, bit by bit.
PAIR = """
name = "own"
duration = "30 s"
[link.x]
from = "a"
to = "b"
rate = "4 Mbit/s"
delay = "30 ms"
queue = { type = "droptail", limit = "25 packets" }
[flow.f]
from = "a"
to = "b"
count = 2
start = { uniform = ["0 s", "1 s"] }
workload = { type = "bulk" }
tcp = { mss = "1024 B" }
[record]
sample = "100 ms"
"""


class Reno:
    """The Reno of the RFCs, with appropriate byte counting."""

    def __init__(self) -> None:
        self.counted = 0.0

    def on_ack(self, facts: Any) -> float | None:
        if facts.cwnd < facts.ssthresh:
            return None
        self.counted += facts.acked
        if self.counted < facts.cwnd:
            return None
        self.counted -= facts.cwnd
        return float(facts.cwnd) + 1

    def on_loss(self, facts: Any) -> float | None:
        self.counted = 0.0
        return float(facts.flight) / 2


class Notes:
    """Grows by nothing, and notes what it hears."""

    made: ClassVar[list[Notes]] = []

    def __init__(self) -> None:
        self.heard: list[Any] = []
        Notes.made.append(self)

    def on_ack(self, facts: Any) -> float | None:
        self.heard.append(facts)
        return 40.0

    def on_loss(self, facts: Any) -> None:
        self.heard.append(facts)


class Breaks(Reno):
    def on_loss(self, facts: Any) -> float | None:
        raise ZeroDivisionError(f"at {facts.now_s:.1f} s")


def with_own(name: str = "mine") -> cw.Scenario:
    changes = {"flow.f.tcp.law": "own", "flow.f.tcp.own_law": name}
    return cw.Scenario.from_toml(PAIR).with_(changes)


@pytest.mark.engine
def test_reno_written_in_python_is_reno_to_the_last_bit() -> None:
    runs = cw.run({"engine": cw.Scenario.from_toml(PAIR), "python": with_own()}, reps=2, laws={"mine": Reno})
    for table in (runs.flows(), runs.table("sample")):
        parts = [table.filter(pl.col("configuration") == c).drop("configuration") for c in ("engine", "python")]
        keys = [c for c in parts[0].columns if c != "scenario"]
        assert parts[0].height > 3 and parts[0].select(keys).equals(parts[1].select(keys))
    assert runs.flows()["fast_recoveries"].min() > 0, "there were losses"  # type: ignore[operator]
    told = runs.manifest["own_laws"]["mine"]
    assert told["slow_path"] and told["class"].endswith("Reno") and len(told["source_digest"]) == 16


@pytest.mark.engine
def test_each_connection_has_an_object_of_its_own_that_hears_of_acks_and_losses() -> None:
    Notes.made.clear()
    cw.run(with_own(), laws={"mine": Notes})
    heard = [n.heard for n in Notes.made if n.heard]
    assert len(heard) == 2, "only what sends data has a law at work"
    for facts in heard:
        assert all(a.now_s <= b.now_s for a, b in itertools.pairwise(facts))
        losses = [f for f in facts if f.why is not None]
        assert {f.why for f in losses} <= {"loss", "timeout"} and losses[0].flight > 2
        samples = [f.rtt_s for f in facts if f.rtt_s is not None]
        assert 0.06 < min(samples) < 0.08 and facts[5].cwnd == 40.0 and facts[5].acked > 0
    assert "window 40.00 of threshold" in repr(heard[0][5])


class Hears(Notes):
    """The same on every ACK."""

    every_ack = True


@pytest.mark.engine
def test_a_law_that_wants_every_ack_hears_of_losses_rates_and_rounds() -> None:
    some: list[Any] = []
    every: list[Any] = []
    for law, heard in ((Notes, some), (Hears, every)):
        Notes.made.clear()
        cw.run(with_own(), laws={"mine": law})
        heard += [f for n in Notes.made for f in n.heard if f.why is None]
    assert all(f.may_grow and f.rate is None for f in some), "as ever: only ACKs that may grow the window"
    assert sum(not f.may_grow for f in every) > 100 and sum(f.lost for f in every) > 10
    assert any(f.recovering and f.acked == 0 and f.delivered > 0 for f in every), "SACK blocks of a recovery"
    rates = sorted(f.rate for f in every if f.rate is not None)
    # 4 Mbit/s carry two flows; the fastest sample is that of the link: 1024 of 1076 bytes are payload.
    assert 450 < rates[-1] < 500, rates[-1]
    least = min(f.least_rtt_s for f in every if f.least_rtt_s is not None)
    assert 0.06 < least < 0.07
    assert max(f.rounds for f in every) > 100 and all(f.in_flight <= f.flight for f in every if f.acked)


@pytest.mark.engine
def test_what_a_law_raises_ends_the_run_and_reaches_the_caller() -> None:
    with pytest.raises(ZeroDivisionError, match=r"at \d+\.\d s"):
        cw.run(with_own(), reps=3, laws={"mine": Breaks})

    def fails() -> Any:
        raise RuntimeError("no law today")

    with pytest.raises(RuntimeError, match="no law today"):
        cw.run(with_own(), laws={"mine": fails})


@pytest.mark.engine
def test_a_law_that_nobody_brings_and_a_class_that_is_no_law_are_refused() -> None:
    with pytest.raises(InputError, match=r"own_law.*did you mean `mine`"):
        cw.run(with_own("mime"), laws={"mine": Reno})
    with pytest.raises(InputError, match="a law that the program brings"):
        cw.run(with_own())
    with pytest.raises(InputError, match="without on_ack and on_loss"):
        cw.run(with_own(), laws={"mine": dict})  # type: ignore[dict-item]
    with pytest.raises(InputError, match="no name"):
        cw.Scenario.from_toml(PAIR).with_({"flow.f.tcp.law": "own"}).validate()


@pytest.mark.engine
@pytest.mark.parametrize("wanted", [float("nan"), float("inf"), -3.0, 1e30])
def test_a_window_that_is_none_ends_the_run_and_names_law_flow_and_time(wanted: float) -> None:
    class Wild(Reno):
        def on_ack(self, facts: Any) -> float | None:
            return wanted if facts.now_s > 5 else None

    with pytest.raises(InputError, match=r"law `mine`: flow\.f\.tcp\.own_law: .* from on_ack at 5\.\d+ s"):
        cw.run(with_own(), laws={"mine": Wild})


@pytest.mark.engine
def test_runs_with_a_law_are_made_once_until_its_class_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Local(Reno):
        """What a function made: its text does not tell what it does."""

    for law, second in ((Reno, 0), (Local, 2)):
        out = tmp_path / law.__name__
        first = cw.run(with_own(), reps=2, laws={"mine": law}, out=out)
        again = cw.run(with_own(), reps=2, laws={"mine": law}, out=out)
        assert again.flows().equals(first.flows())
        assert (again.manifest["packets"] > 0) == bool(second), law
    monkeypatch.setattr(Reno, "step", 2, raising=False)
    assert cw.run(with_own(), reps=2, laws={"mine": Reno}, out=tmp_path / "Reno").manifest["packets"] > 0


@pytest.mark.engine
def test_a_sweep_with_a_law_goes_on_where_it_was_and_loads_as_it_is(tmp_path: Path) -> None:
    vary = {"link.x.delay": ["10 ms", "30 ms"], "flow.f.tcp.own_law": ["mine", "still"]}
    laws = {"mine": Reno, "still": Notes}
    first = cw.sweep(with_own(), vary, reps=2, laws=laws, out=tmp_path)
    again = cw.sweep(with_own(), vary, reps=2, laws=laws, out=tmp_path)
    assert (first.made, first.kept, again.made, again.kept) == (8, 0, 0, 8)
    assert again.flows().equals(first.flows())
    assert set(first.runs.manifest["own_laws"]) == {"mine", "still"}
    goodput = first.flows().group_by("own_law").agg(pl.col("goodput_bps").sum())
    assert goodput["goodput_bps"].n_unique() == 2
    changed = cw.sweep(with_own(), vary, reps=2, laws=laws | {"still": Hears}, out=tmp_path)
    assert (changed.made, changed.kept) == (4, 4), "only what asks the other law"
    assert sweeps.load(tmp_path).flows().equals(changed.flows())


@pytest.mark.engine
def test_a_report_keeps_a_sweep_with_a_law_that_stands_in_no_file(tmp_path: Path) -> None:
    class Cell(Reno):
        """As a notebook has it."""

    base = with_own().with_(duration="3 s")
    first = cw.sweep(base, {"link.x.delay": ["10 ms", "30 ms"]}, reps=2, laws={"mine": Cell}, out=tmp_path)
    before = (tmp_path / "manifest.json").read_bytes()
    assert main(["report", str(tmp_path)]) == 0
    assert (tmp_path / "manifest.json").read_bytes() == before and (tmp_path / "report.html").is_file()
    assert sweeps.load(tmp_path).flows().equals(first.flows())
    (tmp_path / "manifest.json").unlink()  # as a killed command leaves it
    joined = sweeps.load(tmp_path)
    assert joined.flows().equals(first.flows())
    assert joined.runs.manifest["own_laws"] == first.runs.manifest["own_laws"]


@pytest.mark.engine
def test_a_sweep_none_of_whose_runs_is_there_is_refused_and_keeps_its_files(tmp_path: Path) -> None:
    cw.sweep(with_own().with_(duration="3 s"), {"link.x.delay": ["10 ms"]}, laws={"mine": Reno}, out=tmp_path)
    plan = json.loads((tmp_path / "sweep.json").read_text())
    plan["own_laws"]["mine"]["identity"] = "another"
    (tmp_path / "sweep.json").write_text(json.dumps(plan))
    (tmp_path / "manifest.json").unlink()
    before = {p: p.read_bytes() for p in tmp_path.rglob("*.parquet")}
    with pytest.raises(InputError, match=r"none of the runs that sweep\.json asks for"):
        sweeps.load(tmp_path)
    assert before == {p: p.read_bytes() for p in tmp_path.rglob("*.parquet")}

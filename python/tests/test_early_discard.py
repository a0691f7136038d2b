"""EPLR and the D/N rule: worked out by hand, refused where they make no sense, and from the command line."""

from __future__ import annotations

import doctest
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from crosswind import Runs, Scenario, run
from crosswind.cli import main
from crosswind.errors import InputError
from crosswind.theory import early_discard
from crosswind.theory.early_discard import eplr, node_limit

ROOT = Path(__file__).resolve().parents[2]
CHAIN = ROOT / "scenarios/early-discard.toml"
Capture = pytest.CaptureFixture[str]
COLUMNS = (
    *("rep", "name", "group", "sent_packets", "drops_packets", "lost_packets"),
    *("drops_local_delay_packets", "drops_delay_budget_packets", "late_1_packets", "late_2_packets"),
)
# Two voices of 10 and 20 ms, a video of 20 ms alone, a transfer of none.
ROWS = (
    (0, "voice-1", "voice", 1000, 60, 5, 20, 30, 40, 3),
    (0, "voice-2", "voice", 500, 0, 0, 0, 0, 10, 0),
    (0, "video", "video", 200, 7, 0, -1, -1, 13, -1),
    (0, "bulk", "bulk", 900, 90, 0, -1, -1, -1, -1),
    (1, "voice-1", "voice", 0, 0, 0, 0, 0, 0, 0),
    (1, "voice-2", "voice", 0, 0, 0, 0, 0, 0, 0),
    (1, "video", "video", 100, 0, 0, 0, 0, 25, -1),
    (1, "bulk", "bulk", 900, 90, 0, -1, -1, -1, -1),
)


def scenario(queue: str = "early-discard", **limits: list[str]) -> Scenario:
    flows: dict[str, Any] = {name: {"queue_delay_limits": of} for name, of in limits.items()}
    return Scenario({"name": "hand", "link": {"hop": {"queue": {"type": queue}}}, "flow": {**flows, "bulk": {}}})


def runs(what: Scenario | None = None) -> Runs:
    flows = pl.DataFrame(ROWS, schema=COLUMNS, orient="row")
    flows = flows.select(pl.lit("a").alias("configuration"), pl.all())
    what = what or scenario(voice=["10 ms", "20 ms"], video=["20 ms"])
    return Runs({"flow": flows}, {"a": what}, {})


def row(frame: pl.DataFrame, **of: Any) -> dict[str, Any]:
    return frame.row(by_predicate=pl.all_horizontal(pl.col(k) == v for k, v in of.items()), named=True)


def test_the_examples_in_docstrings_are_true() -> None:
    result = doctest.testmod(early_discard)
    assert result.attempted > 0 and result.failed == 0


def test_packets_of_a_group_are_counted_by_cause_and_divided_by_those_sent() -> None:
    found = row(eplr(runs(), "10 ms"), rep=0, group="voice")
    assert found == {
        **{"configuration": "a", "rep": 0, "group": "voice", "limit_ns": 10_000_000, "sent_packets": 1500},
        **{"drops_local_delay_packets": 20, "drops_delay_budget_packets": 30, "drops_other_packets": 10},
        **{"lost_packets": 5, "late_packets": 50},
        **{"loss_ratio": 65 / 1500, "eplr_ratio": 115 / 1500},
    }


def test_every_flow_has_its_own_limits_in_its_own_order() -> None:
    found = eplr(runs())
    who = [tuple(r) for r in found.select("rep", "group", "limit_ns").iter_rows()]
    both = [("voice", 10_000_000), ("voice", 20_000_000), ("video", 20_000_000)]
    assert who == [(rep, *x) for rep in (0, 1) for x in both]
    assert row(found, rep=0, group="voice", limit_ns=20_000_000)["late_packets"] == 3
    # The only limit of the video is its first; what other flows do not have (-1) is nothing.
    assert row(found, rep=0, group="video")["eplr_ratio"] == (7 + 13) / 200
    assert row(found, rep=0, group="video")["drops_other_packets"] == 7
    assert row(found, rep=1, group="voice", limit_ns=10_000_000)["eplr_ratio"] is None
    assert set(eplr(runs(), "20 ms")["group"]) == {"voice", "video"}


def test_a_limit_may_be_written_in_another_unit() -> None:
    assert eplr(runs(), "0.01 s").equals(eplr(runs(), "10 ms"))


def test_members_and_classes_are_judged_by_their_own_packets() -> None:
    members = eplr(runs(), "10 ms", by="flow")
    assert row(members, rep=0, name="voice-1")["eplr_ratio"] == 105 / 1000
    assert row(members, rep=0, name="voice-2")["eplr_ratio"] == 10 / 500
    classes = eplr(runs(), "20 ms", by={"all": ["voice", "video"], "picture": ["video"]})
    assert row(classes, rep=0, **{"class": "all"})["eplr_ratio"] == (65 + 3 + 7 + 13) / 1700
    assert row(classes, rep=0, **{"class": "picture"})["sent_packets"] == 200


def test_results_without_drops_by_limits_have_none() -> None:
    bare = runs()
    bare.tables["flow"] = bare.flows().drop("drops_local_delay_packets", "drops_delay_budget_packets")
    found = row(eplr(bare, "10 ms"), rep=0, group="voice")
    assert (found["drops_local_delay_packets"], found["drops_other_packets"]) == (0, 60)
    assert found["eplr_ratio"] == 115 / 1500


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"limit": "15 ms"}, "eplr: limit: found `15 ms`, expected one of 10 ms, 20 ms"),
        ({"limit": "3 packets"}, "eplr: limit: found `3 packets`, expected a time with its unit"),
        ({"by": "node"}, 'eplr: by: found `node`, expected "group", "flow" or classes'),
        ({"by": {}}, "eplr: by: found no classes"),
        ({"by": {"x": []}}, "eplr: by.x: found no groups, expected groups with limits: voice, video"),
        ({"by": {"x": ["voise"]}}, "found `voise`, expected groups with limits: voice, video; did you mean `voice`?"),
        ({"by": {"x": ["voice", "video"]}}, "eplr: by.x: found groups with different queue_delay_limits"),
    ],
)
def test_what_cannot_be_asked_is_refused(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as e:
        eplr(runs(), **arguments)
    assert said in str(e.value)


def test_scenarios_in_which_nothing_counts_late_packets_are_refused() -> None:
    with pytest.raises(InputError, match=r"eplr: flow: found no flow with queue_delay_limits, expected limits"):
        eplr(runs(scenario()))
    with pytest.raises(InputError, match=r"link: found no queue of type `early-discard`, expected one on the way"):
        eplr(runs(scenario("droptail", voice=["10 ms"])))
    foreign = runs()
    foreign.tables["flow"] = foreign.flows().drop("late_1_packets")
    with pytest.raises(InputError, match=r"found results without late_1_packets"):
        eplr(foreign)


def test_the_rule_divides_what_queues_may_take_by_their_number() -> None:
    found = node_limit("50 ms", 3, fixed="30 ms")
    assert (found.mtq_ns, found.qtl_ns) == (6_666_666, 20_000_000)
    assert found.settings == {"mtq": "6666666 ns", "qtl": "20 ms"}
    assert node_limit("10 ms", 1).settings == {"mtq": "10 ms", "qtl": "10 ms"}
    assert node_limit("10 ms", 4).settings["mtq"] == "2500 us"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("fast", 3), "node_limit: delay: found `fast`, expected a time with its unit"),
        (("-1 ms", 3), "node_limit: delay: found `-1 ms`"),
        (("10 ms", 0), "node_limit: nodes: found 0, expected a whole number of congested queues, at least 1"),
        (("10 ms", 2.5), "node_limit: nodes: found 2.5"),
        (("10 ms", 2, "10 ms"), "node_limit: fixed: found `10 ms`, expected less than the delay of 10 ms"),
    ],
)
def test_the_rule_refuses_what_is_no_time_and_no_number(arguments: tuple[Any, ...], said: str) -> None:
    with pytest.raises(InputError) as e:
        node_limit(*arguments)
    assert said in str(e.value)


@pytest.mark.engine
def test_with_the_limits_of_the_rule_no_packet_is_late() -> None:
    """Three congested queues; the limit of 10 ms is exceeded without control, never with the rule."""
    limits = node_limit("10 ms", 3)
    base = Scenario.load(CHAIN).with_({"duration": "3 s"})
    free = base.with_({"contract.voice.mtq": "16 ms", "contract.voice.qtl": "48 ms"})
    ruled = base.with_({f"contract.voice.{k}": v for k, v in limits.settings.items()})
    done = run({"free": free, "ruled": ruled}, seed=1, workers=1)
    found = eplr(done, "10 ms").filter(pl.col("group") == "long")
    late = dict(found.select("configuration", "late_packets").iter_rows())
    assert late["free"] > 1000 and late["ruled"] == 0
    # The budget of D adds nothing where N is right.
    assert found.filter(pl.col("configuration") == "ruled")["drops_delay_budget_packets"].item() == 0
    flows = done.flows().filter((pl.col("group") == "long") & (pl.col("configuration") == "free"))
    sent, got = flows["sent_packets"].sum(), flows["received_packets"].sum()
    # All but what is still on its way (at most what the three queues hold) came in time or is counted.
    useless = found.filter(pl.col("configuration") == "free")["eplr_ratio"].item() * sent
    assert 0 <= sent - useless - (got - late["free"]) < 600


@pytest.mark.engine
def test_the_program_of_the_how_to_page_runs() -> None:
    page = (ROOT / "docs/how-to/domains.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "eplr_ratio" in done.stdout


@pytest.mark.engine
def test_from_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(tmp_path)
    for command in ("eplr", "node-limit"):
        assert main(["study", command, "--help"]) == 0
        assert f"Example: crosswind study {command}" in " ".join(capsys.readouterr().out.split())
    assert main(["study", "node-limit", "50 ms", "--nodes", "2", "--fixed", "30 ms"]) == 0
    assert capsys.readouterr().out == 'mtq = "10 ms"\nqtl = "20 ms"\n'
    assert main(["study", "node-limit", "10 ms", "--nodes", "3", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["mtq_ns"] == 3_333_333 and said["contract"]["mtq"] == "3333333 ns"
    free = ["--set", "contract.voice.mtq='16 ms'", "--set", "contract.voice.qtl='48 ms'", "--set", "duration='2 s'"]
    assert main(["run", str(CHAIN), *free, "--seed", "1", "--reps", "2", "--workers", "1", "--out", "free"]) == 0
    capsys.readouterr()
    assert main(["study", "eplr", "free", "--limit", "10 ms", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows == eplr(Runs.load("free"), "10 ms").to_dicts()
    assert [(r["rep"], r["group"]) for r in rows][:2] == [(0, "cross-1"), (0, "cross-2")] and len(rows) == 8
    assert main(["study", "eplr", "free", "--class", "cross=cross-1, cross-2", "--class", "long=long"]) == 0
    table = capsys.readouterr().out
    assert "class" in table and "20 ms" in table and "EPLR" in table and "Medians over 2 repetitions." in table
    for wrong, message in (
        (["--limit", "15 ms"], "found `15 ms`, expected one of 10 ms, 20 ms"),
        (["--by", "flow", "--class", "x=long"], "--by: found `flow` with --class, expected one of them"),
        (["--class", "long"], "--class: found `long`, expected a new name and groups"),
    ):
        assert main(["study", "eplr", "free", *wrong]) == 2
        out, err = capsys.readouterr()
        assert out == "" and err.count("\n") == 1 and message in err

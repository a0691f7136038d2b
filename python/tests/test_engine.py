"""The Python side on the real engine, which must have been built (`make setup`; without it: `-m "not engine"`)."""

from __future__ import annotations

from pathlib import Path

import pytest
from polars.testing import assert_frame_equal

import crosswind as cw
from crosswind.cli import main
from crosswind.reproduce import catalogue

ROOT = Path(__file__).resolve().parents[2]
GPRS = ROOT / "scenarios" / "gprs.toml"

pytestmark = pytest.mark.engine


@pytest.mark.parametrize("path", sorted((ROOT / "scenarios").glob("*.toml")), ids=lambda p: p.stem)
def test_every_example_scenario_is_valid(path: Path) -> None:
    assert cw.Scenario.load(path).validate()["name"]


@pytest.mark.parametrize("name", list(catalogue.registry()))
def test_every_scenario_of_every_experiment_and_variant_is_valid(name: str) -> None:
    experiment = catalogue.registry()[name]
    seen = set()  # many a reading changes a part of the configurations only
    for settings in [{}, *(v.settings for v in experiment.variants.values())]:
        for scenario in experiment.configurations(**settings).values():
            if (content := scenario.content()) not in seen:
                seen.add(content)
                scenario.validate()


def test_two_workers_give_the_tables_of_one() -> None:
    one, two = (cw.run(GPRS, reps=4, workers=n) for n in (1, 2))
    keys = ["configuration", "rep", "flow"]
    assert_frame_equal(one.flows().sort(keys), two.flows().sort(keys))


def test_another_seed_gives_other_start_times() -> None:
    starts = [cw.run(GPRS, seed=s, reps=3).flows()["open_ns"].to_list() for s in (1, 2)]
    assert starts[0] != starts[1]


def test_all_bytes_arrive_and_the_link_is_never_faster_than_its_rate() -> None:
    runs = cw.run(GPRS, reps=5)
    sizes = {"bulk-1": 343040, "bulk-2": 343040, "third": 21440}
    assert all(sizes[n] == b for n, b in runs.flows().select("name", "size_bytes").iter_rows())
    hop = runs.links().filter((cw.pl.col("link") == "last-hop") & (cw.pl.col("direction") == "forward"))
    ends = runs.runs()["end_ns"].to_numpy() / 1e9
    assert (hop["sent_bytes"].to_numpy() <= 8000 * ends + 2048).all()


def test_the_tables_have_what_summaries_and_experiments_read() -> None:
    runs = cw.run(GPRS)
    wanted = {
        "elapsed_ns",
        "open_ns",
        "close_ns",
        "goodput_bps",
        "simultaneous_Bps",
        "drops_packets",
        "timeouts",
        "spurious_timeouts",
        "spurious_detected",
        "unnecessary_retransmissions_packets",
        "ssthresh_initial_bytes",
    }
    assert wanted <= set(runs.flows().columns)
    assert {"queue_mean_bytes", "queue_p95_bytes", "queue_max_bytes", "utilisation_ratio"} <= set(runs.links().columns)
    assert {"cwnd_bytes", "queue_bytes", "goodput_bps"} <= set(runs.sample()["metric"])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("link.last-hop.rate=-64 kbit/s", "link.last-hop.rate"),
        ("link.last-hop.rate=64 parsec", "64 kbit/s"),
        ("link.last-hop.queue.limt=3 packets", "did you mean `limit`"),
        ("link.last-hop.queue.limit=0 B", "link.last-hop.queue.limit"),
        ("link.last-hop.queue.type=dropteil", "did you mean `droptail`"),
        ("flow.third.to=nowhere", "flow.third.to"),
        ("flow.bulk.tcp.preset=baseline", "preset"),
        ("duration=3", "duration"),
    ],
)
def test_bad_values_end_with_2_and_say_what_would_be_right(
    change: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(GPRS), "--set", change, "--out", str(tmp_path / "r")]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    assert said in err and "gprs.toml" in err, err


def test_mechanism_claims_are_met(tmp_path: Path) -> None:
    from crosswind.reproduce.one import Plan, reproduce

    outcome = reproduce(catalogue.registry()["jarvinen-2006/mechanisms"], tmp_path, Plan())
    verdicts = {r["claim"]: r["verdict"] for r in outcome.rows}
    assert set(verdicts) == {f"J{n}" for n in (*range(14, 18), *range(20, 35))}
    assert set(verdicts.values()) == {"pass"}

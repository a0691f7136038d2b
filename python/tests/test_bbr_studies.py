"""Claims of [Ware 2019] and [Cardwell 2017]: the model, the bands of cells, what is measured."""

import pytest

from crosswind.experiments.cardwell_2017 import losses, others, queues, rules
from crosswind.experiments.cardwell_2017 import study as cardwell
from crosswind.experiments.ware_2019 import alone, convergence, pairs, shares, versions, windows
from crosswind.experiments.ware_2019 import study as ware
from crosswind.experiments.ware_2019.model import Path, share
from crosswind.reproduce import Scenario
from crosswind.run import run

TEN, FIFTY = Path(10, 40), Path(50, 30)


@pytest.mark.parametrize(
    ("path", "flows", "shares_by_bdp"),
    [
        (TEN, 1, {1: 0.972, 1.5: 0.886, 2: 0.784, 3: 0.681, 4: 0.629, 8: 0.545, 16: 0.491, 32: 0.440, 64: 0.367}),
        (TEN, 4, {1: 0.972, 2: 0.958, 4: 0.715, 8: 0.588, 16: 0.512, 64: 0.371}),
        (TEN, 32, {4: 0.960, 8: 0.944, 16: 0.703, 32: 0.539, 64: 0.409}),
        (FIFTY, 1, {1: 0.974, 2: 0.744, 4: 0.611, 16: 0.495, 64: 0.399}),
        (FIFTY, 16, {2: 0.971, 4: 0.727, 8: 0.597, 32: 0.468}),
    ],
)
def test_the_model_gives_its_printed_shares(path: Path, flows: int, shares_by_bdp: dict[float, float]) -> None:
    for bdp, printed in shares_by_bdp.items():
        assert share(path, flows, bdp) == pytest.approx(printed, abs=0.0011)


@pytest.mark.parametrize(("mbps", "shares"), [(8, (0.626, 0.654)), (50, (0.601, 0.606))])
def test_over_the_two_lines_of_prudentia_bbr_takes_more_than_half(mbps: int, shares: tuple[float, float]) -> None:
    # Its method alone is public: 50 ms, four products of drop-tail; derived from the model, not measured by anybody.
    assert [share(Path(mbps, 50), n, 4) for n in (1, 2)] == pytest.approx(shares, abs=0.0011)


def test_a_cell_is_met_between_model_and_print() -> None:
    cell = ware.Cell("WA5", "A", 1, 2, 0.566)
    assert cell.model == pytest.approx(0.784, abs=1e-3)
    assert [cell.accepts(x) for x in (0.485, 0.487, 0.7, 0.863, 0.866)] == [False, True, True, True, False]


def test_every_cell_has_its_claim_and_its_run() -> None:
    cells = ware.cells()
    assert len({c.name for c in cells}) == len(cells) == len(shares.configurations())
    assert {c.claim for c in cells} <= set(shares.CLAIMS)


@pytest.mark.parametrize("experiment", [losses, others, queues, rules, alone, convergence, pairs, versions, windows])
def test_scenarios_are_valid(experiment: object) -> None:
    for scenario in experiment.configurations().values():  # type: ignore[attr-defined]
        assert isinstance(scenario, Scenario)
        scenario.validate()


def test_a_share_is_of_the_link() -> None:
    scenario = ware.scenario(TEN, 2, {"bbr": (1, ware.BBR), "other": (1, ware.OTHERS["reno"])}, 20)
    row = ware.tables(run(scenario))["repetition"].row(0, named=True)
    assert row["share"] == pytest.approx(row["bbr"] / 10)
    assert 9 < row["bbr"] + row["other"] < 9.7


def test_what_leaves_a_line_counts_what_it_loses() -> None:
    line = cardwell.line("10 Mbit/s", 20, "1000 packets", 0.05)
    row = cardwell.tables(run(cardwell.scenario(line, {"one": cardwell.flow("BBR")}, 20)))["repetition"].row(
        0, named=True
    )
    assert row["goodput"] < 0.97 * row["departures"] * 1448 / 1500 <= 9.7


def test_a_time_series_has_what_the_controller_goes_by() -> None:
    scenario = ware.scenario(TEN, 2, {"bbr": (1, ware.BBR), "other": (1, ware.OTHERS["reno"])}, 20, "100 ms")
    runs = run(scenario)
    rate = runs.sample("path_rate_bps")
    assert set(rate["entity"]) == {"bbr-1"} or set(rate["entity"]) == {"bbr"}
    assert 1e6 < rate.filter(rate["time_ns"] > 10**10)["value"].median() < 10.5e6  # type: ignore[operator]
    # The handshake's: the path, and the times of two headers on the line.
    assert runs.sample("least_rtt_ns")["value"].min() == pytest.approx(40.1e6, rel=0.001)
    assert runs.sample("pacing_rate_bps")["value"].max() > 10e6  # type: ignore[operator]

"""The testbeds of [Igarashi 2007]: what their scenarios say, and what their tables make of counters."""

from __future__ import annotations

import polars as pl
import pytest

from crosswind.experiments.igarashi import assured, discard, e6_10
from crosswind.experiments.igarashi.discard import Limits, Setting
from crosswind.reproduce import catalogue

OURS = [e for name, e in catalogue.registry().items() if name.startswith(("igarashi/e6-", "igarashi/e7-"))]


@pytest.mark.parametrize("experiment", OURS, ids=lambda e: e.id)
def test_every_configuration_is_a_valid_scenario_and_no_label_reads_as_another_experiments(experiment):
    for label, scenario in experiment.configurations().items():
        scenario.validate()
        assert "/" not in label


@pytest.mark.parametrize("experiment", OURS, ids=lambda e: e.id)
def test_an_experiment_uses_what_exists(experiment):
    known = catalogue.registry()
    for other in experiment.companions():
        assert other in known


def test_every_claim_is_declared_once_and_shown_once_more_where_a_buffer_of_other_sizes_is_tried():
    all_of_them = catalogue.of_study("igarashi")
    ids = [c.id for id, e in all_of_them.items() for c in e.claims if id != "igarashi/e5-3"]
    last = {"1": 10, "4": 21, "5": 25, "6": 17, "7": 27}
    assert sorted(ids) == sorted({f"IC{k}.{n}" for k, end in last.items() for n in range(1, end + 1)})
    shown = all_of_them["igarashi/e5-3"].claims
    assert {p.kind for c in shown for p in c.parts} == {"reported"}


def test_sources_of_all_burst_lengths_have_the_same_mean_rate():
    for on, off in ((250, 650), (350, 650), (450, 650), (3500, 6500)):
        flow = discard.scenario(Setting(on_ms=on, off_ms=off)).get("flow.f0-1.workload")
        interval_s = float(flow["interval"].removesuffix(" ns")) / 1e9
        rate = discard.PACKET_BYTES * 8 / interval_s * on / (on + off)
        assert rate == pytest.approx(discard.MEAN_BPS, rel=1e-6)


def test_the_edge_writes_what_the_setting_says_and_nothing_without_limits():
    assert discard.scenario(Setting()).get("contract") is None
    both = discard.scenario(Setting(limits=Limits(mtq=5, qtl=10), second=Limits(qtl=20)))
    assert both.get("contract.f2-1") == {"domain": "backbone", "flow": "f2-1", "mtq": "5 ms", "qtl": "10 ms"}
    assert both.get("contract.f2-2") == {"domain": "backbone", "flow": "f2-2", "qtl": "20 ms"}


def test_contracts_of_a_group_add_up_to_the_contract_between_domains():
    contracts = assured.contracts("f", "a", assured.ORIGINAL)
    rates = [float(c["meter"]["cir"].split()[0]) for c in contracts.values()]
    assert sum(rates) == assured.SUM_MBPS == 24


def test_the_distance_of_two_distributions_is_that_of_kolmogorov_and_smirnov():
    a = pl.DataFrame({"low": [0, 10], "high": [10, 20], "count": [5, 5]})
    assert e6_10._distance(a, a) == 0
    assert e6_10._distance(a, pl.DataFrame({"low": [0, 10], "high": [10, 20], "count": [2, 8]})) == pytest.approx(0.3)
    assert e6_10._distance(a, pl.DataFrame({"low": [20], "high": [30], "count": [4]})) == 1

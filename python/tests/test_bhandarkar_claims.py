"""Claims of [Bhandarkar 2006]: what their helpers say of runs that are not there, and what stands as printed."""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import polars as pl
import pytest

import crosswind as cw
from crosswind.experiments.bhandarkar_2006 import f5_f6, f56_f70, f59_f68, f72, measures, nets, saw_tooth, study
from crosswind.reproduce import Results, catalogue
from crosswind.reproduce.claims import BrokenClaimError, MissingDataError
from crosswind.results import Runs
from crosswind.scenario import Scenario, quantity

OURS = catalogue.of_study("bhandarkar-2006")
CLAIMS = {c.id: c for e in OURS.values() for c in e.claims}
WORDS_OF_ORDER = ("S9n", "S10", "S11")


def _results(size: str) -> Results:
    """One configuration, `known`, of one flow, in two repetitions; the sender's table of samples is empty."""
    keys: dict[str, Any] = {"configuration": ["known"] * 2, "rep": [0, 1]}
    repetition = pl.DataFrame({**keys, "one_sum_bps": [1e6, 3e6]})
    flow_window = pl.DataFrame({**keys, "entity": ["one-1"] * 2, "rate_bps": [1e6, 3e6]})
    flows = pl.DataFrame({**keys, "name": ["one"] * 2, "fast_recoveries": [1, 2], "sent_packets": [10, 10]})
    links = pl.DataFrame({**keys, "link": ["bottleneck"] * 2, "direction": ["forward"] * 2, "rate_bps": [1e7] * 2})
    samples = pl.DataFrame(
        schema={"configuration": pl.String, "rep": pl.Int64, "time_ns": pl.Int64, "entity": pl.String}
        | {"metric": pl.String, "value": pl.Float64}
    )
    runs = Runs({"flow": flows, "link": links, "sample": samples}, {"known": Scenario({})}, {"size": size, "reps": 2})
    return Results(runs, {"repetition": repetition, "flow_window": flow_window})


HELPERS: dict[str, Callable[[str], Callable[[Results], Any]]] = {
    "used": lambda label: measures.used(label, "one"),
    "rate_of": lambda label: measures.rate_of(label, "one"),
    "jain_of": measures.jain_of,
    "triggers": lambda label: f56_f70.triggers("one", 0.5, label),
    "saw_tooth": lambda label: lambda r: saw_tooth.of(r, label),
}


@pytest.mark.parametrize("helper", HELPERS)
def test_a_run_that_was_never_planned_is_a_defect_and_one_that_a_first_look_leaves_out_is_not(helper: str) -> None:
    ask = HELPERS[helper]("unknown")
    with pytest.raises(BrokenClaimError, match="no configuration"):
        ask(_results("full"))
    with pytest.raises(MissingDataError, match="in a first look"):
        ask(_results("quick"))


@pytest.mark.parametrize("size", ["full", "quick"])
@pytest.mark.parametrize(
    "ask",
    [
        measures.used("known", "other"),
        measures.rate_of("known", "other"),
        measures.jain_of("known", "other"),
        lambda r: saw_tooth.of(r, "known"),
    ],
    ids=["used", "rate_of", "jain_of", "saw_tooth"],
)
def test_a_flow_or_metric_that_a_run_has_not_is_a_defect_at_any_size(ask: Callable[[Results], Any], size: str) -> None:
    with pytest.raises(BrokenClaimError):
        ask(_results(size))


def test_what_is_there_is_measured_run_by_run() -> None:
    r = _results("full")
    assert measures.used("known", "one")(r) == pytest.approx(0.2)
    assert list(measures.rate_of("known", "one")(r)) == [1e6, 3e6]
    assert list(measures.jain_of("known", "one")(r)) == [1, 1]


# What our summary of the source derives, replays or infers; None: every part of the claim.
NOT_PRINTED: dict[str, tuple[str, ...] | None] = {
    "B10": None,
    "B15": None,
    "B24": None,
    "B25": ("SACK: power of the round trip",),
    "B32": None,
    "B33": None,
    "B45": None,
    "B48": ("p = 1e-5", "p = 1e-6", "p = 1e-4 in a network, reported"),
    "B55": None,
    "B64": None,
    "B70": ("LTCP with UDP (10 %: our number)",),
    "B74": None,
    "B77": None,
    "B78": ("peak (2 %: our number)", "trough (2 %)"),
    "B89": None,
    "B112": None,
}


@pytest.mark.parametrize("id", NOT_PRINTED)
def test_what_the_source_does_not_print_is_never_shown_as_published(id: str) -> None:
    labels = NOT_PRINTED[id]
    parts = [p for p in CLAIMS[id].parts if labels is None or p.label in labels]
    assert len(parts) >= len(labels or "1")
    for p in parts:
        assert p.printed is None, p.label
        assert not p.ours or p.ours not in p.published, p.label


def test_nothing_is_withheld_and_orders_to_be_examined_are_only_shown() -> None:
    assert not [c.id for c in CLAIMS.values() if c.withheld == "yes"]
    assert {CLAIMS[id].kind for id in ("B80", "B82")} == {"reported"}


def test_printed_differences_of_fairness_are_those_of_the_printed_indices() -> None:
    known = study.BOOK.numbers("B128")
    differences = {k: v for k, v in known.items() if " minus " in k}
    assert len(differences) == 8
    for label, printed in differences.items():
        one, other = label.split(" minus ")
        assert known[one] - known[other] == pytest.approx(printed, abs=6e-4), label


def test_orders_and_words_are_judged_over_ten_seeds() -> None:
    for e in OURS.values():
        by_rule = {c.id: p for c in e.claims for p in c.parts if p.criterion.rule in WORDS_OF_ORDER}
        assert e.reps >= 10 or not by_rule, (e.id, list(by_rule))
        assert all(p.criterion.least_n >= 10 for p in by_rule.values()), e.id


def test_a_little_is_a_sign_that_ten_seeds_are_sure_of_and_ten_per_cent_at_most() -> None:
    (part,) = [p for p in CLAIMS["B16"].parts if p.label.startswith("at 200 ms")]
    keys = [(f"f6 {ms} DCR", rep) for ms in (0, 200) for rep in range(10)]

    def judged(change: float, scatter: float) -> str:
        rates = [1.0] * 10 + [1 + change + scatter * (-1) ** rep for rep in range(10)]
        table = pl.DataFrame({"configuration": [k[0] for k in keys], "rep": [k[1] for k in keys], "one_bps": rates})
        found = part.measure(Results(Runs({}, {}, {"size": "full", "reps": 10}), {"repetition": table}))
        assert isinstance(found, cw.stats.Estimate)
        return part.criterion.judge(found)

    assert f5_f6.EXPERIMENT.reps >= 10
    assert judged(-0.03, 0.01) == "pass"
    assert judged(-0.03, 0.2) == "unclear"
    assert judged(0.03, 0.01) == "fail"
    assert judged(-0.2, 0.01) == "fail"


def test_all_protocols_of_figure_68_that_wait_for_losses_are_compared_with_ldp() -> None:
    assert set(f59_f68.LOSS_BASED) == set(f59_f68.SHOWN["f68"]) - {"LDP", "FAST"}


# ---- checks of decision 0029, which look at no claim -----------------------------------------------------------------


def _ms(value: str) -> float:
    found = quantity.parse(value)
    assert found is not None
    return found.value / 1e6


def _lateness(line: dict[str, Any]) -> NormalDist:
    return NormalDist(_ms(line["late_mean"]), _ms(line["late_deviation"]))


def test_one_late_packet_in_eleven_hundred_is_later_than_a_round_trip_of_figure_57() -> None:
    net = f56_f70.configurations()["one 0.01 LTCP-DCR"].validate()["topology"]
    rtt_ms = 2 * (2 * _ms(net["access"]["delay"]) + _ms(net["bottleneck"]["delay"]))
    assert rtt_ms == pytest.approx(f56_f70.RTT_ms)
    assert 1 - _lateness(net["bottleneck"]).cdf(rtt_ms) == pytest.approx(8.9e-4, rel=0.01)


@pytest.mark.parametrize(("line_ms", "share", "within"), [(10.0, 0.55, 0.01), (f72.LINE_ms, 6e-6, 1e-6)])
def test_lines_of_28_ms_keep_late_packets_of_figure_71_within_a_round_trip(
    line_ms: float, share: float, within: float
) -> None:
    links = f72.configurations(line_ms=line_ms)["LTCP variable"].validate()["link"]
    one_hop_ms = 2 * sum(_ms(links[name]["delay"]) for name in ("left-34-1", "line3", "right-34-1"))
    assert 1 - _lateness(links["line3"]).cdf(one_hop_ms) == pytest.approx(share, abs=within)


@pytest.mark.engine
def test_flows_of_fast_that_start_together_keep_alpha_packets_each_in_the_queue() -> None:
    def queue(stagger_s: float) -> float:
        label = "f65 20 FAST"
        runs = cw.run({label: f59_f68.configurations(size="quick", stagger_s=stagger_s)[label]})
        r = Results(runs, measures.tables(runs))
        n, alpha = 20, runs.scenarios[label].get("flow.one.tcp.fast.alpha")
        return r.mean(label, "bottleneck_queue") / (n * alpha)

    assert queue(0.05) == pytest.approx(1, abs=0.15)
    # Those that come later take the queue of the others for their path.
    assert queue(2.0) > 1.5


def test_rules_for_round_trips_of_ldp_are_readings_beside_the_main_one() -> None:
    for e in (f56_f70.EXPERIMENT, f72.EXPERIMENT):
        main = e.configurations(**e.settings("main", "quick"))
        for reading in ("in-order", "per-window"):
            other = e.configurations(**e.settings(reading, "quick"))
            changed = {k for k in main if main[k].complete() != other[k].complete()}
            assert changed == {k for k in main if "LDP" in k}
            presets = {p["preset"] for name, p in nets.PROTOCOLS.items() if "LDP" in name}
            for label in changed:
                ldp = [f["tcp"] for f in other[label].validate()["flow"].values() if f["tcp"]["preset"] in presets]
                assert ldp and {tcp["rtt_sampling"] for tcp in ldp} == {reading}


@pytest.mark.engine
def test_a_packet_that_is_25_ms_late_moves_srtt_099_of_ldp_only_where_it_is_a_sample() -> None:
    def world(samples: str) -> Scenario:
        # One sample of 25 ms more are 0.25 ms of srtt_0.99, which is answered for certain; no other round trip differs.
        gentle = {"min_delay": "100 us", "max_delay": "150 us", "certain_delay": "200 us"}
        own = {"initial_window_segments": 16, "initial_ssthresh": "16000 B", "early": {"gentle": gentle}}
        flow = nets.bulk("LDP", **own, **nets.timed("LDP", samples))
        flow["workload"] = {"type": "bulk", "size": "300000 B"}
        line = nets.reordering(10_000, 48, nets.droptail(1000), 0.0) | {"packets": [41], "late_deviation": "0 ms"}
        return nets.dumbbell(samples, line, nets.wire(10_000, 1), {"one": flow}, duration_s=5, warm_up_s=1)

    flows = cw.run({x: world(x) for x in ("per-ack", "in-order")}).flows()
    answers = dict(flows.select("configuration", "early_reductions").iter_rows())
    assert set(flows["retransmitted_packets"]) == {0}
    assert answers["per-ack"] > 0 and answers["in-order"] == 0

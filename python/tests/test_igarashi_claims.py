"""Claims of [Igarashi 2007]: what they say of runs that are not there, of every seed, and of what is not tested."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from crosswind.experiments.igarashi import assured, e4_9, e5_3, e5_13, e5_17, e6_5, e6_7, e6_9, e7_8, rates
from crosswind.reproduce import Results, catalogue
from crosswind.reproduce.claims import BrokenClaimError, MissingDataError
from crosswind.results import Runs
from crosswind.scenario import Scenario

OURS = catalogue.of_study("igarashi")


def _results(labels: list[str], reps: int, size: str = "full", others: dict[str, Results] | None = None) -> Results:
    """Made-up rates of a flow `f` in every configuration, in bins of a tenth of a run of 100 s."""
    cells = [(label, rep) for label in labels for rep in range(reps)]
    dice = np.random.default_rng(1)
    series = pl.DataFrame(
        [(c, rep, "f", 10.0 * k, dice.uniform(400, 900)) for c, rep in cells for k in range(1, 11)],
        schema=["configuration", "rep", "flow", "s", "mbps"],
        orient="row",
    )
    keys: dict[str, Any] = {"configuration": [c for c, _ in cells], "rep": [rep for _, rep in cells]}
    rate = dice.uniform(400, 900, len(cells))
    repetition = pl.DataFrame({**keys, "f_mbps": rate, "short_mbps": rate / 100})
    runs = Runs({}, {c: Scenario({}) for c in labels}, {"size": size, "reps": reps})
    return Results(runs, {"series": series, "repetition": repetition}, others or {})


def _of(experiment: str) -> Results:
    e = OURS[f"igarashi/{experiment}"]
    return _results(list(e.configurations()), e.reps)


def test_every_part_of_e5_3_finds_the_runs_that_it_asks_for() -> None:
    others = {name: _of(name) for name in e5_3.EXPERIMENT.uses}
    r = _results(list(e5_3.configurations()), e5_3.REPS, others=others)
    seen = [m for c in e5_3.EXPERIMENT.claims for m in c.check(r).parts]
    assert {m.problem for m in seen} == {""}
    assert all(np.isfinite(m.estimate.value) and m.verdict == "reported" for m in seen)


def test_every_claim_with_the_large_buffer_has_400_and_920_packets_beside_it_in_each_case() -> None:
    shown = {c.id: [p.label for p in c.parts] for c in e5_3.EXPERIMENT.claims}
    assert set(shown) == {"IC5.3", "IC5.4", "IC5.18", "IC5.19", "IC5.25"}
    for id in ("IC5.19", "IC5.25"):
        (judged,) = [c for e in OURS.values() if e is not e5_3.EXPERIMENT for c in e.claims if c.id == id]
        large = {tuple(p.label.split(", ")[:2]) for p in judged.parts if "Large" in p.label}
        for n in ("400 packets", "920 packets"):
            assert {tuple(label.split(":")[0].split(", ")[:2]) for label in shown[id] if n in label} == {
                (name, case.split(":")[0]) for name, case in large
            }


def test_bins_of_an_unknown_configuration_or_flow_are_a_defect() -> None:
    r = _results(["known"], 2, others={"e5-17": _results(["known"], 2)})
    for front in ("", "e5-17/"):
        assert rates.series(r, f"{front}known", "f").height == 20
        with pytest.raises(BrokenClaimError, match="no configuration"):
            rates.series(r, f"{front}unknown", "f")
        with pytest.raises(BrokenClaimError, match="no flow g"):
            rates.series(r, f"{front}known", "g")
    with pytest.raises(BrokenClaimError, match="no results of experiment e5-1"):
        rates.series(r, "e5-1/known", "f")
    with pytest.raises(MissingDataError, match="in a first look"):
        rates.series(_results(["known"], 1, "quick"), "unknown", "f")


def test_one_seed_of_ten_with_a_loss_breaks_exactly_zero() -> None:
    (claim,) = [c for c in e7_8.EXPERIMENT.claims if c.id == "IC7.17"]
    labels = list(e7_8.configurations())

    def verdict(losses: float) -> str:
        keys: dict[str, Any] = {
            "configuration": [c for c in labels for _ in range(10)],
            "rep": [*range(10)] * len(labels),
        }
        nothing = dict.fromkeys((f"g{k}_eplr_10" for k in range(5)), 0.0)
        table = pl.DataFrame({**keys, **{k: [v] * len(keys["rep"]) for k, v in nothing.items()}})
        hit = (pl.col("configuration") == labels[-1]) & (pl.col("rep") == 3)
        table = table.with_columns(g4_eplr_10=pl.when(hit).then(losses).otherwise(0.0))
        r = Results(Runs({}, {c: Scenario({}) for c in labels}, {"size": "full", "reps": 10}), {"repetition": table})
        return claim.check(r).verdict

    assert verdict(0.0) == "pass"
    assert verdict(1e-6) == "fail"


def test_a_run_of_cubic_less_itself_is_not_counted_as_evidence() -> None:
    (claim,) = [c for c in OURS["igarashi/e5-1"].claims if c.id == "IC5.2"]
    (cubic,) = [p for p in claim.parts if p.label == "CUBIC: 1.06 less 0.95"]
    assert not claim.counts(cubic)
    with pytest.raises(MissingDataError, match="not tested"):
        cubic.measure(_of("e5-1"))
    judged = {p.label for p in claim.parts if claim.counts(p)}
    assert judged == {f"{p}: 1.06 less 0.95" for p in ("HSTCP", "Scalable", "FAST", "HTCP")}


def test_orders_and_words_are_judged_over_ten_seeds() -> None:
    for e in OURS.values():
        by_rule = {c.id: p for c in e.claims for p in c.parts if p.criterion.rule in ("S9n", "S10", "S11")}
        assert e.reps >= 10 or not by_rule, (e.id, list(by_rule))
        assert all(p.criterion.least_n >= 10 for p in by_rule.values()), e.id


@pytest.mark.parametrize("experiment", [e5_13, e5_17], ids=["e5-13", "e5-17"])
def test_the_input_stage_stands_in_front_of_the_routers_buffer_for_all_hosts(experiment: Any) -> None:
    e = experiment.EXPERIMENT
    main, staged = (e.configurations(**e.settings(reading, "full")) for reading in ("main", "input-stage"))
    for label, scenario in staged.items():
        links = scenario.validate()["link"]
        assert links["port"]["queue"]["limit"] == "2000 packets" and links["port"]["to"] == "router-a"
        assert {link["to"] for name, link in links.items() if name.startswith("in-")} == {"port"}
        assert links["bottleneck"] == main[label].validate()["link"]["bottleneck"]
        assert "port" not in main[label].validate()["link"]


def test_printed_counts_of_a_flow_are_marked_where_they_end_in_its_bar() -> None:
    rows = e6_5._printed("6.6")
    assert rows["f9"] == {"in profile": 23763, "re-marked": 2329, "out of profile": 390}
    assert sum(sum(x.values()) for x in rows.values()) == 172_315 + 35_112
    assert sum(x["re-marked"] for x in e6_5._printed("6.7").values()) == 307


def test_printed_throughputs_of_groups_add_up_to_the_sums_of_our_summary() -> None:
    def sums(file: str, group: str) -> list[float]:
        return [round(sum(flows.values()), 3) for flows in assured.printed(file, group).values()]

    assert sums("t6-9.csv", "a") == [33.459, 32.910, 46.538, 44.351]
    assert sums("t6-9.csv", "b") == [32.538, 32.987, 43.857, 45.554]
    assert [sums("t6-11.csv", g) for g in e6_9.GROUPS] == [[29.130, 29.171], [34.082, 33.904], [34.508, 34.434]]
    assert set(assured.printed("t6-9.csv", "a")) == set(e6_7.configurations())
    assert set(assured.printed("t6-11.csv", "ab")) == set(e6_9.configurations())


def test_every_average_to_a_receiver_stands_beside_its_printed_one() -> None:
    printed = e4_9.printed()
    assert {p: list(by) for p, by in printed.items()} == {p: list(e4_9.RECEIVERS) for p in e4_9.PROTOCOLS}
    assert printed["Standard"]["FreeBSD 4.7"] == 151 and printed["FAST"]["Windows 2000"] == 136


# What our summary of the source derives or infers.
NOT_PRINTED = {"IC4.11": " over ", "IC6.8": "flow"}


@pytest.mark.parametrize("id", NOT_PRINTED)
def test_what_the_source_does_not_print_is_never_shown_as_published(id: str) -> None:
    (claim,) = [c for e in OURS.values() for c in e.claims if c.id == id]
    ratios = [p for p in claim.parts if NOT_PRINTED[id] in p.label]
    assert ratios and all(p.printed is None and not p.published and p.ours for p in ratios)

"""The cross-check itself: its references, its comparison and its page; and Crosswind against the stored references.

ns-2 is needed for the last test only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from validation import crosswind_side
from validation.__main__ import deterministic
from validation.compare import Comparison, compare_sequences, compare_study
from validation.ns2 import driver
from validation.ns2.driver import FlowTotals, Outcome, Reference, Sent
from validation.ns2.scenarios import (
    GROWTH,
    PATTERNS,
    SENDERS,
    Case,
    acks_per_segment,
    crosswind_scenario,
    deterministic_cases,
    ns2_arguments,
    studies,
)
from validation.report import Findings, page

CASE = Case(name="two", family="listed drops", question="two segments")
REFERENCE = Reference((Sent(0, 1, False), Sent(0, 2, False), Sent(500_000, 1, True)), 3, 1, 1, 900_000, 1)


def outcome(sequence: tuple[Sent, ...], resent: int = 1, timeouts: int = 1, acked: int = 2) -> Outcome:
    flow = FlowTotals(0.0, 0.9, acked, len(sequence), resent, timeouts, 0)
    return Outcome(sequence, (flow,), 100.0, 1, 3)


def compared(*sequence: Sent, resent: int = 1, timeouts: int = 1) -> Comparison:
    return compare_sequences(CASE, REFERENCE, outcome(sequence, resent, timeouts))


def test_every_deterministic_case_has_a_reference_whose_totals_fit_its_sequence() -> None:
    references = driver.references()
    assert set(references) == {c.key for c in deterministic_cases()}
    for key, r in references.items():
        assert r.sent_packets == len(r.sequence), key
        assert r.retransmitted_packets == sum(s.retransmit for s in r.sequence), key
        assert [s.time_us for s in r.sequence] == sorted(s.time_us for s in r.sequence), key


def test_every_reference_delivers_every_segment_and_repairs_every_listed_loss() -> None:
    references = driver.references()
    for c in deterministic_cases():
        r = references[c.key]
        assert {s.segment for s in r.sequence} == set(range(1, c.segments + 1)), c.key
        for n in c.drops:
            lost = r.sequence[n - 1]
            later = [s for s in r.sequence[n:] if s.segment == lost.segment]
            assert later, f"{c.key}: packet {n} was lost and never retransmitted"


def test_each_sender_meets_at_least_ten_patterns_with_and_without_delayed_acks() -> None:
    assert len([p for p in PATTERNS if p.drops]) >= 10
    keys = {c.key for c in deterministic_cases()}
    for p in PATTERNS:
        for s in SENDERS:
            assert {f"{p.name}/{s.lower()}/every", f"{p.name}/{s.lower()}/delack"} <= keys


def test_the_same_sequence_is_the_same() -> None:
    assert compared(*REFERENCE.sequence).verdict == "same"


def test_a_shift_within_a_tick_is_the_same_and_its_size_is_reported() -> None:
    late = replace(REFERENCE.sequence[2], time_us=510_000)
    got = compared(*REFERENCE.sequence[:2], late)
    assert (got.verdict, got.largest_dt_us) == ("same", 10_000)


@pytest.mark.parametrize("last", [Sent(510_001, 1, True), Sent(500_000, 2, True), Sent(500_000, 1, False)])
def test_a_late_or_another_or_an_unmarked_segment_differs(last: Sent) -> None:
    assert compared(*REFERENCE.sequence[:2], last).verdict == "differs"


def test_a_missing_and_a_surplus_segment_differ() -> None:
    assert "nothing here" in compared(*REFERENCE.sequence[:2]).remark
    assert "nothing in ns-2" in compared(*REFERENCE.sequence, Sent(600_000, 3, False)).remark


def test_other_totals_differ_even_if_the_segments_agree() -> None:
    assert compared(*REFERENCE.sequence, timeouts=0).verdict == "differs"


def test_a_difference_with_a_written_reason_is_explained() -> None:
    case = replace(CASE, expect="a reason")
    assert compare_sequences(case, REFERENCE, outcome(REFERENCE.sequence[:2])).verdict == "explained"


def test_the_script_reads_exactly_the_arguments_that_it_is_given() -> None:
    read = set(re.findall(r"\$opt\((\w+)\)", driver.SCRIPT.read_text()))
    assert read == {a.partition("=")[0] for a in ns2_arguments(CASE)}


def test_the_translation_counts_waiting_packets_and_never_closes() -> None:
    scenario = crosswind_scenario(replace(CASE, limit_packets=20, drops=(3,)))
    assert scenario["link"]["bottleneck"]["queue"]["limit"] == "19 packets"
    assert scenario["link"]["bottleneck"]["loss"]["packets"] == [3]
    assert scenario["flow"]["flow-0"]["workload"] == {"type": "bulk", "size": "60000 B", "close": "never"}


def test_repetitions_of_a_study_start_at_other_times_and_stay_within_the_spread() -> None:
    for study in studies():
        cases = study.cases()
        assert len({c.starts_us for c in cases}) == len(cases) >= 10
        assert all(c.flows == study.flows and max(c.starts_us) < 2_000_000 for c in cases)


def test_a_systematic_difference_is_found_and_an_absent_one_is_not() -> None:
    study = studies()[0]
    cases = study.cases()
    base = [outcome((), resent=20 + k) for k in range(len(cases))]
    more = [outcome((), resent=30 + k) for k in range(len(cases))]
    verdicts = {r.metric: r.verdict for r in compare_study(study, cases, base, more)}
    assert verdicts["packets retransmitted, all flows"] == "differs"
    assert verdicts["timeouts, all flows"] == "same"


def test_unfairness_is_a_difference_although_the_index_is_below_one() -> None:
    study = next(s for s in studies() if s.flows == 10)
    cases = study.cases()
    flow = FlowTotals(0.0, -1.0, 1000, 1000, 0, 0, 0)
    fair = Outcome((), (flow,) * 10, 100.0, 0, 0)
    poor, rich = replace(flow, acked_segments=1), replace(flow, acked_segments=1999)
    starved = Outcome((), (poor,) * 5 + (rich,) * 5, 100.0, 0, 0)
    rows = compare_study(study, cases, [fair] * len(cases), [starved] * len(cases))
    assert {r.metric: r.verdict for r in rows}["Jain index of goodput"] == "differs"


def test_the_page_shows_what_differs() -> None:
    found = [compared(*REFERENCE.sequence), compared(*REFERENCE.sequence[:2])]
    text = page(Findings("2.35", found[1:], ["a/b/c"], [], 0))
    assert "**differs**" in text and "transmission 3" in text and "a/b/c" in text
    assert "**differs**" not in page(Findings("2.35", found[:1], [], [], 0))


@pytest.fixture(scope="module")
def compared_cases() -> dict[str, Comparison]:
    """Every deterministic case in Crosswind, against its stored reference."""
    return {c.case.key: c for c in deterministic()}


@pytest.mark.engine
@pytest.mark.parametrize("key", [c.key for c in deterministic_cases()])
def test_crosswind_sends_the_segments_of_ns2_within_a_tick(compared_cases: dict[str, Comparison], key: str) -> None:
    assert compared_cases[key].verdict == "same", compared_cases[key].remark


@pytest.mark.engine
def test_another_sender_is_told_apart_from_the_reference() -> None:
    """Reno and NewReno differ from the references of Sack1 in most cases with several losses."""
    references = driver.references()
    for preset in ("Reno", "Newreno"):
        cases = [c for c in deterministic_cases() if c.sender == "Sack1" and len(c.drops) > 1 and not c.delayed_ack]
        other = crosswind_side.run_all([replace(c, sender=preset) for c in cases])
        verdicts = [compare_sequences(c, references[c.key], o).verdict for c, o in zip(cases, other, strict=True)]
        assert verdicts.count("differs") > len(cases) / 2


def growth(sequence: Sequence[Sent]) -> list[int]:
    """ACKs per segment of growth, from a window of 25 segments on."""
    found = acks_per_segment([(s.time_us, s.segment, s.retransmit) for s in sequence], 100)
    return found[next(i for i, n in enumerate(found) if n >= 26) :]


@pytest.mark.engine
def test_scalable_of_linux_2_6_grows_by_a_segment_in_so_many_acks_and_50_at_most() -> None:
    got = growth(crosswind_side.run_all([GROWTH])[0].sequence)
    assert got == [min(w, 50) + 1 for w in range(25, 25 + len(got))] and len(got) > 60


@pytest.mark.engine
@pytest.mark.skipif(driver.ns2_program() is None, reason="ns-2 is not installed")
def test_scalable_grows_as_in_ns2() -> None:
    program = driver.ns2_program()
    assert program is not None
    theirs, ours = growth(driver.run(GROWTH, program).sequence), growth(crosswind_side.run_all([GROWTH])[0].sequence)
    both = min(len(theirs), len(ours))
    assert both > 60 and theirs[:both] == ours[:both]


# ns-2 is an optional tool; its stored references are compared with above, without it.
@pytest.mark.skipif(driver.ns2_program() is None, reason="ns-2 is not installed")
def test_ns2_gives_a_stored_reference_again() -> None:
    program = driver.ns2_program()
    assert program is not None
    case = next(c for c in deterministic_cases() if c.key == "retransmission/sack1/delack")
    assert driver.as_reference(driver.run(case, program)) == driver.references()[case.key]

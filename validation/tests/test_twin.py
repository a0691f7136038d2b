"""What the page on twins says follows from its numbers, and leaves the rest of the page alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from validation.twin import page, paired
from validation.twin.cases import MIXED, PATHS, Case
from validation.twin.measure import CASES, Numbers, Twin, scenario


def numbers(goodput_bps: float, rtt_ns: float) -> Numbers:
    same = ([rtt_ns], [rtt_ns], [rtt_ns], [3.0], [3.0], [0.0], [50_000.0])
    return Numbers([goodput_bps], *same)


def twin(goodput_bps: float, rtt_ns: float) -> Twin:
    curves = {mode: [(0.0, 14.0), (1.0, 28.0)] for mode in ("simulated", "real")}
    rtts = {mode: [60.0, 80.0, 110.0] for mode in curves}
    halves = (numbers(goodput_bps, rtt_ns), numbers(9.5e6, 95e6))
    return Twin("twin-clean", "Reno", "bulk", *halves, 9_000.0, 0, curves, rtts)


def test_a_difference_beyond_the_aim_is_unexplained_until_there_is_a_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    near, far = twin(9.6e6, 97e6), twin(8.5e6, 95e6)
    assert page.is_within(near) and not page.is_within(far)
    assert page.verdict([near]) == 0
    assert page.verdict([far]) == 1 and "unexplained" in page.line(far)
    monkeypatch.setitem(page.CAUSES, ("twin-clean", "Reno", "bulk"), "a cause")
    assert page.verdict([far]) == 0 and "see below" in page.line(far)
    assert "a cause" in page.section(page.Stored("6.18", [far]))


def test_what_is_stored_is_read_again_also_without_distributions() -> None:
    stored = twin(9.5e6, 95e6)
    assert Twin.from_json(stored.to_json()) == stored
    assert "twin-clean-rtt.svg" in page.section(page.Stored("6.18", [stored]))
    older = {k: v for k, v in stored.to_json().items() if k != "rtts_ms"}
    assert "rtt.svg" not in page.section(page.Stored("6.18", [Twin.from_json(older)]))


def test_the_section_replaces_the_old_one_and_nothing_else() -> None:
    first = page.placed("# Title\n\ntext\n", "one\n")
    second = page.placed(first, "two\n")
    assert second.startswith("# Title\n\ntext\n") and "two" in second and "one" not in second
    assert page.placed(second, "two\n") == second


def test_averages_carry_two_standard_errors() -> None:
    assert page.shown([1e6, 3e6], 1e6) == "2.0 ± 2.0"
    assert page.shown([2e6], 1e6) == "2.0"


def test_every_scenario_is_valid_with_both_laws() -> None:
    for case in CASES:
        for preset in ("linux-6", "linux-6-cubic"):
            scenario(case, preset).validate()


def pair(ours: list[float], theirs: list[float], resent: float = 5.0) -> paired.Pair:
    """A flow whose goodputs in Mbit/s are these; all else is alike."""

    def half(goodputs: list[float]) -> Numbers:
        n = len(goodputs)
        return Numbers([g * 1e6 for g in goodputs], *([[x] * n for x in (5e7, 5e7, 6e7, resent, 0.0, 0.0, 6e4)]))

    return paired.Pair("clean", ("BBR",), "first", "BBR", half(ours), half(theirs), 9_000.0, True)


def test_a_pair_beyond_the_aim_differs_unless_its_interval_reaches_into_it_or_it_has_a_cause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steady = [9.0, 9.1, 8.9, 9.0]
    assert pair(steady, steady).verdict("goodput") == "within"
    assert pair([0.8 * g for g in steady], steady).verdict("goodput") == "differs"
    assert pair([5.0, 13.0, 6.0, 15.0], [9.0, 8.0, 9.0, 8.0]).verdict("goodput") == "open"
    assert pair(steady, steady, resent=0.0).verdict("retransmissions") == "within", "nothing in both"
    far = pair([0.8 * g for g in steady], steady)
    assert "**-20.0%" in paired.line(far)
    monkeypatch.setitem(paired.CAUSES, ("clean", "BBR", "goodput"), "a cause")
    assert far.verdict("goodput") == "caused"
    text = paired.page({"release": "6.18"}, [far])
    assert "| goodput | 0 | 0 | 1 | 0 |" in text and "a cause" in text


def test_pairs_that_are_stored_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paired, "NUMBERS", tmp_path / "paired.json")
    monkeypatch.setattr(paired, "PAGE", tmp_path / "page.md")
    paired.keep({"release": "6.18"}, [pair([9.0], [9.1])])
    stored, pairs = paired.load()
    assert (stored, pairs) == ({"release": "6.18"}, [pair([9.0], [9.1])])


@pytest.mark.parametrize("case", PATHS, ids=lambda c: c.name)
def test_every_path_is_a_valid_scenario(case: Case) -> None:
    for laws in case.laws:
        scenario_of = case.scenario(laws)
        scenario_of.validate()
        assert list(scenario_of.data["flow"]) == case.flows(laws)
    assert case.laws != MIXED or case.flows(MIXED[0]) == ["bbr", "cubic"]

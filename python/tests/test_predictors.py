"""Congestion predictors against a walk through the state machine, and against signals that can be worked out."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

from crosswind.theory import predictors as p


def _walk(prediction: p.Prediction, losses: p.Floats, hold_s: float, responses: p.Floats) -> dict[str, int]:
    """The state machine of figures 37 and 40, one event after the other."""
    n = dict.fromkeys(("n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "answered"), 0)
    events = [(float(t), 1, bool(h)) for t, h in zip(prediction.time_s, prediction.high, strict=True)]
    events += [(float(t), 0, True) for t in losses] + [(float(t), 2, True) for t in responses]
    state, said, until = "A", False, -np.inf
    for t, kind, value in [*sorted(events), (np.inf, 1, False)]:
        if state == "C" and t >= until:
            n["n6" if said else "n3"] += 1
            state = "B" if said else "A"
        if state == "B1" and t > until:
            n["n8"] += 1
            state = "B"
        if t == np.inf:
            break
        if kind == 2:
            if state == "B":
                n["n7"] += 1
                state, until = "B1", t + hold_s
            continue
        if kind == 0:
            if state != "C":
                n["n4" if state == "A" else "n2"] += 1
                state = "C"
            until = t + hold_s
            continue
        if state == "A" and value:
            n["n1"] += 1
        elif state in ("B", "B1") and not value:
            n["n5"] += 1
            n["answered"] += state == "B1"
        if state == "A" or (state != "C" and not value):
            state = "B" if value else "A"
        said = value
    return n


@pytest.mark.parametrize("seed", range(20))
def test_counts_are_those_of_a_walk_through_the_state_machine(seed: int) -> None:
    rng = np.random.default_rng(seed)
    t = np.cumsum(rng.exponential(0.01, 400))
    high = np.repeat(rng.random(80) < 0.4, 5)
    losses = np.sort(rng.uniform(0, t[-1], 30))
    responses = np.sort(rng.uniform(0, t[-1], 60))
    prediction = p.Prediction(t, high)
    c = p.count(prediction, losses, 0.03, responses)
    walked = _walk(prediction, losses, 0.03, responses)
    assert c.n7 > 0
    assert {k: getattr(c, k) for k in walked} == walked
    assert c.efficiency + c.false_positives == pytest.approx(1)


def test_averages_follow_their_definitions() -> None:
    x = np.array([1.0, 3.0, 2.0, 8.0])
    assert p.moving_average(x, 2) == pytest.approx([1, 2, 2.5, 5])
    s, by_hand = x[0], []
    for v in x:
        s = 7 / 8 * s + v / 8
        by_hand.append(s)
    assert p.ewma(x, 7 / 8) == pytest.approx(by_hand)


def _signal(rtt_ms: list[float], window: list[float]) -> p.Signal:
    return p.Signal(np.arange(len(rtt_ms)) * 1.0, np.array(rtt_ms) / 1e3, np.array(window))


def test_predictors_that_look_once_per_round_trip_say_what_their_papers_say() -> None:
    s = _signal([60, 60, 70, 80, 60], [10, 11, 12, 13, 6])
    # The gradient is 0, then positive twice; then window and delay fall together.
    assert p.card(s).high.tolist() == [False, False, True, True, True]
    assert p.dual(s).high.tolist() == [False, False, True, True, False]
    # Ten segments more than the path holds: w (1 - 60 / rtt) is 0, 0, 1.7, 3.25, 0.
    assert p.vegas(s).high.tolist() == [False, False, False, True, False]
    # Throughput rises with the window at first (gradient 1), and then falls while the window grows.
    assert p.tri_s(s).high.tolist() == [False, False, True, True, False]


def test_one_sample_is_taken_per_round_trip() -> None:
    t = np.arange(0, 1, 0.01)
    s = p.once_per_round(p.Signal(t, np.full(t.size, 0.0999), np.ones(t.size)))
    assert np.diff(s.time_s) == pytest.approx(np.full(9, 0.1))


def test_the_examples_of_the_module_hold() -> None:
    assert doctest.testmod(p).failed == 0

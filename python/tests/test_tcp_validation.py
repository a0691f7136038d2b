"""DCTCP above a step: the claims can be judged, and alpha is what the theory says of a step."""

import pytest

from crosswind.experiments.tcp_validation import dctcp
from crosswind.run import run


def alpha(**more: object) -> float:
    scenario = dctcp.configurations()["10 ms (RFC)"].with_({"duration": "12 s", **more})
    seen = run(scenario).sample("marked_ratio", "one").sort("time_ns")["value"].to_numpy()
    return float(seen[-30:].mean())


def test_alpha_is_the_root_of_two_over_the_window_at_the_threshold() -> None:
    # The theory knows of no device, and of windows that fall at once.
    all_in_codel = {"link.line.device_packets": 0, "link.line.device_limits": "none"}
    at_once = alpha(**all_in_codel, **{"flow.one.tcp.echo_reduction": "at-once"})
    # 11 ms of 50 Mbit/s are 46 packets: a millisecond waits.
    assert at_once == pytest.approx((2 / 46) ** 0.5, rel=0.25)
    over_a_round_trip = alpha(**all_in_codel)
    assert 0.7 * at_once < over_a_round_trip < at_once
    assert alpha() < 0.6 * over_a_round_trip

"""One long flow on a fast path: ns-2's Linux senders and ours have the same slow start."""

from __future__ import annotations

import pytest

from validation.ns2 import driver, fast_paths

SECONDS = 8


@pytest.mark.skipif(driver.ns2_program() is None, reason="ns-2 is not installed")
@pytest.mark.parametrize("buffer_packets", [100, 300])
def test_the_window_of_standard_tcp_after_slow_start_is_that_of_ns2(buffer_packets: int) -> None:
    program = driver.ns2_program()
    assert program is not None
    theirs = fast_paths.in_ns2(program, "reno", buffer_packets, SECONDS)
    ours = fast_paths.in_crosswind(buffer_packets, SECONDS, is_kernel=True)["Standard"]
    assert ours[0] == pytest.approx(theirs[0], rel=0.25)


def test_readings_differ_in_the_repair_of_losses_alone() -> None:
    rfc, kernel = (fast_paths.scenario("HSTCP", 100, SECONDS, is_kernel=k) for k in (False, True))
    tcp = [s.data["flow"]["f"]["tcp"] for s in (rfc, kernel)]
    assert {k for k in tcp[1] if tcp[0].get(k) != tcp[1][k]} == {"recovery", "reduction", "window_moderation"}

"""Networks of [Bhandarkar 2006]: what their parameters mean."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from crosswind.experiments.bhandarkar_2006 import f59_f68, nets, saw_tooth, t2_t15, t7_t9
from crosswind.reproduce.claims import MissingDataError
from crosswind.scenario import quantity


@pytest.mark.parametrize("error", [0.01, 0.1, 0.5])
def test_errors_an_exponential_distance_apart_hit_so_many_packets(error: float) -> None:
    dice, at, hit, n = random.Random(1), 0.0, set(), 100_000
    while at < n:
        at += dice.expovariate(error)
        hit.add(math.floor(at))
    line = nets.repairing(1, 20, error)
    assert line["type"] == "arq"
    assert line["error"] == pytest.approx(len(hit) / n, rel=0.05)
    assert line["reverse"]["error"] == 0


def test_a_host_that_tells_has_room_behind_its_queue_and_one_that_drops_has_not() -> None:
    def limit(**hosts: bool) -> tuple[str, bool]:
        s = t7_t9.Size("full", t7_t9.Hosts(**hosts))
        flow = s.flow("LTCP")
        world = s.world("one", 25, {"one": flow}, 10, 2)
        return world.get("link.bottleneck.queue.limit"), "host_queue" in flow["tcp"]

    assert limit() == ("10000 packets", True)
    assert limit(tells=False) == ("1000 packets", False)


@pytest.mark.parametrize("rate", t2_t15.RATES)
def test_the_queue_of_a_high_speed_net_stands_in_front_of_its_bottleneck(rate: int) -> None:
    net = nets.high_speed("net", {"one": nets.bulk("SACK")}, rate_mbps=rate, buffer=50, duration_s=2, warm_up_s=1)
    access, bottleneck = (quantity.parse(net.get(f"topology.{part}.rate")) for part in ("access", "bottleneck"))
    assert access is not None and bottleneck is not None and access.value > bottleneck.value


def test_timeouts_are_those_of_the_ns2_of_the_year_and_another_floor_is_a_reading() -> None:
    experiment = f59_f68.EXPERIMENT
    for reading, floor, start in (
        ("main", "1 s", "50 ms"),
        ("rto-200-ms", "200 ms", "50 ms"),
        ("former", "200 ms", "2000 ms"),
    ):
        made = experiment.configurations(**experiment.settings(reading, "quick"))["f65 2 FAST"]
        flow = made.data["flow"]["one"]
        assert made.validate()["flow"]["one"]["tcp"]["rto_min"] == floor
        assert flow["start"]["uniform"][1] == start
        assert ("initial_ssthresh" in flow["tcp"]) == (reading == "former")


def _watched(cycles: int, before: float = 0.5) -> saw_tooth.SawTooth:
    """Twenty seconds a cycle, 1000 packets a second, one of them lost at its end; slow start loses 300."""
    t = np.arange(0, 20 * (cycles + before) + 0.25, 0.5)
    drops = np.where(t >= 2, 300.0, 0.0) + np.floor((t + 20 * (1 - before)) / 20).clip(0)
    return saw_tooth.SawTooth(t, 1e6 * t, 1e3 * t, drops, 8e6 / 0.9)


def test_tcp_is_measured_over_whole_cycles_after_the_losses_of_slow_start() -> None:
    found = _watched(4)
    assert found.t[found.losses()] == pytest.approx([10, 30, 50, 70, 90])
    assert found.loss() == pytest.approx(1 / 20_000)
    assert found.used() == pytest.approx(0.9)
    used, loss = found.phases(seconds=30, n=10)
    assert used == pytest.approx(np.full(10, 0.9)) and loss.mean() == pytest.approx(1 / 20_000, rel=0.1)


def test_fewer_than_three_whole_cycles_say_nothing() -> None:
    with pytest.raises(MissingDataError, match="2 whole cycles"):
        _watched(2).loss()

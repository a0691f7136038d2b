"""Networks of [Bhandarkar 2006]: what their parameters mean."""

from __future__ import annotations

import math
import random

import pytest

from crosswind import quantity
from crosswind.experiments.bhandarkar_2006 import nets, t2_t15, t7_t9


@pytest.mark.parametrize("error", [0.01, 0.1, 0.5])
def test_errors_an_exponential_distance_apart_hit_so_many_packets(error: float) -> None:
    dice, at, hit, n = random.Random(1), 0.0, set(), 100_000
    while at < n:
        at += dice.expovariate(error)
        hit.add(math.floor(at))
    line = nets.repairing(1, 20, error)
    assert line["type"] == "repair"
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

"""HyStart++ beside standard slow start: what its authors measured, half of the retransmissions, fewer timeouts."""

from typing import Any

import pytest

from crosswind.run import run
from crosswind.scenario import Scenario


def _scenario(slow_start: str, rtt_ms: int) -> Scenario:
    """100 Mbit/s behind one product of drop-tail, a transfer of 20 MB."""
    limit = 100_000 * rtt_ms // 8 // 1500
    line: dict[str, Any] = {"from": "a", "to": "b", "rate": "100 Mbit/s", "delay": f"{rtt_ms / 2} ms"}
    line["queue"] = {"type": "droptail", "limit": f"{limit} packets"}
    flow = {
        "from": "a",
        "to": "b",
        "start": {"uniform": ["0 s", "10 ms"]},
        "workload": {"type": "bulk", "size": "20 MB"},
    }
    flow["tcp"] = {"preset": "linux-6-cubic", "slow_start": slow_start}
    return Scenario.from_dict({"name": "slow-start", "duration": "30 s", "link": {"line": line}, "flow": {"one": flow}})


def _total(slow_start: str, rtt_ms: int) -> tuple[float, float, float]:
    """Bytes retransmitted, timeouts and time of six transfers."""
    flows = run(_scenario(slow_start, rtt_ms), reps=6).flows()
    again, timeouts, time = (
        float(flows[c].to_numpy().sum()) for c in ("retransmitted_bytes", "timeouts", "elapsed_ns")
    )
    return again, timeouts, time


@pytest.mark.parametrize("rtt_ms", [20, 50, 100])
def test_hystart_plus_plus_sends_half_as_much_again_at_most(rtt_ms: int) -> None:
    standard, plus = _total("standard", rtt_ms), _total("hystart++", rtt_ms)
    assert plus[0] <= 0.51 * standard[0]
    assert plus[1] <= standard[1]
    assert plus[2] <= 1.01 * standard[2]

"""A window law of one's own: the table of Reno behaves like Reno, and an aggressive one like what it says."""

from __future__ import annotations

import math

import pytest

import crosswind as cw
from crosswind.errors import InputError

LONG = """
name = "law"
duration = "120 s"
[link.x]
from = "a"
to = "b"
rate = "10 Mbit/s"
delay = "40 ms"
queue = { type = "droptail", limit = "60 packets" }
[flow.f]
from = "a"
to = "b"
workload = { type = "bulk" }
tcp = { receive_buffer = "1 MB", send_buffer = "1 MB" }
[record]
sample = "50 ms"
"""


def highspeed(w: float) -> tuple[float, float]:
    """RFC 3649: increase and share kept, for W_low = 38, W_high = 83000, b_high = 0.1, P = 0.078 / w^1.2."""
    if w <= 38:
        return 1.0, 0.5
    b = (0.1 - 0.5) * (math.log(w) - math.log(38)) / (math.log(83000) - math.log(38)) + 0.5
    p = 0.078 / w**1.2
    return w * w * p * 2 * b / (2 - b), 1 - b


def test_the_functions_become_a_table_and_nonsense_is_refused() -> None:
    law = cw.window_law(increase=lambda w: w, keep=lambda w: 0.5)
    assert law.rows[0]["window"] == 1 and law.rows[-1]["increase"] == pytest.approx(100_000)
    changed = law.on(cw.Scenario.from_toml(LONG))
    assert changed.get("flow.f.tcp.law") == "tabulated" and len(changed.get("flow.f.tcp.law_table")) == len(law.rows)
    with pytest.raises(InputError, match="a share from 0 to 1"):
        cw.window_law(increase=lambda w: 1, keep=lambda w: 2)
    with pytest.raises(InputError, match="at least 0"):
        cw.window_law(increase=lambda w: -w, keep=lambda w: 0.5)


@pytest.mark.engine
def test_the_table_of_reno_behaves_like_reno() -> None:
    plain = cw.Scenario.from_toml(LONG)
    table = cw.window_law(increase=lambda w: 1.0, keep=lambda w: 0.5).on(plain)
    flows = cw.run({"reno": plain, "table": table}).flows()
    a, b = flows.row(0, named=True), flows.row(1, named=True)
    assert b["goodput_bps"] == pytest.approx(a["goodput_bps"], rel=0.02)
    assert b["cwnd_max_bytes"] == pytest.approx(a["cwnd_max_bytes"], rel=0.05)
    assert abs(b["fast_recoveries"] - a["fast_recoveries"]) <= 1


@pytest.mark.engine
def test_highspeed_in_four_lines_of_python_grows_by_its_own_rule() -> None:
    law = cw.window_law(increase=lambda w: highspeed(w)[0], keep=lambda w: highspeed(w)[1])
    plain = cw.Scenario.from_toml(LONG).with_({"link.x.rate": "100 Mbit/s", "link.x.queue.limit": "400 packets"})
    plain = plain.with_({"flow.f.tcp.receive_buffer": "4 MB", "flow.f.tcp.send_buffer": "4 MB", "duration": "60 s"})
    flows = cw.run({"reno": plain, "highspeed": law.on(plain)}).flows()
    reno, fast = flows.row(0, named=True), flows.row(1, named=True)
    assert fast["fast_recoveries"] > reno["fast_recoveries"]
    assert fast["goodput_bps"] >= 0.95 * reno["goodput_bps"]

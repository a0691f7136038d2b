"""How the cases of [draft-ietf-ccwg-bbr] are declared: one flow, one queue, the law's state every millisecond."""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind.reproduce import Results, Scenario, Study
from crosswind.reproduce.claims.book import book
from crosswind.results import Runs

PACKET_B, PAYLOAD_B = 1500, 1448
#: States as the time series `bbr_state` numbers them.
STARTUP, DRAIN, DOWN, CRUISE, REFILL, UP, PROBE_RTT = range(7)


class Line(NamedTuple):
    """The only bottleneck."""

    mbps: float = 10.0
    rtt_ms: float = 40.0
    packets: int = 67

    @property
    def payload_mbps(self) -> float:
        """What it carries of data."""
        return self.mbps * PAYLOAD_B / PACKET_B

    @property
    def product_b(self) -> float:
        """Data in one round trip."""
        return self.payload_mbps * 1e6 / 8 * self.rtt_ms / 1e3


def scenario(
    line: Line,
    seconds: float,
    *,
    sample: str = "1 ms",
    timeline: list[dict[str, Any]] | None = None,
    line_keys: dict[str, Any] | None = None,
    others: dict[str, Any] | None = None,
    **flow: Any,
) -> Scenario:
    """A flow of BBR over the line; its round trip without queues is as given, the time on the line included.

    `line_keys` change the line, `others` are more flows, `flow` changes the flow of BBR.
    """
    on_line_ms = PACKET_B * 8 / line.mbps / 1e3
    own = {
        "from": "sender",
        "to": "receiver",
        "rate": f"{line.mbps * 1e6:.0f} bit/s",
        "delay": f"{max(line.rtt_ms - on_line_ms, 0.02) / 2:g} ms",
        "queue": {"type": "droptail", "limit": f"{line.packets} packets"},
        "reverse": {
            "type": "wire",
            "rate": "10 Gbit/s",
            "queue": {"type": "droptail", "limit": "100000 packets"},
            "loss": "none",
        },
    }
    tcp = {"preset": "bbr3", "delayed_ack": "0 s", "sack_compression": "0 s"}
    one = {"from": "sender", "to": "receiver", "workload": {"type": "bulk"}, "tcp": tcp} | flow
    flows = {"one": one} | (others or {})
    link = {"line": own | (line_keys or {})}
    whole: dict[str, Any] = {"name": "bbr3", "duration": f"{seconds:g} s", "link": link, "flow": flows}
    whole["record"] = {"sample": sample, "sampled": ["one"]}
    return Scenario.from_dict(whole | ({"timeline": timeline} if timeline else {}))


Vector = npt.NDArray[np.float64]


@lru_cache(maxsize=32)
def _series(runs: Runs, cell: str) -> pl.DataFrame:
    """All that was sampled of the flow of one case: every measure asks for it, and it lies in many files."""
    return runs.only(cell).sample(entity="one").sort("rep", "metric", "time_ns")


class Probe:
    """The law's state in one repetition. A series that exists at times only is filled with what is given."""

    def __init__(self, r: Results, cell: str, rep: int) -> None:
        self._series = _series(r.runs, cell).filter(pl.col("rep") == rep)
        states = self._series.filter(pl.col("metric") == "bbr_state")
        self.t, self.state = states["time_ns"].to_numpy() / 1e9, states["value"].to_numpy()

    def get(self, metric: str, missing: float = np.inf) -> Vector:
        """A series on the times of the states."""
        s = self._series.filter(pl.col("metric") == metric)
        out = np.full(len(self.t), missing)
        if not s.is_empty():
            out[np.searchsorted(self.t, s["time_ns"].to_numpy() / 1e9 - 1e-9)] = s["value"].to_numpy()
        return out

    def stays(self, state: int) -> list[tuple[int, int]]:
        """First and last sample of each stay in a state."""
        there = np.flatnonzero(self.state == state)
        if len(there) == 0:
            return []
        cuts = np.flatnonzero(np.diff(there) > 1)
        first, last = np.r_[there[0], there[cuts + 1]], np.r_[there[cuts], there[-1]]
        return [(int(a), int(b)) for a, b in zip(first, last, strict=True)]

    def sequence(self) -> list[int]:
        """The states in their order."""
        changes = np.r_[0, np.flatnonzero(np.diff(self.state)) + 1]
        return [int(s) for s in self.state[changes]]


STUDY = Study("bbr-draft", "[draft-ietf-ccwg-bbr]", book(__file__), reps=5, quick_reps=1)

"""What BBR and CUBIC are compared in: fourteen scenarios of one bottleneck, most of 10 Mbit/s and 40 ms."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import crosswind as cw

# The kernel's paced segments leave in bursts, here in pairs.
TCP = {
    "BBR": {"preset": "linux-6-bbr", "pacing_burst": "linux"},
    "CUBIC": {"preset": "linux-6-cubic"},
}
SECONDS = 25
"""BBR's small window comes twice."""
PAYLOAD_B, PACKET_B = 1448, 1500
Table = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """The bottleneck and its flows; each flow begins within 20 ms of its time, so that no two repetitions are alike."""

    name: str
    about: str
    mbps: float = 10.0
    rtts_ms: tuple[float, ...] = (40.0,)
    products: float = 1.0
    """Length of the queue in products of rate and the first round trip."""
    laws: tuple[tuple[str, ...], ...] = (("BBR",), ("CUBIC",))
    """Who runs: each entry is a run, with the law of each of its flows."""
    starts_s: tuple[float, ...] = (0.0,)
    link: Table = field(default_factory=dict)
    changes: tuple[Table, ...] = ()
    workload: Table = field(default_factory=lambda: {"type": "bulk"})

    @property
    def limit_bytes(self) -> int:
        return round(self.products * self.mbps * 1e6 / 8 * self.rtts_ms[0] / 1e3)

    def flows(self, laws: tuple[str, ...]) -> list[str]:
        """Names of the flows of a run, in order."""
        return [law.lower() if len(set(laws)) > 1 else ("first", "second")[i] for i, law in enumerate(laws)]

    def scenario(self, laws: tuple[str, ...]) -> cw.Scenario:
        """One run, simulated or between real hosts. Access links carry what the round trips differ by."""
        queue = {"type": "droptail", "limit": f"{self.limit_bytes} B"}
        bottleneck = {"from": "router", "to": "client", "rate": f"{self.mbps * 1e6:.0f} bit/s", "delay": "5 ms"}
        links: Table = {"bottleneck": bottleneck | {"queue": queue, "reverse": {"queue": LONG}} | self.link}
        flows: Table = {}
        for i, (name, law) in enumerate(zip(self.flows(laws), laws, strict=True)):
            rtt, start = (values[min(i, len(values) - 1)] for values in (self.rtts_ms, self.starts_s))
            access = {"from": f"{name}-host", "to": "router", "rate": "100 Mbit/s", "queue": LONG}
            links[f"access-{name}"] = access | {"delay": f"{rtt / 2 - 5:g} ms"}
            flows[name] = {
                "from": f"{name}-host",
                "to": "client",
                "start": {"uniform": [f"{start * 1e3:g} ms", f"{start * 1e3 + 20:g} ms"]},
                "workload": self.workload,
                "transport": "tcp",
                "tcp": TCP[law],
            }
        whole: Table = {"name": f"twin-{self.name}", "duration": f"{SECONDS} s", "link": links, "flow": flows}
        whole["record"] = {"sample": "50 ms"}
        return cw.Scenario.from_dict(whole | ({"timeline": list(self.changes)} if self.changes else {}))


LONG: Table = {"type": "droptail", "limit": "2000 packets"}


def _change(seconds: float, **values: str) -> Table:
    return {"at": f"{seconds:g} s", "link": "bottleneck", "direction": "forward", "set": values}


def _policer() -> Table:
    """A bucket with room for one packet behind it: what the bucket does not let pass at once is dropped.

    The link behind it is faster than the access, so that packets wait for the bucket only.
    """
    bucket = {"type": "tbf", "rate": "10 Mbit/s", "burst": f"{50 * PACKET_B} B"}
    return {"queue": bucket | {"queue": {"type": "droptail", "limit": f"{PACKET_B} B"}}}


def _losing(share: float) -> Table:
    """Data is lost at random, acknowledgements are not."""
    return {"loss": {"type": "uniform", "probability": share}, "reverse": {"queue": LONG, "loss": "none"}}


HALF: Table = {"type": "cbr", "payload": f"{PAYLOAD_B} B", "interval": "2.4 ms"}
SAME = (("BBR", "BBR"), ("CUBIC", "CUBIC"))
MIXED = (("BBR", "CUBIC"),)
PATHS = (
    Case("clean", "a queue of one product of rate and round trip"),
    Case("lossy", "one packet in a hundred lost", products=2.0, link=_losing(0.01)),
    Case("shallow", "a queue of a quarter of a product", products=0.25),
    Case("deep", "a queue of eight products", products=8.0),
    Case("far", "a round trip of 150 ms", rtts_ms=(150.0,)),
    Case("fast", "50 Mbit/s and 20 ms", mbps=50.0, rtts_ms=(20.0,)),
    Case("two-rtts", "two flows of one law, 30 and 120 ms", rtts_ms=(30.0, 120.0), products=2.0, laws=SAME),
    Case("late", "a second flow of the same law after 8 s", products=2.0, laws=SAME, starts_s=(0.0, 8.0)),
    Case("beside-shallow", "BBR beside CUBIC, a queue of one product", laws=MIXED),
    Case("beside-deep", "BBR beside CUBIC, a queue of four products", products=4.0, laws=MIXED),
    Case("policer", "a policer of 10 Mbit/s and 50 packets in a link of 1 Gbit/s", mbps=1000.0, link=_policer()),
    Case("delay-step", "40 ms, 80 ms from 8 s to 16 s", products=2.0,
         changes=(_change(8, delay="45 ms"), _change(16, delay="5 ms"))),
    Case("rate-step", "10 Mbit/s, 5 from 8 s to 16 s", products=2.0,
         changes=(_change(8, rate="5 Mbit/s"), _change(16, rate="10 Mbit/s"))),
    Case("half", "an application that offers half of the rate", workload=HALF),
)  # fmt: skip

"""What does LTCP gain between two Linux hosts: transfers, several flows, and beside UDP?

Two hosts back to back, limited by their buses to 750 to 800 Mbit/s (here 775 Mbit/s) and delayed by netem: round
trips of 25, 70 and 150 ms. Losses come from the queue of the sending host, 1000 packets long (5000 beside UDP).
Tables VII and VIII: 100 GB in 50 transfers of 2 GB. Table IX: 2 to 10 flows for 900 s. Figure 35: beside 350 Mbit/s
of UDP, 5 minutes on and 5 off. (Table VI, one flow, is `t6`.)

What the source printed: the tables; in words for figure 35: LTCP shares when UDP is on and comes back when it is off.

What may differ here: this is a simulation of those hosts, not of their kernel 2.4.25: one queue, segments of 1448
bytes, an ACK for every second segment, K_R as in the other experiments, a processing time of up to one packet per
packet. Table IX runs 900 s per set, as table VI. Transfers are one after the other with pauses. `--quick` divides
rate, queue, W_T and time by ten (sizes by a hundred), with 10 transfers: the cycles of TCP and LTCP have that scale.

B85, B86 and B88: our TCP is faster than the source's. The printed transfer times (2 GB in 170.7 s at 150 ms, 73.9 s
at 70 ms, hardly any spread) are those of a window that grows by half a segment a round trip, as delayed ACKs make it,
from 990 and 1110 segments: the kernel's first slow start ended far below the path, each time alike, near the 1000
packets that its queue holds. Ours ends at 3400 and 1900 segments, when the queue overflows and its losses are known a
round trip later; that kernel is told by its own host's full queue at once, halves, and loses nothing
(`tcp_enter_cwr`), which is the probable cause and which these hosts do not do. If it ends at 1000 (variant
`slow-start-1000`; one transfer of full size), 2 GB take TCP 172 s and 80 s and LTCP 75 s and 39 s (printed 82.9 and
37.3), and in 900 s TCP has 193 and 551 Mbit/s, LTCP 693 and 742: the ratios of tables VI and VII at 70 and 150 ms are
then the source's. At a tenth of the size one round trip of LTCP's growth weighs ten times as much, which costs it the
margin at 25 ms as well.

B87: in rows of two flows (and of four at 25 and 150 ms) LTCP is the less fair in one seed or another, both near 0.99
(three seeds of `--quick`: two flows of TCP 0.984 to 0.999, of LTCP 0.978 to 0.9998); from six flows on LTCP is fairer
in each row and seed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind import figures
from crosswind.claims import MissingDataError, Part, at_least, between, near, within, yes
from crosswind.experiments.base import Results, Variant
from crosswind.experiments.bhandarkar_2006 import measures, nets, study
from crosswind.figures import Picture
from crosswind.scenario import Scenario
from crosswind.stats import Estimate, exact

CLASSES = {"low": 25, "moderate": 70, "high": 150}
PROTOCOLS = ("TCP", "LTCP")
COUNTS = (2, 4, 6, 8, 10)
CAPACITY, QUEUE, WIDE_QUEUE = 775.0, 1000, 5000
MSS, WIRE_SIZE = 1448, 1500
TRANSFER_bytes = 2_097_152_000


class Size:
    """What full size and `--quick` differ in."""

    def __init__(self, size: str, first_segments: int = 0) -> None:
        self.scale = 1.0 if size == "full" else 0.1
        self.transfers = 50 if size == "full" else 10
        # Where the first slow start ends, in segments of full size; 0: where the queue overflows.
        self.first_segments = first_segments

    def flow(self, protocol: str, **changes: Any) -> dict[str, Any]:
        """A flow between the hosts."""
        host: dict[str, Any] = {"mss": f"{MSS} B", "delayed_ack": "40 ms", "ack_every_segments": 2}
        own: dict[str, Any] = {"ltcp": {"threshold": 50 * self.scale}} if protocol == "LTCP" else {}
        if self.first_segments:
            own["initial_ssthresh"] = f"{int(self.first_segments * self.scale) * MSS} B"
        flow = nets.bulk({"TCP": "SACK"}.get(protocol, protocol), **host, **own)
        return {**flow, "from": "sender", "to": "receiver", **changes}

    def world(
        self, name: str, rtt_ms: float, flows: dict[str, Any], seconds: float, sample_s: float, queue: int = QUEUE
    ) -> Scenario:
        """The two hosts; `seconds` and `sample_s` are those of full size."""
        rate = CAPACITY * self.scale
        packet_us = WIRE_SIZE * 8 / rate
        line = nets.wire(rate, rtt_ms / 2, nets.droptail(queue * self.scale))
        bus = nets.wire(10 * CAPACITY, 0, jitter=f"{packet_us:.3f} us")
        bus |= {"type": "detour", "reverse": {**bus["reverse"], "jitter": "0 s"}}
        links = {
            "bus": {"from": "sender", "to": "card", **bus},
            "bottleneck": {"from": "card", "to": "receiver", **line},
        }
        record = {"sample": f"{sample_s * self.scale:.3f} s", "series": "totals"}
        data = {"name": nets.slug(name), "title": name, "duration": f"{seconds * self.scale:.3f} s", "link": links}
        return Scenario.from_dict({**data, "flow": flows, "record": record})


def configurations(size: str = "full", first_segments: int = 0) -> dict[str, Scenario]:
    """`t8 <class> <protocol>`, `t9 <class> <n> <protocol>`, `f35`, with the end of the first slow start."""
    s = Size(size, first_segments)
    out = {}
    for c, rtt in CLASSES.items():
        for p in PROTOCOLS:
            start = {"uniform": ["0 s", f"{s.scale} s"]}
            # A pause that no transfer exceeds: 2 GB take 250 s at 67 Mbit/s.
            pause = 250 * s.scale
            bulk = {"type": "bulk", "size": f"{int(TRANSFER_bytes * s.scale**2)} B"}
            flows = {f"transfer{k}": s.flow(p, start=f"{k * pause:.3f} s", workload=bulk) for k in range(s.transfers)}
            name = f"t8 {c} {p}"
            out[name] = s.world(name, rtt, flows, 250 * (s.transfers + 1), 250)
            for n in COUNTS:
                name = f"t9 {c} {n} {p}"
                out[name] = s.world(name, rtt, {"one": s.flow(p, count=n, start=start)}, 902, 2)
    period = f"{300 * s.scale:.1f} s"
    wave = {"type": "on-off", "payload": "1472 B", "rate": f"{350 * s.scale} Mbit/s", "on": period, "off": period}
    udp = {"from": "sender", "to": "receiver", "workload": {**wave, "first": "off"}}
    out["f35"] = s.world("f35", CLASSES["moderate"], {"one": s.flow("LTCP"), "udp": udp}, 1800, 5, WIDE_QUEUE)
    return out


def size_of(r: Results) -> Size:
    """The size that these results have."""
    return Size(str(r.runs.manifest.get("size", "full")))


def transfers(r: Results, c: str, protocol: str) -> npt.NDArray[np.float64]:
    """Seconds of full size of each transfer of the first repetition."""
    flows = r.runs.only(f"t8 {c} {protocol}").flows().filter(pl.col("rep") == 0)
    done = flows.filter(pl.col("close_ns") >= 0)
    if done.height < flows.height:
        raise MissingDataError(f"{flows.height - done.height} transfers were not finished")
    return done["elapsed_ns"].to_numpy() / 1e9 / size_of(r).scale


def _times(c: str) -> Callable[[Results], Estimate]:
    return lambda r: exact(float(transfers(r, c, "TCP").sum() / transfers(r, c, "LTCP").sum()))


def _spread(c: str, p: str) -> Callable[[Results], Estimate]:
    return lambda r: exact(float(transfers(r, c, p).std(ddof=1)), transfers(r, c, p).size)


def _wider(c: str) -> Callable[[Results], Estimate]:
    return lambda r: yes(transfers(r, c, "LTCP").std(ddof=1) > transfers(r, c, "TCP").std(ddof=1))


def jain(r: Results, c: str, n: int, p: str) -> float:
    """Jain's index of a row of table IX."""
    return measures.mean_value(r, f"t9 {c} {n} {p}", "one_jain")


ROWS = [(c, n) for c in CLASSES for n in COUNTS]


def _fairer(r: Results) -> Estimate:
    """Rows of table IX in which LTCP is not less fair than TCP, to the three digits of the table."""
    found = [round(jain(r, c, n, "LTCP"), 3) >= round(jain(r, c, n, "TCP"), 3) for c, n in ROWS]
    return exact(float(np.sum(found)), len(found))


def _least_jain(p: str) -> Callable[[Results], Estimate]:
    return lambda r: exact(min(jain(r, c, n, p) for c, n in ROWS))


def _sum(n: int, p: str) -> Callable[[Results], Estimate]:
    return lambda r: exact(measures.mean_value(r, f"t9 high {n} {p}", "one_sum_bps") / 1e6 / size_of(r).scale)


def _more(r: Results) -> Estimate:
    return exact(_sum(2, "LTCP")(r).value / _sum(2, "TCP")(r).value)


def over_time(r: Results, flow: str) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Time in s and Mbit/s, both of full size, of a flow of figure 35."""
    s = size_of(r)
    sizes = r.runs.only("f35").sample("size_bytes", flow).filter(pl.col("rep") == 0).sort("time_ns")
    if sizes.height < 3:
        raise MissingDataError("no samples of figure 35")
    t, v = sizes["time_ns"].to_numpy() / 1e9, sizes["value"].to_numpy()
    return t[1:] / s.scale, np.diff(v) * 8 / 1e6 / np.diff(t) / s.scale


def _period(which: str, share: Callable[[list[float]], float]) -> Callable[[Results], Estimate]:
    """Mean of LTCP in the second half of each period with or without UDP; the least or largest of them."""

    def measure(r: Results) -> Estimate:
        t, x = over_time(r, "one")
        number = np.floor(t / 300).astype(int)
        late = t / 300 - number > 0.5
        wanted = [k for k in range(1, 6) if (k % 2 == 1) == (which == "on")]
        return exact(share([float(x[(number == k) & late].mean()) for k in wanted]))

    return measure


def pictures(r: Results) -> list[Picture]:
    """Table IX as bars, figure 35."""
    t9 = {p: {f"{c} {n}": jain(r, c, n, p) for c, n in ROWS} for p in PROTOCOLS}
    f35 = {"LTCP": over_time(r, "one"), "UDP": over_time(r, "udp")}
    return [
        figures.bars("t9", "Jain's index by class and number of flows (table IX).", t9, "Jain's index"),
        figures.over_time("f35", "LTCP beside UDP (figure 35).", f35, "Mbit/s"),
    ]


VARIANTS = {"slow-start-1000": Variant("the first slow start ends at 1000 segments", {"first_segments": 1000})}
# Least and largest accepted, printed.
T7 = {"low": (0.95, 1.05, "1.00"), "moderate": (1.5, 2.6, "1.98"), "high": (1.5, 2.6, "2.06")}
CLAIMS = (
    study.claim(
        85,
        "100 GB take TCP about twice as long on long paths",
        "table VII",
        *[Part(c, _times(c), between(low, high), text, digits=2) for c, (low, high, text) in T7.items()],
    ),
    study.claim(
        86,
        "times of transfers vary more with LTCP",
        "table VIII",
        *[study.holds(c, _wider(c)) for c in ("moderate", "high")],
        *[
            Part(f"{p}, {c}, reported", _spread(c, p), published=v, unit="s", digits=2)
            for c, p, v in (
                ("moderate", "TCP", "0.23"),
                ("moderate", "LTCP", "7.45"),
                ("high", "TCP", "0.49"),
                ("high", "LTCP", "18.22"),
            )
        ],
    ),
    study.claim(
        87,
        "LTCP flows share more equally than TCP flows, in all 15 rows",
        "table IX",
        Part("rows", _fairer, between(15, 15), "15", digits=0),
        Part("least of LTCP", _least_jain("LTCP"), at_least(0.98), "0.983", digits=3),
        Part("least of TCP, reported", _least_jain("TCP"), published="0.815", digits=3),
    ),
    study.claim(
        88,
        "at 150 ms LTCP flows fill more of the link (25 % more or less: our number)",
        "table IX",
        Part("LTCP over TCP, n = 2", _more, within(2.2, 0.25), "2.2", digits=2),
        *[
            Part(f"{p}, n = {n}, reported", _sum(n, p), published=v, unit="Mbit/s", digits=0)
            for n, p, v in ((2, "TCP", "257"), (2, "LTCP", "573"), (10, "TCP", "661"), (10, "LTCP", "696"))
        ],
    ),
    study.claim(
        89,
        "beside UDP LTCP takes what is left, and comes back, every time (10 % of the capacity: our number)",
        "figure 35",
        Part("least with UDP", _period("on", min), near(0.965 * (CAPACITY - 350), 78), "410", "Mbit/s", 0),
        Part("largest with UDP", _period("on", max), near(0.965 * (CAPACITY - 350), 78), "410", "Mbit/s", 0),
        Part("least without", _period("off", min), at_least(0.9 * 0.965 * CAPACITY), "748", "Mbit/s", 0),
    ),
)

EXPERIMENT = study.experiment(
    "t7-t9",
    "Two Linux hosts, simulated: transfers and several flows",
    __doc__,
    configurations,
    CLAIMS,
    where="tables VII to IX, figure 35",
    figures=pictures,
    reps=1,
    quick=study.smaller("a tenth of rate, queue, W_T and time, 10 transfers of a hundredth"),
    variants=VARIANTS,
)

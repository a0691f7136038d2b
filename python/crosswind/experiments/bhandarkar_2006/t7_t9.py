"""What does LTCP gain between two Linux hosts: transfers, several flows, and beside UDP?

Two hosts back to back, limited by their buses to 750 to 800 Mbit/s (here 775 Mbit/s) and delayed by netem: round
trips of 25, 70 and 150 ms. Losses come from the queue of the sending host, 1000 packets long (5000 beside UDP).
Tables VII and VIII: 100 GB in 50 transfers of 2 GB. Table IX: 2 to 10 flows for 900 s. Figure 35: beside 350 Mbit/s
of UDP, 5 minutes on and 5 off. (Table VI, one flow, is `t6`.)

What the source printed: the tables; in words for figure 35: LTCP shares when UDP is on and comes back when it is off.

What may differ here: this is a simulation of those hosts: segments of 1448 bytes, an ACK for every second segment,
K_R as in the other experiments, a processing time of up to one packet per packet. Two habits of kernel 2.4 are there:
a full queue of the host tells its sender at once (`tcp_enter_cwr`: the window falls, nothing is lost; `host_queue`),
and hosts remember the slow-start threshold of transfers that have ended. Beside UDP, which fills the queue too, it
drops. The delay is constant, as the source says; with that kernel's clock of 10 ms (variant `clock-10-ms`) netem
would let packets go in bursts. Transfers are one after the other with pauses. One seed: it is ten billion packets, and
the fifty transfers of table VIII are the source's own repetitions. `--quick` divides rate, queue, W_T and
time by ten (sizes by a hundred), with 10 transfers: the cycles of TCP and LTCP have that scale, but not the first slow
start, whose 2.4 s at 150 ms count tenfold in transfers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind import figures
from crosswind.experiments.bhandarkar_2006 import nets, study
from crosswind.reproduce import Picture, Quantity, Results, Scenario, measured, needed
from crosswind.reproduce.claims.quantities import least, mean
from crosswind.stats import Estimate, exact

CLASSES = {"low": 25, "moderate": 70, "high": 150}
PROTOCOLS = ("TCP", "LTCP")
COUNTS = (2, 4, 6, 8, 10)
CAPACITY, QUEUE, WIDE_QUEUE = 775.0, 1000, 5000
MSS, WIRE_SIZE = 1448, 1500
TRANSFER_bytes = 2_097_152_000


@dataclass(frozen=True)
class Hosts:
    """What is known of the kernels, and what they would be without it."""

    # A full queue tells the sender, and nothing is lost; else it drops.
    tells: bool = True
    # The slow-start threshold of ended connections.
    remembers: bool = True
    # The clock of netem, which has all of the delay on the way back; 0: an exact one.
    clock_ms: float = 0.0


class Size:
    """What full size and `--quick` differ in."""

    def __init__(self, size: str, hosts: Hosts | None = None) -> None:
        self.scale = 1.0 if size == "full" else 0.1
        self.transfers = 50 if size == "full" else 10
        self.hosts = hosts or Hosts()

    def flow(self, protocol: str, **changes: Any) -> dict[str, Any]:
        """A flow between the hosts."""
        own: dict[str, Any] = {"mss": f"{MSS} B", "timestamps": "on", "delayed_ack": "40 ms", "ack_every_segments": 2}
        # Theirs is kernel 2.4, not ns-2.
        own["rto_min"] = "0.2 s"
        if protocol == "LTCP":
            own["ltcp"] = {"threshold": 50 * self.scale}
        if self.hosts.tells:
            own["host_queue"] = {"limit_segments": round(QUEUE * self.scale), "rate": f"{CAPACITY * self.scale} Mbit/s"}
        if self.hosts.remembers:
            own["share_ssthresh"] = "on"
        flow = nets.bulk({"TCP": "SACK"}.get(protocol, protocol), **own)
        return {**flow, "from": "sender", "to": "receiver", **changes}

    def world(
        self, name: str, rtt_ms: float, flows: dict[str, Any], seconds: float, sample_s: float, queue: int = 0
    ) -> Scenario:
        """The two hosts; `seconds` and `sample_s` are those of full size, and so is `queue`, which drops."""
        rate = CAPACITY * self.scale
        packet_us = WIRE_SIZE * 8 / rate
        # Where the host keeps packets back, the line behind it has room for all.
        room = queue or (10 if self.hosts.tells else 1) * QUEUE
        line = nets.wire(rate, rtt_ms / 2, nets.droptail(room * self.scale))
        if self.hosts.clock_ms:
            line |= {"type": "reordering", "reverse": {**line["reverse"], "tick": f"{self.hosts.clock_ms} ms"}}
        bus = nets.wire(10 * CAPACITY, 0, jitter=f"{packet_us:.3f} us")
        bus |= {"type": "reordering", "reverse": {**bus["reverse"], "jitter": "0 s"}}
        links = {
            "bus": {"from": "sender", "to": "card", **bus},
            "bottleneck": {"from": "card", "to": "receiver", **line},
        }
        return nets.world(name, links, flows, f"{seconds * self.scale:.3f} s", f"{sample_s * self.scale:.3f} s")


def configurations(size: str = "full", **hosts: Any) -> dict[str, Scenario]:
    """`t8 <class> <protocol>`, `t9 <class> <n> <protocol>`, `f35`, between such hosts."""
    s = Size(size, Hosts(**hosts))
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
    # UDP fills the queue too, which is one for both: it drops.
    beside_udp = Size(size, Hosts(tells=False))
    flows_f35 = {"one": beside_udp.flow("LTCP"), "udp": udp}
    out["f35"] = beside_udp.world("f35", CLASSES["moderate"], flows_f35, 1800, 5, WIDE_QUEUE)
    return out


def size_of(r: Results) -> Size:
    """The size that these results have."""
    return Size(r.size)


@measured
def transfers(r: Results, c: str, protocol: str) -> npt.NDArray[np.float64]:
    """Seconds of full size of each transfer of the first repetition."""
    flows = r.runs.only(f"t8 {c} {protocol}").flows().filter(pl.col("rep") == 0)
    done = flows.filter(pl.col("elapsed_ns") >= 0)
    needed(done.height >= flows.height, f"{flows.height - done.height} transfers were not finished")
    return done["elapsed_ns"].to_numpy() / 1e9 / size_of(r).scale


def _deviation(c: str, p: str) -> Quantity:
    return transfers(c, p).then(lambda t: t.std(ddof=1))


ROWS = [(c, n) for c in CLASSES for n in COUNTS]


def jain(c: str, n: int, p: str) -> Quantity:
    """Jain's index of a row of table IX."""
    return mean(f"t9 {c} {n} {p}", "one_jain")


def _fairer(r: Results) -> Estimate:
    """Rows of table IX in which LTCP is not less fair than TCP, to the three digits of the table."""
    found = [round(jain(c, n, "LTCP")(r), 3) >= round(jain(c, n, "TCP")(r), 3) for c, n in ROWS]
    return exact(float(np.sum(found)), len(found))


@measured
def _sum(r: Results, n: int, p: str) -> float:
    return r.mean(f"t9 high {n} {p}", "one_sum_bps") / 1e6 / size_of(r).scale


def over_time(r: Results, flow: str) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Time in s and Mbit/s, both of full size, of a flow of figure 35."""
    s = size_of(r)
    t, v = r.series("f35", "size_bytes", flow)
    return t[1:] / s.scale, np.diff(v) * 8 / 1e6 / np.diff(t) / s.scale


@measured
def _period(r: Results, which: str, share: Callable[[list[float]], float]) -> float:
    """Mean of LTCP in the second half of each period with or without UDP; the least or largest of them."""
    t, x = over_time(r, "one")
    number = np.floor(t / 300).astype(int)
    late = t / 300 - number > 0.5
    wanted = [k for k in range(1, 6) if (k % 2 == 1) == (which == "on")]
    return share([float(x[(number == k) & late].mean()) for k in wanted])


def pictures(r: Results) -> list[Picture]:
    """Table IX as bars, figure 35."""
    t9 = {p: {f"{c} {n}": jain(c, n, p)(r) for c, n in ROWS} for p in PROTOCOLS}
    f35 = {"LTCP": over_time(r, "one"), "UDP": over_time(r, "udp")}
    rows = study.rows("t9_jain.csv")
    known = {
        p: {f"{x['rtt'].lower()} {x['n']}": float(x["jain"]) for x in rows if x["protocol"] == p} for p in PROTOCOLS
    }
    return [
        figures.bars("t9", "Jain's index by class and number of flows (table IX).", t9, "Jain's index", known),
        figures.over_time("f35", "LTCP beside UDP (figure 35).", f35, "Mbit/s"),
    ]


CLAIMS = {
    "B85": {c: transfers(c, "TCP").then(np.sum) / transfers(c, "LTCP").then(np.sum) for c in CLASSES},
    "B86": {
        **{c: _deviation(c, "LTCP") > _deviation(c, "TCP") for c in ("moderate", "high")},
        **{
            f"{p}, {c}, reported": transfers(c, p).then(lambda t: exact(float(t.std(ddof=1)), t.size))
            for c in ("moderate", "high")
            for p in PROTOCOLS
        },
    },
    "B87": {
        "rows": _fairer,
        "least of LTCP": least(jain(*row, "LTCP") for row in ROWS),
        "least of TCP, reported": least(jain(*row, "TCP") for row in ROWS),
    },
    "B88": {
        **{f"LTCP over TCP, n = {n}": _sum(n, "LTCP") / _sum(n, "TCP") for n in (2, 10)},
        **{f"{p}, n = {n}, reported": _sum(n, p) for n in (2, 10) for p in PROTOCOLS},
    },
    "B89": {
        "least with UDP": _period("on", min),
        "largest with UDP": _period("on", max),
        "least without": _period("off", min),
    },
}

EXPERIMENT = study.experiment(
    __name__,
    "Two Linux hosts, simulated: transfers and several flows",
    where="tables VII to IX, figure 35",
    reps=1,
    quick=study.smaller("a tenth of rate, queue, W_T and time, 10 transfers of a hundredth"),
)

"""Do two flows share a queue of today fairly when their round trips differ?

Two greedy flows for 180 s over 10 or 50 Mbit/s, each with a round trip of its own (10 to 160 ms), behind DualPI2,
FQ-CoDel or drop-tail; goodput is the mean of the 60 s that end 2 s before the end.

What the source printed: one run of each of 192 rows (scenario 1), CUBIC and Prague 0.5 in all pairs, on Linux of
August 2020.

What may differ here: the rows of cnq_codel_af, which is not built, are left out. CUBIC there agreed on AccECN with the
same answer to marks, here on classic ECN. The bottleneck there counts 1514 bytes for a packet of 1500; here the line is
slower by as much. The flows start within 50 ms of each other (our choice: the source starts them together), three
repetitions instead of one. One row is run with Prague 0.6 as well, of which the source has no figure.
"""

from typing import Any

import numpy as np

from crosswind import figures
from crosswind.experiments.l4s_tests import study
from crosswind.experiments.l4s_tests.study import RTT_FAIRNESS, Row
from crosswind.reproduce import Picture, Results, Scenario, measures

SECONDS, WINDOW_S = 180, (118, 178)
PACKET_B, FRAME_B = 1500, 1514
QUEUES: dict[str, dict[str, Any]] = {
    "dualpi2": {"type": "dualpi2", "profile": "linux"},
    "fq_codel": {"type": "fq-codel"},
    "pfifo(1000)": {"type": "droptail", "limit": "1000 packets"},
    "pfifo(200)": {"type": "droptail", "limit": "200 packets"},
}
LAWS: dict[str, dict[str, Any]] = {
    "cubic": {"preset": "linux-6-cubic", "ecn": "on"},
    "prague": {"preset": "prague-0.5"},
}
#: With round trips taken into account: the module of a year later.
LATER = LAWS | {"prague": {"preset": "prague"}}
ROWS = [r for r in RTT_FAIRNESS if r.queue in QUEUES and set(r.laws) <= set(LAWS)]
CELLS = {r.id: r.cell for r in ROWS}
FAR = "dualpi2 50: prague 160, prague 10"
FAR_LATER = f"{FAR} (0.6)"


def configurations() -> dict[str, Scenario]:
    """The rows that can be run, and one with a later Prague."""
    cells = {r.cell: scenario_of(r, QUEUES[r.queue], LAWS, SECONDS) for r in ROWS}
    far = next(r for r in ROWS if r.cell == FAR)
    return cells | {FAR_LATER: scenario_of(far, QUEUES[far.queue], LATER, SECONDS)}


def scenario_of(row: Row, queue: dict[str, Any], laws: dict[str, dict[str, Any]], seconds: int) -> Scenario:
    """Two hosts with lines of their own to the queue; each line has half of the round trip each way."""
    bottleneck = {"from": "middle", "to": "server", "delay": "0 ms", "queue": queue}
    bottleneck["rate"] = f"{row.rate_mbps * 1_000_000 * PACKET_B // FRAME_B} bit/s"
    links: dict[str, Any] = {"bottleneck": bottleneck}
    flows: dict[str, Any] = {}
    for name, law, rtt in zip(study.BOTH, row.laws, row.rtts_ms, strict=True):
        links[name] = {
            "from": f"{name}-host",
            "to": "middle",
            "rate": "10 Gbit/s",
            "delay": f"{rtt / 2} ms",
            "queue": {"type": "droptail", "limit": "100000 packets"},
        }
        flows[name] = {
            "from": f"{name}-host",
            "to": "server",
            "start": {"uniform": ["0 s", "50 ms"]},
            "workload": {"type": "bulk"},
            "tcp": laws[law],
        }
    record = {"sample": "2 s", "series": "totals", "sampled": list(study.BOTH)}
    whole = {"name": "two-flows", "duration": f"{seconds} s", "link": links, "flow": flows, "record": record}
    return Scenario.from_dict(whole)


def _cells(queue: str, rate: int) -> list[Row]:
    return [r for r in ROWS if r.queue == queue and r.rate_mbps == rate]


def _extreme(queue: str, rate: int, column: str, of: Any) -> Any:
    """The least or the largest mean of a column over the rows of a queue."""
    return lambda r: float(of([r.mean(row.cell, column) for row in _cells(queue, rate)]))


def _apart(r: Results, queue: str) -> float:
    """Jain's index of CUBIC over 160 ms beside CUBIC over 10 ms, at 50 Mbit/s."""
    return r.mean(f"{queue} 50: cubic 160, cubic 10", "jain")


def _ratio(cell: str) -> Any:
    """The second flow's rate over the first's."""
    return lambda r: 1 / r.mean(cell, "share") - 1


def _prague_over_cubic(r: Results, queue: str, rtt: int) -> float:
    """At 50 Mbit/s and equal round trips; both orders of the flows."""
    shares = [1 - r.mean(f"{queue} 50: cubic {rtt}, prague {rtt}", "share")]
    shares.append(r.mean(f"{queue} 50: prague {rtt}, cubic {rtt}", "share"))
    share = float(np.mean(shares))
    return share / (1 - share)


def _over(queue: str, rtt: int) -> Any:
    return lambda r: _prague_over_cubic(r, queue, rtt)


def _largest_mirrored(queue: str) -> Any:
    """Prague's share in a row of equal round trips less that in the same with the flows exchanged: the largest."""

    def value(r: Results) -> float:
        found = []
        for row in ROWS:
            if row.queue == queue and row.laws == ("prague", "cubic") and len(set(row.rtts_ms)) == 1:
                rtt = row.rtts_ms[0]
                other = f"{queue} {row.rate_mbps}: cubic {rtt}, prague {rtt}"
                found.append(abs(r.mean(row.cell, "share") - 1 + r.mean(other, "share")))
        return max(found)

    return value


def _between(r: Results, near: int, far: int) -> float:
    """Prague over CUBIC at a shorter round trip, over that at a longer one."""
    first, second = (_ratio(f"dualpi2 50: cubic {rtt}, prague {rtt}")(r) for rtt in (near, far))
    return first / second


def _least_of_equals(r: Results) -> float:
    """Jain's index behind DualPI2 of two flows with the same law and round trip: the least of all rows."""
    equal = [c for c in ROWS if c.queue == "dualpi2" and len(set(c.laws)) == len(set(c.rtts_ms)) == 1]
    return min(r.mean(c.cell, "jain") for c in equal)


def _far_rows(rate: int) -> list[Row]:
    return [row for row in _cells("dualpi2", rate) if row.rtts_ms == (160, 10)]


CLAIMS: dict[str, Any] = {
    **{r.id: measures.value(r.cell, "share", np.mean) for r in ROWS},
    "LT-O1": {f"{rtt} ms": _over("dualpi2", rtt) for rtt in (10, 20, 80)},
    "LT-O2": {"20 ms": _over("pfifo(1000)", 20)},
    "LT-O3": {"20 ms": _over("fq_codel", 20), "80 ms": _over("fq_codel", 80)},
    "LT-O4": {
        "largest share of 160 ms": lambda r: max(r.mean(c.cell, "share") for q in (10, 50) for c in _far_rows(q)),
        "Prague, 10 over 160 ms": _ratio(FAR),
    },
    "LT-O6": {
        "10 over 20 ms": lambda r: _prague_over_cubic(r, "dualpi2", 10) / _prague_over_cubic(r, "dualpi2", 20),
        "20 over 80 ms": lambda r: _prague_over_cubic(r, "dualpi2", 20) / _prague_over_cubic(r, "dualpi2", 80),
    },
    "LT-O9": {"DualPI2": _largest_mirrored("dualpi2"), "FQ-CoDel": _largest_mirrored("fq_codel")},
    "LT-O10": {"0.5 over 0.6": lambda r: _ratio(FAR)(r) / _ratio(FAR_LATER)(r)},
    "AQ6": {f"least at {rate} Mbit/s": _extreme("fq_codel", rate, "jain", min) for rate in (50, 10)},
    "AQ7": {
        "least": _extreme("fq_codel", 50, "sum_mbps", min),
        "largest": _extreme("fq_codel", 50, "sum_mbps", max),
    },
    "AQ22": {
        "FQ-CoDel over drop-tail": lambda r: _apart(r, "fq_codel") - _apart(r, "pfifo(1000)"),
        "drop-tail over DualPI2": lambda r: _apart(r, "pfifo(1000)") - _apart(r, "dualpi2"),
    },
    "AQ23": {
        **{f"{rtt} ms": _ratio(f"dualpi2 50: cubic {rtt}, prague {rtt}") for rtt in (10, 20, 80)},
        "10 over 20 ms": lambda r: _between(r, 10, 20),
        "20 over 80 ms": lambda r: _between(r, 20, 80),
    },
    "AQ24": {"least": _least_of_equals},
    **study.queue_claims(ROWS),
}


def pictures(r: Results) -> list[Picture]:
    """The first flow's share by row, with the printed one beside it."""
    known = [row for row in ROWS if row.goodputs_mbps]
    ours = {"first flow": {row.cell: r.mean(row.cell, "share") for row in known}}
    shares = {row.cell: row.goodputs_mbps[0] / sum(row.goodputs_mbps) for row in known if row.goodputs_mbps}
    return [figures.bars("shares", "Share of the first flow, by row.", ours, "share of both", {"first flow": shares})]


EXPERIMENT = study.STUDY.experiment(
    __name__, "Two flows of different round trips", where="scenario 1", tables=study.tables_of(*WINDOW_S)
)

"""Do two flows share a queue of today fairly when their round trips differ?

Two greedy flows for 180 s over 10 or 50 Mbit/s, each with a round trip of its own (10 to 160 ms), behind DualPI2,
FQ-CoDel or drop-tail; goodput is the mean of the 60 s that end 2 s before the end.

What the source printed: one run of each of 192 rows (scenario 1), CUBIC and Prague 0.5 in all pairs, on Linux of
August 2020.

What may differ here: the rows that need a queue or a law which is not built are left out (cnq_codel_af; Prague,
DualPI2). The bottleneck there counts 1514 bytes for a packet of 1500; here the line is slower by as much. The flows
start within 50 ms of each other (our choice: the source starts them together), three repetitions instead of one.
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
    "fq_codel": {"type": "fq-codel"},
    "pfifo(1000)": {"type": "droptail", "limit": "1000 packets"},
    "pfifo(200)": {"type": "droptail", "limit": "200 packets"},
}
LAWS: dict[str, dict[str, Any]] = {"cubic": {"preset": "linux-6-cubic", "ecn": "on"}}
ROWS = [r for r in RTT_FAIRNESS if r.queue in QUEUES and set(r.laws) <= set(LAWS)]
CELLS = {r.id: r.cell for r in ROWS}


def configurations() -> dict[str, Scenario]:
    """The rows that can be run."""
    return {r.cell: scenario_of(r, QUEUES[r.queue], LAWS, SECONDS) for r in ROWS}


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


CLAIMS: dict[str, Any] = {
    **{r.id: measures.value(r.cell, "share", np.mean) for r in ROWS},
    "AQ6": {"least at 50 Mbit/s": _extreme("fq_codel", 50, "jain", min)},
    "AQ7": {
        "least": _extreme("fq_codel", 50, "sum_mbps", min),
        "largest": _extreme("fq_codel", 50, "sum_mbps", max),
    },
    "AQ22": {"FQ-CoDel over drop-tail": lambda r: _apart(r, "fq_codel") - _apart(r, "pfifo(1000)")},
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

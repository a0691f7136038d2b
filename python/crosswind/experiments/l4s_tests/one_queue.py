"""What does Prague do to a classic flow in a queue that marks as RFC 3168 has it?

Prague beside CUBIC or Reno, with ECN and without, both over 20 ms, for 60 s in one queue of 50 Mbit/s; goodput is the
mean of the 40 s that end 2 s before the end.

What the source printed: one run of each of 24 rows (scenario 6): FQ-CoDel with one queue, PIE, RED; Prague 0.5
without its fall-back, on Linux of August 2020.

What may differ here: RED is the kernel's with what `tc` derives from the limit; its probability begins at 2 % and
adapts. A flow without ECN does not ask for it; there it did, and the middle box took its mark away. Otherwise as
`rtt_fairness`.
"""

from typing import Any

import numpy as np

from crosswind import figures
from crosswind.experiments.l4s_tests import study
from crosswind.experiments.l4s_tests.rtt_fairness import LAWS as OTHERS
from crosswind.experiments.l4s_tests.rtt_fairness import scenario_of
from crosswind.experiments.l4s_tests.study import ONE_QUEUE
from crosswind.reproduce import Picture, Results, Scenario, measures

SECONDS, WINDOW_S = 60, (18, 58)


def _red(limit: int) -> dict[str, Any]:
    """RED of `tc`, which derives all but the limit: a quarter and a twelfth of it are the thresholds."""
    least, most = limit // 12, limit // 4
    whole = {"type": "red-linux", "limit": f"{limit} B", "min_th": f"{least} B", "max_th": f"{most} B", "ecn": "mark"}
    burst = (2 * least + most) // (3 * 1000)
    return whole | {"avpkt": "1000 B", "burst": burst, "max_p": 0.02, "adaptive": True}


ONE: dict[str, Any] = {"type": "fq-codel", "flows": 1}
PIE: dict[str, Any] = {"type": "pie", "profile": "linux", "ecn": "mark"}
QUEUES: dict[str, dict[str, Any]] = {
    "fq_codel(1q)": ONE,
    "fq_codel(1q,1ms/20ms)": ONE | {"target": "1 ms", "interval": "20 ms"},
    "pie": PIE,
    "pie(100p/5ms)": PIE | {"limit": "100 packets", "target": "5 ms", "t_update": "32 ms", "alpha": 2, "beta": 20},
    "red(150000b)": _red(150_000),
    "red(400000b)": _red(400_000),
}
LAWS: dict[str, dict[str, Any]] = {
    "prague": OTHERS["prague"],
    "cubic-ecn": OTHERS["cubic"],
    "cubic-noecn": {"preset": "linux-6-cubic"},
    "reno-ecn": {"preset": "linux-6", "ecn": "on"},
    "reno-noecn": {"preset": "linux-6"},
}
CELLS = {r.id: r.cell for r in ONE_QUEUE}


def configurations() -> dict[str, Scenario]:
    """All rows."""
    return {r.cell: scenario_of(r, QUEUES[r.queue], LAWS, SECONDS) for r in ONE_QUEUE}


def _ratio(r: Results, cell: str) -> float:
    """Prague's rate over the other's."""
    share = r.mean(cell, "share")
    return share / (1 - share)


def _cell(queue: str, law: str) -> str:
    return study.cell(queue, 50, f"prague 20, {law} 20")


def _reno_below(queue: str) -> Any:
    """Prague's ratio to Reno over that to CUBIC; both without and with ECN."""
    return lambda r: float(
        np.mean(
            [_ratio(r, _cell(queue, f"reno-{e}")) / _ratio(r, _cell(queue, f"cubic-{e}")) for e in ("ecn", "noecn")]
        )
    )


def _largest_factor(r: Results) -> float:
    """How much ECN of the other flow matters: the largest quotient of two rows that differ in nothing else."""
    both = [[_ratio(r, _cell(q, f"{law}-{e}")) for e in ("ecn", "noecn")] for q in QUEUES for law in ("cubic", "reno")]
    return max(max(pair) / min(pair) for pair in both)


CLAIMS: dict[str, Any] = {
    **{r.id: measures.value(r.cell, "share", np.mean) for r in ONE_QUEUE},
    "LT-O7": {"least ratio": lambda r: min(_ratio(r, row.cell) for row in ONE_QUEUE)},
    "LT-O8": {q: _reno_below(q) for q in ("fq_codel(1q)", "fq_codel(1q,1ms/20ms)")},
    "LT-O8b": {"largest factor": _largest_factor},
    "AQ33": {
        "least ratio": lambda r: min(_ratio(r, row.cell) for row in ONE_QUEUE),
        "least sum": lambda r: min(r.mean(row.cell, "sum_mbps") for row in ONE_QUEUE),
        "largest sum": lambda r: max(r.mean(row.cell, "sum_mbps") for row in ONE_QUEUE),
    },
    **study.queue_claims(ONE_QUEUE),
}


def pictures(r: Results) -> list[Picture]:
    """Prague's share by row, with the printed one beside it."""
    known = [row for row in ONE_QUEUE if row.goodputs_mbps]
    ours = {"Prague": {row.cell: r.mean(row.cell, "share") for row in known}}
    shares = {row.cell: row.goodputs_mbps[0] / sum(row.goodputs_mbps) for row in known if row.goodputs_mbps}
    return [figures.bars("shares", "Prague's share, by row.", ours, "share of both", {"Prague": shares})]


EXPERIMENT = study.STUDY.experiment(
    __name__, "Prague beside a classic flow in one queue", where="scenario 6", tables=study.tables_of(*WINDOW_S)
)

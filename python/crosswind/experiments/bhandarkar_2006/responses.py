"""How large is the average window of each law when packets are lost at random?

Every law is driven alone (one ACK per segment, losses with probability p, a round trip of 100 ms, no queue and no
recovery) and its average window is compared with the formula of its source, from p = 1e-7 to 1e-1. LTCP runs with
K_R = 1, as in the analysis of the source.

What the source printed: figure 28, which is lost, and its formulas; by these LTCP has 125, 497, 1980, 7882, 31379,
124922 segments for p = 1e-3 .. 1e-8 (ours), with a slope of -0.6.

What may differ here: losses are spaced exponentially, the formulas assume regular ones, which lowers the average by up
to 15 % for AIMD with small cuts and lifts it for large ones. The one run in a network has one seed: its mean over two
hundred losses is reported and not judged.
"""

from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.bhandarkar_2006 import nets, study
from crosswind.reproduce import Picture, Results, Runs, Scenario, Tables, measured
from crosswind.theory import windows as responses


def configurations(**_: Any) -> dict[str, Scenario]:
    """One flow that shows the same in a network: LTCP with K_R = 1 and p = 1e-4."""
    law = {"kr_ref": 1.0, "kr_exponent": 0.0}
    flow = nets.bulk("LTCP", ltcp=law, initial_ssthresh="400000 B")
    lossy = nets.wire(10_000, 48, loss={"type": "uniform", "probability": 1e-4, "counts": "data"})
    lossy["reverse"]["loss"] = "none"
    access, gauges = nets.wire(10_000, 1), {"series": "gauges"}
    net = nets.dumbbell("ltcp 1e-4", lossy, access, {"one": flow}, duration_s=400, warm_up_s=20, record=gauges)
    return {"LTCP 1e-4": net.with_({"record.sample": "100 ms"})}


def tables(runs: Runs) -> Tables:
    """`response`: law, loss, window (measured), formula."""
    if runs.manifest.get("size") != "quick":
        return {"response": responses.measured()}
    most = responses.measured(100, responses.LOSSES[:5])
    return {"response": pl.concat([most, responses.measured(150, (1e-6,), ("ltcp",))])}


@measured
def window(results: Results, law: str, loss: float) -> float:
    """The measured average window. Raises MissingDataError where a first look lacks it, else BrokenClaimError."""
    row = results.table("response").filter((pl.col("law") == law) & ((pl.col("loss") / loss - 1).abs() < 1e-6))
    if row.is_empty():
        raise results.absent(f"window of {law} at {loss}")
    return float(row["window"][0])


def _slope(results: Results) -> float:
    losses = np.array([1e-6, 1e-5, 1e-4])
    w = [window("ltcp", p)(results) for p in losses]
    return float(np.polyfit(np.log(losses), np.log(w), 1)[0])


def _in_network(results: Results) -> float:
    cwnd = results.runs.sample("cwnd_bytes", "one").filter(pl.col("time_ns") > 20_000_000_000)
    return float(cwnd["value"].mean()) / nets.PAYLOAD  # type: ignore[arg-type]


def pictures(results: Results) -> list[Picture]:
    """The overview of all laws, and each law over time."""
    return [responses.overview(results.table("response")), responses.shapes()]


CLAIMS = {
    "B48": {
        "p = 1e-5": window("ltcp", 1e-5),
        "p = 1e-6": window("ltcp", 1e-6),
        "slope, 1e-6 to 1e-4": _slope,
        "p = 1e-4 in a network, reported": _in_network,
    }
}

EXPERIMENT = study.experiment(
    __name__,
    "Response functions of all window laws",
    where="III.A.3.e, figure 28",
    reps=1,
    quick=study.smaller("loss rates from 1e-5 (LTCP: 1e-6), and 100 losses per point"),
)

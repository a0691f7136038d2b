"""When does one flow of BBR beside one of CUBIC have the share that it keeps?

One each over 10 Mbit/s and 40 ms for 600 s, behind 1 to 32 bandwidth-delay products of drop-tail.

What the source shows: between half a minute and some minutes, the longer the deeper the buffer. The numbers are those
that its replication measured.

What may differ here: when a run has converged is not said there. Ours, chosen before the first run: the share over 20 s
(two looks for the shortest round trip) comes within a tenth of the share of the last 300 s, and this is the first time.
"""

from typing import Any

import numpy as np
import polars as pl

from crosswind.experiments.ware_2019 import study
from crosswind.experiments.ware_2019.model import Path
from crosswind.reproduce import Runs, Scenario, Tables, measures

PATH, SECONDS, KEPT_S, WINDOW_S, NEAR = Path(10, 40), 600, 300, 20, 0.1
BUFFERS = (1, 2, 4, 8, 16, 32)
PRINTED = BUFFERS[:4]


def _cell(buffer_bdp: int) -> str:
    return f"{buffer_bdp} BDP"


def configurations() -> dict[str, Scenario]:
    """One beside one, by buffer."""
    flows = {"bbr": (1, study.BBR), "other": (1, study.OTHERS["cubic"])}
    record = {"series": "totals", "sampled": ["bbr", "other"]}
    return {_cell(x): study.scenario(PATH, x, flows, SECONDS, "1 s", **record) for x in BUFFERS}


def tables(runs: Runs) -> Tables:
    """`repetition`: when the share is there (s), and the share that is kept."""
    law = pl.col("entity").str.extract("^(bbr|other)").alias("law")
    totals = runs.sample("size_bytes").with_columns(law).filter(pl.col("law").is_not_null())
    wide = totals.pivot("law", index=[*study.KEYS, "time_ns"], values="value").sort("time_ns")
    rows = []
    for key, part in wide.group_by(study.KEYS, maintain_order=True):
        t = part["time_ns"].to_numpy() / 1e9
        bbr, both = part["bbr"].to_numpy(), part["bbr"].to_numpy() + part["other"].to_numpy()
        late = t >= SECONDS - KEPT_S
        kept = np.ptp(bbr[late]) / np.ptp(both[late])
        shares = (bbr[WINDOW_S:] - bbr[:-WINDOW_S]) / (both[WINDOW_S:] - both[:-WINDOW_S])
        near = t[WINDOW_S:][np.abs(shares / kept - 1) <= NEAR]
        rows.append((*key, near[0] if near.size else np.nan, kept))
    return {"repetition": pl.DataFrame(rows, schema=[*study.KEYS, "there_s", "share"], orient="row").sort(study.KEYS)}


def _times(buffers: tuple[int, ...]) -> dict[str, Any]:
    return {_cell(x): measures.value(_cell(x), "there_s", np.mean) for x in buffers}


CLAIMS: dict[str, Any] = {"WA27": _times(PRINTED), "WA28": _times(BUFFERS[4:])}

EXPERIMENT = study.STUDY.experiment(__name__, "How soon BBR has its share", where="time to converge")

"""Is BBR held by its window where it competes, does that hold what the model says, and how long is it away?

N flows of BBR and one of CUBIC over 10 Mbit/s and 40 ms for 400 s, of which the second half counts; 2 to 32
bandwidth-delay products of drop-tail.

What the source says: in competition it is the window of two products, with a round trip that holds the others' packets,
that bounds BBR, and not its pacing. While a flow looks for the shortest round trip it has to let what it holds drain,
stay for 200 ms, and fill the path again. Our summary derives numbers and tolerances from the model; none is printed.

What may differ here: samples of 20 ms stand for ACKs (100 ms for more than one flow). A flow is held by its window
where less than two segments of it are free. Both sides of the window are BBR's own: what is in flight, and twice its
rate times the round trip that it takes for the shortest; samples in which a flow looks for it are left out. A flow is
away until nine tenths of its window are in flight again; for how long its window is four segments is shown.
"""

from typing import Any

import numpy as np
import polars as pl

from crosswind import figures
from crosswind.experiments.ware_2019 import study
from crosswind.experiments.ware_2019.model import EVERY_S, HELD, Path
from crosswind.reproduce import Picture, Results, Runs, Scenario, Tables, measures

PATH, SECONDS, SETTLED_S = Path(10, 40), 400, 200
BUFFERS, FLOWS = (2, 4, 8, 16, 32), (1, 2, 4, 8, 16, 32)
MSS = 1448
#: Segments that may be free in a window that holds its flow: what leaves at a time.
BURST = 2
#: What of its window a flow has in flight when it is back.
BACK = 0.9
METRICS = ("in_flight_bytes", "cwnd_bytes", "path_rate_bps", "least_rtt_ns")


def _cell(n: int, buffer_bdp: int) -> str:
    return f"{n} BBR, {buffer_bdp} BDP"


def configurations() -> dict[str, Scenario]:
    """All numbers of flows and all buffers."""
    return {_cell(n, x): _scenario(n, x) for n in FLOWS for x in BUFFERS}


def _scenario(n: int, buffer_bdp: int) -> Scenario:
    flows = {"bbr": (n, study.BBR), "other": (1, study.OTHERS["cubic"])}
    sample = "20 ms" if n == 1 else "100 ms"
    return study.scenario(PATH, buffer_bdp, flows, SECONDS, sample, sampled=["bbr"])


def tables(runs: Runs) -> Tables:
    """`repetition`: shares of the samples and of the time, and what is in flight over what the window should hold."""
    settled = pl.col("time_ns") >= SETTLED_S * 10**9
    every = [
        runs.sample(m).filter(settled).select(*study.KEYS, "entity", "time_ns", pl.col("value").alias(m))
        for m in METRICS
    ]
    wide = every[0]
    for more in every[1:]:
        wide = wide.join(more, on=[*study.KEYS, "entity", "time_ns"])
    is_small = pl.col("cwnd_bytes") < (HELD + 0.5) * MSS
    held = pl.col("in_flight_bytes") > pl.col("cwnd_bytes") - (BURST + 1) * MSS
    filled = (pl.col("in_flight_bytes") / pl.col("cwnd_bytes")).median()
    bound = 2 * pl.col("path_rate_bps") / 8e9 * pl.col("least_rtt_ns")
    each = wide.with_columns(is_small=is_small, bound=bound)
    shares = each.filter(~pl.col("is_small")).group_by(study.KEYS).agg(held=held.mean(), filled=filled)
    small = each.group_by(study.KEYS).agg(small=pl.col("is_small").mean())
    sums = each.group_by(*study.KEYS, "time_ns").agg(
        pl.col("is_small").any(), pl.col("in_flight_bytes").sum(), pl.col("bound").sum()
    )
    full = sums.filter(~pl.col("is_small")).with_columns(ratio=pl.col("in_flight_bytes") / pl.col("bound"))
    ratios = full.group_by(study.KEYS).agg(pl.col("ratio").median())
    away = [(*key, _away(part.sort("time_ns"))) for key, part in each.group_by(*study.KEYS, "entity")]
    names = [*study.KEYS, "entity", "away"]
    mean = pl.DataFrame(away, schema=names, orient="row").group_by(study.KEYS).agg(pl.col("away").mean())
    return {
        "repetition": shares.join(ratios, on=study.KEYS, how="full", coalesce=True)
        .join(mean, on=study.KEYS)
        .join(small, on=study.KEYS)
        .sort(study.KEYS)
    }


def _away(part: pl.DataFrame) -> float:
    """The share of the time until a flow that looked for the shortest round trip is back from it."""
    is_back = part["in_flight_bytes"].to_numpy() >= BACK * part["cwnd_bytes"].to_numpy()
    is_small = part["is_small"].to_numpy()
    is_away, count = False, 0
    for small, back in zip(is_small, is_back, strict=True):
        is_away = bool(small) or (is_away and not bool(back))
        count += is_away
    return count / len(is_small)


def _modelled(buffer_bdp: int) -> float:
    """What the model takes for that share: the queue drains, 200 ms, and a round trip, of ten seconds."""
    return (buffer_bdp * PATH.rtt_ms / 1e3 + 0.24) / EVERY_S


def _one(column: str, word: str = "") -> dict[str, Any]:
    return {f"{x} BDP{word}": measures.value(_cell(1, x), column, np.mean) for x in BUFFERS}


CLAIMS: dict[str, Any] = {
    "WA2": _one("held") | _one("filled", ", of the window in flight"),
    "WA3": {_cell(n, x): measures.value(_cell(n, x), "ratio", np.mean) for n in FLOWS for x in BUFFERS},
    "WA38": _one("away") | _one("small", ", with a window of four segments"),
}


def pictures(r: Results) -> list[Picture]:
    """How long one flow is away, by buffer: measured here, and by the model."""
    ours = {"away": {str(x): r.mean(_cell(1, x), "away") for x in BUFFERS}}
    modelled = {"away": {str(x): _modelled(x) for x in BUFFERS}}
    title = "Time that one flow of BBR spends on the shortest round trip, 10 Mbit/s, 40 ms."
    return [figures.bars("away", title, ours, "share of the time", modelled, xlabel="buffer (BDP)")]


EXPERIMENT = study.STUDY.experiment(__name__, "What holds BBR in competition", where="windows and time", reps=3)

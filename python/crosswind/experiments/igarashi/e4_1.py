"""How do Standard TCP, HSTCP, Scalable TCP, FAST and SABUL fill an empty path of 305 Mbit/s and 100 ms alone?

The source printed (Table 4.5): time to 100 Mbit/s 120, 35, 10, far below 1 and far below 1 s; largest bin of 2 s
120, 230, 250, 272 and 300 Mbit/s; average over 300 s 92, 106, 125, 186 and 271 Mbit/s; lost packets 0.0082, 0.023,
0.058, 0.028 and 0.12 %.

What may differ here: the source shows the best of five trials on a path that it shared with others; here nobody
else is there and nothing is lost but what the buffer refuses. Buffer and receiver habits are readings (see
`paths`). The mean chunk of the Linux receiver, two segments, was chosen by the growth of Table 4.5, and the buffer
by its orders of averages and losses: neither is an independent check of the other.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from crosswind.experiments.igarashi import paths, rates, study
from crosswind.figures import over_time
from crosswind.reproduce import Measure, Picture, Quantity, Results, Scenario, measured, measures
from crosswind.reproduce.claims.quantities import runs

PROTOCOLS = ("SABUL", "FAST", "Scalable", "HSTCP", "Standard")
BY_LOSS = ("SABUL", "Scalable", "FAST", "HSTCP", "Standard")
SECONDS = 300


def alone(
    path: paths.Path,
    size: paths.Size,
    buffer_bytes: float,
    alpha: str = "fixed",
    cuts: str = "doubling",
    others_mbps: float = 0.0,
) -> dict[str, Scenario]:
    """One flow of each protocol in turn; `alpha` is FAST's policy, `cuts` SABUL's answer to further reports."""
    others = paths.others(others_mbps, SECONDS, size)

    def flow(name: str) -> dict[str, Any]:
        held = f"{round(buffer_bytes / size.divisor)} B"
        window: dict[str, Any] = {} if name == "SABUL" else {"receive_buffer": held}
        if name == "FAST":
            window["fast"] = paths.fast(size, alpha)
        flow = paths.protocol(name, path, size, **window)
        return flow if name != "SABUL" else {**flow, "udt": {**flow["udt"], "repeat": cuts}}

    return {p: paths.scenario(path, {"f": flow(p), **others}, SECONDS, size, bin_s=2) for p in PROTOCOLS}


def configurations(
    size: str = "full",
    buffer_packets: int = paths.SMALL,
    alpha: str = "fixed",
    cuts: str = "doubling",
    loss: float = 0.0,
    others_mbps: float = 0.0,
) -> dict[str, Scenario]:
    """JAPAN; the receiver has 8 MB."""
    path = replace(paths.JAPAN.buffered(buffer_packets), loss=loss)
    return alone(path, paths.SIZES_4[size], 8e6, alpha, cuts, others_mbps)


@measured
def time_to(r: Results, name: str) -> Any:
    """When a flow first has 100 Mbit/s, or as large a part of a smaller path."""
    return rates.reached_s(name, 100 / paths.SIZES_4[r.size].divisor)(r)


def capacity(r: Results) -> float:
    """305 Mbit/s, or as large a part of a smaller path."""
    return 305 / paths.SIZES_4[r.size].divisor


def share(name: str, column: str) -> Quantity:
    """A rate of a protocol over what the path carries."""
    return runs(name, f"f_{column}") / capacity


def loss(name: str) -> Quantity:
    """Lost packets over sent ones."""
    return runs(name, "f_loss")


def at_full_size(column: Callable[[str], Quantity], *names: str) -> dict[str, Measure]:
    """The medians of a column for several protocols, judged at full size only."""
    return {p: measures.at_full_size(measures.median(column(p))) for p in names}


def in_order(r: Results) -> dict[str, str]:
    """How many pairs stand as in Table 4.5, by average and by loss: what the buffer is chosen by (O4.4)."""
    pairs = [(mean_of(a) > mean_of(b)) for mean_of, order in _orders(r) for a, b in combinations(order, 2)]
    return {"pairs of Table 4.5 in order": f"{sum(pairs)} of {len(pairs)}"}


def _orders(r: Results) -> list[tuple[Callable[[str], float], tuple[str, ...]]]:
    """What protocols are ordered by, and the printed order."""
    return [
        (lambda p: float(np.median(rates.mean(p)(r))), PROTOCOLS),
        (lambda p: float(np.median(loss(p)(r))), BY_LOSS),
    ]


def pictures(r: Results) -> list[Picture]:
    """Figures 4.2 and 4.3."""
    cwnd = {}
    for p in PROTOCOLS[1:]:
        t, w = r.series(p, "cwnd_bytes", "f")
        cwnd[p] = (t, w / paths.MSS_BYTES)
    lines = {p: (p, "f") for p in PROTOCOLS}
    printed = {f"{p} has 100 Mbit/s": s for p, s in study.BOOK.numbers("IC4.3").items()}
    return [
        rates.over_time("f4-2", "One flow on JAPAN (Figure 4.2).", r, lines, printed),
        over_time("f4-3", "Its congestion window (Figure 4.3).", cwnd, "window (segments)"),
    ]


CLAIMS = {
    "IC4.1": {**study.order([(p, rates.mean(p)) for p in PROTOCOLS])},
    "IC4.2": {
        "average": measures.median(share("SABUL", "mbps")),
        "largest bin": measures.median(share("SABUL", "max_mbps")),
    },
    "IC4.3": {
        **study.order([(p, time_to(p)) for p in ("Standard", "HSTCP", "Scalable", "FAST")]),
        **at_full_size(time_to, "Standard", "HSTCP", "Scalable", "FAST", "SABUL"),
    },
    "IC4.4": {
        **study.order([(p, loss(p)) for p in BY_LOSS]),
        **at_full_size(loss, "Standard", "Scalable", "SABUL"),
    },
    "IC4.5": {
        **study.order([("FAST", rates.mean("FAST")), ("Scalable", rates.mean("Scalable"))]),
        **study.order([("loss of Scalable", loss("Scalable")), ("loss of FAST", loss("FAST"))]),
    },
    "IC4.6": {
        f"Standard over {p}": study.ratio(share("Standard", "max_mbps"), share(p, "max_mbps")) for p in PROTOCOLS[:-1]
    },
}

EXPERIMENT = rates.experiment(__name__, "One flow on JAPAN", where="figures 4.2 and 4.3, table 4.5", headline=in_order)

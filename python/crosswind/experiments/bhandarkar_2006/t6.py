"""What does LTCP gain between two Linux hosts, with one flow?

The hosts of `t7-t9`; one flow for 900 s, four times.

What the source printed: the table.

What may differ here: as in `t7-t9`; four repetitions are those of the source. Where the first slow start ends decides
the ratios. `--quick` divides rate, queue, W_T and time by ten and runs twice.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from crosswind import figures
from crosswind.experiments.bhandarkar_2006 import study
from crosswind.experiments.bhandarkar_2006.t7_t9 import CLASSES, PROTOCOLS, Hosts, Size, size_of
from crosswind.reproduce import Picture, Quantity, Results, Scenario, measured


def configurations(size: str = "full", **hosts: Any) -> dict[str, Scenario]:
    """`t6 <class> <protocol>` between such hosts."""
    s = Size(size, Hosts(**hosts))
    out = {}
    for c, rtt in CLASSES.items():
        for p in PROTOCOLS:
            flow = s.flow(p, start={"uniform": ["0 s", f"{s.scale} s"]})
            out[f"t6 {c} {p}"] = s.world(f"t6 {c} {p}", rtt, {"one": flow}, 902, 2)
    return out


@measured
def rates(r: Results, c: str, protocol: str) -> npt.NDArray[np.float64]:
    """Mbit/s of full size of the flow of table VI in each repetition."""
    return r.of(f"t6 {c} {protocol}", "one_bps") / 1e6 / size_of(r).scale


MEANS = {(p, c): rates(c, p).then(np.mean) for c in CLASSES for p in PROTOCOLS}


def _deviation(c: str, protocol: str) -> Quantity:
    return rates(c, protocol).then(lambda x: float(x.std(ddof=1)) if x.size > 1 else float("nan"))


def pictures(r: Results) -> list[Picture]:
    """Table VI as bars."""
    t6 = {p: {c: float(MEANS[p, c](r)) for c in CLASSES} for p in PROTOCOLS}
    known = {p: {c: study.BOOK.number("B83", f"{p}, {c}, reported") for c in CLASSES} for p in PROTOCOLS}
    return [figures.bars("t6", "Throughput of one flow by class of round trip (table VI).", t6, "Mbit/s", known)]


CLAIMS = {
    "B83": {
        **{c: MEANS["LTCP", c] / MEANS["TCP", c] for c in CLASSES},
        **{f"{p}, {c}, reported": found for (p, c), found in MEANS.items()},
    },
    "B84": {
        f"deviation of TCP less LTCP's, {c}": _deviation(c, "TCP") - _deviation(c, "LTCP") for c in ("moderate", "high")
    },
}

EXPERIMENT = study.experiment(
    __name__,
    "Two Linux hosts, simulated: one flow",
    where="table VI",
    reps=4,
    quick_reps=2,
    quick=study.smaller("a tenth of rate, queue, W_T and time, two repetitions"),
)

"""Is a long download that starts late still treated fairly when ARQ repairs the errors of the last hop?

The workload of W2 on the three ARQ links (see W1 on the same links): three bulk transfers of 640 segments, the third
starts somewhere in the first 36 s. Four configurations on each link, 120 repetitions.

What the source printed is withheld for r4: what is measured here is reported without a judgement. On r2 ECN helps only
the least fair repetitions, on r1 it changes nothing.

What may differ here: the history of states, as for W1.

J67 is unclear: on r2 the lower quartile of Jain's index rises with ECN as well (0.03), and with Enhanced TCP the faster
flow is not capped (+0.1 %); both changes are smaller than their intervals.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crosswind import figures, stats
from crosswind.claims import Claim, Part, above, below, near
from crosswind.experiments.base import Results
from crosswind.experiments.jarvinen_2006 import measures, parts, readings, study, testbed
from crosswind.experiments.jarvinen_2006.parts import (
    change_part,
    difference_part,
    lower,
    report_parts,
    upper,
    withheld,
)
from crosswind.figures import Picture
from crosswind.scenario import Scenario

WORKLOAD = testbed.Workload("w2-arq", ("third",), third_bytes=testbed.BULK_BYTES)
LABELS = tuple(f"{link} {c}" for link in testbed.LOSSY for c in testbed.FOUR)
R4 = tuple(f"r4 {c}" for c in testbed.FOUR)
OVERALL = "overall_throughput"
ROLES = ("faster", "slower", "third")
PAIRS = (("BL+ECN", "BL"), ("ETCP+ECN", "ETCP"))


def configurations(**variant: Any) -> dict[str, Scenario]:
    """Twelve configurations: three links, four each."""
    return testbed.configurations(WORKLOAD, LABELS, variant)


def tenth(x: Any, axis: int = -1) -> Any:
    """The tenth percentile along an axis."""
    return np.quantile(x, 0.10, axis=axis)


def _ninetieth(x: Any, axis: int = -1) -> Any:
    return np.quantile(x, 0.90, axis=axis)


def _equal_shares(link: str, tolerance: float) -> list[Part]:
    return [
        change_part(
            f"{role}, {new} against {old}",
            f"{link} {new}",
            f"{link} {old}",
            f"simultaneous_{role}",
            near(0.0, tolerance),
        )
        for new, old in PAIRS
        for role in ROLES
    ]


def _tenth_parts(link: str, where: str) -> list[Part]:
    return [
        difference_part(
            f"{where}: {new} minus {old}", f"{link}{new}", f"{link}{old}", "jain", above(0.0), "> 0", of=tenth, digits=3
        )
        for new, old in PAIRS
    ]


SMALL = 0.02
CLAIMS = (
    withheld(63, "r4: overall throughput, median", report_parts(R4, OVERALL, unit="B/s", digits=0)),
    withheld(
        64,
        "r4: Jain's index, median and quartiles; what ECN changes; BL against the error-free link",
        [
            *report_parts(R4, "jain", digits=3),
            *report_parts(R4, "jain", of=lower, digits=3, word=", lower quartile"),
            *report_parts(R4, "jain", of=upper, digits=3, word=", upper quartile"),
            *(difference_part(f"{new} minus {old}", f"r4 {new}", f"r4 {old}", "jain", digits=3) for new, old in PAIRS),
            difference_part("BL minus error-free BL", "r4 BL", "w2-e0/BL", "jain", digits=3),
        ],
    ),
    withheld(
        65,
        "r4: simultaneous throughput of the third flow; spread; BL against the error-free link",
        [
            *report_parts(R4, "simultaneous_third", unit="B/s", digits=0),
            *report_parts(R4, "simultaneous_third", of=stats.iqr_of, unit="B/s", digits=0, word=", IQR"),
            *report_parts(R4, "simultaneous_faster", unit="B/s", digits=0, word=", faster"),
            *report_parts(R4, "simultaneous_slower", unit="B/s", digits=0, word=", slower"),
            change_part("BL against error-free BL", "r4 BL", "w2-e0/BL", "simultaneous_third"),
        ],
    ),
    withheld(
        66,
        "r4: unnecessary retransmissions, upper quartile and maximum; what F-RTO changes",
        [
            *(
                part
                for role in ROLES
                for word, of in (("upper quartile", upper), ("maximum", np.max))
                for part in report_parts(
                    ("r4 BL", "r4 ETCP"), f"{role}_unnecessary", of=of, digits=1, word=f", {role}, {word}"
                )
            ),
            change_part("mean over all flows, ETCP against BL", "r4 ETCP", "r4 BL", "unnecessary", of=np.mean),
        ],
    ),
    Claim(
        "J67",
        "r2: ECN lifts the tenth percentile of Jain's index, not the quartiles (our number: 0.02); it caps the faster "
        "flow (our measure: its 90th percentile)",
        "better; equal; lower",
        [
            *_tenth_parts("r2 ", "tenth percentile"),
            *(
                difference_part(
                    f"{word}: {new} minus {old}",
                    f"r2 {new}",
                    f"r2 {old}",
                    "jain",
                    near(0.0, SMALL),
                    "about 0",
                    of=of,
                    digits=3,
                )
                for new, old in PAIRS
                for word, of in (("lower quartile", lower), ("upper quartile", upper))
            ),
            *(
                change_part(
                    f"faster flow, 90th percentile: {new} against {old}",
                    f"r2 {new}",
                    f"r2 {old}",
                    "simultaneous_faster",
                    below(0.0),
                    of=_ninetieth,
                )
                for new, old in PAIRS
            ),
        ],
    ),
    Claim(
        "J68",
        "r1: simultaneous throughputs are the same with and without ECN (within 5 %, as is suggested)",
        "equal",
        _equal_shares("r1", 0.05),
    ),
    Claim(
        "J69",
        "Overall throughput is higher than in W1: slow start weighs less in a longer run",
        "7871 against 7817 B/s; r4 withheld",
        [
            *(change_part(f"error-free: {c}", f"w2-e0/{c}", f"w1-e0/{c}", OVERALL, above(0.0)) for c in testbed.FOUR),
            *(change_part(f"r4: {c}", f"r4 {c}", f"w1-arq/r4 {c}", OVERALL) for c in testbed.FOUR),
        ],
    ),
    Claim(
        "J130",
        "ECN makes very unfair repetitions rarer (tenth percentile of Jain's index)",
        "higher on e0; r4 withheld",
        [
            *_tenth_parts("w2-e0/", "error-free"),
            *(
                difference_part(f"r4: {new} minus {old}", f"r4 {new}", f"r4 {old}", "jain", of=tenth, digits=3)
                for new, old in PAIRS
            ),
        ],
    ),
)


def pictures(r: Results) -> list[Picture]:
    """The source's Figures 18 and 19."""
    shares = {x: f"simultaneous_{x}" for x in ROLES}
    vain = {
        f"{x}, {what}": f"{x}_{column}"
        for what, column in (("spurious", "spurious"), ("in vain", "unnecessary"))
        for x in ROLES
    }
    out = [
        figures.quartile_bars(
            "fig-18a",
            "Overall throughput on r4 (Fig. 18a).",
            measures.columns(r, {"all": OVERALL}, link="r4"),
            "overall throughput (B/s)",
            None,
        ),
        figures.quartile_bars(
            "fig-18d",
            "Spurious timeouts and retransmissions in vain on r4 (Fig. 18d).",
            measures.columns(r, vain, link="r4"),
            "number",
        ),
    ]
    for link, one, other in (("r4", "18b", "18c"), ("r2", "19a", "19b")):
        out += [
            figures.quartile_bars(
                f"fig-{one}",
                f"Simultaneous throughput of the three flows on {link} (Fig. {one}).",
                measures.columns(r, shares, link=link),
                "simultaneous throughput (B/s)",
            ),
            figures.quartile_bars(
                f"fig-{other}",
                f"Jain's index on {link} (Fig. {other}).",
                measures.columns(r, {"all": "jain"}, link=link),
                "Jain's index",
                None,
            ),
        ]
    return out


EXPERIMENT = study.experiment(
    "w2-arq",
    "Three bulk flows, one of them late, on a 64 kbit/s last hop with ARQ",
    __doc__,
    configurations,
    CLAIMS,
    figures=pictures,
    variants=readings.ARQ,
    headline=parts.headline("simultaneous_third", "B/s", LABELS, 0),
    uses=("w1-e0", "w1-arq", "w2-e0"),
)

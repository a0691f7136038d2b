"""Which setting serves two requirements on the same path best?

Nine settings of MTQ and QTL, equal for all or by requirement, for the subgroups of E7.10. Those that treat all
alike are runs of E7.2, E7.4 and E7.5.

What the source printed (Fig. 7.12, Table 7.8): (1) is best of all; (2) and (3) favour the second half and hurt the
first badly; (5) is better than (6) and (7) for the first; (8) is better than (9), and best of those that do not need
the best MTQ.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from crosswind import figures
from crosswind.experiments.igarashi import discard, e7_10, study
from crosswind.experiments.igarashi.discard import MODEL_2, Limits
from crosswind.experiments.igarashi.e7_10 import SUBGROUPS
from crosswind.reproduce import Measure, Picture, Quantity, Results, Scenario, measures

THREE = replace(MODEL_2, limits=Limits(mtq=5), second=Limits(mtq=10))
SEVEN = replace(MODEL_2, limits=Limits(qtl=10), second=Limits(qtl=20))
NINE = replace(MODEL_2, limits=Limits(mtq=5, qtl=10), second=Limits(mtq=5, qtl=20))
CASES = {
    "(1)": "e7-2/MTQ 3.3",
    "(2)": f"e7-10/{e7_10.OWN.label()}",
    "(3)": THREE.label(),
    "(4)": "e7-2/MTQ 5",
    "(5)": "e7-4/QTL 10",
    "(6)": "e7-4/QTL 20",
    "(7)": SEVEN.label(),
    "(8)": "e7-5/MTQ 5, QTL 10",
    "(9)": NINE.label(),
}


def configurations(**_: Any) -> dict[str, Scenario]:
    """The settings that differ by requirement."""
    return {s.label(): discard.scenario(s) for s in (THREE, SEVEN, NINE)}


def _strict(configuration: str) -> Quantity:
    """The EPLR of the strict half of the longest path."""
    return discard.eplr(configuration, "f0-1")


def _worst(configuration: str) -> Quantity:
    return discard.worst(configuration, SUBGROUPS)


def _minus(what: str, of: Callable[[str], Quantity], first: str, second: str) -> dict[str, Measure]:
    """How much more one case has than another."""
    label = f"{what}, case {first} minus {what}, case {second}"
    return {label: study.difference(of(CASES[first]), of(CASES[second]))}


CLAIMS = {
    "IC7.21": {
        **{f"f0-1, case {c}": measures.value(CASES[c], "f0-1_eplr_10") for c in ("(5)", "(7)", "(6)")},
        **_minus("f0-1", _strict, "(5)", "(7)"),
        **_minus("f0-1", _strict, "(7)", "(6)"),
    },
    "IC7.22": {
        **{f"worst subgroup, case {c}": measures.median(discard.worst(CASES[c], SUBGROUPS)) for c in ("(8)", "(9)")},
        **{f"f0-1, case {c}": measures.value(CASES[c], "f0-1_eplr_10") for c in ("(8)", "(9)")},
        **{
            f"worst subgroup, case {c}": measures.median(discard.worst(CASES[c], SUBGROUPS))
            for c in CASES
            if c not in ("(8)", "(9)")
        },
        **{f"mean over flows, case {c}": measures.median(discard.mean(CASES[c], SUBGROUPS)) for c in CASES},
        **{
            f"{f}, case {c}": measures.value(CASES[c], f"{f}_eplr_{SUBGROUPS[f]}")
            for c in CASES
            for f in ("f0-2", "f1-1", "f1-2")
        },
        **_minus("f0-1", _strict, "(8)", "(9)"),
        **_minus("worst subgroup", _worst, "(8)", "(9)"),
    },
}


def pictures(r: Results) -> list[Picture]:
    """Fig. 7.12."""
    bars: dict[str, dict[str, float]] = {
        f: {c: discard.percent(r, discard.eplr(name, f, SUBGROUPS[f])) for c, name in CASES.items()}
        for f in ("f0-1", "f0-2", "f1-1", "f1-2")
    }
    bars["worst"] = {c: discard.percent(r, discard.worst(name, SUBGROUPS)) for c, name in CASES.items()}
    caption = "EPLR of two requirements in nine settings (Fig. 7.12)."
    return [figures.bars("fig-7-12", caption, bars, "EPLR (%)")]


EXPERIMENT = discard.experiment(
    __name__, "Two requirements on the same path, nine settings", uses=("e7-2", "e7-4", "e7-5", "e7-10")
)

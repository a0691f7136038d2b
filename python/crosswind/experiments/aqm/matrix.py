"""Which of CoDel, PIE and adaptive RED is best where?

The cases of RFC 7928, all variants, 120 s: CoDel, PIE and ARED; COBALT beside CoDel where a stream does not listen.

What the sources say, in their abstracts: neither CoDel nor PIE is best everywhere (Kuhn et al. 2017); in several
settings ARED is at least as good as both (Khademi et al. 2014); beside an unresponsive stream COBALT keeps a much
shorter queue than CoDel, without one they are alike (Palmei et al. 2019).

What may differ here: the cases and their lengths are ours. A queue wins a cell where the 95 % interval of the
difference says so, as `crosswind characterise` has it: p95 of the delay by a tenth and 1 ms, utilisation by a point.
ARED has the automatic settings of ns-2. COBALT is the kernel's; ns-3's is shown beside it. Six repetitions.
"""

from typing import Any

from crosswind.experiments.aqm import study
from crosswind.experiments.aqm.study import SETTING, limited
from crosswind.reproduce import Results, Runs, Scenario, Tables
from crosswind.suites import measured
from crosswind.suites.case import Key
from crosswind.suites.queues import CASES, CASES_BY_ID

ARED = {
    "type": "red-ns2",
    "adaptive": True,
    "w_q": "capacity",
    "measure": "packets",
    "mean_packet": "1500 B",
    "max_p": 0.02,
}
SUBJECTS: dict[str, dict[str, Any]] = {"codel": {"type": "codel"}, "pie": {"type": "pie"}, "ared": ARED}
COBALT: dict[str, Any] = {"cobalt": {"type": "cobalt"}, "ns-3": {"type": "cobalt", "profile": "ns3"}}
WITH_COBALT = ("friendly", "unresponsive", "unresponsive-tcp")
BESIDE = (
    ("stream of 1.1", "unresponsive", "1.1"),
    ("stream of 0.8 and Reno", "unresponsive-tcp", "0.8"),
    ("Reno alone", "friendly", "reno"),
)


def _keys() -> dict[str, tuple[Key, dict[str, Any]]]:
    made = {}
    for case in CASES:
        subjects = SUBJECTS | (COBALT if case.id in WITH_COBALT else {})
        for name, queue in subjects.items():
            for variant, table in CASES_BY_ID[case.id].build(SETTING, limited(queue, SETTING)).items():
                made[f"{case.id}, {variant}, {name}"] = ((case.id, variant, name), table)
    return made


def configurations() -> dict[str, Scenario]:
    """Every variant of every case, behind each queue."""
    return {label: study.scenario("case", table) for label, (_, table) in _keys().items()}


def tables(runs: Runs) -> Tables:
    """`rows`: as `crosswind characterise` has them; `repetition`: as the study has it."""
    keys = {label: key for label, (key, _) in _keys().items() if label in runs.scenarios}
    return study.tables(runs) | {"rows": measured.measured(runs, keys)}


def _cells(r: Results, first: str, second: str) -> dict[tuple[str, str], str]:
    """What the first has beside the second, in words, by case and variant."""
    return {(v.case, v.variant): v.words for v in measured.verdicts(r.table("rows"), first, second)}


def _wins(first: str, second: str, word: str) -> Any:
    return lambda r: sum(word in words for words in _cells(r, first, second).values())


def _at_least_as_good(r: Results) -> int:
    """Cells in which ARED has neither a longer delay nor an emptier line than CoDel, nor than PIE."""
    found = [_cells(r, "ared", other) for other in ("codel", "pie")]
    return sum(not any(w in cells[c] for cells in found for w in ("longer", "emptier")) for c in found[0])


def _over(case: str, variant: str, cobalt: str) -> Any:
    """COBALT's mean delay over CoDel's."""
    first, second = (f"{case}, {variant}, {name}" for name in (cobalt, "codel"))
    return lambda r: r.mean(first, "mean_ms") / r.mean(second, "mean_ms")


CLAIMS: dict[str, Any] = {
    "AQ53": {
        "CoDel shorter": _wins("codel", "pie", "shorter"),
        "PIE shorter": _wins("pie", "codel", "shorter"),
        "CoDel fuller": _wins("codel", "pie", "fuller"),
        "PIE fuller": _wins("pie", "codel", "fuller"),
    },
    "AQ55": {"cells": _at_least_as_good},
    "AQ56": {
        f"{words}{word}": _over(case, variant, cobalt)
        for cobalt, word in (("cobalt", ""), ("ns-3", ", as in ns-3"))
        for words, case, variant in BESIDE
    },
}

EXPERIMENT = study.STUDY.experiment(
    __name__, "The cases of RFC 7928", where="Kuhn 2017, Khademi 2014, Palmei 2019", reps=6
)

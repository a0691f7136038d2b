"""Long flows over one bottleneck of [Bhandarkar 2006] in ns-2 and in Crosswind: networks N4, N7, N8 and N11.

python -m validation.ns2.end_hosts [n4 n7 n8 vegas n11] [--quick] [--json]
python -m validation.ns2.end_hosts --write      store what ns-2 gives for n4

The scenarios are those of the experiments `bhandarkar-2006/f18-f25`, `f38-f41`, `f43-f47` and `f48-f51`, whose pages
cite what ns-2 does in the same networks; this prints it again. Flows start at the same times in both. Without
`--quick` N8 has the size that the experiments have with it, and N11 their full size.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from crosswind.experiments.bhandarkar_2006 import f18_f25, f38_f41, f43_f47, f48_f51
from crosswind.scenario import Scenario
from validation.ns2 import network
from validation.ns2.driver import REFERENCE, ns2_program
from validation.ns2.network import Looks, Record

Measure = Callable[[Record], dict[str, float]]
ALL = Looks()
DIGITS = {"drop rate (%)": 2, "Jain": 3}
FILE = REFERENCE / "sack-flows.csv"
STORED_DIGITS = 4


@dataclass(frozen=True)
class Cell:
    """One network, run in both."""

    label: str
    scenario: Scenario
    seeds: int = 1
    looks: Looks = ALL
    measure: Measure = Record.usual

    @property
    def seconds(self) -> float:
        """Length of a run."""
        return network.number(self.scenario.data["duration"])


@dataclass(frozen=True)
class Compared:
    """Quantities of a cell, one number per seed."""

    cell: Cell
    ns2: dict[str, list[float]]
    crosswind: dict[str, list[float]]


# -- the networks -----------------------------------------------------------------------------------------------------


def n4(*, quick: bool) -> list[Cell]:
    """24 SACK flows with a receive window, drop-tail and RED."""

    def cell(figure: str, queue: str, window: int) -> Cell:
        scenario = f18_f25.configurations(window)[f"{figure} sack"]
        return Cell(f"n4 {queue}, window {window}", scenario, 1 if quick else 3)

    windows = (7, 14) if quick else (7, 8, 10, 12, 14, 20)
    return [cell("f23", "drop-tail", w) for w in windows] + [cell("f24", "RED", w) for w in (7, 14)]


def n7(*, quick: bool) -> list[Cell]:
    """Fifty long flows each way and the one that is watched, no web."""
    data = f38_f41.configurations()["case1"].data
    flows = {k: v for k, v in data["flow"].items() if not k.startswith("web")}
    # Samples of all flows, so fewer of them.
    record = {"sample": "100 ms", "series": "totals", "events": ["one"]}
    scenario = Scenario.from_dict({**data, "flow": flows, "record": record, "duration": "60 s"})
    looks = Looks((f38_f41.LEFT_OUT_s, 60.0), watched="one", sample_s=0.1)
    return [Cell("n7 fifty flows each way", scenario, 1 if quick else 5, looks, predictable)]


def predictable(r: Record) -> dict[str, float]:
    """What the predictors see."""
    near = r.rtts_s <= f38_f41.THRESHOLD_s
    return {
        **r.usual(),
        "median queue forth (packets)": float(np.median(r.samples["forward"])),
        "median queue back (packets)": float(np.median(r.samples["reverse"])),
        "round trips within 5 ms of the path's (per mille)": 1000 * float(near.mean()),
        "median round trip (ms)": 1000 * float(np.median(r.rtts_s)),
        "least round trip (ms)": 1000 * float(r.rtts_s.min()),
        "largest round trip (ms)": 1000 * float(r.rtts_s.max()),
    }


def n8(*, quick: bool) -> list[Cell]:
    """SACK with ECN over adaptive RED."""
    known = f43_f47.configurations(size="quick")
    seeds = 1 if quick else 5
    return [
        Cell("n8 RED, 300 ms", known["f44 300 red"], seeds),
        Cell("n8 RED, 1 s", known["f44 1000 red"], seeds),
        Cell("n8 RED, one flow", known["f45 1 red"], seeds),
    ]


def vegas(*, quick: bool) -> list[Cell]:
    """Vegas over drop-tail."""
    known = f43_f47.configurations(size="quick")
    return [Cell(f"n8 Vegas, {n} flows", known[f"f45 {n} vegas"], 1 if quick else 3) for n in (10, 100)]


def n11(*, quick: bool) -> list[Cell]:
    """Groups of Vegas flows that come and go."""
    size = "quick" if quick else "full"
    step = f48_f51.Size(size).step
    marks = [2.0, *(x * step for k in range(1, 7) for x in (k + 0.5, k + 1))]
    scenario = f48_f51.configurations(size)["f50 vegas"]
    looks = Looks(tuple(marks))
    return [Cell("n11 groups of Vegas flows", scenario, 1 if quick else 2, looks, groups)]


def groups(r: Record) -> dict[str, float]:
    """As `f48_f51.apart`: differences between groups in the second half of each interval with two or more."""
    worst, all_four, jain = 0.0, {}, float("nan")
    for k in range(1, 7):
        rates = r.rates(2 * k - 1, 2 * k)
        present = [g for g in f48_f51.GROUPS if g - 1 <= k and (g == 4 or k < g + 3)]
        sums = [sum(x for n, x in rates.items() if n.startswith(f"group{g}-")) for g in present]
        if len(present) > 1:
            worst = max(worst, (max(sums) - min(sums)) / float(np.mean(sums)))
        if len(present) == len(f48_f51.GROUPS):
            all_four = {f"group {g} of four (Mbit/s)": s / 1e6 for g, s in zip(present, sums, strict=True)}
            jain = network.jain(np.array(list(rates.values())))
    return {**r.usual(), "Jain": jain, "groups apart (%)": 100 * worst, **all_four}


NETWORKS = {"n4": n4, "n7": n7, "n8": n8, "vegas": vegas, "n11": n11}


# -- both sides -------------------------------------------------------------------------------------------------------


def in_crosswind(cell: Cell) -> dict[str, list[float]]:
    """The quantities of a cell here."""
    return _columns(map(cell.measure, network.in_crosswind(cell.scenario, cell.seeds, cell.looks)[0]))


def compare(cell: Cell, program: str) -> Compared:
    """Runs a cell in both."""
    ours, starts = network.in_crosswind(cell.scenario, cell.seeds, cell.looks)
    run = partial(network.in_ns2, program, cell.scenario, looks=cell.looks)
    theirs = [run(s, o.times_s, seed=k) for k, (s, o) in enumerate(zip(starts, ours, strict=True), 1)]
    return Compared(cell, _columns(map(cell.measure, theirs)), _columns(map(cell.measure, ours)))


# -- what ns-2 gave for n4, so that the comparison runs without it ----------------------------------------------------


def references() -> dict[str, dict[str, list[float]]]:
    """ns-2's quantities by label of the cell, one number per seed."""
    out: dict[str, list[dict[str, float]]] = {}
    with FILE.open(encoding="utf-8", newline="") as f:
        for row in csv.DictReader(f):
            label = row.pop("case")
            out.setdefault(label, []).append({k: float(v) for k, v in row.items()})
    return {label: _columns(iter(rows)) for label, rows in out.items()}


def write(program: str) -> None:
    """Runs n4 in ns-2 and stores what came out."""
    found = {c.label: compare(c, program).ns2 for c in n4(quick=False)}
    with FILE.open("w", encoding="utf-8", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(["case", *next(iter(found.values()))])
        for label, columns in found.items():
            rows = zip(*columns.values(), strict=True)
            out.writerows([label, *(f"{x:.{STORED_DIGITS}f}" for x in row)] for row in rows)


def _columns(rows: Iterator[dict[str, float]]) -> dict[str, list[float]]:
    out: dict[str, list[float]] = {}
    for row in rows:
        for k, v in row.items():
            out.setdefault(k, []).append(v)
    return out


def shown(values: Sequence[float], quantity: str) -> str:
    """The mean, and the range where there are several seeds."""
    digits = DIGITS.get(quantity, 1)
    mean = f"{np.mean(values):.{digits}f}"
    if len(values) == 1:
        return mean
    return f"{mean} ({min(values):.{digits}f}-{max(values):.{digits}f})"


def lines(c: Compared) -> Iterator[str]:
    """The rows of the table."""
    seeds = f"{c.cell.seeds} seed{'s' if c.cell.seeds > 1 else ''}"
    for k, quantity in enumerate(c.ns2):
        name = f"{c.cell.label} ({c.cell.seconds:.0f} s, {seeds})" if k == 0 else ""
        numbers = (shown(side[quantity], quantity) for side in (c.ns2, c.crosswind))
        yield f"{name:46}{quantity:51}" + "".join(f"{x:>24}" for x in numbers)


def as_json(c: Compared) -> dict[str, Any]:
    """The same for programs."""
    return {"case": c.cell.label, "seconds": c.cell.seconds, "ns2": c.ns2, "crosswind": c.crosswind}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m validation.ns2.end_hosts", description="ns-2 beside Crosswind.")
    parser.add_argument("networks", nargs="*", metavar="network", help=f"of {', '.join(NETWORKS)} (all)")
    parser.add_argument("--quick", action="store_true", help="one seed each, fewer windows, a smaller N11")
    parser.add_argument("--json", action="store_true", help="one JSON object for each case")
    parser.add_argument("--write", action="store_true", help="store what ns-2 gives for n4, and do nothing else")
    chosen = parser.parse_args(arguments)
    unknown = [n for n in chosen.networks if n not in NETWORKS]
    if unknown:
        parser.error(f"no network `{unknown[0]}`; there are {', '.join(NETWORKS)}")
    program = ns2_program()
    if program is None:
        print("ns-2 is not installed (Debian: apt-get install ns2)", file=sys.stderr)
        return 2
    if chosen.write:
        write(program)
        return 0
    if not chosen.json:
        print(f"{'':97}{'ns-2':>24}{'Crosswind':>24}")
    for name in chosen.networks or NETWORKS:
        for cell in NETWORKS[name](quick=chosen.quick):
            found = compare(cell, program)
            print(json.dumps(as_json(found)) if chosen.json else "\n".join(lines(found)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

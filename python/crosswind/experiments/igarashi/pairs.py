"""Two flows at once, alike or not: what experiments of chapters 4 and 5 share."""

from collections.abc import Iterable
from typing import Any

from crosswind.experiments.igarashi import paths, rates
from crosswind.reproduce import Quantity, Scenario

Window = dict[str, Any]


def label(a: str, b: str) -> str:
    """How a pair is named."""
    return f"{a} + {b}"


def japan(name: str, size: paths.Size, **changes: Any) -> dict[str, Any]:
    """A flow on JAPAN; the receiver has 8 MB."""
    window: Window = {} if name == "SABUL" else {"receive_buffer": f"{round(8e6 / size.divisor)} B"}
    return paths.protocol(name, paths.JAPAN, size, **window, **changes)


def on_japan(
    pairs: Iterable[tuple[str, str]], seconds: float, size: paths.Size, others_mbps: float = 0.0
) -> dict[str, Scenario]:
    """The first of a pair is flow `f`, the second `g`."""
    others = paths.others(others_mbps, seconds, size)

    def run(a: str, b: str) -> Scenario:
        flows = {"f": japan(a, size), "g": japan(b, size), **others}
        return paths.scenario(paths.JAPAN, flows, seconds, size, bin_s=2)

    return {label(a, b): run(a, b) for a, b in pairs}


def alone_on_japan(
    names: Iterable[str], seconds: float, size: paths.Size, others_mbps: float = 0.0
) -> dict[str, Scenario]:
    """One flow of each."""
    others = paths.others(others_mbps, seconds, size)
    return {p: paths.scenario(paths.JAPAN, {"f": japan(p, size), **others}, seconds, size, bin_s=2) for p in names}


def part(a: str, b: str, flow: str) -> Quantity:
    """The mean rate of one of a pair."""
    return rates.mean(label(a, b), flow)

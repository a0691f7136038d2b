"""Quantities as scenarios write them ("64 kbit/s", "300 ms", "20 packets"), as numbers: for axes, ranges and sorting.

The engine's own parser decides what a scenario may say; this one only reads what the engine accepts.

>>> parse("64 kbit/s")
Quantity(value=64000.0, unit='bps')
>>> parse("reno") is None
True
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

# Written unit -> (factor, unit of the number, as the last part of a column's name).
UNITS: dict[str, tuple[float, str]] = {
    **{u: (f, "ns") for u, f in (("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9))},
    **{u: (f, "ns") for u, f in (("min", 60e9), ("h", 3600e9))},
    **{u: (f, "bps") for u, f in (("bit/s", 1.0), ("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9))},
    **{u: (f, "bps") for u, f in (("B/s", 8.0), ("kB/s", 8e3), ("MB/s", 8e6))},
    **{u: (f, "bytes") for u, f in (("B", 1.0), ("bytes", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9))},
    **{u: (f, "bytes") for u, f in (("KiB", 1024.0), ("MiB", 1024.0**2), ("GiB", 1024.0**3))},
    **dict.fromkeys(("packet", "packets", "p"), (1.0, "packets")),
}
_WRITTEN = re.compile(r"^\s*([+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*([A-Za-zµ/]+)?\s*$")


@dataclass(frozen=True)
class Quantity:
    """A number and the unit it is in: ns, bps, bytes, packets, or nothing."""

    value: float
    unit: str


def parse(written: Any) -> Quantity | None:
    """Reads a quantity; None for what is none (a name, a table, a bool)."""
    if isinstance(written, bool):
        return None
    if isinstance(written, int | float):
        return Quantity(float(written), "")
    found = _WRITTEN.match(written) if isinstance(written, str) else None
    if found is None:
        return None
    number, unit = float(found.group(1).replace("_", "")), found.group(2)
    if unit is None:
        return Quantity(number, "")
    if unit not in UNITS:
        return None
    factor, base = UNITS[unit]
    return Quantity(number * factor, base)


def common(values: Sequence[Any]) -> tuple[str, list[float]] | None:
    """Unit and numbers of values that are quantities of one kind; None when they are not."""
    found = [parse(v) for v in values]
    if not found or any(q is None for q in found):
        return None
    units = {q.unit for q in found if q is not None}
    return (units.pop(), [q.value for q in found if q is not None]) if len(units) == 1 else None


def written(value: float, like: str) -> str:
    """Writes a number (in the unit of `parse`) in the unit in which `like` is written, to six digits.

    >>> written(1_234_567.0, "1 kbit/s")
    '1234.57 kbit/s'
    """
    found = _WRITTEN.match(like)
    unit = found.group(2) if found else None
    if unit is None:
        return f"{value:.6g}"
    factor, base = UNITS[unit]
    if base == "packets":
        return f"{round(value)} packets"
    return f"{float(f'{value / factor:.6g}'):.12g} {unit}"


# What people read best: the largest unit in which the largest value is at least one.
_SCALES: dict[str, tuple[tuple[float, str], ...]] = {
    "ns": ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")),
    "bps": ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")),
    "Bps": ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s")),
    "bytes": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
}


def fitting(metric: str, largest: float) -> tuple[str, float]:
    """Unit and factor for the values of a metric, by the last part of its name and the largest value shown.

    >>> fitting("goodput_bps", 8.5e6)
    ('Mbit/s', 1e-06)
    >>> fitting("queue_delay_ns", 900.0)
    ('ns', 1.0)
    """
    base = metric.rpartition("_")[2]
    for least, unit in _SCALES.get(base, ()):
        if abs(largest) >= least:
            return unit, 1.0 / least
    smallest = _SCALES.get(base)
    return (smallest[-1][1], 1.0) if smallest else (base, 1.0)

"""Designs: which combinations of values a sweep runs.

A design is a list of points; a point says what to change in a scenario. Designs multiply:
`grid({...}) * zipped({...})` is every point of the one with every point of the other.

>>> d = grid({"flow.bulk.tcp.law": ["reno", "cubic"]}) * grid({"flow.bulk.count": [1, 2, 4]})
>>> len(d.points), d.points[1]
(6, {'flow.bulk.tcp.law': 'reno', 'flow.bulk.count': 2})
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from crosswind.errors import InputError
from crosswind.run.wanted import MAX_REPS, SEEDS, is_seed
from crosswind.scenario import parse_value, quantity, show
from crosswind.stats.precision import HELP, Precision

Scale = Literal["linear", "log"]
Changes = dict[str, Any]
RANGE_HELP = 'a list of choices or a range such as { from = "1 ms", to = "300 ms", scale = "log" }'
POINTS_MAX = 1_000_000


@dataclass(frozen=True)
class Range:
    """Values between two ends, drawn evenly on a linear or a logarithmic scale; whole numbers where both ends are."""

    low: Any
    high: Any
    scale: Scale = "linear"

    def at(self, share: float) -> Any:
        """The value at a share (0..1) of the range."""
        ends = quantity.common([self.low, self.high])
        if ends is None:
            raise InputError("range", found=f"{show(self.low)} to {show(self.high)}", expected="two quantities alike")
        _, (low, high) = ends
        if self.scale == "log" and low <= 0:
            raise InputError("range", found=f"a logarithmic scale from {show(self.low)}", expected="an end above zero")
        value = low * (high / low) ** share if self.scale == "log" else low + (high - low) * share
        if isinstance(self.low, str):
            return quantity.written(value, self.low)
        return round(value) if isinstance(self.low, int) and isinstance(self.high, int) else float(f"{value:.6g}")


Axis = Range | Sequence[Any]


@dataclass(frozen=True)
class Design:
    """Points in the order in which they are run. `paths` are all paths that some point changes, in order."""

    points: list[Changes]

    @property
    def paths(self) -> list[str]:
        return list(dict.fromkeys(path for p in self.points for path in p))

    def __mul__(self, other: Design) -> Design:
        both = set(self.paths) & set(other.paths)
        if both:
            raise InputError("sweep", path=sorted(both)[0], found="two axes for one path", expected="one")
        count = len(self.points) * len(other.points)
        if count > POINTS_MAX:
            raise InputError("sweep", found=f"{count:,} combinations", expected=f"at most {POINTS_MAX:,}")
        return Design([{**a, **b} for a, b in itertools.product(self.points, other.points)])

    def __len__(self) -> int:
        return len(self.points)


ONE_POINT = Design([{}])


def grid(axes: Mapping[str, Sequence[Any]]) -> Design:
    """Every combination of the values of every path."""
    out = ONE_POINT
    for path, values in axes.items():
        out = out * Design([{path: v} for v in _distinct(path, values)])
    return out


def zipped(axes: Mapping[str, Sequence[Any]]) -> Design:
    """The first values of all paths together, then the second ones, and so on. All lists have one length."""
    lengths = {path: len(values) for path, values in axes.items()}
    if len(set(lengths.values())) > 1:
        said = ", ".join(f"{n} for {path}" for path, n in lengths.items())
        raise InputError("sweep", path="zip", found=said, expected="as many values for each path")
    return (
        Design([dict(zip(axes, row, strict=True)) for row in zip(*axes.values(), strict=True)]) if axes else ONE_POINT
    )


def random(axes: Mapping[str, Axis], *, points: int, seed: int = 1) -> Design:
    """Points drawn independently: uniformly from each range or list."""
    rng = np.random.default_rng(seed)
    shares = rng.random((_positive(points), len(axes)))
    return _drawn(axes, shares)


def latin_hypercube(axes: Mapping[str, Axis], *, points: int, seed: int = 1) -> Design:
    """Points that cover each axis evenly: a range is cut into as many parts as there are points, each used once."""
    rng = np.random.default_rng(seed)
    parts = np.array([rng.permutation(_positive(points)) for _ in axes]).reshape(len(axes), points).T
    return _drawn(axes, (parts + rng.random(parts.shape)) / points)


def _drawn(axes: Mapping[str, Axis], shares: Any) -> Design:
    def value(axis: Axis, share: float) -> Any:
        if isinstance(axis, Range):
            return axis.at(share)
        return axis[min(math.floor(share * len(axis)), len(axis) - 1)]

    return Design([{p: value(a, float(s)) for (p, a), s in zip(axes.items(), row, strict=False)} for row in shares])


def _positive(points: int) -> int:
    if not _is_whole(points, POINTS_MAX):
        raise InputError("sweep", path="points", found=show(points), expected=_SETTINGS["points"][1])
    return points


def _distinct(path: str, values: Sequence[Any]) -> list[Any]:
    if isinstance(values, str) or not isinstance(values, Sequence) or not values:
        raise InputError("sweep", path=path, found=show(values), expected="a list of values")
    out: list[Any] = []
    for v in values:
        if v not in out:
            out.append(v)
    return out


# ---- the [sweep] table of a scenario file ----------------------------------------------------------------------------

_KEYS = ("reps", "seed", "precision", "skip_invalid", "grid", "zip", "random", "latin-hypercube")


#: What stands beside the axes: what each may be, and how that is said.
_SETTINGS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "reps": (lambda v: _is_whole(v, MAX_REPS), f"a whole number from 1 to {MAX_REPS:,}"),
    "seed": (is_seed, SEEDS),
    "points": (lambda v: _is_whole(v, POINTS_MAX), f"a whole number from 1 to {POINTS_MAX:,}"),
    "precision": (lambda v: _is_precision(v), f"{HELP}, or a list of these"),
    "skip_invalid": (lambda v: isinstance(v, bool), "true or false"),
}


def check_settings(table: Mapping[str, Any], path: str, where: str) -> None:
    """Refuses what a `[sweep]` table at `path` states of repetitions, seed, points and precision, where it is none."""
    for key, (fits, expected) in _SETTINGS.items():
        if key in table and not fits(table[key]):
            raise InputError(where, path=f"{path}.{key}", found=show(table[key]), expected=expected)


def _is_whole(value: Any, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most


def _is_precision(value: Any) -> bool:
    texts = value if isinstance(value, list) else [value]
    try:
        return all(isinstance(t, str) and Precision.parse(t) for t in texts)
    except InputError:
        return False


def from_table(table: Mapping[str, Any], where: str = "scenario") -> Design:
    """The design that a `[sweep]` table describes; its parts multiply."""
    for key in table:
        if key not in _KEYS:
            raise InputError(where, path=f"sweep.{key}", found=f"`{key}`", expected=f"one of {', '.join(_KEYS)}")
    check_settings(table, "sweep", where)
    out = grid(_lists(table.get("grid", {}), "sweep.grid", where))
    zips = table.get("zip", [])
    for i, one in enumerate(zips if isinstance(zips, list) else [zips]):
        out = out * zipped(_lists(one, f"sweep.zip[{i}]", where))
    if "random" in table:
        out = out * random(**_sampled(table["random"], "sweep.random", where))
    if "latin-hypercube" in table:
        out = out * latin_hypercube(**_sampled(table["latin-hypercube"], "sweep.latin-hypercube", where))
    return out


def _lists(table: Any, path: str, where: str) -> dict[str, list[Any]]:
    out: dict[str, list[Any]] = {}
    for key, value in _flat(table, path, where).items():
        if not isinstance(value, list) or not value:
            raise InputError(where, path=f"{path}.{key}", found=show(value), expected="a list of values")
        out[key] = value
    return out


def _sampled(table: Any, path: str, where: str) -> dict[str, Any]:
    flat = _flat(table, path, where)
    settings: dict[str, Any] = {k: flat.pop(k) for k in ("points", "seed") if k in flat}
    if "points" not in settings:
        raise InputError(where, path=path, found="no `points`", expected="how many points to draw, e.g. points = 50")
    check_settings(settings, path, where)
    axes: dict[str, Any] = {k: _axis(v, f"{path}.{k}", where) for k, v in flat.items()}
    return {"axes": axes} | settings


def _axis(value: Any, path: str, where: str) -> Axis:
    if isinstance(value, list) and value:
        return value
    if isinstance(value, dict) and {"from", "to"} <= set(value) <= {"from", "to", "scale"}:
        scale = value.get("scale", "linear")
        if scale in ("linear", "log"):
            return Range(value["from"], value["to"], scale)
    raise InputError(where, path=path, found=show(value), expected=RANGE_HELP)


def _flat(table: Any, path: str, where: str) -> dict[str, Any]:
    """Nested tables as dotted paths: `link.x.rate = [..]` and `"link.x.rate" = [..]` are the same."""
    if not isinstance(table, dict):
        raise InputError(where, path=path, found=show(table), expected="a table of paths")
    out: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict) and not {"from", "to"} <= set(value):
            out |= {f"{key}.{inner}": v for inner, v in _flat(value, f"{path}.{key}", where).items()}
        else:
            out[key] = value
    return out


# ---- options of the command line -------------------------------------------------------------------------------------


def split_values(text: str) -> list[str]:
    """Splits at commas outside of brackets and quotes."""
    parts, depth, quote, part = [], 0, "", ""
    for c in text:
        if quote:
            quote = "" if c == quote else quote
        elif c in "\"'":
            quote = c
        elif c in "[{(":
            depth += 1
        elif c in "]})":
            depth -= 1
        if c == "," and depth == 0 and not quote:
            parts.append(part)
            part = ""
        else:
            part += c
    return [p.strip() for p in [*parts, part] if p.strip()]


def parse_axis(text: str, option: str) -> tuple[str, Axis]:
    """`path=a,b,c`, or `path=a..b` and `path=a..b log` for a range. Raises InputError otherwise."""
    path, eq, values = text.partition("=")
    path = path.strip()
    items = split_values(values)
    if not eq or not path or not items:
        raise InputError(option, found=f"`{text}`", expected="path=a,b,c, e.g. flow.bulk.count=1,2,4")
    if len(items) == 1 and ".." in items[0]:
        low, _, high = items[0].partition("..")
        high, log, _ = high.partition(" log")
        return path, Range(parse_value(low), parse_value(high), "log" if log else "linear")
    return path, [parse_value(v) for v in items]

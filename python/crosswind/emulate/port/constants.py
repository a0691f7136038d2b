"""From the parameters of a law to the constants and tables of its C."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from crosswind.core import registry
from crosswind.errors import InputError, UnknownNameError
from crosswind.scenario.quantity import parse

Params = Mapping[str, Any]
Constants = dict[str, str]

#: Steps in each power of two of a table (`looked_up` in data/common.c).
STEPS = 16
#: Powers of two that a table of windows covers, in segments, and one of round-trip times, in microseconds.
WINDOWS = (5, 20)
RTTS_us = (7, 24)
#: Layers of LTCP that its C knows: the last begins at 2.2 million segments with the default threshold.
LAYERS = 64


@dataclass(frozen=True)
class Portable:
    """A law that can be ported. `bound`: largest relative error of its window, and `why` it is not smaller."""

    name: str
    constants: Callable[[Params], Constants]
    bound: float
    why: str

    @property
    def kernel_name(self) -> str:
        """What the kernel calls it."""
        return f"cw_{self.name}"


def q(value: float, bits: int) -> str:
    """A number with so many bits behind the point."""
    return str(round(value * (1 << bits)))


def in_rows(values: list[str], per_line: int = 8) -> str:
    """Numbers of a table, as C has them."""
    lines = [values[i : i + per_line] for i in range(0, len(values), per_line)]
    return "\n".join("\t" + ", ".join(line) + "," for line in lines)


def places(powers: tuple[int, int]) -> list[float]:
    """Where a table has its values: STEPS of them in each power of two, and the end."""
    first, last = powers
    inner = [(1 + step / STEPS) * 2.0**power for power in range(first, last) for step in range(STEPS)]
    return [*inner, 2.0**last]


def of_table(powers: tuple[int, int]) -> Constants:
    return {"FIRST": str(powers[0]), "LAST": str(powers[1]), "ROWS": str(len(places(powers)))}


def scalable(p: Params) -> Constants:
    if (version := p["version"]) != "kelly-2003":
        raise InputError("scalable.version", found=f"`{version}`", expected="kelly-2003: only that one can be ported")
    per_ack = p.get("per_ack") or 0.01
    return {"PER_ACK_q32": q(per_ack, 32), "KEPT_q32": q(1 - p["beta"], 32), "LEGACY_q32": q(p["legacy_window"], 32)}


def hstcp(p: Params) -> Constants:
    """a(w) and 1 - b(w) of RFC 3649, section 5: straight lines between the ends on logarithmic axes.

    Below `low_window` the tables go on as they are: a limit there would bend the step that it lies in.
    """
    low, high, high_p = p["low_window"], p["high_window"], p["high_p"]
    low_p = min(1.0, p.get("low_p") or 1.5 / low**2)
    windows = places(WINDOWS)

    def place(w: float) -> float:
        return math.log(w / low) / math.log(high / low)

    def decrease(w: float) -> float:
        return float(max(0.01, 0.5 + (p["high_decrease"] - 0.5) * place(w)))

    def increase(w: float) -> float:
        rate, b = low_p * (high_p / low_p) ** place(w), decrease(w)
        return float(2 * w * w * rate * b / (2 - b))

    if low < 2 ** WINDOWS[0] or increase(windows[-1]) >= 2**12:
        expected = f"a low window of {2 ** WINDOWS[0]} or more, and a growth below 4096 segments"
        raise InputError("hstcp", found=f"low_window = {low:g}, high_p = {high_p:g}", expected=expected)
    tables = {
        "INCREASE_q20": in_rows([q(increase(w), 20) for w in windows]),
        "KEEP_q31": in_rows([q(1 - decrease(w), 31) for w in windows]),
    }
    return {"LOW_q32": q(low, 32), **of_table(WINDOWS), **tables}


def bic(p: Params) -> Constants:
    kept = 1 - p["beta"]
    if p["s_max"] > 2**15:
        raise InputError("bic.s_max", found=f"{p['s_max']:g}", expected="at most 32768 segments")
    return {
        "LOW_q32": q(p["low_window"], 32),
        "S_MAX_q24": q(p["s_max"], 24),
        "S_MIN_q24": q(p["s_min"], 24),
        "DIVISOR_q8": q(p["search_divisor"], 8),
        "KEPT_q32": q(kept, 32),
        "CONVERGED_q32": q((1 + kept) / 2, 32),
        "CONVERGES": str(int(p["fast_convergence"] == "on")),
    }


def ltcp(p: Params) -> Constants:
    exponent, reference_us = p["kr_exponent"], micros(p["kr_ref_rtt"])

    def kr(rtt_us: float) -> float:
        return float(p["kr_ref"] * (rtt_us / reference_us) ** exponent)

    rtts = places(RTTS_us)
    if max(kr(rtts[0]), kr(rtts[-1])) >= 2**12:
        raise InputError("ltcp.kr_ref", found=f"{p['kr_ref']:g}", expected="one that stays below 4096 at any delay")
    floors = [k * (k + 1) * (k - 1) / 6 * p["threshold"] for k in range(1, LAYERS + 2)]
    if floors[-1] >= 2**32:
        raise InputError("ltcp.threshold", found=f"{p['threshold']:g}", expected="at most 90000 segments")
    return {
        "LAYERS": str(LAYERS),
        "VARIABLE": str(int(p["decrease"] == "variable")),
        "KEPT_q32": q(1 - p["beta"], 32),
        "KR_BEFORE_q20": q(p["kr_ref"] if exponent == 0 else 1.0, 20),
        "KR_VARIES": str(int(exponent > 0)),
        "FLOOR_q16": in_rows([q(f, 16) for f in floors]),
        "KR_q20": in_rows([q(kr(r), 20) for r in rtts]),
        **of_table(RTTS_us),
    }


def htcp(p: Params) -> Constants:
    return {
        "ADAPTIVE": str(int(p["adaptive_backoff"] == "on")),
        "SCALED": str(int(p["rtt_scaling"] == "on")),
        "LOW_SPEED_us": str(round(micros(p["low_speed"]))),
        "BETA_MIN_q16": q(p["beta_min"], 16),
        "BETA_MAX_q16": q(p["beta_max"], 16),
        "STEADY_FROM_q16": q(max(0.0, 1 - p["rate_change"]), 16),
        "STEADY_TO_q16": q(1 + p["rate_change"], 16),
    }


def micros(written: Any) -> float:
    """A time as written, in microseconds."""
    found = parse(written)
    assert found is not None
    return found.value / 1e3


LAWS: dict[str, Portable] = {
    law.name: law
    for law in (
        Portable("hstcp", hstcp, 5e-4, "a(w) and b(w) are tables with 16 steps in each power of two"),
        Portable("scalable", scalable, 1e-6, "the part of a segment that an ACK adds has 32 bits"),
        Portable("htcp", htcp, 1e-3, "times are in microseconds, and the share that a loss keeps has 16 bits"),
        Portable("ltcp", ltcp, 2e-4, "K_R is a table with 16 steps in each power of two of the round-trip time"),
        Portable("bic", bic, 5e-5, "growth has 24 bits, its share of the window 32"),
    )
}
#: Laws that a kernel has of its own.
OF_THE_KERNEL = ("bbr", "cubic", "reno")


def portable(name: str) -> Portable:
    """A law by its name. Raises UnknownNameError with the nearest one, and InputError for one that cannot be ported."""
    if name in LAWS:
        return LAWS[name]
    names = [row["name"] for row in registry("law")]
    if name in OF_THE_KERNEL:
        hint = "the kernel has its own: `crosswind run SCENARIO --mode emulate` takes it"
    elif name in names:
        hint = "what it does (pacing, delays, marks) does not fit into a window law in whole numbers yet"
    else:
        raise UnknownNameError("port", name, "law to port", LAWS)
    raise InputError("port", found=f"`{name}`", expected=f"one of {', '.join(sorted(LAWS))}", hint=hint)

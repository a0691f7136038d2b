"""Numbers as `tc` reads them: bits per second, bytes, nanoseconds, shares."""

from __future__ import annotations

import math
import re

# What bare numbers are: bits per second, bytes, microseconds.
RATES = {"": 1.0, "bit": 1.0, "bps": 8.0}
PREFIXES = {"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "ki": 2.0**10, "mi": 2.0**20, "gi": 2.0**30, "ti": 2.0**40}
SIZES = {"": 1.0, "b": 1.0, "k": 2.0**10, "m": 2.0**20, "g": 2.0**30}
SIZES |= {f"{p}b": SIZES[p] for p in "kmg"} | {f"{p}bit": SIZES[p] / 8 for p in "kmg"}
TIMES = {"": 1e3, "s": 1e9, "sec": 1e9, "secs": 1e9, "ms": 1e6, "msec": 1e6, "msecs": 1e6}
TIMES |= {"us": 1e3, "usec": 1e3, "usecs": 1e3, "ns": 1.0, "nsec": 1.0, "nsecs": 1.0}
# As scenarios write them.
SHOWN_RATES = ((10**9, "Gbit/s"), (10**6, "Mbit/s"), (10**3, "kbit/s"), (1, "bit/s"))
SHOWN_TIMES = ((10**9, "s"), (10**6, "ms"), (10**3, "us"), (1, "ns"))
MOST = 2**53
_NUMBER = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)([a-z]*)")


class UnreadError(Exception):
    """A text that is no such number; `expected` says what would be, `found` which text where it is not the first."""

    def __init__(self, expected: str, found: str = "") -> None:
        super().__init__(expected)
        self.expected, self.found = expected, found


def _scaled(text: str, units: dict[str, float], expected: str) -> int:
    m = _NUMBER.fullmatch(text.lower())
    if m is None or m[2] not in units:
        raise UnreadError(expected)
    value = float(m[1]) * units[m[2]]
    if not math.isfinite(value) or value > MOST:
        raise UnreadError(f"{expected}, and not that much")
    return round(value)


def rate(text: str, kbit: int = 1000) -> int:
    """Bits per second. A kbit has 1000 bits, or 1024 in early versions of `tc`."""
    powers = {"k": 1, "m": 2, "g": 3, "t": 4}
    units = dict(RATES)
    for prefix, factor in PREFIXES.items():
        scale = float(kbit) ** powers[prefix] if prefix in powers else factor
        units |= {f"{prefix}bit": scale, f"{prefix}bps": 8 * scale}
    return _scaled(text, units, "a rate as tc reads it, such as 140kbit or 10mbit")


def size(text: str) -> int:
    """Bytes; a cell size behind a slash, as in `15k/8`, is of the kernel's table and says nothing here."""
    return _scaled(text.partition("/")[0], SIZES, "bytes as tc reads them, such as 20000 or 20kb")


def time(text: str) -> int:
    """Nanoseconds; a bare number is microseconds."""
    return _scaled(text, TIMES, "a time as tc reads it, such as 5ms or 100us")


def share(text: str) -> float:
    """A share from 0 to 1, written in percent."""
    if not text.endswith("%"):
        raise UnreadError("a share in percent, such as 1%")
    value = number(text[:-1]) / 100
    if not 0 <= value <= 1:
        raise UnreadError("a share from 0% to 100%")
    return value


def number(text: str) -> float:
    """Any finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UnreadError("a number")
    return value


def count(text: str) -> int:
    """A whole number, such as of packets; `p` may follow."""
    if not re.fullmatch(r"[0-9]{1,9}p?", text):
        raise UnreadError("a whole number of packets")
    return int(text.rstrip("p"))


def integer(text: str, most: int = 2**32 - 1) -> int:
    """A whole number in decimal or, behind 0x, in hexadecimal digits."""
    if (
        not re.fullmatch(r"0[xX][0-9a-fA-F]{1,8}|[0-9]{1,10}", text)
        or (value := int(text, 0 if "x" in text.lower() else 10)) > most
    ):
        raise UnreadError(f"a whole number up to {most}, such as 80 or 0xffff")
    return value


def shown_rate(bps: int) -> str:
    """A rate as a scenario writes it."""
    power, unit = next((p, u) for p, u in SHOWN_RATES if bps % p == 0)
    return f"{bps // power} {unit}"


def shown_time(ns: int) -> str:
    """A time as a scenario writes it."""
    power, unit = next((p, u) for p, u in SHOWN_TIMES if ns % p == 0)
    return f"{ns // power} {unit}"

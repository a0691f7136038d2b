"""A window law of one's own, in Python, for teaching and first ideas.

A law is two functions of the window in segments: how much congestion avoidance adds per window of acknowledged data,
and what share a reduction keeps. They are looked up in a table that is made once, so a run with such a law is as fast
as any other. A law that remembers more than its window is a class (`RememberingLaw`), and Python is asked on every ACK:
for teaching, and far slower. A law for serious work is written in Rust: see "How to add something".

>>> mine = window_law(increase=lambda w: 1.0, keep=lambda w: 0.5)     # Reno
>>> mine.rows[0]
{'window': 1.0, 'increase': 1.0, 'keep': 0.5}
"""

from __future__ import annotations

import hashlib
import inspect
import math
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from crosswind.errors import InputError
from crosswind.scenario import Scenario

if TYPE_CHECKING:
    from crosswind._core import LawFacts

WINDOW_MAX = 100_000.0
ROWS = 160


@dataclass(frozen=True)
class WindowLaw:
    """A window law as a table; `settings` goes into the `tcp` table of a flow."""

    rows: list[dict[str, float]]

    @property
    def settings(self) -> dict[str, Any]:
        """What it is in a scenario: `tcp = { law = "tabulated", law_table = [..] }`."""
        return {"law": "tabulated", "law_table": self.rows}

    def on(self, scenario: Scenario, *flows: str) -> Scenario:
        """The scenario with this law for these flow groups (all, if none is named)."""
        names = flows or tuple(scenario.get("flow") or {})
        changes = {f"flow.{n}.tcp.{k}": v for n in names for k, v in self.settings.items()}
        return scenario.with_(changes)


def window_law(increase: Callable[[float], float], keep: Callable[[float], float]) -> WindowLaw:
    """Makes a law of two functions of the window in segments.

    `increase(w)`: segments added per window of acknowledged data. `keep(w)`: share of the window that a reduction
    keeps, 0 to 1. Both are asked at 160 windows from 1 to 100 000 and interpolated between them. Raises InputError for
    values that make no sense.
    """
    rows = []
    for i in range(ROWS):
        w = math.exp(math.log(WINDOW_MAX) * i / (ROWS - 1))
        a, b = float(increase(w)), float(keep(w))
        if not (a >= 0 and math.isfinite(a)):
            raise InputError(
                "law", path="increase", found=f"{a} at {w:.4g} segments", expected="a number of at least 0"
            )
        if not 0 <= b <= 1:
            raise InputError("law", path="keep", found=f"{b} at {w:.4g} segments", expected="a share from 0 to 1")
        rows.append({"window": w, "increase": a, "keep": b})
    return WindowLaw(rows)


class RememberingLaw(Protocol):
    """A window law of one's own with a memory: one object for each connection, made without arguments.

    `facts` has, in segments and seconds: `now_s`, `cwnd`, `ssthresh`, `flight` (in the network before the ACK; with a
    loss what the profile reduces from), `acked`, `rtt_s` (None when the ACK gives no sample), `delivered` (in order or
    by SACK), `lost` (shown by this ACK), `ce` (delivered by an ACK that reports marks), `in_flight` (after the ACK),
    `recovering`, `may_grow` and, with a loss, `why`: "loss", "timeout", "echo" (ECN), "early" or "local" (the host's
    own queue is full).

    A law hears of ACKs on which the profile lets the window grow. With `every_ack = True` in the class it hears of all
    of them, and `facts` has `rate` (segments per second, None without a sample), `app_limited`, `least_rtt_s` and
    `rounds` (round trips so far), too.
    """

    def on_ack(self, facts: LawFacts) -> float | None:
        """The new window in segments. None: slow start goes on below the threshold, above it nothing changes."""

    def on_loss(self, facts: LawFacts) -> float | None:
        """The window in segments that is kept, at least two; None: half the flight. A timeout starts again from one."""


Laws = Mapping[str, Callable[[], RememberingLaw]]


def checked_laws(laws: Laws) -> dict[str, dict[str, Any]]:
    """What the manifest says of laws of one's own: where each comes from, the digest of its file, and its identity.

    The identity names it among all laws that there have been, so that runs with it need not be made twice. A law whose
    behaviour does not follow from a file has no digest, and an identity that never comes again.
    """
    out = {}
    for name, law in laws.items():
        missing = [m for m in ("on_ack", "on_loss") if isinstance(law, type) and not callable(getattr(law, m, None))]
        if not callable(law) or missing:
            found = f"a class without {' and '.join(missing)}" if missing else type(law).__name__
            raise InputError("laws", path=name, found=found, expected="a class with on_ack and on_loss")
        where = f"{getattr(law, '__module__', '?')}.{getattr(law, '__qualname__', '?')}"
        digest = _digest(law)
        identity = digest or uuid.uuid4().hex
        out[name] = {"class": where, "source_digest": digest, "identity": identity, "slow_path": True}
    return out


def identities(own_laws: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The identity of each law of which a manifest tells."""
    return {name: str(told.get("identity", told.get("source_digest"))) for name, told in own_laws.items()}


def _digest(law: object) -> str | None:
    """Of the file that defines the class (helpers in it count) and its plain attributes, which a program may set.

    None: what a function made, or what stands in no file, may differ though its text does not.
    """
    if not isinstance(law, type) or "<locals>" in law.__qualname__:
        return None
    try:
        text = _file_of(law).read_text(encoding="utf-8")
    except (OSError, TypeError, UnicodeDecodeError):
        return None
    plain = sorted((k, v) for k, v in vars(law).items() if isinstance(v, int | float | str) and not k.startswith("__"))
    whole = f"{law.__qualname__}{plain}{text}"
    return hashlib.blake2b(whole.encode(), digest_size=8).hexdigest()


def _file_of(law: type) -> Path:
    """The file that defines a class. Of a program that was not imported its own functions tell. Raises TypeError."""
    try:
        return Path(inspect.getfile(law))
    except TypeError:
        own = [f for f in vars(law).values() if inspect.isfunction(f) and f.__module__ == law.__module__]
        if not own:
            raise
        return Path(inspect.unwrap(own[0]).__code__.co_filename)

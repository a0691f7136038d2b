"""A measured value in its band, as a picture that fits into a line of text."""

from __future__ import annotations

import math
from typing import Any

from markupsafe import Markup

WIDTH, HEIGHT = 150, 16


def spark(part: dict[str, Any]) -> Markup:
    """The accepted band (grey), the measured value (dot), its interval (line) and the published value (bar).

    `part` is one of the `parts` of a row of claims; nothing is drawn when nothing was measured.
    """
    value = part.get("value")
    if value is None:
        return Markup("")
    low, high = part.get("low"), part.get("high")
    ends = [
        v
        for v in (value, low, high, part.get("printed"), part.get("accept_low"), part.get("accept_high"))
        if v is not None
    ]
    left, right = min(ends), max(ends)
    room = (right - left) * 0.15 or abs(value) * 0.1 or 1.0
    left, right = left - room, right + room

    def at(v: float | None, other: float) -> float:
        return other if v is None or not math.isfinite(v) else (v - left) / (right - left) * WIDTH

    a, b = at(part.get("accept_low"), 0.0), at(part.get("accept_high"), float(WIDTH))
    x, y = at(value, 0.0), HEIGHT / 2
    line = f'<path d="M{at(low, x):.1f} {y}H{at(high, x):.1f}"/>' if low is not None and high is not None else ""
    known = part.get("printed")
    bar = "" if known is None else f'<path class="printed" d="M{at(known, 0.0):.1f} 1V{HEIGHT - 1}"/>'
    label = f"accepted band, and the measured value {'inside' if a - 0.01 <= x <= b + 0.01 else 'outside'} it"
    return Markup(
        f'<svg class="spark" role="img" aria-label="{label}" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}"><rect x="{a:.1f}" y="2" width="{max(b - a, 1.5):.1f}" height="{HEIGHT - 4}"/>{line}{bar}'
        f'<circle cx="{x:.1f}" cy="{y}" r="3.2"/></svg>'
    )

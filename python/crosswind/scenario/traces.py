"""Capacity traces as link input: Mahimahi's (one delivery opportunity per line), and CSV with rates over time.

A link with `type = "trace"` and `trace = "FILE"` gets the opportunities of the file, which lies beside the scenario's.
"""

from __future__ import annotations

import csv
import itertools
import math
from pathlib import Path
from typing import Any

from crosswind.errors import InputError

OPPORTUNITY_BYTES = 1504
LINES_MAX = 5_000_000
TIME_COLUMNS = {"time_s": 1e3, "time_ms": 1.0, "timestamp_s": 1e3, "timestamp_ms": 1.0, "t_s": 1e3, "s": 1e3, "ms": 1.0}
RATE_COLUMNS = {"rate_bps": 1.0, "rate_kbps": 1e3, "rate_mbps": 1e6, "bps": 1.0, "kbps": 1e3, "mbps": 1e6}
FORMS = (
    "a Mahimahi trace (one whole number of milliseconds per line, not decreasing) or a CSV with a time and a rate "
    f"column ({', '.join(TIME_COLUMNS)}; {', '.join(RATE_COLUMNS)})"
)


def read(path: Path, opportunity_bytes: int = OPPORTUNITY_BYTES) -> list[int]:
    """The delivery opportunities of a trace file, in milliseconds. Raises InputError with the line that is wrong."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        raise InputError(str(path), found="no such file", expected=FORMS) from None
    except (OSError, UnicodeDecodeError) as e:
        raise InputError(str(path), found=f"a file that cannot be read ({e})", expected=FORMS) from None
    if len(lines) > LINES_MAX:
        raise InputError(str(path), found=f"{len(lines):,} lines", expected=f"at most {LINES_MAX:,}")
    first = next((line for line in lines if line.strip() and not line.startswith("#")), "")
    if not first:
        raise InputError(str(path), found="an empty file", expected=FORMS)
    if first.strip().isdigit():
        return _mahimahi(lines, path)
    return opportunities(_rates(lines, path), opportunity_bytes)


def _mahimahi(lines: list[str], path: Path) -> list[int]:
    out: list[int] = []
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if not text.isdigit() or (out and int(text) < out[-1]):
            why = "below the one before" if text.isdigit() else "no whole number"
            raise InputError(f"{path}:{number}", found=f"`{text}`, {why}", expected=FORMS)
        out.append(int(text))
    if out[-1] == 0:
        raise InputError(str(path), found="a trace that ends at 0 ms", expected="a last instant above 0")
    return out


def _rates(lines: list[str], path: Path) -> list[tuple[float, float]]:
    """(milliseconds, bits per second), from a CSV with a head."""
    rows = list(csv.reader(line for line in lines if line.strip() and not line.startswith("#")))
    heads = [h.strip().lower() for h in rows[0]]
    time = next((i for i, h in enumerate(heads) if h in TIME_COLUMNS), None)
    rate = next((i for i, h in enumerate(heads) if h in RATE_COLUMNS), None)
    if time is None or rate is None:
        raise InputError(str(path), found=f"columns {', '.join(heads)}", expected=FORMS)
    out: list[tuple[float, float]] = []
    for number, row in enumerate(rows[1:], start=2):
        try:
            at, bps = float(row[time]) * TIME_COLUMNS[heads[time]], float(row[rate]) * RATE_COLUMNS[heads[rate]]
        except (ValueError, IndexError):
            raise InputError(f"{path}:{number}", found=f"`{','.join(row)}`", expected="numbers") from None
        if not (math.isfinite(at) and math.isfinite(bps)) or bps < 0 or at < 0 or (out and at <= out[-1][0]):
            expected = "times that grow and rates that are not negative"
            raise InputError(f"{path}:{number}", found=f"`{','.join(row)}`", expected=expected)
        out.append((at, bps))
    if len(out) < 2:
        raise InputError(str(path), found=f"{len(out)} rows", expected="at least two: a rate holds until the next time")
    return out


def opportunities(rates: list[tuple[float, float]], opportunity_bytes: int = OPPORTUNITY_BYTES) -> list[int]:
    """Milliseconds at which another `opportunity_bytes` have become due, at rates that hold until the next time.

    >>> opportunities([(0.0, 12_032_000.0), (3.0, 0.0), (5.0, 0.0)])
    [1, 2, 3, 5]
    """
    step = opportunity_bytes * 8.0
    out: list[int] = []
    due = 0.0
    start = rates[0][0]
    for (at, bps), (until, _) in itertools.pairwise(rates):
        now, per_ms = at - start, bps / 1e3
        end = until - start
        while per_ms > 0 and (step - due) / per_ms <= end - now + 1e-9:
            now += (step - due) / per_ms
            due = 0.0
            out.append(max(1, round(now)))
        due += (end - now) * per_ms
    last = round(rates[-1][0] - start)
    # The trace repeats after its last instant: it must last as long as the rates do.
    return out if out and out[-1] >= last else [*out, max(1, last)]


def expanded(data: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The scenario with the contents of trace files in the place of their names; the same object without any."""
    out = {}
    for key in ("link", "topology"):
        links = data.get(key)
        if not isinstance(links, dict):
            continue
        filled = {name: _filled(link, folder) for name, link in links.items()}
        if key == "topology" and isinstance(pairs := links.get("pair"), dict):
            filled["pair"] = {number: _filled(link, folder) for number, link in pairs.items()}
        if filled != links:
            out[key] = filled
    return {**data, **out} if out else data


def _names_file(link: Any) -> bool:
    return isinstance(link, dict) and ("trace" in link or "trace" in (link.get("reverse") or {}))


def _filled(link: Any, folder: Path) -> Any:
    if not _names_file(link):
        return link
    out = dict(link)
    if isinstance(out.get("trace"), str):
        out["opportunities_ms"] = read(folder / out.pop("trace"))
    if isinstance(out.get("reverse"), dict):
        out["reverse"] = _filled(out["reverse"], folder) if "trace" in out["reverse"] else out["reverse"]
    return out

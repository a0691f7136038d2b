"""What must hold for every scenario. Runs in a process of its own, which may hang, run out of memory or die."""

from __future__ import annotations

import contextlib
import json
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from crosswind import core as door

#: A run that takes longer is asked to stop; that it does is checked, that it would have ended is not. Seconds of the
#: processor, which are the same on a machine that has other work.
PATIENCE_s = 4.0
#: What the engine did, not what happened: it may depend on what is recorded.
OF_THE_ENGINE = {"wall_ns", "events", "peak_packets", "truncated_events"}
#: Known only where ties are shuffled; and what is counted between two events: a packet of another flow that is sent or
#: arrives at the very instant of one of them counts or not by their order, also where no packets meet at a line.
OF_TIES = {"meetings_packets", "first_meeting_ns", "first_meeting", "simultaneous_Bps", "simultaneous_jain_ratio"}
#: Tables whose rows are what was recorded.
RECORDED = {"sample", "hist", "event"}
REPS = [0, 1]

Tables = dict[str, dict[str, Any]]


class Failure(Exception):  # noqa: N818
    """A check that failed: its name, and what was seen."""

    def __init__(self, check: str, seen: str) -> None:
        super().__init__(f"{check}: {seen}")
        self.check, self.seen = check, seen


def refusal(scenario: dict[str, Any]) -> str | None:
    """The path at which `validate` refuses the scenario; None: it accepts it."""
    engine = door.core()
    try:
        engine.validate(json.dumps(scenario))
    except engine.ScenarioError as e:
        return str(e.path)
    except BaseException as e:
        raise Failure("validate-fails", f"{type(e).__name__}: {e}") from None
    return None


def examine(scenario: dict[str, Any]) -> dict[str, int]:
    """Runs all checks on an accepted scenario; raises Failure. What was run, as numbers."""
    normal = _normal_form(scenario)
    plain = {k: v for k, v in scenario.items() if k != "record"}
    # Files that a scenario names begin in the folder in which the engine runs.
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        watched = {**scenario, "record": _recorded(scenario.get("seed", 1))}
        variants = {"plain": plain, "as written": scenario, "watched": watched, "normal form": normal}
        done = run(list(variants.values()), 1)
        if done is None:
            return {"slow": 1, "runs": 0}
        for number, name in enumerate(variants):
            if name != "plain":
                _same(
                    _of(done, 0),
                    _of(done, number),
                    f"{name.replace(' ', '-')}-differs",
                    set() if number == 3 else OF_THE_ENGINE,
                )
        _balance(_of(done, 0), has_boundaries="contract" in scenario)
        captures = _captures(Path(folder))
        again = run(list(variants.values()), 3)
        if again is None:
            return {"slow": 1, "runs": 8}
        for name, table in done.items():
            if name not in again:
                raise Failure("workers-differ", f"no table {name} with three workers")
            _same_table(name, table, again[name], "workers-differ", {"wall_ns"})
        if _captures(Path(folder)) != captures:
            raise Failure("workers-differ", "the captures of packets differ")
    slowly = run([plain], 1, look_ahead=False)
    if slowly is not None:
        _same(_of(done, 0), _of(slowly, 0), "look-ahead-differs", OF_THE_ENGINE)
    shuffled = run([plain], 1, shuffled=True)
    if shuffled is not None:
        _balance(_of(shuffled, 0), has_boundaries="contract" in scenario)
        # The order of simultaneous events decides something only where packets met.
        if not shuffled["run"]["meetings_packets"].any():
            _same(_of(done, 0), _of(shuffled, 0), "shuffled-differs", OF_THE_ENGINE | OF_TIES)
    return {"slow": 0, "runs": 2 * len(REPS) * len(variants) + 2 * len(REPS)}


def _recorded(seed: int) -> dict[str, Any]:
    """All that can be recorded, or a part of it: each alone may change what the engine does."""
    kinds: dict[str, Any] = {
        "sample": f"{10 ** (seed // 7 % 4) + seed % 3} ms",
        "events": "all",
        "hist": "all",
        "pcap": "watched.pcapng",
    }
    series = {"series": ("gauges", "totals")[seed // 28 % 2]}
    return {**kinds, **series} if seed % 2 else {k: v for i, (k, v) in enumerate(kinds.items()) if i == seed // 2 % 4}


def _normal_form(scenario: dict[str, Any]) -> dict[str, Any]:
    """The scenario with all defaults, which is its own normal form; nothing is recorded."""
    engine = door.core()
    once = engine.validate(json.dumps(scenario))
    try:
        again = engine.validate(once)
    except engine.ScenarioError as e:
        raise Failure("normal-form-refused", str(e)) from None
    if once != again:
        raise Failure("normal-form-moves", "the normal form of the normal form is another one")
    normal: dict[str, Any] = json.loads(once)
    normal.pop("record", None)
    return normal


def run(
    scenarios: list[dict[str, Any]], workers: int, *, shuffled: bool = False, look_ahead: bool = True
) -> Tables | None:
    """The tables of two repetitions of each; None: it took too long, and stopped when it was asked to."""
    engine = door.core()
    began = time.process_time()

    def listens(_done: int, _total: int) -> None:
        if time.process_time() - began > PATIENCE_s:
            raise TimeoutError

    texts = [json.dumps(s) for s in scenarios]
    try:
        seed = scenarios[0].get("seed", 1)
        result = engine.run_many(texts, seed, REPS, len(REPS), workers, shuffled, listens, look_ahead=look_ahead)
    except engine.ScenarioError as e:
        raise Failure("validated-not-run", str(e)) from None
    except BaseException as e:
        raise Failure(_kind(str(e)), f"{type(e).__name__}: {e}") from None
    for _scenario, _rep, why in result.get("failed", ()):  # the others are kept
        raise Failure(_kind(why), why)
    return None if result["interrupted"] else result["tables"]


def _kind(message: str) -> str:
    """A short name for a message, the same for all numbers in it."""
    words = re.sub(r"[^a-z]+", "-", re.sub(r"`[^`]*`|\d+", "", message.lower())).strip("-")
    return f"breaks-{words[:70].strip('-')}"


def _of(tables: Tables, scenario: int) -> Tables:
    """The rows of one of the scenarios that ran together."""
    out = {}
    for name, table in tables.items():
        rows = table["scenario"] == scenario
        if not rows.any():
            continue
        columns = {}
        for column, values in table.items():
            if isinstance(values, tuple | list):
                values = np.array(values[1], dtype=object)[values[0]] if len(values[1]) else np.array([], dtype=object)
            columns[column] = values[rows] if column != "scenario" else np.zeros(int(rows.sum()))
        out[name] = columns
    return out


def _same(a: Tables, b: Tables, check: str, but: set[str]) -> None:
    """Every table of `a` stands in `b`, and is the same."""
    for name, table in a.items():
        if name in RECORDED and "events" in but:
            continue
        if name not in b:
            raise Failure(check, f"there is no table {name}")
        _same_table(name, table, b[name], check, {"wall_ns", *but})


def _same_table(name: str, a: dict[str, Any], b: dict[str, Any], check: str, but: set[str]) -> None:
    for column, values in a.items():
        if column in but:
            continue
        if column not in b:
            raise Failure(check, f"there is no column {name}.{column}")
        left, right = (np.asarray(v[0] if isinstance(v, tuple | list) else v) for v in (values, b[column]))
        if left.shape != right.shape:
            raise Failure(check, f"{name}.{column} has {left.shape} and {right.shape} rows")
        same = (left == right) | _nan(left) & _nan(right)
        if not same.all():
            at = int(np.argmin(same))
            raise Failure(check, f"{name}.{column}, row {at}: {left[at]} and {right[at]}")


def _nan(values: np.ndarray) -> np.ndarray:
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(values.shape, dtype=bool)


def _captures(folder: Path) -> dict[str, bytes]:
    return {f.name: f.read_bytes() for f in sorted(folder.iterdir())}


def _balance(tables: Tables, *, has_boundaries: bool) -> None:
    """No packet comes from nowhere; none is lost without a reason. The edges of domains shape and police too."""
    link, flow = tables.get("link"), tables.get("flow")
    if link is not None:
        drops = sum(v.astype(float) for k, v in link.items() if k.startswith("drops_"))
        for what, wrong in {
            "more sent than arrived": link["sent_packets"] > link["arrived_packets"],
            "more delivered than sent": link["delivered_packets"] > link["sent_packets"],
            "more delivered and dropped than arrived": link["delivered_packets"] + drops > link["arrived_packets"],
            "busy beyond the whole time": link["utilisation_ratio"] > 1 + 1e-9,
        }.items():
            if wrong.any():
                row = int(np.argmax(wrong))
                raise Failure("link-balance", f"{what}: {link['link'][row]} {link['direction'][row]}")
    if flow is not None:
        wrong = flow["received_packets"] > flow["sent_packets"]
        if wrong.any():
            raise Failure("flow-balance", f"more received than sent: {flow['name'][int(np.argmax(wrong))]}")
    if flow is not None and link is not None:
        gone = [float((flow["drops_packets"] + flow["lost_packets"])[flow["rep"] == r].sum()) for r in REPS]
        why = [float(sum(v[link["rep"] == r].sum() for k, v in link.items() if k.startswith("drops_"))) for r in REPS]
        if any(g < w or (g > w and not has_boundaries) for g, w in zip(gone, why, strict=True)):
            raise Failure("drops-balance", f"flows lost {gone} packets, links and queues dropped {why}")
    if (tables["run"]["leaked_packets"] != 0).any():
        raise Failure("leak", "packets are left")
    for name, column, values in _numbers(tables):
        if name in ("link", "flow") and column.endswith(("_ratio", "_bps")) and (values < 0).any():
            raise Failure("negative", f"{name}.{column}")


def _numbers(tables: Tables) -> Iterator[tuple[str, str, Any]]:
    for name, table in tables.items():
        for column, values in table.items():
            if values.dtype.kind == "f":
                yield name, column, values

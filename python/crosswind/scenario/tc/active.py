"""Queues that go by delay or pace flows, with the kernel's arithmetic: codel, pie and their kin, dualpi2, fq."""

from __future__ import annotations

import re
from typing import Any

from crosswind.errors import InputError
from crosswind.scenario.tc import units
from crosswind.scenario.tc.words import COUNT, NO, NUMBER, RATE, SIZE, TIME, YES, Word, Words, means, one, refused

Queue = dict[str, Any]
SIXTEENTHS_MAX = 32
BANDS = 3


def _sixteenths(text: str) -> float:
    value = units.count(text)
    if value > SIXTEENTHS_MAX:
        raise units.UnreadError(f"sixteenths up to {SIXTEENTHS_MAX}")
    return value / 16


def _percent(text: str) -> float:
    value = units.count(text.removesuffix("%"))
    if value > 100:
        raise units.UnreadError("whole percents up to 100")
    return value / 100


def _step(text: str) -> str:
    """From where L packets are marked: so many packets, or a time."""
    if m := re.fullmatch(r"([0-9]{1,9})(p|pkt|packets?)", text):
        return m[1]
    return units.shown_time(units.time(text))


def _weights(rest: Words) -> list[int]:
    return [one(units.count)(rest) for _ in range(BANDS)]


def _either(name: str, yes: str, no: str) -> dict[str, Word]:
    return {yes: Word(name, means(True)), no: Word(name, means(False))}


_ECN = {"ecn": Word("ecn", YES), "noecn": Word("ecn", NO)}
_CODEL = {w: Word(w, TIME) for w in ("target", "interval", "ce_threshold")} | {"limit": Word("limit", COUNT), **_ECN}
_FLOWS = {"flows": Word("flows", COUNT), "quantum": Word("quantum", SIZE)}
_PIE = {
    "limit": Word("limit", COUNT),
    "target": Word("target", TIME),
    "tupdate": Word("t_update", TIME),
    "alpha": Word("alpha", one(_sixteenths)),
    "beta": Word("beta", one(_sixteenths)),
    **_ECN,
    **_either("byte_mode", "bytemode", "nobytemode"),
    "dq_rate_estimator": Word("estimator", means("rate")),
    "no_dq_rate_estimator": Word("estimator", means("timestamp")),
}
_AHEAD = refused("nothing of that name: packets come here at their departure times, none lies ahead")
#: Words behind each of these kinds. Those with names that no key has change nothing.
WORDS: dict[str, dict[str, Word]] = {
    "codel": _CODEL,
    "fq_codel": {
        **_CODEL,
        **_FLOWS,
        "memory_limit": Word("memory_limit", SIZE),
        "drop_batch": Word("drop_batch", COUNT),
    },
    "pie": _PIE,
    # The kernel counts what is above this memory limit, and drops nothing for it.
    "fq_pie": {**_PIE, **_FLOWS, "memory_limit": Word("counted", SIZE), "ecn_prob": Word("ecn_below", one(_percent))},
    "dualpi2": {
        "limit": Word("limit", COUNT),
        "memlimit": Word("memory_limit", SIZE),
        "coupling_factor": Word("coupling", COUNT),
        "step_thresh": Word("step", one(_step)),
        "min_qlen_step": Word("step_spares", COUNT),
        "drop_on_overload": Word("overload", means("drop")),
        "overflow": Word("overload", means("overflow")),
        "drop_enqueue": Word("decides", means("arrival")),
        "drop_dequeue": Word("decides", means("departure")),
        "classic_protection": Word("classic_share", one(_percent)),
        "max_rtt": Word("rtt_max", TIME),
        "typical_rtt": Word("typical", TIME),
        "target": Word("target", TIME),
        "tupdate": Word("t_update", TIME),
        "alpha": Word("alpha", NUMBER),
        "beta": Word("beta", NUMBER),
        "l4s_ect": Word("classify", means("l4s-ect")),
        "any_ect": Word("classify", means("any-ect")),
        **_either("gso", "split_gso", "no_split_gso"),
    },
    "fq": {
        "limit": Word("limit", COUNT),
        "flow_limit": Word("flow_limit", COUNT),
        "quantum": Word("quantum", SIZE),
        "initial_quantum": Word("initial_quantum", SIZE),
        "maxrate": Word("max_rate", RATE),
        "low_rate_threshold": Word("slow_rate", RATE),
        "refill_delay": Word("refill_delay", TIME),
        "ce_threshold": Word("ce_threshold", TIME),
        **_either("pacing", "pacing", "nopacing"),
        "bands": Word("bands", COUNT),
        "weights": Word("weights", _weights),
        "buckets": Word("buckets", COUNT),
        "orphan_mask": Word("orphan_mask", one(units.integer)),
        "defrate": Word("defrate", refused("nothing of that name: the kernel takes no notice of it, either")),
        "timer_slack": Word("timer_slack", refused("nothing of that name: nobody wakes late here")),
        **{w: Word("horizon", _AHEAD) for w in ("horizon", "horizon_cap", "horizon_drop", "offload_horizon")},
    },
}
#: How values are written.
PACKETS, BYTES = ("limit",), ("quantum", "initial_quantum", "memory_limit")
TIMES = ("target", "interval", "ce_threshold", "t_update", "rtt_max", "refill_delay")
RATES = ("max_rate", "slow_rate")
UNSAID = ("counted", "gso", "bands", "buckets", "orphan_mask", "typical", "priomap")


def _written(key: str, value: Any) -> Any:
    if key in PACKETS:
        return f"{value} packets"
    if key in BYTES:
        return f"{value} B"
    if key in TIMES:
        return units.shown_time(value)
    return units.shown_rate(value) if key in RATES else value


def queue(where: str, kind: str, v: dict[str, Any]) -> Queue:
    """The table of such a queue. Raises InputError where words contradict each other."""
    out: Queue = {"type": kind.replace("_", "-")}
    if kind != "fq":
        out["profile"] = "linux"
    if kind == "dualpi2":
        v = _dualpi2(where, v)
    if kind == "fq" and v.get("bands", BANDS) != BANDS:
        raise InputError(where, path="fq bands", found=str(v["bands"]), expected=f"{BANDS}, as the kernel has it")
    out |= {key: _written(key, value) for key, value in v.items() if key not in UNSAID}
    if "weights" in v:
        out["weights"] = [f"{w} B" for w in v["weights"]]
    if kind in ("dualpi2", "fq"):
        return out
    # fq_codel marks unless it is told not to, the others do not unless they are told to.
    return out | {"ecn": "mark" if v.get("ecn", kind == "fq_codel") else "drop"}


def _dualpi2(where: str, v: dict[str, Any]) -> dict[str, Any]:
    """Round trips as `tc` turns them into target and gains; a step as packets or as a time."""
    v = dict(v)
    if "typical" in v or "rtt_max" in v:
        if own := [w for w in ("target", "t_update", "alpha", "beta") if w in v]:
            found = f"a round trip and {own[0]}"
            raise InputError(where, path="dualpi2", found=found, expected="one of the two: tc takes the round trip")
        typical = v.get("typical", max(v.get("rtt_max", 0) // 3, 1))
        v |= {"rtt_max": v.get("rtt_max", 3 * typical), "target": typical}
    if "step" in v and v["step"].isdecimal():
        v["step_packets"] = int(v.pop("step"))
    return v

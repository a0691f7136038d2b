"""What do three duplicates after a timeout mean to a sender without SACK?

The scenarios of ns-2's NewReno tests: after a timeout duplicates come because segments were retransmitted needlessly
(`dup`), because a retransmission was lost (`loss`), or so that lost ACKs deceive the ACK heuristic (`ackf`).
NewReno with bugfix, without, with the ACK heuristic and with the timestamp heuristic.

What the source shows (figures 4.10 to 4.13): on `dup` only the sender without bugfix falls for it; on `loss` only
the one with bugfix waits for the timer; on `ackf` the ACK heuristic waits as well.

What may differ here: nothing is left open; `validation/ns2` compares the send sequences with ns-2's.
"""

from typing import Any

from crosswind.experiments.gurtov_2004.traces import Trace, experiment, figures_of, traced
from crosswind.experiments.gurtov_2004.worlds import ACKS, DUP, LOSS, LOSS_ACKS, RFC1323, STAMPS, STEADY, listed
from crosswind.reproduce import Scenario

RULES: dict[str, dict[str, Any]] = {
    "bugfix": {},
    "no bugfix": {"dupacks_after_timeout": "no-bugfix"},
    "ACK heuristic": {"dupacks_after_timeout": "ack-heuristic"},
    "timestamp heuristic": {"dupacks_after_timeout": "timestamp-heuristic", **STAMPS},
}


def configurations() -> dict[str, Scenario]:
    """Every rule on every list; timestamps without the heuristic as a control."""
    out = {}
    for i, (rule, tcp) in enumerate(RULES.items()):
        out[f"dup, {rule}"] = listed(f"f4-10-dup-{i}", DUP, STEADY | tcp)
        out[f"loss, {rule}"] = listed(f"f4-10-loss-{i}", LOSS, RFC1323 | tcp)
        out[f"ackf, {rule}"] = listed(f"f4-13-{i}", LOSS_ACKS, RFC1323 | tcp, ACKS)
    out["dup, timestamps"] = listed("f4-10-dup-ts", DUP, STEADY | STAMPS)
    out["loss, timestamps"] = listed("f4-10-loss-ts", LOSS, RFC1323 | STAMPS)
    return out


@traced
def recoveries_after_timeout(t: Trace) -> float:
    """Fast recoveries between the first timeout and the acknowledgement of everything sent before it."""
    timeout = t.first("timeout")
    high = t.sent(timeout)
    return float(sum(1 for x in t.times("recovery") if x > timeout and t.acked(float(x)) < high))


@traced
def later_timeouts(t: Trace) -> float:
    """Timeouts after the first one."""
    return float(len(t.times("timeout")) - 1)


@traced
def first_is_recovery(t: Trace) -> float:
    """Whether a fast retransmit came before any further timeout."""
    first = t.first("timeout")
    return float(t.first("recovery", after_s=first) < t.first("timeout", after_s=first + 1e-6))


HEURISTICS = ("ACK heuristic", "timestamp heuristic")
CLAIMS = {
    "G31": {rule: recoveries_after_timeout(f"dup, {rule}") for rule in ("bugfix", *HEURISTICS)}
    | {"no bugfix": recoveries_after_timeout("dup, no bugfix")},
    "G32": {
        "bugfix, fast retransmit first": first_is_recovery("loss, bugfix"),
        "bugfix, further timeouts": later_timeouts("loss, bugfix"),
    }
    | {f"{rule}, fast retransmit first": first_is_recovery(f"loss, {rule}") for rule in HEURISTICS},
    "G33": {
        "fast retransmit first": first_is_recovery("ackf, ACK heuristic"),
        "further timeouts": later_timeouts("ackf, ACK heuristic"),
    },
    "G34": {"fast retransmit first": first_is_recovery("ackf, timestamp heuristic")},
}


# The source's seven traces and the control without bugfix.
SHOWN = {
    "dup, bugfix": "f4-10a",
    "loss, bugfix": "f4-10b",
    "dup, ACK heuristic": "f4-11a",
    "loss, ACK heuristic": "f4-11b",
    "dup, timestamp heuristic": "f4-12a",
    "loss, timestamp heuristic": "f4-12b",
    "ackf, ACK heuristic": "f4-13",
    "dup, no bugfix": "f4-10c",
}
pictures = figures_of(SHOWN, "NewReno after a timeout: {}.", 6.0)

EXPERIMENT = experiment(__name__, "NewReno after a timeout: bugfix and heuristics", where="figures 4.10 to 4.13")

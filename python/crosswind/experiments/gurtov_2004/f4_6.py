"""What do the restoration options do on the ACKs of the originals after a spurious timeout?

The spike of figure 4.2 with Eifel and restoration options 1 to 4.

What the source shows: options 2 and 3 cannot send while more is in flight than the window holds; options 1 and 4
send on every ACK; option 3 then starts slowly, which makes little difference to option 2.

What may differ here: as in the traces of figure 4.2.
"""

import polars as pl

from crosswind.experiments.gurtov_2004.traces import Trace, experiment, figures_of, traced
from crosswind.experiments.gurtov_2004.worlds import EIFEL, MSS, trace
from crosswind.reproduce import Scenario

OPTIONS = tuple(f"option {n}" for n in (1, 2, 3, 4))


def configurations(path: str = "chosen") -> dict[str, Scenario]:
    """The four options."""
    return {o: trace(f"f4-6-{o[-1]}", EIFEL | {"spurious_response": o.replace(" ", "-")}, path=path) for o in OPTIONS}


def _originals(t: Trace) -> list[float]:
    """The ACKs that advance from the verdict on, while originals of before the timeout return."""
    verdict, old = t.first("spurious"), t.sent(t.first("timeout"))
    acks = [float(a) for a in t.times("ack") if a >= verdict and t.acked(float(a)) <= old]
    return [a for a in acks if t.acked(a) > t.acked(a - 1e-9)]


@traced
def _fewest(t: Trace) -> float:
    """Fewest segments sent in answer to one of those ACKs."""
    sent = t.times("send", "retransmit")
    return float(min(sum(1 for s in sent if a <= s < a + 1e-6) for a in _originals(t)))


@traced
def _while_full(t: Trace) -> float:
    """Segments sent on those ACKs after which as much is in flight as the window holds, or more."""
    windows = t.events.filter(pl.col("kind") == "cwnd")
    at, cwnd = windows["time_ns"].to_numpy() / 1e9, windows["seq"].to_numpy() // MSS
    sent = t.times("send", "retransmit")
    out = 0
    for a in _originals(t):
        window = cwnd[(at >= a - 1e-9) & (at < a + 1e-6)][-1]
        if t.sent(a - 1e-9) - t.acked(a) >= window:
            out += sum(1 for s in sent if a <= s < a + 1e-6)
    return float(out)


CLAIMS = {
    "G6": {
        **{f"{o}, sent while the flight exceeds the window": _while_full(o) for o in ("option 2", "option 3")},
        **{f"{o}, fewest segments per ACK": _fewest(o) for o in ("option 1", "option 4")},
    }
}

# Options 2, 3 and 4, as in the source, and 1.
SHOWN = {"option 2": "f4-6a", "option 3": "f4-6b", "option 4": "f4-6c", "option 1": "f4-60"}
pictures = figures_of(SHOWN, "Restoration {}.", 40.0)

EXPERIMENT = experiment(__name__, "Restoration options on the ACKs of the originals", where="figure 4.6")

"""Which loss recovery copes with a spike that delays the oldest segment and loses the rest of the flight?

A transfer in its slow start has segments 8 to 15 in flight when a delay spike begins: segment 8 is only delayed, 9 to
15 are lost. Eifel with option 1, and Reno-SACK, NewReno-SACK or FACK.

What the source shows (figure 4.5): Reno-SACK is silent on the first partial ACK at 11 s and waits for a genuine timeout
at 18 s; NewReno-SACK and FACK have none, and FACK repairs fastest.

What may differ here: as in the traces of figure 4.2. A flight of 8 to 15 is the fourth of a slow start from one
segment; the spike begins between the ACK of segment 7 and that of segment 8.
"""

from crosswind.experiments.gurtov_2004.traces import Trace, experiment, figures_of, flow, traced
from crosswind.experiments.gurtov_2004.worlds import EIFEL, VARIANTS, trace
from crosswind.reproduce import Scenario
from crosswind.reproduce.claims.quantities import least

SENDERS = tuple(VARIANTS)
LOST = range(9, 16)
SEGMENTS = 100


def configurations(path: str = "chosen") -> dict[str, Scenario]:
    """Three senders, the same losses."""
    loss = {"loss": {"type": "list", "packets": list(LOST)}}
    tcp = EIFEL | {"spurious_response": "option-1"}
    return {
        s: trace(f"f4-5-{p}", tcp | {"preset": p}, loss, segments=SEGMENTS, duration_s=120.0, path=path)
        for s, p in VARIANTS.items()
    }


@traced
def _genuine_after(t: Trace) -> float:
    return float(sum(t.times("timeout") > t.first("spurious")))


@traced
def _wait(t: Trace) -> float:
    """From the first ACK after the spike that advances in recovery to the genuine timeout."""
    recovery = t.first("recovery", after_s=t.first("spurious"))
    una = t.acked(recovery)
    partial = min((a for a in t.times("ack") if a > recovery and t.acked(float(a)) > una), default=float("nan"))
    return t.first("timeout", after_s=float(partial)) - float(partial)


RENO, NEWRENO, FACK = SENDERS
TIME = {s: flow(s, "elapsed_ns") / 1e9 for s in SENDERS}
CLAIMS = {
    "G8": {
        "judged spurious": least(flow(s, "spurious_detected") for s in SENDERS),
        **{f"{s}, genuine": _genuine_after(s) for s in SENDERS},
        "Reno-SACK, from the partial ACK to the timeout": _wait(RENO),
    },
    "G9": {
        "NewReno-SACK less FACK": TIME[NEWRENO] - TIME[FACK],
        "Reno-SACK less NewReno-SACK": TIME[RENO] - TIME[NEWRENO],
    },
}

SHOWN = {s: f"f4-5{x}" for s, x in zip(SENDERS, "abc", strict=True)}
pictures = figures_of(SHOWN, "{} with Eifel; all of the flight but the oldest lost in the spike.", 50.0)

EXPERIMENT = experiment(__name__, "A spike with a loss burst, by sender", where="figure 4.5")

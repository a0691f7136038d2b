"""Which loss recovery copes with a spike that delays the oldest segment and loses the rest of the flight?

A transfer in its slow start has segments 8 to 15 in flight when a delay spike begins: segment 8 is only delayed, 9 to
15 are lost. Eifel with option 1, and Reno-SACK, NewReno-SACK or FACK.

What the source shows (figure 4.5): Reno-SACK is silent on the first partial ACK at 11 s and waits for a genuine timeout
at 18 s; NewReno-SACK and FACK have none, and FACK repairs fastest.

What may differ here: as in the traces of figure 4.2. A flight of 8 to 15 is the fourth of a slow start from one
segment; the spike begins between the ACK of segment 7 and that of segment 8.
"""

from dataclasses import replace

from crosswind.experiments.gurtov_2004 import study
from crosswind.experiments.gurtov_2004.traces import Trace, figure_of, transfers
from crosswind.experiments.gurtov_2004.worlds import E1, EIFEL, SLOW, VARIANTS, Path, trace
from crosswind.reproduce import Picture, Results, Scenario, Variant, measured

SENDERS = tuple(VARIANTS)
LOST = range(9, 16)
FORMER = replace(SLOW, spike_at_s=4.0, spike_s=7.0, tcp={**SLOW.tcp, "initial_window_segments": 1})
SEGMENTS = 100


def configurations(path: Path = E1) -> dict[str, Scenario]:
    """Three senders, the same losses."""
    loss = {"loss": {"type": "list", "packets": list(LOST)}}
    tcp = EIFEL | {"spurious_response": "option-1"}
    return {
        s: trace(f"f4-5-{p}", tcp | {"preset": p}, loss, segments=SEGMENTS, duration_s=120.0, path=path)
        for s, p in VARIANTS.items()
    }


@measured
def _genuine_after(r: Results, c: str) -> float:
    t = Trace(r, c)
    return float(sum(t.times("timeout") > t.first("spurious")))


def _wait(r: Results) -> float:
    """From the first ACK after the spike that advances in recovery to the genuine timeout."""
    t = Trace(r, SENDERS[0])
    recovery = t.first("recovery", after_s=t.first("spurious"))
    una = t.acked(recovery)
    acks = t.times("ack")
    partial = min((a for a in acks if a > recovery and t.acked(float(a)) > una), default=float("nan"))
    return t.first("timeout", after_s=float(partial)) - float(partial)


def _time(r: Results, c: str) -> float:
    return Trace(r, c).value("elapsed_ns") / 1e9


CLAIMS = {
    "G8": {
        "judged spurious": lambda r: min(Trace(r, s).value("spurious_detected") for s in SENDERS),
        "Reno-SACK, genuine": _genuine_after(SENDERS[0]),
        "NewReno-SACK, genuine": _genuine_after(SENDERS[1]),
        "FACK, genuine": _genuine_after(SENDERS[2]),
        "Reno-SACK, from the partial ACK to the timeout": _wait,
    },
    "G9": {
        "NewReno-SACK less FACK": lambda r: _time(r, SENDERS[1]) - _time(r, SENDERS[2]),
        "Reno-SACK less NewReno-SACK": lambda r: _time(r, SENDERS[0]) - _time(r, SENDERS[1]),
    },
}


def pictures(r: Results) -> list[Picture]:
    """The three traces."""
    return [
        figure_of(r, s, f"f4-5{x}", f"{s} with Eifel; all of the flight but the oldest lost in the spike.", 50.0)
        for s, x in zip(SENDERS, "abc", strict=True)
    ]


EXPERIMENT = study.experiment(
    __name__,
    "A spike with a loss burst, by sender",
    where="figure 4.5",
    tables=transfers,
    variants={"former": Variant("a spike from 4 to 11 s over 30 kbit/s and 300 ms", {"path": FORMER})},
)

"""What do single transfers through delay spikes look like, without and with Eifel?

One run each of tables 4.1 and 4.2 with everything logged: Reno-SACK without and with Eifel on the uncongested path,
and the three senders with Eifel on the congested one.

What the source shows (figures 4.8 and 4.9): without Eifel the window is cut and the flight retransmitted at each
spike; with it the window grows until a segment is lost; Reno-SACK waits for genuine timeouts on the congested path,
the others repair without.

What may differ here: the run shown is the first repetition of its table.
"""

from crosswind.experiments.gurtov_2004.traces import experiment, figure_of
from crosswind.experiments.gurtov_2004.worlds import VARIANTS, transfer
from crosswind.reproduce import Picture, Results, Scenario

ALONE_OFF, ALONE_ON = "uncongested, off", "uncongested, on"
CONGESTED = {f"congested, {v}": v for v in VARIANTS}
EIFEL = {"eifel": "on"}


def configurations() -> dict[str, Scenario]:
    """Five traces."""
    out = {ALONE_OFF: transfer("f4-8a", "Reno-SACK"), ALONE_ON: transfer("f4-8b", "Reno-SACK", EIFEL)}
    out |= {
        c: transfer(f"f4-9-{p}", v, EIFEL, cbr_bytes=210) for (c, v), p in zip(CONGESTED.items(), "abc", strict=True)
    }
    return {c: s.with_({"record": {"events": "all"}}) for c, s in out.items()}


def pictures(r: Results) -> list[Picture]:
    """The traces of figures 4.8 and 4.9."""
    names = {ALONE_OFF: "f4-8a", ALONE_ON: "f4-8b"} | {c: f"f4-9{x}" for c, x in zip(CONGESTED, "abc", strict=True)}
    ends = {c: r.flow(c, "tcp", "elapsed_ns") / 1e9 for c in names}
    return [figure_of(r, c, name, f"Transfer through delay spikes, {c}.", ends[c] + 1) for c, name in names.items()]


EXPERIMENT = experiment(__name__, "Single transfers through delay spikes", where="figures 4.8 and 4.9")

"""How fast do the protocols grow to receivers of different systems on a path that drops nothing, 0.95 BDP?

The source printed figures that are lost (5.9, 5.10): all protocols reach a high rate with any receiver; Windows XP,
which acknowledges long chunks, grows slowest.

ACKs to a Scalable sender come for chunks of any length from Linux, for two segments and now and then twice from
FreeBSD, for long chunks from XP.

What may differ here: receivers are the profiles of `tcp.receiver`; CUBIC heeds its socket buffer. E5.7 of the source
are the long runs, of 100 s, long after all have their rate; nothing is random in them but chunks: three seeds,
and what is judged are orders of medians without rules for ten. E5.8 is
one more run with a Scalable sender for each receiver, of which 0.12 s are kept, event by event, when the flow has its
full rate; it is undivided whatever the size, for the chunks are those of the source. Their mean lengths are readings
(see `tcp.receiver`), so figure 5.10 shows what is assumed, not a result.
"""

from typing import Any

from crosswind.experiments.igarashi import drawing, paths, rates, study
from crosswind.reproduce import Picture, Results, Scenario, measured, measures
from crosswind.reproduce.claims.quantities import least

RECEIVERS = {"Linux": "linux-2.4", "FreeBSD 5.3": "freebsd-5.3", "Windows XP": "windows-xp"}
# Slow start has ended by then with each of them. ACKs are half a round trip behind the data, 95 ms.
LONG_S, KEPT_S = 30, 0.12


def label(name: str, receiver: str) -> str:
    return f"{name} to {receiver}"


def spacing(receiver: str) -> str:
    return f"ACKs of {receiver}"


def configurations(size: str = "full") -> dict[str, Scenario]:
    """Each protocol to each receiver, in short bins, for the flows are fast; Scalable with its ACKs, one by one."""
    s, path = paths.SIZES_5[size], paths.EMULATOR
    out = {}
    for name in paths.TCP_VARIANTS:
        for receiver, os in RECEIVERS.items():
            flow = paths.buffered(name, path, s, 0.95, heedless=(), receiver=os)
            out[label(name, receiver)] = paths.scenario(path, {"f": flow}, 100, s, bin_s=0.2)
    whole, record = paths.Size(1), {"events": ["f"], "between": [[f"{LONG_S - KEPT_S:g} s", f"{LONG_S:g} s"]]}
    for receiver, os in RECEIVERS.items():
        flow = paths.buffered("Scalable", path, whole, 0.95, receiver=os)
        out[spacing(receiver)] = paths.scenario(path, {"f": flow}, LONG_S, whole, bin_s=0.2, record=record)
    return out


def _limit(r: Results) -> float:
    tcp = r.runs.scenarios[label("HTCP", "Linux")].data["flow"]["f"]["tcp"]
    return float(tcp["receive_buffer"].split()[0]) * 8e-6 / (paths.EMULATOR.rtt_ms / 1e3)


# The least rate in the second half of the run, over what the buffer allows.
SLOWEST = least(rates.during(label(p, o), "f", (0.5, 1.0)) for p in paths.TCP_VARIANTS for o in RECEIVERS) / _limit


@measured
def half_s(r: Results, name: str, receiver: str) -> Any:
    """When a flow first has half of what its buffer allows."""
    return rates.reached_s(label(name, receiver), _limit(r) / 2)(r)


def pictures(r: Results) -> list[Picture]:
    """Figures 5.9, with Linux beside, and 5.10."""
    series = [
        rates.over_time(
            f"f5-9{letter}", f"To {o} (Figure 5.9).", r, {p: (label(p, o), "f") for p in ("Scalable", "FAST", "CUBIC")}
        )
        for letter, o in zip("cab", RECEIVERS, strict=True)
    ]
    traces = [
        drawing.ack_trace(
            f"f5-10{letter}",
            f"Data and ACKs, Scalable to {o} (Figure 5.10({letter})).",
            r.runs.only(spacing(o), [0]).events("f"),
        )
        for letter, o in zip("bcd", RECEIVERS, strict=True)
    ]
    per_ack = rates.chunks("f5-10a", "Data per ACK, Scalable (Figure 5.10(a)).", r, {o: spacing(o) for o in RECEIVERS})
    return [*series, per_ack, *traces]


CLAIMS = {
    "IC5.5": {
        "slowest over the buffer's rate": measures.median(SLOWEST),
        **{
            f"{p}: time with {o} over XP": study.ratio(half_s(p, o), half_s(p, "Windows XP"))
            for p in paths.TCP_VARIANTS
            for o in ("Linux", "FreeBSD 5.3")
        },
    }
}

EXPERIMENT = rates.experiment(__name__, "Receivers on a path that drops nothing", where="figures 5.9, 5.10", reps=3)

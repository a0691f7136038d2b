"""Which loss recovery does the Eifel response need on a congested path?

As table 4.1, beside a stream of 1 Mbit/s through the same queue: Reno-SACK, NewReno-SACK and FACK, each without and
with Eifel. The stream's packets have 210 bytes, the default of ns-2; packets of 1000 bytes are a variant.

What the source printed (time, segments, spurious, genuine): without Eifel 191 s, 5251, 5.7 to 5.8, 0.7 for all
three; with it Reno-SACK 331 s, 5237, 6.02, 4.98; NewReno-SACK 146 s, 5192, 4.35, 0.57; FACK 108 s, 5225, 3.24,
0.38.

What may differ here: size of the stream's packets, access links, phase of the spikes.
"""

from typing import Any

from crosswind.experiments.gurtov_2004.traces import change, difference, experiment, mean, rate, ratio, table_pictures
from crosswind.experiments.gurtov_2004.worlds import VARIANTS, transfer
from crosswind.reproduce import Results, Scenario

EIFEL = {"eifel": "on"}
CELLS = tuple(f"{v}, {mode}" for v in VARIANTS for mode in ("off", "on"))


def configurations(cbr_bytes: int = 210, **reading: Any) -> dict[str, Scenario]:
    """Three senders, Eifel off and on."""
    out = {}
    for v, preset in VARIANTS.items():
        for mode, tcp in (("off", {}), ("on", EIFEL)):
            label = f"{v}, {mode}"
            out[label] = transfer(f"t4-2-{preset}-{mode}", v, tcp, cbr_bytes=cbr_bytes, **reading)
    return out


CLAIMS = {
    "G14": {
        "table 4.1, off": rate("t4-1/Reno-SACK, off"),
        "table 4.1, on": rate("t4-1/Reno-SACK, on"),
        **{c: rate(c) for c in ("Reno-SACK, off", "NewReno-SACK, on", "FACK, on")},
    },
    "G15": {"NewReno-SACK on / FACK on": ratio("NewReno-SACK, on", "FACK, on", "time_s")}
    | {f"NewReno-SACK on / {v} off": ratio("NewReno-SACK, on", f"{v}, off", "time_s") for v in VARIANTS}
    | {
        "NewReno-SACK off / Reno-SACK off": ratio("NewReno-SACK, off", "Reno-SACK, off", "time_s"),
        "FACK off / Reno-SACK off": ratio("FACK, off", "Reno-SACK, off", "time_s"),
    }
    | {f"Reno-SACK on / {v} off": ratio("Reno-SACK, on", f"{v}, off", "time_s") for v in VARIANTS},
    "G16": {
        "Reno-SACK on / off": ratio("Reno-SACK, on", "Reno-SACK, off", "time_s"),
        "FACK on / Reno-SACK off": ratio("FACK, on", "Reno-SACK, off", "time_s"),
        "NewReno-SACK on / off": ratio("NewReno-SACK, on", "NewReno-SACK, off", "time_s"),
    },
    "G17": {
        "Reno-SACK on / off": ratio("Reno-SACK, on", "Reno-SACK, off", "genuine"),
        "Reno-SACK on / NewReno-SACK on": ratio("Reno-SACK, on", "NewReno-SACK, on", "genuine"),
        "NewReno-SACK on": mean("NewReno-SACK, on", "genuine"),
        "FACK on": mean("FACK, on", "genuine"),
    },
    "G18": {
        "NewReno-SACK": change("NewReno-SACK, on", "NewReno-SACK, off", "segments"),
        "FACK": change("FACK, on", "FACK, off", "segments"),
    }
    | {c: mean(c, "segments") for c in CELLS},
    "G19": {
        f"{v} / Reno-SACK: {column}": ratio(f"{v}, off", "Reno-SACK, off", column)
        for v in ("NewReno-SACK", "FACK")
        for column in ("time_s", "segments", "spurious")
    }
    | {
        f"{v} less Reno-SACK: genuine": difference(f"{v}, off", "Reno-SACK, off", "genuine")
        for v in ("NewReno-SACK", "FACK")
    },
}


def headline(r: Results) -> dict[str, str]:
    """Mean time and genuine timeouts."""
    return {c: f"{r.of(c, 'time_s').mean():.0f} s, {r.of(c, 'genuine').mean():.2f} genuine" for c in CELLS}


pictures = table_pictures("4-2", tuple(VARIANTS))

EXPERIMENT = experiment(__name__, "Eifel on a congested path, by sender", where="table 4.2", uses=("t4-1",), reps=100)

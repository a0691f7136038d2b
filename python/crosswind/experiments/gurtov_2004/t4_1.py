"""How much does the Eifel response gain on an uncongested path of 2 Mbit/s and 300 ms with delay spikes?

One transfer of 5 MB with Reno-SACK, Eifel off and on (restoration option 1, standard timer), 100 repetitions with
the same spikes in both. The sender halves its threshold at every expiry of the timer, as ns-2 does; the other
reading (once per episode) is the pair `first expiry`.

What the source printed: 138 s, 5234 segments, 4.68 spurious timeouts without Eifel; 39 s, 5088, 1.37 with it; genuine
timeouts 0.00 and 0.03.

What may differ here: the phase and spacing of the spikes, access links and the delayed-ACK timer are not printed.
Readings of the spikes are variants.
"""

from typing import Any

from crosswind.experiments.gurtov_2004.traces import change, experiment, mean, ratio, table_pictures
from crosswind.experiments.gurtov_2004.worlds import transfer
from crosswind.reproduce import Results, Scenario

OFF, ON = "Reno-SACK, off", "Reno-SACK, on"
OFF_FIRST, ON_FIRST = f"{OFF}, first expiry", f"{ON}, first expiry"
FIRST = {"timeout_threshold": "first"}
EIFEL = {"eifel": "on"}


def configurations(**reading: Any) -> dict[str, Scenario]:
    """Eifel off and on, under both rules for the threshold."""
    return {
        OFF: transfer("t4-1-off", "Reno-SACK", **reading),
        ON: transfer("t4-1-on", "Reno-SACK", EIFEL, **reading),
        OFF_FIRST: transfer("t4-1-off-first", "Reno-SACK", FIRST, **reading),
        ON_FIRST: transfer("t4-1-on-first", "Reno-SACK", EIFEL | FIRST, **reading),
    }


CLAIMS = {
    "G10": {
        "off / on, every expiry": ratio(OFF, ON, "time_s"),
        "off / on, first expiry": ratio(OFF_FIRST, ON_FIRST, "time_s"),
    },
    "G11": {"with Eifel": mean(ON, "time_s"), "without": mean(OFF, "time_s")},
    "G12": {
        "change": change(ON, OFF, "segments"),
        "with Eifel": mean(ON, "segments"),
        "without": mean(OFF, "segments"),
    },
    "G13": {"without": mean(OFF, "genuine"), "with Eifel": mean(ON, "genuine")},
}


def headline(r: Results) -> dict[str, str]:
    """Mean download time and spurious timeouts, by which readings are compared."""
    return {c: f"{r.of(c, 'time_s').mean():.0f} s, {r.of(c, 'spurious').mean():.2f} spurious" for c in (OFF, ON)}


pictures = table_pictures("4-1", ("Reno-SACK",))

EXPERIMENT = experiment(__name__, "Eifel on an uncongested path with delay spikes", where="table 4.1", reps=100)

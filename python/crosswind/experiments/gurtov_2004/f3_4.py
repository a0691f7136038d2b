"""How long does TCP need to repair what a cell reselection costs?

A download over a GPRS link (30 kbit/s, 300 ms). At 40 s the link stops for 3 to 5 s, and the ten oldest packets of
the old cell's buffer are thrown away.

What the source shows (figure 3.4): link-layer gaps of about 5 s, after which TCP needs another 5 to 10 s.

What may differ here: the measured network's terminals and buffers; the buffer holds 25 packets here, lengths of 3,
4 and 5 s. `Repaired` is the moment at which everything sent before the end of the gap has been acknowledged.
"""

import numpy as np

from crosswind.experiments.gurtov_2004.traces import Trace, experiment, figures_of, flow, traced
from crosswind.experiments.gurtov_2004.worlds import trace
from crosswind.reproduce import Results, Scenario

AT_s, LOST = 40.0, 10
GAPS_s = (3, 4, 5)


def configurations() -> dict[str, Scenario]:
    """Three lengths of the gap."""
    tcp = {"preset": "gurtov-fack", "window_limit_segments": 24, "initial_ssthresh": "24000 B", "delayed_ack": "100 ms"}
    queue = {"type": "droptail", "limit": "25 packets"}
    out = {}
    for gap in GAPS_s:
        spikes = {"at": [f"{AT_s:g} s"], "length": f"{gap} s", "discard": LOST}
        link = {"spikes": spikes, "queue": queue}
        out[f"gap of {gap} s"] = trace(f"f3-4-{gap}", tcp, link, duration_s=90.0, path="gprs")
    return out


@traced
def _repair(t: Trace, gap: int) -> float:
    end = AT_s + gap
    sent = t.sent(end)
    done = next((a for a in t.times("ack") if a > end and t.acked(float(a)) >= sent), np.inf)
    return float(done - end)


def _mean(r: Results) -> float:
    return float(np.mean([m(r) for m in REPAIRS.values()]))


REPAIRS = {f"gap of {g} s": _repair(f"gap of {g} s", g) for g in GAPS_s}
CLAIMS = {"G89": {"mean": _mean, **REPAIRS, "segments lost": flow("gap of 4 s", "lost_packets")}}

pictures = figures_of({"gap of 4 s": "f3-4"}, "A cell reselection of 4 s with ten segments lost.", 70.0)

EXPERIMENT = experiment(__name__, "A cell reselection under a download", where="figure 3.4, section 3.1.4")

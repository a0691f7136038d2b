"""What does Eifel make of a timeout that the loss of all ACKs has caused?

Every ACK of one flight is lost; the data arrived. The duplicate that the timeout sends is answered with the
timestamp of the original under RFC 1323, and with its own under the revision that the source calls 1323bis.

What the source says: spurious under the one rule, genuine under the other.

What may differ here: as in the traces of figure 4.2; window of 8 segments, ACKs 25 to 32 lost.
"""

from crosswind.experiments.gurtov_2004.traces import experiment, figures_of, flow
from crosswind.experiments.gurtov_2004.worlds import EIFEL, WIDE, trace
from crosswind.reproduce import Scenario

RULES = {"RFC 1323": "rfc1323", "1323bis": "rfc7323"}
# From the 25th ACK on, the ACK of the SYN counted, as many as the window holds.
ACKS = list(range(25, 33))


def configurations() -> dict[str, Scenario]:
    """Both echo rules."""
    link = {"spikes": None, "reverse": {"queue": WIDE, "loss": {"type": "list", "packets": ACKS, "counts": "all"}}}
    tcp = EIFEL | {"window_limit_segments": 8, "initial_ssthresh": "8000 B"}
    return {
        c: trace(f"s4-2-2-{rule}", tcp | {"timestamp_echo": rule}, link, duration_s=40.0, path="gprs")
        for c, rule in RULES.items()
    }


CLAIMS = {"G29": {f"{c}: {word}": flow(c, f"{word}_detected") for c in RULES for word in ("spurious", "genuine")}}

SHOWN = {c: f"s4-2-2-{rule}" for c, rule in RULES.items()}
pictures = figures_of(SHOWN, "All ACKs of a flight lost; echo rule {}.", 30.0)

EXPERIMENT = experiment(__name__, "A timeout because all ACKs were lost", where="section 4.2.2")

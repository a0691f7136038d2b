"""What does Eifel make of a timeout that the loss of all ACKs has caused?

Every ACK of one flight is lost; the data arrived. The duplicate that the timeout sends is answered with the
timestamp of the original under RFC 1323, and with its own under the revision that the source calls 1323bis.

What the source says: spurious under the one rule, genuine under the other.

What may differ here: as in the traces of figure 4.2; window of 8 segments, ACKs 25 to 32 lost.
"""

from crosswind.experiments.gurtov_2004 import study
from crosswind.experiments.gurtov_2004.traces import Trace, figure_of, transfers
from crosswind.experiments.gurtov_2004.worlds import EIFEL, SLOW, WIDE, trace
from crosswind.reproduce import Picture, Results, Scenario

RULES = {"RFC 1323": "rfc1323", "1323bis": "1323bis"}
# From the 25th ACK on, the ACK of the SYN counted, as many as the window holds.
ACKS = list(range(25, 33))


def configurations() -> dict[str, Scenario]:
    """Both echo rules."""
    link = {"spikes": None, "reverse": {"queue": WIDE, "loss": {"type": "list", "packets": ACKS, "counts": "all"}}}
    tcp = EIFEL | {"window_limit_segments": 8, "initial_ssthresh": "8000 B"}
    return {
        c: trace(f"s4-2-2-{rule}", tcp | {"timestamp_echo": rule}, link, duration_s=40.0, path=SLOW)
        for c, rule in RULES.items()
    }


CLAIMS = {
    "G29": {
        "RFC 1323: spurious": lambda r: Trace(r, "RFC 1323").value("spurious_detected"),
        "RFC 1323: genuine": lambda r: Trace(r, "RFC 1323").value("genuine_detected"),
        "1323bis: spurious": lambda r: Trace(r, "1323bis").value("spurious_detected"),
        "1323bis: genuine": lambda r: Trace(r, "1323bis").value("genuine_detected"),
    }
}


def pictures(r: Results) -> list[Picture]:
    """Both traces."""
    return [
        figure_of(r, c, f"s4-2-2-{rule}", f"All ACKs of a flight lost; echo rule {c}.", 30.0)
        for c, rule in RULES.items()
    ]


EXPERIMENT = study.experiment(__name__, "A timeout because all ACKs were lost", where="section 4.2.2", tables=transfers)

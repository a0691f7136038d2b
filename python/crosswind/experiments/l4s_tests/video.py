"""What does video leave to a long flow of CUBIC and of Prague behind one CoDel queue?

One greedy flow over 160 ms beside a video over 20 ms behind one CoDel queue that marks, at 30, 20 and 5 Mbit/s, for
120 s; goodput of the long flow is the mean of the last 60 s.

What the source says: one run each over a real path (2021), beside a video of a service on the Internet.

What may differ here: neither the rates of that video nor its segments nor its path are printed. Here a segment of 4 s
is fetched every 4 s over one connection of CUBIC without ECN; its rate is the largest of a usual ladder that an equal
share would carry (11.6, 8.1 and 2 Mbit/s), and stays. A player that adapts would go down where segments come late. So
only who gets more is judged. The path is a line without losses and jitter, Prague is 0.6. Five repetitions.
"""

from typing import Any

import numpy as np

from crosswind.experiments.l4s_tests import one_flow, study
from crosswind.experiments.l4s_tests.rtt_fairness import FRAME_B, LATER, PACKET_B
from crosswind.reproduce import Results, Runs, Scenario, Tables, measures

SECONDS = one_flow.SECONDS
LONG_RTT_MS, VIDEO_RTT_MS, SEGMENT_S = one_flow.RTT_MS, 20, 4
#: Rate of the line and of the video, Mbit/s.
VIDEO_MBPS = {30: 11.6, 20: 8.1, 5: 2.0}
LARGE = {"type": "droptail", "limit": "100000 packets"}


def _cell(law: str, mbps: int) -> str:
    return f"{law}, {mbps} Mbit per s"


def configurations() -> dict[str, Scenario]:
    """Two laws, three rates."""
    return {_cell(law, m): _scenario(law, m) for law in ("cubic", "prague") for m in VIDEO_MBPS}


def _scenario(law: str, mbps: int) -> Scenario:
    line: dict[str, Any] = {
        "from": "middle",
        "to": "receiver",
        "rate": f"{mbps * 1_000_000 * PACKET_B // FRAME_B} bit/s",
    }
    line |= {
        "delay": "0 ms",
        "queue": {"type": "codel", "profile": "linux", "ecn": "mark"},
        "reverse": {"queue": LARGE},
    }
    links: dict[str, Any] = {"line": line}
    segment = {"size": f"{round(VIDEO_MBPS[mbps] * 1e6 * SEGMENT_S / 8)} B", "every": f"{SEGMENT_S} s"}
    made: dict[str, tuple[int, dict[str, Any], dict[str, Any]]] = {
        one_flow.FLOW: (LONG_RTT_MS, {"type": "bulk"}, LATER[law]),
        "video": (VIDEO_RTT_MS, {"type": "web", **segment}, {"preset": "linux-6-cubic"}),
    }
    flows = {}
    for name, (rtt_ms, workload, tcp) in made.items():
        links[name] = {"from": f"{name}-host", "to": "middle", "rate": "10 Gbit/s", "delay": f"{rtt_ms / 2} ms"}
        links[name] |= {"queue": LARGE}
        flows[name] = {"from": f"{name}-host", "to": "receiver", "start": {"uniform": ["0 s", "50 ms"]}}
        flows[name] |= {"workload": workload, "tcp": tcp}
    record = {"sample": "1 s", "series": "totals", "sampled": [one_flow.FLOW]}
    whole = {"name": "video", "duration": f"{SECONDS} s", "link": links, "flow": flows, "record": record}
    return Scenario.from_dict(whole)


def tables(runs: Runs) -> Tables:
    """`repetition`: goodput of the long flow in the steady part (Mbit/s)."""
    return one_flow.tables(runs)


def _more(mbps: int) -> Any:
    def ratio(r: Results) -> float:
        return r.mean(_cell("prague", mbps), "goodput") / r.mean(_cell("cubic", mbps), "goodput")

    return ratio


def _goodput(law: str, mbps: int) -> Any:
    return measures.value(_cell(law, mbps), "goodput", np.mean)


CLAIMS: dict[str, Any] = {
    "LR9": {
        **{f"{m} Mbit/s, Prague over CUBIC": _more(m) for m in (30, 20)},
        **{f"{m} Mbit/s, CUBIC": _goodput("cubic", m) for m in VIDEO_MBPS},
        **{f"{m} Mbit/s, Prague": _goodput("prague", m) for m in (30, 20)},
    },
    "LR9b": {"5 Mbit/s, Prague": _goodput("prague", 5)},
}

EXPERIMENT = study.STUDY.experiment(__name__, "Video beside a long flow", where="field runs", reps=5)

"""What does TFRC do in a delay spike, with lifetime discard, and with headers in place of what has expired?

TFRC over 30 kbit/s and over 300 kbit/s, a spike from 10 to 20 s, a lifetime of 5 s: drop-tail, discard, and
headercasting (figures 5.7 and 5.8).

What the source printed: without discard the rate falls to one packet for each round trip and needs about 15 s after the
spike to return, without any loss reported; with discard losses are reported and keep the rate low, yet more is sent in
all at GPRS rates; with headercasting there is no loss event and the rate is back at the first report. At higher rates
discard without headercasting is worse than with it, and worse than drop-tail.

What may differ here: the source gives neither queue nor length. 50 packets, so that nothing is lost but by its age, as
in the source; 60 s; packets of 1000 bytes. TFRC is that of ns-2 before October 2004, which is older than the source's
last month (decision 0027); that of ns-2.35 and RFC 3448's own rule are variants.
"""

from typing import Any

import numpy as np

from crosswind import figures
from crosswind.experiments.gurtov_2004 import overlay, study
from crosswind.reproduce import Picture, Results, Scenario, measured

KINDS = {"DT": "drop-tail", "LPD": "lifetime discard", "headers": "discard with headercasting"}
RATES = {"": "30 kbit/s", " fast": "300 kbit/s"}
PACKET_BYTES = 1000
LIMIT = 50


def tfrc(kind: str, lifetime: str, preset: str = "ns2-tfrc-2003", **keys: Any) -> dict[str, Any]:
    """A greedy TFRC flow whose packets have a lifetime."""
    table = {"preset": preset, "packet_size": f"{PACKET_BYTES} B", **keys}
    if kind == "headers":
        table["headercast"] = "on"
    life = overlay.lifetime(lifetime) | {"expired": "headers" if kind == "headers" else "discard"}
    return {"workload": {"type": "bulk"}, "tfrc": table, "lifetime": life}


def configurations(preset: str = "ns2-tfrc-2003", limit: int = LIMIT, **reading: Any) -> dict[str, Scenario]:
    """Three routers at two rates; `reading` are keys of TFRC."""
    out = {}
    for kind in KINDS:
        for name, rate in RATES.items():
            queue = overlay.queue("DT" if kind == "DT" else "LPD", limit)
            hop = overlay.slow_hop(queue, overlay.SPIKE_ONCE) | {"rate": rate}
            record = {"events": "all", "sample": "100 ms"}
            flow = tfrc(kind, "5 s", preset, **reading)
            out[kind + name] = overlay.world("f5-7", {"tfrc": flow}, "60 s", hop=hop, record=record)
    return out


def _sent(r: Results, name: str) -> Any:
    """When packets were sent."""
    return r.events(name, "tfrc", "send")["t"].to_numpy()


@measured
def _rate(r: Results, name: str, start: float, end: float) -> float:
    t = _sent(r, name)
    return float(((t >= start) & (t < end)).sum()) / (end - start)


@measured
def _returns(r: Results, name: str, most: float = np.inf) -> float:
    """Seconds after 20 s until two seconds carry 90 % of the rate before the spike, or of `most`; 40 when none do."""
    goal = 0.9 * min(_rate(name, 5, 10)(r), most)
    for start in np.arange(20.0, 58.0, 0.5):
        if _rate(name, start, start + 2)(r) >= goal:
            return float(start - 20.0)
    return 40.0


@measured
def _restored(r: Results, name: str) -> float:
    """The allowed rate at the first report after the spike, of the highest during it."""
    t, rate = r.series(name, "allowed_rate_bps", "tfrc")
    first = r.events(name, "tfrc", "receive")["t"].to_numpy()
    at = float(first[first >= 20.0][0])
    before = rate[(t >= 10.0) & (t < 20.0)].max()
    return float(rate[np.searchsorted(t, at)] / before)


@measured
def _of(r: Results, name: str, column: str) -> float:
    return float(r.of(name, f"tfrc_{column}")[0])


@measured
def _packets(r: Results, name: str) -> int:
    return len(_sent(r, name))


# Received bytes less those of whole packets (with the option of 8), for each packet that came without its payload.
WHOLE = _of("headers", "valid_packets") + _of("headers", "stale_packets")
CUT_BYTES = (_of("headers", "received_bytes") - (PACKET_BYTES + 8) * WHOLE) / _of("headers", "cut_packets")
IN_TIME = {k: _of(f"{k} fast", "valid_packets") for k in KINDS}
CLAIMS = {
    "G54": {
        "loss events": _of("DT", "loss_events"),
        "time to return": _returns("DT"),
        "time to return to the smaller of the link's rate and the rate before": _returns("DT", 30e3 / 8 / PACKET_BYTES),
    },
    "G55": {
        "loss events": _of("LPD", "loss_events"),
        "rate from 40 to 60 s, over that before the spike": _rate("LPD", 40, 60) / _rate("LPD", 5, 10),
        "packets sent, less those with drop-tail": _packets("LPD") - _packets("DT"),
    },
    "G56": {
        "packets in time, less those with headercasting": IN_TIME["LPD"] - IN_TIME["headers"],
        "packets in time, less those with drop-tail": IN_TIME["LPD"] - IN_TIME["DT"],
        **{f"in time: {word}": IN_TIME[k] for k, word in KINDS.items()},
    },
    "G57": {
        "loss events": _of("headers", "loss_events"),
        "allowed rate at the first report, of that before the silence": _restored("headers"),
        "the same with drop-tail": _restored("DT"),
    },
    "G58": {"packets without their payload": _of("headers", "cut_packets"), "bytes of each": CUT_BYTES},
}


def pictures(r: Results) -> list[Picture]:
    """Sequence numbers over time at the sender (figures 5.7 and 5.8), at both rates."""
    out = []
    for name, rate in RATES.items():
        lines = {word: (_sent(r, k + name), np.arange(len(_sent(r, k + name)))) for k, word in KINDS.items()}
        caption = f"Packets sent by TFRC over {rate}; a spike from 10 to 20 s (figures 5.7 and 5.8)."
        suffix = f"-{name.strip()}" if name else ""
        back = study.BOOK.number("G54", "time to return to the smaller of the link's rate and the rate before")
        known = {} if name else {"drop-tail is back at its rate": 20.0 + back}
        out.append(figures.over_time(f"fig-5-7{suffix}", caption, lines, "packet", printed=known))
    return out


EXPERIMENT = overlay.experiment(
    __name__, "TFRC and a delay spike: lifetime discard and headercasting", where="figures 5.7 and 5.8"
)

"""How much throughput do bugfix and heuristics cost or save after a timeout?

A single short connection without SACK meets three states of loss in sequence: none; a short one that ends in a
timeout; two seconds at 10 %. In the `loss` half the second state loses everything, in the `duplicate` half every
second packet and every retransmission. The rate of the link is swept. Uniform losses are the control.

What the source shows (figure 4.14): after `loss` the heuristics reach what `no bugfix` reaches, up to 300 % above
bugfix; after `duplicate` they reach what bugfix reaches, up to 30 % above `no bugfix`; all of it below the rate of
the link. With uniform losses all four are alike.

What may differ here: lengths of the first two states (1.5 s and 0.8 s), the length of the connection (8 s) and the
swept quantity are not given.
"""

from typing import Any

from crosswind import figures
from crosswind.experiments.gurtov_2004 import study
from crosswind.experiments.gurtov_2004.traces import experiment, ratio
from crosswind.experiments.gurtov_2004.worlds import MSS, RFC1323, STAMPS, three_states
from crosswind.reproduce import Picture, Results, Scenario, measured
from crosswind.stats import Estimate

RATES_kbps = (200, 400, 800, 1600, 3200)
DURATION_s = 8.0
RULES: dict[str, dict[str, Any]] = {
    "bugfix": {},
    "no bugfix": {"dupacks_after_timeout": "no-bugfix"},
    "ACK heuristic": {"dupacks_after_timeout": "ack-heuristic"},
    "timestamp heuristic": {"dupacks_after_timeout": "timestamp-heuristic", **STAMPS, **RFC1323},
}
HEURISTICS = ("ACK heuristic", "timestamp heuristic")
# The ratios of which a largest one is printed: claim -> half, and what the heuristics are compared with.
LARGEST = {"G35": ("loss", "bugfix"), "G36": ("duplicate", "no bugfix")}
UNIFORM = (0.005, 0.02, 0.05)


def _phases(half: str, first_s: float, second_s: float) -> list[dict[str, Any]]:
    second = {"probability": 1.0} if half == "loss" else {"probability": 0.5, "again": 1.0}
    return [
        {"length": f"{first_s:g} s"},
        {"length": f"{second_s:g} s", **second},
        {"length": "2 s", "probability": 0.1},
        {"length": "1000 s"},
    ]


def configurations(first_s: float = 1.5, second_s: float = 0.8) -> dict[str, Scenario]:
    """Both halves over the rates, and uniform losses at 800 kbit/s."""
    out = {}
    for rule, tcp in RULES.items():
        for half in ("loss", "duplicate"):
            phases = _phases(half, first_s, second_s)
            for rate in RATES_kbps:
                out[f"{half}, {rate}, {rule}"] = three_states(f"f4-14-{half}", phases, tcp, rate, DURATION_s)
        for p in UNIFORM:
            uniform = [{"length": "1000 s", "probability": p}]
            out[f"uniform, {p}, {rule}"] = three_states("f4-14-uniform", uniform, tcp, 800, 60.0)
    return out


def _ratio(new: str, old: str) -> Any:
    """Ratio of mean throughputs of two configurations: all data that the sender sent, as the source defines it."""
    return ratio(new, old, "segments")


def _rate_kbps(r: Results, configuration: str) -> float:
    """Mean throughput of a connection."""
    return float(r.of(configuration, "segments").mean()) * MSS * 8 / DURATION_s / 1e3


@measured
def _largest(r: Results, half: str, new: str, old: str) -> Estimate:
    """The largest ratio over the sweep."""
    return max((_ratio(f"{half}, {k}, {new}", f"{half}, {k}, {old}")(r) for k in RATES_kbps), key=lambda e: e.value)


@measured
def _furthest(r: Results, half: str, new: str, old: str) -> Estimate:
    """The ratio furthest from 1 over the sweep."""
    ratios = (_ratio(f"{half}, {k}, {new}", f"{half}, {k}, {old}")(r) for k in RATES_kbps)
    return max(ratios, key=lambda e: abs(e.value - 1.0))


@measured
def _utilisation(r: Results, half: str) -> float:
    best = (_rate_kbps(r, f"{half}, {k}, {x}") / k for k in RATES_kbps for x in RULES)
    return float(max(best))


CLAIMS = {
    "G35": {f"{h} / bugfix, largest": _largest("loss", h, "bugfix") for h in HEURISTICS}
    | {f"{h} / no bugfix, furthest from 1": _furthest("loss", h, "no bugfix") for h in HEURISTICS},
    "G36": {f"{h} / no bugfix, largest": _largest("duplicate", h, "no bugfix") for h in HEURISTICS}
    | {f"{h} / bugfix, furthest from 1": _furthest("duplicate", h, "bugfix") for h in HEURISTICS},
    "G37": {
        f"{h} / bugfix at {p:.1%}": _ratio(f"uniform, {p}, {h}", f"uniform, {p}, bugfix")
        for p in UNIFORM
        for h in RULES
        if h != "bugfix"
    },
    "G38": {"loss, best share of the rate": _utilisation("loss"), "duplicate": _utilisation("duplicate")},
}


def pictures(r: Results) -> list[Picture]:
    """Throughput against the rate, as in the source."""
    out = []
    for half, name in (("loss", "f4-14a"), ("duplicate", "f4-14b")):
        lines = {rule: (RATES_kbps, [_rate_kbps(r, f"{half}, {k}, {rule}") for k in RATES_kbps]) for rule in RULES}
        caption = f"Throughput after a timeout, `{half}`."
        out.append(figures.scatter(name, caption, lines, "rate of the link (kbit/s)", "kbit/s"))
    over = {id: f"{half}, over {old}" for id, (half, old) in LARGEST.items()}
    found = {over[id]: {h: _largest(half, h, old)(r).value for h in HEURISTICS} for id, (half, old) in LARGEST.items()}
    known = {
        over[id]: {h: study.BOOK.number(id, f"{h} / {old}, largest") for h in HEURISTICS}
        for id, (_, old) in LARGEST.items()
    }
    caption = "Largest ratios of throughputs over the rates of the link (figure 4.14)."
    return [*out, figures.bars("f4-14-ratios", caption, found, "ratio", known)]


EXPERIMENT = experiment(__name__, "Throughput of bugfix and heuristics", where="figure 4.14, section 4.5.4", reps=100)

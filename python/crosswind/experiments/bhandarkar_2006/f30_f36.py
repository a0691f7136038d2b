"""How does one high-speed flow grow, meet others, and bear losses and small buffers?

N5, 1 Gbit/s and 120 ms. Figure 30: time until the window is 15 000 packets. Figure 31: flows that start at 0, 300,
600 and 900 s and end at 2100, 1800, 1500 and 1200 s. Figure 32: random losses beside those of the queue. Figure 33:
buffers from 1 to 0.1 of the bandwidth-delay product. Figure 34: beside 500 Mbit/s of UDP, 150 s on and 150 s off.
Figure 36: the window of LTCP with the variable decrease.

What the source printed: curves that are lost, and in words: LTCP is orders of magnitude faster than TCP; LTCP and
HTCP share soon, BIC takes much longer; LTCP bears losses like BIC, HTCP a little worse; from half a product on all
fill the link; beside UDP all behave alike; LTCP with the variable decrease moves about 19 000 packets at layer 13.

What may differ here: figure 30 begins in congestion avoidance at 100 segments, for its windows grow from small ones
and ordinary slow start would have filled the path in two seconds; all others have the slow start of TCP (decision
0029). One seed: it is three billion packets, and only the losses of figure 32 and the hosts of figure 34 are random.
K_R is 2.4 at 120 ms (O18). Beside UDP hosts take up to a packet's time over each packet (`overhead_` of N6). `--quick`
divides rates, buffers, thresholds, W_T and BIC's steps by ten and the times of figures 31 and 34 by five; what counts
time has no smaller copy and runs at full size, shorter. In figure 31 a flow has converged when it has had 80 % of its
share for 5 s.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from crosswind import figures
from crosswind.experiments.bhandarkar_2006 import nets, study
from crosswind.experiments.bhandarkar_2006.measures import used
from crosswind.figures.panels import panels
from crosswind.reproduce import Picture, Quantity, Results, Scenario, measured, needed

RTT_ms = 120
PROTOCOLS = ("LTCP", "HTCP", "BIC")
LOSSES = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
BUFFERS = (1.0, 0.75, 0.5, 0.25, 0.18, 0.1)
FEW_BUFFERS = (1.0, 0.5, 0.18, 0.1)
# What `--quick` runs at full size, in so many seconds of which some are left out: figure 32 from a loss rate on; in
# figure 33 HTCP, and all with the smallest buffer.
MANY, SHORT_F32_s, SHORT_F33_s = 1e-5, (60.0, 20.0), (60.0, 30.0)
STARTS, ENDS = (0, 300, 600, 900), (2100, 1800, 1500, 1200)


class Size:
    """What full size and `--quick` differ in."""

    def __init__(self, size: str, first: str = "none") -> None:
        full = size == "full"
        self.first = first
        self.scale = 1.0 if full else 0.1
        self.rate = 1000.0 * self.scale
        self.buffer = round(5000 * self.scale)
        self.time = 1.0 if full else 1 / 5
        self.ltcp: dict[str, Any] = {} if full else {"ltcp": {"threshold": 5.0}}
        self.loss = 1.0 if full else 100.0
        self.seconds, self.left_out = (400.0, 100.0) if full else (40.0, 10.0)

    def flow(self, protocol: str, **changes: Any) -> dict[str, Any]:
        """One flow of a protocol; LTCP's W_T goes with the rate."""
        own: dict[str, Any] = self.ltcp if protocol.startswith("LTCP") else {}
        if protocol == "BIC":
            own = {"bic": {"s_max": 32.0 * self.scale, "s_min": 0.01 * self.scale}}
        return nets.bulk(protocol, **{**own, **changes})

    def fits(self, share: float = 0.75) -> dict[str, Any]:
        """Nothing, or (`first="fits"`) a first threshold below what path and queue hold."""
        if self.first != "fits":
            return {}
        return {"initial_ssthresh": f"{int(share * (nets.bdp(self.rate, RTT_ms) + self.buffer)) * nets.PAYLOAD} B"}


def _growth(s: Size) -> dict[str, Scenario]:
    """Windows from 100 packets of full size; TCP needs 1800 s.

    Time is scaled here as well, so BIC's steps per round trip are those of full size.
    """
    out = {}
    for p in ("SACK", *PROTOCOLS):
        first = {"initial_ssthresh": f"{int(100 * s.scale) * nets.PAYLOAD} B"}
        name = f"f30 {p}"
        line = nets.wire(s.rate, RTT_ms / 2 - 2, nets.droptail(s.buffer))
        seconds = 2000 * s.scale if p == "SACK" else 400 * s.scale
        flows = {"one": (Size("full") if p == "BIC" else s).flow(p, **first)}
        record = {"series": "gauges", "sample": f"{1.2 * s.scale:.2f} s"}
        net = nets.dumbbell(name, line, nets.wire(2400, 1), flows, duration_s=seconds, warm_up_s=seconds)
        out[name] = net.with_({f"record.{k}": v for k, v in record.items()})
    return out


def _joining(s: Size) -> dict[str, Scenario]:
    out = {}
    for p in PROTOCOLS:
        flows, leave = {}, []
        for k, (start, end) in enumerate(zip(STARTS, ENDS, strict=True), start=1):
            flows[f"flow{k}"] = s.flow(p, start=f"{start * s.time} s", **s.fits(0.2))
            if end < ENDS[0]:
                leave.append({"at": f"{end * s.time} s", "flow": f"flow{k}", "set": {"abort": "sender"}})
        name = f"f31 {p}"
        net = nets.high_speed(
            name, flows, rate_mbps=s.rate, buffer=s.buffer, pairs=4, duration_s=ENDS[0] * s.time, warm_up_s=1
        )
        out[name] = net.with_({"timeline": leave})
    return out


def _random(size: str, first: str) -> dict[str, Scenario]:
    out = {}
    for p in PROTOCOLS:
        for loss in LOSSES:
            name = f"f32 {loss} {p}"
            # With many losses windows are small, and full size is cheap.
            full = size == "full" or loss >= MANY
            s = Size("full" if full else "quick", first)
            seconds, left_out = (s.seconds, s.left_out) if size == "full" or not full else SHORT_F32_s
            lossy = {"type": "uniform", "probability": min(1.0, loss * s.loss), "counts": "data"}
            out[name] = nets.high_speed(
                name,
                {"one": s.flow(p, **s.fits())},
                rate_mbps=s.rate,
                buffer=s.buffer,
                duration_s=seconds,
                warm_up_s=left_out,
                loss=lossy,
                reverse={"loss": "none"},
            )
    return out


def _buffers(size: str, first: str) -> dict[str, Scenario]:
    out = {}
    for p in PROTOCOLS:
        for b in BUFFERS if size == "full" else FEW_BUFFERS:
            # HTCP's growth counts time: it has no smaller copy. One round trip's growth shows in small buffers.
            full = size == "full" or p == "HTCP" or b == min(BUFFERS)
            s = Size("full" if full else "quick", first)
            seconds, left_out = (s.seconds, s.left_out) if size == "full" or not full else SHORT_F33_s
            name, buffer = f"f33 {b} {p}", b * nets.bdp(s.rate, RTT_ms)
            flow = {"one": s.flow(p, **s.fits(0.7))}
            out[name] = nets.high_speed(
                name, flow, rate_mbps=s.rate, buffer=buffer, duration_s=seconds, warm_up_s=left_out
            )
    return out


def _udp(s: Size) -> dict[str, Scenario]:
    out = {}
    source = nets.wave(s.rate / 2, f"{150 * s.time} s")
    for p in PROTOCOLS:
        flows = {"one": s.flow(p, **s.fits()), "udp": source}
        out[f"f34 {p}"] = nets.high_speed(
            f"f34 {p}",
            flows,
            rate_mbps=s.rate,
            buffer=s.buffer,
            pairs=1,
            hosts="busy",
            duration_s=900 * s.time,
            warm_up_s=5 * s.time,
        )
    return out


def configurations(size: str = "full", first: str = "none") -> dict[str, Scenario]:
    """`f30 <protocol>`, `f31 ..`, `f32 <loss> ..`, `f33 <buffer> ..`, `f34 ..`, `f36`.

    `first="fits"` gives flows a first slow-start threshold, which the source does not have.
    """
    s = Size(size, first)
    rest = {**_random(size, first), **_buffers(size, first), **_udp(s), "f36": _window(size, first)}
    return {**_growth(s), **_joining(s), **rest}


def _window(size: str, first: str) -> Scenario:
    """Figure 36, always at full size: a round trip's growth weighs ten times as much in a tenth of the window."""
    s = Size("full", first)
    seconds = 300 if size == "full" else 45
    flow = {"one": s.flow("LTCP variable", **s.fits())}
    net = nets.high_speed("f36", flow, rate_mbps=s.rate, buffer=s.buffer, duration_s=seconds, warm_up_s=seconds / 3)
    return net.with_({"record.series": "gauges", "record.sample": "120 ms"})


def size_of(r: Results) -> Size:
    """The size that these results have."""
    return Size(r.size)


def window(r: Results, label: str) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Time in s and window in segments of the flow of the first repetition."""
    t, w = r.series(label, "cwnd_bytes", "one")
    return t, w / nets.PAYLOAD


@measured
def reaches(r: Results, protocol: str) -> float:
    """When the window is 15 000 packets (of full size)."""
    t, w = window(r, f"f30 {protocol}")
    there = w >= 15_000 * size_of(r).scale
    needed(there.any(), f"{protocol} does not reach it in {t[-1]:.0f} s")
    return float(t[int(np.argmax(there))])


def rates(r: Results, label: str, flow: str, step_s: float) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Middle of each bin in s, and Mbit/s of payload of a flow in it."""
    t, v = r.series(label, "size_bytes", flow)
    edges = np.arange(t[0], t[-1] + 1e-9, step_s)
    at = np.interp(edges, t, v)
    return (edges[1:] + edges[:-1]) / 2, np.diff(at) * 8 / 1e6 / step_s


@measured
def _shares(r: Results, protocol: str) -> float:
    """Largest deviation of a flow from a fourth of the link in the last third of the time that all four have."""
    s = size_of(r)
    first, last = (1100 * s.time, 1200 * s.time)
    fair = s.rate * nets.CEILING / 4
    off = []
    for k in range(1, 5):
        t, x = rates(r, f"f31 {protocol}", f"flow{k}", 1.0)
        off.append(abs(float(x[(t > first) & (t < last)].mean()) / fair - 1))
    return max(off)


@measured
def joins(r: Results, protocol: str) -> float:
    """Mean time until the second, third and fourth flow have had 80 % of their share for 5 s."""
    s = size_of(r)
    took = []
    for k in (2, 3, 4):
        begins, until = STARTS[k - 1] * s.time, (STARTS[k] if k < 4 else ENDS[3]) * s.time
        t, x = rates(r, f"f31 {protocol}", f"flow{k}", 1.0)
        inside = (t > begins) & (t < until)
        high = x[inside] >= 0.8 * s.rate * nets.CEILING / k
        held = np.convolve(high, np.ones(5), "valid") >= 5
        took.append(float(t[inside][int(np.argmax(held))] - begins) if held.any() else until - begins)
    return float(np.mean(took))


def use(label: str) -> Quantity:
    """Payload over the ceiling of the link."""
    return used(label, "one") / nets.CEILING


def _falls(r: Results) -> bool:
    curves = [[use(f"f32 {x} {p}")(r) for x in LOSSES] for p in PROTOCOLS]
    return all(b <= a + 0.005 for c in curves for a, b in pairwise(c))


def _htcp_least(r: Results, *points: str) -> bool:
    return all(use(f"{x} HTCP")(r) <= min(use(f"{x} {p}")(r) for p in ("LTCP", "BIC")) for x in points)


@measured
def _least_from(r: Results, buffer: float, protocols: tuple[str, ...]) -> float:
    """The least use of figure 33 from a buffer on."""
    return min(use(f"f33 {b} {p}")(r) for b in buffers(r) if b >= buffer for p in protocols)


def buffers(r: Results) -> tuple[float, ...]:
    """The buffers of figure 33 that were run, the largest first."""
    return tuple(map(float, reversed(r.points("f33"))))


@measured
def phase(r: Results, protocol: str, which: str) -> float:
    """Mean Mbit/s in the second half of the periods with or without UDP, of full size."""
    s = size_of(r)
    period = 150 * s.time
    t, x = rates(r, f"f34 {protocol}", "one", 5 * s.time)
    number = np.floor(t / period).astype(int)
    late = t / period - number > 0.5
    wanted = (number % 2 == (1 if which == "on" else 0)) & late & (number > 0)
    return float(x[wanted].mean()) / s.scale


def _returns(r: Results) -> float:
    """Longest time after the end of UDP until LTCP has 900 Mbit/s, of full size."""
    s = size_of(r)
    period = 150 * s.time
    t, x = rates(r, "f34 LTCP", "one", 5 * s.time)
    took = []
    for off in (2, 4):
        inside = (t > off * period) & (t < (off + 1) * period)
        there = x[inside] > 900 * s.scale
        took.append(float(t[inside][int(np.argmax(there))]) - off * period if there.any() else period)
    return max(took)


@measured
def _alike(r: Results, which: str) -> float:
    v = [phase(p, which)(r) for p in PROTOCOLS]
    return (max(v) - min(v)) / max(v)


def _late(r: Results) -> npt.NDArray[np.float64]:
    """The window of figure 36 without its first third."""
    t, w = window(r, "f36")
    return w[t > t[-1] / 3]


@measured
def amplitude(r: Results, of: str) -> float:
    """Mean peak or mean trough of the window in figure 36, in packets."""
    w = _late(r)
    fall = np.diff(w) < -0.02 * w[:-1]
    needed(fall.any(), "no reduction of the window")
    troughs = [w[k + 1 : k + 12].min() for k in np.flatnonzero(fall)]
    return float(np.mean(w[:-1][fall] if of == "peak" else troughs))


def growth(r: Results) -> Picture:
    """Figure 30: the window of each beside TCP's."""
    wanted = {
        f"window (segments), {p}": {"high-speed TCP": window(r, f"f30 {p}"), "TCP": window(r, "f30 SACK")}
        for p in PROTOCOLS
    }
    text = "Window of one flow of LTCP (a), HTCP (b) and BIC (c), and of one of TCP (figure 30)."
    return panels("f30", text, wanted, "time (s)", axis="linear", shape="steps", scale="one")


def pictures(r: Results) -> list[Picture]:
    """Figures 30 to 34 and 36."""
    f36 = {"LTCP": window(r, "f36")}
    f36["published"] = (f36["LTCP"][0][[0, -1]], np.full(2, study.BOOK.number("B78", "mean, reported")))
    out = [growth(r), figures.over_time("f36", "Window of LTCP, variable decrease.", f36, "window (segments)")]
    for p in PROTOCOLS:
        lines = {f"flow {k}": rates(r, f"f31 {p}", f"flow{k}", 5 * size_of(r).time) for k in range(1, 5)}
        out.append(figures.over_time(f"f31-{p.lower()}", f"Four flows of {p} (figure 31).", lines, "Mbit/s"))
        lines = {g: rates(r, f"f34 {p}", g, 5 * size_of(r).time) for g in ("one", "udp")}
        out.append(figures.over_time(f"f34-{p.lower()}", f"{p} beside UDP (figure 34).", lines, "Mbit/s"))
    for figure, points, what in (("f32", LOSSES, "loss rate"), ("f33", buffers(r), "buffer")):
        bars = {p: {f"{x:g}": use(f"{figure} {x} {p}")(r) for x in points} for p in PROTOCOLS}
        out.append(figures.bars(figure, f"Share of the link by {what}.", bars, "share of the ceiling"))
    return out


CLAIMS = {
    "B64": {
        "TCP over LTCP": reaches("SACK") / reaches("LTCP"),
        **{f"{p}, reported": reaches(p) / (lambda r: size_of(r).scale) for p in ("SACK", "LTCP")},
    },
    "B65": {f"{p}: largest deviation": _shares(p) for p in PROTOCOLS},
    "B66": {"BIC over LTCP": joins("BIC") / joins("LTCP"), **{f"{p}, reported": joins(p) for p in PROTOCOLS}},
    "B67": {
        "none rises with the loss rate": _falls,
        "LTCP at 1e-7": use("f32 1e-07 LTCP"),
        "HTCP least from 1e-5 on": lambda r: _htcp_least(r, "f32 1e-05", "f32 0.0001", "f32 0.001"),
    },
    "B68": {
        "least from 0.5 on": _least_from(0.5, PROTOCOLS),
        "HTCP lowest at 0.1": lambda r: _htcp_least(r, "f33 0.1"),
    },
    "B69": {"least from 0.18 on": _least_from(0.18, ("LTCP",))},
    "B70": {
        "LTCP with UDP (10 %: our number)": phase("LTCP", "on"),
        "LTCP back above 900 after": _returns,
        "apart with UDP": _alike("on"),
        "apart without": _alike("off"),
    },
    "B78": {
        "peak (2 %: our number)": amplitude("peak"),
        "trough (2 %)": amplitude("trough"),
        "amplitude": 1 - amplitude("trough") / amplitude("peak"),
        "mean, reported": lambda r: _late(r).mean(),
    },
}

EXPERIMENT = study.experiment(
    __name__,
    "One high-speed flow: growth, company, losses, buffers",
    where="figures 30 to 34, 36",
    former={"first": "fits"},
    reps=1,
    quick=study.smaller("a tenth of the rates, buffers and W_T, a fifth of the times; some at full size, shorter"),
)

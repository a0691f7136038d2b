"""Do the parts of the testbed, each looked at alone, do what the source says they do?

Small scenarios with one or two flows, each made so that one mechanism shows: RED's law, ECN at the end hosts, limited
transmit, initial windows, shared control blocks, F-RTO, the scoreboard after a timeout, and the slow-start overshoot of
two flows on the 64 kbit/s link. They are deterministic and run once.

The spurious timeouts are made without any loss by a line so slow that the first data segment needs longer than the
initial timeout of 3 s, under which the first flight runs: 1.5 kbit/s and 100 ms give it a round trip of 3.4 s.
"""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from crosswind import stats
from crosswind.experiments.jarvinen_2006 import readings, red_law, study, testbed
from crosswind.reproduce import MissingDataError, Results, Scenario, measured, needed
from crosswind.stats import Estimate

FLOW = "one"
BODY = "page/body"
CWR, ECE = 0x80, 0x40
CE = 3
SPIKE, SPIKE_FRTO = "spike", "spike, F-RTO"
SLOW: dict[str, Any] = {"rate": "1.5 kbit/s", "delay": "100 ms"}


def single(label: str, segments: int, link: dict[str, Any], tcp: dict[str, Any], **more: Any) -> Scenario:
    """One bulk flow over one link, all events recorded."""
    mss = int(str(tcp.get("mss", "536 B")).split()[0])
    flow = {
        "from": "server",
        "to": "mobile",
        "tcp": {"preset": "baseline-linux-2.4", "receive_window": "buffer", **tcp},
        "workload": {"type": "bulk", "size": f"{segments * mss} B"},
    }
    data: dict[str, Any] = {
        "name": label,
        "duration": "2000 s",
        "link": {
            "path": {"from": "server", "to": "mobile", "type": "wire", "rate": "64 kbit/s", "delay": "300 ms", **link}
        },
        "flow": {FLOW: flow},
        "record": {"events": "all"},
    }
    return Scenario.from_dict({**data, **more})


def _ecn() -> dict[str, Scenario]:
    red = {**testbed.red_queue(), "min_th": "1152 B", "max_th": "5184 B", "limit": "100000 B", "w_q": 2.0**-4}
    drop = {"type": "list", "packets": [40, 41]}
    return {
        "ecn": single("ecn", 400, {"queue": red}, {"ecn": "on"}),
        "ecn with losses": single("ecn-with-losses", 200, {"queue": red, "loss": drop}, {"ecn": "on"}),
    }


def _windows() -> dict[str, Scenario]:
    first = {"loss": {"type": "list", "packets": [1]}, "queue": {"type": "droptail", "limit": "100 packets"}}
    three = {"initial_window_segments": 3}
    return {
        "limited transmit on": single("limited-transmit-on", 40, first, three),
        "limited transmit off": single("limited-transmit-off", 40, first, {**three, "limited_transmit": "off"}),
        "BL alone": single("bl-alone", 20, {}, {}),
        "ETCP alone": single("etcp-alone", 20, {}, {"preset": "enhanced-linux-2.4"}),
    }


def _sharing(reading: testbed.Reading) -> dict[str, Scenario]:
    """Three long flows to one host, one after the other, and a tiny one beside the first."""
    setting = testbed.setting("ETCP")
    tcp = {**testbed.sender(setting), **testbed.hosts(setting), **reading.tcp}
    tcp["initial_window_segments"] = 2

    def flow(start: str, size: int = testbed.BULK_BYTES) -> dict[str, Any]:
        return {
            "from": "server",
            "to": "mobile",
            "start": start,
            "tcp": tcp,
            "workload": {"type": "bulk", "size": f"{size} B", "write": "4288 B"},
        }

    def world(label: str, memory: dict[str, str]) -> Scenario:
        return Scenario.from_dict(
            {
                "name": label,
                "duration": "3000 s",
                "link": {
                    "lan": testbed.lan(),
                    "last-hop": testbed.last_hop(setting, {"type": "droptail", "limit": "11520 B"}, reading),
                },
                "flow": {
                    "first": flow("0 s"),
                    "beside": flow("20 s", 4 * testbed.MSS),
                    "second": flow("400 s"),
                    "third": flow("900 s"),
                },
                "sharing": {"persist": "within-run", **memory},
            }
        )

    return {"cache": world("cache", {}), "cache flushed": world("cache-flushed", {"lifetime": "600 s"})}


def _frto() -> dict[str, Scenario]:
    def slow(label: str, window: int, frto: str, **link: Any) -> Scenario:
        tcp = {"initial_window_segments": window, "frto": frto}
        return single(label, 12, {**SLOW, **link}, tcp)

    return {
        "spurious, F-RTO, IW 4": slow("frto-iw4", 4, "linux-2.6"),
        "spurious, no F-RTO, IW 4": slow("no-frto-iw4", 4, "off"),
        "spurious, F-RTO, IW 2": slow("frto-iw2", 2, "linux-2.6"),
        "genuine, F-RTO, IW 4": slow("frto-genuine", 4, "linux-2.6", loss={"type": "list", "packets": [2]}),
    }


def _spikes() -> dict[str, Scenario]:
    """A window of ten segments under way when the line stops for 2 s: longer than the timer, and nothing is lost."""
    link = {"spikes": {"at": ["10 s"], "length": "2 s"}, "queue": {"type": "droptail", "limit": "100 packets"}}
    tcp = {"receive_buffer": f"{10 * testbed.MSS} B", "initial_window_segments": 4}
    return {
        label: single("spike", 200, link, {**tcp, "frto": frto})
        for label, frto in ((SPIKE_FRTO, "linux-2.6"), (SPIKE, "off"))
    }


def _peer() -> dict[str, Scenario]:
    """A page over the slow line: the browser repeats its request while the server's first flight is under way."""

    def page(label: str, retransmissions: str) -> Scenario:
        tcp = {
            "preset": "enhanced-linux-2.4",
            "initial_window_segments": 4,
            "frto_peer_retransmissions": retransmissions,
        }
        one = single(label, 1, {**SLOW, "reverse": {"rate": "1 kbit/s"}}, tcp)
        flow = {**one.data["flow"][FLOW], "workload": {"type": "page", "body": "6432 B", "objects": 0}}
        return one.with_({"flow": {"page": flow}})

    return {
        "peer, defective": page("peer-defective", "count-as-duplicate"),
        "peer, repaired": page("peer-repaired", "ignore"),
    }


def _others(reading: testbed.Reading) -> dict[str, Scenario]:
    # The segment and its fast retransmission are lost: a timeout with much of the window reported by SACK.
    tcp = {"initial_window_segments": 10, "receive_buffer": "5360 B"}
    twice = {"type": "list", "packets": [3, 13]}
    two = testbed.world(testbed.Workload("overshoot", (), events=("bulk",)), testbed.setting("BL"), reading)
    return {**_peer(), "scoreboard": single("scoreboard", 60, {"loss": twice}, tcp), "overshoot": two}


def configurations(**variant: Any) -> dict[str, Scenario]:
    """Every small scenario by label; readings change those of the testbed only."""
    reading = testbed.Reading(**variant)
    return {**_ecn(), **_windows(), **_sharing(reading), **_frto(), **_spikes(), **_others(reading)}


# ---- looking at events -----------------------------------------------------------------------------------------------


def events(r: Results, label: str, *kinds: str, flow: str = FLOW) -> pl.DataFrame:
    """The events of one flow of a small scenario: data segments and what concerns them, seen at their own end."""
    e = r.runs.events(flow=flow).filter(pl.col("configuration") == label)
    if e.is_empty():
        raise r.absent(f"events of scenario `{label}`")
    if kinds:
        e = e.filter(pl.col("kind").is_in(list(kinds)))
    segment = pl.col("kind").is_in(["send", "retransmit", "receive", "drop", "lost", "mark"])
    e = e.filter(~segment | (pl.col("len") > 0))
    return e.filter(
        pl.col("end") == pl.when(pl.col("kind") == "receive").then(pl.lit("receiver")).otherwise(pl.lit("sender"))
    )


@measured
def column(r: Results, label: str, name: str, flow: str = FLOW) -> float:
    """One value of the flow table."""
    return r.flow(label, flow, name)


def _times(e: pl.DataFrame) -> npt.NDArray[np.float64]:
    return e["time_ns"].to_numpy() / 1e9


@measured
def _first_flight(r: Results, label: str) -> float:
    sent = _times(events(r, label, "send"))
    return float((sent < sent[0] + 0.3).sum())


def _too_early(r: Results) -> Estimate:
    """Reductions made before all that was sent before the previous one (a window, so a round trip) was acknowledged."""
    log = events(r, "ecn", "ecn_reduce", "send")
    needed(log.filter(pl.col("kind") == "ecn_reduce").height >= 2, "fewer than two reductions on ECN")
    highest, barrier, early, cuts = 0, 0, 0, 0
    for kind, seq, length in log.select("kind", "seq", "len").iter_rows():
        if kind == "send":
            highest = max(highest, seq + length)
        else:
            early, cuts, barrier = early + (seq < barrier), cuts + 1, highest
    return stats.exact(float(early), cuts)


def _flags(e: pl.DataFrame) -> npt.NDArray[np.int64]:
    return e["aux"].to_numpy() & 0xFF


def _ecn_field(e: pl.DataFrame) -> npt.NDArray[np.int64]:
    return e["aux"].to_numpy() >> 8 & 3


def _cwr_per_reduction(r: Results) -> Estimate:
    marked = (_flags(events(r, "ecn", "send")) & CWR > 0).sum()
    cuts = events(r, "ecn", "ecn_reduce").height
    needed(cuts, "no reduction on ECN")
    return stats.exact(float(marked) / cuts, cuts)


def _echoes(r: Results) -> pl.DataFrame:
    """The ACKs of the loss-free scenario: whether each carries the echo, and whether the receiver owed it.

    An ACK leaves on the arrival of the segment that it acknowledges last. The receiver owes the echo from the arrival
    of a segment with CE until that of one with CWR (which may itself carry CE, and then owes it again).
    """
    owes, owed = False, {}
    for seq, length, bits in events(r, "ecn", "receive").select("seq", "len", "aux").iter_rows():
        owes = (owes and not bits & CWR) or bits >> 8 & 3 == CE
        owed[seq + length] = owes
    acks = events(r, "ecn", "ack")
    rows = [(bool(f & ECE), owed[s]) for f, s in zip(_flags(acks), acks["seq"], strict=True) if s in owed]
    if not any(due for _, due in rows):
        raise MissingDataError("no CE reached the receiver")
    return pl.DataFrame(rows, schema={"echo": pl.Boolean, "owed": pl.Boolean}, orient="row")


@measured
def _echo_where(r: Results, due: Literal["owed", "not owed"]) -> Estimate:
    acks = _echoes(r).filter(pl.col("owed") == (due == "owed"))
    return stats.exact(float(acks["echo"].mean()), acks.height)  # type: ignore[arg-type]


def _retransmissions_with_ect(r: Results) -> Estimate:
    again, sent = events(r, "ecn with losses", "retransmit"), events(r, "ecn with losses", "send")
    if not again.height or not _ecn_field(sent).any():
        raise MissingDataError("no retransmissions, or nothing ECN-capable")
    return stats.exact(float((_ecn_field(again) > 0).sum()), again.height)


SPURIOUS = "spurious, F-RTO, IW 4"


@measured
def _outstanding(r: Results, label: str) -> float:
    """Segments under way, and not reported by SACK, when the timer expires first."""
    log = events(r, label, "timeout", "send", "ack", "sack")
    timeouts = log.filter(pl.col("kind") == "timeout")
    needed(timeouts, f"no timeout in scenario `{label}`")
    before = log.filter(pl.col("time_ns") < timeouts["time_ns"][0])
    sent, sacked = (before.filter(pl.col("kind") == k) for k in ("send", "sack"))
    acknowledged = before.filter(pl.col("kind") == "ack")["seq"].max()
    under_way = sent.filter(pl.col("seq") >= (0 if acknowledged is None else acknowledged))
    return float(under_way.height - sacked.height)


@measured
def _after_spurious(r: Results, value: str) -> float:
    """The window (`seq`) or the threshold (`aux`) right after the timeout was judged spurious."""
    judged = needed(events(r, SPURIOUS, "spurious"), "the timeout was not judged spurious")
    windows = events(r, SPURIOUS, "cwnd").filter(pl.col("time_ns") >= judged["time_ns"][0])
    return float(needed(windows, "no window after the judgement")[value][0])


def _sacked_again(r: Results) -> Estimate:
    """Segments retransmitted after the timeout although a SACK had reported them before."""
    log = events(r, "scoreboard", "timeout", "sack", "retransmit")
    timeouts = log.filter(pl.col("kind") == "timeout")
    needed(timeouts, "no timeout in the scenario")
    at = timeouts["time_ns"][0]
    blocks = log.filter((pl.col("kind") == "sack") & (pl.col("time_ns") <= at)).select("seq", "len").rows()
    needed(blocks, "nothing was reported by SACK before the timeout")
    again = log.filter((pl.col("kind") == "retransmit") & (pl.col("time_ns") >= at)).select("seq", "len").rows()
    hit = sum(any(left <= s and s + n <= left + size for left, size in blocks) for s, n in again)
    return stats.exact(float(hit), len(again))


@measured
def _recovery_at(r: Results, flow: str) -> float:
    t = _times(events(r, "overshoot", "recovery", flow=flow))
    needed(t, f"flow {flow} never entered recovery")
    return float(t[0])


def _first_drop(r: Results) -> float:
    firsts = [_times(events(r, "overshoot", "drop", flow=f)) for f in ("bulk-1", "bulk-2")]
    seen = [f[0] for f in firsts if f.size]
    needed(seen, "nothing was dropped")
    return float(min(seen))


@measured
def _first_detected(r: Results, label: str) -> float:
    """Whether the first timeout of the page's body is judged spurious before the next one, if there is one."""
    kinds = events(r, label, "timeout", "spurious", flow=BODY)["kind"].to_list()
    needed("timeout" in kinds, "no timeout")
    return float(kinds[kinds.index("timeout") + 1 :][:1] == ["spurious"])


def _repeated_requests(r: Results) -> float:
    e = r.runs.events(flow=BODY, kind="retransmit").filter(pl.col("configuration") == "peer, defective")
    return float(e.filter(pl.col("end") == "receiver").height)


CLAIMS = {
    **red_law.MEASURED,
    "J20": {
        "reductions before the window of the last one was acknowledged": _too_early,
        "resent packets": column("ecn", "retransmitted_packets"),
        "segments with CWR per reduction": _cwr_per_reduction,
    },
    "J21": {"ACKs with ECE from CE to CWR": _echo_where("owed"), "ACKs with ECE otherwise": _echo_where("not owed")},
    "J22": {"ECN-capable retransmissions": _retransmissions_with_ect},
    "J23": {
        "fast recoveries, on": column("limited transmit on", "fast_recoveries"),
        "timeouts, on": column("limited transmit on", "timeouts"),
        "timeouts, off": column("limited transmit off", "timeouts"),
    },
    "J24": {"BL": _first_flight("BL alone"), "ETCP": _first_flight("ETCP alone")},
    "J25": {
        "first: initial ssthresh": column("cache", "ssthresh_initial_bytes", "first"),
        "first: drops": column("cache", "drops_packets", "first"),
        "second: initial ssthresh": column("cache", "ssthresh_initial_bytes", "second"),
        "second: drops by its overshoot": column("cache", "drops_packets", "second"),
    },
    "J26": {
        "beside the first: initial ssthresh": column("cache", "ssthresh_initial_bytes", "beside"),
        "after both: initial ssthresh": column("cache", "ssthresh_initial_bytes", "second"),
    },
    "J27": {
        "initial ssthresh after the flush": column("cache flushed", "ssthresh_initial_bytes", "third"),
        "drops after the flush": column("cache flushed", "drops_packets", "third"),
        "initial ssthresh without flush": column("cache", "ssthresh_initial_bytes", "third"),
    },
    "J28": {
        "with F-RTO": column(SPURIOUS, "unnecessary_retransmissions_packets"),
        "without F-RTO, window of 4": column("spurious, no F-RTO, IW 4", "unnecessary_retransmissions_packets"),
        "with F-RTO, window of 10": column(SPIKE_FRTO, "unnecessary_retransmissions_packets"),
        "without F-RTO, more than was outstanding": (
            column(SPIKE, "unnecessary_retransmissions_packets") - _outstanding(SPIKE)
        ),
    },
    "J29": {
        "detected, IW 2": column("spurious, F-RTO, IW 2", "spurious_detected"),
        "detected, IW 4": column("spurious, F-RTO, IW 4", "spurious_detected"),
    },
    "J30": {
        "cwnd / ssthresh at the judgement": _after_spurious("seq") / _after_spurious("aux"),
        "ssthresh minus half of the flight": _after_spurious("aux") / testbed.MSS - _outstanding(SPURIOUS) / 2.0,
    },
    "J31": {
        "detected as spurious": column("genuine, F-RTO, IW 4", "spurious_detected"),
        "resent packets": column("genuine, F-RTO, IW 4", "retransmitted_packets"),
    },
    "J32": {
        "repeated requests": _repeated_requests,
        "first timeout detected, defective": _first_detected("peer, defective"),
        "first timeout detected, repaired": _first_detected("peer, repaired"),
    },
    "J33": {"reported segments retransmitted": _sacked_again},
    "J34": {
        "first drop": _first_drop,
        "bulk-1 leaves slow start": _recovery_at("bulk-1"),
        "bulk-2 leaves slow start": _recovery_at("bulk-2"),
    },
}

EXPERIMENT = study.experiment(
    __name__,
    "The mechanisms of the testbed, one by one",
    reps=1,
    quick_reps=1,
    tables=lambda _: {},
    variants=readings.MAIN,
)

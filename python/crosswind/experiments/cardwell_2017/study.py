"""How the experiments of [Cardwell 2017] are declared: greedy flows over one queue and a line that loses packets."""

from typing import Any

import polars as pl

from crosswind.reproduce import Runs, Scenario, Study, Tables
from crosswind.reproduce.claims.book import book

KEYS = ["configuration", "rep"]
#: What the hosts of the replication allow on the way.
WINDOW_B = 6_250_000
#: Receivers hold SACKs since Linux 4.18; these acknowledge every segment beyond a hole at once.
HOST = {"sack_compression": "0 s"}
LAWS: dict[str, dict[str, Any]] = {
    "CUBIC": HOST | {"preset": "linux-6-cubic"},
    #: Of 2017: an equal round trip renews the least one, which kernels since 5.10 ask to be smaller.
    "BBR": HOST | {"preset": "linux-6-bbr", "bbr": {"refresh": "not-above"}},
    #: Before Linux 4.13 TCP has no timer to pace with, and the replication installs no `fq`: nobody paces.
    "BBR of 4.11": HOST | {"preset": "linux-6-bbr", "pacing": "never", "bbr": {"refresh": "not-above"}},
    "Reno": HOST | {"preset": "linux-6"},
    "BIC": HOST | {"preset": "linux-6", "law": "bic"},
    "Westwood": HOST | {"preset": "linux-6", "law": "westwood"},
    "Vegas": HOST
    | {
        "preset": "linux-6",
        "law": "vegas",
        #: With the constants of Linux, where a loss halves.
        "vegas": {"alpha": 2.0, "beta": 4.0, "gamma": 1.0, "keep": 0.5, "rates": "linux"},
    },
}


def line(rate: str, rtt_ms: float, limit: str, loss: float = 0.0) -> dict[str, Any]:
    """The only bottleneck; it loses packets after it has sent them, with this probability."""
    own: dict[str, Any] = {
        "from": "sender",
        "to": "receiver",
        "rate": rate,
        "delay": f"{rtt_ms / 2:g} ms",
        "queue": {"type": "droptail", "limit": limit},
        "reverse": {"queue": {"type": "droptail", "limit": "1000000 packets"}, "loss": {"type": "none"}},
    }
    return own | ({"loss": {"type": "uniform", "probability": loss}} if loss else {})


def flow(law: str, **more: Any) -> dict[str, Any]:
    """A greedy flow."""
    tcp = LAWS[law] | {"send_buffer": f"{WINDOW_B} B", "receive_buffer": f"{WINDOW_B} B"}
    return {"from": "sender", "to": "receiver", "workload": {"type": "bulk"}, "tcp": tcp} | more


def scenario(bottleneck: dict[str, Any], flows: dict[str, Any], seconds: int, **record: Any) -> Scenario:
    """Flows over one line."""
    whole = {"name": "bbr", "duration": f"{seconds} s", "link": {"line": bottleneck}, "flow": flows}
    return Scenario.from_dict(whole | ({"record": record} if record else {}))


def tables(runs: Runs) -> Tables:
    """`repetition`: goodput of all flows, and what leaves the line before losses, retransmissions included (Mbit/s)."""
    ends = runs.runs().select(*KEYS, seconds=pl.col("end_ns") / 1e9)
    delivered = runs.flows().group_by(KEYS).agg(goodput=pl.col("size_bytes").sum() * 8e-6)
    out = runs.links().filter((pl.col("link") == "line") & (pl.col("direction") == "forward"))
    sent = out.select(*KEYS, departures=pl.col("sent_bytes") * 8e-6)
    wide = ends.join(delivered, on=KEYS).join(sent, on=KEYS)
    rates = wide.with_columns(pl.col("goodput", "departures") / pl.col("seconds"))
    return {"repetition": rates.drop("seconds").sort(KEYS)}


STUDY = Study("cardwell-2017", "[Cardwell 2017]", book(__file__), reps=5, quick_reps=1, tables=tables)

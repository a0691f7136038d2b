"""Is a packet of use, and how long may it wait in one queue? EPLR and the D/N rule [igarashi, chapter 7].

EPLR, the effective packet loss rate, is the share of the packets sent that were of no use: dropped or lost on the way,
or late, that is after a sum of waits in queues beyond what the application allows. How many are late is counted while
a scenario runs, for flows over UDP that say `queue_delay_limits = ["10 ms"]`, in queues of type `early-discard`.

The D/N rule says how to set MTQ, the longest wait in one queue, where packets may wait D in all.

>>> node_limit("50 ms", nodes=3, fixed="20 ms").settings
{'mtq': '10 ms', 'qtl': '30 ms'}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from crosswind.errors import InputError, did_you_mean
from crosswind.results import Runs
from crosswind.scenario import Scenario, quantity

By = Literal["group", "flow"]
RUN = ["configuration", "rep"]
# Late packets of the n-th limit, and what becomes of packets by cause, as the flow table counts them.
LATE = "late_{}_packets"
CAUSES = ("drops_local_delay_packets", "drops_delay_budget_packets", "lost_packets")


def eplr(runs: Runs, limit: str | None = None, *, by: By | Mapping[str, Sequence[str]] = "group") -> pl.DataFrame:
    """Effective packet loss rate: packets dropped, lost or late over packets sent [igarashi, chapter 7].

    `limit`: the time that packets may wait in queues in all, such as "10 ms"; it has to be one of the flow's
    `queue_delay_limits`. Without it, there is a row for each of them. `by`: "group" for the flows of a scenario as
    written, "flow" for each member, or classes of one's own, such as `{"long": ["voice-1", "voice-2"]}`; a class is
    judged as one, by all the packets of its groups.

    Flows without limits are left out. One row per configuration, repetition, group (or flow, or class) and limit:

    | column | what |
    |---|---|
    | `group`, `name` or `class` | who, as `by` says; with "flow" both `group` and `name` |
    | `limit_ns` | the limit |
    | `sent_packets` | packets that the sender gave to the network |
    | `drops_local_delay_packets` | dropped by their limit for one queue (MTQ) |
    | `drops_delay_budget_packets` | dropped by their budget for all queues (QTL) |
    | `drops_other_packets` | dropped by full queues, by laws of queues, by policers |
    | `lost_packets` | lost on links |
    | `late_packets` | arrived, but too late |
    | `loss_ratio` | dropped or lost over sent: the network's part |
    | `eplr_ratio` | dropped, lost or late over sent; null where nothing was sent |

    What is on its way when a run ends counts as sent and as nothing else. Waits are the ones that queues expect when
    the packet arrives: true ones are up to one packet time longer in each queue.

    Raises InputError when no flow has limits, when none has this limit, when no queue of the scenario knows the option
    (nothing could be late), and for classes of groups that do not exist or that have different limits.
    """
    wanted = None if limit is None else _time_ns(limit, "limit")
    known = _limits(runs)
    if wanted is not None and wanted not in known["limit_ns"]:
        there = [written_time(v) for v in known["limit_ns"].unique().sort()]
        raise InputError("eplr", "limit", f"`{limit}`", f"one of {', '.join(there)} (queue_delay_limits of the flows)")
    flows = _counted(runs, known)
    if wanted is not None:
        flows = flows.filter(pl.col("limit_ns") == wanted)
    who = {"group": ["group"], "flow": ["group", "name"]}.get(by, []) if isinstance(by, str) else ["class"]
    if not who:
        raise InputError("eplr", "by", f"`{by}`", '"group", "flow" or classes {"name": ["group", ..]}')
    if not isinstance(by, str):
        flows = _classed(flows, by)
    counts = ["sent_packets", *CAUSES[:2], "drops_other_packets", CAUSES[2], "late_packets"]
    out = flows.group_by(*RUN, *who, "limit_ns", maintain_order=True).agg(pl.col(c).sum() for c in counts)
    gone = pl.sum_horizontal(*CAUSES, "drops_other_packets")
    sent = pl.col("sent_packets")
    some = pl.when(sent > 0)
    return out.with_columns(
        some.then(gone / sent).alias("loss_ratio"),
        some.then((gone + pl.col("late_packets")) / sent).alias("eplr_ratio"),
    )


@dataclass(frozen=True)
class NodeLimit:
    """Limits of waits by the D/N rule: in one queue (`mtq_ns`), in all together (`qtl_ns`, which is D)."""

    nodes: int
    mtq_ns: int
    qtl_ns: int

    @property
    def settings(self) -> dict[str, str]:
        """What they are in a scenario: the keys `mtq` and `qtl` of a contract."""
        return {"mtq": written_time(self.mtq_ns), "qtl": written_time(self.qtl_ns)}


def node_limit(delay: str, nodes: int, fixed: str = "0 ms") -> NodeLimit:
    """The D/N rule: with N equally congested queues on the way, MTQ = D / N [igarashi, chapter 7].

    `delay`: what the application allows from end to end, such as "50 ms". `fixed`: the part of it that does not depend
    on queues, which is propagation and transmission over the whole way; what is left is D, the time that packets may
    wait. `nodes`: N, the number of congested queues on the longest way. D / N is rounded down to whole nanoseconds.

    No packet that waits at most D / N in each of N queues waits longer than D, so none is late. The budget QTL = D
    keeps that promise too when there are more congested queues than was thought; where N is right it never drops.
    The rule has limits of its own. Where N is large, D / N may be so short that bursts of an ordinary load
    exceed it (in the source below about 1.8 ms at 20 Mbit/s); where a full queue waits less than D / N, the limit does
    nothing. Where N is not known, the source takes half of D (`nodes=2`) together with QTL = D.

    Raises InputError for what is no time or no number of queues, and when the fixed part leaves nothing to wait.

    >>> node_limit("10 ms", 3)
    NodeLimit(nodes=3, mtq_ns=3333333, qtl_ns=10000000)
    """
    delay_ns, fixed_ns = _time_ns(delay, "delay"), _time_ns(fixed, "fixed")
    if isinstance(nodes, bool) or not isinstance(nodes, int) or nodes < 1:
        raise InputError("node_limit", "nodes", f"{nodes!r}", "a whole number of congested queues, at least 1")
    if fixed_ns >= delay_ns:
        raise InputError("node_limit", "fixed", f"`{fixed}`", f"less than the delay of {delay}, or nothing may wait")
    queueing = delay_ns - fixed_ns
    return NodeLimit(nodes, queueing // nodes, queueing)


def written_time(ns: int) -> str:
    """A time as scenarios write it, exactly.

    >>> written_time(2_500_000), written_time(10_000_000)
    ('2500 us', '10 ms')
    """
    for length, unit in ((10**9, "s"), (10**6, "ms"), (10**3, "us")):
        if ns and ns % length == 0:
            return f"{ns // length} {unit}"
    return f"{ns} ns"


def _time_ns(written: object, path: str) -> int:
    found = quantity.parse(written)
    if found is None or found.unit != "ns" or found.value < 0:
        where = "eplr" if path == "limit" else "node_limit"
        raise InputError(where, path, f"`{written}`", 'a time with its unit, such as "10 ms"')
    return round(found.value)


def _limits(runs: Runs) -> pl.DataFrame:
    """configuration, group, number (from 1) and limit_ns of every limit that flows have."""
    rows = [(label, *row) for label, s in runs.scenarios.items() for row in _limits_of(s)]
    if not rows:
        raise InputError(
            "eplr",
            "flow",
            "no flow with queue_delay_limits",
            'limits to be counted while it runs: queue_delay_limits = ["10 ms"]',
        )
    types = {"configuration": pl.String, "group": pl.String, "number": pl.Int64, "limit_ns": pl.Int64}
    return pl.DataFrame(rows, schema=types, orient="row")


def _limits_of(s: Scenario) -> Iterator[tuple[str, int, int]]:
    flows = {
        name: f for name, f in (s.get("flow") or {}).items() if isinstance(f, dict) and f.get("queue_delay_limits")
    }
    if flows and not _has_queue({k: v for k, v in s.data.items() if k != "flow"}):
        raise InputError(
            s.place(f"flow.{next(iter(flows))}.queue_delay_limits"),
            "link",
            "no queue of type `early-discard`",
            "one on the way of the flow: other queues do not add up waits, and nothing would ever be late",
        )
    for name, flow in flows.items():
        for number, written in enumerate(flow["queue_delay_limits"], start=1):
            yield name, number, _time_ns(written, "limit")


def _has_queue(part: Any) -> bool:
    """Whether a queue of type early-discard is somewhere inside."""
    if isinstance(part, list):
        return any(_has_queue(p) for p in part)
    if not isinstance(part, Mapping):
        return False
    return part.get("type") == "early-discard" or any(_has_queue(p) for p in part.values())


def _counted(runs: Runs, known: pl.DataFrame) -> pl.DataFrame:
    """The flows that have limits, once for each, with what became of their packets."""
    flows = runs.flows()
    late = [LATE.format(n) for n in known["number"].unique().sort()]
    if missing := [c for c in late if c not in flows.columns]:
        raise InputError("eplr", "flow", f"results without {', '.join(missing)}", "results of simulated runs")
    # What no flow of a run has is no column, or -1 beside other runs.
    absent = [pl.lit(0, dtype=pl.Int64).alias(c) for c in CAUSES if c not in flows.columns]
    flows = flows.with_columns(absent).with_columns(pl.col(*CAUSES, *late).clip(0))
    rows = flows.join(known, on=["configuration", "group"], how="inner", maintain_order="left_right")
    of_limit = pl.coalesce(
        pl.when(pl.col("number") == n).then(pl.col(LATE.format(n))) for n in known["number"].unique()
    )
    return rows.with_columns(
        of_limit.alias("late_packets"),
        (pl.col("drops_packets") - pl.col(CAUSES[0]) - pl.col(CAUSES[1])).alias("drops_other_packets"),
    )


def _classed(flows: pl.DataFrame, classes: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """The rows of each class, named by it; a group may be in several classes."""
    groups = flows["group"].unique(maintain_order=True).to_list()
    if not classes:
        raise InputError("eplr", "by", "no classes", 'classes such as {"long": ["voice-1", "voice-2"]}')
    for name, members in classes.items():
        unknown = [m for m in members if m not in groups]
        if unknown or not members:
            found = ", ".join(f"`{m}`" for m in unknown) or "no groups"
            hint = did_you_mean(unknown[0], groups) if unknown else ""
            raise InputError("eplr", f"by.{name}", found, f"groups with limits: {', '.join(groups)}", hint)
    pairs = [(name, m) for name, members in classes.items() for m in dict.fromkeys(members)]
    named = pl.DataFrame(pairs, schema={"class": pl.String, "group": pl.String}, orient="row")
    flows = flows.join(named, on="group", how="inner", maintain_order="left_right")
    covered = flows.group_by("configuration", "class", "limit_ns").agg(pl.col("group").n_unique())
    every = flows.group_by("configuration", "class").agg(pl.col("group").n_unique().alias("members"))
    uneven = covered.join(every, on=["configuration", "class"]).filter(pl.col("group") < pl.col("members"))
    if uneven.height:
        name = uneven.sort("class")["class"][0]
        raise InputError(
            "eplr", f"by.{name}", "groups with different queue_delay_limits", "the same limits, or one `limit` of all"
        )
    return flows

"""Real stacks as programs of an emulation: what they are told, what is refused, and what a flow's row says of them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from test_emulate import emulates

from crosswind import Scenario
from crosswind.core import has_hook
from crosswind.emulate import stack_end, testbed
from crosswind.emulate.network import refuse_rates
from crosswind.emulate.programs import stack_tasks
from crosswind.errors import InputError

# Stacks of other people are a build of their own (docs/how-to/stacks.md); after `make stacks` nothing here is skipped.
built = pytest.mark.skipif(not has_hook("stack_over_udp"), reason="this build has no real stacks (make stacks)")
FLOW: dict[str, Any] = {
    "flow": 0, "name": "q", "group": "q", "transport": "quinn", "stack": {"type": "quinn", "congestion": "cubic"},
    "workload": {"type": "bulk", "size": "1 MB"}, "tcp": {}, "start_ns": 0,
}  # fmt: skip
SEEN: dict[str, Any] = {
    "samples": [[0, 14_520, -1, 0, 333_000_000], [10, 29_040, -1, 14_520, 40_000_000]], "failure": None,
    "cuts": [[20, 1000, 700, "loss"], [30, 700, 490, "mark"]], "open_ns": 5, "close_ns": -1, "sent_packets": 9,
    "stack": {"stack_lost_packets": 3, "stack_ssthresh_bytes": None},
}  # fmt: skip
MIXED = """\
name = "mixed"
duration = "4 s"

[link.path]
from = "server"
to = "client"
rate = "4 Mbit/s"
delay = "15 ms"
queue = { type = "droptail", limit = "30000 B" }
reverse = { queue = { limit = "100 packets" } }

[flow.quinn]
from = "server"
to = "client"
transport = { type = "quinn" }
workload = { type = "bulk" }

[flow.file]
from = "server"
to = "client"
transport = { type = "noq", congestion = "newreno" }
workload = { type = "bulk", size = "100 kB" }

[flow.tcp]
from = "server"
to = "client"
workload = { type = "bulk" }
tcp = { preset = "linux-6-cubic" }

[record]
sample = "50 ms"
"""


def test_both_ends_are_told_the_stack_and_the_sender_the_size() -> None:
    there, here = stack_tasks(FLOW, "1/0")
    assert (there["do"], there["size"], here["do"]) == ("send-stack", 1_000_000, "receive-stack")
    assert there["stack"] == here["stack"] == FLOW["stack"] and there["seed"] == here["seed"]
    assert stack_tasks(FLOW, "2/0")[0]["seed"] != there["seed"]


@pytest.mark.parametrize(
    ("more", "path"),
    [
        ({"transport": "smoltcp"}, "flow.q.transport.type"),
        ({"workload": {"type": "page"}}, "flow.q.workload"),
        ({"workload": {"type": "bulk", "write": "1 kB"}}, "flow.q.workload"),
        ({"dscp": 46}, "flow.q"),
    ],
)
def test_what_only_a_simulation_can_do_is_refused_where_it_stands(more: dict[str, Any], path: str) -> None:
    with pytest.raises(InputError) as refused:
        stack_tasks({**FLOW, **more}, "1/0")
    assert path in str(refused.value)


@pytest.mark.parametrize("keys", [{"udt": {}}, {"transport": {"type": "tfrc"}}, {"transport": "udt"}])
def test_a_transport_that_sends_at_a_rate_is_refused_however_it_is_written(keys: dict[str, Any]) -> None:
    what = Scenario.from_dict({"name": "x", "flow": {"a": {"from": "s", "to": "c", **keys}}})
    with pytest.raises(InputError) as refused:
        refuse_rates(what)
    assert next(iter(keys)) in str(refused.value)


def test_a_row_says_what_the_stack_said_and_what_arrived() -> None:
    said = {**stack_end.told(SEEN), "received_bytes": 500_000, "received_packets": 8}
    view = {"flows": [[1, 0, 2]], "queue_delays_ns": [{"p50": 7}]}
    row = testbed.flow_row(FLOW, said, {"view": view}, 1_000_000_005)
    assert (row["protocol"], row["size_bytes"], row["goodput_bps"]) == ("quinn", 500_000, pytest.approx(4e6))
    assert (row["drops_packets"], row["marks_packets"], row["sent_packets"]) == (1, 2, 9)
    assert row["stack_lost_packets"] == 3 and math.isnan(row["stack_ssthresh_bytes"])
    assert row["cwnd_max_bytes"] == 29_040 and row["rtt_min_ns"] == 40_000_000
    assert row["outcome"] == "cut off"
    assert [e["kind"] for e in testbed.event_rows(FLOW, said)] == ["recovery", "ecn_reduce"]
    samples = {(r["time_ns"], r["metric"]): r["value"] for r in testbed.sample_rows(FLOW, said)}
    assert samples[10, "cwnd_bytes"] == 29_040 and (10, "rto_ns") not in samples


def test_a_stack_that_gives_up_says_why() -> None:
    said = stack_end.told({**SEEN, "failure": "timed out"})
    assert said["error"] == "timed out"
    endless = {**FLOW, "workload": {"type": "bulk"}}
    assert testbed.outcome_of(endless["workload"], said) == "gave up"


@built
@emulates
def test_stacks_and_a_kernel_share_a_link_in_real_time(tmp_path: Path) -> None:
    file = tmp_path / "mixed.toml"
    file.write_text(MIXED)
    runs = testbed.run(Scenario.load(file), seed=1)
    rows = {row["name"]: row for row in runs.flows().iter_rows(named=True)}
    assert rows["file"]["outcome"] == "complete" and rows["file"]["size_bytes"] == 100_000, runs.manifest["warnings"]
    assert rows["file"]["close_ns"] > 0
    both = [rows[name]["goodput_bps"] for name in ("quinn", "tcp")]
    assert sum(both) > 2e6 and min(both) > 2e5, both
    assert rows["quinn"]["stack_lost_packets"] >= 0 and rows["quinn"]["drops_packets"] > 0
    assert runs.sample("cwnd_bytes", "quinn").height > 20

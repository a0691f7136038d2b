"""Lines of tc as scenarios: what is taken over, what is refused and why, and that nothing breaks the reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import crosswind as cw
from crosswind.cli import main
from crosswind.errors import InputError
from crosswind.scenario.tc import Options, imported, units
from crosswind.scenario.tc.lines import statements

pytestmark = pytest.mark.engine
QDISC = "tc qdisc add dev eth0"
CLASS = "tc class add dev eth0"
FILTER = "tc filter add dev eth0 parent 1: protocol ip"
RED = "red limit 60kb min 15kb max 45kb avpkt 1000 burst 20 probability 0.1 bandwidth 4mbit ecn"
GATEWAY = f"""\
#!/bin/sh
tc qdisc del dev eth0 root 2>/dev/null || true   # what was there before
sudo {QDISC} root handle 1: htb default 30 r2q 20
{CLASS} parent 1: classid 1:1 htb rate 10mbit
{CLASS} parent 1:1 classid 1:10 htb rate 1mbit ceil 10mbit prio 0
/sbin/{CLASS} parent 1:1 classid 1:20 htb rate 4mbit \\
    ceil 8mbit prio 1 burst 15k quantum 3028
{CLASS} parent 1:1 classid 1:30 htb rate 5mbit ceil 10mbit prio 2
{QDISC} parent 1:10 handle 10: pfifo limit 50
{QDISC} parent 1:20 handle 20: {RED}
{FILTER} prio 3 u32 match ip dport 443 0xffff match ip protocol 6 0xff flowid 1:20
{FILTER} prio 1 u32 match ip dsfield 0xb8 0xfc flowid 1:10
{FILTER} prio 4 handle 6 fw classid 1:20
{FILTER} prio 5 flower ip_proto udp dst_port 53 dst_ip 10.0.0.0/8 classid 1:10
"""


def path_of(*lines: str, **options: Any) -> dict[str, Any]:
    path: dict[str, Any] = imported("\n".join(lines), options=Options(**options)).data["link"]["path"]
    return path


def test_numbers_are_read_as_tc_reads_them() -> None:
    rates = {
        "1": 1,
        "8bit": 8,
        "140kbit": 140_000,
        "1.5mbit": 1_500_000,
        "2gbit": 2 * 10**9,
        "1kbps": 8000,
        "1Kibit": 1024,
    }
    assert {text: units.rate(text) for text in rates} == rates
    assert units.rate("140kbit", 1024) == 143_360 and units.rate("1mbit", 1024) == 2**20
    sizes = {"1600": 1600, "1600b": 1600, "15k": 15360, "60kb": 61440, "1m": 2**20, "8kbit": 1024, "15k/8": 15360}
    assert {text: units.size(text) for text in sizes} == sizes
    times = {"5": 5000, "100us": 100_000, "5ms": 5_000_000, "1.5s": 1_500_000_000, "20msec": 20_000_000}
    assert {text: units.time(text) for text in times} == times
    assert (units.share("0.1%"), units.integer("0x1f"), units.integer("010")) == (0.001, 31, 10)


def test_a_tree_of_shares_keeps_its_numbers_filters_and_order() -> None:
    found = imported(GATEWAY, "gateway.sh")
    queue = found.data["link"]["path"]["queue"]
    assert (queue["type"], queue["default"], queue["overhead"], queue["r2q"]) == ("htb", "1-30", "14 B", 20)
    classes = queue["class"]
    assert classes["1-1"] == {"rate": "10 Mbit/s", "ceil": "10 Mbit/s", "burst": "1600 B", "cburst": "1600 B"}
    twenty = classes["1-20"]
    assert (twenty["parent"], twenty["rate"], twenty["ceil"], twenty["prio"]) == ("1-1", "4 Mbit/s", "8 Mbit/s", 1)
    assert (twenty["burst"], twenty["cburst"], twenty["quantum"]) == ("15360 B", "1600 B", "3028 B")
    red = twenty["queue"]
    assert (red["type"], red["limit"], red["min_th"], red["ecn"]) == ("red-linux", "61440 B", "15360 B", "mark")
    assert red["idle_damping"] == "none", "a class of htb is never asked in vain"
    assert classes["1-10"]["queue"] == {"type": "droptail", "limit": "50 packets"}
    assert classes["1-30"]["queue"] == {"type": "droptail", "limit": "1000 packets"}
    assert queue["filter"] == [  # by preference
        {"class": "1-10", "dscp": 46},
        {"class": "1-20", "proto": "tcp", "flow": "dport-443-tcp"},
        {"class": "1-20", "flow": "mark-6"},
        {"class": "1-10", "proto": "udp", "flow": "dport-53-dst-10-0-0-0-8-udp"},
    ]
    flows = found.data["flow"]
    assert set(flows) == {"dscp-46", "dport-443-tcp", "mark-6", "dport-53-dst-10-0-0-0-8-udp", "rest"}
    assert flows["dscp-46"]["dscp"] == 46 and flows["dport-53-dst-10-0-0-0-8-udp"]["workload"]["type"] == "cbr"


def test_what_is_printed_is_a_scenario_that_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script, out = tmp_path / "gateway.sh", tmp_path / "gateway.toml"
    script.write_text(GATEWAY)
    assert main(["tc", "import", str(script), "--rate", "100 Mbit/s", "--out", str(out)]) == 0
    assert "written" in capsys.readouterr().out
    scenario = cw.Scenario.load(out)
    assert scenario.data == imported(GATEWAY, str(script), Options("gateway", rate="100 Mbit/s")).data
    runs = cw.run(scenario.with_({"duration": "2 s"}))
    sent = runs.links().filter(cw.pl.col("direction") == "forward")["sent_bytes"][0]
    assert 0.9 * 10e6 * 2 / 8 < sent < 10e6 * 2 / 8, "the shaper, not the line, limits"
    assert main(["tc", "import", str(script), "--json"]) == 0
    assert '"1-20"' in capsys.readouterr().out
    assert main(["tc", "import", str(tmp_path / "none.sh")]) == 2


def test_netem_is_the_link() -> None:
    alone = path_of(f"{QDISC} root netem delay 40ms loss 1% rate 2mbit limit 100")
    assert (alone["rate"], alone["delay"], alone["loss"]) == (
        "2 Mbit/s",
        "40 ms",
        {"type": "uniform", "probability": 0.01},
    )
    assert alone["queue"] == {"type": "droptail", "limit": "100 packets"}
    assert (alone["reverse"]["rate"], alone["reverse"]["loss"]) == ("1 Gbit/s", "none")
    for lines in (
        [f"{QDISC} root handle 1: netem delay 20ms", f"{QDISC} parent 1:1 tbf rate 1mbit burst 5k limit 30k"],
        [f"{QDISC} root handle 1: tbf rate 1mbit burst 5k limit 30k", f"{QDISC} parent 1: netem delay 20ms limit 9"],
    ):
        both = path_of(*lines)
        assert (both["delay"], both["queue"]["type"], both["queue"]["rate"]) == ("20 ms", "tbf", "1 Mbit/s")


def test_a_bucket_holds_what_its_longest_wait_lets_in() -> None:
    queue = path_of(f"{QDISC} root tbf rate 2mbit burst 10kb latency 50ms")["queue"]
    # 50 ms at 2 Mbit/s are 12500 B, and the bucket.
    assert queue["queue"] == {"type": "droptail", "limit": "22740 B", "overhead": "14 B"}
    queue = path_of(f"{QDISC} root tbf rate 2mbit burst 10kb latency 50ms peakrate 3mbit mtu 1540", header=0)["queue"]
    assert queue["queue"] == {"type": "droptail", "limit": "20290 B"} and queue["peak_rate"] == "3 Mbit/s"


def test_bands_follow_the_type_of_service() -> None:
    queue = path_of(f"{QDISC} root pfifo_fast")["queue"]
    of = {f["class"]: f["dscp"] for f in queue["filter"]}
    assert queue["default"] == "1-2" and 4 in of["1-1"] and 2 in of["1-3"]  # low delay; much throughput
    assert all(46 not in points for points in of.values()), "EF is between both for the kernel"
    one = path_of(
        f"{QDISC} root handle 1: prio bands 2 priomap {'1 ' * 16}", f"{FILTER} u32 match ip dport 22 0xffff flowid 1:1"
    )
    assert one["queue"]["filter"] == [{"class": "1-1", "flow": "dport-22"}] and one["queue"]["default"] == "1-2"


def test_a_flow_belongs_to_every_filter_that_would_take_it() -> None:
    lines = [
        f"{QDISC} root handle 1: prio",
        f"{FILTER} prio 2 u32 match ip dport 80 0xffff match ip dst 10.0.0.1 flowid 1:1",
        f"{FILTER} prio 1 u32 match ip dport 80 0xffff flowid 1:3",
    ]
    filters = path_of(*lines)["queue"]["filter"]
    assert filters[0]["flow"] == ["dport-80-dst-10-0-0-1", "dport-80"] and filters[0]["class"] == "1-3"
    assert filters[1]["flow"] == "dport-80-dst-10-0-0-1"


def test_filters_without_preference_come_last_and_the_last_added_first() -> None:
    def asked(*preferences: str) -> list[str]:
        ports = [f"{FILTER} {p} u32 match ip dport {n} 0xffff flowid 1:1" for n, p in enumerate(preferences, start=1)]
        filters = path_of(f"{QDISC} root handle 1: prio", *ports)["queue"]["filter"]
        return [f["flow"].removeprefix("dport-") for f in filters if "flow" in f]

    # `tc filter show` of Linux 6: pref 7, 49151, 49152.
    assert asked("", "", "prio 7") == ["3", "2", "1"]
    assert asked("prio 40000", "", "pref 39999", "prio 50000") == ["2", "3", "1", "4"]
    assert asked("prio 50000", "") == ["2", "1"], "49999, not 49152"


def test_two_devices_are_two_directions() -> None:
    lines = [f"{QDISC} root pfifo limit 7", "tc qdisc add dev ifb0 root bfifo limit 30k"]
    path = path_of(*lines, reverse="ifb0")
    assert (path["queue"]["limit"], path["reverse"]["queue"]["limit"]) == ("7 packets", "30720 B")
    with pytest.raises(InputError, match="--forward and --reverse"):
        path_of(*lines)
    with pytest.raises(InputError, match="did you mean `ifb0`"):
        path_of(*lines, reverse="ifb1")


@pytest.mark.parametrize(
    ("line", "queue"),
    [
        ("codel limit 100 target 4ms interval 80ms", {
            "limit": "100 packets", "target": "4 ms", "interval": "80 ms", "ecn": "drop"}),
        ("codel ecn ce_threshold 2ms", {"ecn": "mark", "ce_threshold": "2 ms"}),
        ("fq_codel limit 10240p flows 1024 quantum 1514 target 5ms memory_limit 32Mb ecn drop_batch 64", {
            "limit": "10240 packets", "flows": 1024, "quantum": "1514 B", "target": "5 ms",
            "memory_limit": "33554432 B", "ecn": "mark", "drop_batch": 64}),
        ("fq_codel noecn", {"ecn": "drop"}),
        ("pie limit 1000p target 20ms tupdate 30ms alpha 2 beta 20", {
            "limit": "1000 packets", "target": "20 ms", "t_update": "30 ms", "alpha": 0.125, "beta": 1.25,
            "ecn": "drop"}),
        ("pie ecn bytemode dq_rate_estimator", {"ecn": "mark", "byte_mode": True, "estimator": "rate"}),
        (
            "fq_pie limit 10240p flows 512 target 15ms tupdate 16ms alpha 1 beta 10 quantum 1514b memory_limit 32Mb"
            " ecn_prob 5 ecn nobytemode",
            {"limit": "10240 packets", "flows": 512, "target": "15 ms", "t_update": "16 ms", "alpha": 0.0625,
             "beta": 0.625, "quantum": "1514 B", "ecn_below": 0.05, "ecn": "mark", "byte_mode": False},
        ),
        (
            "dualpi2 limit 10000p target 15ms tupdate 16ms alpha 0.15625 beta 3.195312 l4s_ect coupling_factor 2"
            " drop_on_overload step_thresh 1ms drop_dequeue split_gso classic_protection 10%",
            {"limit": "10000 packets", "target": "15 ms", "t_update": "16 ms", "alpha": 0.15625, "beta": 3.195312,
             "classify": "l4s-ect", "coupling": 2, "overload": "drop", "step": "1 ms", "decides": "departure",
             "classic_share": 0.1},
        ),
        ("dualpi2 max_rtt 90ms step_thresh 5p min_qlen_step 2 overflow drop_enqueue any_ect memlimit 10000b", {
            "rtt_max": "90 ms", "target": "30 ms", "step_packets": 5, "step_spares": 2, "overload": "overflow",
            "decides": "arrival", "classify": "any-ect", "memory_limit": "10000 B"}),
        ("dualpi2 typical_rtt 10ms", {"rtt_max": "30 ms", "target": "10 ms"}),
    ],
)  # fmt: skip
def test_active_queues_are_the_kernels(line: str, queue: dict[str, object]) -> None:
    kind = line.split()[0].replace("_", "-")
    assert path_of(f"{QDISC} root {line}")["queue"] == {"type": kind, "profile": "linux", **queue}


def test_the_fair_queue_has_bands_by_type_of_service() -> None:
    words = "limit 10000p flow_limit 100p buckets 1024 orphan_mask 1023 bands 3 weights 589824 196608 65536"
    more = "quantum 3028b initial_quantum 15140b maxrate 8mbit low_rate_threshold 550Kbit refill_delay 40ms"
    queue = path_of(f"{QDISC} root fq {words} {more} pacing ce_threshold 2ms")["queue"]
    assert {k: v for k, v in queue.items() if k != "filter"} == {
        "type": "fq", "limit": "10000 packets", "flow_limit": 100, "weights": ["589824 B", "196608 B", "65536 B"],
        "quantum": "3028 B", "initial_quantum": "15140 B", "max_rate": "8 Mbit/s", "slow_rate": "550 kbit/s",
        "refill_delay": "40 ms", "ce_threshold": "2 ms", "pacing": True, "default": "band-1",
        "class": {"band-0": {"band": 0}, "band-1": {"band": 1}, "band-2": {"band": 2}},
    }  # fmt: skip
    of = {f["class"]: f["dscp"] for f in queue["filter"]}
    assert 4 in of["band-0"] and 2 in of["band-2"] and set(of) == {"band-0", "band-2"}
    one = path_of(f"{QDISC} root fq nopacing priomap {'2 ' * 16}")["queue"]
    assert (one["class"], one["filter"], one["pacing"]) == ({"band-2": {"band": 2}}, [], False)


DRR = f"{QDISC} root handle 1: drr\n{CLASS} parent 1: classid 1:1 drr quantum 3000\n{CLASS} parent 1: classid 1:2 drr\n"


def test_rounds_of_classes_need_a_filter_that_takes_all() -> None:
    lines = [
        f"{QDISC} parent 1:2 fq_codel", f"{FILTER} prio 1 u32 match ip dport 22 0xffff flowid 1:1",
        f"{FILTER} prio 9 matchall flowid 1:2",
    ]  # fmt: skip
    queue = path_of(DRR, *lines)["queue"]
    assert queue["filter"] == [{"class": "1-1", "flow": "dport-22"}, {"class": "1-2"}]
    assert queue["class"]["1-1"] == {"quantum": "3000 B", "queue": {"type": "droptail", "limit": "1000 packets"}}
    assert queue["class"]["1-2"]["queue"]["type"] == "fq-codel" and "quantum" not in queue["class"]["1-2"]
    with pytest.raises(InputError, match="the kernel drops what no filter takes"):
        path_of(DRR, *lines[:2])
    with pytest.raises(InputError, match="no classes"):
        path_of(f"{QDISC} root handle 1: drr")


def test_red_may_adapt_and_then_takes_its_probability_as_it_is_written() -> None:
    queue = path_of(f"{QDISC} root red limit 60kb avpkt 1000 adaptive")["queue"]
    assert (queue["adaptive"], queue["max_p"], queue["max_p_rounding"]) == (True, 0.02, "none")
    plain = path_of(f"{QDISC} root red limit 60kb avpkt 1000")["queue"]
    assert not {"adaptive", "idle_damping"} & set(plain)


@pytest.mark.parametrize(
    ("line", "queue"),
    [
        (
            "cake bandwidth 47mbit docsis diffserv4 dual-srchost satellite nonat nowash ingress memlimit 4mb",
            {"rate": "47 Mbit/s", "framing": "docsis", "tins": "diffserv4", "isolation": "dual-srchost", "rtt": "1 s",
             "charge": "all", "memory_limit": "4194304 B"},
        ),
        ("cake unlimited besteffort overhead -4 mpu 64 ptm rtt 30ms", {
            "tins": "besteffort", "overhead": "-4 B", "mpu": "64 B", "cells": "ptm", "rtt": "30 ms"}),
        ("cake bandwidth 1mbit ack-filter-aggressive", {"rate": "1 Mbit/s", "ack_filter": "aggressive"}),
        ("cake ack-filter", {"ack_filter": "on"}),
        (
            "sfq limit 200 perturb 10 quantum 3000 divisor 512 depth 50 flows 99 headdrop",
            {"limit": "200 packets", "perturb": "10 s", "quantum": "3000 B", "divisor": 512, "depth": 50, "flows": 99,
             "head_drop": "on"},
        ),
        ("sfb", {"max": 25, "bin_size": 20, "increment": 33, "decrement": 3}),
        (
            "sfb target 10 increment 0.001 decrement 0.0002 rehash 5000 db 0 limit 99 penalty_rate 4 penalty_burst 7",
            {"max": 12, "bin_size": 10, "increment": 66, "decrement": 13, "rehash": "5 s", "warmup": "0 s",
             "limit": "99 packets", "penalty_rate": 4, "penalty_burst": 7},
        ),
    ],
)  # fmt: skip
def test_queues_of_flows_keep_their_words(line: str, queue: dict[str, object]) -> None:
    kind = line.split()[0]
    assert path_of(f"{QDISC} root {line}")["queue"] == {"type": kind, **queue}


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("cake docsis overhead 10", ["cake", "`docsis` and `overhead`", "the name of a line, or its numbers"]),
        (
            "cake autorate-ingress diffserv4",
            ["cake autorate-ingress", "`autorate-ingress`", "the rate is the one"],
        ),
        ("cake diffserv4 besteffort", ["`besteffort` twice"]),
        ("cake diffsrv4", ["`diffsrv4`", "did you mean `diffserv4`"]),
        ("sfq redflowlimit 10000", ["sfq redflowlimit", "no RED inside"]),
        ("sfb increment 2", ["sfb increment", "a share from 0 to 1"]),
        ("pie alpha 33", ["pie alpha", "sixteenths up to 32"]),
        ("pie tupdat 3ms", ["`tupdat`", "did you mean `tupdate`"]),
        ("pie ecn noecn", ["`noecn` twice"]),
        ("fq_pie ecn_prob 101", ["fq_pie ecn_prob", "whole percents"]),
        ("dualpi2 max_rtt 90ms alpha 0.1", ["a round trip and alpha", "tc takes the round trip"]),
        ("dualpi2 step_thresh many", ["dualpi2 step_thresh", "a time"]),
        ("fq horizon 2s", ["fq horizon", "at their departure times"]),
        ("fq horizon_cap", ["fq horizon_cap", "none lies ahead"]),
        ("fq timer_slack 10us", ["nobody wakes late"]),
        ("fq defrate 1mbit", ["fq defrate", "no notice"]),
        ("fq bands 4", ["fq bands", "3, as the kernel"]),
        (f"fq priomap {'3 ' * 16}", ["fq priomap", "bands below 3"]),
        ("fq weights 9 3", ["fq weights", "a value behind it"]),
    ],
)
def test_what_queues_of_flows_cannot_say_is_refused(line: str, parts: list[str]) -> None:
    with pytest.raises(InputError) as e:
        path_of(f"{QDISC} root {line}")
    assert all(p in str(e.value) for p in parts), str(e.value)


def test_words_of_cake_that_change_nothing_on_one_line_are_told_as_notes() -> None:
    found = imported(f"{QDISC} root cake bandwidth 20mbit nat wash dual-srchost", options=Options(delay="10 ms"))
    queue = found.data["link"]["path"]["queue"]
    assert queue == {"type": "cake", "rate": "20 Mbit/s", "isolation": "dual-srchost"}
    assert ["nat" in found.notes[0], "wash" in found.notes[1], len(found.notes)] == [True, True, 2]


HTB = f"{QDISC} root handle 1: htb default 10\n{CLASS} parent 1: classid 1:10 htb rate 1mbit\n"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ["no command of tc"]),
        ("ip link set eth0 up", [":1:", "`ip`"]),
        ("tc qdsic add dev eth0 root pfifo", ["did you mean `qdisc`"]),
        ("tc qdisc ad dev eth0 root pfifo", ["did you mean `add`"]),
        ("tc qdisc add dev $DEV root pfifo", ["the variable `$DEV`"]),
        ("tc qdisc add root pfifo", ["`dev` and a device"]),
        (f"{QDISC} pfifo", ["neither `root` nor `parent`"]),
        (f"{QDISC} ingress", ["`ingress`", "left its link already"]),
        (f"{QDISC} root", ["a kind of qdisc"]),
        (f"{QDISC} root fifo", ["`fifo`", "did you mean `pfifo`"]),
        (f"{QDISC} root hhf limit 10", ["`hhf`", "expected one of"]),
        (f"\n\n{QDISC} root pfifo limt 3", ["tc:3: pfifo", "did you mean `limit`"]),
        (f"{QDISC} root pfifo limit", ["nothing behind it"]),
        (f"{QDISC} root pfifo limit 3 limit 4", ["`limit` twice"]),
        (f"{QDISC} root pfifo limit many", ["`many`", "a whole number of packets"]),
        (f"{QDISC} root netem delay 40ms 10ms", ["netem delay", "`10ms`", "does not vary"]),
        (f"{QDISC} root netem loss 1% 25%", ["`25%`", "independent"]),
        (f"{QDISC} root netem duplicate 1%", ["netem duplicate", "there is no `duplicate`"]),
        (f"{QDISC} root tbf rate 1mbit burst 5k", ["neither limit nor latency"]),
        (f"{QDISC} root tbf rate 1furlong burst 5k limit 3", ["`1furlong`", "a rate as tc reads it"]),
        (f"{QDISC} root red limit 60k", ["avpkt", "which tc demands"]),
        (f"{QDISC} root red limit 60k avpkt 1000 harddrop", ["red harddrop", "between the thresholds only"]),
        (f"{QDISC} root handle 1: htb", ["no classes"]),
        (HTB.replace(" default 10", ""), ["no default", "not sent past htb"]),
        (f"{HTB}{CLASS} parent 1:7 classid 1:20 htb rate 1mbit", ["class parent", "1:7", "1:10"]),
        (f"{HTB}{CLASS} parent 1: classid 1:20 htb ceil 1mbit", ["no rate"]),
        (f"{HTB}{CLASS} parent 2: classid 2:20 htb rate 1mbit", ["below 2:", "one of 1:, 1:10"]),
        (f"{HTB}{QDISC} parent 1:10 netem delay 3ms", ["`netem` inside of htb"]),
        (f"{HTB}{FILTER} u32 match ip dport 80 0xff00 flowid 1:10", ["one port and the mask 0xffff"]),
        (f"{HTB}{FILTER} u32 match ip dprt 80 0xffff flowid 1:10", ["did you mean `dport`"]),
        (f"{HTB}{FILTER} u32 match ip dport 80 0xffff flowid 1:20", ["flowid", "1:20", "1:10"]),
        (f"{HTB}{FILTER} u32 match ip dport 80 0xffff", ["no flowid"]),
        (f"{HTB}{FILTER} u32 match ip dport 80 0xffff police rate 1mbit", ["only choose a class"]),
        (f"{HTB}{FILTER} u32 match u8 0x02 0xff at 33 flowid 1:10", ["0x2 0xff at 33"]),
        (f"{HTB}{FILTER} bpf obj x flowid 1:10", ["filter", "`bpf`"]),
        (f"{HTB}{FILTER} fw flowid 1:10", ["fw handle", "no handle"]),
        (f"{HTB}tc filter add dev eth0 parent 1: prio 65536 matchall flowid 1:10", ["prio", "below 65536"]),
        (f"{HTB}tc filter add dev eth0 parent 1: protocol ipv6 u32 match u32 0 0 flowid 1:10", ["protocol", "`ipv6`"]),
    ],
)
def test_what_cannot_be_said_is_refused_with_line_word_and_reason(text: str, parts: list[str]) -> None:
    with pytest.raises(InputError) as e:
        imported(text)
    assert all(part in str(e.value) for part in parts), str(e.value)


def test_every_code_point_of_a_mask_is_named() -> None:
    text = f"{HTB}{CLASS} parent 1: classid 1:20 htb rate 1mbit\n{FILTER} u32 match ip tos 0xa0 0xe0 flowid 1:20"
    (found,) = imported(text).data["link"]["path"]["queue"]["filter"]
    assert found["dscp"] == list(range(40, 48)), "class selector 5 and what begins like it"


ODD = """netem delay 40ms loss 1% tbf prio bands 3 priomap root 0 -1 1e999 nan 0xffff 1:ffff : :: # police at ħ '"""
TOKENS = sorted({*GATEWAY.split(), *ODD.split(), "latency", "\n", "\\\n", ""})


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(TOKENS), max_size=40), st.integers(0, 200), st.booleans())
def test_no_text_breaks_the_reader(tokens: list[str], at: int, is_inside: bool) -> None:  # noqa: FBT001
    words = GATEWAY.split(" ")
    text = " ".join(
        [*words[: at % len(words)], *tokens, *words[at % len(words) + len(tokens) :]] if is_inside else tokens
    )
    try:
        imported(text)
    except InputError as e:
        assert len(str(e)) < 2000


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=80))
def test_no_line_breaks_the_reader(line: str) -> None:
    for text in (line, f"tc qdisc add dev eth0 {line}", f"{HTB}{FILTER} u32 {line}"):
        try:
            statements(text)
            imported(text)
        except InputError:
            pass


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(8, 10**7), st.integers(0, 7), st.sampled_from(["", "bfifo", "pfifo"]), st.integers(2000, 10**6)
        ),
        min_size=1,
        max_size=6,
    )
)
def test_random_trees_come_out_with_the_numbers_that_went_in(leaves: list[tuple[int, int, str, int]]) -> None:
    lines = [f"{QDISC} root handle 1: htb default 10", f"{CLASS} parent 1: classid 1:1 htb rate 1gbit"]
    for n, (kbit, prio, kind, limit) in enumerate(leaves, start=16):
        lines.append(f"{CLASS} parent 1:1 classid 1:{n:x} htb rate {kbit}kbit prio {prio} burst {limit}")
        lines += [f"{QDISC} parent 1:{n:x} {kind} limit {limit}"] if kind else []
        lines.append(f"{FILTER} prio {n} u32 match ip dport {n} 0xffff flowid 1:{n:x}")
    queue = path_of(*lines)["queue"]
    for n, (kbit, prio, kind, limit) in enumerate(leaves, start=16):
        found = queue["class"][f"1-{n:x}"]
        assert cw.Scenario.from_dict({"x": found["rate"]}).get("x") == found["rate"]
        assert (units.rate(found["rate"].replace(" ", "").replace("/s", "")), found["prio"]) == (kbit * 1000, prio)
        assert found["burst"] == f"{limit} B"
        unit = {"": "1000 packets", "bfifo": f"{limit} B", "pfifo": f"{limit} packets"}
        assert found["queue"]["limit"] == unit[kind]
    assert [f["flow"] for f in queue["filter"]] == [f"dport-{n}" for n in range(16, 16 + len(leaves))]

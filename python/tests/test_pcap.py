"""Captures of the command line, read by tshark and tcptrace; skipped and counted as such where these are missing."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

import crosswind as cw
from crosswind.cli import main

pytestmark = pytest.mark.engine
# Optional tools (tools/optional-tools.sh); the bytes of a capture are tested without them in crates/record.
needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
needs_tcptrace = pytest.mark.skipif(shutil.which("tcptrace") is None, reason="tcptrace is not installed")

# Segments of 60 bytes fit whole into the 128 bytes that a capture keeps, so tshark can add up their checksums.
LOSSY = """\
name = "lossy"
duration = "60 s"
[record]
events = []
[link.path]
from = "server"
to = "client"
rate = "400 kbit/s"
delay = "50 ms"
loss = { type = "list", packets = [30, 61, 62, 64, 95] }
reverse = { loss = "none" }
[flow.small]
from = "server"
to = "client"
workload = { type = "bulk", size = "12 kB" }
tcp = { preset = "rfc", mss = "60 B", sack = "on" }
"""
LISTED = 5

# The same losses without SACK, and twice over: two flows share the path, so the list hits both.
NEWRENO = LOSSY.replace('sack = "on"', 'sack = "off", recovery = "newreno"').replace(
    "workload", 'count = 2\nstart = { every = "7 ms" }\nworkload'
)

ECN = """\
name = "ecn"
duration = "6 s"
[record]
events = []
[link.bottleneck]
from = "server"
to = "client"
rate = "4 Mbit/s"
delay = "20 ms"
queue = { type = "red-floyd-jacobson", limit = "200 packets", min_th = "5 packets", max_th = "15 packets", w_q = 0.02 }
loss = { type = "list", packets = [200, 500] }
reverse = { loss = "none", queue = { type = "droptail", limit = "1000 packets" } }
[flow.bulk]
from = "server"
to = "client"
workload = { type = "bulk", size = "1500 kB" }
tcp = { preset = "rfc", ecn = "on" }
"""

HANDSHAKE = """\
name = "handshake"
duration = "20 s"
[record]
events = []
[link.path]
from = "server"
to = "client"
rate = "2 Mbit/s"
delay = "30 ms"
[flow.download]
from = "server"
to = "client"
workload = { type = "bulk", size = "60 kB" }
tcp = { preset = "rfc", mss = "1448 B", timestamps = "on", window_scaling = "on", receive_buffer = "1 MiB" }
"""


@dataclass(frozen=True)
class Capture:
    """One run of the command line."""

    packets: Path
    flows: pl.DataFrame


Capturer = Callable[..., Capture]


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Capturer:
    """Runs a scenario with `--pcap`; the same run with the same options only once."""
    done: dict[tuple[str, ...], Capture] = {}

    def run(scenario: str, *options: str) -> Capture:
        key = (scenario, *options)
        if key not in done:
            folder = tmp_path_factory.mktemp("capture")
            file = folder / "scenario.toml"
            file.write_text(scenario)
            assert main(["run", str(file), "--out", str(folder / "out"), "--pcap", "--json", *options]) == 0
            done[key] = Capture(folder / "out" / "packets.pcapng", cw.Runs.load(folder / "out").flows())
        return done[key]

    return run


# -- tshark -----------------------------------------------------------------------------------------------------------

Row = dict[str, str]


def tshark(packets: Path, *fields: str, show: str = "") -> list[Row]:
    """One row per packet; a field that occurs several times has its values separated by commas."""
    command = ["tshark", "-r", str(packets), "-n", "-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"]
    command += ["-o", "tcp.relative_sequence_numbers:TRUE", "-T", "fields", "-E", "separator=;"]
    command += [w for f in fields for w in ("-e", f)] + (["-Y", show] if show else [])
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return [dict(zip(fields, line.split(";"), strict=True)) for line in done.stdout.splitlines()]


def count(packets: Path, show: str) -> int:
    return len(tshark(packets, "frame.number", show=show))


GOOD, UNVERIFIED = "1", "2"


@needs_tshark
def test_every_checksum_of_whole_segments_is_right_and_no_packet_is_malformed(capture: Capturer) -> None:
    packets = capture(LOSSY).packets
    rows = tshark(packets, "ip.checksum.status", "tcp.checksum.status")
    assert len(rows) > 400
    assert {r["ip.checksum.status"] for r in rows} == {GOOD}
    assert {r["tcp.checksum.status"] for r in rows} == {GOOD}
    assert count(packets, "_ws.malformed") == 0


@needs_tshark
@pytest.mark.parametrize("scenario", [ECN, HANDSHAKE], ids=["ecn", "handshake"])
def test_no_checksum_of_truncated_segments_is_wrong(capture: Capturer, scenario: str) -> None:
    rows = tshark(capture(scenario).packets, "ip.checksum.status", "tcp.checksum.status", "tcp.len")
    assert {r["ip.checksum.status"] for r in rows} == {GOOD}
    assert {r["tcp.checksum.status"] for r in rows if r["tcp.len"] == "0"} == {GOOD}
    assert {r["tcp.checksum.status"] for r in rows if r["tcp.len"] != "0"} == {UNVERIFIED}


@needs_tshark
def test_the_handshake_offers_and_accepts_every_option(capture: Capturer) -> None:
    packets = capture(HANDSHAKE, "--pcap-at", "sender").packets
    fields = (
        "tcp.flags.ack",
        "tcp.options.mss_val",
        "tcp.options.wscale.shift",
        "tcp.options.sack_perm",
        "tcp.options.timestamp.tsval",
        "tcp.options.timestamp.tsecr",
        "tcp.seq",
        "tcp.ack",
    )
    syn, syn_ack = tshark(packets, *fields, show="tcp.flags.syn == 1")
    # 1 MiB needs a shift of 5: 65535 << 4 is just short of it.
    for row in (syn, syn_ack):
        assert (row["tcp.options.mss_val"], row["tcp.options.wscale.shift"]) == ("1460", "5")
        assert row["tcp.options.sack_perm"] != ""
        assert row["tcp.seq"] == "0"
    assert syn["tcp.options.timestamp.tsecr"] in ("", "0")
    assert syn_ack["tcp.options.timestamp.tsecr"] == syn["tcp.options.timestamp.tsval"] != ""
    assert syn_ack["tcp.ack"] == "1"
    # From then on every packet is stamped, and the window is a multiple of 32 bytes that tshark scales back to 1 MiB.
    rest = tshark(
        packets,
        "tcp.options.timestamp.tsval",
        "tcp.options.timestamp.tsecr",
        "tcp.window_size",
        show="tcp.flags.syn == 0",
    )
    assert all(r["tcp.options.timestamp.tsval"] and r["tcp.options.timestamp.tsecr"] for r in rest)
    assert {r["tcp.window_size"] for r in rest} == {str(1 << 20)}


@needs_tshark
def test_a_syn_without_options_offers_nothing_but_the_segment_size(capture: Capturer) -> None:
    bare = HANDSHAKE.replace(
        'timestamps = "on", window_scaling = "on", receive_buffer = "1 MiB"',
        'sack = "off", recovery = "newreno", window_scaling = "off"',
    )
    packets = capture(bare, "--pcap-at", "receiver").packets
    fields = ("tcp.options.mss_val", "tcp.options.wscale.shift", "tcp.options.sack_perm", "tcp.options.timestamp.tsval")
    rows = tshark(packets, *fields, show="tcp.flags.syn == 1")
    assert [list(r.values()) for r in rows] == [["1448", "", "", ""]] * 2
    assert count(packets, "tcp.options.timestamp") == 0


@needs_tshark
def test_both_ends_are_in_the_file_and_a_lost_packet_is_seen_at_its_sender_only(capture: Capturer) -> None:
    run = capture(LOSSY)
    rows = tshark(run.packets, "frame.interface_name", "tcp.len", "ip.id", show="tcp.len > 0")
    seen = {end: [r for r in rows if r["frame.interface_name"] == end] for end in ("sender", "receiver")}
    flow = run.flows.row(0, named=True)
    assert flow["lost_packets"] == LISTED
    assert len(seen["sender"]) - len(seen["receiver"]) == LISTED
    for end in ("sender", "receiver"):
        alone = capture(LOSSY, "--pcap-at", end).packets
        assert count(alone, "tcp.len > 0") == len(seen[end])


@needs_tshark
def test_sack_blocks_report_exactly_the_segments_above_the_holes(capture: Capturer) -> None:
    packets = capture(LOSSY, "--pcap-at", "receiver").packets
    held: set[tuple[int, int]] = set()
    checked = 0
    for row in tshark(packets, "tcp.len", "tcp.seq", "tcp.ack", "tcp.options.sack_le", "tcp.options.sack_re"):
        length, first = int(row["tcp.len"]), int(row["tcp.seq"])
        if length > 0:
            held.add((first, first + length))
            continue
        if not row["tcp.options.sack_le"]:
            continue
        edges = (map(int, row[f"tcp.options.sack_{side}"].split(",")) for side in ("le", "re"))
        blocks = list(zip(*edges, strict=True))
        assert 1 <= len(blocks) <= 4
        assert len(set(blocks)) == len(blocks)
        assert set(blocks) <= set(islands(held, int(row["tcp.ack"])))
        checked += 1
    assert checked > 20


NARROW = LOSSY.replace(
    'loss = { type = "list", packets = [30, 61, 62, 64, 95] }', 'path_mtu = { size = "576 B" }'
).replace('reverse = { loss = "none" }\n', "")


@needs_tshark
def test_a_router_tells_the_sender_what_fits_and_quotes_what_did_not(capture: Capturer) -> None:
    long = NARROW.replace('mss = "60 B"', 'mss = "1460 B"')
    packets = capture(long, "--pcap-at", "sender").packets
    rows = tshark(packets, "icmp.type", "icmp.code", "icmp.mtu", "ip.len", show="icmp")
    dropped = int(cw.run(cw.Scenario.from_toml(long)).links()["drops_too_big_packets"].max() or 0)
    assert len(rows) == dropped > 0
    for row in rows:
        # The lengths are that of the message, and of the packet that it quotes.
        assert (row["icmp.type"], row["icmp.code"], row["icmp.mtu"], row["ip.len"]) == ("3", "4", "576", "56,1500")


def islands(held: set[tuple[int, int]], above: int) -> Iterator[tuple[int, int]]:
    """Maximal runs of what was received, above the next byte expected."""
    run: tuple[int, int] | None = None
    for left, right in sorted(held):
        if left <= above:
            continue
        if run and left == run[1]:
            run = (run[0], right)
        else:
            if run:
                yield run
            run = (left, right)
    if run:
        yield run


@needs_tshark
def test_ecn_bits_follow_the_way_of_a_mark_and_agree_with_the_columns(capture: Capturer) -> None:
    run = capture(ECN)
    flow = run.flows.row(0, named=True)
    assert flow["marks_packets"] > 3
    near, far = "frame.interface_name == sender && ", "frame.interface_name == receiver && "
    syn = tshark(run.packets, "tcp.flags.ece", "tcp.flags.cwr", show=near + "tcp.flags.syn == 1")
    assert [[flag(v) for v in r.values()] for r in syn] == [[True, True], [True, False]]
    # Marks are made on the way: none leaves the sender, and as many arrive as the queue made.
    assert count(run.packets, near + "ip.dsfield.ecn == 3") == 0
    assert count(run.packets, far + "ip.dsfield.ecn == 3") == flow["marks_packets"]
    # Data is ECN-capable, but not when it is retransmitted; acknowledgements never are.
    data = near + "tcp.len > 0"
    capable = count(run.packets, data + " && ip.dsfield.ecn == 2")
    assert capable == count(run.packets, data) - flow["retransmitted_packets"]
    assert count(run.packets, "tcp.len == 0 && ip.dsfield.ecn != 0") == 0
    # Every reduction is told once, and a loss is a reduction as well.
    told = count(run.packets, near + "tcp.flags.cwr == 1 && tcp.flags.syn == 0")
    assert told == flow["ecn_reductions"] + flow["fast_recoveries"] + flow["timeouts"] > 0
    # A mark is echoed until the sender has answered: more than one ACK each, none before the first mark.
    echoes = tshark(run.packets, "frame.number", show=far + "tcp.flags.ece == 1 && tcp.flags.syn == 0")
    marks = tshark(run.packets, "frame.number", show=far + "ip.dsfield.ecn == 3")
    assert len(echoes) >= flow["ecn_reductions"]
    assert int(echoes[0]["frame.number"]) > int(marks[0]["frame.number"])


def flag(value: str) -> bool:
    """tshark prints flags as 1 or True, depending on its version."""
    return value in ("1", "True")


# -- tcptrace ---------------------------------------------------------------------------------------------------------


def tcptrace(packets: Path) -> list[dict[str, int]]:
    """The numbers of every connection in the direction of the data, in the order of the file."""
    done = subprocess.run(
        ["tcptrace", "-l", "-r", "-n", str(packets)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    connections = re.split(r"^TCP connection \d+:", done.stdout, flags=re.MULTILINE)[1:]
    assert connections, done.stdout
    return [directed(text) for text in connections]


def directed(text: str) -> dict[str, int]:
    """tcptrace prints two columns; the data flows in the one with more bytes."""
    pairs = {
        m[1].strip(): (int(m[2]), int(m[4]))
        for m in re.finditer(r"^ +([a-z][\w /]*?): +(\d+) +([a-z][\w /]*?): +(\d+) *$", text, re.MULTILINE)
    }
    side = 0 if pairs["actual data bytes"][0] > pairs["actual data bytes"][1] else 1
    return {k: v[side] for k, v in pairs.items()}


SCENARIOS = {"sack": LOSSY, "newreno": NEWRENO, "ecn": ECN, "handshake": HANDSHAKE}


@needs_tcptrace
@pytest.mark.parametrize("name", SCENARIOS)
def test_tcptrace_counts_as_many_retransmissions_at_the_sender_as_we_do(capture: Capturer, name: str) -> None:
    run = capture(SCENARIOS[name], "--pcap-at", "sender")
    ours = run.flows.sort("flow").select("retransmitted_packets", "retransmitted_bytes", "size_bytes").rows()
    theirs = [(c["rexmt data pkts"], c["rexmt data bytes"], c["unique bytes sent"]) for c in tcptrace(run.packets)]
    assert sorted(theirs) == sorted(ours)
    assert (sum(r for r, _, _ in ours) > 0) == (name != "handshake")


@needs_tcptrace
@pytest.mark.parametrize("name", SCENARIOS)
def test_tcptrace_counts_as_many_segments_out_of_order_at_the_receiver_as_we_do(capture: Capturer, name: str) -> None:
    run = capture(SCENARIOS[name], "--pcap-at", "receiver")
    ours = run.flows.sort("flow").select("out_of_order_packets", "size_bytes").rows()
    theirs = [(c["outoforder pkts"], c["unique bytes sent"]) for c in tcptrace(run.packets)]
    assert sorted(theirs) == sorted(ours)
    assert (sum(n for n, _ in ours) > 0) == (name != "handshake")


# -- the option itself ------------------------------------------------------------------------------------------------


def test_one_end_without_a_capture_and_an_unknown_end_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "scenario.toml"
    file.write_text(HANDSHAKE)
    assert main(["run", str(file), "--out", str(tmp_path / "a"), "--pcap-at", "sender"]) == 2
    assert main(["run", str(file), "--out", str(tmp_path / "b"), "--pcap", "--pcap-at", "middle"]) == 2
    with pytest.raises(cw.InputError, match="pcap_at"):
        cw.Scenario.load(file).with_({"record.pcap_at": "middle"}).validate()


LIFETIMES = """\
name = "lifetimes"
duration = "8 s"
[link.slow]
from = "server"
to = "client"
rate = "30 kbit/s"
delay = "300 ms"
queue = { type = "lpd", queue = { limit = "50 packets" } }
[flow.relative]
from = "server"
to = "client"
lifetime = { data = "5 s", expired = "headers" }
workload = { type = "cbr", payload = "400 B", interval = "200 ms" }
[flow.absolute]
from = "server"
to = "client"
lifetime = { data = "3 s", form = "absolute" }
workload = { type = "cbr", payload = "400 B", interval = "200 ms" }
"""


@needs_tshark
def test_a_lifetime_is_an_option_of_the_ip_header(capture: Capturer) -> None:
    packets = capture(LIFETIMES).packets
    rows = tshark(packets, "frame.interface_id", "ip.hdr_len", "ip.src", "ip.checksum.status", "udp.length")
    assert len(rows) > 60
    for field, value in (("ip.hdr_len", "28"), ("ip.checksum.status", "1")):
        assert {r[field] for r in rows} == {value}, field
    cut = [r for r in rows if r["frame.interface_id"] == "1" and r["udp.length"] == "8"]
    assert all(r["ip.src"] == "10.0.1.1" for r in cut), "only the flow that asked for it goes on without its payload"
    raw = subprocess.run(["tshark", "-r", str(packets), "-x"], capture_output=True, text=True, check=True).stdout
    # tshark names no experimental option: its type (30) and length stand in the bytes of every packet.
    assert raw.count("1e 08 03") >= len(rows)
    assert "1e 08 03 08" in raw, "headers only, and what is left of the lifetime"
    assert "1e 08 03 04" in raw, "discard, and a deadline"

"""Emulation with real namespaces, devices and programs; skipped, and counted as skipped, where none can be made."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from punctuality import PATIENCE_s, Repeated, Run, in_real_time, wait_until
from rich.console import Console

from crosswind import Scenario
from crosswind.core import core
from crosswind.emulate import control, needs, uplink, view
from crosswind.errors import CrosswindError, InputError

SCENARIO = """\
name = "pair"
duration = "1 h"

[link.path]
from = "server"
to = "client"
rate = "2 Mbit/s"
delay = "20 ms"
queue = { type = "droptail", limit = "50 packets" }

[flow.download]
from = "server"
to = "client"
workload = { type = "bulk", size = "100 kB" }

[emulate]
client = "client"

[emulate.serve.web]
node = "server"
command = "exec PYTHON -m http.server --directory FOLDER 8000"
"""
FILE_bytes = 250_000
FETCH = (
    "import sys, time, urllib.request as u; t = time.monotonic(); "
    "n = len(u.urlopen('http://server:8000/file').read()); print(n, time.monotonic() - t)"
)


def _why_not() -> str:
    try:
        needs.check()
    except (CrosswindError, OSError) as e:
        return str(e)
    return ""


# A machine may forbid namespaces or TUN devices altogether (most containers do): nothing that a test can install.
WHY_NOT = _why_not()
HAS_SIX = Path("/proc/net/if_inet6").exists()
emulates = in_real_time(pytest.mark.skipif(WHY_NOT != "", reason=f"no emulation here: {WHY_NOT}"))


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    (tmp_path / "file").write_bytes(bytes(FILE_bytes))
    path = tmp_path / "pair.toml"
    path.write_text(SCENARIO.replace("FOLDER", str(tmp_path)).replace("PYTHON", sys.executable))
    return path


def start(*arguments: str, **options: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "crosswind", "emulate", *arguments]
    return subprocess.Popen(  # type: ignore[call-overload, no-any-return]
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def emulate(*arguments: str, **options: object) -> tuple[int, str, str]:
    process = start(*arguments, **options)
    out, err = process.communicate(timeout=2 * PATIENCE_s)
    return process.returncode, out, err


def ours(mark: str) -> list[int]:
    """Processes whose command line has `mark` in it."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if mark in line:
            found.append(int(folder.name))
    return found


def outside() -> tuple[str, str, list[str]]:
    """What the machine looks like outside: devices, routes, entries of /run."""
    ip = [subprocess.run(["ip", "-o", what], capture_output=True, text=True).stdout for what in ("link", "route")]
    # Counters of addresses' lifetimes change by themselves; names do not.
    links = " ".join(re.findall(r"^\d+: ([^:@]+)", ip[0], re.MULTILINE))
    return links, ip[1], sorted(p.name for p in Path("/run").iterdir())


@emulates
def test_a_download_takes_the_time_that_the_link_allows_and_the_machine_stays_as_it_was(scenario: Path) -> None:
    before = outside()

    def download() -> Run:
        code, out, err = emulate(str(scenario), "--json", "--", sys.executable, "-c", FETCH)
        assert code == 0, err
        lines = out.splitlines()
        size, seconds = lines[0].split()
        assert int(size) == FILE_bytes
        # 250 kB at 2 Mbit/s are 1 s, with headers 1.03 s, and two round trips of 40 ms.
        assert float(seconds) > 1.05
        facts = json.loads(lines[1])
        assert facts["machine"]["lateness"]["count"] == facts["delivered_packets"]
        wait_until(lambda: outside() == before, "the machine is as it was")
        down = next(v for v in facts["links"] if v["direction"] == "forward")
        assert down["sent_bytes"] > FILE_bytes
        seen = {"seconds": float(seconds), "sent_bytes": down["sent_bytes"]}
        return Run(seen, facts["trusted"], facts["machine"]["lateness"]["p99_ns"])

    downloads = Repeated(download)
    downloads.check_undisturbed(lambda seen: seen["seconds"], at_most=2.5)
    # Late acknowledgements would be answered with retransmissions.
    downloads.check_undisturbed(lambda seen: seen["sent_bytes"], at_most=FILE_bytes * 1.15)


# A kernel may be built or booted without IPv6.
@emulates
@pytest.mark.skipif(not HAS_SIX, reason="this kernel has no IPv6")
def test_ipv6_goes_the_same_way_and_the_timeline_is_kept(scenario: Path) -> None:
    text = scenario.read_text().replace("http.server", "http.server --bind ::")
    timeline = '\n[[timeline]]\nat = "1 ms"\nlink = "path"\nset = { delay = "200 ms" }\n'
    scenario.write_text(text + timeline)
    fetch = FETCH.replace("http://server:", "http://[fd63:7773::1]:")
    code, out, err = emulate(str(scenario), "--", sys.executable, "-c", fetch)
    assert code == 0, err
    size, seconds = out.split()
    # Handshake, request and at least two more rounds of 400 ms each.
    assert int(size) == FILE_bytes and float(seconds) > 1.6
    assert 'path/forward {"delay":"200 ms"}' in err


NARROW = """\
name = "narrow"
duration = "1 h"

[link.near]
from = "server"
to = "left"
rate = "20 Mbit/s"
delay = "2 ms"

[link.narrow]
from = "left"
to = "right"
rate = "20 Mbit/s"
delay = "2 ms"

[link.last]
from = "right"
to = "client"
rate = "20 Mbit/s"
delay = "2 ms"

[flow.download]
from = "server"
to = "client"
workload = { type = "bulk", size = "100 kB" }

[emulate]
client = "client"
link_mtu = { narrow = "MTU B" }

[emulate.serve.sink]
node = "server"
command = "exec PYTHON PROGRAM"
"""
# Counts what a connection brings, and says how long a datagram was.
SINK = """\
import socket, threading
tcp = socket.create_server(("::", 8000), family=socket.AF_INET6, dualstack_ipv6=True)
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("", 8000))
def measure():
    while True:
        data, who = udp.recvfrom(65536)
        udp.sendto(str(len(data)).encode(), who)
threading.Thread(target=measure, daemon=True).start()
while True:
    c, _ = tcp.accept()
    n = 0
    while data := c.recv(65536):
        n += len(data)
    c.sendall(str(n).encode())
    c.close()
"""
# Asks about one large datagram that may be cut, sends a file, and shows what the kernel has learnt of the path by then.
SENDER = """\
import socket, subprocess, sys
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.setsockopt(socket.IPPROTO_IP, 10, 0)  # IP_MTU_DISCOVER, IP_PMTUDISC_DONT
u.settimeout(60)
u.sendto(bytes(1400), ("SERVER", 8000))
print(u.recv(100).decode())
to = sys.argv[1]
s = socket.create_connection((to, 8000))
s.sendall(bytes(200_000))
s.shutdown(socket.SHUT_WR)
print(s.recv(100).decode())
print(" ".join(subprocess.run(["ip", "route", "get", to], capture_output=True, text=True).stdout.split()))
"""


@emulates
@pytest.mark.parametrize(("version", "mtu"), [(4, 576), (4, 1280), (6, 1280), (6, 1400)])
def test_kernels_find_the_mtu_of_a_path_behind_routers(tmp_path: Path, version: int, mtu: int) -> None:
    if version == 6 and not HAS_SIX:
        pytest.skip("this kernel has no IPv6: it was built or booted without")
    program, sender, file = tmp_path / "sink.py", tmp_path / "sender.py", tmp_path / "narrow.toml"
    program.write_text(SINK)
    text = NARROW.replace("MTU", str(mtu)).replace("PYTHON", sys.executable).replace("PROGRAM", str(program))
    file.write_text(text)
    plan = json.loads(core().emulate_plan(Scenario.load(file).to_json(), 1, 0, 1))
    server = next(h for h in plan["hosts"] if h["name"] == "server")
    sender.write_text(SENDER.replace("SERVER", server["v4"]))
    code, out, err = emulate(str(file), "--json", "--", sys.executable, str(sender), server[f"v{version}"])
    assert code == 0, err
    datagram, received, route, facts = out.splitlines()
    assert (received, datagram) == ("200000", "1400")
    assert f" mtu {mtu} " in route + " ", route
    said = json.loads(facts)
    # Some segments of the first window were too long; of the rest none.
    assert 1 <= said["too_big_packets"] < 40
    assert said["fragmented_packets"] == 1


def test_a_link_whose_mtu_is_told_must_exist_and_be_no_smaller_than_ip_allows() -> None:
    narrow = NARROW.replace("MTU B", "1280 B")
    for wrong, word in ((narrow.replace("narrow =", "narow ="), "did you mean"), (NARROW.replace("MTU", "67"), "68 B")):
        with pytest.raises(Exception, match="link_mtu") as caught:
            core().emulate_plan(Scenario.from_toml(wrong).to_json(), 1, 0, 1)
        assert word in str(caught.value)


@emulates
def test_the_exit_code_of_the_command_is_that_of_the_emulation(scenario: Path) -> None:
    assert emulate(str(scenario), "--quiet", "--", "sh", "-c", "exit 7")[0] == 7


@emulates
def test_a_tape_played_in_virtual_time_decides_as_the_live_run_did(scenario: Path, tmp_path: Path) -> None:
    tape = tmp_path / "run.tape"
    code, _, err = emulate(str(scenario), "--tape", str(tape), "--quiet", "--", sys.executable, "-c", FETCH)
    assert code == 0, err
    code, out, err = emulate("--play", str(tape), "--json")
    said = json.loads(out)
    assert (code, said["is_identical"]) == (0, True), err
    assert said["decisions"] > FILE_bytes / 1500


@emulates
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_whatever_ends_it_nothing_is_left_behind(scenario: Path, number: signal.Signals) -> None:
    before = outside()
    mark = f"3{os.getpid()}{int(number)}"
    process = start(str(scenario), "--", "sh", "-c", f"sleep {mark} & sleep {mark}")
    wait_until(lambda: len(ours(f"sleep {mark}")) >= 3, "the command runs")
    process.send_signal(number)
    process.communicate(timeout=PATIENCE_s)
    wait_until(lambda: ours(f"sleep {mark}") == [], "the command and its children are gone")
    wait_until(lambda: ours(str(scenario)) == [], "the emulation and its servers are gone")
    wait_until(lambda: outside() == before, "the machine is as it was")
    # A killed run leaves its door; looking for doors takes it away.
    assert not [d for d in control.doors() if d.stem == str(process.pid)]
    assert not (control.folder() / f"{process.pid}.sock").exists()


@pytest.fixture
def running(scenario: Path) -> Iterator[int]:
    process = start(str(scenario), "--quiet", "--", "sh", "-c", f"while :; do {sys.executable} -c '{_quoted()}'; done")
    try:
        wait_until(lambda: any(d.stem == str(process.pid) for d in control.doors()), "the emulation opens its door")
        yield process.pid
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE_s)


def _quoted() -> str:
    return FETCH.replace("'", '"')


@emulates
def test_a_running_emulation_is_watched_and_changed_from_outside(running: int) -> None:
    code, out, err = emulate("--control", "path.rate=4 Mbit/s", "--of", str(running))
    assert code == 0, err
    assert '{"rate":"4 Mbit/s"}' in out and "refused" not in out
    code, _, err = emulate("--control", "pth.rate=4 Mbit/s", "--of", str(running))
    assert code == 2 and "did you mean `path`?" in err
    seen = next(control.ask({"do": "view"}, running))
    assert [v["direction"] for v in seen["links"]] == ["forward", "reverse"]


@emulates
def test_a_wrong_server_is_named_with_its_own_words(scenario: Path) -> None:
    scenario.write_text(scenario.read_text().replace("http.server", "http.sever"))
    code, _, err = emulate(str(scenario), "--", "true")
    assert code == 3 and "emulate.serve.web" in err and "http.sever" in err


# Takes privileges away, with `setpriv` of util-linux (part of every usual system, not of every small one), in order to
# go without. Who has none has gone that way in all tests above.
@emulates
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv (util-linux) is not installed")
@pytest.mark.skipif(os.geteuid() != 0, reason="without privileges this is what every other test does")
def test_without_privileges_it_works_in_a_user_namespace(scenario: Path) -> None:
    bare = ["setpriv", "--bounding-set=-all,+setfcap", "--inh-caps=-all"]
    command = [*bare, sys.executable, "-m", "crosswind", "emulate", str(scenario), "--", sys.executable, "-c", FETCH]
    done = subprocess.run(command, capture_output=True, text=True, timeout=2 * PATIENCE_s)
    # Root may make namespaces where a kernel forbids them to everybody else.
    if "no namespaces of our own" in done.stderr:
        pytest.skip("no user namespaces here")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] == str(FILE_bytes)


def test_what_is_missing_is_named_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needs.shutil, "which", lambda name: None if name == "ip" else f"/bin/{name}")
    monkeypatch.setattr(needs, "has_hook", lambda _: True)
    if sys.platform != "linux":
        assert "Linux" in needs.missing()[0]
        return
    assert any("`ip`" in line and "iproute2" in line for line in needs.missing())


def test_changes_are_read_as_they_are_typed() -> None:
    request = control.parse_change("last-hop/reverse.rate=32 kbit/s", ["last-hop"])
    assert request == {"do": "change", "link": "last-hop", "direction": "reverse", "set": {"rate": "32 kbit/s"}}
    for wrong in ("rate", "last-hop=3", "last-hop/sideways.rate=1 Mbit/s"):
        with pytest.raises(InputError):
            control.parse_change(wrong, ["last-hop"])


# ---- the way to the machine's network: machine and world are namespaces of the test's own ----


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[list[str]]:
    """Two namespaces: one plays the machine, one the world, which serves a file at 192.0.2.1 and 2001:db8::1."""
    here, world = (f"cwtest-{name}-{os.getpid()}" for name in ("machine", "world"))
    (tmp_path / "page").write_text("hello from outside")
    server = None
    try:
        for name in (here, world):
            subprocess.run(["ip", "netns", "add", name], check=True)
        cable = ["link", "add", "eth0", "netns", here, "type", "veth", "peer", "name", "eth0", "netns", world]
        subprocess.run(["ip", *cable], check=True)
        for name, number in ((here, 2), (world, 1)):
            subprocess.run(["ip", "-n", name, "addr", "add", f"192.0.2.{number}/24", "dev", "eth0"], check=True)
            if HAS_SIX:
                six = ["addr", "add", f"2001:db8::{number}/64", "dev", "eth0", "nodad"]
                subprocess.run(["ip", "-6", "-n", name, *six], check=True)
            subprocess.run(["ip", "-n", name, "link", "set", "eth0", "up"], check=True)
            subprocess.run(["ip", "-n", name, "link", "set", "lo", "up"], check=True)
        wait_until(lambda: "linkdown" not in "".join(state_of(["ip", "netns", "exec", here])), "the cable is up")
        if HAS_SIX:
            routes = ["ip", "-6", "-n", here, "route"]
            wait_until(lambda: "fe80::/64 dev eth0" in _said(routes), "eth0 has the address that the kernel gives it")
        files = [*(["--bind", "::"] if HAS_SIX else []), "--directory", str(tmp_path), "8000"]
        server = subprocess.Popen(
            ["ip", "netns", "exec", world, sys.executable, "-m", "http.server", *files],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        look = ["ip", "netns", "exec", world, "cat", "/proc/net/tcp", "/proc/net/tcp6"]
        listens = re.compile(r":1F40 [0:]+ 0A ")
        wait_until(lambda: bool(listens.search(_said(look))), "the world serves its page at port 8000")
        yield ["ip", "netns", "exec", here]
    finally:
        if server:
            server.kill()
            server.wait()
        for name in (here, world):
            subprocess.run(["ip", "netns", "delete", name], check=False)


def _said(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True).stdout


def state_of(machine: list[str]) -> list[str]:
    """What an uplink touches on a machine: tables, forwarding, routes and devices."""
    six = "grep -r . --include=forwarding --include=accept_ra /proc/sys/net/ipv6/conf"
    commands = (
        "nft list ruleset",
        "cat /proc/sys/net/ipv4/ip_forward",
        "ip route",
        "ip -o -br link",
        "ip -6 route",
        six,
    )
    return [_said([*machine, *x.split()]) for x in commands]


OUTSIDE = "import urllib.request as u; print(u.urlopen('http://ADDRESS:8000/page', timeout=SECONDS).read().decode())"
# `nft` is an optional tool (Debian: nftables): tools/optional-tools.sh installs it where it may. Only root can change a
# machine's firewall, and no test can become root. Where either is missing, `make test` counts these tests as skipped.
uplinks = in_real_time(
    pytest.mark.skipif(
        WHY_NOT != "" or os.geteuid() != 0 or shutil.which("nft") is None,
        reason="an uplink needs root and nft (nftables)",
    )
)


@uplinks
@pytest.mark.parametrize("address", ["192.0.2.1", "[2001:db8::1]"])
def test_with_an_uplink_the_command_reaches_the_world_and_the_machine_is_restored(
    scenario: Path, machine: list[str], tmp_path: Path, address: str
) -> None:
    if ":" in address and not HAS_SIX:
        pytest.skip("this kernel has no IPv6: it was built or booted without")
    outside = OUTSIDE.replace("ADDRESS", address)
    before = state_of(machine)
    # Stays until the test has looked at the machine.
    looked = tmp_path / "looked"
    fetch = outside.replace("SECONDS", "60")
    look = f"{fetch}; import os, time\nwhile not os.path.exists({str(looked)!r}): time.sleep(0.05)"
    command = [*machine, sys.executable, "-m", "crosswind", "emulate", str(scenario), "--json"]
    with subprocess.Popen([*command, "--uplink", "--", sys.executable, "-c", look], stdout=subprocess.PIPE) as process:
        try:
            wait_until(lambda: state_of(machine)[0].count("masquerade") > HAS_SIX, "the machine masquerades")
            during = state_of(machine)
        finally:
            looked.touch()
        out, _ = process.communicate(timeout=PATIENCE_s)
    assert process.returncode == 0
    assert during[1].strip() == "1" and "crosswind_" in during[0]
    if HAS_SIX:
        # It goes on listening to routers.
        assert "conf/all/forwarding:1" in during[5] and "conf/eth0/accept_ra:2" in during[5]
        assert "conf/all/forwarding:0" in before[5] and "conf/eth0/accept_ra:1" in before[5]
    text, facts = out.decode().splitlines()
    assert text == "hello from outside"
    # It went over the emulated link, there and back.
    assert all(v["sent_packets"] > 3 for v in json.loads(facts)["links"])
    assert state_of(machine) == before
    # Without an uplink there is no way there.
    fetch = outside.replace("SECONDS", "4")
    inside = ["--", sys.executable, "-c", fetch]
    done = subprocess.run([*command, *inside], capture_output=True, text=True, timeout=PATIENCE_s)
    assert done.returncode != 0 and state_of(machine) == before


@uplinks
def test_what_a_killed_uplink_leaves_is_taken_back_by_the_next_start(scenario: Path, machine: list[str]) -> None:
    before = state_of(machine)
    command = [*machine, sys.executable, "-m", "crosswind", "emulate", str(scenario), "--quiet"]
    process = subprocess.Popen([*command, "--uplink", "--", "sleep", "600"])
    try:
        wait_until(lambda: "masquerade" in state_of(machine)[0], "the machine masquerades")
    finally:
        process.kill()
        process.wait()
    assert "crosswind_" in state_of(machine)[0]
    done = subprocess.run([*command, "--", "true"], capture_output=True, text=True, timeout=PATIENCE_s)
    assert done.returncode == 0, done.stderr
    assert state_of(machine) == before


@uplinks
def test_a_shell_behind_a_shell_has_both_links_on_its_way(machine: list[str]) -> None:
    before = state_of(machine)
    # One round trip to connect: 40 ms of the outer link, 60 ms of the inner one.
    connect = "import socket, time; t = time.monotonic(); socket.create_connection(('192.0.2.1', 8000), 60)"
    probe = f"{connect}; print(time.monotonic() - t)"
    inner, outer = (
        [sys.executable, "-m", "crosswind", "shell", "--delay", delay, "--uplink", "--quiet", "--"]
        for delay in ("30ms", "20ms")
    )
    nested = [*machine, *outer, *inner, sys.executable, "-c", probe]
    done = subprocess.run(nested, capture_output=True, text=True, timeout=PATIENCE_s)
    assert done.returncode == 0, done.stderr
    assert 0.1 < float(done.stdout) < 1
    assert state_of(machine) == before


def test_what_an_uplink_lacks_is_named_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uplink.shutil, "which", lambda _: None)
    said = uplink.missing(needs.Privileges(as_user=True))
    assert any("root" in line for line in said) and any("nftables" in line for line in said)


def test_the_live_view_tells_rates_queues_drops_and_the_place_on_the_timeline() -> None:
    link = {"link": "path", "direction": "forward", "rate_bps": 2_000_000, "arrived_packets": 400, "sent_packets": 390}
    link |= {"queue_packets": 10, "queue_bytes": 15_000, "drops_packets": 3, "lost_packets": 1, "marks_packets": 2}
    idle = {**link, "direction": "reverse", "arrived_packets": 0}
    change = {"link": "path", "direction": "forward", "set": {"delay": "1 s"}}
    timeline = {"done": 1, "all": 2, "next": {"at_ns": 7_500_000_000, "change": change}}
    looks = [
        {"time_ns": 4 * 10**9, "packets_inside": 0, "links": [{**link, "sent_bytes": 0}], "notes": []},
        {
            "time_ns": 5 * 10**9,
            "packets_inside": 12,
            "links": [{**link, "sent_bytes": 125_000}, {**idle, "sent_bytes": 0}],
            "notes": ['4.500 s: path {"rate":"2 Mbit/s"}'],
            "timeline": timeline,
        },
    ]
    head, *lines = view.live_lines(looks[1], looks[0])
    place = "5.0 s 12 packets under way timeline: 1 of 2, next in 2.5 s: path/forward delay = 1 s"
    assert head.split() == place.split()
    assert len(lines) == 2 and lines[1] == '  changed at 4.500 s: path {"rate":"2 Mbit/s"}'
    words = "path -> 1.0 Mbit/s of 2.0 Mbit/s queue 10 packets 60.0 ms drops 3 lost 1 marks 2"
    assert lines[0].split() == words.split()
    # On a terminal the same is drawn in place, and changes stay above it.
    screen = io.StringIO()
    view.watch(looks, Console(file=screen, force_terminal=True, width=100, height=20))
    drawn = screen.getvalue()
    assert "60.0 ms" in drawn and "timeline: 1 of 2" in drawn and drawn.count("changed at 4.500 s") == 1
    assert "\x1b[1A" in drawn

"""A kernel before the clauses: what it is asked, what real time may add and, where that can be done, what comes out."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from interrupts import started
from punctuality import in_real_time

import crosswind as cw
from crosswind.cli import main
from crosswind.core import has_hook
from crosswind.emulate import needs
from crosswind.emulate.transfer import Transfer, transfer
from crosswind.errors import EXIT_BAD_INPUT, EXIT_DONE, EXIT_ENVIRONMENT, InputError
from crosswind.suites.clauses import audit as audit_module
from crosswind.suites.clauses import kernel as kernel_body
from crosswind.suites.clauses.case import AuditCase, load
from crosswind.suites.clauses.choices import choice_of
from crosswind.suites.clauses.kernel import CLOCK, OWN, is_kernel, law_of, request


def _why_not() -> str:
    if not has_hook("examine_kernel"):
        return "this build has no TCP of its own in real bytes (make stacks)"
    try:
        needs.check()
    except needs.MissingError as e:
        return str(e)
    return ""


WHY_NOT = _why_not()
live = in_real_time(pytest.mark.skipif(WHY_NOT != "", reason=f"no kernel opposite here: {WHY_NOT}"))
CASES = load()
LIVE = {name: c.live for name, c in CASES.items() if isinstance(c.live, AuditCase)}


def case(name: str) -> AuditCase:
    return LIVE[name]


def namespaces() -> str:
    return subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout


def test_a_kernel_is_named_with_its_law() -> None:
    assert (
        is_kernel("kernel") and is_kernel("kernel:reno") and not is_kernel("cubic") and not is_kernel({"law": "cubic"})
    )
    assert law_of("kernel:reno") == "reno"
    assert law_of("kernel") in kernel_body.PRESETS
    with pytest.raises(InputError, match="did you mean `cubic`"):
        law_of("kernel:cubik")


def test_what_a_case_demands_of_tcp_is_told_to_the_kernel_or_to_its_peer() -> None:
    asked = request(case("no-ambiguous-sample"), "reno")
    assert asked["settings"]["net.ipv4.tcp_timestamps"] == "0"
    assert asked["flows"][0]["own"] == {**OWN, "timestamps": "off", "receive_buffer": f"{20 * 1448} B"}
    assert request(case("ecn-one-mark"), "cubic")["settings"]["net.ipv4.tcp_ecn"] == "1"
    assert request(case("restart"), "cubic")["flows"][0]["pauses"] == [[20 * 10**9, 30 * 10**9]]
    # About a receiver: the kernel is that.
    assert request(case("receiver-every-second"), "cubic")["flows"][0]["does"] == "receives"
    assert [f["law"] for f in request(case("share-with-reno"), "cubic")["flows"]] == ["cubic", "reno"]
    unknown = replace(case("use"), scenario={**case("use").scenario, "flow": {"body": {
        "from": "a", "to": "b", "workload": {"type": "bulk"}, "tcp": {"frto": "off"}}}})  # fmt: skip
    with pytest.raises(InputError, match="frto"):
        request(unknown, "cubic")


def test_cases_with_one_network_share_a_run() -> None:
    base = [json.dumps(request(case(n), "cubic")) for n in ("cubic-decrease", "use", "prr-no-burst", "reno-recovered")]
    assert len(set(base)) == 1
    assert max(c.seconds for c in LIVE.values() if "transport" not in c.applies) <= 36


def test_only_timers_are_given_the_error_of_the_kernels_clock() -> None:
    for c in LIVE.values():
        for bound in (*c.given, *c.expect):
            loose = kernel_body._loosened(bound)
            assert (loose == bound) == (bound.quantity not in CLOCK)
    syn = kernel_body._loosened(case("syn-timer").expect[0])
    assert syn.least == 0.99 and syn.most == pytest.approx(1.01 * 1.125 + 0.004)


def _facts(**more: Any) -> dict[str, Any]:
    return {"right_bytes": [10**6], "failure": None, "late_max_ns": 50_000, "mss_bytes": 1448, **more}


def _judged(folder: Path, kind: list[str], facts: dict[str, Any], law: str, name: str) -> Any:
    n = len(kind)
    rows = {"time_ns": [i * 10**6 for i in range(n)], "kind": kind, "end": ["sender"] * n, "aux": [0] * n,
            "seq": [1 + 1448 * i for i in range(n)], "len": [1448] * n}  # fmt: skip
    pl.DataFrame(rows).write_parquet(folder / "run.parquet")
    (folder / "run.json").write_text(json.dumps(facts))
    return kernel_body._finding(CASES[name], law, folder, "run")


def test_what_is_wrong_fails_and_a_late_machine_decides_nothing(tmp_path: Path) -> None:
    right = _judged(tmp_path, ["send"] * 10, _facts(), "cubic", "first-flight")
    wrong = _judged(tmp_path, ["send"] * 11, _facts(), "cubic", "first-flight")
    # A machine that is late does not send more at once, but what waits at the device leaves as a train.
    still = _judged(tmp_path, ["send"] * 11, _facts(late_max_ns=5_000_000), "cubic", "first-flight")
    assert [f.verdict for f in (right, wrong, still)] == ["pass", "fail", "fail"]
    timeouts = ["timeout"] * 2
    restarts = [
        _judged(tmp_path, timeouts, _facts(late_max_ns=n), "cubic", "timer-restarts") for n in (50_000, 5_000_000)
    ]
    assert [f.verdict for f in restarts] == ["fail", "inconclusive"]
    assert "5.0 ms late" in restarts[1].note


def test_a_documented_choice_deviates_and_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_module, "choice_of", lambda *_: "it is written there")
    found = _judged(tmp_path, ["send"] * 11, _facts(), "cubic", "first-flight")
    assert (found.verdict, found.note) == ("deviates", "a choice: it is written there")
    assert choice_of("kernel", "cubic", "first-flight") == ""


def test_where_the_machine_cannot_do_it_that_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def cannot() -> None:
        raise needs.MissingError("emulation needs /dev/net/tun; load it with `modprobe tun`")

    monkeypatch.setattr(kernel_body, "has_hook", lambda _: True)
    monkeypatch.setattr(needs, "check", cannot)
    assert main(["audit", "kernel:cubic", "--case", "first-flight"]) == EXIT_ENVIRONMENT
    assert "/dev/net/tun" in capsys.readouterr().err
    monkeypatch.setattr(kernel_body, "has_hook", lambda _: False)
    assert main(["audit", "kernel:cubic"]) == EXIT_ENVIRONMENT
    assert "make stacks" in capsys.readouterr().err
    assert main(["host", "--size", "many"]) == EXIT_BAD_INPUT


@live
@pytest.mark.parametrize("law", ["cubic", "reno"])
def test_short_cases_pass_and_leave_nothing_behind(law: str) -> None:
    before = namespaces()
    wanted = ["first-flight", "slow-start-doubles", "one-loss-one-retransmission", "ecn-one-mark", "tail-loss"]
    found = cw.audit(f"kernel:{law}", cases=wanted)
    said = {f.case.id: f.verdict for f in found.findings}
    # A machine that is late is no fault of the kernel.
    assert set(said.values()) <= {"pass", "inconclusive"} and "fail" not in said.values(), found.rows()
    assert said["first-flight"] == "pass", found.rows()
    assert namespaces() == before


@live
def test_a_kernel_with_a_fault_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    # SACK is what repairs two losses of one flight in a round trip: without RACK, tail probes and SACK a timer has to.
    blunt = {"net.ipv4.tcp_recovery": "0", "net.ipv4.tcp_early_retrans": "0", "net.ipv4.tcp_sack": "0"}
    monkeypatch.setattr(kernel_body, "SETTINGS", {**kernel_body.SETTINGS, **blunt})
    (found,) = cw.audit("kernel:cubic", cases=["tail-loss"]).findings
    assert found.verdict in ("deviates", "inconclusive"), [m.text() for m in found.expect]
    if found.verdict == "inconclusive":
        assert "late" in found.note


@live
def test_after_an_interrupt_nothing_is_left() -> None:
    before = namespaces()
    command = [sys.executable, "-m", "crosswind", "audit", "kernel:cubic", "--case", "syn-timer", "--json"]
    process = started(command)
    time.sleep(6)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode == 130
    assert namespaces() == before
    inside = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=False).stdout
    assert inside == ""


@live
@pytest.mark.parametrize("to_kernel", [True, False])
def test_every_byte_goes_either_way_with_losses_and_marks(*, to_kernel: bool, tmp_path: Path) -> None:
    codel = {"type": "codel", "limit": "1000 packets"}
    what = Transfer(4_000_000, "50 Mbit/s", "5 ms", codel, loss=0.002, ecn="classic", limit_s=60)
    said = transfer(what.request(to_kernel=to_kernel, pcap=tmp_path / "packets.pcapng"))
    assert said["is_exact"], said
    assert said["lost_packets"] > 0 and said["retransmitted_packets"] >= said["lost_packets"]
    assert said["damaged_packets"] == said["strange_packets"] == 0
    assert said["captured_packets"] > 4_000_000 / 1448 and (tmp_path / "packets.pcapng").stat().st_size > 4_000_000


@live
def test_marks_in_bytes_are_counted_and_a_kernel_without_such_a_count_is_named() -> None:
    codel = {"type": "codel", "limit": "1000 packets", "target": "1 ms", "interval": "10 ms"}
    what = Transfer(4_000_000, "50 Mbit/s", "5 ms", codel, ecn="accurate", limit_s=60)
    said = transfer(what.request(to_kernel=True, is_virtual=True))
    assert said["is_exact"] and said["ecn"] == "accurate", said
    assert said["told_marks_packets"] == said["marked_packets"] > 0
    try:
        real = transfer(what.request(to_kernel=True))
    except InputError as e:
        assert "accurate ECN" in e.found
    else:
        assert real["ecn"] == "accurate" and real["told_marks_packets"] == real["marked_packets"], real


@live
def test_the_command_shows_a_transfer_and_its_twin(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["host", "--way", "to", "--size", "1 MB", "--rate", "20 Mbit/s", "--no-sack", "--twin", "--json"]
    assert main(words) == EXIT_DONE
    real, virtual = json.loads(capsys.readouterr().out)["transfers"]
    assert (real["clock"], virtual["clock"]) == ("real", "virtual")
    assert real["right_bytes"] == virtual["right_bytes"] == 1_000_000

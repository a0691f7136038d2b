"""What QUIC stacks log of themselves, from the command line, from Python, and on the page of an audit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import crosswind as cw
from crosswind.cli import main
from crosswind.core import registry
from crosswind.errors import EXIT_BAD_INPUT, InputError
from crosswind.suites.clauses import page
from crosswind.suites.clauses.examine import audit

HAS_STACKS = any(row["kind"] == "stack" for row in registry())
built = pytest.mark.skipif(not HAS_STACKS, reason="this build has no real stacks (make stacks)")

TEXT = """
name = "logged"
duration = "5 s"

[link.path]
from = "left"
to = "right"
rate = "10 Mbit/s"
delay = "20 ms"
queue = { limit = "60 packets" }

[flow.quinn]
from = "left"
to = "right"
transport = { type = "quinn" }
workload = { type = "bulk", size = "1 MB" }

[flow.noq]
from = "left"
to = "right"
transport = { type = "noq", crypto = "tls" }
workload = { type = "bulk", size = "1 MB" }

[record]
qlog = "logs"
"""
FILES = {f"logs/{flow}-{end}.sqlog" for flow in ("quinn", "noq") for end in ("client", "server")}


def records(file: Path) -> list[dict[str, Any]]:
    """The texts of a sequence (RFC 7464)."""
    first, *texts = file.read_bytes().split(b"\x1e")
    assert not first and all(t.endswith(b"\n") for t in texts)
    return [json.loads(t) for t in texts]


def logs(folder: Path) -> set[str]:
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*.sqlog")}


@built
def test_the_command_line_and_python_write_the_same_logs(tmp_path: Path) -> None:
    file = tmp_path / "logged.toml"
    file.write_text(TEXT, encoding="utf-8")
    assert main(["run", str(file), "--no-report", "--out", str(tmp_path / "cli")]) == 0
    cw.run(cw.Scenario.load(file), out=tmp_path / "python")
    assert logs(tmp_path / "cli") == FILES == logs(tmp_path / "python")
    for name in FILES:
        assert (tmp_path / "cli" / name).read_bytes() == (tmp_path / "python" / name).read_bytes()
        header, *events = records(tmp_path / "cli" / name)
        assert "trace" in header and any(e["name"].endswith("packet_sent") for e in events)
        times = [e["time"] for e in events]
        assert times == sorted(times) and times[0] >= 0 and 500 < times[-1] <= 5000, "virtual milliseconds"


@built
def test_a_log_changes_no_result_and_goes_when_the_next_run_keeps_none(tmp_path: Path) -> None:
    scenario = cw.Scenario.from_toml(TEXT)
    flows = cw.run(scenario, out=tmp_path).flows()
    assert logs(tmp_path) == FILES
    other = cw.run(scenario.with_({"record.qlog": None}), out=tmp_path).flows()
    assert other.equals(flows) and not logs(tmp_path)


@built
def test_where_it_cannot_be_had_it_is_refused(tmp_path: Path) -> None:
    scenario = cw.Scenario.from_toml(TEXT)
    for folder, says in (("../logs", "leads out"), ("/logs", "does not begin")):
        with pytest.raises(InputError, match=says):
            scenario.with_({"record.qlog": folder}).validate()
    two = {"a": scenario, "b": scenario.with_({"duration": "4 s"})}
    with pytest.raises(InputError, match="a second time"):
        cw.run(two, out=tmp_path)
    with pytest.raises(InputError, match="sweep"):
        cw.sweep(scenario, {"duration": ["1 s", "2 s"]})


def test_flows_over_tcp_keep_no_such_log() -> None:
    text = TEXT.replace('transport = { type = "quinn" }', "").replace(
        'transport = { type = "noq", crypto = "tls" }', ""
    )
    with pytest.raises(InputError, match="keeps such a log"):
        cw.Scenario.from_toml(text).validate()


@built
def test_the_page_of_an_audit_links_what_the_body_logged(tmp_path: Path) -> None:
    found = audit("quinn", cases=["quic-three-overtake"], logs=tmp_path)
    html = page.write(found, tmp_path).read_text(encoding="utf-8")
    links = {f"qlog/quic-three-overtake/body-{end}.sqlog" for end in ("client", "server")}
    assert logs(tmp_path) == links and all(f'href="{one}"' in html for one in links)
    (alone,) = audit("quinn", cases=["quic-three-overtake"]).findings
    assert alone.verdict == found.findings[0].verdict and not alone.log


def test_a_body_that_logs_nothing_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "cubic", "--qlog", "--out", str(tmp_path)]) == EXIT_BAD_INPUT
    assert "quinn or noq" in capsys.readouterr().err

"""`crosswind shell`: one link in one line, and nothing of it left afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from test_emulate import emulates

from crosswind.cli import main
from crosswind.cli.shell import scenario_of
from crosswind.emulate import needs, sandbox
from crosswind.errors import EXIT_BAD_INPUT, EXIT_ENVIRONMENT

FETCH = (
    "import sys, time, urllib.request as u; t = time.monotonic(); "
    "n = len(u.urlopen('http://server:8000/file').read()); took = time.monotonic() - t; "
    "import os; print(n, took, os.readlink('/proc/self/ns/net'))"
)


def shell(*arguments: str, text: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "crosswind", "shell", *arguments]
    return subprocess.run(
        command, input=text, capture_output=True, text=True, check=False, timeout=60, env={**os.environ, **environment}
    )


@pytest.mark.engine
def test_one_line_is_one_link_in_both_directions() -> None:
    what = scenario_of(
        delay="20ms",
        rate="50Mbit/s",
        up="10Mbit/s",
        queue={"type": "red-linux"},
        loss=0.01,
        serve="python3 -m http.server",
    )
    link = what.validate()["link"]["path"]
    assert (link["from"], link["to"], link["rate"], link["delay"]) == ("server", "client", "50 Mbit/s", "20 ms")
    assert link["reverse"]["rate"] == "10 Mbit/s" and link["reverse"]["queue"]["type"] == "red-linux"
    assert [side["loss"]["probability"] for side in (link, link["reverse"])] == [0.01, 0.01]
    assert what.data["emulate"]["serve"]["program"]["node"] == "server"


@pytest.mark.engine
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--rate", "fast"], "link.path.rate"),
        (["--queue", "no_such"], "link.path.queue.type"),
        (["--queue", "{oops"], "--queue"),
        (["--uplink", "--serve", "x"], "--serve"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_made(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["shell", *words, "--", "true"]) == EXIT_BAD_INPUT
    assert said in capsys.readouterr().err


@pytest.mark.engine
def test_a_machine_that_allows_no_namespaces_is_named_and_nothing_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuses() -> needs.Privileges:
        raise needs.MissingError("no namespaces of our own can be made here")

    monkeypatch.setattr(needs, "check", refuses)
    monkeypatch.setattr(sandbox, "run", lambda *_: pytest.fail("there is no sandbox"))
    assert main(["shell", "--", "true"]) == EXIT_ENVIRONMENT
    assert "no namespaces" in capsys.readouterr().err


@emulates
def test_a_command_behind_the_link_waits_for_its_delay_and_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(125_000))
    devices = Path("/proc/net/dev").read_text().count(":")
    serve = f"{sys.executable} -m http.server --directory {tmp_path} 8000"
    done = shell(
        *("--delay", "60ms", "--rate", "2Mbit/s", "--limit", "100 packets", "--serve", serve, "--quiet"),
        *("--", sys.executable, "-c", FETCH),
    )
    assert done.returncode == 0, done.stderr
    size, took, space = done.stdout.split()
    # Two round trips of 120 ms before the first byte, and a million bits at 2 Mbit/s.
    assert int(size) == 125_000 and 0.24 + 0.5 < float(took) < 5
    assert space.startswith("net:") and space not in _spaces(), "somebody is still in there"
    assert Path("/proc/net/dev").read_text().count(":") == devices


@emulates
def test_without_a_command_there_is_a_shell_whose_exit_code_counts() -> None:
    done = shell("--quiet", text="echo behind $CROSSWIND_SCENARIO at $CROSSWIND_HOST; exit 7\n", SHELL="/bin/sh")
    assert done.returncode == 7 and "behind shell at client" in done.stdout


def _spaces() -> set[str]:
    """The network namespaces of all processes."""
    found = set()
    for link in Path("/proc").glob("[0-9]*/ns/net"):
        try:
            found.add(str(link.readlink()))
        except OSError:
            continue
    return found

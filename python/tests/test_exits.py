"""How commands end: exit codes, Ctrl-C, full disks, closed streams, and input that nobody would write."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import polars as pl
import psutil
import pytest
from interrupts import started

import crosswind as cw
from crosswind.cli import main
from crosswind.errors import EXIT_BAD_INPUT, EXIT_DONE, EXIT_ENVIRONMENT, EXIT_FAULT, EXIT_INTERRUPTED, InputError

pytestmark = pytest.mark.engine
ROOT = Path(__file__).resolve().parents[2]
GPRS = ROOT / "scenarios" / "gprs.toml"
ENDS_s = 3.0
HEAVY = """\
name = "heavy"
duration = "1000 s"
[link.p]
from = "a"
to = "b"
rate = "100 Gbit/s"
delay = "5 ms"
queue = { limit = "10000 packets" }
[flow.f]
from = "a"
to = "b"
count = 4
workload = { type = "bulk" }
"""


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "crosswind", *arguments]


def ended(
    *arguments: str,
    env: dict[str, str] | None = None,
    stdout: int | None = subprocess.PIPE,
    before: Callable[[], None] | None = None,
) -> tuple[int, str]:
    """The exit code of a command and what it said on stderr, which never is a traceback."""
    done = subprocess.run(
        command(*arguments), stdout=stdout, stderr=subprocess.PIPE, env={**os.environ, **(env or {})},
        preexec_fn=before, check=False,
    )  # fmt: skip
    said = done.stderr.decode()
    assert "Traceback" not in said, said
    return done.returncode, said


def one_line(said: str) -> bool:
    return said.startswith("crosswind: ") and said.count("\n") == 1


def interrupted(when: Callable[[], bool], *arguments: str) -> tuple[int, str]:
    """Presses Ctrl-C as soon as `when` says so. The command ends within `ENDS_s`."""
    process = started(command(*arguments))
    while not when() and process.poll() is None:
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    pressed = time.monotonic()
    try:
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    # Where more programs want to run than there are processors, each gets its share of them only.
    crowd = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    assert time.monotonic() - pressed < ENDS_s * crowd
    return process.returncode, said.decode()


def test_ctrl_c_ends_a_run_whose_virtual_time_hardly_moves(tmp_path: Path) -> None:
    # A thousand seconds at 100 Gbit/s take hours: the run itself has to look whether it is still wanted.
    file, out = tmp_path / "heavy.toml", tmp_path / "out"
    file.write_text(HEAVY)
    code, said = interrupted((out / ".lock").is_file, "run", str(file), "--out", str(out))
    assert code == EXIT_INTERRUPTED and one_line(said) and "interrupted" in said
    out = tmp_path / "sweep"
    code, said = interrupted((out / ".lock").is_file, "sweep", str(file), "--vary", "seed=1,2", "--out", str(out))
    assert code == EXIT_INTERRUPTED and one_line(said) and "interrupted" in said


def test_ctrl_c_keeps_the_runs_that_are_finished(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run = ["run", str(GPRS), "--reps", "20000", "--out", str(out), "--set", "record.sample=10 s"]
    code, said = interrupted(lambda: any((out / "runs").glob("*.run.parquet")), *run)
    assert code == EXIT_INTERRUPTED and "of 20000 runs are finished and kept in" in said
    runs = cw.Runs.load(out)
    assert runs.interrupted and 0 < runs.runs().height < 20_000 and not runs.manifest["trusted"]


def test_ctrl_c_does_not_wait_for_large_tables_which_are_joined_when_they_are_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # A third of a million samples each: four runs are more than is held in memory.
    many = ["--set", "record.sample=10 ms", "--reps", "20000"]
    for name, *more in (("run",), ("sweep", "--vary", "flow.bulk.count=2,3")):
        out = tmp_path / name
        runs = lambda out=out: len([*(out / "runs").glob("*.run.parquet")]) > 4  # noqa: E731
        code, said = interrupted(runs, name, str(GPRS), *many, *more, "--out", str(out))
        assert code == EXIT_INTERRUPTED and "runs are finished and kept in" in said
        assert (out / "unjoined.json").is_file() and not list(out.glob("*.parquet"))
        with pytest.raises(InputError, match="no tables yet"):
            cw.Runs.load(out)
        assert main(["query", str(out), "select count(*) n from run", "--json"]) == EXIT_DONE
        assert int(re.findall(r"\d+", said)[0]) == json.loads(capsys.readouterr().out)[0]["n"]
        assert not (out / "unjoined.json").exists()
    joined = cw.Runs.load(tmp_path / "run")
    assert joined.interrupted and not (tmp_path / "run/runs").exists()
    first = cw.run(cw.Scenario.load(GPRS).with_({"record.sample": "10 ms"}), reps=[0], reps_total=20_000)
    assert joined.flows().filter(pl.col("rep") == 0).equals(first.flows())


def test_ctrl_c_ends_experiments_in_other_processes(tmp_path: Path) -> None:
    begun = lambda: bool(list(tmp_path.rglob(".lock")))  # noqa: E731
    code, said = interrupted(begun, "reproduce", "bhandarkar-2006/*", "--out", str(tmp_path), "--workers", "2")
    assert code == EXIT_INTERRUPTED and "experiments are done" in said


def test_experiments_in_other_processes_end_with_a_command_that_is_killed(tmp_path: Path) -> None:
    words = command("reproduce", "bhandarkar-2006/*", "--out", str(tmp_path), "--workers", "2")
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    parent = psutil.Process(process.pid)
    try:
        while not list(tmp_path.rglob(".lock")) and process.poll() is None:
            time.sleep(0.05)
        below = parent.children(recursive=True)
    finally:
        process.kill()
        process.wait()
    gone, left = psutil.wait_procs(below, timeout=30)
    for p in left:
        p.kill()
    assert len(gone) >= 2 and not left


def test_a_full_disk_is_one_line_and_leaves_what_was_there(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert main(["run", str(GPRS), "--out", str(out), "--no-report"]) == EXIT_DONE
    before = {p.name: p.read_bytes() for p in out.glob("*.parquet")}

    def full() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    code, said = ended("run", str(GPRS), "--reps", "40", "--out", str(out), "--set", "record.sample=1 s", before=full)
    assert code == EXIT_ENVIRONMENT and one_line(said), said
    assert "no space left" in said and "what was there before is kept" in said
    assert {p.name: p.read_bytes() for p in out.glob("*.parquet")} == before
    assert not list(out.glob(".*.part")) and cw.Runs.load(out).runs().height == 1


def test_a_folder_without_permission_is_the_environment_and_a_file_is_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["run", str(GPRS), "--out", str(tmp_path / "file")]) == EXIT_BAD_INPUT

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "x")

    monkeypatch.setattr(Path, "mkdir", refuse)
    assert main(["run", str(GPRS), "--out", str(tmp_path / "no")]) == EXIT_ENVIRONMENT
    assert "Permission denied" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["list", "queue"], ["show", "red-linux"], ["run", str(GPRS), "--no-report"]])
def test_streams_that_are_closed_full_or_ascii(arguments: list[str], tmp_path: Path) -> None:
    if arguments[0] == "run":
        arguments = [*arguments, "--out", str(tmp_path / "out")]
    assert ended(*arguments, before=lambda: os.close(1), stdout=None) == (EXIT_DONE, "")
    assert ended(*arguments, env={"PYTHONIOENCODING": "ascii"}) == (EXIT_DONE, "")
    full = os.open("/dev/full", os.O_WRONLY)
    code, said = ended(*arguments, stdout=full)
    os.close(full)
    assert code == EXIT_ENVIRONMENT and one_line(said) and "no space left" in said
    read, write = os.pipe()
    os.close(read)
    assert ended(*arguments, stdout=write) == (EXIT_DONE, "")
    os.close(write)


@pytest.mark.parametrize(
    "text", ["a = " + "[" * 3000 + "]" * 3000, "[" + ".".join("a" * 5000) + "]\nx = 1", "a = " + "[" * 200 + "]" * 200]
)
def test_deep_nesting_is_one_line(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "deep.toml"
    file.write_text(text)
    assert main(["validate", str(file)]) == EXIT_BAD_INPUT
    assert one_line(f"crosswind: {capsys.readouterr().err.removeprefix('crosswind: ')}")
    assert main(["run", str(GPRS), "--set", "link.x=" + "[" * 3000 + "]" * 3000]) == EXIT_BAD_INPUT
    assert one_line(capsys.readouterr().err)


def test_a_byte_order_mark_is_no_matter(tmp_path: Path) -> None:
    file = tmp_path / "bom.toml"
    file.write_bytes(b"\xef\xbb\xbf" + GPRS.read_bytes())
    assert main(["validate", str(file)]) == EXIT_DONE
    assert cw.Scenario.load(file).complete() == cw.Scenario.load(GPRS).complete()
    assert cw.Scenario.from_toml("\ufeff" + GPRS.read_text()).complete()["flow"]


def test_a_fault_of_ours_is_one_line_with_its_place(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(cw.Scenario, "load", broken)
    assert main(["validate", str(GPRS)]) == EXIT_FAULT
    said = capsys.readouterr().err
    assert one_line(said) and "a fault of Crosswind: ZeroDivisionError: by zero (test_exits.py:" in said
    monkeypatch.setenv("CROSSWIND_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        main(["validate", str(GPRS)])


def test_no_memory_is_the_environment(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def full(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(cw.Scenario, "load", full)
    assert main(["validate", str(GPRS)]) == EXIT_ENVIRONMENT
    assert one_line(capsys.readouterr().err)


def test_the_page_about_exit_codes_names_all_of_them() -> None:
    text = (ROOT / "docs" / "how-to" / "exit-codes.md").read_text()
    from crosswind import errors

    codes = {v for k, v in vars(errors).items() if k.startswith("EXIT_")}
    assert codes == {int(line.split("|")[1]) for line in text.splitlines() if line[:3].strip("| ").isdigit()}


def _loading_ends_with(name: str, before: Callable[[], None] | None = None) -> tuple[int, str]:
    """Sends Ctrl-C as soon as that module has been loaded; the exit code, and what was said after it."""
    watched = [sys.executable, "-X", "importtime", "-m", "crosswind", "run", str(GPRS), "--no-report"]
    with subprocess.Popen(watched, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=before) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.split(b"|")[-1].strip() == name.encode():
                break
        process.send_signal(signal.SIGINT)
        said = process.stderr.read().decode()
    return process.returncode, said


@pytest.mark.parametrize("name", ["crosswind.starting", "numpy", "polars.datatypes", "crosswind.core", "typer"])
def test_ctrl_c_while_the_command_is_loaded_is_no_traceback(name: str) -> None:
    code, said = _loading_ends_with(name, partial(signal.signal, signal.SIGINT, signal.default_int_handler))
    assert code == EXIT_INTERRUPTED and "crosswind: interrupted" in said and "Traceback" not in said, said[-500:]


def test_what_is_told_to_ignore_ctrl_c_is_loaded_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, said = _loading_ends_with("crosswind.starting", partial(signal.signal, signal.SIGINT, signal.SIG_IGN))
    assert code == EXIT_DONE and "interrupted" not in said


def test_the_library_leaves_ctrl_c_as_it_is() -> None:
    program = "import signal, crosswind; assert signal.getsignal(signal.SIGINT) is signal.default_int_handler"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False,
                          preexec_fn=partial(signal.signal, signal.SIGINT, signal.default_int_handler))  # fmt: skip
    assert done.returncode == 0, done.stderr

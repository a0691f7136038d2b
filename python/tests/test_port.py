"""Ported laws: the C is the law within its stated error, the kernel takes it, and nothing stays there."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from test_emulate import emulates

from crosswind.cli import main
from crosswind.emulate import kernel
from crosswind.emulate.needs import MissingError
from crosswind.emulate.port import alone, beside, constants, loading, objects, source
from crosswind.emulate.port.constants import LAWS, Portable, portable
from crosswind.errors import EXIT_BAD_INPUT, EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED, BlockedError, InputError
from crosswind.scenario import Scenario

STEPS = 50_000
#: Parameters beside the defaults: every branch of each law's C.
OTHERS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("hstcp", {"low_window": 60.0, "high_window": 10_000.0, "high_decrease": 0.2}),
    ("scalable", {"per_ack": 0.02, "legacy_window": 50.0}),
    ("htcp", {"adaptive_backoff": "off"}),
    ("htcp", {"rtt_scaling": "off", "rate_change": 0.5}),
    ("ltcp", {"decrease": "variable"}),
    ("ltcp", {"kr_ref": 1.0, "kr_exponent": 0.0}),
    ("bic", {"search_divisor": 2.0, "fast_convergence": "off", "s_max": 8.0}),
)


def _no_compiler() -> str:
    try:
        objects.program("cc", "stepping a ported law")
    except MissingError as e:
        return str(e)
    return ""


def _no_kernel() -> str:
    """Why no law can be loaded here; empty where one was."""
    if found := [*objects.missing(), *loading.obstacles()]:
        return "; ".join(found)
    done = loading.bpftool("btf", "dump", "file", str(objects.TYPES), "format", "c")
    return "" if "bpf_struct_ops_tcp_congestion_ops" in done.stdout else "a kernel without struct_ops"


NO_COMPILER, NO_KERNEL = _no_compiler(), _no_kernel()
steps = pytest.mark.skipif(NO_COMPILER != "", reason=f"laws are not stepped here: {NO_COMPILER}")
builds = pytest.mark.skipif(bool(objects.missing()), reason=f"no objects here: {'; '.join(objects.missing())}")
loads = pytest.mark.skipif(NO_KERNEL != "", reason=f"no law can be loaded here: {NO_KERNEL}")


def text_of(law: Portable, own: dict[str, Any] | None = None) -> str:
    return source.bpf(law, source.parameters(law, source.scenario(law, {law.name: own} if own else None)))


def library(name: str, folder: Path, own: dict[str, Any] | None = None) -> ctypes.CDLL:
    return objects.for_here(text_of(LAWS[name], own), folder)


CASES = [*((name, {}) for name in LAWS), *OTHERS]


@steps
@pytest.mark.engine
@pytest.mark.parametrize(("name", "own"), CASES, ids=lambda v: v if isinstance(v, str) else "-".join(v) or "usual")
def test_whole_numbers_stay_within_the_stated_error(name: str, own: dict[str, Any], tmp_path: Path) -> None:
    c, tcp = library(name, tmp_path, own), {"law": name, **({name: own} if own else {})}
    found = [alone.error(c, tcp, path, STEPS, seed) for path in alone.PATHS for seed in (1, 2, 3)]
    assert sum(e.losses for e in found) > 100
    assert max(e.largest for e in found) <= LAWS[name].bound <= 0.005


@steps
@pytest.mark.engine
@pytest.mark.parametrize("name", LAWS)
def test_acks_for_several_segments_count_for_all_of_them(name: str, tmp_path: Path) -> None:
    start = 20
    tcp = {"law": name, "initial_ssthresh": f"{start * alone.MSS_bytes} B"}
    trace = alone.driven(tcp, {"rtt": "100 ms", "loss": 1e-4, "acks_per_round": 40}, STEPS, 1)
    time_s, window = (np.asarray(trace[c]) for c in ("time_s", "window"))
    kind = np.append(np.where(np.diff(window) < 0, alone.LOSS, alone.ACK), alone.ACK)
    c = library(name, tmp_path)
    alone.begun(c, ssthresh=start)
    acked = np.maximum(np.floor(window / 40), 1)
    ours = alone.stepped(c, kind, np.round(time_s * 1e6), np.full(len(kind), 100_000), acked)
    assert acked.max() > 2 and np.abs(ours / window - 1).max() <= LAWS[name].bound


@steps
@pytest.mark.engine
@pytest.mark.parametrize(
    ("name", "wrong"),
    [("hstcp", {"high_decrease": 0.11}), ("scalable", {"beta": 0.126}), ("htcp", {"beta_max": 0.79}),
     ("ltcp", {"kr_ref": 2.42}), ("bic", {"s_min": 0.02})],
)  # fmt: skip
def test_a_law_that_is_slightly_another_is_noticed(name: str, wrong: dict[str, Any], tmp_path: Path) -> None:
    c = library(name, tmp_path, wrong)
    found = [alone.error(c, {"law": name}, path, STEPS) for path in alone.PATHS]
    assert max(e.largest for e in found) > LAWS[name].bound


def after(c: ctypes.CDLL, window: float, *kinds: int) -> float:
    """The window after these steps from a window in congestion avoidance."""
    alone.begun(c, now_us=1)
    c.native_set(ctypes.c_uint64(int(window * 2**32)), ctypes.c_uint32(2))
    kind = np.array([*kinds, alone.ACK])
    return float(alone.stepped(c, kind, np.arange(len(kind)) * 1000 + 1000, np.full(len(kind), 60_000))[-1])


@steps
@pytest.mark.engine
@pytest.mark.parametrize("name", LAWS)
def test_a_timeout_begins_anew_below_the_threshold_of_the_law(name: str, tmp_path: Path) -> None:
    c = library(name, tmp_path)
    grown = after(c, 400.0, alone.TIMEOUT, *[alone.ACK] * 1000)
    kept = 350 if name == "bic" else 200  # for BIC a timeout is a loss as any other
    assert after(c, 400.0, alone.TIMEOUT) == 1.0
    # Slow start up to the threshold, the law beyond; below it, an ACK adds a segment.
    assert after(c, 400.0, alone.TIMEOUT, *[alone.ACK] * (kept - 1)) == kept < grown < 1.3 * kept


@steps
@pytest.mark.engine
@pytest.mark.parametrize("name", LAWS)
def test_an_undone_reduction_leaves_the_law_as_it_was(name: str, tmp_path: Path) -> None:
    c = library(name, tmp_path)
    plain = after(c, 300.0, alone.LOSS, *[alone.ACK] * 500)
    before = after(c, 300.0, alone.LOSS, *[alone.ACK] * 500, alone.LOSS)
    c.native_undo.restype = ctypes.c_double
    assert before < plain and int(c.native_undo()) == int(plain)


@steps
@pytest.mark.engine
@pytest.mark.parametrize("name", LAWS)
def test_windows_at_the_ends_of_the_tables_do_no_harm(name: str, tmp_path: Path) -> None:
    c = library(name, tmp_path)
    for window in (1.0, 2.0, 2.0**20, 2.0**26, 2.0**31):
        assert window <= after(c, window, alone.ACK) <= window + 40
        assert 2.0 <= after(c, window, alone.LOSS) <= max(2.0, 0.991 * window)


@pytest.mark.engine
def test_other_laws_are_refused_with_what_can_be_ported(capsys: pytest.CaptureFixture[str]) -> None:
    for name, said in (("hstpc", "did you mean `hstcp`"), ("cubic", "its own"), ("vegas", "bic, hstcp, htcp, ltcp")):
        assert main(["port", name]) == EXIT_BAD_INPUT
        assert said in capsys.readouterr().err
    assert main(["port"]) == EXIT_BAD_INPUT and "LAW" in capsys.readouterr().err
    assert main(["port", "htcp", "--set", "bic.beta=0.2"]) == EXIT_BAD_INPUT
    assert "htcp.KEY" in capsys.readouterr().err
    assert main(["port", "scalable", "--set", "scalable.version=linux-2.6"]) == EXIT_BAD_INPUT
    assert "kelly-2003" in capsys.readouterr().err


@pytest.mark.engine
def test_parameters_that_do_not_fit_into_the_tables_are_refused() -> None:
    for name, own in (
        ("hstcp", {"low_window": 8.0}),
        ("ltcp", {"threshold": 1e6}),
        ("ltcp", {"kr_ref": 1000.0}),
        ("bic", {"s_max": 1e6}),
    ):
        with pytest.raises(InputError, match=name):
            text_of(LAWS[name], own)


@steps
@pytest.mark.engine
def test_the_folder_has_the_law_its_error_and_a_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["port", "bic", "--to", "kernel", "--out", str(tmp_path), "--json", "--set", "bic.s_max=16"]
    assert main(command) == EXIT_DONE
    said = json.loads(capsys.readouterr().out)
    assert 0 < said["largest_error"] <= said["bound"] and len(said["paths"]) == len(alone.PATHS)
    assert "#define S_MAX_q24 268435456ULL" in (tmp_path / "bic.bpf.c").read_text()
    assert "bound" not in (tmp_path / "bic.bpf.c").read_text().split("// ----")[0]
    assert "at most" in (tmp_path / "README").read_text()
    assert Scenario.load(tmp_path / "check.toml").validate()["flow"]["bulk"]["tcp"]["bic"]["s_max"] == 16
    assert (said["object"] is not None) == (not objects.missing())


@pytest.mark.engine
def test_an_error_above_the_bound_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    apart = [alone.Error(alone.PATHS[0], 1000, 10, 0.1, 0.01)]
    monkeypatch.setattr(alone, "errors", lambda *_a, **_k: apart)
    assert main(["port", "bic", "--out", str(tmp_path)]) == EXIT_FAILED


def test_a_fall_of_several_looks_is_one_cut() -> None:
    assert beside.cuts(np.array([10.0, 20, 30, 25, 20, 15, 16, 30, 31, 30.5, 32, 20])) == 2
    assert beside.cuts(np.array([10.0, 11, 12])) == 0


def test_windows_are_compared_at_the_same_moments() -> None:
    what = Scenario.from_dict({"name": "x", "duration": "2 s"})
    t = np.array([0.0, 1.0])
    found = beside.Beside(LAWS["bic"], what, (t, np.array([100.0, 50.0])), (t, np.array([104.0, 50.0])), [], {})
    assert found.difference == pytest.approx(0.02) and found.cuts == (1, 1) and found.is_alike
    far = beside.Beside(LAWS["bic"], what, found.simulated, (t, np.array([120.0, 50.0])), [], {})
    assert far.difference == pytest.approx(0.1) and not far.is_alike
    assert far.as_dict()["window_kernel"] == pytest.approx(85.0)
    t = np.arange(0, 2, 0.1)
    teeth = np.tile(np.arange(100.0, 200, 20), 4)
    late = beside.Beside(LAWS["bic"], what, (t, teeth), (t + 0.1, teeth), [], {})
    assert late.difference > 0.1
    assert late.in_step[0] < 0.03 and late.in_step[1] == pytest.approx(0.1)


def test_laws_that_are_not_in_the_kernel_are_named_with_the_way_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    flow = {"group": "bulk", "tcp": {"law": "htcp"}}
    (tmp_path / "available").write_text("reno cubic\n")
    monkeypatch.setattr(kernel, "AVAILABLE", tmp_path / "available")
    with pytest.raises(InputError, match=r"crosswind port htcp --"):
        kernel.congestion(flow)
    (tmp_path / "available").write_text("reno cubic cw_htcp\n")
    assert kernel.congestion(flow) == "cw_htcp"


def test_the_line_that_the_verifier_refuses_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    log = "; low = table[row]; @ hstcp.bpf.c:70\n121: (61) r6 = *(u32 *)(r8 +0)\nlibbpf: failed to load: -13"
    monkeypatch.setattr(loading, "bpftool", lambda *_: SimpleNamespace(returncode=255, stdout="", stderr=log))
    with pytest.raises(BlockedError, match=r"at hstcp.bpf.c:70, `low = table\[row\];`"):
        loading.register(Path("hstcp.bpf.o"))


@builds
@pytest.mark.engine
@pytest.mark.parametrize("name", LAWS)
def test_objects_are_built_and_small(name: str, tmp_path: Path) -> None:
    file = tmp_path / f"{name}.bpf.c"
    file.write_text(text_of(LAWS[name]))
    assert 5_000 < objects.for_kernel(file, file.with_suffix(".o")).stat().st_size < 1_000_000


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Path]:
    """An object of Scalable TCP; whatever a test does, the law is out of the kernel at its end."""
    yield beside.built(LAWS["scalable"], source.scenario(LAWS["scalable"]), tmp_path)
    loading.remove(LAWS["scalable"])


@loads
@pytest.mark.engine
@pytest.mark.parametrize("name", LAWS)
def test_the_kernel_takes_every_law_and_gives_it_back(name: str, tmp_path: Path) -> None:
    law = LAWS[name]
    with loading.loaded(law, beside.built(law, source.scenario(law), tmp_path)) as kernel_name:
        assert kernel_name in kernel.AVAILABLE.read_text().split()
    assert not loading.is_loaded(law)


@loads
@pytest.mark.engine
def test_a_law_is_taken_out_after_an_error_too(target: Path) -> None:
    law = portable("scalable")
    with pytest.raises(KeyboardInterrupt), loading.loaded(law, target):
        with pytest.raises(BlockedError, match="--remove"), loading.loaded(law, target):
            pass
        assert loading.is_loaded(law)  # the one that was refused has taken nothing out
        raise KeyboardInterrupt
    assert not loading.is_loaded(law)


@loads
@pytest.mark.engine
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_law_is_taken_out_when_the_command_is_ended(number: int, target: Path) -> None:
    law = portable("scalable")
    command = [sys.executable, "-m", "crosswind", "port", "scalable", "--", "sleep", "60"]
    process = subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE)
    wait_for(law)
    # As a terminal does it: to the command and to what it runs.
    os.killpg(process.pid, number)
    assert process.wait(30) != 0
    assert not loading.is_loaded(law)


def wait_for(law: Portable) -> None:
    """Waits until another process has loaded a law."""
    until = time.monotonic() + 60
    while not loading.is_loaded(law) and time.monotonic() < until:
        time.sleep(0.05)
    assert loading.is_loaded(law)


@loads
@emulates
@pytest.mark.engine
def test_ctrl_c_in_the_middle_of_a_run_takes_the_law_out(target: Path) -> None:
    law, check = portable("scalable"), target.with_name("check.toml")
    check.write_text(source.scenario(law, seconds=60).to_toml())
    command = [sys.executable, "-m", "crosswind", "port", "--run", str(check)]
    process = subprocess.Popen(command, start_new_session=True, stderr=subprocess.PIPE)
    wait_for(law)
    time.sleep(3)
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(30) == EXIT_INTERRUPTED
    assert not loading.is_loaded(law)


@loads
@emulates
@pytest.mark.engine
def test_a_flow_between_kernels_has_the_ported_law(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["port", "scalable", "--out", str(tmp_path)]) == EXIT_DONE
    capsys.readouterr()
    main(["port", "--run", str(tmp_path / "check.toml"), "--for", "5", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert not loading.is_loaded(LAWS["scalable"])
    assert (tmp_path / "report.html").exists()
    # Whether windows are alike is a question for a minute on a quiet machine. In five seconds the mean is 200 segments
    # with this law; Reno has 135, CUBIC 172.
    assert found["law"] == "scalable" and found["cuts_kernel"] >= 1 and found["window_kernel"] > 180


def test_tables_of_constants_are_as_long_as_they_say() -> None:
    assert len(constants.places(constants.WINDOWS)) == 16 * 15 + 1
    assert constants.places((5, 6))[::8] == [32.0, 48.0, 64.0]

"""Sweeps on workers with results on an object store: what is killed in the middle loses nothing and doubles nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

import crosswind as cw
from crosswind.cli import main
from crosswind.sweep.sweeps import load
from validation.cluster import trial

pytestmark = pytest.mark.engine
GPRS = trial.SCENARIO


def test_a_sweep_with_killed_worker_and_killed_command_gives_the_same_tables_on_an_object_store(tmp_path: Path) -> None:
    # A shard holds up to 256 runs: with ten of them and more there is a middle, however fast the machine is.
    done = trial.run(3000, tmp_path / "undisturbed")
    assert 0 < done.kept < done.runs, "the command was not killed in the middle"
    assert done.kept + done.made == done.runs == 3000
    assert done.different == []


def test_a_sweep_on_an_object_store_is_read_and_widened_as_in_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    narrow, vary = ({"link.last-hop.queue.limit": trial.LIMITS[:n]} for n in (2, 3))
    bare = cw.Scenario.load(GPRS).with_({"record": {}})
    with trial.object_store():
        at = f"s3://{trial.BUCKET}/small"
        assert cw.sweep(bare, narrow, reps=3, out=at).made == 6
        more = cw.sweep(bare, vary, reps=3, out=at)
        assert (more.made, more.kept) == (3, 6)
        here = cw.sweep(bare, vary, reps=3, out=tmp_path / "here")
        assert load(at).flows().equals(here.flows(), null_equal=True)
        base = ["sweep", str(GPRS), "--set", "record={}", "--vary", "seed=1,2", "--out", at.replace("small", "command")]
        assert main(base) == 0
        assert "report.html" in capsys.readouterr().out
        # A bucket that is not there is a message, not a new bucket.
        assert main([*base[:-1], "s3://no-such-bucket/x"]) == 3
        err = capsys.readouterr().err
        assert "no-such-bucket" in err and err.count("\n") == 1


def test_a_store_that_cannot_be_reached_is_said_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with trial.object_store():
        at = f"s3://{trial.BUCKET}/gone"
    with trial.environment({"AWS_ENDPOINT_URL": "http://127.0.0.1:9", **trial.KEYS}):
        assert main(["sweep", str(GPRS), "--set", "record={}", "--vary", "seed=1,2", "--out", at]) == 3
    err = capsys.readouterr().err
    assert "s3://results/gone: cannot be reached" in err and err.count("\n") == 1

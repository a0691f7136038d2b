"""Sweeps on a Dask cluster: a worker killed in the middle loses nothing and doubles nothing."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import distributed
import pytest

import crosswind as cw
from crosswind.cli import main
from crosswind.suites.evaluate import read
from crosswind.sweep import cluster as sweep_cluster

GPRS = Path(__file__).resolve().parents[2] / "scenarios/gprs.toml"
LIMITS = [f"{n} packets" for n in range(5, 19)]
pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as local:
        yield local


def test_a_sweep_on_a_cluster_survives_the_death_of_a_worker(cluster: Any, tmp_path: Path) -> None:
    pids = list(cluster.scheduler_info["workers"])
    assert len(pids) == 2
    killed: list[int] = []

    def kill() -> None:
        with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
            until = time.monotonic() + 60
            while time.monotonic() < until and len(list((tmp_path / "c/runs").glob("*.run.parquet"))) < 2:
                time.sleep(0.02)
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    vary = {"link.last-hop.queue.limit": LIMITS}
    done = cw.sweep(GPRS, vary, reps=3, cluster=cluster.scheduler_address, out=tmp_path / "c")
    killer.join(timeout=60)
    assert killed and not done.failed and done.made == 42
    run = done.table("run")
    assert run.height == 42 and run.select("configuration", "rep").is_unique().all()
    here = cw.sweep(GPRS, vary, reps=3, out=tmp_path / "t")
    assert done.flows().equals(here.flows(), null_equal=True)
    again = cw.sweep(GPRS, vary, reps=3, cluster=cluster.scheduler_address, out=tmp_path / "c")
    assert (again.made, again.kept) == (0, 42)


def test_a_law_of_ones_own_is_sent_to_the_workers(cluster: Any, tmp_path: Path) -> None:
    (tmp_path / "careful.py").write_text(
        "class Careful:\n"
        "    def on_ack(self, facts):\n"
        "        return None if facts.cwnd < facts.ssthresh else facts.cwnd + 0.5 * facts.acked / facts.cwnd\n\n"
        "    def on_loss(self, facts):\n"
        "        return facts.flight / 2\n"
    )
    _, tcp, law = read(str(tmp_path / "careful.py"))
    assert law is not None
    base = cw.Scenario.load(GPRS).with_({f"flow.bulk.tcp.{k}": v for k, v in tcp.items()})
    vary = {"link.last-hop.queue.limit": LIMITS[:3]}
    done = cw.sweep(base, vary, cluster=cluster.scheduler_address, laws={"careful": law}, out=tmp_path / "c")
    here = cw.sweep(base, vary, laws={"careful": law}, out=tmp_path / "t")
    assert done.made == 3 and not done.failed and done.flows().equals(here.flows(), null_equal=True)


def test_a_worker_with_another_build_is_refused(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("crosswind.core.version", lambda: "0.0.1")
    arguments = ["sweep", str(GPRS), "--vary", "seed=1,2", "--cluster", cluster.scheduler_address]
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    err = capsys.readouterr().err
    assert "2 of 2 workers differ" in err and "expected 0.0.1+" in err


def test_an_unreachable_scheduler_is_said_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sweep_cluster, "CONNECT_S", 1)
    monkeypatch.chdir(tmp_path)
    assert main(["sweep", str(GPRS), "--vary", "seed=1,2", "--cluster", "tcp://127.0.0.1:9"]) == 2
    err = capsys.readouterr().err
    assert "no scheduler at tcp://127.0.0.1:9" in err and err.count("\n") == 1 and "Traceback" not in err

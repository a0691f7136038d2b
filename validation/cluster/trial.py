"""What the how-to about several machines promises, tried with real processes.

A Dask cluster of two workers computes a sweep whose results go to an S3-compatible server. First a worker is killed,
then the command itself, both with SIGKILL. The same command goes on; its tables must be those of a sweep that ran on
this machine alone and was never disturbed, to the last bit.
"""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

ROOT = Path(__file__).resolve().parents[2]
SCENARIO = ROOT / "scenarios/gprs.toml"
BUCKET = "results"
LIMITS = ("5 packets", "10 packets", "15 packets", "20 packets", "40 packets")
#: Shares of all runs that are kept when the worker and when the command is killed.
WORKER_AT, COMMAND_AT = 0.05, 0.3
PATIENCE_S = 600.0
KEYS = {"AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none", "AWS_DEFAULT_REGION": "us-east-1"}


@dataclass
class Trial:
    """What happened. `kept` runs had been written when the command was killed, `made` were made by the second one."""

    runs: int
    kept: int = 0
    made: int = 0
    seconds: float = 0.0
    different: list[str] = field(default_factory=list)


@contextlib.contextmanager
def environment(values: dict[str, str]) -> Iterator[None]:
    """Sets variables of the environment for a while; connections that were made before are forgotten."""
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()
    before = {k: os.environ.get(k) for k in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for k, v in before.items():
            os.environ.pop(k) if v is None else os.environ.update({k: v})
        s3fs.S3FileSystem.clear_instance_cache()


@contextlib.contextmanager
def object_store() -> Iterator[None]:
    """An S3-compatible server in this process, with one bucket, and the environment that leads to it."""
    import logging

    import boto3
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with environment({"AWS_ENDPOINT_URL": f"http://{host}:{port}", **KEYS}):
        try:
            boto3.client("s3").create_bucket(Bucket=BUCKET)
            yield
        finally:
            server.stop()


def run(runs: int, folder: Path) -> Trial:
    """Runs the trial with about so many runs; `folder` takes the undisturbed sweep."""
    import distributed

    began = time.monotonic()
    reps = max(2, runs // len(LIMITS))
    trial = Trial(reps * len(LIMITS))
    with (
        object_store(),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as cluster,
    ):
        out = f"s3://{BUCKET}/sweep"
        command = [*_sweep(reps), "--cluster", cluster.scheduler_address, "--out", out]
        first = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _wait(trial, out, WORKER_AT, first)
        os.kill(_some_worker(cluster.scheduler_address), signal.SIGKILL)
        _wait(trial, out, COMMAND_AT, first)
        first.kill()
        first.wait()
        trial.kept = len(_keys_in(out))
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        trial.made = len(_keys_in(out)) - trial.kept
        subprocess.run([*_sweep(reps), "--out", str(folder)], stdout=subprocess.DEVNULL, check=True)
        trial.different = _differences(out, folder)
    trial.seconds = time.monotonic() - began
    return trial


def _sweep(reps: int) -> list[str]:
    """Without time series: of ten thousand runs they would be hundreds of millions of rows."""
    vary = f"link.last-hop.queue.limit={','.join(LIMITS)}"
    command = [sys.executable, "-m", "crosswind", "sweep", str(SCENARIO), "--set", "record={}", "--vary", vary]
    return [*command, "--reps", str(reps), "--json"]


def _some_worker(scheduler: str) -> int:
    import distributed

    with distributed.Client(scheduler, set_as_default=False) as client:
        pids: dict[str, int] = client.run(os.getpid)
    return min(pids.values())


def _keys_in(out: str) -> set[str]:
    """The runs that are kept now; a shard that is being removed while this reads counts as gone."""
    from crosswind.results.place import place

    kept, found = place(out), set()
    for name in kept.names("runs"):
        if name.endswith(".run.parquet"):
            with contextlib.suppress(FileNotFoundError):
                found |= set(_table(kept.read(f"runs/{name}"))["key"])
    return found


def _wait(trial: Trial, out: str, share: float, command: subprocess.Popen[Any]) -> None:
    """Until that share of the runs is kept. Raises RuntimeError when the command ends before."""
    until = time.monotonic() + PATIENCE_S
    while (kept := len(_keys_in(out))) < share * trial.runs:
        if command.poll() is not None or time.monotonic() > until:
            raise RuntimeError(f"{kept} of {trial.runs} runs are kept and nothing more comes")
        time.sleep(0.02)


def _differences(out: str, folder: Path) -> list[str]:
    """The tables that are not the same bytes in both places."""
    from crosswind.results.place import place

    remote = place(out)
    here = sorted(p.name for p in folder.glob("*.parquet"))
    there = [n for n in remote.names("") if n.endswith(".parquet")]
    both = [n for n in here if n in there]
    other = [n for n in both if _bytes(pl.read_parquet(folder / n)) != _bytes(_table(remote.read(n)))]
    return sorted({*here, *there} - set(both)) + other


def _table(data: bytes) -> pl.DataFrame:
    return pl.read_parquet(io.BytesIO(data))


def _bytes(table: pl.DataFrame) -> bytes:
    """Every bit of every value, in order, with names and types; but for the time that a run took."""
    out = io.BytesIO()
    table.drop("wall_ns", strict=False).rechunk().write_ipc(out)
    return out.getvalue()

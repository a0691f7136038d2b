"""Runs a sweep on a Dask cluster. Workers compute; only this process writes, so nothing is lost and nothing is double.

Needs the extra `crosswind[cluster]` here and the same build of Crosswind on every worker.
"""

from __future__ import annotations

import logging
from typing import Any

from crosswind.core import build
from crosswind.errors import CrosswindError, InputError
from crosswind.run.wanted import Job
from crosswind.run.work import Failed, Local, Made, make

CONNECT_S, WORKERS_S = 10, 30
# Jobs that wait at the workers, so that none is ever idle.
AHEAD = 2
RETRIES = 5


class Cluster:
    """The workers of a Dask scheduler, as an executor of a sweep. Raises InputError when they cannot be used."""

    def __init__(self, address: str, local: Local | None = None) -> None:
        try:
            import distributed
        except ImportError as e:
            raise InputError(
                "--cluster", found=f"no Dask here ({e})", expected="the extra: pip install 'crosswind[cluster]'"
            ) from None
        logging.getLogger("distributed").setLevel(logging.ERROR)
        self._dask: Any = distributed
        self._address = address
        self._local = Local(local.laws if local else {})
        self._open: dict[Any, Job] = {}
        try:
            self._client = distributed.Client(address, timeout=f"{CONNECT_S}s", set_as_default=False)
        except (OSError, TimeoutError, ValueError) as e:
            raise InputError(
                "--cluster",
                found=f"no scheduler at {address} ({' '.join(str(e).split()) or type(e).__name__})",
                expected="the address of a running Dask scheduler, such as tcp://host:8786",
            ) from None
        try:
            self._check_workers()
        except BaseException:
            self._client.close()
            raise
        self.slots = AHEAD * max(1, sum(self._client.nthreads().values()))

    def _check_workers(self) -> None:
        try:
            self._client.wait_for_workers(1, timeout=WORKERS_S)
            builds = self._client.run(build)
        except TimeoutError:
            raise InputError("--cluster", found=f"no worker at {self._address}", expected="at least one") from None
        except Exception as e:  # whatever a worker without the package answers
            raise InputError(
                "--cluster",
                found=f"workers that cannot run Crosswind ({type(e).__name__}: {e})",
                expected="the same Crosswind on every worker",
            ) from None
        here = build()
        others = {w: b for w, b in builds.items() if b != here}
        if others:
            worker, version = next(iter(others.items()))
            raise InputError(
                "--cluster",
                found=f"Crosswind {version} on {worker} ({len(others)} of {len(builds)} workers differ)",
                expected=f"{here}, as here",
            )

    def submit(self, job: Job) -> None:
        future = self._client.submit(make, job, local=self._local, pure=False, retries=RETRIES)
        self._open[future] = job

    def results(self) -> list[Made]:
        """Waits for at least one job."""
        if not self._open:
            return []
        try:
            with self._client.as_current():
                done = self._dask.wait(list(self._open), return_when="FIRST_COMPLETED").done
        except (OSError, TimeoutError, self._dask.CancelledError) as e:
            raise self._gone() from e
        return [self._made(f) for f in done]

    def _made(self, future: Any) -> Made:
        job = self._open.pop(future)
        if future.status == "cancelled":
            raise self._gone()
        error = future.exception()
        if error is not None:  # its worker died again and again, or the job itself cannot be run
            said = f"{type(error).__name__}: {' '.join(str(error).split())}"
            return Made({}, [Failed(k, said) for row in job.keys for k in row])
        made: Made = future.result()
        return made

    def _gone(self) -> CrosswindError:
        return CrosswindError(
            f"the scheduler at {self._address} is gone; finished runs are kept, and the same command goes on from there"
        )

    def stop(self) -> list[Made]:
        """Takes back what has not been computed and returns what has."""
        finished = [f for f in self._open if f.status == "finished"]
        rest = [f for f in self._open if f.status != "finished"]
        self._client.cancel(rest, force=True)
        for f in rest:
            self._open.pop(f)
        return [self._made(f) for f in finished]

    def close(self) -> None:
        self._client.close(timeout=5)

"""`audit`: the verb, whatever the body is and in whatever time it lives."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crosswind.errors import InputError
from crosswind.run.progress import Listener
from crosswind.suites.clauses.audit import Audit, simulated
from crosswind.suites.clauses.kernel import audit_kernel, is_kernel
from crosswind.suites.evaluate import Subject


def audit(
    body: Subject,
    *,
    cases: Sequence[str] = (),
    seed: int = 1,
    workers: int | None = None,
    progress: Listener | None = None,
    logs: str | Path | None = None,
) -> Audit:
    """Examines a congestion control with its TCP before clauses of RFCs 5681, 6298, 8985, 9406, 9438, 9937 and others.

    `body`: as in `evaluate`: the name of a law or a preset, a `tcp` table or its text, a TOML file, a law of one's
    own or the Python file that holds it; or a real stack, where the build has it: `quinn`, `noq-newreno`, `smoltcp`;
    or this machine's kernel, in real time: `kernel` with its usual law, `kernel:cubic`.
    `cases`: ids, or the name of a document (`cubic`), all by default.
    `seed` and `workers` are as in `run` (a kernel has one run of each case, all at once); `progress` is told how many
    cases, or runs of a kernel, are done, and of how many.
    `logs`: the folder of the page, where the body is a stack that logs what it does (`quinn`, `noq`) and this is
    wanted: `qlog/<case>/` below it holds the first of a case's runs.

    Raises InputError for a body or a case that does not exist, and for a table that the engine refuses; MissingError
    with all that stands in the way where a kernel cannot be examined here.
    """
    if is_kernel(body):
        if logs is not None:
            raise InputError("--qlog", found="a kernel", expected="a stack that logs what it does: quinn or noq")
        return audit_kernel(str(body), cases, seed, progress)
    return simulated(body, cases, seed, workers, progress, Path(logs) if logs is not None else None)

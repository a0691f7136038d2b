"""`make validate`: runs ns-2 and Crosswind side by side and writes docs/validation.md and
docs/validation-diffserv.md; queues beside those of ns-3 go to docs/validation-ns3.md.

    python -m validation [--deterministic] [--no-write]

Exit code 0: no unexpected difference; 1: a deterministic case differs or a stored reference is stale; 2: bad arguments.
Without ns-2 the deterministic cases are compared with the stored references and the rest is skipped, loudly.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from validation import crosswind_side
from validation.compare import Comparison, Row, compare_sequences, compare_study
from validation.ns2 import diffserv, driver, tfrc
from validation.ns2.scenarios import REPETITIONS, deterministic_cases, studies
from validation.ns3 import queues
from validation.report import Findings, page
from validation.twin.page import placed, section, stored

PAGE = Path(__file__).parent.parent / "docs" / "validation.md"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m validation", description="Compares Crosswind with ns-2.")
    parser.add_argument("--deterministic", action="store_true", help="leave the statistical comparisons out")
    parser.add_argument("--no-write", action="store_true", help="do not write docs/validation.md")
    chosen = parser.parse_args(arguments)
    program = driver.ns2_program()
    workers = os.cpu_count() or 1
    comparisons = deterministic()
    curves = tfrc.compare_all()
    stale = [*stale_references(program, workers), *tfrc.stale(program)] if program else []
    rows = statistical(program, workers) if program and not chosen.deterministic else []
    skipped = 0 if program else len(comparisons) + len(studies()) * REPETITIONS
    version = f"{driver.ns2_version(program)}" if program else "not installed; stored references were used"
    findings = Findings(version, comparisons, stale, rows, skipped, curves)
    if program is None:
        say_missing(skipped)
    elif not chosen.no_write and not chosen.deterministic:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(placed(page(findings), section(stored())))
        print(f"written: {PAGE}")
    if program is not None and not chosen.deterministic:
        diffserv.main(["--no-write"] if chosen.no_write else [])
    beside_ns3 = queues.main(["--no-write"] if chosen.no_write else [])
    return max(verdict(findings), beside_ns3)


def deterministic() -> list[Comparison]:
    """Crosswind against the stored references."""
    cases = deterministic_cases()
    references = driver.references()
    results = crosswind_side.run_all(cases)
    return [compare_sequences(c, references[c.key], o) for c, o in zip(cases, results, strict=True)]


def stale_references(program: str, workers: int) -> list[str]:
    """Cases for which ns-2 gives something else than the stored reference."""
    cases = deterministic_cases()
    references = driver.references()
    results = driver.run_all(cases, program, workers)
    return [c.key for c, o in zip(cases, results, strict=True) if driver.as_reference(o) != references[c.key]]


def statistical(program: str, workers: int) -> list[Row]:
    rows: list[Row] = []
    for study in studies():
        cases = study.cases()
        rows += compare_study(study, cases, driver.run_all(cases, program, workers), crosswind_side.run_all(cases))
    return rows


def say_missing(skipped: int) -> None:
    line = "!" * 72
    print(
        f"{line}\nns-2 IS NOT INSTALLED (Debian: apt-get install ns2).\n"
        f"Only stored references were compared; {skipped} runs of ns-2 were SKIPPED.\n{line}",
        file=sys.stderr,
    )


def verdict(f: Findings) -> int:
    """Prints the counts and what is wrong."""
    wrong = [c for c in f.comparisons if c.verdict == "differs"]
    for c in wrong:
        print(f"differs: {c.case.key}: {c.remark}")
    apart = [c for c in f.tfrc if c.verdict == "differs"]
    for c in apart:
        print(f"differs: tfrc/{c.case.name}: mean rate {c.mean_difference:+.1%}, single seconds {c.deviation:.1%}")
    for key in f.stale:
        print(f"stale reference: {key}")
    for r in (r for r in f.rows if r.verdict == "differs"):
        print(
            f"statistical difference: {r.study.name}: {r.metric}: ns-2 {r.ns2:.4g}, Crosswind {r.crosswind:.4g}"
            f" ({r.reason or 'no cause known'})"
        )
    same = sum(c.verdict == "same" for c in f.comparisons)
    near = sum(r.verdict != "differs" for r in f.rows)
    print(
        f"deterministic: {same} of {len(f.comparisons)} the same; "
        f"TFRC: {len(f.tfrc) - len(apart)} of {len(f.tfrc)} curves fit; "
        f"statistical: {near} of {len(f.rows)} without a difference that matters; {f.skipped} skipped"
    )
    return 1 if wrong or apart or f.stale else 0


if __name__ == "__main__":
    sys.exit(main())

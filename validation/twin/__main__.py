"""`make twin`: five scenarios simulated and between real kernels, and what came of both in docs/validation.md.

    python -m validation.twin [--only NAME] [--no-write] [--simulated]

Needs namespaces (root, or a user namespace). Exit code 0: every difference is within the aim or has a known cause, or
there are no namespaces here and nothing was compared (which is said loudly); 1: a difference without a cause.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from crosswind.emulate import needs
from validation.twin import page
from validation.twin.measure import CASES, LAWS, Twin, measure, simulate_anew


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m validation.twin", description="Compares with real kernels.")
    parser.add_argument("--only", choices=[c.name for c in CASES], help="one scenario; the others keep their numbers")
    parser.add_argument("--no-write", action="store_true", help="do not write the page, the figures and the numbers")
    parser.add_argument("--simulated", action="store_true", help="simulate anew beside the stored runs of real hosts")
    chosen = parser.parse_args(arguments)
    stored = page.stored()
    if chosen.simulated:
        simulate_anew(stored.twins)
        keep(stored, chosen)
        return page.verdict(stored.twins)
    try:
        needs.check()
    except needs.MissingError as e:
        print(f"{'!' * 72}\nTHE TWINS WERE SKIPPED: {e}\n{'!' * 72}", file=sys.stderr)
        return 0
    twins: list[Twin] = [t for t in stored.twins if chosen.only and t.case != chosen.only]
    for case in CASES:
        if chosen.only not in (None, case.name):
            continue
        for law in LAWS:
            for twin in measure(case, law):
                twins.append(twin)
                print(page.line(twin), flush=True)
    order = [c.name for c in CASES]
    twins.sort(key=lambda t: order.index(t.case))
    keep(page.Stored.now(twins), chosen)
    return page.verdict(twins)


def keep(found: page.Stored, chosen: argparse.Namespace) -> None:
    """Writes numbers and page, unless told not to."""
    if not chosen.no_write:
        page.NUMBERS.write_text(json.dumps(found.to_json(), separators=(",", ":")) + "\n")
        page.write(found)


if __name__ == "__main__":
    sys.exit(main())

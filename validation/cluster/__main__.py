"""`python -m validation.cluster [--runs N]`: exit code 0 when the tables are the same, 1 when they are not."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from validation.cluster import trial


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m validation.cluster", description=trial.__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        done = trial.run(chosen.runs, Path(folder) / "undisturbed")
    print(
        f"{done.runs} runs: a worker was killed, then the command with {done.kept} kept; the second one made the other "
        f"{done.made}; {done.seconds:.0f} s in all"
    )
    print(f"different: {', '.join(done.different)}" if done.different else "all tables are the same, bit for bit")
    return 1 if done.different or done.kept + done.made != done.runs else 0


if __name__ == "__main__":
    sys.exit(main())

"""Which release of quinn-proto cuts its window by which factor? The same flow on each, in virtual time.

    python -m validation.stack_versions [--releases 0.11.14 0.11.15 ..] [--json]

Each release is built in a copy of the sources (`target/versions`), with the adaptor of today; what an older release
does not tell is left out of the copy. RFC 9438 says 0.7; up to 0.11.14 every second cut was to 0.595, which throughput
hardly shows. The first build takes minutes. Exit code 0: the releases were run; 3: one could not be built, with the
compiler's words.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COPY = ROOT / "target" / "versions"
# 0.11.12 has no `Controller::metrics`, by which an adaptor learns what a controller thinks.
RELEASES = tuple(f"0.11.{n}" for n in range(13, 20))
FACTOR, TOLERANCE = 0.7, 0.001
#: What a release does not have: up to which one, the file, what is written there, and what the copy has instead.
LACKS = (((0, 11, 17), "quinn/seam.rs", "Some(path.min_rtt.as_nanos() as u64)", "None"),)


class BuildError(Exception):
    """A release that could not be built; the text is the end of what the compiler said."""


@dataclass(frozen=True)
class Found:
    """One release: how many losses cut its window, and by which factors."""

    release: str
    cuts: int
    least: float
    largest: float

    @property
    def is_right(self) -> bool:
        """Every cut is to 0.7 (RFC 9438 section 4.6)."""
        return max(FACTOR - self.least, self.largest - FACTOR) < TOLERANCE


def copy_sources() -> None:
    """The workspace without what was built."""
    shutil.rmtree(COPY / "src", ignore_errors=True)
    COPY.mkdir(parents=True, exist_ok=True)
    shutil.copytree(ROOT / "crates", COPY / "src" / "crates")
    shutil.copytree(ROOT / "benches", COPY / "src" / "benches")
    for name in ("Cargo.toml", "Cargo.lock"):
        shutil.copy(ROOT / name, COPY / "src" / name)


def adapt(release: str) -> None:
    """Makes the copy one of a release."""
    stacks, ours = COPY / "src" / "crates" / "stacks", ROOT / "crates" / "stacks"
    manifest = (ours / "Cargo.toml").read_text()
    changed = re.sub(r'(quinn-proto = \{ version = )"=[0-9.]+"', rf'\1"={release}"', manifest)
    # The log and the ciphers of an old release are not what it is asked about.
    changed = re.sub(r"(?m)^default = .*$", 'default = ["quinn"]', changed)
    (stacks / "Cargo.toml").write_text(changed)
    number = tuple(int(n) for n in release.split("."))
    for last, file, written, instead in LACKS:
        text = (ours / "src" / file).read_text()
        assert written in text, f"{file} does not have {written} any more"
        (stacks / "src" / file).write_text(text.replace(written, instead) if number <= last else text)


def factors(release: str) -> list[float]:
    """Builds a release and runs it. Raises BuildError."""
    adapt(release)
    command = ["cargo", "run", "-q", "--profile", "quick", "-p", "crosswind-stacks", "--example", "reductions"]
    env = {**os.environ, "CARGO_TARGET_DIR": str(COPY / "target")}
    done = subprocess.run(command, cwd=COPY / "src", env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError("\n".join(done.stderr.splitlines()[-12:]))
    return [float(line) for line in done.stdout.split()]


def summed_up(release: str, seen: Sequence[float]) -> Found:
    """Raises ValueError where no loss cut the window."""
    return Found(release, len(seen), min(seen), max(seen))


def sentence(found: Sequence[Found]) -> str:
    """Where it changes."""
    turns = [b.release for a, b in pairwise(found) if b.is_right and not a.is_right]
    if turns:
        return f"right since {', '.join(turns)}"
    return "right in all of them" if all(f.is_right for f in found) else "not right in all of them"


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m validation.stack_versions", description=__doc__.splitlines()[0])
    parser.add_argument("--releases", nargs="+", default=RELEASES, metavar="RELEASE", help="of quinn-proto, in order")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args(given)
    copy_sources()
    found = []
    for release in chosen.releases:
        try:
            found.append(summed_up(release, factors(release)))
        except BuildError as e:
            print(f"stack_versions: quinn-proto {release} could not be built:\n{e}", file=sys.stderr)
            return 3
        f = found[-1]
        if not chosen.json:
            word = "" if f.is_right else f"   RFC 9438 says {FACTOR}"
            print(f"quinn-proto {f.release}: {f.cuts} cuts to {f.least:.3f} .. {f.largest:.3f}{word}", flush=True)
    if chosen.json:
        print(json.dumps([{**asdict(f), "is_right": f.is_right} for f in found]))
    else:
        print(f"CUBIC's factor in quinn-proto is {sentence(found)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

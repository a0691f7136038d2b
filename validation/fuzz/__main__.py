"""Makes random scenarios for a while and examines them; what fails is shrunk and saved as a scenario to run again.

python -m validation.fuzz --seconds 600 [--seed N] [--scenarios N] [--out DIR] [FILE...]
python -m validation.fuzz --write FILE --scenarios N [--seed N]: accepted ones, a line each, for tests of the engine
"""

from __future__ import annotations

import argparse
import collections
import itertools
import json
import os
import re
import threading
import time
import tomllib
from pathlib import Path
from typing import Any

from crosswind.core import core
from validation.fuzz import checks, making
from validation.fuzz.runner import Runner, Verdict
from validation.fuzz.shrinking import shrunk, toml


class Campaign:
    """What has been examined, by several threads with a process each."""

    def __init__(self, first: int, scenarios: int | None, seconds: float, out: Path) -> None:
        self.next, self.first, self.scenarios = first, first, scenarios
        self.until = time.monotonic() + seconds
        self.out = out
        self.numbers: collections.Counter[str] = collections.Counter()
        self.failed: dict[str, int] = {}
        self.lock = threading.Lock()

    def _seed(self) -> int | None:
        with self.lock:
            is_over = self.scenarios is not None and self.next - self.first >= self.scenarios
            if is_over or time.monotonic() > self.until:
                return None
            self.next += 1
            return self.next - 1

    def work(self) -> None:
        runner = Runner()
        try:
            while (seed := self._seed()) is not None:
                verdict = runner.examine({"seed": seed})
                with self.lock:
                    self.numbers["scenarios"] += 1
                    self.numbers["refused"] += verdict.get("refused") is not None
                    self.numbers["cut off"] += verdict.get("slow", 0)
                    self.numbers["simulations"] += verdict.get("runs", 0)
                if "check" in verdict:
                    self._failed(runner, seed, verdict)
        finally:
            runner.close()

    def _failed(self, runner: Runner, seed: int, verdict: Verdict) -> None:
        check = verdict["check"]
        # A result that differs differs in many ways: the first of each column is enough to begin with.
        where = re.match(r"[a-z_]+\.[a-z0-9_]+", verdict["seen"])
        kind = f"{check} {where.group()}" if where else check
        with self.lock:
            self.failed[kind] = self.failed.get(kind, 0) + 1
            if self.failed[kind] > 1:
                return
        least, last = shrunk(runner, verdict["scenario"], verdict)
        self.out.mkdir(parents=True, exist_ok=True)
        file = self.out / f"{check}-{seed}.toml"
        head = f"# seed {seed}, check {check}\n# {last['seen']}\n".replace("\n\n", "\n")
        file.write_text(head + toml(least), encoding="utf-8")
        print(f"FAILED {check} (seed {seed}): {last['seen'][:300]}\n{toml(least)}       saved in {file}", flush=True)


def examined(files: list[Path]) -> int:
    """Examines saved scenarios; the number that fail."""
    runner, bad = Runner(), 0
    for file in files:
        scenario: dict[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
        verdict = runner.examine({"scenario": scenario})
        bad += "check" in verdict
        word = verdict.get("check") or ("refused" if verdict.get("refused") else "ok")
        print(f"{word:<20} {file}  {verdict.get('seen', '')}")
    runner.close()
    return bad


#: Scenarios that a test plays in a dozen ways have no more events than that.
EVENTS_MAX = 30_000


def written(file: Path, first: int, count: int) -> None:
    """Writes accepted scenarios of consecutive seeds in which something happens, and not too much, as lines of JSON."""
    engine, lines = core(), []
    schema = json.loads(engine.schema())
    for seed in itertools.count(first):
        if len(lines) == count:
            break
        maker = making.Maker(schema, seed)
        scenario, refused = maker.mended(maker.scenario(), checks.refusal)
        scenario.pop("record", None)
        if refused is None and checks.refusal(scenario) is None:
            done = checks.run([scenario], 1, look_ahead=False)
            if done is not None and 100 < done["run"]["events"].max() < EVENTS_MAX:
                lines.append(json.dumps(scenario, ensure_ascii=False))
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, help="saved scenarios to examine again")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--scenarios", type=int, help="so many, whatever time it takes up to --seconds")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the first scenario")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, default=Path("out/fuzz"))
    parser.add_argument("--write", type=Path, help="write scenarios there, and examine none")
    options = parser.parse_args()
    if options.write:
        written(options.write, options.seed, options.scenarios or 100)
        return 0
    if options.files:
        return 1 if examined(options.files) else 0
    began = time.monotonic()
    campaign = Campaign(options.seed, options.scenarios, options.seconds, options.out)
    threads = [threading.Thread(target=campaign.work) for _ in range(options.workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    n = campaign.numbers
    print(
        f"{n['scenarios']} scenarios from seed {options.seed}, {n['simulations']} simulations, {n['refused']} refused, "
        f"{n['cut off']} cut off, {time.monotonic() - began:.0f} s"
    )
    for check, times in sorted(campaign.failed.items(), key=lambda f: -f[1]):
        print(f"  {times:>5} times {check}")
    return 1 if campaign.failed else 0


if __name__ == "__main__":
    raise SystemExit(main())

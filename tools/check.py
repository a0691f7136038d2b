"""Runs tests and checks, counts them, and lists loudly what was skipped. Exit code 0 only when everything passed.

A stage that takes too long is ended and has failed; what it had printed is shown.

Usage: check.py all | lint | test
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
TAIL_LINES = 80
#: Lines that are shown of what a failed Rust test said, which the end of the output may not hold.
SAID_LINES = 12
#: Far beyond what any stage takes, and less than a CI's patience.
LIMIT_s = 2400


@dataclass
class Stage:
    """One command with what came out of it."""

    name: str
    command: list[str]
    kind: str
    code: int = 0
    seconds: float = 0.0
    passed: int = 0
    failed: int = 0
    skipped: list[str] = field(default_factory=list)
    #: The failed tests by name, each with the reason where the runner gives one in a line.
    failures: list[str] = field(default_factory=list)
    #: What failed Rust tests said.
    said: list[str] = field(default_factory=list)


def stages(what: str) -> list[Stage]:
    """The stages of `all`, `lint` or `test`, in order."""
    python = sys.executable
    pytest = [python, "-m", "pytest", "-rsfE"]
    lint = [
        Stage("cargo fmt", ["cargo", "fmt", "--all", "--check"], "check"),
        Stage("clippy", ["cargo", "clippy", "-q", "--workspace", "--all-targets", "--", "-D", "warnings"], "check"),
        Stage("ruff check", [str(BIN / "ruff"), "check", "-q", "python", "tools", "validation"], "check"),
        Stage("ruff format", [str(BIN / "ruff"), "format", "--check", "-q", "python", "tools", "validation"], "check"),
        Stage("mypy", [str(BIN / "mypy")], "check"),
        Stage("tidy", [python, "tools/tidy.py"], "check"),
    ]
    tests = [
        # What a test says of itself is shown although it passes: a test that could not be made says so (`count`).
        Stage(
            "Rust tests",
            ["cargo", "test", "--workspace", "--exclude", "crosswind-py", "--no-fail-fast", "--", "--show-output"],
            "rust",
        ),
        Stage("Python tests", [*pytest, "-m", "not realtime", "-n", "auto", "--dist", "loadfile"], "python"),
        Stage("in real time", [*pytest, "-m", "realtime"], "python"),
    ]
    return {"all": lint + tests, "lint": lint, "test": tests}[what]


def run(stage: Stage) -> str:
    """Runs a stage and returns its output."""
    began = time.monotonic()
    process = subprocess.Popen(
        stage.command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env={**os.environ, "CARGO_TERM_COLOR": "never"},
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=LIMIT_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        output += f"\nended: not done after {LIMIT_s} s"
    except BaseException:
        os.killpg(process.pid, signal.SIGTERM)
        raise
    stage.seconds = time.monotonic() - began
    stage.code = process.returncode
    return output


def count(stage: Stage, output: str) -> None:
    """Reads passed, failed and skipped out of the output."""
    if stage.kind == "rust":
        for passed, failed in re.findall(r"test result: \w+\. (\d+) passed; (\d+) failed", output):
            stage.passed += int(passed)
            stage.failed += int(failed)
        stage.skipped = [
            f"{m.group(1)}: {m.group(2) or 'ignored'}"
            for m in re.finditer(r"^test (.+?) \.\.\. ignored(?:, (.*))?$", output, re.MULTILINE)
        ]
        stage.failures = re.findall(r"^test (.+?) \.\.\. FAILED$", output, re.MULTILINE)
        # Rust's tests cannot be left out while they run: one that could not be made says why and passes. It is no pass.
        said = re.split(r"^---- (.+?) stdout ----$", output, flags=re.MULTILINE)
        for test, text in zip(said[1::2], said[2::2], strict=True):
            if why := re.search(r"^(?:SKIPPED|INCONCLUSIVE)\b.*", text, re.MULTILINE):
                stage.skipped.append(f"{test}: {why[0]}")
                stage.passed -= 1
            elif test in stage.failures:
                stage.said += [f"{test}:", *text.strip().splitlines()[:SAID_LINES]]
    elif stage.kind == "python":
        for number, word in re.findall(r"(\d+) (passed|failed|error)", output.splitlines()[-1] if output else ""):
            if word == "passed":
                stage.passed += int(number)
            else:
                stage.failed += int(number)
        for times, reason in re.findall(r"^SKIPPED \[(\d+)\] (.*)$", output, re.MULTILINE):
            stage.skipped += [reason] * int(times)
        stage.failures = re.findall(r"^(?:FAILED|ERROR) (.*)$", output, re.MULTILINE)
    else:
        stage.passed, stage.failed = (1, 0) if stage.code == 0 else (0, 1)
    if stage.code != 0 and stage.failed == 0:
        stage.failed = 1


def say(what: str, lines: list[str]) -> None:
    """Lists what nobody may overlook; last, because the end of a long output is what is kept of it."""
    if lines:
        print(f"\n!! {len(lines)} {what}:")
        print("\n".join(f"!!   {line}" for line in lines))


def main(arguments: list[str]) -> int:
    what = arguments[0] if arguments else "all"
    todo = stages(what)
    print(f"== make {'test' if what != 'lint' else 'lint'}: {len(todo)} stages", flush=True)
    for stage in todo:
        output = run(stage)
        count(stage, output)
        word = "ok    " if stage.code == 0 else "FAILED"
        numbers = f"{stage.passed} passed" + (f", {stage.failed} failed" if stage.failed else "")
        numbers += f", {len(stage.skipped)} SKIPPED" if stage.skipped else ""
        print(f"{word} {stage.name:<14} {stage.seconds:7.1f} s   {numbers}", flush=True)
        if stage.code != 0:
            shown = [*stage.said, *output.splitlines()[-TAIL_LINES:]]
            print("\n".join("    " + line for line in shown), flush=True)
    skipped = [f"{s.name}: {reason}" for s in todo for reason in s.skipped]
    say("SKIPPED", skipped)
    say("FAILED", [f"{s.name}: {test}" for s in todo for test in s.failures])
    bad = [s.name for s in todo if s.code != 0]
    passed, failed = sum(s.passed for s in todo), sum(s.failed for s in todo)
    print(f"\n{'FAILED: ' + ', '.join(bad) if bad else 'ok'}, {sum(s.seconds for s in todo):.0f} s")
    print(f"{passed} passed, {failed} failed, {len(skipped)} skipped")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

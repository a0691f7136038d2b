"""Repetition by repetition: BBR and CUBIC simulated, and the same draws between real kernels.

    python -m validation.twin.paired [--reps 12] [--together 4] [--only NAME ..] [--no-write] [--simulated]

Both modes of a repetition have one seed, so that start times and losses are the same draws. Writes
docs/validation-twins.md and `paired.json`. A run is 25 s of real time; the whole takes
28 s x 26 runs x reps / together. Needs namespaces (root, or a user namespace). Exit code 0: every difference beyond the
aim has a cause, or there are no namespaces here (which is said loudly); 1: one has none.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import crosswind as cw
from crosswind.emulate import needs, testbed
from crosswind.results import Runs
from crosswind.stats import Estimate
from crosswind.stats.comparing import compare
from validation.twin.cases import PATHS, SECONDS, Case
from validation.twin.measure import Numbers, reduce, whole
from validation.twin.page import AIM

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "validation-twins.md"
NUMBERS = Path(__file__).with_name("paired.json")
SEED = 1
MEASURES = {"goodput": "goodput_bps", "mean RTT": "rtt_mean_ns", "retransmissions": "retransmitted_packets"}
CAUSES: dict[tuple[str, str, str], str] = {
    ("clean", "CUBIC", "retransmissions"): (
        "slow start overshoots once more here. Windows are the same up to 58 segments; there the kernel's HyStart has "
        "seen a train of ACKs of half a round trip, as its receiver acknowledges each segment while its window grows. "
        "Ours acknowledges every second one after sixteen. With `quick_acks = 300` it is 13."
    ),
    **dict.fromkeys(
        [("two-rtts", "CUBIC, first", "goodput"), ("two-rtts", "CUBIC, second", "goodput")],
        "the same: where slow start ends decides who has how much for 25 s. With `quick_acks = 300` 7.11 and "
        "2.51 Mbit/s.",
    ),
    ("rate-step", "CUBIC", "retransmissions"): "the same; with `quick_acks = 300` it is 22.",
    **dict.fromkeys(
        [("half", "BBR", "mean RTT"), ("half", "CUBIC", "mean RTT")],
        "each write of the application is a segment with PSH, which the kernel's receiver acknowledges as soon as the "
        "program has read it; ours waits for the second one, 2.4 ms later. With an ACK for each segment 42.0 and "
        "41.4 ms.",
    ),
    **dict.fromkeys(
        [
            ("shallow", "BBR", "retransmissions"),
            ("delay-step", "BBR", "retransmissions"),
            ("rate-step", "BBR", "retransmissions"),
            *(("late", f"BBR, {f}", "retransmissions") for f in ("first", "second")),
            ("two-rtts", "BBR, first", "retransmissions"),
        ],
        "ACKs of a real machine are early and late by some tenths of a millisecond, and the largest of ten rounds' "
        "rates is too large by that. With a jitter of 0.2 and 0.4 ms on the simulated line shallow has 616 and 652, "
        "delay-step and rate-step 8 and 11, which closes them; late 79 and 78 (first), 75 and 58 (second) and "
        "two-rtts 554 and 664 (first), which closes a part.",
    ),
    ("beside-deep", "CUBIC", "retransmissions"): "the same: with a jitter of 0.2 and 0.4 ms it is 32 and 34.",
    ("shallow", "CUBIC", "retransmissions"): (
        "seven of the twelve runs have 21 or 22, as all simulated ones have; the others have 24 to 51, most "
        "probably from pauses of the machine: with pauses of 3 ms, 0.1 to 0.5 s apart, the simulator has 27 to "
        "42, of 6 ms 42 to 58."
    ),
    ("fast", "BBR", "retransmissions"): (
        "most probably pauses of the machine, which was late: five of the twelve runs have 217 to 219, the others "
        "up to 557. With pauses of 1 or 3 ms, 0.1 to 0.5 s apart, the simulator has 212 to 333, of 6 ms 825 to "
        "1131."
    ),
    ("far", "CUBIC", "retransmissions"): (
        "ten of the twelve runs have 28, as simulated; in two slow start ended only at a loss (106, 107). It does "
        "so the more, the busier the machine: in none of six runs one at a time, in seven of eight beside other "
        "work (one packet in a hundred 12 ms late). Pauses on the simulated line do not do that."
    ),
    ("policer", "CUBIC", "retransmissions"): (
        "a part: the saw-tooth is the same; the start loses 183 packets there, 221 here. With more than two "
        "ranges above a hole the kernel's receiver sends the SACK that it holds and holds the next one, ours "
        "sends each at once (a deviation of SACK compression): 28, 12, 16 ACKs there in 40 ms each of the first "
        "recovery, 36, 34, 34 here. With the kernel's rule the simulator has 326 in place of 354."
    ),
}
"""Why a measure differs beyond the aim: by case, flow with its law, and measure."""


@dataclass
class Pair:
    """One flow of one run, simulated and real; one entry of the numbers for each repetition."""

    case: str
    laws: tuple[str, ...]
    flow: str
    law: str
    simulated: Numbers
    real: Numbers
    lateness_p99_ns: float
    is_trusted: bool

    @property
    def label(self) -> str:
        """The law, and which flow where there are two."""
        return self.law if self.flow in ("bbr", "cubic") or len(self.laws) == 1 else f"{self.law}, {self.flow}"

    def change(self, measure: str) -> Estimate:
        """Simulated over real, less one, with the interval of the pairs; no value where nothing happened for real."""
        ours, theirs = (getattr(side, MEASURES[measure]) for side in (self.simulated, self.real))
        return compare(ours, theirs).change

    def verdict(self, measure: str) -> str:
        """`within` the aim; beyond it `open` (the interval reaches into the aim), `caused` or `differs`."""
        found = self.change(measure)
        if math.isnan(found.value):
            ours, theirs = (sum(getattr(side, MEASURES[measure])) for side in (self.simulated, self.real))
            return "within" if ours == theirs else "differs"
        if abs(found.value) <= AIM:
            return "within"
        if found.low <= AIM and found.high >= -AIM:
            return "open"
        return "caused" if (self.case, self.label, measure) in CAUSES else "differs"


def measure(case: Case, laws: tuple[str, ...], reps: int, together: int) -> list[Pair]:
    """Both modes of one run; a pair for each of its flows."""
    what = case.scenario(laws)
    ours = cw.run(what, seed=SEED, reps=reps)
    real = whole(testbed.run(what, seed=SEED, reps=reps, together=together))
    late = float(real.manifest["machine"]["lateness"]["p99_ns"])
    flows = zip(case.flows(laws), laws, strict=True)
    return [
        Pair(case.name, laws, f, law, numbers(ours, f), numbers(real, f), late, bool(real.manifest["trusted"]))
        for f, law in flows
    ]


def numbers(runs: Runs, flow: str) -> Numbers:
    """What one mode gave for one flow."""
    into = Numbers()
    reduce(runs, flow, into)
    return into


def line(p: Pair) -> str:
    """A row of the page: per measure the means of both modes, and the difference with its interval."""
    cells = [p.case, p.label]
    for name, (unit, digits) in zip(MEASURES, ((1e6, 2), (1e6, 1), (1.0, 0)), strict=True):
        ours, theirs = (
            sum(getattr(side, MEASURES[name])) / len(getattr(side, MEASURES[name])) / unit
            for side in (p.simulated, p.real)
        )
        found, verdict = p.change(name), p.verdict(name)
        interval = f" [{found.low:+.1%} to {found.high:+.1%}]" if math.isfinite(found.low) else ""
        difference = f"{found.value:+.1%}{interval}" if math.isfinite(found.value) else "-"
        strong = f"**{difference}**" if verdict in ("differs", "caused") else difference
        cells.append(f"{ours:.{digits}f}, {theirs:.{digits}f}: {strong}")
    return "| " + " | ".join(cells) + " |"


def page(stored: dict[str, Any], pairs: Sequence[Pair]) -> str:
    """The whole page."""
    counts = {
        m: {v: sum(p.verdict(m) == v for p in pairs) for v in ("within", "open", "caused", "differs")} for m in MEASURES
    }
    reps = len(pairs[0].real.goodput_bps) if pairs else 0
    late = max((p.lateness_p99_ns for p in pairs), default=0.0) / 1e3
    doubtful = sorted({p.case for p in pairs if not p.is_trusted})
    text = [
        "# Twins of BBR and CUBIC",
        "",
        "<!-- generated by `python -m validation.twin.paired`; do not edit -->",
        "",
        f"{len(PATHS)} scenarios (`validation/twin/cases.py`) in the simulator and between real kernels",
        f"(Linux {stored['release']}), with the same queues and links: `linux-6-bbr`, with bursts as in Linux",
        '(`pacing_burst = "linux"`), and `linux-6-cubic`, beside the kernel\'s `bbr` (version 1) and `cubic`.',
        f"{SECONDS} s a run, {reps} repetitions, paired: repetition k of both modes has the same drawn start times",
        "and losses. Round-trip times are the senders' smoothed ones, 20 times a second. Each cell: simulated, real:",
        "the difference of the means, with its 95 % interval over the pairs.",
        f"Aim: {AIM:.0%}. Bold: beyond it, interval included.",
        "",
        "| measure | within the aim | beyond, but the interval reaches into it | beyond, cause known | beyond |",
        "|---|---|---|---|---|",
        *(f"| {m} | {c['within']} | {c['open']} | {c['caused']} | {c['differs']} |" for m, c in counts.items()),
        "",
        "| scenario | law | goodput (Mbit/s) | mean RTT (ms) | retransmissions |",
        "|---|---|---|---|---|",
        *(line(p) for p in pairs),
        "",
        f"One packet in a hundred left at most {late:.0f} µs late in the worst of the runs with real hosts.",
    ]
    if doubtful:
        text.append(f"Not to be trusted for their lateness: {', '.join(doubtful)}.")
    if stored.get("note"):
        text.append(stored["note"])
    text += ["", "Scenarios:", "", *(f"* **{c.name}**: {c.about}" for c in PATHS)]
    shown = {k: why for k, why in CAUSES.items() if any((p.case, p.label) == k[:2] for p in pairs)}
    if shown:
        text += ["", "Causes:", ""] + [f"* **{c}, {label}, {m}**: {why}" for (c, label, m), why in shown.items()]
    return "\n".join(text) + "\n"


def load() -> tuple[dict[str, Any], list[Pair]]:
    """The stored numbers; none before the first measurement."""
    if not NUMBERS.exists():
        return {}, []
    data = json.loads(NUMBERS.read_text())
    pairs = []
    for p in data.pop("pairs"):
        halves = {mode: Numbers(**p[mode]) for mode in ("simulated", "real")}
        pairs.append(Pair(**{**p, **halves, "laws": tuple(p["laws"])}))
    return data, pairs


def keep(stored: dict[str, Any], pairs: Sequence[Pair]) -> None:
    """Writes numbers and page."""
    order = [c.name for c in PATHS]
    ranked = sorted(pairs, key=lambda p: order.index(p.case))
    text = json.dumps({**stored, "pairs": [asdict(p) for p in ranked]}, separators=(",", ":"))
    NUMBERS.write_text(text.replace('{"case"', '\n{"case"') + "\n")
    PAGE.write_text(page(stored, ranked))
    print(f"written: {PAGE}")


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m validation.twin.paired", description="BBR and CUBIC beside Linux.")
    parser.add_argument("--reps", type=int, default=12)
    parser.add_argument("--together", type=int, default=4, help="repetitions with real hosts at a time")
    parser.add_argument("--only", nargs="+", choices=[c.name for c in PATHS], help="these; others keep their numbers")
    parser.add_argument("--no-write", action="store_true", help="do not write the page and the numbers")
    parser.add_argument("--simulated", action="store_true", help="simulate anew beside the stored runs of real hosts")
    parser.add_argument("--note", default="", help="a sentence about the measurement, for the page")
    return parser.parse_args(given)


def simulate_anew(pairs: Sequence[Pair]) -> None:
    """Gives pairs new simulated halves; what real hosts did stays."""
    for case in PATHS:
        for laws in case.laws:
            own = [p for p in pairs if (p.case, p.laws) == (case.name, laws)]
            if own:
                runs = cw.run(case.scenario(laws), seed=SEED, reps=len(own[0].real.goodput_bps))
                for p in own:
                    p.simulated = numbers(runs, p.flow)


def main(given: Sequence[str] | None = None) -> int:
    chosen = arguments(given)
    stored, pairs = load()
    if chosen.simulated:
        simulate_anew(pairs)
    else:
        try:
            needs.check()
        except needs.MissingError as e:
            print(f"{'!' * 72}\nTHE TWINS WERE SKIPPED: {e}\n{'!' * 72}", file=sys.stderr)
            return 0
        stored = {"release": platform.release().split("-")[0]} | ({"note": chosen.note} if chosen.note else {})
        pairs = [p for p in pairs if chosen.only and p.case not in chosen.only]
        for case in PATHS:
            for laws in case.laws if not chosen.only or case.name in chosen.only else ():
                pairs += (found := measure(case, laws, chosen.reps, chosen.together))
                print(*(line(p) for p in found), sep="\n", flush=True)
    if not chosen.no_write:
        keep(stored, pairs)
    wrong = [(p.case, p.label, m) for p in pairs for m in MEASURES if p.verdict(m) == "differs"]
    print(*(f"differs: {', '.join(w)}" for w in wrong), f"{len(wrong)} differences without a cause", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

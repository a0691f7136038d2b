"""Voice-like flows over three congested links (chapter 7 of [Igarashi 2007], model 2) in ns-2 and in Crosswind.

python -m validation.ns2.voice [repetitions]      both sides, means and standard errors of all repetitions

The load is 96 %, so drops depend on the last thousandths of what the sources send; seeds do not correspond. The first
rows are without limits of delay; in the others every queue holds 42 packets, which is what an MTQ of 3.3 ms does.
`fixed` is Crosswind without the jitter of 0.1 us on its lines: the end of a transmission comes before every arrival at
the same instant, which favours packets of the node before.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import polars as pl

import crosswind as cw
from crosswind.experiments.igarashi import discard
from crosswind.scenario import Scenario
from validation.ns2.driver import HERE, TIMEOUT_S, Ns2Error, ns2_program

SCRIPT = HERE / "voice.tcl"
SECONDS = 100
LIMITS = {"200 packets": 200, "42 packets": 42}
GROUPS = tuple(discard.MODELS[2])
Row = Mapping[str, float]


def in_ns2(program: str, limit: int, seed: int) -> dict[str, float]:
    """What each group sends, and the share of it that is dropped."""
    words = [program, str(SCRIPT), str(seed), str(SECONDS), str(limit)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    if done.returncode != 0:
        raise Ns2Error(f"ns-2 exited with {done.returncode}: {done.stderr.strip()[:500]}")
    arrived, dropped = dict.fromkeys(GROUPS, 0), dict.fromkeys(GROUPS, 0)
    for line in done.stdout.splitlines():
        node, group, arrivals, drops = (int(word) for word in line.split())
        name = f"g{group}"
        dropped[name] += drops
        if node == discard.MODELS[2][name][0]:
            arrived[name] = arrivals
    return {"sent": float(sum(arrived.values())), **{g: dropped[g] / arrived[g] for g in GROUPS}}


def scenario(limit: int, *, is_even: bool) -> Scenario:
    """The same here."""
    made = discard.scenario(discard.MODEL_2).with_({"duration": f"{SECONDS} s"})
    changes: dict[str, object] = {f"link.hop-{k}.queue.limit": f"{limit} packets" for k in discard.HOPS}
    if is_even:
        changes |= {f"link.hop-{k}.jitter": "0 s" for k in discard.HOPS}
    return made.with_(changes)


def in_crosswind(limit: int, reps: int, *, is_even: bool) -> list[dict[str, float]]:
    """As `in_ns2`, all repetitions."""
    flows = cw.run(scenario(limit, is_even=is_even), reps=reps).flows()
    group = pl.concat_str(pl.lit("g"), pl.col("group").str.slice(1, 1)).alias("name")
    sums = flows.group_by("rep", group).agg(pl.col("sent_packets").sum(), pl.col("drops_packets").sum())
    return [
        {
            "sent": float(run["sent_packets"].sum()),
            **{g: d / s for g, s, d in run.select("name", "sent_packets", "drops_packets").iter_rows()},
        }
        for run in sums.partition_by("rep")
    ]


def line(label: str, rows: Sequence[Row]) -> str:
    """Means and standard errors: packets sent (thousands), drops of each group (%)."""

    def both(key: str, scale: float, digits: int) -> str:
        values = np.array([r[key] for r in rows]) * scale
        return f"{values.mean():9.{digits}f} ±{values.std(ddof=1) / len(rows) ** 0.5:5.{digits}f}"

    return f"{label:28}" + both("sent", 1e-3, 1) + "".join(both(g, 100, 2) for g in GROUPS)


def main(arguments: list[str]) -> int:
    program = ns2_program()
    if program is None:
        print("ns-2 is not installed (Debian: apt-get install ns2)", file=sys.stderr)
        return 2
    reps = max(2, int(arguments[0])) if arguments else 10
    print(f"{'':28}{'sent (1000)':>16}" + "".join(f"{g + ' (%)':>16}" for g in GROUPS) + f"   {reps} repetitions")
    for name, limit in LIMITS.items():
        with ThreadPoolExecutor(max_workers=2) as pool:
            theirs = list(pool.map(lambda s, n=limit: in_ns2(program, n, s), range(1, reps + 1)))
        print(line(f"{name}: ns-2", theirs))
        print(line(f"{name}: Crosswind", in_crosswind(limit, reps, is_even=False)))
        print(line(f"{name}: Crosswind, fixed", in_crosswind(limit, reps, is_even=True)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

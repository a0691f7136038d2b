"""The diffserv module of ns-2 beside Crosswind: marks at the edge, drops by colour in the core, throughput by flow.

python -m validation.ns2.diffserv [--no-write]     runs all cases in both and writes docs/validation-diffserv.md

Nine SACK flows with contracts of 1, 2 and 5 Mbit/s and round trips of 30, 40 and 50 ms cross an edge with one meter
each and a core with one RIO or WRED queue. Crosswind's queue follows the steps of ns-2's (`profile = "ns2-diffserv"`);
everything else is what its scenarios have. Seeds do not correspond: distributions are compared, not runs.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import crosswind as cw
from crosswind import stats
from validation.compare import TOLERANCE
from validation.ns2.driver import TIMEOUT_S, Ns2Error, ns2_program, ns2_version

HERE = Path(__file__).parent
SCRIPT = HERE / "diffserv.tcl"
PAGE = HERE.parent.parent / "docs" / "validation-diffserv.md"
CONTRACTS = (1, 2, 5, 1, 2, 5, 1, 2, 5)
RTTS_MS = (30, 30, 30, 40, 40, 40, 50, 50, 50)
SECONDS = 50
SEEDS = 5
SEGMENT_BYTES = 960
WINDOW_SEGMENTS = 1000
POINTS = {"green": 10, "yellow": 12, "red": 14}


@dataclass(frozen=True)
class Case:
    """One meter and one core queue, in the terms of both.

    `more` are the meter's further arguments in ns-2: bytes, or minus the multiple of the committed rate.
    """

    name: str
    meter: str
    more: tuple[float, ...]
    here: Mapping[str, Any]
    mode: str = "RIO-C"
    average: str = "coupled"
    rate_mbps: float = 33.6
    colours: tuple[str, ...] = ("green", "yellow")
    keys: Mapping[str, float] = field(default_factory=dict)

    def meter_of(self, mbps: float) -> dict[str, Any]:
        """The meter of a contract; `keys` are rates that are multiples of the committed one."""
        rates = {k: f"{f * mbps:g} Mbit/s" for k, f in self.keys.items()}
        return {"cir": f"{mbps:g} Mbit/s", **self.here, **rates}


CASES = (
    Case("TSW2CM, RIO-C", "TSW2CM", (), {"type": "tsw2cm"}),
    Case("TSW2CM, RIO-C, 48 Mbit/s", "TSW2CM", (), {"type": "tsw2cm"}, rate_mbps=48.0),
    Case("TSW2CM, RIO-D", "TSW2CM", (), {"type": "tsw2cm"}, mode="RIO-D", average="own"),
    Case("TSW2CM, WRED", "TSW2CM", (), {"type": "tsw2cm"}, mode="WRED", average="total"),
    Case("TSW3CM, RIO-C", "TSW3CM", (-1.5,), {"type": "tsw3cm"}, colours=("green", "yellow", "red"), keys={"pir": 1.5}),
    Case("token bucket, RIO-C", "TokenBucket", (20000,), {"type": "token-bucket", "cbs": "20000 B"}),
    Case(
        "srTCM, RIO-C",
        "srTCM",
        (20000, 40000),
        {"type": "srtcm", "cbs": "20000 B", "ebs": "40000 B"},
        colours=("green", "yellow", "red"),
    ),
    Case(
        "trTCM, RIO-C",
        "trTCM",
        (20000, -1.5, 40000),
        {"type": "trtcm", "cbs": "20000 B", "pbs": "40000 B"},
        colours=("green", "yellow", "red"),
        keys={"pir": 1.5},
    ),
)


def in_ns2(case: Case, seed: int, program: str) -> dict[str, float]:
    """One run of ns-2."""
    arguments = {
        "seed": seed,
        "rate": case.rate_mbps,
        "mode": case.mode,
        "contracts": ",".join(map(str, CONTRACTS)),
        "rtts": ",".join(map(str, RTTS_MS)),
        "meter": case.meter,
        "more": ",".join(f"{x:g}" for x in case.more),
        "points": ",".join(str(POINTS[c]) for c in case.colours),
        "seconds": SECONDS,
    }
    words = [f"{k}={v}" for k, v in arguments.items()]
    done = subprocess.run(
        [program, str(SCRIPT), *words], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    if done.returncode != 0:
        raise Ns2Error(f"{case.name}: ns-2 exited with {done.returncode}: {done.stderr.strip()[:500]}")
    return read(case, done.stdout)


def read(case: Case, text: str) -> dict[str, float]:
    """The numbers of a run out of what ns-2 printed: the edge's statistics come first."""
    tables: list[dict[int, list[int]]] = []
    for line in text.splitlines():
        if line.startswith("Packets Statistics"):
            tables.append({})
        elif (row := re.fullmatch(r"\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)", line)) and tables:
            point, *numbers = map(int, row.groups())
            tables[-1][point] = numbers
    acked = [int(m.group(1)) for m in re.finditer(r"^flow \d+ (\d+)$", text, re.MULTILINE)]
    if len(tables) != 2 or len(acked) != len(CONTRACTS):
        raise Ns2Error(f"{case.name}: no totals in the output of ns-2: {text[:200]!r}")
    edge, core = tables
    out = {f"flow {k + 1}": n * 8000 / SECONDS / 1e6 for k, n in enumerate(acked)}
    for colour in case.colours:
        out[f"{colour} at the edge"] = edge.get(POINTS[colour], [0])[0]
        _, _, late, early = core.get(POINTS[colour], [0, 0, 0, 0])
        out[f"{colour} dropped"] = late + early
    return out


def scenario(case: Case) -> cw.Scenario:
    """The same as a scenario."""
    of = {"green": (100, 150, 0.02), "yellow": (50, 100, 0.1), "red": (20, 60, 0.2)}
    colours = {
        c: {"min_th": f"{low} packets", "max_th": f"{high} packets", "max_p": p} for c, (low, high, p) in of.items()
    }
    queue = {
        "type": "rio",
        "average": case.average,
        "profile": "ns2-diffserv",
        "limit": "200 packets",
        "wait": False,
        **colours,
    }
    wide = {"rate": "1 Gbit/s", "queue": {"limit": "100000 packets"}}
    links: dict[str, Any] = {
        "in": {"from": "edge", "to": "core", "delay": "1 ms", **wide},
        "core": {
            "from": "core",
            "to": "far",
            "rate": f"{case.rate_mbps:g} Mbit/s",
            "delay": "1 ms",
            "queue": queue,
            "reverse": {"rate": "1 Gbit/s", "queue": "droptail"},
        },
        "out": {"from": "far", "to": "sink", "delay": "1 ms", **wide},
    }
    flows, contracts = {}, {}
    for k, (mbps, rtt) in enumerate(zip(CONTRACTS, RTTS_MS, strict=True), start=1):
        links[f"host-{k}"] = {"from": f"host-{k}", "to": "edge", "delay": f"{rtt / 2 - 3:g} ms", **wide}
        flows[f"f{k}"] = {
            "from": f"host-{k}",
            "to": "sink",
            "start": {"uniform": ["0 s", "100 ms"]},
            "workload": {"type": "bulk"},
            "tcp": {
                "preset": "ns2-sack1",
                "mss": f"{SEGMENT_BYTES} B",
                "window_limit_segments": WINDOW_SEGMENTS,
                # ns-2 starts with a threshold of the whole window: the first slow start overflows the queue.
                "initial_ssthresh": f"{WINDOW_SEGMENTS * SEGMENT_BYTES} B",
            },
        }
        contracts[f"c{k}"] = {"domain": "all", "flow": f"f{k}", "class": "AF1", "meter": case.meter_of(mbps)}
    domain = {"all": {"nodes": ["edge", "core"]}}
    data = {"name": "diffserv", "duration": f"{SECONDS} s"}
    return cw.Scenario.from_dict({**data, "link": links, "flow": flows, "domain": domain, "contract": contracts})


def here(cases: Sequence[Case], seeds: int) -> list[list[dict[str, float]]]:
    """All runs of Crosswind, by case and repetition."""
    runs = cw.run({c.name: scenario(c) for c in cases}, reps=seeds)
    flows, edges, links = runs.flows(), runs.table("boundary"), runs.links()
    out: list[list[dict[str, float]]] = []
    for case in cases:
        of_case: list[dict[str, float]] = []
        for rep in range(seeds):
            own = [
                f.filter((f["configuration"] == case.name) & (f["rep"] == rep)).to_dicts()
                for f in (flows, edges, links)
            ]
            values = {f"flow {r['name'][1:]}": r["size_bytes"] / SEGMENT_BYTES * 8000 / SECONDS / 1e6 for r in own[0]}
            core = next(r for r in own[2] if r["link"] == "core" and r["direction"] == "forward")
            for c in case.colours:
                values[f"{c} at the edge"] = sum(r[f"left_{c}_packets"] for r in own[1])
                values[f"{c} dropped"] = core[f"{c}_early_drops_packets"] + core[f"{c}_full_drops_packets"]
            of_case.append(values)
        out.append(of_case)
    return out


@dataclass(frozen=True)
class Row:
    """One number of one case: means, and the difference of means with its 95 % interval."""

    case: str
    metric: str
    ns2: float
    crosswind: float
    difference: stats.Estimate

    @property
    def verdict(self) -> str:
        """`same`: the interval holds zero; `near`: within 5 %; else `differs`."""
        if self.difference.low <= 0 <= self.difference.high:
            return "same"
        near = abs(self.difference.value) <= TOLERANCE * max(abs(self.ns2), abs(self.crosswind))
        return "near" if near else "differs"


def _apart(a: Any, b: Any, axis: int = -1) -> Any:
    return np.mean(a, axis=axis) - np.mean(b, axis=axis)


def compare(case: Case, ns2: Sequence[Mapping[str, float]], own: Sequence[Mapping[str, float]]) -> list[Row]:
    """Every number of a case."""
    rows = []
    for metric in own[0]:
        a = np.array([o[metric] for o in own], dtype=float)
        b = np.array([n[metric] for n in ns2], dtype=float)
        if a.any() or b.any():
            rows.append(Row(case.name, metric, float(b.mean()), float(a.mean()), stats.estimate(_apart, a, b)))
    return rows


def page(rows: Sequence[Row], version: str) -> str:
    """docs/validation-diffserv.md."""
    near = sum(r.verdict != "differs" for r in rows)
    lines = [
        "# DiffServ beside ns-2",
        "",
        f"Written by `make validate`: {SEEDS} runs of {SECONDS} s of each case in ns-2 {version} and in Crosswind.",
        "Nine SACK flows with contracts of 1, 2 and 5 Mbit/s and round trips of 30, 40 and 50 ms, one meter each at",
        'the edge, one queue of 200 packets in the core (`profile = "ns2-diffserv"`). Throughput in Mbit/s, counts in',
        "packets.",
        "",
        f"{near} of {len(rows)} numbers show no difference that matters (`same`: the 95 % interval of the difference",
        "of means holds zero, which one in twenty does not even when both do the same; `near`: within 5 %).",
    ]
    for case in dict.fromkeys(r.case for r in rows):
        lines += ["", f"## {case}", "", "| | ns-2 | Crosswind | difference | verdict |", "|---|---|---|---|---|"]
        for r in (r for r in rows if r.case == case):
            d = r.difference
            change = f"{d.value:+.4g} ({d.low:+.3g} to {d.high:+.3g})"
            lines.append(f"| {r.metric} | {r.ns2:.5g} | {r.crosswind:.5g} | {change} | {r.verdict} |")
    return "\n".join(lines) + "\n"


def run(program: str, workers: int, seeds: int = SEEDS) -> list[Row]:
    """All cases in both simulators."""
    jobs = [(c, s) for c in CASES for s in range(1, seeds + 1)]
    with ThreadPoolExecutor(workers) as pool:
        outcomes = list(pool.map(lambda job: in_ns2(job[0], job[1], program), jobs))
    own = here(CASES, seeds)
    return [r for i, c in enumerate(CASES) for r in compare(c, outcomes[i * seeds : (i + 1) * seeds], own[i])]


def main(arguments: Sequence[str]) -> int:
    program = ns2_program()
    if program is None:
        print("ns-2 is not installed (Debian: apt-get install ns2); the diffserv cases were SKIPPED", file=sys.stderr)
        return 2
    rows = run(program, workers=2)
    if "--no-write" not in arguments:
        PAGE.write_text(page(rows, ns2_version(program)), encoding="utf-8")
        print(f"written: {PAGE}")
    return verdict(rows)


def verdict(rows: Sequence[Row]) -> int:
    """Prints what differs. A difference is no failure: the page shows it."""
    for r in (r for r in rows if r.verdict == "differs"):
        print(f"diffserv: {r.case}: {r.metric}: ns-2 {r.ns2:.4g}, Crosswind {r.crosswind:.4g}")
    print(f"diffserv: {sum(r.verdict != 'differs' for r in rows)} of {len(rows)} without a difference that matters")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

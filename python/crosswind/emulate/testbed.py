"""A whole scenario with real hosts: every flow a pair of real programs, results in the tables of a simulation."""

from __future__ import annotations

import contextlib
import json
import math
import multiprocessing
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl

from crosswind.core import core
from crosswind.emulate import hosts as machine
from crosswind.emulate import kernel, needs, processors, sandbox
from crosswind.emulate.network import Network
from crosswind.emulate.programs import is_stack, is_tcp, page_of, size_of, tasks_of
from crosswind.emulate.results import runs_of
from crosswind.errors import EXIT_INTERRUPTED, CrosswindError
from crosswind.results import Runs
from crosswind.run.wanted import Point
from crosswind.scenario import Scenario

WORKER = Path(__file__).with_name("worker.py")
STACK_END = Path(__file__).with_name("stack_end.py")
# From the moment when all programs are ready to the start of the run.
LEAD_ns = 300_000_000
READY_s = 30.0
SAMPLE_ns = 100_000_000
SAMPLED = ("cwnd_bytes", "ssthresh_bytes", "in_flight_bytes", "srtt_ns", "rto_ns")


def run(
    scenario: Scenario,
    *,
    seed: int,
    reps: int = 1,
    together: int = 1,
    pcap: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    made: list[Runs] | None = None,
) -> Runs:
    """Runs a scenario with real hosts, each repetition in a sandbox of its own.

    `together`: how many repetitions at a time. More than one is for slow links: all of them share the machine's cores,
    and each says in its manifest how late its packets were. `made`: the first repetitions, which an earlier call has
    made and this one only adds to.

    Ctrl-C returns what is finished, with `runs.interrupted` set; so does a repetition that breaks down, which
    `runs.failed` names. Raises what ends the first one, when there is nothing to return.
    """
    point = Point.of(scenario.name, scenario, seed)
    privileges = needs.check()
    if pcap is not None:
        needs.check_captures()
    began = time.monotonic()
    parts = made if made is not None else []
    if parts and point.stratified and parts[0].manifest["reps"] != reps:
        parts.clear()  # their strata are others
    jobs = [
        {
            "kind": "testbed",
            "scenario": scenario.data,
            "file": scenario.file,
            "text": scenario.text,
            "seed": seed,
            "rep": rep,
            "reps": reps,
            "together": together,
            "pcap": str(pcap.resolve()) if pcap else None,
        }
        for rep in range(len(parts), reps)
    ]
    ended: dict[str, Any] = {"interrupted": False, "failed": []}
    try:
        for part in repetitions(jobs, privileges, together):
            parts.append(part)
            if progress:
                progress(len(parts), reps)
    except KeyboardInterrupt:
        if not parts:
            raise
        ended["interrupted"] = True
    except CrosswindError as e:
        if not parts:
            raise
        lost = {"configuration": scenario.name, "rep": len(parts), "seed": seed}
        ended["failed"].append({**lost, "message": f"{e}; no further one was kept"})
    return joined(parts, scenario, reps, {"wall_s": round(time.monotonic() - began, 3), **ended})


def repetitions(jobs: list[dict[str, Any]], privileges: needs.Privileges, together: int) -> Iterator[Runs]:
    """The repetitions in order, some of them at a time."""
    if together == 1:
        for job in jobs:
            yield repetition(job, privileges)
        return
    # A process each: a sandbox ends with the thread that made it, and signals go to main threads.
    method = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(together, mp_context=method) as pool:
        yield from pool.map(repetition, jobs, [privileges] * len(jobs))


def repetition(job: dict[str, Any], privileges: needs.Privileges) -> Runs:
    """One repetition, from outside its sandbox."""
    with tempfile.TemporaryDirectory() as folder:
        code = sandbox.run({**job, "out": folder}, privileges)
        if code == EXIT_INTERRUPTED:
            raise KeyboardInterrupt
        if code != 0:
            raise CrosswindError(f"the emulation of repetition {job['rep']} ended with exit code {code}")
        runs = Runs.load(folder)
        runs.tables.hold()
        return runs


def joined(parts: list[Runs], scenario: Scenario, reps: int, facts: dict[str, Any]) -> Runs:
    """The repetitions as one set of runs; `facts` go into its manifest."""
    names = list(dict.fromkeys(n for p in parts for n in p.tables))
    tables = {n: pl.concat([p.tables[n] for p in parts if n in p.tables], how="diagonal_relaxed") for n in names}
    manifest = dict(parts[0].manifest)
    manifest.update(reps=reps, reps_total=reps, runs=len(parts), **facts)
    manifest["warnings"] = list(dict.fromkeys(w for p in parts for w in p.manifest["warnings"]))
    manifest["trusted"] = all(p.manifest["trusted"] for p in parts)
    manifest["machine"] = max((p.manifest["machine"] for p in parts), key=lambda m: float(m["lateness"]["p99_ns"]))
    out = Runs(tables, {scenario.name: scenario}, manifest)
    manifest["warnings"] += out.warnings()
    manifest["trusted"] = manifest["trusted"] and out.may_be_trusted()
    return out


def inside(job: dict[str, Any]) -> int:
    """One repetition, in the sandbox."""
    scenario = Scenario(job["scenario"], job.get("file"), job.get("text") or "")
    machine.prepare()
    network = Network.build(scenario, seed=job["seed"], rep=job["rep"], reps=job["reps"])
    machine.names(network.hosts)
    flows = network.plan["flows"]
    tasks = tasks_of(network, seed=job["seed"], rep=job["rep"])
    network.open()
    warnings = []
    for i, host in enumerate(network.hosts):
        own = [f for f in flows if i in (f["from"], f["to"]) and is_tcp(f)]
        warnings += kernel.prepare(host, own, network.plan["sysctl"])
    sample_ns = network.plan["sample_ns"] or SAMPLE_ns
    with captures(network, job.get("pcap"), f"-rep{job['rep']}" if job["reps"] > 1 else ""):
        said, result = perform(network, tasks, sample_ns, company=job.get("together", 1))
    result["warnings"] = [*result["warnings"], *warnings]
    save(network, job, said, result)
    return 0


@contextlib.contextmanager
def captures(network: Network, folder: str | None, repetition: str) -> Iterator[None]:
    """A capture at every host, by tcpdump, while the block runs. Files are named as those of simulations."""
    if folder is None:
        yield
        return
    running = []
    for h in network.hosts:
        file = f"{folder}/{h.name}{repetition}.pcap"
        command = h.inside(["tcpdump", "-i", machine.DEVICE, "-s", "128", "-U", "-w", file, "-Z", "root"])
        running.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    time.sleep(0.3)
    try:
        yield
    finally:
        time.sleep(0.2)
        for p in running:
            p.terminate()
            p.wait(5)


def perform(
    network: Network, tasks: dict[str, list[dict[str, Any]]], sample_ns: int, *, company: int
) -> tuple[dict[int, dict[str, Any]], dict[str, Any]]:
    """Starts the programs and the driver, waits for the end; what each flow said, and the driver's result.

    `company`: how many repetitions start at the same time as this one.
    """
    if is_alone := company == 1:
        # Before any program starts, so that all keep off the driver's processor.
        processors.clear()
    busy = {h: t for h, t in tasks.items() if t}
    ready = threading.Semaphore(0)
    said: dict[int, dict[str, Any]] = {}
    start_ns = time.monotonic_ns() + int(READY_s * 1e9)
    programs: list[subprocess.Popen[str]] = []
    readers = []
    # The start is announced when all listen: the worker learns it with its job, so listeners get theirs first.
    start_ns = time.monotonic_ns() + LEAD_ns + 400_000_000 * (1 + len(busy) // 4) * company
    job = {"start_ns": start_ns, "stop_ns": network.plan["duration_ns"], "sample_ns": sample_ns}
    for command, own in commands(network, busy):
        p = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert p.stdin is not None
        p.stdin.write(json.dumps({**job, "tasks": own}))
        p.stdin.close()
        programs.append(p)
        reader = threading.Thread(target=listen, args=(p, said, ready), daemon=True)
        reader.start()
        readers.append(reader)
    listeners = sum(t["do"].startswith(("receive", "answer")) for own in busy.values() for t in own)
    for _ in range(listeners):
        if not ready.acquire(timeout=READY_s):
            raise machine.SetupError("a receiving program did not begin to listen")
    late_ns = time.monotonic_ns() - start_ns
    network.start(start_ns=start_ns, stop_ns=network.plan["duration_ns"], sample_ns=sample_ns, is_alone=is_alone)
    until = start_ns / 1e9 + network.plan["duration_ns"] / 1e9 + 1.0
    for p in programs:
        with contextlib.suppress(subprocess.TimeoutExpired):
            p.wait(max(0.1, until - time.monotonic()))
    result = network.stop()
    for p in programs:
        if p.poll() is None:
            p.kill()
    for reader in readers:
        reader.join(2.0)
    if late_ns > 0:
        result["warnings"].append(f"not to be trusted: the programs were ready {late_ns / 1e6:.0f} ms after the start")
    return said, result


def commands(
    network: Network, busy: dict[str, list[dict[str, Any]]]
) -> Iterator[tuple[list[str], list[dict[str, Any]]]]:
    """The programs of each host, with their tasks: one for what the kernel carries, one for real stacks."""
    for name, tasks in busy.items():
        ours = [t for t in tasks if t["do"].endswith("-stack")]
        others = [t for t in tasks if t not in ours]
        python = [sys.executable, "-I", "-S"]
        if others:
            yield network.host(name).inside([*python, str(WORKER)]), others
        if ours:
            yield network.host(name).inside([*python, str(STACK_END), str(core().__file__)]), ours


def listen(p: subprocess.Popen[str], said: dict[int, dict[str, Any]], ready: threading.Semaphore) -> None:
    """Gathers what a program says, by flow."""
    assert p.stdout is not None
    for line in p.stdout:
        fact = json.loads(line)
        if "ready" in fact:
            ready.release()
        else:
            said.setdefault(fact.pop("flow"), {}).update(fact)


def save(network: Network, job: dict[str, Any], said: dict[int, dict[str, Any]], result: dict[str, Any]) -> None:
    """Writes the tables of one repetition."""
    facts = {"warnings": result["warnings"], "machine": result["machine"], "view": result["view"]}
    runs = runs_of(network.scenario, result["tables"], facts, seed=job["seed"], reps=job["reps"])
    end_ns = result["view"]["time_ns"]
    key = {"configuration": network.scenario.name, "rep": job["rep"]}
    rows = [key | flow_row(f, said.get(f["flow"], {}), result, end_ns) for f in network.plan["flows"]]
    runs.tables["flow"] = pl.DataFrame(rows, infer_schema_length=None)
    for f in network.plan["flows"]:
        f["seen"] = result["view"]["flows"][f["flow"]]
    for name, found in page_tables(network.plan, said).items():
        if found:
            runs.tables[name] = pl.DataFrame([key | row for row in found], infer_schema_length=None)
    closed = [r["close_ns"] >= 0 for r in rows if r["is_finite"]]
    over = bool(closed) and all(closed) and len(closed) == len(rows)
    outcome = pl.lit("all flows closed" if over else "duration reached").alias("outcome")
    runs.tables["run"] = runs.tables["run"].with_columns(outcome)
    runs.tables["flow"] = runs.tables["flow"].drop("is_finite")
    samples = [key | row for f in network.plan["flows"] for row in sample_rows(f, said.get(f["flow"], {}))]
    if samples and network.plan["sample_ns"]:
        frames = [f for f in (runs.tables.get("sample"),) if f is not None]
        runs.tables["sample"] = pl.concat([*frames, pl.DataFrame(samples)], how="diagonal_relaxed")
    events = [key | row for f in network.plan["flows"] for row in event_rows(f, said.get(f["flow"], {}))]
    if events and (named := network.scenario.get("record.events")):
        logged = [f["flow"] for f in network.plan["flows"] if named == "all" or {f["name"], f["group"]} & set(named)]
        runs.tables["event"] = pl.DataFrame(events).filter(pl.col("flow").is_in(logged)).sort("time_ns")
    for f in network.plan["flows"]:
        if "error" in said.get(f["flow"], {}):
            runs.manifest["warnings"].append(f"flow {f['name']}: {said[f['flow']]['error']}")
    runs.save(job["out"])


def flow_row(f: dict[str, Any], s: dict[str, Any], result: dict[str, Any], end_ns: int) -> dict[str, Any]:
    """One row of the flow table; what a kernel does not tell is missing."""
    i = s.get("info", {})
    open_ns, close_ns = s.get("open_ns", -1), s.get("close_ns", -1)
    elapsed_ns = close_ns - open_ns if close_ns >= 0 else -1
    until = close_ns if close_ns >= 0 else end_ns
    active_s = (until - open_ns) / 1e9 if open_ns >= 0 and until > open_ns else math.nan
    if not is_tcp(f) and not is_stack(f):
        # As simulations have it: from the first to the last packet of each burst.
        active_s = s.get("span_ns", 0) / 1e9 or math.nan
    received = s.get("received_bytes", 0)
    drops, lost, marks = result["view"]["flows"][f["flow"]]
    mss = max(1, i.get("snd_mss", 1))
    row = {
        "flow": f["flow"],
        "name": f["name"],
        "group": f["group"],
        "protocol": f["transport"],
        "is_finite": is_finite(f["workload"]),
        "start_ns": f["start_ns"],
        "open_ns": open_ns,
        "close_ns": close_ns,
        "elapsed_ns": elapsed_ns,
        "outcome": outcome_of(f["workload"], s),
        "size_bytes": received,
        "goodput_bps": received * 8 / active_s,
        "sent_packets": i.get("segs_out", s.get("sent_packets", -1)),
        "drops_packets": drops,
        "lost_packets": lost,
        "marks_packets": marks,
        **quantiles("rtt", s.get("rtts", [])),
        **quantiles("delay", s.get("delays", [])),
        **{f"queue_delay_{k}_ns": v for k, v in result["view"]["queue_delays_ns"][f["flow"]].items()},
    }
    if is_tcp(f):
        row |= {
            "retransmitted_packets": i.get("total_retrans", -1),
            "retransmitted_bytes": i.get("bytes_retrans", -1),
            "timeouts": i.get("total_rto", -1),
            "cwnd_max_bytes": s.get("cwnd_max", math.nan),
            "ssthresh_bytes": i["snd_ssthresh"] * mss if i.get("snd_ssthresh", 1 << 31) < 1 << 30 else math.nan,
            "rtt_min_ns": float(i["min_rtt"] * 1000) if i.get("min_rtt", 0) not in (0, 0xFFFFFFFF) else math.nan,
        }
    elif is_stack(f):
        row |= {"cwnd_max_bytes": s.get("cwnd_max", math.nan), "received_packets": s.get("received_packets", 0)}
        row |= {name: math.nan if value is None else float(value) for name, value in s.get("stack", {}).items()}
    else:
        row |= {"received_packets": s.get("received_packets", 0), "received_bytes": received}
        row |= {"jitter_mean_ns": jitter(s.get("delays", []))}
    if f["workload"]["type"] == "ping":
        ways = quantiles("reply_delay", s.get("reply_delays", []))
        row |= {"reply_packets": s.get("reply_packets", 0), "reply_delay_p50_ns": ways["reply_delay_p50_ns"]}
    return row


def outcome_of(workload: dict[str, Any], s: dict[str, Any]) -> str:
    """What became of a flow, in the words of simulations: what the receiving program got decides."""
    kind = workload["type"]
    wanted = size_of(workload.get("size")) if kind == "bulk" else None
    has_end = {"page": True, "bulk": wanted is not None, "on-off": workload.get("bursts") is not None}
    if not has_end.get(kind, workload.get("packets") is not None):
        return "endless" if "error" not in s else "gave up"
    if kind == "page":
        is_complete = s.get("done_ns", -1) >= 0
    else:
        is_complete = s.get("all_sent", False) if wanted is None else s.get("received_bytes", 0) >= wanted
    if is_complete:
        return "complete"
    if "error" in s:
        return "gave up"
    return "cut off" if s.get("open_ns", -1) >= 0 else "not opened"


def is_finite(workload: dict[str, Any]) -> bool:
    """Whether a flow ends by itself."""
    if workload["type"] == "bulk":
        return workload.get("size") is not None and workload.get("close", "fin") == "fin"
    return workload["type"] == "page"


def page_tables(plan: dict[str, Any], said: dict[int, dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The tables `page` and `object`: what a reader of the page waits for."""
    pages: dict[str, dict[str, Any]] = {}
    objects = []
    for f in plan["flows"]:
        if f["workload"]["type"] != "page":
            continue
        member, connection = page_of(f)
        s = said.get(f["flow"], {})
        opened, done = s.get("open_ns", -1), s.get("done_ns", -1)
        drops, lost, marks = f["seen"]
        size, timeouts = s.get("received_bytes", 0), s.get("info", {}).get("total_rto", 0)
        objects.append(
            {"flow": f["flow"], "name": f["name"], "page": member, "object": connection, "open_ns": opened}
            | {"first_byte_ns": s.get("first_byte_ns", -1), "done_ns": done, "size_bytes": size}
            | {"response_ns": done - opened if done >= 0 else -1, "outcome": outcome_of(f["workload"], s)}
        )
        sums = {"size_bytes": 0, "drops_packets": 0, "lost_packets": 0, "marks_packets": 0, "timeouts": 0}
        page = pages.setdefault(member, {"name": member, "group": f["group"], "open_ns": opened, "done_ns": 0, **sums})
        page["done_ns"] = -1 if done < 0 or page["done_ns"] < 0 else max(page["done_ns"], done)
        for key, n in zip(sums, (size, drops, lost, marks, timeouts), strict=True):
            page[key] += n
    for page in pages.values():
        page["response_ns"] = page["done_ns"] - page["open_ns"] if page["done_ns"] >= 0 else -1
        all_of_it = [o["outcome"] for o in objects if o["page"] == page["name"]]
        page["outcome"] = next((o for o in ("gave up", "cut off", "not opened") if o in all_of_it), "complete")
    return {"page": list(pages.values()), "object": objects}


def quantiles(what: str, values: list[int]) -> dict[str, float]:
    names = [f"{what}_{q}_ns" for q in ("min", "mean", "p50", "p95", "p99", "max")]
    if not values:
        return dict.fromkeys(names, math.nan)
    v = pl.Series(values, dtype=pl.Float64)
    found = (v.min(), v.mean(), *(v.quantile(q) for q in (0.5, 0.95, 0.99)), v.max())
    return dict(zip(names, found, strict=True))  # type: ignore[arg-type]


def jitter(delays: Sequence[int]) -> float:
    """Mean difference, in size, of the delays of packets that arrive one after the other; NaN before the second."""
    return sum(abs(b - a) for a, b in pairwise(delays)) / (len(delays) - 1) if len(delays) > 1 else math.nan


def event_rows(f: dict[str, Any], s: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What a program knows of events: pings that were answered, reductions of a real stack's window."""
    for time_ns, before, after, why in s.get("cuts", []):
        kind = "ecn_reduce" if why == "mark" else "recovery"
        row = {"time_ns": time_ns, "flow": f["flow"], "end": "sender", "kind": kind}
        yield row | {"seq": after, "len": 0, "aux": before}
    for number, asked_ns, heard_ns, size in s.get("heard", []):
        for time_ns, kind in ((asked_ns, "send"), (heard_ns, "receive")):
            row = {"time_ns": time_ns, "flow": f["flow"], "end": "sender", "kind": kind}
            yield row | {"seq": number, "len": size, "aux": 0}


def sample_rows(f: dict[str, Any], s: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Time series of one flow: what TCP_INFO told, and goodput at the receiver."""
    for row in s.get("samples", []):
        for metric, value in zip(SAMPLED, row[1:], strict=True):
            if value >= 0:
                yield {"time_ns": row[0], "entity": f["name"], "metric": metric, "value": float(value)}
    before = [0, 0]
    for point in s.get("points", []):
        if point[0] > before[0]:
            value = (point[1] - before[1]) * 8e9 / (point[0] - before[0])
            yield {"time_ns": point[0], "entity": f["name"], "metric": "goodput_bps", "value": value}
        before = point

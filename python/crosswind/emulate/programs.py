"""From the workloads of a scenario to what the programs of each host have to do."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from crosswind.emulate import kernel
from crosswind.emulate.network import Network
from crosswind.errors import InputError
from crosswind.scenario.quantity import parse

UDP_IP_HEADER_bytes = 28
# Real stacks that can be given a socket.
OVER_UDP = ("quinn", "noq")
AUDIO_INTERVAL_ns = 20_000_000
PING_INTERVAL_ns = 1_000_000_000
LINGER_ns = 15_000_000_000
# More would be another kind of traffic than one program can make.
BURSTS_MAX = 100_000


def tasks_of(network: Network, *, seed: int = 1, rep: int = 0) -> dict[str, list[dict[str, Any]]]:
    """What the programs of each host have to do, by the name of the host."""
    tasks: dict[str, list[dict[str, Any]]] = {h.name: [] for h in network.hosts}
    stop_ns = network.plan["duration_ns"]
    pages: dict[str, dict[str, Any]] = {}
    for f in network.plan["flows"]:
        kind = f["workload"]["type"]
        sender, receiver = network.hosts[f["from"]], network.hosts[f["to"]]
        common = {key: f[key] for key in ("flow", "port", "start_ns")} | {"to": receiver.v4, "dscp": f.get("dscp", 0)}
        # Lifetimes are those of data: answers and acknowledgements carry none.
        option = {"ip_option": f.get("ip_option")}
        if kind == "page":
            member, connection = page_of(f)
            if connection == 0:
                # The browser opens the connections: it is the receiver of what the server sends.
                pages[member] = common | {"to": sender.v4, "mss": kernel.segment(f), **page_task(f)}
                tasks[receiver.name].append(pages[member])
            one = connection_of(f, connection)
            pages[member]["connections"].append(one)
            tasks[sender.name].append(common | option | one | answer_task(f))
            continue
        if is_stack(f):
            there, here = stack_tasks(f, f"{seed}/{rep}")
        elif kind == "bulk":
            common |= {"mss": kernel.segment(f)}
            there, here = bulk_tasks(f)
        else:
            rng = random.Random(f"{seed}/{rep}/{f['name']}/bursts")
            there, here = datagram_tasks(f, stop_ns, rng)
            if is_tcp(f):
                common |= {"mss": kernel.segment(f)}
                there |= {"do": "send-messages", "congestion": kernel.congestion(f)}
                here = {"do": "receive-bulk", "receive_buffer": kernel.receive_buffer(f)}
        tasks[sender.name].append(common | option | there)
        tasks[receiver.name].append(common | here)
    return tasks


def is_tcp(f: dict[str, Any]) -> bool:
    """Whether a flow of the plan runs over the kernel's TCP; the others are datagrams or real stacks."""
    return bool(f["transport"] == "tcp")


def is_stack(f: dict[str, Any]) -> bool:
    """Whether a flow of the plan runs over a real stack, which is a program here."""
    return f.get("stack") is not None


def stack_tasks(f: dict[str, Any], seeds: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The two ends of a transfer over a real stack. Raises InputError for what only a simulation can do."""
    path, w = f"flow.{f['group']}", f["workload"]
    if f["transport"] not in OVER_UDP:
        raise InputError(
            f"{path}.transport.type", found=f"`{f['transport']}` in an emulation",
            expected=f"a stack whose packets are datagrams: {', '.join(OVER_UDP)}",
        )  # fmt: skip
    if w["type"] != "bulk" or w.get("close", "fin") != "fin" or w.get("write") is not None:
        raise InputError(
            f"{path}.workload", found=f"`{w['type']}` over a real stack in an emulation",
            expected='`bulk`, with a `size` or without: { type = "bulk" }',
        )  # fmt: skip
    if f.get("dscp") or f.get("ip_option"):
        raise InputError(
            path, found="a code point or a lifetime over a real stack in an emulation", expected="a flow without"
        )
    seed = random.Random(f"{seeds}/{f['name']}/stack").getrandbits(63)
    both = {"stack": f["stack"], "seed": seed}
    return both | {"do": "send-stack", "size": size_of(w.get("size"))}, both | {"do": "receive-stack"}


def bulk_tasks(f: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The two ends of a transfer."""
    w = f["workload"]
    simulated = sorted(set(w) - {"type", "size", "write", "close"})
    if simulated:
        raise InputError(
            f"flow.{f['group']}.workload.{simulated[0]}",
            found=f"`{w[simulated[0]]}` in an emulation",
            expected="nothing: real programs send and read as fast as they can",
        )
    sender = {
        "do": "send-bulk",
        "size": size_of(w.get("size")),
        "write": size_of(w.get("write")),
        "close": w.get("close", "fin"),
        "congestion": kernel.congestion(f),
    }
    return sender, {"do": "receive-bulk", "receive_buffer": kernel.receive_buffer(f)}


def page_of(f: dict[str, Any]) -> tuple[str, int]:
    """The page that a connection belongs to, and its number there; the first one is that of the body."""
    member = f["name"].split("/", 1)[0]
    return member, int(f["connection"])


def page_task(f: dict[str, Any]) -> dict[str, Any]:
    return {"do": "load-page", "parallel": int(f["workload"]["parallel"]), "connections": []}


def connection_of(f: dict[str, Any], connection: int) -> dict[str, Any]:
    w = f["workload"]
    request, size = ("request", "body") if connection == 0 else ("object_request", "object")
    return {"flow": f["flow"], "port": f["port"], "request": size_of(w[request]), "size": size_of(w[size])}


def answer_task(f: dict[str, Any]) -> dict[str, Any]:
    own = {"do": "answer-page", "write": size_of(f["workload"].get("write")), "congestion": kernel.congestion(f)}
    return own | {"mss": kernel.segment(f)}


def datagram_tasks(f: dict[str, Any], stop_ns: int, rng: random.Random) -> tuple[dict[str, Any], dict[str, Any]]:
    """The two ends of a stream of datagrams."""
    w = f["workload"]
    answers = w["type"] == "ping"
    interval_ns = interval_of(w)
    bursts = list(bursts_of(w, f["start_ns"], stop_ns, interval_ns, rng))
    known = [n for _, n in bursts if n is not None]
    total = sum(known) if len(known) == len(bursts) else None
    sender = {
        "do": "send-datagrams",
        "payload": size_of(w.get("payload")) or 32,
        "interval_ns": interval_ns,
        "bursts": bursts,
        "answers": answers,
    }
    receiver: dict[str, Any] = {"do": "receive-datagrams", "packets": total, "answers": answers}
    if total is not None and bursts:
        # What has not come by then is lost.
        sender["until_ns"] = receiver["until_ns"] = bursts[-1][0] + (known[-1] - 1) * interval_ns + LINGER_ns
    return sender, receiver


def bursts_of(
    w: dict[str, Any], start_ns: int, stop_ns: int, interval_ns: int, rng: random.Random
) -> Iterator[tuple[int, int | None]]:
    """When each burst begins and how many packets it has. What is drawn has the laws of the simulator, not its dice."""
    if w["type"] != "on-off":
        packets, at = w.get("packets"), start_ns
        for _ in range(int(w.get("bursts", 1))):
            yield at, packets
            if packets is None or at > stop_ns:
                return
            at += packets * interval_ns + draw(w.get("idle"), rng)
        return
    left = w.get("bursts")
    at = start_ns + (draw(w["off"], rng) if w.get("first", "on") == "off" else 0)
    count = 0
    while at < stop_ns and (left is None or count < left) and count < BURSTS_MAX:
        spans = draw(w["on"], rng) / interval_ns
        packets = max(1, int(spans + 0.5) if w.get("rounding") == "nearest" else -int(-spans // 1))
        yield at, packets
        at += packets * interval_ns + draw(w["off"], rng)
        count += 1


def draw(written: Any, rng: random.Random) -> int:
    """A span of time in nanoseconds: fixed, or drawn from the rule that the scenario writes."""
    if not isinstance(written, dict):
        return span_of(written)
    ((rule, value),) = written.items()
    if rule == "uniform":
        return int(rng.uniform(span_of(value[0]), span_of(value[1])))
    if rule == "exponential":
        return int(rng.expovariate(1.0) * span_of(value))
    mean, shape = span_of(value["mean"]), float(value["shape"])
    return int(mean * (shape - 1) / shape * rng.paretovariate(shape))


def span_of(written: Any) -> int:
    """A duration as written, in nanoseconds."""
    found = parse(written)
    return int(found.value) if found else 0


def size_of(written: Any) -> int | None:
    """A size as written, in bytes."""
    found = parse(written)
    return int(found.value) if found else None


def interval_of(w: dict[str, Any]) -> int:
    """Time from one datagram to the next, from whichever key is there."""
    if interval := parse(w.get("interval")):
        return int(interval.value)
    if rate := parse(w.get("rate")):
        return int((size_of(w["payload"]) or 0) + UDP_IP_HEADER_bytes) * 8 * 1_000_000_000 // int(rate.value)
    return PING_INTERVAL_ns if w["type"] == "ping" else AUDIO_INTERVAL_ns

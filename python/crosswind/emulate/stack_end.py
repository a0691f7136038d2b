"""Ends of flows over real stacks, on one host: reads tasks as JSON, writes what happened as lines of JSON.

A program of its own in the place of the host, as `worker` is, with the words of that. It needs nothing but Python and
the engine, whose file its command line names: nothing else is imported, so that it is ready at once.
"""

import importlib.util
import json
import sys
import threading

_lock = threading.Lock()
#: What each end is asked for: what the sender saw of the connection, what the receiver got.
SENDER = ("open_ns", "close_ns", "sent_packets", "samples", "cuts", "stack", "cwnd_max", "rtts", "error", "late_p99_ns")
RECEIVER = ("received_bytes", "last_ns", "points", "received_packets")


def engine(file):
    """The engine from its file, without the package around it."""
    found = importlib.util.spec_from_file_location("_core", file)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def say(**facts):
    """One line for whoever started this."""
    with _lock:
        print(json.dumps(facts), flush=True)


def told(seen):
    """What the engine saw, in the words of the other programs."""
    rtts = [row[4] for row in seen["samples"] if row[4] > 0]
    windows = [row[1] for row in seen["samples"]]
    facts = {**seen, "rtts": rtts, "cwnd_max": max(windows, default=0)}
    # A stack has no timer of the kind that TCP tells.
    facts["samples"] = [[*row, -1] for row in seen["samples"]]
    if seen["failure"]:
        facts["error"] = seen["failure"]
    return facts


def end(core, task, job):
    """One end, until its time is up."""
    is_sender = task["do"] == "send-stack"
    request = {
        "transport": task["stack"], "server": f"{task['to']}:{task['port']}", "is_client": is_sender,
        "size_bytes": task.get("size"), "start_ns": job["start_ns"], "open_ns": task["start_ns"],
        "stop_ns": job["stop_ns"], "sample_ns": job["sample_ns"], "seed": task["seed"],
    }  # fmt: skip

    def listening():
        if not is_sender:
            say(ready=task["flow"])

    try:
        facts = told(json.loads(core.stack_over_udp(json.dumps(request), listening)))
    except (OSError, ValueError) as e:
        say(flow=task["flow"], error=str(e))
        return
    say(flow=task["flow"], **{k: facts[k] for k in (SENDER if is_sender else RECEIVER) if k in facts})


def main():
    core, job = engine(sys.argv[1]), json.loads(sys.stdin.read())
    threads = [threading.Thread(target=end, args=(core, t, job), daemon=True) for t in job["tasks"]]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


if __name__ == "__main__":
    main()

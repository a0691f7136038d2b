"""A command in the place of one host, with programs of the scenario in the place of others. Runs inside the sandbox."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crosswind.emulate import hosts as machine
from crosswind.emulate import uplink
from crosswind.emulate.control import Door
from crosswind.emulate.hosts import Host
from crosswind.emulate.network import Network
from crosswind.scenario import Scenario

GRACE_s = 2.0
SETTLE_s = 0.02


def session(job: dict[str, Any]) -> int:
    """Runs the job's command; its exit code is the result."""
    scenario = Scenario(job["scenario"], job.get("file"), job.get("text") or "")
    machine.prepare()
    network = Network.build(scenario, seed=job["seed"])
    ends = job.get("uplink")
    machine.names(network.hosts, is_alone=ends is None)
    network.open(gateway=network.uplink if ends else None)
    if ends:
        uplink.connect(network.uplink, ends)
    network.start(sample_ns=network.plan["sample_ns"] if job.get("out") else None, tape=job.get("tape"))
    code = 1
    with servers(network), Door.open(network, job.get("door")):
        try:
            code = foreground(network, job)
        finally:
            result = network.stop()
            report(network, result, job, code)
    return code


@contextlib.contextmanager
def servers(network: Network) -> Iterator[None]:
    """The programs of `emulate.serve`, ready to be talked to."""
    running: list[subprocess.Popen[bytes]] = []
    try:
        for name, serve in network.plan["serve"].items():
            host = network.host(serve["node"])
            command = host.inside(["sh", "-c", serve["command"]])
            log = machine.OWN / f"{name}.log"
            with log.open("wb") as out:
                process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
            running.append(process)
            if not machine.wait_for_server(host, process):
                said = log.read_text(errors="replace").strip().splitlines()[-3:]
                raise machine.SetupError(
                    f"emulate.serve.{name}: `{serve['command']}` ended with exit code {process.returncode}: "
                    + " / ".join(said)
                )
        yield
    finally:
        for process in running:
            end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Asks a program to end, and makes it end after a while."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(GRACE_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def foreground(network: Network, job: dict[str, Any]) -> int:
    """Runs the command, or a shell that says where it is."""
    host = network.client
    command = job["command"] or shell(network, host)
    environment = {**os.environ, "CROSSWIND_SCENARIO": network.plan["name"], "CROSSWIND_HOST": host.name}
    process = subprocess.Popen(host.inside([*as_caller(), *command]), env=environment)
    try:
        code = process.wait(job.get("seconds"))
    except subprocess.TimeoutExpired:
        end(process)
        code = 0
    except BaseException:
        end(process)
        raise
    time.sleep(SETTLE_s)
    return 128 - code if code < 0 else code


def as_caller() -> list[str]:
    """With sudo the command runs as whoever called it."""
    user, group = os.environ.get("SUDO_UID"), os.environ.get("SUDO_GID")
    if os.geteuid() != 0 or not user or not group or not user.isdigit() or not group.isdigit():
        return []
    return ["setpriv", f"--reuid={user}", f"--regid={group}", "--init-groups"]


def shell(network: Network, host: Host) -> list[str]:
    """An interactive shell whose prompt names the scenario and the host."""
    program = os.environ.get("SHELL", "/bin/sh")
    mark = f"[{network.plan['name']}:{host.name}] "
    if Path(program).name == "bash":
        rc = machine.OWN / "bashrc"
        rc.write_text(f'[ -f ~/.bashrc ] && . ~/.bashrc\nPS1="{mark}$PS1"\n', encoding="utf-8")
        rc.chmod(0o644)
        return [program, "--rcfile", str(rc), "-i"]
    os.environ["PS1"] = mark + "$ "
    return [program, "-i"]


def report(network: Network, result: dict[str, Any], job: dict[str, Any], code: int) -> None:
    """What went through the links, on stderr (the command owns stdout) or as JSON where it was asked for."""
    facts = {
        "scenario": network.plan["name"],
        "host": network.client.name,
        "exit_code": code,
        "trusted": not result["warnings"],
        "warnings": result["warnings"],
        "machine": result["machine"],
        **result["view"],
    }
    if job.get("out"):
        from crosswind.emulate.results import save_session

        save_session(network, result, {**facts, "view": result["view"]}, Path(job["out"]), job)
    if job.get("json"):
        print(json.dumps(facts), flush=True)
        return
    if job.get("quiet"):
        return
    from crosswind.emulate.view import summary_lines

    for line in summary_lines(facts):
        print(line, file=sys.stderr)

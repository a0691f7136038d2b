"""Every queue that there is between real programs, for a second: it carries a download and decides as its tape says."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from test_emulate import emulate, emulates

import crosswind as cw

FILE_bytes = 60_000
SCENARIO = """\
name = "pair"
duration = "1 h"

[link.path]
from = "server"
to = "client"
rate = "2 Mbit/s"
delay = "5 ms"
queue = { type = "QUEUE" }
reverse = { queue = { type = "droptail", limit = "100 packets" } }

[flow.download]
from = "server"
to = "client"
workload = { type = "bulk", size = "100 kB" }

[emulate]
client = "client"

[emulate.serve.web]
node = "server"
command = "exec PYTHON -m http.server --directory FOLDER 8000"
"""
FETCH = (
    "import threading, urllib.request as u; "
    "get = lambda: print(f'{len(u.urlopen(\"http://server:8000/file\").read())}\\n', end=''); "  # one write a line
    "both = [threading.Thread(target=get) for _ in range(2)]; [t.start() for t in both]; [t.join() for t in both]"
)
QUEUES = [r["name"] for r in cw.registry("queue")]


@emulates
@pytest.mark.parametrize("name", QUEUES)
def test_every_queue_carries_real_programs_and_decides_as_its_tape_says(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(FILE_bytes))
    scenario, tape = tmp_path / "pair.toml", tmp_path / "tape"
    text = SCENARIO.replace("QUEUE", name).replace("FOLDER", str(tmp_path)).replace("PYTHON", sys.executable)
    scenario.write_text(text)
    code, out, err = emulate(str(scenario), "--tape", str(tape), "--quiet", "--", sys.executable, "-c", FETCH)
    assert (code, out.split()) == (0, [str(FILE_bytes)] * 2), f"{name}: {out}\n{err}"
    code, out, err = emulate("--play", str(tape), "--json")
    played = json.loads(out)
    assert code == 0 and played["is_identical"] and played["decisions"] > 2 * FILE_bytes / 1500, f"{name}: {out}\n{err}"


@emulates
def test_a_filter_may_name_the_flows_of_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(bytes(FILE_bytes))
    filters = '[{ class = "first", flow = "download" }]'
    classes = f'default = "rest", class = {{ first = {{ prio = 0 }}, rest = {{ prio = 1 }} }}, filter = {filters}'
    text = SCENARIO.replace('type = "QUEUE"', f'type = "prio", {classes}')
    scenario = tmp_path / "pair.toml"
    scenario.write_text(text.replace("FOLDER", str(tmp_path)).replace("PYTHON", sys.executable))
    code, out, err = emulate(str(scenario), "--quiet", "--", sys.executable, "-c", FETCH)
    assert (code, out.split()) == (0, [str(FILE_bytes)] * 2), err

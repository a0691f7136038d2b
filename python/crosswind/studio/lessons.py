"""Lessons."""

from __future__ import annotations

from typing import Any

FIRST = """# Ten downloads share one bottleneck. Move a slider, or edit this text: every change runs at once.
name = "ten"
title = "Ten downloads share 50 Mbit/s"
duration = "30 s"

[link.bottleneck]
from = "server"
to = "client"
rate = "50 Mbit/s"
delay = "20 ms"
queue = { type = "droptail", limit = "200 packets" }

[flow.bulk]
from = "server"
to = "client"
count = 10
start = { uniform = ["2 s", "3 s"] }
workload = { type = "bulk" }
tcp = { preset = "linux-6-cubic" }

[flow.ping]
from = "server"
to = "client"
workload = { type = "ping", interval = "100 ms" }
"""


def first() -> str:
    return FIRST


def told() -> list[dict[str, Any]]:
    return []

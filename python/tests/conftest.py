"""Fixtures: a stand-in engine and a small scenario file."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from fake_core import FakeCore

# Tests that run side by side are told a width; tables are printed as into a pipe unless a test says otherwise.
os.environ.pop("COLUMNS", None)

SCENARIO = """\
name = "pair"
title = "Two flows on a slow link"
duration = "200 s"

[link.last-hop]
from = "router"
to = "mobile"
rate = "64 kbit/s"
queue = { type = "droptail", limit = "11520 B" }

[flow.bulk]
from = "router"
to = "mobile"
count = 2
workload = { type = "bulk", size = "343040 B" }

[record]
sample = "100 ms"
events = ["bulk-1"]
"""


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Callable[..., FakeCore]:
    """Installs a stand-in engine and returns a function that installs another one."""
    import crosswind

    def install(**options: Any) -> FakeCore:
        fake = FakeCore(**options)
        monkeypatch.setitem(sys.modules, "crosswind._core", fake)  # type: ignore[arg-type]
        monkeypatch.setattr(crosswind, "_core", fake, raising=False)
        return fake

    install()
    return install


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "pair.toml"
    path.write_text(SCENARIO)
    return path

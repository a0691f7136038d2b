"""What works on this machine, and how to get what does not."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Need = Literal["needed", "optional"]


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. `help` says how to get it when it does not work."""

    what: str
    works: bool
    found: str
    need: Need = "optional"
    help: str = ""

    @property
    def word(self) -> str:
        return "ok" if self.works else "MISSING" if self.need == "needed" else "no"


def findings() -> Iterator[Finding]:
    """Looks at everything; nothing it does stays behind."""
    for look in (_python, _engine, _run, _cores, _memory, _disk):
        yield _safely(look)
    yield _safely(_namespaces)
    yield _tool("ns-2", ("ns", "ns2"), "comparisons with ns-2 (make validate, bench)", "apt-get install ns2")
    yield _tool("tshark", ("tshark",), "reading captures", "apt-get install tshark")
    yield _tool("tcptrace", ("tcptrace",), "plots of captures", "apt-get install tcptrace")
    yield _tool("Graphviz", ("dot",), "crosswind topology --as dot", "apt-get install graphviz")
    yield _tool("Chromium", ("chromium", "google-chrome"), "tests of the reports", "apt-get install chromium")
    yield _tool("clang", ("clang",), "crosswind port", "apt-get install clang bpftool libbpf-dev")
    yield _module("matplotlib", "matplotlib", "figures as SVG, PDF, PNG", "pip install 'crosswind[figures]'")
    yield _module("SciPy", "scipy", "compare, --precision, some claims", "pip install 'crosswind[stats]'")
    yield _module("Starlette", "starlette", "crosswind studio", "pip install 'crosswind[studio]'")
    yield _module("Dask", "distributed", "sweep --cluster", "pip install 'crosswind[cluster]'")
    yield _module("fsspec", "fsspec", "results at s3://.. and the like", "pip install 'crosswind[cluster]'")
    yield _module("DuckDB", "duckdb", "SQL on results", "pip install duckdb")
    yield _module("mkdocs-material", "material", "make docs", "pip install 'crosswind[docs]'")


def _safely(look: Callable[[], Finding]) -> Finding:
    try:
        return look()
    except Exception as e:  # whatever is broken here is what the user wants to know
        return Finding(look.__name__.strip("_"), False, f"{type(e).__name__}: {e}", "needed")


def _python() -> Finding:
    here = platform.python_version()
    works = sys.version_info >= (3, 11)
    return Finding(
        "Python", works, f"{here} on {platform.system()} {platform.machine()}", "needed", "Python 3.11 or newer"
    )


def _engine() -> Finding:
    from crosswind.core import build

    try:
        return Finding("engine", True, build(), "needed")
    except Exception as e:
        return Finding("engine", False, str(e), "needed", "make setup, or pip install . with Rust 1.85 or newer")


def _run() -> Finding:
    import crosswind as cw

    scenario = {
        "name": "doctor",
        "duration": "20 s",
        "link": {"x": {"from": "a", "to": "b", "rate": "1 Mbit/s", "delay": "10 ms"}},
        "flow": {"f": {"from": "a", "to": "b", "workload": {"type": "bulk", "size": "50000 B"}}},
    }
    runs = cw.run(cw.Scenario.from_dict(scenario), workers=2, reps=2)
    goodput = float(runs.flows()["goodput_bps"][0])
    return Finding("a small run", 0 < goodput <= 1e6, f"50 kB over 1 Mbit/s: {goodput / 1e3:.0f} kbit/s", "needed")


def _cores() -> Finding:
    return Finding("cores", True, f"{os.cpu_count()}; a run takes one, many runs take all")


def _memory() -> Finding:
    pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    gb = pages * size / 1e9
    return Finding("memory", gb > 1.5, f"{gb:.1f} GB", help="events and samples of large runs need it")


def _disk() -> Finding:
    free = shutil.disk_usage(Path.cwd()).free / 1e9
    return Finding("disk here", free > 1, f"{free:.1f} GB free", help="results are written to --out")


def _namespaces() -> Finding:
    """Network namespaces, as root or inside a user namespace: what emulation needs."""
    what = "network namespaces (emulation)"
    if shutil.which("unshare") is None:
        return Finding(what, False, "no unshare", help="apt-get install util-linux")
    tun = "with /dev/net/tun" if Path("/dev/net/tun").exists() else "but no /dev/net/tun"
    for command, how in (
        (["unshare", "--net", "true"], "as root"),
        (["unshare", "-Urn", "true"], "in a user namespace"),
    ):
        with tempfile.TemporaryFile() as said:
            if subprocess.run(command, stdout=said, stderr=said, check=False).returncode == 0:
                return Finding(what, True, f"{how}, {tun}")
    return Finding(
        what,
        False,
        "not allowed",
        help="root, or: sysctl kernel.unprivileged_userns_clone=1 (and AppArmor's restriction off)",
    )


def _tool(what: str, names: tuple[str, ...], for_: str, help_: str) -> Finding:
    found = next((p for n in names if (p := shutil.which(n))), None)
    return Finding(what, found is not None, found or f"not here ({for_})", help=help_)


def _module(what: str, name: str, for_: str, help_: str) -> Finding:
    there = importlib.util.find_spec(name) is not None
    return Finding(what, there, for_ if there else f"not here ({for_})", help=help_)

"""A browser behind an emulated link: the page arrives, and no sooner than the link can bring it."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_emulate import emulates

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "scenarios/emulate/page"
QUIET = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
# Of umts.toml: 384 kbit/s and 75 ms down, 75 ms up; shown by the page to a hundredth of a second.
RATE_bps, RTT_s, SHOWN_s = 384_000, 0.15, 0.005


# Chromium is an optional tool (tools/optional-tools.sh).
@emulates
@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_chromium_loads_a_page_over_a_link_like_umts(tmp_path: Path) -> None:
    serve = f"exec {sys.executable} -m http.server --directory {PAGE} 8000"
    browser = ["chromium", *QUIET, f"--user-data-dir={tmp_path}", "--dump-dom", "http://server:8000/"]
    emulate = [sys.executable, "-m", "crosswind", "emulate", str(ROOT / "scenarios/emulate/umts.toml")]
    command = [*emulate, "--quiet", "--set", f"emulate.serve.web.command={serve!r}", "--", *browser]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    took = {what: float(s) for what, s in re.findall(r"<td>([^<]+)</td><td>([\d.]+) s</td>", done.stdout)}
    pictures = sorted(p.name for p in PAGE.glob("*.png"))
    assert pictures == sorted(name for name in took if name.endswith(".png")), "every picture arrived"
    bytes_of_page = sum(p.stat().st_size for p in PAGE.iterdir())
    assert took["connected"] + SHOWN_s >= RTT_s
    assert took["first byte of the page"] + SHOWN_s >= 2 * RTT_s, "one round trip to connect, one to ask"
    assert took["everything there"] + SHOWN_s >= 2 * RTT_s + bytes_of_page * 8 / RATE_bps

"""An emulation that runs, in a real browser: charts grow, a link is changed, and its end is said."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from browser import CHROMIUM, Browser
from test_emulate import emulates, running, scenario  # noqa: F401  (fixtures)

from crosswind.cli import main
from crosswind.errors import EXIT_ENVIRONMENT

LINE = "[...document.querySelectorAll('#live li')].map((e) => e.textContent).find((t) => t.startsWith('path/forward:'))"


def test_without_an_emulation_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert main(["emulate", "--studio"]) == EXIT_ENVIRONMENT


# Chromium is an optional tool (tools/optional-tools.sh).
@emulates
@pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")
def test_a_running_emulation_is_shown_and_changed_in_the_browser(running: int, tmp_path: Path) -> None:  # noqa: F811
    command = [sys.executable, "-m", "crosswind", "emulate", "--studio", "--of", str(running)]
    quiet = {**os.environ, "BROWSER": "true"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=quiet) as process:
        assert process.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+/\S+/", process.stdout.readline())
        assert found
        browser = Browser(tmp_path)
        try:
            browser.go(found[0])
            browser.until("document.querySelectorAll('.panel canvas').length >= 3", "charts")
            assert "path/forward" in browser.eval("document.getElementById('legend').textContent")
            seen = int(browser.eval("document.body.dataset.answer"))
            browser.until(f"Number(document.body.dataset.answer) > {seen + 2}", "more looks")
            browser.eval("document.getElementById('live-text').focus()")
            browser.type("path.rate=4 Mbit/s")
            browser.key("Enter")
            browser.until("document.getElementById('live').textContent.includes('4 Mbit/s')", "the change is noted")
            browser.until(f"({LINE}).includes('rate 4 Mbit/s, delay 20 ms, ')", "the rate of this moment")
            browser.eval("document.getElementById('live-text').value = ''")
            browser.type("path/forward.delay=50 ms")
            browser.key("Enter")
            browser.until(f"({LINE}).includes('rate 4 Mbit/s, delay 50 ms, ')", "the delay of this moment")
            assert "95 % waited" in browser.eval(LINE)
            browser.eval("document.getElementById('live-text').value = ''")
            browser.type("pth.rate=4 Mbit/s")
            browser.key("Enter")
            browser.until("document.getElementById('live').textContent.includes('did you mean')", "a slip is named")
            assert not browser.unnamed() and not browser.complaints
            browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
            os.kill(running, 15)
            browser.until("document.getElementById('status').className === 'wrong'", "the end is said")
        finally:
            browser.close()
            process.terminate()

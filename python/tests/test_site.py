"""The documentation site: it builds without complaint, and its link checker sees what is broken."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.engine
def test_the_site_builds_without_complaint_and_without_broken_links() -> None:
    command = [sys.executable, "tools/docs_site.py", "--quick"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 broken links" in done.stdout
    for page in ("index", "tutorial", "coming-from/ns-2", "how-to/sweep", "reference/queue-droptail", "python"):
        assert (ROOT / f"site/{page}.html").exists(), page


@pytest.mark.engine
def test_the_link_checker_sees_missing_pages_and_missing_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    spec = importlib.util.spec_from_file_location("docs_site", ROOT / "tools/docs_site.py")
    assert spec is not None and spec.loader is not None
    site: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(site)
    links = ("b.html#there", "c.html", "#here")
    page = "".join(f'<a href="{to}">x</a>' for to in links)
    (tmp_path / "a.html").write_text(f'<p id="here"></p>{page}')
    (tmp_path / "b.html").write_text("<p>nothing</p>")
    assert site.broken(tmp_path) == ["a.html -> b.html#there", "a.html -> c.html"]


@pytest.mark.engine
@pytest.mark.skipif(shutil.which("chromium") is None, reason="chromium is not installed")
def test_search_works_in_pages_that_are_opened_as_files() -> None:
    assert (ROOT / "site/index.html").exists(), "the test before this one builds the site"
    page = f"file://{ROOT}/site/index.html?q=droptail"
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=10000", "--dump-dom"]
    done = subprocess.run(["chromium", *options, page], capture_output=True, text=True, check=False)
    assert re.search(r"\d+ matching documents", done.stdout), done.stderr[-500:]
    assert "unpkg.com" not in (ROOT / "site/index.html").read_text(encoding="utf-8")

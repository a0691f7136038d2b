"""The pages of reproductions: what stands in their summary, and what came from bands and what from models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from crosswind.reproduce import pages as reproduction
from crosswind.reproduce.claims import Band, Claim, Part
from crosswind.reproduce.readings import FORMER, Reading, before_and_after
from crosswind.stats import exact

NO_RESULTS: Any = None


def row(id: str, value: float, experiment: str = "smith-2024/a", **more: Any) -> dict[str, Any]:
    part = Part("x", lambda _: exact(value), Band(9, 11), "10 s", "s")
    return Claim(id, f"statement {id}", "10 s", [part], **more).check(NO_RESULTS).row(experiment, 0)


def test_the_summary_counts_evidence_and_names_the_causes_of_failures(tmp_path: Path) -> None:
    rows = [
        row("S1", 10),
        row("S2", 20, cause="set-up", because="Nobody knows the buffers."),
        row("S3", 20),
        row("S4", 10, kind="calibration"),
        row("S1", 10, "smith-2024/b"),
    ]
    page, index = reproduction.write(rows, {}, tmp_path, "`crosswind reproduce smith-2024`")
    text = page.read_text(encoding="utf-8")
    assert "**33 %** of 3 judged claims pass. 3 claims: 1 pass, 2 fail; apart: 1 calibration." in text
    assert "| a set-up that cannot be known | 1 | S2 |" in text and "| not explained | 1 | S3 |" in text
    assert "Nobody knows the buffers." in text and "fail" in text and "## smith-2024/b" in text
    assert "x: 20.0 s [9.0 s to 11.0 s] **fail**" in text
    assert "| [smith-2024](smith-2024.md) | 1 | 0 | 0 | 2 | 0 | 1 | 33 % |" in index.read_text(encoding="utf-8")


def test_the_index_keeps_the_scores_of_studies_that_were_not_run_again(tmp_path: Path) -> None:
    reproduction.write([row("S1", 10)], {}, tmp_path, "x")
    reproduction.write([row("J1", 20, "jones-2025/a")], {}, tmp_path, "x")
    index = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert "(smith-2024.md) | 1 |" in index and "(jones-2025.md) | 0 |" in index
    assert "| **all** | 1 | 0 | 0 | 1 | 0 | 0 | 50 % |" in index
    assert set(json.loads((tmp_path / "scores.json").read_text(encoding="utf-8"))) == {"smith-2024", "jones-2025"}


def test_long_claims_show_first_what_does_not_pass(tmp_path: Path) -> None:
    values = [10, 10, 10, 10, 10, 10, 10, 20]
    parts = [Part(f"p{i}", lambda _, v=v: exact(v), Band(9, 11), "10 s", "s") for i, v in enumerate(values)]
    long = Claim("S9", "long", "10 s", parts).check(NO_RESULTS).row("smith-2024/a", 0)
    page, _ = reproduction.write([long], {}, tmp_path, "x")
    text = page.read_text(encoding="utf-8")
    assert "| p7: 20.0 s [9.0 s to 11.0 s] **fail**; p0: 10.0 s" in text and "and 2 more" in text


def test_bands_and_readings_in_one_table() -> None:
    def reading(name: str, now: str, before: str) -> Reading:
        words = {"p": "pass", "f": "fail", "u": "unclear", "c": "consistent"}
        verdicts, earlier = ({f"S{i}": words[w] for i, w in enumerate(x)} for x in (now, before))
        return Reading(name, "", {}, verdicts | {"S9": "fail"}, {}, ["S9"], earlier | {"S9": "fail"})

    table = before_and_after([[reading("main", "ppc", "pfu"), reading(FORMER, "pff", "fff")]])
    assert table is not None
    assert table.rows == [["bands of before", "0 / 3 / 0", "1 / 1 / 1"], ["bands of now", "1 / 2 / 0", "2 / 0 / 1"]]
    assert "By bands: S0 fail to pass." in table.note
    assert "by models: S0 fail to pass; S2 fail to unclear." in table.note
    assert "S9" not in table.note
    assert before_and_after([]) is None


def test_without_a_former_reading_the_table_says_so() -> None:
    table = before_and_after([[Reading("main", "", {}, {"S1": "pass"}, earlier={"S1": "fail"})]])
    assert table is not None and "the columns differ by nothing" in table.note
    assert table.rows == [["bands of before", "0 / 1 / 0", "0 / 1 / 0"], ["bands of now", "1 / 0 / 0", "1 / 0 / 0"]]

"""The code of the blind test, with invented claims and numbers only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crosswind.errors import InputError
from crosswind.reproduce import before, blind
from crosswind.reproduce.claims import Claim, Part, Seeds
from crosswind.stats import Estimate

NO_RESULTS: Any = None
CLAIMS = """
[defaults]
n = 25
withheld = true
[S1]
statement = "How long it takes"
unit = "s"
[S2]
statement = "What share is lost"
unit = "%"
parts = { "a" = { digits = 2 }, "b" = {} }
[S3]
statement = "One run"
unit = "s"
[S4]
statement = "Nobody has looked"
"""
THEN = """claim,verdict,part,value,unit,n
S1,withheld,plain,12.0,s,25
S1,withheld,marked,10.0,s,25
S2,withheld,a,+5.00,%,1
S2,withheld,gone,7.0,%,1
S3,withheld,one,40.0,s,10
"""
PUBLISHED = """
[smith-2024.S1]
rule = "S1"
band = "+-1 %"
note = "read off a figure"
[smith-2024.S1.parts]
"plain" = [10.0, 2.0]
"mark*" = [11.0, 2.0]
[smith-2024.S2.parts]
"a" = { print = 0.05, band = "+-0.01" }
"b" = { print = 0.5, band = "+-10 %" }
[smith-2024.S3.parts]
"one" = { print = 30.0, rule = "S11", band = "+-20 %" }
"""


def row(id: str, found: dict[str, Estimate], unit: str, where: str = "a", **more: Any) -> dict[str, Any]:
    parts = [Part(label, lambda _, e=e: e, unit=unit) for label, e in found.items()]
    return Claim(id, "", "withheld", parts, withheld="yes", **more).check(NO_RESULTS).row(f"smith-2024/{where}", 0)


ROWS = [
    row("S1", {"plain": Estimate(10.9, 10.5, 11.3, 25), "marked": Estimate(11.0, 10.9, 11.1, 25)}, "s"),
    row("S1", {"not published": Estimate(1.0, 0.9, 1.1, 25)}, "s", "b"),
    row("S2", {"a": Estimate(0.06, 0.06, 0.06, 25)}, "%", blind="not fully blind"),
    row("S2", {"b": Estimate(0.7, 0.6, 0.8, 25)}, "%", "b", blind="not fully blind"),
    row("S3", {"one": Seeds(33.0, 32.0, 34.0, 10, sd=2.0)}, "s"),
    row("S4", {"x": Estimate(1.0, 1.0, 1.0, 1)}, "s"),
]


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/claims.toml").write_text(CLAIMS)
    (tmp_path / "data" / before.FILE).write_text(THEN)
    monkeypatch.setattr(before, "package", lambda _: tmp_path)
    return tmp_path


def judged(study: Path, text: str = PUBLISHED, rows: Any = ROWS) -> list[blind.Judged]:
    (study / "published.toml").write_text(text)
    return blind.judge(blind.read(study / "published.toml"), rows)


def test_bands_and_rules_are_those_of_ordinary_claims(study: Path) -> None:
    one, two, three = judged(study)
    # S1: 2.6 * 2 / sqrt(25) = 1.04 s; 12 s lies outside then, 10.9 s inside now.
    assert (one.verdict_then, one.verdict_now, one.blind) == ("fail", "pass", "fully")
    assert (one.then, one.now) == ("plain: 12.0 s; marked: 10.0 s", "plain: 10.9 s; marked: 11.0 s")
    assert (one.published, one.note) == ("10 s, 11 s", "read off a figure")
    assert two.verdict_then == "not decided by these values", "of two parts one was measured then"
    assert (two.then, two.verdict_now, two.blind) == ("a: 5.00 %", "fail", "not fully blind")
    # S11 asks for our scatter: 2.37 * 2 s = 4.7 s round the print; of then it is not known.
    assert (three.verdict_then, three.verdict_now) == ("not decided by these values", "pass")


def test_the_report_counts_by_study_and_names_what_was_not_given(study: Path) -> None:
    text = blind.report(judged(study), ROWS)
    assert "| smith-2024 | 3 | 0 / 1 / 0 | 2 / 0 / 0 | 0 / 1 / 0 | 2 | 0 |" in text
    assert "| S3 | One run | not decided by these values | pass | fully |  |" in text
    assert "| S3 | one | 30 s | 25.3 s to 34.7 s (S11, s = 2.0 s) | 40.0 s |  | 33.0 s (32.0 s .. 34.0 s) |  |" in text
    assert text.endswith("Withheld, and nothing given: S4.")


def test_a_first_look_and_what_was_not_run_are_not_judged(study: Path) -> None:
    looked = [{**r, "first_look": "yes"} for r in ROWS if r["claim"] == "S1"]
    assert [j.verdict_now for j in judged(study, rows=looked)] == ["not yet", "not run", "not run"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[smith-2024.S9]\nband = "> 0"', "S9"),
        ('[smith-2024.S1]\nband = "> 0"\nparts = { "palin" = 1.0 }', "palin"),
        ("[smith-2024.S1]\nparts = { plain = 1.0 }", "neither"),
        ('[smith-2024.S1]\nbnad = "> 0"\nparts = { plain = 1.0 }', "bnad"),
        ("[smith-2024", "TOML"),
    ],
)
def test_mistakes_in_the_file_are_named(study: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        judged(study, text)


def test_a_label_makes_a_value_of_two_and_a_factor_the_unit_that_was_printed(study: Path) -> None:
    text = """
[smith-2024.S1]
also = ["S3"]
[smith-2024.S1.parts]
"plain over marked" = { print = 1, band = "+-10 %", unit = "" }
"one minus plain" = { print = 22, band = "+-1" }
"marked" = { print = 5.5, band = "+-10 %", times = 0.5 }
"""
    (found,) = judged(study, text)
    values = {p[1]: (p[4], p[6].split(" (")[0]) for p in found.parts}
    assert values == {
        "plain over marked": ("1.2", "1.0"),
        "one minus plain": ("28.0 s", "22.1 s"),
        "marked": ("5.0 s", "5.5 s"),
    }
    assert (found.verdict_then, found.verdict_now) == ("fail", "pass")

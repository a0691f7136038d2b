"""The data files of claims: what they mean, and what is said of mistakes in them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from crosswind.errors import InputError
from crosswind.reproduce import Results, catalogue
from crosswind.reproduce.claims import (
    Band,
    BrokenClaimError,
    Claim,
    Criterion,
    MissingDataError,
    Part,
    above,
    at_most,
    below,
    near,
    read_band,
    within,
)
from crosswind.reproduce.claims.book import Book, load
from crosswind.results import Runs
from crosswind.stats import exact

NO_RESULTS: Any = None
TEXT = """
[defaults]
n = 20

[R1]
statement = "Elapsed time"
where = "Table 5-1"
grade = "S"
unit = "s"
digits = 2
first = "+-25 %"

[R1.parts]
"TD 0" = [12.5, 4.0]
"TD 2" = { print = 23.4, iqr = 8.5, rule = "S1" }
"ratio" = { ours = 1.9, unit = "", first = ">= 1.5" }

[R2]
statement = "Nothing is lost"
kind = "by construction"
parts = { "*" = { first = "<= 0" } }
published = "0"

[R3]
statement = "Unknown here"
withheld = true
"""


def book(tmp_path: Path, text: str) -> Book:
    file = tmp_path / "claims.toml"
    file.write_text(text, encoding="utf-8")
    return load([file])


def one(value: float) -> Any:
    return lambda _: exact(value)


@pytest.mark.parametrize(
    ("text", "band"),
    [
        ("<= 0.2", at_most(0.2)),
        ("< 0", below(0)),
        (">-1.5", above(-1.5)),
        ("= 2", Band(2, 2)),
        ("24.5..24.9", Band(24.5, 24.9)),
        ("-3..-1", Band(-3, -1)),
        ("+-25 %", within(10, 0.25)),
        ("+-0.5", near(10, 0.5)),
        ("12 +-0.5", near(12, 0.5)),
        ("reported", Band()),
    ],
)
def test_a_band_in_words(text: str, band: Band) -> None:
    assert read_band(text, 10.0) == band


@pytest.mark.parametrize("text", ["about 3", "3..1", "+-5", "<= ", "1 to 2"])
def test_words_that_mean_no_band_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        read_band(text)


def test_a_claim_out_of_the_book(tmp_path: Path) -> None:
    b = book(tmp_path, TEXT)
    (claim,) = b.claims({"R1": {"TD 0": one(12), "TD 2": one(18), "ratio": one(1.0)}})
    assert (claim.where, claim.kind, claim.published) == ("Table 5-1", "evidence", "12.5 s, 23.4 s")
    first, second, third = claim.parts
    assert first.criterion == Criterion(within(12.5, 0.25)) == first.before
    assert first.agrees == near(12.5, 2.6 * 4.0 / 20**0.5)
    assert second.criterion.rule == "S1" and second.before == Criterion(within(23.4, 0.25))
    assert (third.published, third.ours, third.unit) == ("", "1.9", "")
    row = claim.check(NO_RESULTS).row("riva-2003/a", 1)
    assert (row["verdict"], row["earlier"], row["agreement"]) == ("fail", "fail", "no")
    assert row["ours"] == "ratio: 1.9"
    assert b.grades() == {"R1": "S"} and b.number("R1", "TD 0") == 12.5
    assert b.numbers("R1") == {"TD 0": 12.5, "TD 2": 23.4}


def test_one_measure_for_a_claim_of_one_part_and_patterns_for_many(tmp_path: Path) -> None:
    b = book(tmp_path, TEXT)
    claim, withheld = b.claims({"R2": {"a": one(0), "b": one(0)}, "R3": one(7)})
    assert [p.accept for p in claim.parts] == [at_most(0)] * 2
    assert (claim.kind, claim.published) == ("by construction", "0")
    assert withheld.check(NO_RESULTS).verdict == "withheld"


def test_what_a_pattern_only_shows_is_judged_where_a_label_has_a_row_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "claims.toml"
    parts = '"TD *" = { kind = "reported", unit = "s" }\n"TD 2" = 23.4\n'
    file.write_text(f'[R1]\nstatement = "x"\nset = "corrected"\nband = "+-25 %"\n[R1.parts]\n{parts}')
    shown, judged = load([file]).claim("R1", {"TD 0": lambda _: exact(12.5), "TD 2": lambda _: exact(99.0)}).parts
    assert (shown.kind, shown.unit, shown.show_band()) == ("reported", "s", "reported"), "a band without a print"
    assert (judged.kind, judged.unit, judged.criterion.judge(exact(99.0))) == (None, "s", "fail")


def test_bands_before_and_after_the_corrections(tmp_path: Path) -> None:
    text = """
[R9]
statement = "changed"
[R9.parts]
"old" = { print = 5, first = "+-1", set = "first" }
"both" = { print = 5, first = "+-1", band = "+-2" }
"new" = { print = 5, band = "+-1", set = "corrected" }

[R10]
statement = "new"
set = "corrected"
parts = { "x" = { band = "> 0" } }
"""
    b = book(tmp_path, text)
    changed, new = b.claims({"R9": {"old": one(9), "both": one(6.5), "new": one(5)}, "R10": one(1)})
    found = changed.check(NO_RESULTS)
    assert (found.verdict, found.earlier) == ("pass", "fail")
    assert [(p.verdict, p.earlier) for p in found.parts] == [
        ("reported", "fail"),
        ("pass", "fail"),
        ("pass", "reported"),
    ]
    assert found.parts[0].show_band() == "4.0 to 6.0, before the corrections only"
    assert (new.check(NO_RESULTS).verdict, new.check(NO_RESULTS).earlier) == ("pass", "not yet")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[R1]\nstatment = "x"', "did you mean `statement`"),
        ("[R1]\nunit = 's'", "no `statement`"),
        ('[R1]\nstatement = "x"\nkind = "evidenc"', "did you mean `evidence`"),
        ('[R1]\nstatement = "x"\ncause = "model"', "both: the kind and the sentence"),
        ('[R1]\nstatement = "x"\nparts = { "a" = { rule = "S12", print = 1 } }', "S12"),
        ("[R1\n", "TOML"),
        ("R1 = 3", "a table of a claim"),
    ],
)
def test_mistakes_in_a_file_name_the_place(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=r"claims\.toml") as caught:
        book(tmp_path, text)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("{ print = 1 }", "neither `first` nor `band` nor `rule`"),
        ('{ print = 1, rule = "S1", first = "+-1" }', "iqr"),
        ('{ print = 1, band = "+-1" }', "no `first`"),
        ('{ print = 1, first = "about" }', "a band in words"),
        ('{ first = "+-1 %" }', "without a published number"),
    ],
)
def test_a_part_that_cannot_be_judged_is_refused(tmp_path: Path, row: str, said: str) -> None:
    b = book(tmp_path, f'[R1]\nstatement = "x"\nparts = {{ "a" = {row} }}')
    with pytest.raises(InputError) as caught:
        b.claims({"R1": one(1)})
    assert said in str(caught.value) and "R1" in str(caught.value)


def test_labels_and_ids_must_match(tmp_path: Path) -> None:
    b = book(tmp_path, TEXT)
    with pytest.raises(InputError, match="which no experiment measures"):
        b.claims({"R1": {"TD 0": one(1)}})
    with pytest.raises(InputError, match="no claim `R11`"):
        b.claims({"R11": one(1)})


def test_a_claim_stands_once(tmp_path: Path) -> None:
    for name in ("claims-a.toml", "claims-b.toml"):
        (tmp_path / name).write_text('[R1]\nstatement = "x"\n', encoding="utf-8")
    with pytest.raises(InputError, match="a second time"):
        load(sorted(tmp_path.glob("*.toml")))


def test_every_part_of_every_book_is_measured_by_some_experiment() -> None:
    checked = 0
    for package in sorted({e.id.split("/")[0] for e in catalogue.registry().values()}):
        study = importlib.import_module(f"crosswind.experiments.{package.replace('-', '_')}.study")
        if not hasattr(study, "BOOK"):
            continue
        claims = [c for e in catalogue.of_study(package).values() for c in e.claims]
        for id, entry in study.BOOK.entries.items():
            measured = {p.label for c in claims if c.id == id for p in c.parts}
            wanted = {label for label in entry.get("parts", {}) if "*" not in label}
            assert measured and wanted <= measured, f"{package} {id}: {sorted(wanted - measured)}"
            checked += 1
    assert checked > 100


ASKED: dict[str, Callable[[Results], Any]] = {
    "of": lambda r: r.of("b", "x"),
    "series: label": lambda r: r.series("b", "cwnd_bytes", "one"),
    "series: nothing recorded": lambda r: r.series("a", "srtt_ns", "one"),
    "events: label": lambda r: r.events("b", "one"),
    "events: nothing recorded": lambda r: r.events("a", "two"),
    "flow: label": lambda r: r.flow("b", "one", "elapsed_ns"),
    "flow: name": lambda r: r.flow("a", "three", "elapsed_ns"),
}


@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_only_a_first_look_may_leave_out_what_a_claim_asks_for(asked: Callable[[Results], Any]) -> None:
    both: dict[str, Any] = {"configuration": ["a", "a"], "rep": [0, 0], "flow": [0, 1], "name": ["one", "two"]}
    here = {"configuration": ["a"], "rep": [0], "time_ns": [1]}
    tables = {
        "flow": pl.DataFrame(both | {"elapsed_ns": [5, 6]}),
        "sample": pl.DataFrame(here | {"metric": ["cwnd_bytes"], "entity": ["one"], "value": [2.0]}),
        "event": pl.DataFrame(here | {"flow": [0], "end": ["sender"], "kind": ["send"]}),
    }
    scenario: Any = None
    for size, error in (("quick", MissingDataError), ("full", BrokenClaimError)):
        table = pl.DataFrame({"configuration": ["a"], "rep": [0], "x": [1.0]})
        results = Results(Runs(tables, {"a": scenario}, {"size": size}), {"repetition": table})
        assert results.series("a", "cwnd_bytes", "one")[1].tolist() == [2.0]
        assert results.events("a", "one", "send").height == 1 and results.flow("a", "two", "elapsed_ns") == 6.0
        with pytest.raises(error, match=r"no (configuration|samples|events|flow)"):
            asked(results)
        verdict = Claim("S1", "", "", [Part("x", asked, Band(0, 1))]).check(results).verdict
        assert verdict == ("unclear" if size == "quick" else "error")

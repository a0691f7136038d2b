"""The pages of reproductions: what stands in their summary, and what came from bands and what from models."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from crosswind.cli import main
from crosswind.errors import InputError
from crosswind.reproduce import before, catalogue, gathered
from crosswind.reproduce import pages as reproduction
from crosswind.reproduce.claims import Band, Claim, Part
from crosswind.reproduce.readings import FORMER, Reading, tallies
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
    page, index = reproduction.write(rows, {}, tmp_path, lambda study: f"`crosswind reproduce {study}`")
    text = page.read_text(encoding="utf-8")
    assert "**33 %** of 3 judged claims pass. 3 claims: 1 pass, 2 fail; apart: 1 calibration." in text
    assert "| a set-up that cannot be known | 1 | S2 |" in text and "| not explained | 1 | S3 |" in text
    assert "Nobody knows the buffers." in text and "fail" in text and "## smith-2024/b" in text
    assert "x: 20.0 s [9.0 s to 11.0 s] **fail**" in text
    assert "(smith-2024.md) | 1 | 0 | 0 | 2 | 0 | 0 | 1 | - | - | 33 % |" in index.read_text(encoding="utf-8")


def test_the_index_keeps_the_scores_of_studies_that_were_not_run_again(tmp_path: Path) -> None:
    reproduction.write([row("S1", 10)], {}, tmp_path, str)
    reproduction.write([row("J1", 20, "jones-2025/a")], {}, tmp_path, str)
    index = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert "(smith-2024.md) | 1 |" in index and "(jones-2025.md) | 0 |" in index
    assert "| **all** | 1 | 0 | 0 | 1 | 0 | 0 | 0 | - | - | 50 % |" in index
    assert set(json.loads((tmp_path / "scores.json").read_text(encoding="utf-8"))) == {"smith-2024", "jones-2025"}


def test_long_claims_show_first_what_does_not_pass(tmp_path: Path) -> None:
    values = [10, 10, 10, 10, 10, 10, 10, 20]
    parts = [Part(f"p{i}", lambda _, v=v: exact(v), Band(9, 11), "10 s", "s") for i, v in enumerate(values)]
    long = Claim("S9", "long", "10 s", parts).check(NO_RESULTS).row("smith-2024/a", 0)
    page, _ = reproduction.write([long], {}, tmp_path, str)
    text = page.read_text(encoding="utf-8")
    assert "| p7: 20.0 s [9.0 s to 11.0 s] **fail**; p0: 10.0 s" in text and "and 2 more" in text


WORDS = {"p": "pass", "f": "fail", "u": "unclear", "c": "consistent"}


def verdicts(word: str) -> dict[str, str]:
    return {f"S{i}": WORDS[w] for i, w in enumerate(word)}


def test_bands_and_readings_in_one_table() -> None:
    then = before.Column("then", verdicts("fff"), verdicts("pff"))
    now = before.Column("now", verdicts("pfu"), verdicts("ppcp"))
    table = before.quadrants(then, None, now)
    assert table is not None
    assert table.rows == [["bands of before", "0 / 3 / 0", "1 / 1 / 1"], ["bands of now", "1 / 2 / 0", "3 / 0 / 1"]]
    assert "down the first column): S0 fail to pass." in table.note
    assert "along the first row): S0 fail to pass; S2 fail to unclear. New: S3." in table.note
    assert before.quadrants(None, None, now) is None


def test_former_readings_stand_between_where_they_were_run() -> None:
    def one(name: str, now: str, was: str) -> Reading:
        return Reading(name, "", {}, verdicts(now) | {"S9": "fail"}, {}, ["S9"], verdicts(was))

    run = {"s/a": [one("main", "pp", "pp"), one(FORMER, "pf", "ff")], "s/b": [one("main", "", "")]}
    column = before.former(run, ["s/a"])
    assert column is not None and (column.before, column.now) == (verdicts("ff"), verdicts("pf"))
    assert column.title == "former readings, engine of now"
    some = before.former(run, ["s/a", "s/b", "s/c"])
    assert some is not None and some.title.endswith("(not run: s/b, s/c)")
    assert before.former({"s/a": [one("main", "pp", "pp")]}, ["s/a"]) is None


def test_an_experiment_without_a_former_reading_counts_with_its_main_one() -> None:
    changed = [Reading("main", "", {}, {"S1": "pass"}), Reading(FORMER, "", {}, {"S1": "fail"}, earlier={"S1": "fail"})]
    same = [Reading("main", "", {}, {"S1": "pass", "S2": "unclear"}, earlier={"S1": "pass", "S2": "pass"})]
    column = before.former({"s/a": changed, "s/b": same}, ["s/a"])
    assert column is not None and column.now == {"S1": "fail", "S2": "unclear"}
    assert column.before == {"S1": "fail", "S2": "pass"}


def test_a_claim_of_several_experiments_has_the_worst_of_their_verdicts_in_each_reading() -> None:
    def one(main: str, other: str) -> list[Reading]:
        return [Reading(name, "", {}, verdicts(w), {}, ["S2"]) for name, w in (("main", main), ("other", other))]

    for experiments in ([one("ff", "pp"), one("pp", "pfp")], [one("pp", "pfp"), one("ff", "pp")]):
        table = tallies(experiments, {})
        assert table is not None and table.rows == [["main", "0 / 2 / 0"], ["other", "1 / 1 / 0"]]


def test_the_result_is_quoted_with_what_bands_and_models_gained() -> None:
    then = before.Column("then", verdicts("ffpf"), verdicts("pf"), 2)
    between = before.Column("former", verdicts("ffpf"), verdicts("pfpu"))
    only = {k: v.text() for k, v in before.cells(then, None).items()}
    assert only == {"a": "25 % of 4", "c": "50 % of 2, 2 not decided"}
    assert {k: v.text() for k, v in before.cells(then, between).items()} == {"a": "25 % of 4", "c": "50 % of 4"}
    assert before.cells(None, None) == {}
    table = before.quadrants(then, between, before.Column("now", verdicts("pppp"), verdicts("pppp")))
    assert table is not None and "down the second column): S0 fail to pass; S3 fail to unclear." in table.note


def test_pages_and_index_quote_it_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / before.FILE).write_text("claim,verdict,part,value,unit,n\nS1,fail,x,12.0,s,20\n")
    (tmp_path / "data/conclusions.md").write_text("**What a reader may conclude.** Most\ncomes out. The rest fails.\n")
    monkeypatch.setattr(before, "package", lambda _: tmp_path)
    claim = Claim("S1", "", "", [Part("x", lambda _: exact(10.0), Band(9, 11), "", "s")])
    made: Any = type("E", (), {"claims": [claim], "variants": {}})
    monkeypatch.setattr(catalogue, "of_study", lambda _: {"smith-2024/a": made})
    rows = [row("S1", 10), row("S2", 20, cause="model", because="It is.")]
    page, index = reproduction.write(rows, {}, tmp_path / "pages", str)
    text = page.read_text(encoding="utf-8")
    assert "**50 %** of 2 judged claims pass (d: bands and readings of now); a 0 % of 1, c 0 % of 1." in text
    assert "`crosswind reproduce smith-2024/a`, then `out/smith-2024/a/report.html`" in text
    text = index.read_text(encoding="utf-8")
    assert "| 0 | 0 % of 1 | 0 % of 1 | 50 % |" in text and "c: by bands of now" in text
    assert "| a defect of the model that is known and not mended | 1 | [smith-2024](smith-2024.md) 1 |" in text
    assert "| [smith-2024](smith-2024.md) | Most comes out. |" in text


def test_printed_values_of_the_first_score_are_held_against_the_bands_of_now(tmp_path: Path) -> None:
    (tmp_path / before.FILE).write_text(
        "claim,verdict,part,value,unit,n\nS1,fail,x,12.0,s,20\nS2,pass,x,50.0,%,20\nS3,pass,y,1.0,,20\nS4,pass,x,1,,1\n"
    )

    def claim(id: str, band: Band, unit: str = "s", **more: Any) -> Claim:
        return Claim(id, "", "", [Part("x", lambda _: exact(0.0), band, "", unit)], **more)

    claims = [
        claim("S1", Band(11, 13)),
        claim("S2", Band(0.6, 0.7), "%"),
        claim("S3", Band(0, 2)),
        claim("S4", Band(5, 6), kind="calibration"),
    ]
    column = before.first_score("smith-2024", claims, tmp_path)
    assert column is not None
    assert column.before == {"S1": "fail", "S2": "pass", "S3": "pass"}
    assert column.now == {"S1": "pass", "S2": "fail"} and column.open == 1, "S3's part was not measured then"
    assert before.first_score("smith-2024", claims, tmp_path / "none") is None


@pytest.mark.parametrize(
    ("study", "passed"),
    [("jarvinen-2006", 69), ("riva-2003", 38), ("gurtov-2004", 53), ("igarashi", 51), ("bhandarkar-2006", 88)],
)
def test_every_study_has_its_first_score(study: str, passed: int) -> None:
    claims = [c for e in catalogue.of_study(study).values() for c in e.claims]
    column = before.first_score(study, claims)
    assert column is not None and 0 < list(column.before.values()).count("pass") <= passed


def left(folder: Path, name: str, variant: str, rows: Sequence[dict[str, Any]], size: str = "full") -> None:
    """Puts claims of an experiment into a folder, and how they were made."""
    folder.mkdir(parents=True)
    m = {"experiment": name, "variant": variant, "code_version": "1.2", "wall_s": 2, "size": size, "warnings": []}
    (folder / "manifest.json").write_text(json.dumps(m))
    title = name if variant == "main" else f"{name} ({variant})"
    (folder / "claims.json").write_text(json.dumps([{**r, "experiment": title} for r in rows]))


def test_a_first_look_is_shown_and_gives_no_verdict(tmp_path: Path) -> None:
    hidden = row("S4", 10, withheld="yes")
    left(tmp_path / "a", "smith-2024/a", "main", [row("S1", 10), row("S2", 20)])
    left(tmp_path / "b", "smith-2024/b", "main", [row("S2", 10), row("S3", 20), row("S5", 10), hidden], "quick")
    left(tmp_path / "c", "smith-2024/b", FORMER, [row("S3", 20)])
    found = gathered.gather([tmp_path])
    assert [r["verdict"] for r in found.rows] == ["pass", "fail", "not yet", "not yet", "not yet", "withheld"]
    now = before.of_now(found.rows)
    assert (now.now, now.before) == ({"S1": "pass", "S2": "fail"}, {"S1": "pass", "S2": "fail"})
    page, index = reproduction.write(found.rows, found.readings, tmp_path, found.made)
    text = page.read_text(encoding="utf-8")
    assert "**50 %** of 2 judged claims pass" in text and ". 5 claims: 1 pass, 1 fail, 1 withheld, 2 not yet" in text
    assert "| x: 20.0 s [9.0 s to 11.0 s] | not yet (first look) |" in text, "what was measured is shown"
    assert "| withheld (first look) |" in text
    assert "(smith-2024.md) | 1 | 0 | 0 | 1 | 2 | 1 | 0 | 33 % of 3 |" in index.read_text(encoding="utf-8")


def test_pages_are_made_of_what_lies_in_several_folders(tmp_path: Path) -> None:
    def one(place: str, name: str, variant: str, value: float, size: str = "full") -> None:
        left(tmp_path / place, name, variant, [row("S1", value)], size)

    one("one/a", "smith-2024/a", "main", 10)
    one("two/a", "smith-2024/a", FORMER, 20)
    one("two/b", "smith-2024/b", "main", 10, "quick")
    found = gathered.gather([tmp_path / "one", tmp_path / "two"])
    assert [(r["experiment"], r["readings"]) for r in found.rows] == [
        ("smith-2024/a", {FORMER: "fail"}),
        ("smith-2024/b", {}),
    ]
    assert [r.name for r in found.readings["smith-2024/a"]] == ["main", FORMER]
    assert "1.2; 6 s" in found.made("smith-2024") and "not at full length: smith-2024/b" in found.made("smith-2024")
    arguments = ["scoreboard", str(tmp_path / "one"), str(tmp_path / "two"), "--pages", str(tmp_path / "pages")]
    assert main(arguments) == 0
    text = (tmp_path / "pages/smith-2024.md").read_text(encoding="utf-8")
    assert "former readings, engine of now" in text and "## smith-2024/b" in text
    # A study is run bit by bit: what is kept stays until it is run again, and no first look replaces it.
    one("three/a", "smith-2024/a", "main", 30, "quick")
    one("three/c", "smith-2024/c", "main", 10)
    assert main(["scoreboard", str(tmp_path / "three"), "--pages", str(tmp_path / "pages")]) == 0
    text = (tmp_path / "pages/smith-2024.md").read_text(encoding="utf-8")
    assert all(f"## smith-2024/{e}" in text for e in "abc")
    kept = tmp_path / "pages/results/smith-2024"
    names = sorted(p.parent.relative_to(kept).as_posix() for p in kept.rglob("claims.json"))
    assert names == ["a", f"a/{FORMER}", "b", "c"]
    assert json.loads((kept / "a/manifest.json").read_text())["size"] == "full"
    # Nor do fewer repetitions of the whole.
    one("four/c", "smith-2024/c", "main", 30)
    m = json.loads((tmp_path / "four/c/manifest.json").read_text())
    (tmp_path / "four/c/manifest.json").write_text(json.dumps(m | {"warnings": ["3 repetitions instead of 40"]}))
    before = (kept / "c/claims.json").read_text()
    assert gathered.keep([tmp_path / "four"], tmp_path / "pages/results") == ["smith-2024/c"]
    assert (kept / "c/claims.json").read_text() == before
    assert gathered.gather([tmp_path / "four"]).first_looks == ["smith-2024/c"]


def test_claims_about_a_part_of_the_runs_are_refused(tmp_path: Path) -> None:
    left(tmp_path / "a", "smith-2024/a", "main", [row("S1", 10)])
    m = json.loads((tmp_path / "a/manifest.json").read_text())
    (tmp_path / "a/manifest.json").write_text(json.dumps(m | {"failed": [{"rep": 1}]}))
    with pytest.raises(InputError, match=r"claims\.json: found claims about the rest of runs of which 1 broke down"):
        gathered.gather([tmp_path / "a"])
    with pytest.raises(InputError, match="of which 1 broke down"):
        gathered.keep([tmp_path / "a"], tmp_path / "kept")


@pytest.mark.engine
def test_what_has_no_claims_leaves_the_pages_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = ["--out", str(tmp_path / "out"), "--pages", str(tmp_path / "pages")]
    assert main(["reproduce", "igarashi/e6-1", "--quick", *where]) == 0
    assert "pages stay as they are" in capsys.readouterr().out and not (tmp_path / "pages").exists()

"""`evaluate`: the cases of RFC 9743, what is read from them, and what is said about it."""

import json
import math
from dataclasses import replace

import polars as pl
import pytest

import crosswind as cw
from crosswind.cli import main
from crosswind.errors import EXIT_BAD_INPUT, InputError
from crosswind.suites import controllers, evaluate_page, outcomes
from crosswind.suites.case import Case, Measure
from crosswind.suites.evaluate import QUICK, read

SHORT = replace(QUICK, seconds=12.0, reps=2)
CUBIC = {"preset": "linux-6-cubic"}
LAW = '''
class Halving:
    """Reno, twice as cautious."""

    def on_ack(self, facts):
        return None if facts.cwnd < facts.ssthresh else facts.cwnd + 0.5 * facts.acked / facts.cwnd

    def on_loss(self, facts):
        return facts.flight / 2
'''


@pytest.mark.parametrize("case", controllers.CASES, ids=lambda c: c.id)
def test_every_case_is_a_valid_scenario(case: Case) -> None:
    for tcp in (CUBIC, {}) if case.id in controllers.HARMED else (CUBIC,):
        built = case.build(SHORT, tcp)
        assert built and case.measures
        for table in built.values():
            cw.Scenario.from_dict({"name": case.id, **table}).validate()


def test_every_measure_that_a_case_names_is_measured() -> None:
    # Several, so that what only late cases have comes after a hundred configurations without it.
    subjects = ["cubic", "bbr", "bbr3", "prague"]
    found = cw.evaluate("cubic", against=subjects[1:], setting=replace(SHORT, seconds=18.0, reps=1))
    for case in controllers.CASES:
        rows = found.rows.filter(pl.col("case") == case.id)
        for m in case.measures:
            values = rows[m.column].drop_nulls().drop_nans()
            assert len(values), f"{case.id} never has {m.column}"
    assert set(found.rows["subject"]) == set(subjects), "those who stand for nobody are no subject"


def test_bbr_keeps_a_large_buffer_short_and_cubic_fills_it() -> None:
    found = cw.evaluate("bbr", against=["cubic"], cases=["bufferbloat"], setting=replace(QUICK, seconds=15.0))
    (d,) = found.verdicts
    assert d.words == "better" and d.measure.column == "delay_p95_ms"
    assert d.value.value < 50 < 300 < d.value.value - d.change.value


def test_harm_is_what_others_had_without_the_subject() -> None:
    found = cw.evaluate("cubic", against=[], cases=["beside", "pages"], setting=replace(QUICK, reps=2, seconds=20.0))
    beside = found.rows.filter(pl.col("case") == "beside")
    alone = {label: key for label, key in found.keys.items() if key[2] == outcomes.NOBODY}
    flows = found.runs.flows()
    for label, (case, variant, _) in alone.items():
        if case != "beside":
            continue
        assert set(flows.filter(pl.col("configuration") == label)["group"]) == {"bulk"}
        for rep in (0, 1):
            had = flows.filter(pl.col("configuration") == label, pl.col("rep") == rep)["goodput_bps"].sum()
            (row,) = beside.filter(pl.col("variant") == variant, pl.col("rep") == rep).to_dicts()
            assert row["harm"] == pytest.approx(100 * (had - row["bulk_bps"]) / had)
    assert (found.rows.filter(pl.col("case") == "pages")["harm"] > 0).all()


def test_a_flow_that_never_gets_its_share_counts_as_long_as_it_was_there() -> None:
    # Scalable TCP keeps what it has: a late comer does not get four fifths of its share in so short a time.
    setting = replace(QUICK, reps=1, seconds=24.0)
    found = cw.evaluate("scalable", against=["bbr"], cases=["late-comer"], setting=setting)
    times = {str(r["subject"]): float(r["converged_s"]) for r in found.rows.to_dicts()}
    assert times["scalable"] == 16.0
    assert 2.0 <= times["bbr"] < 16.0


def test_a_law_of_ones_own_is_evaluated_from_its_file_its_class_or_its_table(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "halving.py").write_text(LAW)
    name, table, law = read(str(tmp_path / "halving.py"))
    assert (name, table["law"], table["own_law"]) == ("halving", "own", "halving") and law is not None
    setting = replace(SHORT, reps=1, seconds=8.0)
    found = cw.evaluate(str(tmp_path / "halving.py"), against=["reno"], cases=["tail-drop"], setting=setting)
    assert set(found.rows["subject"]) == {"halving", "reno"}
    mine = cw.window_law(increase=lambda w: 1.0, keep=lambda w: 0.5)
    assert read(mine)[1]["law"] == "tabulated"
    (tmp_path / "table.py").write_text(
        "import crosswind as cw\nmine = cw.window_law(increase=lambda w: 1.0, keep=lambda w: 0.5)\n"
    )
    assert read(str(tmp_path / "table.py"))[1] == read(mine)[1]


def test_runs_with_a_law_from_a_file_are_made_once_until_the_file_changes(tmp_path) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "queue.py"  # the name of an imported module
    setting = replace(SHORT, reps=1, seconds=8.0)
    for text, anew in ((LAW, True), (LAW, False), (LAW.replace("/ 2", "/ 3"), True)):
        file.write_text(text)
        found = cw.evaluate(str(file), against=[], cases=["tail-drop"], setting=setting, out=tmp_path / "out")
        assert (found.runs.manifest["packets"] > 0) == anew


def test_laws_of_one_name_are_two_subjects_and_a_law_twice_is_one(tmp_path) -> None:  # type: ignore[no-untyped-def]
    for folder, share in (("new", "0.5"), ("old", "0.9")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(LAW.replace("0.5", share))
    new, old = (str(tmp_path / folder / "mine.py") for folder in ("new", "old"))
    setting = replace(SHORT, reps=1, seconds=8.0)
    found = cw.evaluate(new, against=[old, new], cases=["tail-drop"], setting=setting)
    assert list(found.subjects) == ["mine", "mine (1)"]
    goodput = found.rows.group_by("subject").agg(pl.col("bulk_bps").sum())["bulk_bps"]
    assert goodput.len() == 2 == goodput.n_unique(), "each subject is its own law"


def test_a_file_may_hold_a_name(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "mine.toml").write_text('tcp = "cubic"\n')
    assert read(str(tmp_path / "mine.toml"))[:2] == ("mine", CUBIC)
    for written, said in (('"cubik"', "tcp: found `cubik`.*did you mean `cubic`"), ("5", "tcp: found `5`, expected a")):
        (tmp_path / "wrong.toml").write_text(f"tcp = {written}\n")
        with pytest.raises(InputError, match=f"wrong.toml: {said}"):
            read(str(tmp_path / "wrong.toml"))


def test_names_are_laws_in_the_sender_of_today_or_presets() -> None:
    assert read("cubic")[1] == CUBIC
    assert read("htcp")[1] == {"preset": "linux-6", "law": "htcp"}
    assert read("ns2-sack1")[1] == {"preset": "ns2-sack1"}
    assert read('{ preset = "rfc", law = "reno" }')[:2] == ("preset rfc, law reno", {"preset": "rfc", "law": "reno"})


@pytest.mark.parametrize(
    ("law", "cases", "said"),
    [
        ("cubik", (), "did you mean `cubic`"),
        ("cubic", ("fairnes",), "did you mean `fairness`"),
        ("{ law = ", (), "a tcp table as TOML"),
        ("nowhere.py", (), "No such file"),
        ({"law": "cubic", "rto_mni": "1 s"}, ("tail-drop",), "rto_mni"),
    ],
)
def test_what_is_wrong_is_said(law: object, cases: tuple[str, ...], said: str) -> None:
    with pytest.raises(InputError, match=said):
        cw.evaluate(law, cases=cases, setting=SHORT)  # type: ignore[arg-type]


def test_a_file_without_one_law_is_refused(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "none.py").write_text("x = 1\n")
    with pytest.raises(InputError, match="0 laws"):
        read(str(tmp_path / "none.py"))
    (tmp_path / "broken.py").write_text("1 / 0\n")
    with pytest.raises(InputError, match="ZeroDivisionError"):
        read(str(tmp_path / "broken.py"))


def test_better_is_nearer_to_one_for_ratios_and_needs_an_interval() -> None:
    def words(mine: list[float], other: list[float], measure: Measure) -> str:
        case = Case("c", "1", "c", "?", lambda s, q: {}, (measure,))
        n = range(len(mine))
        rows = [{"case": "c", "variant": "v", "subject": "a", "rep": i, measure.column: mine[i]} for i in n]
        rows += [{"case": "c", "variant": "v", "subject": "b", "rep": i, measure.column: other[i]} for i in n]
        (d,) = outcomes.differences(pl.DataFrame(rows), [case], "a", "b")
        return d.words

    base = [1.0, 1.01, 1.02, 1.03, 1.04, 1.05]
    assert words(base, [4 * x for x in base], controllers.RATIO) == "better"
    assert words([x / 4 for x in base], base, controllers.RATIO) == "worse"
    assert words([100 * x for x in base], [103 * x for x in base], controllers.DELAY) == "no difference"
    assert words([100 * x for x in base], [50 * x for x in base], controllers.DELAY) == "worse"
    assert words([*base[:5], 9.0], [2.0] * 6, controllers.USE) == "no difference"
    assert words([math.nan, *base[1:]], [x / 2 for x in base], controllers.JAIN) == "no difference"


def test_the_command_writes_a_page_and_prints_json(tmp_path, capsys) -> None:  # type: ignore[no-untyped-def]
    few = ["--case", "bufferbloat", "--case", "beside", "--reps", "1", "--quick", "--against", "reno"]
    assert main(["evaluate", "cubic", *few, "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "bufferbloat: 8 BDP" in out and all(len(line) <= 80 for line in out.splitlines() if "BDP" in line)
    text = (tmp_path / "report.html").read_text()
    assert "RFC 9743, section 5.2.1" in text and "harm" in text
    assert (tmp_path / "cases.csv").read_text().startswith("case,variant,subject,rep,")
    assert main(["evaluate", "cubic", *few, "--out", str(tmp_path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {v["case"] for v in told["verdicts"]} == {"bufferbloat", "beside"}
    assert {v["measure"] for v in told["verdicts"]} == {"delay_p95_ms", "ratio"}
    assert main(["evaluate", "cubic", "--case", "x", "--out", str(tmp_path)]) == EXIT_BAD_INPUT


def test_the_matrix_has_a_row_for_each_variant_and_a_sign_for_each_other() -> None:
    found = cw.evaluate("bbr", against=["cubic", "reno"], cases=["wireless"], setting=SHORT)
    table = evaluate_page.matrix(found)
    assert [r[0] for r in table.rows] == [f"wireless: {v}" for v in ("0.1 % lost", "1 % lost", "rate falls to a third")]
    assert all(len(r[-1]) == 2 for r in table.rows)

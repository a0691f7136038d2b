"""`characterise`: the cases of RFC 7928, what is read from them, and what is said about it."""

import json
from dataclasses import replace
from types import SimpleNamespace

import polars as pl
import pytest

import crosswind as cw
from crosswind.cli import main
from crosswind.errors import EXIT_BAD_INPUT, InputError, InterruptedRunError
from crosswind.suites import QUICK, measured, operation, page, queues
from crosswind.suites.case import Setting
from crosswind.suites.characterise import SENSITIVITY, read
from crosswind.suites.operation import COST

SHORT = replace(QUICK, seconds=12.0, reps=2)


def test_the_numbers_of_flows_are_those_that_the_rfc_prints() -> None:
    # Section 8.2: 2, 5 and 7 flows where path and buffer hold 62 packets.
    s = Setting(rate_bps=1_000_000, rtt_ms=204, limit_s=0.54)
    assert s.path_packets + s.limit_packets == 62
    assert [queues.flows_at(s, p) for p in queues.LEVELS.values()] == [2, 5, 7]


@pytest.mark.parametrize("case", queues.CASES, ids=lambda c: c.id)
def test_every_case_is_a_valid_scenario(case: queues.Case) -> None:
    built = case.build(SHORT, {"type": "codel"})
    assert built
    for table in built.values():
        cw.Scenario.from_dict({"name": case.id, **table}).validate()


def test_codel_is_shorter_and_emptier_than_a_long_drop_tail() -> None:
    found = cw.characterise(
        "codel", against=["droptail"], cases=["friendly"], setting=replace(SHORT, seconds=40, reps=6)
    )
    (verdict,) = found.verdicts
    assert verdict.words == "shorter delay, emptier"
    assert verdict.delay_change_ms.high < -100
    assert {"codel", "droptail"} == set(found.rows["subject"])


def test_a_queue_beside_itself_differs_in_nothing() -> None:
    same = [{"type": "codel", "target": "5 ms"}]
    found = cw.characterise("codel", against=same, cases=["aggressive"], setting=SHORT)
    assert {v.words for v in found.verdicts} == {"no difference"}
    assert len(found.subjects) == 2


def test_every_measure_that_a_case_names_is_measured() -> None:
    found = cw.characterise("fq-codel", against=[], setting=replace(SHORT, seconds=30.0))
    for case in found.cases:
        rows = found.rows.filter(pl.col("case") == case.id)
        assert rows.is_empty() == (case is COST), case.id
        for m in case.measures:
            values = rows[m.column].drop_nulls().drop_nans()
            assert len(values), f"{case.id} never has {m.column}"
            assert (values >= 0).all()
    assert set(found.costs) == {"", "fq-codel"} and min(found.costs.values()) > 10
    scores = found.rows["mos"].drop_nulls()
    assert 1.0 <= scores.min() <= scores.max() <= 4.5  # type: ignore[operator]
    rates = found.rows["utilisation"]
    assert 0.0 < rates.min() <= rates.max() <= 1.0  # type: ignore[operator]


def test_parameters_are_changed_one_by_one() -> None:
    found = cw.characterise({"type": "codel"}, against=[], cases=["sensitivity"], setting=replace(SHORT, seconds=4.0))
    variants = set(found.rows["variant"])
    assert {"as it is", "target x0.5", "target x2", "interval x4", "limit x0.5"} <= variants
    label = next(c for c, k in found.keys.items() if k[:2] == (SENSITIVITY.id, "target x2"))
    assert found.runs.scenarios[label].get("link.bottleneck.queue.target") == "10 ms"


def test_a_queue_can_be_a_name_a_table_its_text_or_a_file(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "mine.toml").write_text('type = "pie"\ntarget = "20 ms"\n')
    wanted = {"type": "pie", "target": "20 ms"}
    assert read(str(tmp_path / "mine.toml")) == ("mine", wanted)
    assert read('{ type = "pie", target = "20 ms" }') == ("pie target 20 ms", wanted)
    assert read(wanted) == ("pie", wanted) and read("pie") == ("pie", {"type": "pie"})
    (tmp_path / "named.toml").write_text('queue = "pie"\n')
    assert read(str(tmp_path / "named.toml")) == ("named", {"type": "pie"})
    for written, said in (
        ('"codle"', "queue: found `codle`.*did you mean `codel`"),
        ("5", "queue: found `5`, expected a"),
    ):
        (tmp_path / "wrong.toml").write_text(f"queue = {written}\n")
        with pytest.raises(InputError, match=f"wrong.toml: {said}"):
            read(str(tmp_path / "wrong.toml"))


@pytest.mark.parametrize(
    ("queue", "cases", "said"),
    [
        ("codle", (), "did you mean `codel`"),
        ("codel", ("stedy",), "did you mean `steady`"),
        ("{ type = ", (), "a queue as TOML"),
        ("nowhere.toml", (), "No such file"),
        ({"type": "codel", "targt": "5 ms"}, ("friendly",), "target"),
    ],
)
def test_what_is_wrong_is_said(queue: object, cases: tuple[str, ...], said: str) -> None:
    with pytest.raises(InputError, match=said):
        cw.characterise(queue, cases=cases, setting=SHORT)  # type: ignore[arg-type]


def test_small_or_unsure_differences_are_none() -> None:
    def rows(delays: list[float], use: list[float], subject: str) -> pl.DataFrame:
        n = len(delays)
        same = {"case": ["c"] * n, "variant": ["v"] * n, "subject": [subject] * n, "rep": list(range(n))}
        return pl.DataFrame({**same, "delay_p95_ms": delays, "utilisation": use})

    base = [100.0, 101.0, 102.0, 103.0, 104.0, 105.0]
    beside = rows(base, [0.9] * 6, "b")

    def words(delays: list[float], use: float = 0.9) -> str:
        n = len(delays)
        (verdict,) = measured.verdicts(pl.concat([rows(delays, [use] * n, "a"), beside.head(n)]), "a", "b")
        return verdict.words

    assert words([d - 5 for d in base]) == "no difference"  # sure, but less than a tenth
    assert words([d - 50 for d in base[:5]] + [200.0]) == "no difference"  # large, but not sure
    assert words([d - 20 for d in base], 0.95) == "shorter delay, fuller"
    assert words([d + 20 for d in base], 0.895) == "longer delay"
    for few in range(1, 6):  # a range is no 95 % interval
        assert words([d - 20 for d in base[:few]], 0.95) == "no difference"


def test_the_command_writes_a_page_and_prints_json(tmp_path, capsys) -> None:  # type: ignore[no-untyped-def]
    few = ["--case", "friendly", "--case", "cost", "--reps", "1", "--quick", "--against", "droptail,fq_codel"]
    assert main(["characterise", "codel", *few, "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "friendly: reno" in out
    text = (tmp_path / "report.html").read_text()
    assert "5.1.1" in text and "What a packet costs" in text and "droptail (plain)" in text
    assert "What an operator sets" in text and "interval" in text
    assert (tmp_path / "cases.csv").read_text().startswith("case,variant,subject,rep,")
    assert main(["characterise", "codel", *few, "--out", str(tmp_path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {v["case"] for v in told["verdicts"]} == {"friendly"} and len(told["rows"]) == 3
    assert main(["characterise", "codel", "--case", "x", "--out", str(tmp_path)]) == EXIT_BAD_INPUT


def test_a_background_flow_stays_behind_reno_where_its_target_is_longer_than_the_queue() -> None:
    found = cw.characterise(
        "droptail", against=["codel"], cases=["less-than-best-effort"], setting=replace(SHORT, seconds=60, reps=2)
    )
    share = found.rows.group_by("variant", "subject").agg(pl.col("ratio").median())
    of = {(v, s): r for v, s, r in share.iter_rows()}
    # Behind a queue that keeps below the target nobody can tell it to give way (RFC 7928, section 5.4).
    assert of["60 ms", "droptail"] < of["60 ms", "codel"] and of["5 ms", "droptail"] < 0.2


def test_a_first_look_has_fewer_variants_and_ecn_may_be_everywhere() -> None:
    for case, least in (("rtt-fairness", 12), ("aggressive", 3), ("unresponsive", 1)):
        build = queues.CASES_BY_ID[case].build
        few, whole = (build(replace(SHORT, detail=d), {"type": "codel"}) for d in ("few", "all"))
        assert set(few) < set(whole) and len(whole) - len(few) == least
    marked = queues.CASES_BY_ID["mix"].build(replace(SHORT, ecn="on"), {"type": "codel"})["mix"]
    assert marked["flow"]["bulk"]["tcp"]["ecn"] == marked["flow"]["web"]["tcp"]["ecn"] == "on"


def test_the_matrix_says_where_the_delay_is_longest() -> None:
    found = cw.characterise("codel", against=["droptail"], cases=["friendly", "mix"], setting=SHORT)
    table = page.matrix(found)
    assert table.heads == ["case", "codel", "droptail"]
    assert "Longest: codel" in table.note


def test_an_interrupt_while_costs_are_measured_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operation, "run", lambda *_args, **_kw: SimpleNamespace(interrupted=True))
    with pytest.raises(InterruptedRunError, match="its case begins anew"):
        operation.costs({"codel": {"type": "codel"}}, SHORT)

"""The command line as a person or a script meets it: output, files, exit codes, messages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from crosswind.cli import HOMES, application, main
from crosswind.reproduce import pages as reproduction
from crosswind.reproduce.readings import Reading

Engine = Callable[..., Any]
Capture = pytest.CaptureFixture[str]
ROOT = Path(__file__).resolve().parents[2]
COMMANDS = (
    *("run", "sweep", "query", "compare", "reproduce", "scoreboard"),
    *("list", "show", "validate", "report", "bench"),
)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def refused(capture: Capture, arguments: list[str], *said: str) -> None:
    """The command ends with 2, prints one line to stderr and nothing to stdout, and no traceback."""
    assert main(arguments) == 2
    out, err = capture.readouterr()
    assert out == ""
    assert err.count("\n") == 1, err
    assert "Traceback" not in err
    for text in said:
        assert text in err, err


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str, capsys: Capture) -> None:
    assert main([command, "--help"]) == 0
    assert f"Example: crosswind {command}" in " ".join(capsys.readouterr().out.split())


def test_run_writes_tables_manifest_and_report(engine: Engine, file: Path, tmp_path: Path, capsys: Capture) -> None:
    assert main(["run", str(file), "--out", "results"]) == 0
    out = capsys.readouterr().out
    assert "bulk-1" in out and "utilisation" in out and "queue last-hop" in out and "report.html" in out
    written = {p.name for p in (tmp_path / "results").iterdir()}
    assert {"manifest.json", "flow.parquet", "link.parquet", "report.html", "figures"} <= written


def test_run_prints_json_for_scripts(engine: Engine, file: Path, capsys: Capture) -> None:
    assert main(["run", str(file), "--out", "r", "--reps", "2", "--seed", "9", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["seed"] == 9 and len(data["flows"]) == 4
    assert {"goodput_bps", "retransmitted_packets", "rtt_p95_ns"} <= set(data["flows"][0])


def test_run_repeats_until_the_wanted_precision_is_reached(engine: Engine, file: Path, capsys: Capture) -> None:
    assert main(["run", str(file), "--precision", "goodput=2%", "--reps-max", "200", "--out", "r", "--json"]) == 0
    assert 8 < json.loads(capsys.readouterr().out)["reps"] <= 200
    refused(capsys, ["run", str(file), "--precision", "goodput"], "--precision", "goodput=1%")
    refused(capsys, ["run", str(file), "--precision", "goodput=1%", "--pcap", "--out", "p"], "one repetition")


def test_set_reaches_the_engine_and_the_manifest(engine: Engine, file: Path, tmp_path: Path) -> None:
    assert main(["run", str(file), "--set", "link.last-hop.rate=384 kbit/s", "--out", "r"]) == 0
    manifest = json.loads((tmp_path / "r/manifest.json").read_text())
    assert manifest["scenarios"][0]["scenario"]["link"]["last-hop"]["rate"] == "384 kbit/s"


def test_pcap_names_a_file_in_the_out_folder(engine: Engine, file: Path, tmp_path: Path) -> None:
    assert main(["run", str(file), "--pcap", "--out", "r"]) == 0
    manifest = json.loads((tmp_path / "r/manifest.json").read_text())
    assert manifest["scenarios"][0]["scenario"]["record"]["pcap"] == "packets.pcapng"


def test_bad_input_is_refused_with_one_clear_message(engine: Engine, file: Path, capsys: Capture) -> None:
    run = ["run", str(file), "--out", "r"]
    refused(capsys, ["run", "nowhere.toml"], "nowhere.toml", "no such file")
    refused(capsys, ["run", str(file.parent)], "a directory")
    refused(capsys, [*run, "--set", "link.last-hop.rate=-1 bit/s"], "link.last-hop.rate", "-1 bit/s", "positive rate")
    refused(capsys, [*run, "--set", "link.lasthop.rate=1 bit/s"], "did you mean `last-hop`")
    refused(capsys, [*run, "--set", "lnk.a=1"], "lnk", "did you mean `link`")
    refused(capsys, [*run, "--set", "seed"], "--set", "path=value")
    refused(capsys, [*run, "--pcap", "--reps", "2"], "--pcap", "one repetition")
    refused(capsys, [*run, "--reps", "0"], "--reps")
    refused(capsys, [*run, "--seed", "x"], "--seed")
    refused(capsys, ["runn"], "runn")
    refused(capsys, ["run"], "SCENARIO.toml")
    refused(capsys, ["reproduce", "jarvinen-2006/w2e0"], "did you mean `jarvinen-2006/w2-e0`")
    refused(capsys, ["reproduce", "w1-e0"], "did you mean `jarvinen-2006/w1-e0`")
    refused(capsys, ["reproduce", "jarvinen-2006/w1-e0", "--variant", "linux-windo"], "did you mean `linux-window`")
    refused(capsys, ["list", "ques"], "did you mean `queues`")
    refused(capsys, ["show", "drop-tail"], "did you mean `droptail`")
    refused(capsys, ["report", str(file.parent)], "no manifest.json")
    refused(capsys, ["sweep", str(file), "--vary", "seed"], "path=a,b,c")


def test_a_second_link_of_the_same_name_is_refused(engine: Engine, file: Path, capsys: Capture) -> None:
    file.write_text(file.read_text() + '\n[link.last-hop]\nfrom = "a"\n')
    refused(capsys, ["validate", str(file)], "a second link with the name `last-hop`", "first on line 5")


def test_an_out_folder_that_cannot_be_written_is_refused_before_anything_runs(
    engine: Engine, file: Path, tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "taken").write_text("")
    refused(capsys, ["run", str(file), "--out", "taken"], "--out", "which is a file")
    refused(capsys, ["run", str(file), "--out", "taken/below"], "--out", "below a file")
    if os.geteuid() != 0:
        (tmp_path / "locked").mkdir(mode=0o500)
        assert main(["run", str(file), "--out", "locked/r"]) == 3


def test_ctrl_c_keeps_finished_runs_and_ends_with_130(
    engine: Engine, file: Path, tmp_path: Path, capsys: Capture
) -> None:
    engine(stop_after=3)
    assert main(["run", str(file), "--reps", "9", "--out", "r"]) == 130
    assert "3 of 9 runs are finished and kept in r" in capsys.readouterr().err
    manifest = json.loads((tmp_path / "r/manifest.json").read_text())
    assert manifest["runs"] == 3 and "3 runs finished of 9" in manifest["warnings"][0]
    engine(stop_after=3)
    assert main(["reproduce", "jarvinen-2006/w1-e0", "--quick", "--out", "w1"]) == 130
    assert "3 finished runs are kept" in capsys.readouterr().err
    assert (tmp_path / "w1/flow.parquet").exists()


def test_ctrl_c_outside_of_runs_is_said_too(
    engine: Engine, file: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    def pressed(_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("crosswind.scenario.Scenario.validate", pressed)
    assert main(["run", str(file), "--out", "r"]) == 130
    assert capsys.readouterr().err == "crosswind: interrupted\n"


def test_reproduce_prints_and_writes_every_claim(engine: Engine, tmp_path: Path, capsys: Capture) -> None:
    assert main(["reproduce", "jarvinen-2006/w2-e0", "--quick", "--out", "w2"]) == 1
    out = capsys.readouterr().out
    for claim in ("J55", "J56", "J57", "J58", "J59", "J60", "J61", "J62"):
        assert claim in out
    assert "first look, no verdicts: 8 claims" in out.replace("\n", " ")
    page = (tmp_path / "w2/report.html").read_text()
    assert page.count('<figure id="fig-') == 5 and "J62" in page
    assert {"claim.parquet", "claims.json", "repetition.parquet", "manifest.json"} <= {
        p.name for p in (tmp_path / "w2").iterdir()
    }
    assert main(["report", "w2"]) == 0


def test_all_readings_are_run_and_compared_beside_the_suggested_one(
    engine: Engine, tmp_path: Path, capsys: Capture
) -> None:
    from crosswind.reproduce import catalogue

    assert main(["reproduce", "jarvinen-2006/w2-e0", "--reps", "3", "--variants", "--out", "w2", "--json"]) == 1
    rows = json.loads(capsys.readouterr().out)
    names = set(catalogue.find("jarvinen-2006/w2-e0")[0].variants)
    assert "linux-window" in names and "main" not in names
    assert [r["claim"] for r in rows] == [f"J{n}" for n in range(55, 63)]
    assert all(set(r["readings"]) == names and r["experiment"] == "jarvinen-2006/w2-e0" for r in rows)
    assert {p.parent.name for p in (tmp_path / "w2/variants").glob("*/claims.json")} == names
    changed = json.loads((tmp_path / "w2/variants/linux-window/manifest.json").read_text())
    assert changed["scenarios"][0]["scenario"]["flow"]["bulk"]["tcp"]["receive_window"] == "linux-2.4"
    page = (tmp_path / "w2/report.html").read_text()
    assert all(f"<td>{name}</td>" in page for name in ("main", *names))
    assert main(["report", "w2"]) == 0
    assert (tmp_path / "w2/report.html").read_text().count("<td>linux-window</td>") == 1
    capsys.readouterr()
    refused(capsys, ["reproduce", "w2-e0", "--variants"], "did you mean")


@pytest.mark.engine
def test_a_reading_stands_beside_the_main_one_in_the_table_of_claims(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["reproduce", "riva-2003/mechanisms", "--variants", "--out", "m", "--formats", "none"]) == 0
    printed = capsys.readouterr().out
    assert "verdict, kernel" in printed and "Verdicts by reading" in printed
    # All of five, and by grade (all of them are strong); the former reading's window grows as no kernel's does.
    assert printed.count("4 / 1 / 0") == 2 and printed.count("5 / 0 / 0") == 4
    page = (tmp_path / "m/report.html").read_text()
    assert "Verdict, <code>kernel</code>" in page and "1.02 segments" in page and "5 / 0 / 0" in page
    rows = json.loads((tmp_path / "m/claims.json").read_text())
    reproduction.write(rows, {"riva-2003/mechanisms": _readings(tmp_path / "m")}, tmp_path / "pages", str)
    text = (tmp_path / "pages/riva-2003.md").read_text()
    assert "| cause | kernel | former |" in text and "S strong, M moderate" in text and "5 claims: 5 pass" in text
    assert (
        "[riva-2003](riva-2003.md) | 5 | 0 | 0 | 0 | 0 | 0 | 3 | 33 % of 75 | 80 % of 5 | 100 % |"
        in (tmp_path / "pages/index.md").read_text()
    )


def _readings(folder: Path) -> list[Reading]:
    """Those of a saved experiment; the main one of what its claims say."""
    manifest = json.loads((folder / "manifest.json").read_text())
    rows = json.loads((folder / "claims.json").read_text())
    apart = [r["claim"] for r in rows if r["kind"] != "evidence"]
    own = Reading("main", "", {}, {r["claim"]: r["verdict"] for r in rows}, apart=apart)
    return [own, *(Reading(**r) for r in manifest["readings"])]


def test_words_that_the_command_does_not_know_are_refused(capsys: Capture) -> None:
    refused(capsys, ["reproduce", "jarvinen-2006/w2-e0", "--formats", "pgn"], "did you mean `png`")
    refused(
        capsys,
        ["reproduce", "jarvinen-2006/w2-e0", "--variants", "--variant", "linux-window"],
        "--variants",
        "one of the two",
    )


def test_without_asking_the_report_only_names_the_other_readings(engine: Engine, tmp_path: Path) -> None:
    main(["reproduce", "jarvinen-2006/w1-e0", "--reps", "3", "--out", "w1"])
    page = (tmp_path / "w1/report.html").read_text()
    assert "linux-window" in page and "They were not run" in page and "<td>linux-window</td>" not in page
    assert not (tmp_path / "w1/variants").exists()


def test_reproduce_json_rows_have_the_agreed_keys(engine: Engine, capsys: Capture) -> None:
    main(["reproduce", "jarvinen-2006/w1-e0", "--quick", "--json", "--out", "w1"])
    rows = json.loads(capsys.readouterr().out)
    keys = {"experiment", "claim", "statement", "published", "measured", "ci", "accept", "verdict", "n", "seconds"}
    assert rows and all(keys <= set(r) for r in rows)
    assert {f"J{n}" for n in range(35, 47)} <= {r["claim"] for r in rows}


def test_list_and_show_know_elements_and_experiments(engine: Engine, capsys: Capture) -> None:
    assert main(["list", "--json"]) == 0
    names = {r["name"] for r in json.loads(capsys.readouterr().out)}
    assert {"droptail", "rfc", "jarvinen-2006/w1-e0", "jarvinen-2006/mechanisms"} <= names
    assert main(["show", "droptail"]) == 0
    assert "Most it holds." in capsys.readouterr().out
    assert main(["show", "jarvinen-2006/mechanisms"]) == 0
    assert "J34" in capsys.readouterr().out


def test_validate_names_every_file_that_is_wrong(engine: Engine, tmp_path: Path, capsys: Capture) -> None:
    names = ["one.toml", "two.toml"]
    for name in names:
        (tmp_path / name).write_text('nmae = "x"\n')
    assert main(["validate", *(str(tmp_path / n) for n in names)]) == 2
    said = capsys.readouterr().err
    assert all(name in said for name in names)


def test_validate_says_ok_or_fills_in_defaults(engine: Engine, file: Path, capsys: Capture) -> None:
    assert main(["validate", str(file)]) == 0
    assert "ok (2 flows" in capsys.readouterr().out
    assert main(["validate", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["seed"] == 1


def test_reproduce_all_writes_the_page(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    from crosswind.reproduce import catalogue

    only = catalogue.find("jarvinen-2006/w1-e0")
    monkeypatch.setattr(catalogue, "find", lambda _: only)
    main(["reproduce", "all", "--quick"])
    text = (tmp_path / "docs/reproduction/jarvinen-2006.md").read_text()
    assert "# jarvinen-2006" in text and "| J46 |" in text
    assert "of 0 judged claims pass" in text and "| not yet (first look)" in text
    assert "| reading |" not in text
    assert "(jarvinen-2006.md)" in (tmp_path / "docs/reproduction/index.md").read_text()
    main(["reproduce", "all", "--quick", "--variants"])
    assert "| linux-window | " in (tmp_path / "docs/reproduction/jarvinen-2006.md").read_text()


def test_without_the_engine_the_message_says_how_to_build_it(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    import sys

    import crosswind

    monkeypatch.setitem(sys.modules, "crosswind._core", None)
    monkeypatch.delattr(crosswind, "_core", raising=False)
    assert main(["run", str(file)]) == 3
    assert "make setup" in capsys.readouterr().err


def test_the_command_line_starts_without_the_drawing_library() -> None:
    program = "import sys, crosswind.cli; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_run_loads_nothing_that_it_does_not_use(file: Path, tmp_path: Path) -> None:
    others = ["crosswind.cli.bench", "crosswind.cli.tc", "crosswind.sweep", "crosswind.reproduce.experiment"]
    others += ["crosswind.report", "crosswind.studio", "matplotlib", "scipy", "pandas", "jinja2"]
    arguments = ["run", str(file), "--json", "--out", str(tmp_path / "out")]
    program = f"import sys\nfrom crosswind.cli import main\nassert main({arguments!r}) == 0\n"
    program += f"sys.exit(str([m for m in {others!r} if m in sys.modules] or 0))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stderr.strip() == "0", done.stderr


def test_each_file_adds_the_commands_that_it_is_said_to() -> None:
    for home, words in HOMES.items():
        assert set(get_command(application(words[0])).commands) == set(words), home  # type: ignore[attr-defined]
    every = [w for words in HOMES.values() for w in words]
    assert set(get_command(application()).commands) == set(every) and len(set(every)) == len(every)  # type: ignore[attr-defined]
    files = {f.stem for f in (ROOT / "python/crosswind/cli").glob("*.py")}
    assert files - {"__init__", "shared", "streams", "values", "findings"} == {*HOMES}

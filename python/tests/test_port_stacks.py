"""Laws in QUIC stacks: the crate that is written, what is refused, and the window beside that of TCP."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from crosswind.cli import main
from crosswind.core import registry
from crosswind.emulate.port import stacks
from crosswind.errors import EXIT_BAD_INPUT, EXIT_DONE
from crosswind.scenario import Scenario

HAS_STACKS = any(row["kind"] == "stack" for row in registry())
built = pytest.mark.skipif(not HAS_STACKS, reason="this build has no real stacks (make stacks)")


@pytest.mark.parametrize("stack", stacks.RELEASES)
def test_a_crate_holds_the_law_with_its_parameters_and_the_adaptor_as_it_is_tested(stack: str, tmp_path: Path) -> None:
    words = ["port", "htcp", "--to", stack, "--set", "htcp.beta_max=0.7", "--out", str(tmp_path)]
    assert main(words) == EXIT_DONE
    lib = (tmp_path / "src" / "lib.rs").read_text()
    (line,) = (one for one in lib.splitlines() if one.startswith("pub const LAW"))
    assert json.loads(line.split('#"')[1].split('"#')[0]) == {"law": "htcp", "htcp": {"beta_max": 0.7}}
    assert "@" not in lib and "@" not in (tmp_path / "README.md").read_text()
    manifest = tomllib.loads((tmp_path / "Cargo.toml").read_text())
    crate, release = stacks.RELEASES[stack]
    assert manifest["dependencies"][crate]["version"] == release and "crosswind-sim" not in manifest["dependencies"]
    crates = Path(__file__).parents[2] / "crates" / "stacks" / "src"
    for file, source in (("law.rs", "quic/law.rs"), ("controller.rs", f"{stack}/controller.rs")):
        assert (tmp_path / "src" / file).read_text() == (crates / source).read_text()
    what = Scenario.load(tmp_path / "check.toml")
    assert stacks.stack_of(what) == stack
    assert what.get(f"flow.{stacks.FLOW}.transport.law") == {"law": "htcp", "htcp": {"beta_max": 0.7}}


def test_a_law_in_the_name_of_a_crate() -> None:
    assert stacks.slug("ledbat++") == "ledbat" and stacks.slug("hstcp") == "hstcp"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["bbr", "--to", "quinn"], "delivery rates"),
        (["hstpc", "--to", "noq"], "did you mean `hstcp`"),
        (["htcp", "--to", "quinn", "--set", "htcp.beta=1"], "did you mean `beta_max`"),
        (["htcp", "--to", "quinn", "--set", "reno.x=1"], "htcp.KEY"),
        (["htcp", "--to", "quinn", "--remove"], "--to kernel"),
        (["htcp", "--to", "quinn", "--", "true"], "--to kernel"),
        (["htcp", "--to", "quic"], "kernel"),
    ],
)
def test_wrong_input_is_named(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["port", *words]) == EXIT_BAD_INPUT
    assert said in capsys.readouterr().err


@built
@pytest.mark.engine
@pytest.mark.parametrize(("stack", "law"), [("quinn", "hstcp"), ("noq", "cubic"), ("quinn", "reno")])
def test_the_window_in_a_stack_is_that_in_tcp(stack: str, law: str) -> None:
    found = stacks.compare(stacks.scenario(stack, law, {}))
    assert found.is_alike and abs(found.difference) < 0.02, found.as_dict()


@built
@pytest.mark.engine
def test_a_law_that_is_another_is_noticed() -> None:
    what = stacks.scenario("quinn", "reno", {})
    right = stacks.compare(what)
    wrong = stacks.compare(stacks.scenario("quinn", "scalable", {}))
    assert right.is_alike
    assert not stacks.BesideTcp("reno", "quinn", what, right.tcp, wrong.ours).is_alike


@built
def test_the_command_shows_both_windows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "check.toml").write_text(stacks.scenario("quinn", "reno", {}).to_toml())
    assert main(["port", "--run", str(tmp_path / "check.toml"), "--for", "20", "--json"]) == EXIT_DONE
    said = json.loads(capsys.readouterr().out)
    assert said["stack"] == "quinn" and said["duration_s"] == 20
    assert (tmp_path / "report.html").stat().st_size > 10_000

"""The pages that people read first: what they tell to type works, and what they point to exists."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from crosswind import Scenario, registry
from crosswind import run as run_scenario
from crosswind.cli import application, main
from crosswind.scenario.known_paths import unknown_step

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    ROOT / "ARCHITECTURE.md",
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "benches/README.md",
]


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)


def run(source: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", source], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_between_pages_point_to_files_that_exist(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = [t.partition("#")[0] for t in re.findall(r"\]\(([^)\s]+)\)", text) if "://" not in t]
    missing = [t for t in targets if t and not (page.parent / t).exists()]
    assert not missing, f"{page.name} points to {missing}"


@pytest.mark.engine
def test_the_example_of_the_readme_runs() -> None:
    (example,) = blocks("README.md", "python")
    done = run(example, ROOT)
    assert done.returncode == 0, done.stderr
    assert "40 packets" in done.stdout


@pytest.mark.engine
def test_the_scenario_and_the_program_of_the_tutorial_run(tmp_path: Path) -> None:
    (scenario,) = blocks("docs/tutorial.md", "toml")
    (tmp_path / "mine.toml").write_text(scenario, encoding="utf-8")
    (program,) = blocks("docs/tutorial.md", "python")
    done = run(program, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "100 packets" in done.stdout


@pytest.mark.engine
@pytest.mark.parametrize("page", ["cluster", "compare", "own-law"])
def test_the_programs_of_the_how_to_pages_run(page: str) -> None:
    for program in blocks(f"docs/how-to/{page}.md", "python"):
        done = run(program, ROOT)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("page", "file"),
    [("docs/how-to-add.md", "crates/net/tests/guide/every.rs"), ("docs/how-to/stacks.md", "crates/lab/tests/guide.rs")],
)
def test_the_rust_of_the_guides_is_what_tests_compile(page: str, file: str) -> None:
    shown, *rows = blocks(page, "rust")
    assert shown in (ROOT / file).read_text(encoding="utf-8")
    # A row of the registry stands alone.
    assert all(row.strip().startswith("Loss ") for row in rows)


@pytest.mark.engine
def test_the_metric_tables_are_those_of_the_engine() -> None:
    done = subprocess.run([sys.executable, "tools/results.py", "--check"], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.engine
def test_the_link_that_stands_for_all_of_seawind_is_a_scenario(tmp_path: Path) -> None:
    (link,) = blocks("docs/coming-from/seawind.md", "toml")
    flow = '[flow.f]\nfrom = "router"\nto = "mobile"\nworkload = { type = "bulk", size = "50 kB" }\n'
    file = tmp_path / "all.toml"
    file.write_text(f'name = "all"\nduration = "60 s"\n\n{link}\n{flow}', encoding="utf-8")
    assert Scenario.load(file).validate()["link"]["last-hop"]["type"] == "seawind"


def test_the_page_on_trust_says_what_the_pages_of_evidence_say() -> None:
    said = (ROOT / "docs/trust.md").read_text(encoding="utf-8")
    pages = {
        n: (ROOT / f"docs/validation{n}.md").read_text(encoding="utf-8") for n in ("", "-twins", "-qos", "-diffserv")
    }
    for page, pattern, here in (
        ("", r"(\d+ of \d+) deterministic cases are the same", "{} cases the same"),
        ("", r"(\d+ of \d+) statistical comparisons", "{} comparisons without"),
        ("", r"(\d+ of \d+) rate curves", "{} fit"),
        ("", r"within\s+5%; (\d+ of \d+) are", "within 5 % in {}"),
        ("-twins", r"\| goodput \| (\d+) \|", "goodput within 5 % in {} of"),
        ("-twins", r"\| mean RTT \| (\d+) \|", "mean round-trip time in {},"),
        ("-twins", r"\| retransmissions \| (\d+) \|", "retransmissions in {};"),
        ("-qos", r"Largest difference: (\S+)%", "within {} %"),
        ("-diffserv", r"(\d+ of \d+) numbers show no difference", "{} numbers without"),
    ):
        found = re.search(pattern, pages[page])
        assert found is not None, pattern
        assert here.format(found.group(1)) in said, f"docs/trust.md: {found.group(0)}"
    tapes = len(list((ROOT / "crates").rglob("*.tape")))
    assert f"{tapes} tapes" in said, f"docs/trust.md: there are {tapes} tapes"


def test_the_picture_of_the_readme_is_drawn_from_the_measured_numbers(tmp_path: Path) -> None:
    file = tmp_path / "picture.svg"
    done = subprocess.run(
        [sys.executable, "-m", "validation.twin.picture", str(file)], cwd=ROOT, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert file.read_bytes() == (ROOT / "docs/images/simulation-and-kernel.svg").read_bytes()


COMING = sorted((ROOT / "docs/coming-from").glob("*.md"))


@pytest.mark.engine
@pytest.mark.parametrize("page", [p for p in COMING if p.stem != "seawind"], ids=lambda p: p.stem)
def test_the_scenario_of_a_coming_from_page_runs(page: Path, tmp_path: Path) -> None:
    (tmp_path / "cellular.trace").write_bytes((ROOT / "scenarios/cellular.trace").read_bytes())
    (text,) = blocks(str(page), "toml")
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    flows = run_scenario(Scenario.load(tmp_path / "mine.toml")).flows()
    assert flows["received_bytes"].min() > 100_000  # type: ignore[operator]


@pytest.mark.engine
@pytest.mark.parametrize("page", COMING, ids=lambda p: p.stem)
def test_what_coming_from_pages_name_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    rows = registry()
    names = {r["name"] for r in rows}
    presets = {r["name"] for r in rows if r["kind"] in ("preset", "profile")}
    for named in re.findall(r'type = "([a-z0-9-]+)"', text):
        assert named in names, named
    # Seawind's page quotes values of one link, which the test above validates as a whole, and keys of Seawind's own.
    of_rows = page.stem != "seawind"
    for named in re.findall(r'preset = "([a-z0-9.-]+)"', text) if of_rows else []:
        assert named in presets, named
    # A table may name several in one cell: `type = "bulk"`, `"on-off"`, `"cbr"`.
    for named in re.findall(r'`"([a-z0-9.-]+)"`', text) if of_rows else []:
        assert named in names, named
    for words in re.findall(r"`crosswind ((?:show|list) [^`]+)`", text):
        assert main(words.split()) == 0, words
    for inline in re.findall(r"`([a-z_]+ = [^`.]*)`", text) if of_rows else []:
        key = inline.split(" = ")[0]
        where = ("link.x.", "link.x.queue.", "flow.x.", "flow.x.tcp.", "record.", "")
        assert any(unknown_step(w + key) is None for w in where), inline


def commands_of(text: str) -> list[str]:
    """Every command line in code of a page, without what stands in quotes and what comes after `--`."""
    text = text.replace("\\\n", " ")
    found = re.findall(r"`(crosswind [a-z][^`\n]*)`", text)
    for block in re.findall(r"```\w*\n(.*?)```", text, re.DOTALL):
        found += re.findall(r"^\s*(?:\$ )?(?:[A-Z_]+=\S+ )*(crosswind [a-z][^\n#|]*)", block, re.MULTILINE)
    return [re.sub(r"'[^']*'|\"[^\"]*\"", "x", c).split(" -- ")[0] for c in found]


@cache
def all_commands() -> Any:
    return get_command(application())


def unknown_word(command: str) -> str | None:
    """The first command or option in it that there is not."""
    at, words = all_commands(), command.split()[1:]
    while words and hasattr(at, "commands"):
        name = words.pop(0).strip(",;:.")
        if name not in at.commands:
            return name
        at = at.commands[name]
    known = {"--help", *(o for p in at.params for o in (*p.opts, *p.secondary_opts))}
    return next((w for w in re.findall(r"(?<!\S)--?[a-z][a-z-]*", " ".join(words)) if w not in known), None)


@pytest.mark.engine
def test_every_command_and_option_that_pages_name_is_there() -> None:
    pages = [*PAGES, *sorted((ROOT / "docs").glob("*/*.md"))]
    named = [(p.name, c) for p in pages for c in commands_of(p.read_text(encoding="utf-8"))]
    assert len(named) > 300
    assert [(p, c, w) for p, c in named if (w := unknown_word(c))] == []
    files = {f for p in pages for f in re.findall(r"\bscenarios/[\w/.-]+\.toml", p.read_text(encoding="utf-8"))}
    assert (
        len(files) > 5 and [f for f in files if not list(ROOT.glob(f)) and not list(ROOT.glob(f"crates/*/{f}"))] == []
    )
    assert (
        unknown_word("crosswind run x.toml --rep 3") == "--rep" and unknown_word("crosswind study eplar D") == "eplar"
    )


def test_every_test_that_the_page_on_rfc_9331_names_is_there() -> None:
    page = (ROOT / "docs/validation-rfc9331.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z0-9_]{20,}(?:\.tape)?)`", page))
    assert len(named) >= 8
    law = "".join(f.read_text(encoding="utf-8") for f in (ROOT / "crates/transport/src/tcp/law/prague").glob("*.rs"))
    tapes = {f.name for f in (ROOT / "crates/transport/tests/tapes").glob("*.tape")}
    assert [n for n in sorted(named) if n not in tapes and f"fn {n}(" not in law] == []


def test_the_page_on_queues_names_every_queue_and_keys_that_there_are() -> None:
    page = (ROOT / "docs/how-to/queues.md").read_text(encoding="utf-8")
    rows = [[c.strip() for c in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("| `")]
    keys = {r["name"]: {p.split(".")[0] for p in r["params"]["properties"]} for r in registry("queue")}
    named = {q: set(re.findall(r"`(\w+)", row[2])) for row in rows for q in re.findall(r"`([\w-]+)`", row[0])}
    assert set(named) == set(keys)
    for row in rows:
        queues = re.findall(r"`([\w-]+)`", row[0])
        there = set().union({"quantum"}, *(keys[q] for q in queues))
        assert set(re.findall(r"`(\w+)", row[2])) <= there, queues

"""The studio as a person has it: a real browser on a real server."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from browser import CHROMIUM, Browser
from random_scenarios import random_scenario

# Chromium is an optional tool (tools/optional-tools.sh).
pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
]

SCENARIO = """\
name = "two"
title = "Two downloads <b>and markup</b>"
duration = "10 s"

[link.path]     # the bottleneck
from = "server"
to = "client"
rate = "5 Mbit/s"
delay = "20 ms"
queue = { type = "droptail", limit = "60 packets" }

[flow.bulk]
from = "server"
to = "client"
count = 2
start = { uniform = ["0 s", "1 s"] }
workload = { type = "bulk" }
tcp = { preset = "linux-6-cubic" }
"""
BULK = 'workload = { type = "bulk" }\ntcp = { preset = "linux-6-cubic" }'
# Keys of all charts, and the ends of their axes.
DRAWN = "JSON.stringify([...document.querySelectorAll('.panel')].map((p) => [p.dataset.key, p.dataset.top]))"
TEXT = "document.getElementById('text')"
WRONG = "document.getElementById('status')?.className === 'wrong' && document.getElementById('status').textContent"


# A studio that gives a run up after a second of computing.
HASTY = """
import sys
from crosswind.cli import main
from crosswind.studio import limits
limits.Clock.__init__.__defaults__ = (1.0,)
sys.exit(main(sys.argv[1:]))
"""


@contextlib.contextmanager
def served(*program: str) -> Iterator[str]:
    """The address of a studio that runs meanwhile."""
    command = [sys.executable, *program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            line = process.stdout.readline()
            found = re.search(r"http://127\.0\.0\.1:\d+/\S+/", line)
            assert found, line
            yield found[0]
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    file = tmp_path_factory.mktemp("studio") / "two.toml"
    file.write_text(SCENARIO)
    with served("-m", "crosswind", "studio", str(file), "--no-browser") as address:
        yield address


@pytest.fixture
def page(studio: str, tmp_path: Path) -> Iterator[Browser]:
    browser = Browser(tmp_path)
    try:
        browser.ours.add(urlsplit(studio).netloc)
        browser.go(studio)
        answered(browser)
        yield browser
        assert not browser.complaints, browser.complaints
        elsewhere = [u for u in browser.requests if urlsplit(u).netloc not in ("", *browser.ours)]
        assert not elsewhere, "the page asked somebody else"
    finally:
        browser.close()


def answered(page: Browser, after: str = "") -> str:
    """Waits for an answer other than `after`; returns its key."""
    script = (
        f"document.body && document.body.dataset.answer !== {json.dumps(after)}"
        " && !document.body.classList.contains('busy') && document.body.dataset.answer"
    )
    return str(page.until(script, "an answer"))


def link(page: Browser, studio: str, text: str) -> None:
    """Goes to a link that holds a text, in a page of its own."""
    packed = page.eval(f"import('./page/share.js').then((m) => m.pack({json.dumps(text)}, 1))")
    page.go("about:blank")
    page.go(studio + packed)


def line(page: Browser, name: str) -> str:
    return str(page.eval(f"document.getElementById('text').value.split('\\n').find((l) => l.startsWith('{name}'))"))


def test_the_page_shows_network_charts_tables_and_the_text_and_markup_stays_text(page: Browser) -> None:
    kinds = [k for k, _ in json.loads(page.eval(DRAWN))]
    assert kinds == ["goodput", "cwnd", "rtt", "queue-delay", "queue", "drops"]
    assert page.eval("document.querySelectorAll('#network rect').length") >= 2
    assert page.eval("document.querySelectorAll('#tables table').length") >= 3
    assert page.eval("document.getElementById('title').textContent") == "Two downloads <b>and markup</b>"
    assert page.eval("document.querySelectorAll('img, #title b, #network img').length") == 0
    assert page.eval("document.querySelectorAll('#sequence canvas').length") == 1


def test_a_slider_that_is_dragged_runs_again_and_lies_over_the_run_before(page: Browser) -> None:
    before = answered(page)
    titles = page.eval(DRAWN)
    page.drag("[data-path='link.path.rate'][data-part=range]", 0.45, 0.8)
    answered(page, before)
    page.until("!document.getElementById('text').value.includes('5 Mbit/s')", "another rate in the text")
    assert "# the bottleneck" in page.eval("document.getElementById('text').value"), "comments stay"
    page.until(f"{DRAWN} !== {json.dumps(titles)}", "other axes")
    assert page.eval("document.querySelector('#tables .was').textContent").startswith("was ")
    page.until("document.querySelectorAll('#differs li').length > 0", "what differs, in words")
    words = page.eval("document.getElementById('differs').textContent")
    assert "goodput" in words and "95 % interval" in words, words


def test_an_error_in_the_text_is_named_with_its_line_and_the_charts_stay(page: Browser) -> None:
    page.eval(
        f"(() => {{ const t = {TEXT}; t.focus(); const at = t.value.indexOf('5 Mbit/s');"
        " t.setSelectionRange(at, at + 8); })()"
    )
    page.type("5 Mbut/s")
    said = page.until(
        "!document.getElementById('text-error').hidden && document.getElementById('text-error').textContent", "an error"
    )
    assert said.startswith("Line 8: link.path.rate:") and "Mbut" in said, said
    assert page.eval("document.querySelector('#gutter .bad').textContent.trim()") == "8"
    assert page.eval("document.querySelectorAll('.panel').length") == 6
    page.eval("document.getElementById('text').setSelectionRange(0, 0)")


def test_everything_can_be_reached_and_moved_with_the_keyboard_alone(page: Browser) -> None:
    before = answered(page)
    for _ in range(40):
        page.key("Tab")
        if page.eval("document.activeElement.dataset?.path") == "flow.bulk.count":
            break
    assert page.eval("document.activeElement.dataset.part") == "range"
    page.key("ArrowRight", 8)
    answered(page, before)
    page.until("!document.getElementById('text').value.includes('count = 2')", "another number of flows")
    assert page.eval("document.activeElement.dataset.path") == "flow.bulk.count", "the focus stays where it was"
    for _ in range(80):
        page.key("Tab")
        if page.eval("document.activeElement.className") == "frame":
            break
    assert page.eval("document.activeElement.getAttribute('aria-label')") == "Goodput in Mbit/s over time"
    page.key("ArrowRight", 20)
    assert "Goodput at" in page.eval("document.getElementById('readout').textContent")
    assert "At " in page.eval("document.getElementById('network').textContent"), "the queues follow the cursor"


def test_all_charts_look_closer_together_and_their_axes_follow(page: Browser) -> None:
    ends = "[...document.querySelectorAll('.panel')].map((p) => [p.dataset.key, +p.dataset.from, +p.dataset.to])"
    whole, tops = page.eval(ends), page.eval(DRAWN)
    assert len(whole) == 6 and {(a, b) for _, a, b in whole} == {(0, whole[0][2])}
    page.eval("document.querySelector('.panel[data-key=queue] .frame').focus()")
    page.key("End")
    page.key("+", 4)
    spans = f"new Set({ends}.map(([, a, b]) => b - a))"
    page.until(f"{spans}.size === 1 && Math.max(...{spans}) < {whole[0][2]} / 4", "a closer look at all charts")
    assert len({(a, b) for _, a, b in page.eval(ends)}) == 1
    assert page.eval(DRAWN) != tops, "heights fit what is seen"
    page.key("0")
    page.until(f"{DRAWN} === {json.dumps(tops)}", "all of it again")
    assert page.eval(ends) == whole


def test_the_graph_of_segments_looks_closer_with_keys(page: Browser) -> None:
    frame = "document.querySelector('#sequence .frame')"
    ends = f"[+{frame}.dataset.from, +{frame}.dataset.to]"
    whole = page.eval(ends)
    page.eval(f"{frame}.focus()")
    page.key("+", 5)
    page.until(f"{ends}[1] - {ends}[0] < {whole[1] - whole[0]} / 4", "a closer look")
    before = page.eval(ends)
    page.key("ArrowRight")
    page.until(f"{ends}[0] > {before[0]}", "later")
    page.key("0")
    page.until(f"{ends}.join() === {json.dumps(whole)}.join()", "all of it again")


def test_another_seed_is_one_click_and_the_same_seed_the_same_run(page: Browser) -> None:
    first = answered(page)
    table = page.eval("document.querySelector('#tables table').innerText")
    page.eval("document.getElementById('redraw').click()")
    second = answered(page, first)
    assert page.eval("document.querySelector('#tables table').innerText") != table
    page.eval(
        "(() => { const s = document.getElementById('seed'); s.value = 1; s.dispatchEvent(new Event('change'));"
        " document.getElementById('overlay').click(); })()"
    )
    answered(page, second)
    assert page.eval("document.querySelector('#tables table').innerText") == table


def test_what_is_saved_holds_what_is_shown(page: Browser) -> None:
    page.eval("document.querySelector('.menu summary').click()")
    page.until("document.getElementById('export-table').options.length > 3")
    assert page.eval("document.getElementById('command').textContent").startswith("crosswind run ")
    saved = {}
    for button in ("save", "save-csv", "save-parquet", "save-svg", "save-png"):
        page.eval(f"document.getElementById('{button}').click()")
        name = {"save": "two.toml", "save-csv": "run.csv", "save-parquet": "run.parquet"}.get(
            button, f"two.{button[5:]}"
        )
        saved[button] = page.downloaded(name)
    assert saved["save"].decode() == SCENARIO and saved["save-csv"].count(b"\n") == 2
    assert saved["save-parquet"].startswith(b"PAR1") and saved["save-png"].startswith(b"\x89PNG")
    assert saved["save-svg"].startswith(b"<?xml")


def test_a_link_holds_the_scenario_and_a_damaged_one_only_says_so(page: Browser, studio: str) -> None:
    before, hash_before = answered(page), page.until("location.hash")
    page.eval(
        f"(() => {{ const t = {TEXT}; t.value = t.value.replace('10 s', '7 s');"
        " t.dispatchEvent(new Event('input')); })()"
    )
    answered(page, before)
    page.until(f"location.hash !== {json.dumps(hash_before)}", "a link of the changed scenario")
    address = page.eval("location.href")
    page.go("about:blank")
    page.go(address)
    answered(page)
    assert line(page, "duration") == 'duration = "7 s"'
    page.go("about:blank")
    page.go(f"{studio}#s=abcd")
    assert "damaged" in page.until(WRONG)


HOSTILE = {
    "a million flows": (("count = 2", "count = 1000000"), "at most 2,000 in the studio"),
    "more than a run has": (
        (BULK, 'workload = { type = "cbr", payload = "10 B", interval = "5 ns" }'),
        "packets in 10 s",
    ),
    "no end": (('"10 s"', '"1000000 h"'), "at most 1000000 s"),
    "markup for a flow": (
        ("[flow.bulk]", '[flow."<img src=x onerror=document.title=1>"]'),
        "a name of 1 to 64 characters",
    ),
    "markup for a node": (
        ('to = "client"', 'to = "<script>document.title=1</script>"'),
        "a name of 1 to 64 characters",
    ),
    "markup for a queue": (
        ('"droptail"', '"<b onclick=document.title=1>droptail</b>"'),
        "<b onclick=document.title=1>",
    ),
    "markup for a key": (("count = 2", '"<u>count</u>" = 2'), "<u>count</u>"),
    "a file of this machine": (('delay = "20 ms"', 'trace = "/etc/passwd"'), "beside the scenario"),
    "nested": (("count = 2", "count = " + "[" * 3000 + "]" * 3000), "hundreds deep"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_link_does_nothing_but_fail_with_the_reason(page: Browser, studio: str, what: str) -> None:
    (old, new), reason = HOSTILE[what]
    assert old in SCENARIO
    link(page, studio, SCENARIO.replace(old, new))
    assert reason in page.until(WRONG)
    assert page.eval("document.title") == "Crosswind studio"
    assert (
        page.eval("document.querySelectorAll('main img, main script, #status *, #text-error *, main b, main u').length")
        == 0
    )
    # The page goes on: a text that is right runs.
    page.eval(f"(() => {{ {TEXT}.value = {json.dumps(SCENARIO)}; {TEXT}.dispatchEvent(new Event('input')); }})()")
    answered(page)
    assert page.eval("document.querySelectorAll('.panel').length") == 6


def test_names_that_mean_something_to_scripts_are_names_like_others(page: Browser, studio: str) -> None:
    text = SCENARIO.replace("[flow.bulk]", "[flow.__proto__]").replace("[link.path]", "[link.constructor]")
    link(page, studio, text.replace('"two"', '"tostring"').replace('"server"', '"valueof"'))
    before = answered(page)
    assert page.eval("document.querySelectorAll('.panel').length") == 6
    page.eval(
        "(() => { const e = document.querySelector('[data-path=\"flow.__proto__.count\"][data-part=exact]');"
        " e.value = '3'; e.dispatchEvent(new Event('change')); })()"
    )
    answered(page, before)
    assert line(page, "count") == "count = 3" and page.eval("({}).count") is None


def test_a_run_that_would_not_end_is_given_up_and_the_page_goes_on(page: Browser) -> None:
    with served("-c", HASTY, "studio", "--no-browser") as hasty:
        page.ours.add(urlsplit(hasty).netloc)
        link(page, hasty, SCENARIO.replace("5 Mbit/s", "100 Gbit/s").replace('"10 s"', '"900000 s"'))
        assert "1 s of computing" in page.until(WRONG) and "shorter duration" in page.eval(WRONG)
        short = SCENARIO.replace('"10 s"', '"2 s"')
        page.eval(f"(() => {{ {TEXT}.value = {json.dumps(short)}; {TEXT}.dispatchEvent(new Event('input')); }})()")
        answered(page)


def test_a_lesson_asks_a_question_and_its_steps_run(page: Browser) -> None:
    before = answered(page)
    page.eval(
        "(() => { const s = document.getElementById('lesson'); s.value = 'ecn';"
        " s.dispatchEvent(new Event('change')); })()"
    )
    first = answered(page, before)
    assert page.eval("document.querySelector('#lesson-text strong').textContent").endswith("?")
    assert line(page, "name") == 'name = "ecn"'
    page.eval("document.querySelector('#lesson-text .steps button').click()")
    answered(page, first)
    assert line(page, "tcp").endswith('ecn = "on" }')
    assert '"marks"' in page.eval(DRAWN)
    assert page.eval("document.querySelectorAll('#tables .was').length") > 0, "over the run before"


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (1400, "dark"), (390, "light")])
def test_the_lesson_on_l4s_shows_both_queues_and_their_marks_over_time(page: Browser, width: int, scheme: str) -> None:
    page.look(width, 900, scheme)
    before = answered(page)
    page.eval(
        "(() => { const s = document.getElementById('lesson'); s.value = 'l4s';"
        " s.dispatchEvent(new Event('change')); })()"
    )
    before = answered(page, before)
    page.eval("document.querySelectorAll('#lesson-text .steps button')[1].click()")
    answered(page, before)
    assert 'type = "dualpi2"' in page.eval("document.getElementById('text').value")
    assert {"class-delay", "class-queue", "marks"} <= {k for k, _ in json.loads(page.eval(DRAWN))}
    legend = page.eval("[...document.querySelectorAll('#legend button')].map((b) => b.textContent)")
    assert {"path/forward/l4s", "path/forward/classic", "cubic", "second"} <= {*legend}
    assert page.eval("document.documentElement.scrollWidth") <= width, "nothing stands outside of the page"
    assert page.eval(CONTRAST) == [], "text can be read"


def test_keys_that_fit_are_offered_and_taken_without_the_pointer(page: Browser) -> None:
    before = answered(page)
    page.eval(
        f"(() => {{ const t = {TEXT}; t.focus(); const at = t.value.indexOf('delay = \"20 ms\"') + 15;"
        " t.setSelectionRange(at, at); })()"
    )
    page.type("\nt")
    page.key("Space", modifiers=2)
    offers = page.until(
        "!document.getElementById('offers').hidden"
        " && [...document.querySelectorAll('#offers li')].map((l) => l.textContent)"
    )
    assert "type" in offers and "trace" in offers and all(o.startswith("t") for o in offers), offers
    assert page.eval("document.querySelector('#offers [aria-selected=true]').textContent") == offers[0]
    page.key("ArrowDown", offers.index("type"))
    page.key("Enter")
    page.until("document.getElementById('offers').hidden")
    assert line(page, "type") == "type" and page.eval("document.activeElement.id") == "text"
    page.type(' = "wire"')
    answered(page, before)
    assert line(page, "type") == 'type = "wire"'
    # A single fitting key is written at once; Escape sends offers away.
    page.type("\nreve")
    page.key("Space", modifiers=2)
    page.until("document.getElementById('text').value.includes('reverse')", "the one key that fits")
    page.type("\n")
    page.key("Space", modifiers=2)
    page.until("!document.getElementById('offers').hidden")
    page.key("Escape")
    assert page.eval("document.getElementById('offers').hidden")


def test_values_that_fit_are_offered_too_and_the_offers_follow_what_is_typed(page: Browser) -> None:
    before = answered(page)
    page.eval(
        f"(() => {{ const t = {TEXT}; t.focus(); const at = t.value.indexOf('droptail');"
        " t.setSelectionRange(at, at + 8); })()"
    )
    page.type("f")
    offered = "[...document.querySelectorAll('#offers li')].map((l) => l.textContent)"
    page.key("Space", modifiers=2)
    offers = page.until(f"!document.getElementById('offers').hidden && {offered}")
    assert {"fq", "fq-codel", "fq-pie"} <= {*offers} and all(o.startswith("f") for o in offers), offers
    assert page.eval(f"document.getElementById({TEXT}.getAttribute('aria-activedescendant')).textContent") == offers[0]
    page.type("q-c")
    page.until(f"{offered}.join() === 'fq-codel'", "fewer offers")
    page.key("Enter")
    answered(page, before)
    assert line(page, "queue") == 'queue = { type = "fq-codel", limit = "60 packets" }'
    # A value that lacks its quotation marks gets them; that of a table inside of a table is known, too.
    page.eval(
        f"(() => {{ const t = {TEXT}; const at = t.value.indexOf('[flow') - 1; t.setSelectionRange(at, at); }})()"
    )
    page.type("reverse = { queue = { type = ")
    page.key("Space", modifiers=2)
    offers = page.until(f"!document.getElementById('offers').hidden && {offered}")
    page.key("ArrowDown", offers.index("codel"))
    page.key("Enter")
    assert line(page, "reverse") == 'reverse = { queue = { type = "codel"'


def test_a_run_that_is_held_is_compared_with_until_it_is_let_go(page: Browser) -> None:
    was = "[...document.querySelectorAll('#tables .was')].map((e) => e.textContent).join()"
    first = answered(page)
    held = page.eval("document.querySelector('#tables table').innerText")
    page.eval("document.getElementById('hold').click()")
    assert page.eval("document.getElementById('hold').getAttribute('aria-pressed')") == "true"
    keys = [first]
    for rate in ("7 Mbit/s", "9 Mbit/s", "5 Mbit/s"):
        page.eval(
            f'(() => {{ const t = {TEXT}; t.value = t.value.replace(/rate = "[^"]*"/, \'rate = "{rate}"\');'
            " t.dispatchEvent(new Event('input')); })()"
        )
        keys.append(answered(page, keys[-1]))
        if rate == "9 Mbit/s":
            goodput = re.search(r"[\d.]+ Mbit/s", held)
            assert goodput and f"was {goodput[0]}" in page.eval(was), "the held run, not the one of 7 Mbit/s"
    assert len(set(keys)) == 4 and page.eval(was) == "", "the same scenario again: nothing differs from the held run"
    page.eval("document.getElementById('hold').click()")
    assert page.eval("document.getElementById('hold').getAttribute('aria-pressed')") == "false"
    page.eval(f"(() => {{ const t = {TEXT}; t.value += '# end'; t.dispatchEvent(new Event('input')); }})()")
    answered(page, keys[-1])
    page.until(f"{was} === ''", "compared with the run before: 5 Mbit/s too")


def test_classes_and_marks_over_time_are_drawn(page: Browser) -> None:
    before = answered(page)
    text = SCENARIO.replace('type = "droptail", limit = "60 packets"', 'type = "fq-codel"')
    text = text.replace('"linux-6-cubic"', '"linux-6-cubic", ecn = "on"')
    page.eval(f"(() => {{ {TEXT}.value = {json.dumps(text)}; {TEXT}.dispatchEvent(new Event('input')); }})()")
    answered(page, before)
    kinds = {k: float(top) for k, top in json.loads(page.eval(DRAWN))}
    assert {"class-delay", "class-queue", "marks"} <= {*kinds} and all(top > 0 for top in kinds.values()), kinds
    legend = page.eval("[...document.querySelectorAll('#legend button')].map((b) => b.textContent)")
    assert {"path/forward/new", "path/forward/old"} <= {*legend}
    # What stands on the canvas: more than one colour, so lines and not only axes.
    inks = "(key) => { const c = document.querySelector(`.panel[data-key=${key}] canvas`); const d = c.getContext('2d')"
    inks += ".getImageData(0, 0, c.width, c.height).data; let n = 0; for (let i = 0; i < d.length; i += 4)"
    inks += (
        " if (d[i + 3] > 200 && Math.max(d[i], d[i+1], d[i+2]) - Math.min(d[i], d[i+1], d[i+2]) > 60) n++; return n; }"
    )
    for key in ("class-delay", "class-queue", "marks"):
        assert page.eval(f"({inks})('{key}')") > 50, key


def test_packets_move_in_slow_motion_when_asked(page: Browser) -> None:
    dots = "[...document.querySelectorAll('#network circle')].map((c) => c.getAttribute('cx')).join()"
    page.eval("document.getElementById('motion').focus()")
    page.key("Enter")
    first = page.until(dots, "packets")
    page.until(f"{dots} && {dots} !== {json.dumps(first)}", "packets that move")
    assert re.match(r"bulk-1 at [\d.]+ s: \d+ on their way", page.eval("document.getElementById('moving').textContent"))
    page.key("Enter")
    assert page.eval(dots) == "" and page.eval("document.getElementById('motion').ariaPressed") == "false"


@pytest.mark.parametrize(("width", "scheme"), [(1400, "light"), (1400, "dark"), (390, "light"), (390, "dark")])
def test_an_accessibility_checker_finds_nothing_in_a_lesson_with_an_error_and_everything_open(
    page: Browser, width: int, scheme: str
) -> None:
    page.look(width, 900, scheme)
    before = answered(page)
    page.eval(
        "(() => { const s = document.getElementById('lesson'); s.value = 'l4s';"
        " s.dispatchEvent(new Event('change')); })()"
    )
    answered(page, before)
    page.eval(
        f"(() => {{ const t = {TEXT}; t.value = t.value.replace('rate = \"40 Mbit', 'rate = \"40 Mbut');"
        " t.dispatchEvent(new Event('input')); })()"
    )
    page.until(WRONG)
    page.eval(f"(() => {{ const t = {TEXT}; t.focus(); t.setSelectionRange(0, 0); }})()")
    page.key("Space", modifiers=2)
    page.until("!document.getElementById('offers').hidden", "keys are offered")
    page.eval("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    page.until("document.getElementById('export-table')?.options.length > 3")
    axe = Path(str(find_spec("axe_core_python").submodule_search_locations[0])) / "axe.min.js"  # type: ignore[union-attr,index]
    page.eval(axe.read_text(encoding="utf-8") + ";0")
    seen = "axe.run(document).then((r) => ({ passed: r.passes.map((p) => p.id), wrong: r.violations.map((v) => [v.id,"
    found = page.eval(f"{seen} v.nodes.slice(0, 4).map((n) => n.target + ': ' + n.failureSummary)]) }}))")
    assert found["wrong"] == [], json.dumps(found["wrong"], indent=1)
    assert {"color-contrast", "label", "button-name", "select-name", "html-has-lang"} <= {*found["passed"]}


def test_random_scenarios_are_shown_without_a_complaint(page: Browser) -> None:
    shown, given_up = 0, 0
    status = "document.getElementById('status')"
    for seed in range(5000, 5040):
        text = random_scenario(seed)
        if text is None:
            continue
        before = page.eval("document.body.dataset.answer")
        page.eval(
            f"(() => {{ const t = {TEXT}; t.value = {json.dumps(text)}; t.dispatchEvent(new Event('input'));"
            f" {status}.className = ''; }})()"
        )
        ready = f"document.body.dataset.answer !== {json.dumps(before)} || {status}.className === 'wrong'"
        page.until(f"!document.body.classList.contains('busy') && ({ready})", "an answer")
        said = page.eval(f"{status}.className + {status}.textContent")
        # Some ask for more than the page computes: a source with an interval of a nanosecond.
        if "s of computing" in said:
            given_up += 1
            continue
        assert not said.startswith("wrong") and not page.complaints, (seed, said, text)
        shown += 1
    assert shown > 20 and given_up < 3


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (390, "dark"), (1400, "dark")])
def test_it_fits_a_phone_reads_in_the_dark_and_names_what_can_be_operated(
    page: Browser, width: int, scheme: str
) -> None:
    page.look(width, 844, scheme)
    page.until(f"document.documentElement.scrollWidth <= {width}", "nothing stands outside of the page")
    ground = page.eval("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", ground)[:3])) < 150) == (scheme == "dark"), ground
    assert not page.unnamed()
    assert page.eval(CONTRAST) == [], "text can be read"
    ink, written = (
        page.eval(f"getComputedStyle(document.{of}).{as_}") for of, as_ in (("body", "color"), (NETWORK, "fill"))
    )
    assert written == ink, "the network is drawn in the colour of text"


NETWORK = "querySelector('#network text:not(.name)')"
# Texts whose contrast with what lies behind them is below 4.5, as WCAG 2 (1.4.3) counts it.
CONTRAST = """(() => {
  const rgb = (s) => s.match(/[\\d.]+/g).map(Number);
  const part = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const c = rgb(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  const bad = [];
  for (const e of document.querySelectorAll("body *")) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
    if (!e.checkVisibility() || e.closest("svg, .uplot, .skip")) continue;
    const [a, b] = [light(rgb(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) bad.push(`${e.tagName} ${e.textContent.slice(0, 30)}`);
  }
  return bad;
})()"""

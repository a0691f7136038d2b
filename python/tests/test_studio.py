"""The studio without a browser: who is let in, what is refused, how texts change, what an answer holds."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import io
import itertools
import json
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from random_scenarios import random_scenario

from crosswind import optional
from crosswind.bench import many
from crosswind.cli import main
from crosswind.errors import EXIT_BAD_INPUT, EXIT_ENVIRONMENT, BlockedError, InputError, MissingExtraError
from crosswind.results import Runs
from crosswind.scenario import Scenario
from crosswind.studio import differences, exports, limits, motion, questions, server
from crosswind.studio.answer import Asked, Studio, SupersededError
from crosswind.studio.edit import changed

pytestmark = pytest.mark.engine
ROOT = Path(__file__).resolve().parents[2]
TOKEN, PORT = "a-token", 4711
TEXT = """\
# Two flows.
name = "two"
duration = "10 s"     # short

[link.path]
from = "a"
to = "b"
rate = "5 Mbit/s"     # slow
delay = "20 ms"
queue = { type = "droptail", limit = "60 packets" }

[flow.bulk]
from = "a"
to = "b"
count = 2
start = { uniform = ["0 s", "1 s"] }
workload = { type = "bulk" }
tcp = { preset = "linux-6-cubic", ecn = "on" }

[flow.ping]
from = "a"
to = "b"
workload = { type = "ping", interval = "100 ms" }
"""


def asked(path: str, body: Any = None, **heads: str) -> tuple[int, bytes]:
    """What the application answers to a request; the right host unless another is given."""
    app = server.application(Studio(), TOKEN, PORT, {"text": TEXT})
    data = json.dumps(body).encode() if body is not None else b""
    kind = {"content-type": "application/json"} if body is not None else {}
    given = {"host": f"127.0.0.1:{PORT}", **kind, **{k.replace("_", "-"): v for k, v in heads.items()}}
    scope = {
        "type": "http", "method": "GET" if body is None else "POST", "path": path, "raw_path": path.encode(),
        "query_string": b"", "root_path": "", "scheme": "http", "http_version": "1.1", "server": ("127.0.0.1", PORT),
        "headers": [(k.encode(), v.encode()) for k, v in given.items()],
    }  # fmt: skip
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": data, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    heads_sent = dict(sent[0]["headers"])
    assert b"default-src 'none'" in heads_sent[b"content-security-policy"], "every answer forbids other sources"
    return sent[0]["status"], b"".join(m.get("body", b"") for m in sent[1:])


def test_only_the_page_itself_is_let_in() -> None:
    assert asked(f"/{TOKEN}/")[0] == 200
    assert asked(f"/{TOKEN}/", host=f"localhost:{PORT}")[0] == 200
    for path, heads in (
        ("/", {}),
        ("/another/", {}),
        (f"/{TOKEN}x/", {}),
        (f"/{TOKEN}/", {"host": "evil.example"}),
        (f"/{TOKEN}/", {"host": f"evil.example:{PORT}"}),
        (f"/{TOKEN}/", {"host": "127.0.0.1:80"}),
        (f"/{TOKEN}/", {"origin": "http://evil.example"}),
        (f"/{TOKEN}/", {"origin": "null"}),
        (f"/{TOKEN}/", {"sec_fetch_site": "cross-site"}),
        (f"/{TOKEN}/", {"sec_fetch_site": "same-site"}),
    ):
        assert asked(path, **heads)[0] == 403, (path, heads)


def test_files_beside_the_page_are_not_served() -> None:
    assert asked(f"/{TOKEN}/page/main.js")[0] == 200
    assert asked(f"/{TOKEN}/uplot/uplot.js")[0] == 200
    for name in ("..%2fserver.py", "../server.py", "server.py", "%2e%2e/server.py", ".", "..", "none.js"):
        assert asked(f"/{TOKEN}/page/{name}")[0] == 404, name


def test_a_question_is_json_of_its_shape_and_no_longer_than_a_scenario(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = f"/{TOKEN}/api/run"
    assert json.loads(asked(ask, {"text": TEXT})[1])["name"] == "two"
    for body in ([], 3, {"text": 3}, {}, {"text": TEXT, "seed": -1}, {"text": TEXT, "changes": [1]}):
        assert "error" in json.loads(asked(ask, body)[1]), body
    assert "JSON" in json.loads(asked(ask, {"text": TEXT}, content_type="text/plain")[1])["error"]
    monkeypatch.setattr(server, "BODY_MAX", 100)
    assert "shorter" in json.loads(asked(ask, {"text": TEXT})[1])["error"]


def test_an_error_names_its_line_and_path() -> None:
    told = json.loads(asked(f"/{TOKEN}/api/run", {"text": TEXT.replace("5 Mbit/s", "5 Mbut/s")})[1])
    assert told["line"] == 8 and told["path"] == "link.path.rate" and "Mbut" in told["error"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("count = 2", "count = 1000000", "at most 2,000 in the studio"),
        ('"10 s"', '"1000000 h"', "samples"),
        ('delay = "20 ms"', 'trace = "/etc/passwd"', "beside the scenario"),
        ('delay = "20 ms"', 'trace = "../secret.csv"', "beside the scenario"),
        ("# Two flows.", "#" * 300_000, "at most 200,000"),
    ],
)
def test_what_a_link_must_not_start_is_refused_with_the_reason(old: str, new: str, said: str) -> None:
    text = TEXT.replace(old, new).replace("[flow.bulk]", '[record]\nsample = "1 ms"\n\n[flow.bulk]', 1)
    with pytest.raises(InputError) as e:
        Studio().answer(Asked(text))
    assert said in str(e.value)


def test_what_many_flows_and_links_would_record_together_is_limited() -> None:
    links = "".join(f'[link.l{i}]\nfrom = "n{i}"\nto = "n{i + 1}"\nrate = "1 Mbit/s"\n' for i in range(501))
    for text, said in (
        (TEXT + links, "found 502 links, expected at most 500 in the studio"),
        (TEXT.replace("count = 2", "count = 1999") + '[record]\nsample = "1 ms"\n', "expected at most 999: a longer"),
    ):
        with pytest.raises(InputError) as e:
            Studio().answer(Asked(text))
        assert said in str(e.value)
    assert limits.most_samples(Scenario.from_toml(TEXT)) == limits.SAMPLES_MAX


def test_the_time_of_a_run_is_what_it_computes_and_not_what_it_waits_for_the_machine() -> None:
    clock = limits.Clock(0.05)
    clock.began -= 60
    assert not clock.late
    until = time.process_time() + 0.06
    while time.process_time() < until:
        pass
    assert clock.late
    with pytest.raises(limits.Overdue):
        clock(0, 1)


def test_a_run_that_takes_too_long_is_given_up_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SECONDS_MAX", 0.3)
    monkeypatch.setattr(limits.Clock.__init__, "__defaults__", (0.3,))
    text = TEXT.replace("5 Mbit/s", "100 Gbit/s").replace('"10 s"', '"100000 s"')
    began = time.monotonic()
    with pytest.raises(InputError, match="shorter duration"):
        Studio().answer(Asked(text))
    assert time.monotonic() - began < 10


def test_files_that_a_scenario_would_write_are_left_out_and_named(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    text = TEXT + '\n[record]\npcap = "x.pcapng"\nevent_file = "x.npy"\n'
    told = Studio().answer(Asked(text))
    assert not list(tmp_path.iterdir())
    assert sum("left out" in w for w in told["warnings"]) == 2
    told = Studio().answer(Asked(TEXT + "\n[sweep]\n'flow.bulk.count' = [1, 2]\n"))
    assert told["warnings"] == ["[sweep] is left out here: `crosswind sweep` varies what it names"]


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        ("link.path.rate", "7 Mbit/s", 'rate = "7 Mbit/s"     # slow'),
        ("link.path.queue.limit", "9 packets", 'queue = { type = "droptail", limit = "9 packets" }'),
        ("link.path.queue.type", "fq-codel", 'queue = { type = "fq-codel", limit = "60 packets" }'),
        ("link.path.loss", 0.01, 'loss = { type = "uniform", probability = 0.01 }'),
        ("flow.bulk.tcp.law", "reno", 'tcp = { preset = "linux-6-cubic", ecn = "on", law = "reno" }'),
        ("flow.bulk.count", 5, "count = 5"),
        ("duration", "3 s", 'duration = "3 s"     # short'),
        ("record.sample", "1 ms", 'sample = "1 ms"'),
    ],
)
def test_a_change_touches_its_line_alone_and_says_what_it_should(path: str, value: Any, line: str) -> None:
    before = Scenario.from_toml(TEXT)
    after = changed(before, {path: value})
    lines = after.text.splitlines()
    assert line in lines
    assert Scenario.from_toml(after.text).data == after.data
    if path != "record.sample":  # a table of its own: the file is written anew
        assert len(set(TEXT.splitlines()) - set(lines)) <= 1 and lines[0] == "# Two flows."


def test_a_key_that_is_taken_away_leaves_its_line() -> None:
    after = changed(Scenario.from_toml(TEXT), {"link.path.delay": None, "flow.bulk.tcp.ecn": None})
    assert "delay" not in after.text and "ecn" not in after.text and "# slow" in after.text


def test_an_answer_has_charts_tables_controls_and_the_command() -> None:
    studio = Studio()
    told = studio.answer(Asked(TEXT, {"link.path.queue.type": "codel"}, 7, "bulk-2"))
    assert [c["key"] for c in told["charts"]] == ["goodput", "cwnd", "rtt", "queue-delay", "queue", "marks"]
    assert [s["name"] for s in told["charts"][-1]["series"]] == ["path/forward"]
    for chart in told["charts"]:
        assert all(len(s["y"]) == len(chart["x"]) for s in chart["series"])
        assert chart["x"] == sorted(chart["x"])
    assert told["sequence"]["flow"] == "bulk-2"
    assert "Under load" in [t["title"] for t in told["tables"]]
    assert told["seed"] == 7 and "--seed 7" in told["command"]
    paths = {c["path"]: c for g in told["controls"] for c in g["controls"]}
    assert {"link.path.queue.type", "link.path.rate", "link.path.delay", "link.path.queue.limit", "link.path.loss"} <= {
        *paths
    }
    assert {"flow.bulk.count", "flow.bulk.tcp.preset", "flow.bulk.tcp.law", "flow.bulk.tcp.ecn"} <= {*paths}
    assert "linux-6-bbr" in [v for v, _ in paths["flow.bulk.tcp.preset"]["options"]]
    assert "link.path.queue.target" in paths, "the keys of the chosen queue"


def test_what_an_answer_costs_is_a_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many, "ROUNDS", 2)
    found = many.answers(lambda _: None, 4)
    assert found["packets"] > 10_000 and 0 < found["answer_ms_min"] <= found["answer_ms"] <= found["answer_ms_max"]


def _counted(told: dict[str, Any], key: str, name: str) -> float:
    """Packets under a line that shows them per second."""
    chart = next(c for c in told["charts"] if c["key"] == key)
    y = next(s["y"] for s in chart["series"] if s["name"] == name)
    spans = [b - a for a, b in itertools.pairwise([*chart["x"], told["duration"]])]
    return sum((v or 0.0) * s for v, s in zip(y, spans, strict=True))


def test_drops_and_marks_over_time_are_those_of_the_tables_in_links_and_in_classes() -> None:
    studio = Studio()
    told = studio.answer(Asked(TEXT, {"flow.bulk.tcp.ecn": "off"}))
    drops = studio.runs(told["key"]).links()["drops_queue_full_packets"].max()
    assert drops > 5 and _counted(told, "drops", "path/forward") == pytest.approx(drops, rel=0.05)
    told = studio.answer(Asked(TEXT, {"link.path.queue.type": "fq-codel"}))
    keys = [c["key"] for c in told["charts"]]
    assert keys == ["goodput", "cwnd", "rtt", "queue-delay", "queue", "class-delay", "class-queue", "marks"]
    old = studio.runs(told["key"]).classes().filter((pl.col("class") == "old") & (pl.col("direction") == "forward"))
    assert _counted(told, "marks", "path/forward/old") == pytest.approx(old["marks_packets"].item(), rel=0.05)
    by_class = next(c for c in told["charts"] if c["key"] == "class-queue")
    assert {s["name"] for s in by_class["series"]} == {"path/forward/new", "path/forward/old"}


def test_packets_in_slow_motion_are_those_of_the_flow_and_none_is_faster_than_its_path() -> None:
    studio = Studio()
    told = studio.answer(Asked(TEXT, {"flow.bulk.tcp.ecn": "off", "link.path.queue.limit": "20 packets"}))
    runs = studio.runs(told["key"])
    flow = runs.flows().filter(pl.col("name") == "bulk-1")
    found = motion.journeys(runs, "bulk-1")
    assert 0 <= flow["sent_packets"].item() - found.height <= flow["cwnd_max_bytes"].item() / 1448 + 4
    assert found.filter(pl.col("how") == "drop").height == flow["drops_packets"].item() > 0
    film = motion.told(runs, "bulk-1", 3.0)
    assert [name for name, _, _ in film["path"]] == ["path"] and film["waits"] == 0
    alone = film["path"][0][2]
    assert alone == pytest.approx(0.02 + 12_000 / 5e6)
    times = [(left, ended) for left, ended, how, _ in film["packets"] if how == "receive"]
    assert all(b - a > 0.99 * alone for a, b in times) and min(b for _, b in times) >= 3.0
    assert max(b - a for a, b in times) < alone + 21 * 12_000 / 5e6, "no longer than a full queue"
    with pytest.raises(InputError, match="no packet"):
        motion.told(runs, "bulk-1", 1e9)
    with pytest.raises(InputError, match="one of the last"):
        questions.QUESTIONS["packets"](studio)({"key": "none", "flow": "bulk-1", "at": 0})


def test_packets_in_slow_motion_take_the_way_of_their_flow_through_the_network() -> None:
    studio = Studio()
    text = (ROOT / "scenarios/gprs.toml").read_text(encoding="utf-8")
    film = motion.told(studio.runs(studio.answer(Asked(text, {"duration": "60 s"}))["key"]), "bulk-1", 0.0)
    assert [(name, back) for name, back, _ in film["path"]] == [("lan", False), ("last-hop", False)]
    assert film["waits"] == 1 and film["packets"][0][0] == min(left for left, *_ in film["packets"])


def test_the_goodput_in_the_chart_is_that_of_the_table() -> None:
    studio = Studio()
    told = studio.answer(Asked(TEXT))
    flows = studio.runs(told["key"]).flows()
    chart = next(c for c in told["charts"] if c["key"] == "goodput")
    step = chart["x"][1] - chart["x"][0]
    for name, received in flows.filter(pl.col("group") == "bulk").select("name", "wire_size_bytes").iter_rows():
        bits = sum(v or 0.0 for v in next(s["y"] for s in chart["series"] if s["name"] == name)) * step
        assert bits == pytest.approx(received * 8, rel=0.1)


def test_the_command_names_what_differs_from_the_file(tmp_path: Path) -> None:
    file = tmp_path / "two.toml"
    file.write_text(TEXT)
    studio = Studio(str(file))
    told = studio.answer(Asked(TEXT, {"link.path.rate": "7 Mbit/s", "flow.bulk.count": 3}))
    assert told["command"] == f"crosswind run {file} --set 'link.path.rate=7 Mbit/s' --set flow.bulk.count=3"
    told = studio.answer(Asked(TEXT, {"link.path.queue.type": "codel"}))
    assert '--set \'link.path.queue={ type = "codel"' in told["command"]


@pytest.mark.parametrize("change", [("link.path.rate", "7 Mbit/s"), ("flow.bulk.tcp.ecn", None)])
def test_the_command_does_the_same(tmp_path: Path, monkeypatch: Any, change: tuple[str, Any]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("two.toml").write_text(TEXT)
    studio = Studio("two.toml")
    told = studio.answer(Asked(TEXT, dict([change]), 5))
    Path(told["file"]).write_text(told["text"])  # as `Save scenario` names it
    if change[1] is None:
        assert told["file"] == "two-changed.toml" and Path("two.toml").read_text() == TEXT
    else:
        Path("two.toml").write_text(TEXT)
    assert main([*shlex.split(told["command"])[1:], "--out", "out"]) == 0
    flows = Runs.load("out").flows()
    assert flows["goodput_bps"].to_list() == studio.runs(told["key"]).flows()["goodput_bps"].to_list()


def test_what_differs_is_said_with_its_interval() -> None:
    old = Scenario.from_toml(TEXT)
    told = differences.told(changed(old, {"link.path.rate": "10 Mbit/s"}), old, 1)
    goodput = next(s for s in told["sentences"] if s["text"].startswith("bulk: goodput"))
    assert "95 % interval" in goodput["text"] and goodput["clear"] and told["random"]
    assert not differences.told(old, old, 1)["sentences"]


def test_tables_and_figures_are_exported() -> None:
    studio = Studio()
    told = studio.answer(Asked(TEXT))
    runs = studio.runs(told["key"])
    assert pl.read_csv(exports.table(runs, "flow", "csv").decode().encode()).height == 3
    assert pl.read_parquet(io.BytesIO(exports.table(runs, "sample", "parquet"))).height == runs.sample().height
    panels = [{**told["charts"][0], "shown": [2.0, 5.0]}]
    assert b"Goodput" in exports.figure(panels, "svg", "crosswind run x")
    for kind, given in (("exe", panels), ("svg", []), ("svg", 3), ("svg", [{"x": "no"}])):
        with pytest.raises(InputError):
            exports.figure(given, kind, "")
    with pytest.raises(InputError):
        exports.table(runs, "../x", "csv")


def test_keys_that_fit_are_offered() -> None:
    complete = questions.QUESTIONS["complete"](Studio())
    assert {"rate", "delay", "queue"} <= {*complete({"path": "link.path"})["names"]}
    assert {"preset", "law"} <= {*complete({"path": "flow.bulk.tcp"})["names"]}
    assert "duration" in complete({"path": ""})["names"]
    kinds = complete({"path": "link.path.reverse.queue.type", "value": True})["names"]
    assert {"droptail", "codel", "dualpi2", "cake"} <= {*kinds}
    assert {"off", "classic", "accurate"} <= {*complete({"path": "flow.bulk.tcp.ecn", "value": True})["names"]}
    assert {"linux-6", "prague"} <= {*complete({"path": "flow.bulk.tcp.preset", "value": True})["names"]}
    for path in ("duration", "link.path.rate", "nothing.of.this", ""):
        assert complete({"path": path, "value": True})["names"] == []


def test_every_scenario_of_the_collection_can_be_shown() -> None:
    for file in sorted((ROOT / "scenarios").glob("*.toml")):
        studio = Studio(str(file))
        told = studio.answer(Asked(file.read_text(encoding="utf-8"), {}, None, ""))
        assert told["charts"] and told["controls"], file
        json.dumps(told, allow_nan=False)


def test_without_its_packages_the_command_says_how_to_get_them(monkeypatch: Any, capsys: Any) -> None:
    def missing(module: str, why: str) -> Any:
        raise MissingExtraError(why, module, optional.EXTRAS[module])

    monkeypatch.setattr(optional, "load", missing)
    assert main(["studio", "--no-browser"]) == EXIT_ENVIRONMENT
    assert capsys.readouterr().err == "crosswind: the studio needs uvicorn: pip install 'crosswind[studio]'\n"


def test_nothing_of_the_page_comes_from_elsewhere() -> None:
    for file in server.PAGE.iterdir():
        text = file.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "http:" not in text and "https:" not in text and "innerHTML" not in text, file


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_server_ends_soon_even_when_a_run_is_under_way(number: signal.Signals) -> None:
    command = [sys.executable, "-m", "crosswind", "studio", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        found = re.search(r"http://127\.0\.0\.1:(\d+)/\S+/", process.stdout.readline())
        assert found
        long = TEXT.replace("5 Mbit/s", "100 Gbit/s").replace('"10 s"', '"100000 s"')
        heads = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{found[0]}api/run", json.dumps({"text": long}).encode(), heads)

        def ask() -> None:
            with contextlib.suppress(OSError, http.client.HTTPException):
                urllib.request.urlopen(request, timeout=30).read()

        asking = threading.Thread(target=ask)
        asking.start()
        time.sleep(1.0)
        began = time.monotonic()
        process.send_signal(number)
        process.wait(15)
        assert time.monotonic() - began < 8
        asking.join(10)
        assert "Traceback" not in process.stderr.read()


def test_it_listens_on_the_loopback_address_only_and_a_taken_port_is_named() -> None:
    with server.listening(0) as door:
        address, port = door.getsockname()
        assert address == "127.0.0.1"
        door.listen()
        with pytest.raises(BlockedError, match=f"port {port} of 127.0.0.1"):
            server.listening(port)


def test_a_newer_question_ends_an_older_one() -> None:
    studio = Studio()
    long = TEXT.replace("5 Mbit/s", "100 Gbit/s").replace('"10 s"', '"100000 s"')
    said: list[BaseException] = []

    def ask() -> None:
        try:
            studio.answer(Asked(long))
        except SupersededError as e:
            said.append(e)

    def ask_what_differs() -> None:
        try:
            studio.differs(Asked(long), TEXT)
        except SupersededError as e:
            said.append(e)

    for question in (ask, ask_what_differs):
        said.clear()
        older = threading.Thread(target=question)
        older.start()
        time.sleep(0.5)
        studio.answer(Asked(TEXT))
        older.join(10)
        assert said and not older.is_alive(), question


def test_the_drawing_says_what_the_way_back_is_like_where_it_differs() -> None:
    file = ROOT / "scenarios/home-gateway.toml"
    (link,) = Studio(str(file)).answer(Asked(file.read_text(encoding="utf-8")))["network"]["links"]
    assert (link["rate"], link["back"]) == ("50 Mbit/s", "10 Mbit/s, 10 ms, droptail 1000 packets")
    assert link["reverse"]["drops"] > 0 and link["reverse"]["entity"] == "access/reverse"
    (link,) = Studio().answer(Asked(TEXT))["network"]["links"]
    assert link["back"] == ""


def test_the_seed_of_the_file_is_the_one_to_begin_with() -> None:
    text = TEXT.replace("# Two flows.", "seed = 7")
    assert Studio().answer(Asked(text))["seed"] == 7
    assert Studio().answer(Asked(text, seed=0))["seed"] == 0


def test_a_link_in_the_place_of_a_file_goes_to_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, Any] = {}
    monkeypatch.setattr(server, "serve", lambda start, _studio, **how: seen.update(start, **how))
    assert main(["studio", "http://127.0.0.1:9/old/#s=eJw", "--no-browser"]) == 0
    assert seen["fragment"] == "#s=eJw" and seen["browser"] == "leave"
    assert main(["studio", "--lesson", "ecn"]) == 0
    assert 'name = "ecn"' in seen["text"] and seen["lesson"] == "ecn" and seen["browser"] == "open"
    assert main(["studio", "--lesson", "enc"]) == EXIT_BAD_INPUT
    assert main(["studio", "x.toml", "--lesson", "ecn"]) == EXIT_BAD_INPUT


def test_random_scenarios_are_answered_and_their_controls_change_what_they_say() -> None:
    answers = edits = 0
    for seed in range(60):
        text = random_scenario(seed)
        if text is None:
            continue
        told = Studio().answer(Asked(text))
        json.dumps(told, allow_nan=False)
        answers += 1
        for control in (c for g in told["controls"] for c in g["controls"] if c["kind"] == "choice"):
            value = control["options"][seed % len(control["options"])][0] or None
            try:
                after = changed(Scenario.from_toml(told["text"]), {control["path"]: value})
            except InputError:
                continue  # such as a profile of a queue that this one has not
            assert Scenario.from_toml(after.text).data == after.data
            edits += 1
    assert answers > 30 and edits > 100

"""Scenario files: reading, changing, and saying what is wrong and where."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import SCENARIO

from crosswind import InputError, Scenario
from crosswind.scenario import parse_assignment, parse_value
from crosswind.scenario.toml_lines import line_of


def test_with_changes_a_copy_and_leaves_the_original_alone() -> None:
    old = Scenario.from_toml(SCENARIO)
    new = old.with_(**{"link.last-hop.rate": "1 Mbit/s", "flow.bulk.tcp.law": "reno"})
    assert new.get("link.last-hop.rate") == "1 Mbit/s"
    assert new.get("flow.bulk.tcp.law") == "reno"
    assert old.get("link.last-hop.rate") == "64 kbit/s"
    assert old.get("flow.bulk.tcp") is None
    assert old.digest() != new.digest()


def test_with_none_removes_a_key() -> None:
    assert Scenario.from_toml(SCENARIO).with_({"record": None}).get("record") is None


def test_with_names_the_nearest_link_when_it_does_not_exist() -> None:
    with pytest.raises(InputError, match=r"link\.last-hpo: found no link `last-hpo`.*did you mean `last-hop`"):
        Scenario.from_toml(SCENARIO).with_({"link.last-hpo.rate": "1 Mbit/s"})


def test_names_in_a_scenario_with_a_template_are_known_too() -> None:
    text = """
        duration = "1 s"
        [topology]
        template = "dumbbell"
        bottleneck = { rate = "1 Mbit/s" }
        [flow.bulk]
        from = "left"
        to = "right"
    """
    scenario = Scenario.from_toml(text)
    with pytest.raises(InputError, match=r"link\.botleneck: found no link `botleneck`.*did you mean `bottleneck`"):
        scenario.with_({"link.botleneck.rate": "2 Mbit/s"})
    with pytest.raises(InputError, match=r"its parameters are at topology\.bottleneck"):
        scenario.with_({"link.bottleneck.rate": "2 Mbit/s"})
    with pytest.raises(InputError, match=r"flow\.bluk: found no flow `bluk`.*did you mean `bulk`"):
        scenario.with_({"flow.bluk.tcp.law": "cubic"})


def test_with_refuses_a_path_through_a_value() -> None:
    with pytest.raises(InputError, match=r"link\.last-hop\.rate: found the value \"64 kbit/s\""):
        Scenario.from_toml(SCENARIO).with_({"link.last-hop.rate.max": 3})


def test_a_whole_new_flow_may_be_added() -> None:
    assert Scenario.from_toml(SCENARIO).with_({"flow.late": {"from": "a"}}).get("flow.late.from") == "a"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("64 kbit/s", "64 kbit/s"),
        ("3", 3),
        ("0.5", 0.5),
        ("true", True),
        ('"3"', "3"),
        ("[1, 2]", [1, 2]),
        ('{ type = "red" }', {"type": "red"}),
        ("1979-05-27", "1979-05-27"),
        ("nan", "nan"),
        ("", ""),
        ("1\nw = 2", "1\nw = 2"),
    ],
)
def test_values_on_the_command_line_are_toml_or_plain_text(text: str, value: object) -> None:
    assert parse_value(text) == value


def test_an_assignment_without_equals_is_refused() -> None:
    with pytest.raises(InputError, match="path=value"):
        parse_assignment("seed")


def test_a_second_table_with_one_name_is_named_with_both_lines(tmp_path: Path) -> None:
    path = tmp_path / "twice.toml"
    path.write_text('name = "x"\n[link.a]\nrate = "1 bit/s"\n[link.a]\nrate = "2 bit/s"\n')
    with pytest.raises(InputError) as e:
        Scenario.load(path)
    assert str(e.value).startswith(f"{path}:4: link.a: found a second link with the name `a` (first on line 2)")


def test_a_key_that_is_given_twice_is_named() -> None:
    with pytest.raises(InputError, match=r":3: link\.a\.rate: found `link\.a\.rate` a second time"):
        Scenario.from_toml('[link.a]\nrate = "1 bit/s"\nrate = "2 bit/s"\n')


@pytest.mark.parametrize("text", ["rate = 64 kbit/s\n", "[link\n", "= 3\n", 'a = "unclosed\n'])
def test_text_that_is_not_toml_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(InputError, match=r"scenario:1"):
        Scenario.from_toml(text)


@pytest.mark.parametrize("value", ["1979-05-27", "inf", "nan", "07:32:00"])
def test_values_that_json_cannot_hold_are_refused_with_their_line(value: str) -> None:
    with pytest.raises(InputError, match=r"scenario `.*`:2: link\.a\.x: found"):
        Scenario.from_toml(f"[link.a]\nx = {value}\n")


def test_a_missing_file_names_the_nearest_one(tmp_path: Path) -> None:
    (tmp_path / "gprs.toml").write_text("")
    with pytest.raises(InputError, match=r"no such file.*did you mean `gprs\.toml`"):
        Scenario.load(tmp_path / "gpsr.toml")


def test_a_directory_and_bytes_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a directory"):
        Scenario.load(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b'name = "\xe9"')
    with pytest.raises(InputError, match="not UTF-8"):
        Scenario.load(tmp_path / "latin.toml")


def test_a_scenario_without_a_name_gets_that_of_its_file(tmp_path: Path) -> None:
    path = tmp_path / "My File.toml"
    path.write_text("")
    assert Scenario.load(path).name == "my-file"


def test_the_line_of_a_path_inside_an_inline_table_is_that_of_the_table() -> None:
    lines = SCENARIO.splitlines()
    found = line_of(SCENARIO, "link.last-hop.queue.limit")
    assert found is not None
    assert lines[found - 1].startswith("queue =")
    assert line_of(SCENARIO, "flow.nobody.rate") is None


def test_what_was_changed_after_loading_is_not_blamed_on_a_line_of_the_file(engine: object, file: Path) -> None:
    base = Scenario.load(file)
    with pytest.raises(InputError, match=r"pair\.toml as changed: link\.last-hop\.rate: found"):
        base.with_({"link.last-hop.rate": "fast"}).validate()
    file.write_text(file.read_text().replace("64 kbit/s", "fast"))
    with pytest.raises(InputError, match=r"pair\.toml:8: link\.last-hop\.rate: found"):
        Scenario.load(file).with_({"seed": 2}).validate()


def test_a_long_list_of_valid_names_gives_way_to_the_nearest_one(engine: object, file: Path) -> None:
    class Complaint:
        path, found = "lnk", "`lnk`"
        expected = "a known key: one of " + ", ".join(f"name-{i}" for i in range(40))
        hint = "did you mean `link`?"

    text = str(Scenario.load(file).explain(Complaint()))
    assert "expected a known key; did you mean `link`?" in text and "name-1" not in text


@pytest.mark.engine
def test_the_link_of_a_template_is_looked_for_where_its_parameters_are() -> None:
    dumbbell = Scenario.load(Path(__file__).parents[2] / "scenarios/dumbbell.toml")
    with pytest.raises(InputError, match=r"topology\.bottleneck"):
        dumbbell.with_({"link.bottleneck.rate": "1 Mbit/s"}).validate()


def test_keys_of_a_link_that_is_a_name_alone_can_be_set() -> None:
    one = Scenario({"name": "one", "duration": "1 s", "link": "gprs"})
    changed = one.with_({"link.last-hop.delay": "100 ms"})
    assert changed.get("link.last-hop") == {"from": "server", "to": "mobile", "profile": "gprs", "delay": "100 ms"}
    assert one.get("link") == "gprs"


def test_what_stands_at_two_places_of_the_data_changes_alone():
    table = {"preset": "rfc"}
    flow = {"from": "a", "to": "b", "workload": {"type": "bulk"}, "tcp": table}
    link = {"from": "a", "to": "b", "rate": "1 Mbit/s", "delay": "1 ms"}
    both = {"name": "twins", "duration": "1 s", "link": {"l": link}, "flow": {"f": flow, "g": flow}}
    changed = Scenario.from_dict(both).with_({"flow.f.tcp.preset": "reno"})
    assert [changed.get(f"flow.{f}.tcp.preset") for f in "fg"] == ["reno", "rfc"] and table["preset"] == "rfc"

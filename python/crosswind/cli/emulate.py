"""`crosswind emulate`: a real command behind the links of a scenario."""

from __future__ import annotations

import json as json_text
from pathlib import Path
from typing import Annotated, Any

import typer

from crosswind.cli.shared import JsonOption, OutOption, SeedOption, SetOption, changed, print_json
from crosswind.errors import EXIT_DONE, EXIT_FAILED, InputError
from crosswind.scenario import Scenario

EPILOG = "Example: crosswind emulate scenarios/emulate/gprs.toml -- curl -o /dev/null http://server:8000/"


def register(app: typer.Typer) -> None:
    app.command("emulate", epilog=EPILOG)(emulate)


def emulate(
    scenario: Annotated[Path | None, typer.Argument(metavar="SCENARIO.toml", help="The scenario file.")] = None,
    command: Annotated[
        list[str] | None, typer.Argument(metavar="-- COMMAND", help="What to run; left out: a shell.")
    ] = None,
    seed: SeedOption = None,
    assign: SetOption = None,
    seconds: Annotated[
        float | None, typer.Option("--for", min=0.1, help="End the command after so many seconds.")
    ] = None,
    out: OutOption = None,
    uplink: Annotated[
        bool,
        typer.Option("--uplink", help="Give `emulate.uplink` a way to this machine's network (masqueraded; root)."),
    ] = False,
    tape: Annotated[Path | None, typer.Option("--tape", help="Record all arrivals, to be played again.")] = None,
    play: Annotated[Path | None, typer.Option("--play", help="Play a tape in virtual time.")] = None,
    control: Annotated[
        list[str] | None,
        typer.Option("--control", metavar="LINK.KEY=VALUE", help="Change the emulation that runs. Repeatable."),
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Show the emulation that runs, once a second.")] = False,
    studio: Annotated[bool, typer.Option("--studio", help="Show the emulation that runs in the browser.")] = False,
    number: Annotated[int | None, typer.Option("--of", help="Which emulation, if several run: its process.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No summary at the end.")] = False,
    json: JsonOption = False,
) -> int:
    """Runs a command in a network namespace whose only way out is the emulated network.

    The command takes the place of one host (`emulate.client`); other hosts run the programs of `emulate.serve` and are
    reached by their names. Queues, links and losses are those of the simulator, in real time.
    """
    if play is not None:
        return _play(play, json)
    if control:
        return _control(control, number)
    if watch:
        return _watch(number, json)
    if studio:
        return _studio(number)
    if scenario is None:
        expected = "SCENARIO.toml, --play, --control, --watch or --studio"
        raise InputError("emulate", found="no scenario", expected=expected)
    what = changed(scenario, assign)
    what.validate()
    return session(what, command, seed=seed, seconds=seconds, out=out, uplink=uplink, tape=tape, quiet=quiet, json=json)


def session(
    what: Scenario,
    command: list[str] | None,
    *,
    seed: int | None = None,
    seconds: float | None = None,
    out: Path | None = None,
    uplink: bool = False,
    tape: Path | None = None,
    quiet: bool = False,
    json: bool = False,
) -> int:
    """Runs a command, or a shell, in the place of the scenario's client; returns its exit code.

    Raises MissingError with all that stands in the way where no sandbox can be made.
    """
    from crosswind.emulate import needs, sandbox
    from crosswind.emulate import uplink as uplinks
    from crosswind.emulate.control import new_door
    from crosswind.results.folder import prepare_out
    from crosswind.run.wanted import seed_of

    privileges = needs.check()
    door = new_door()
    job: dict[str, Any] = {
        "kind": "session",
        "scenario": what.data,
        "file": what.file,
        "text": what.text,
        "seed": seed if seed is not None else seed_of(what),
        "command": command or [],
        "seconds": seconds,
        "out": str(prepare_out(out).resolve()) if out else None,
        "tape": str(tape.resolve()) if tape else None,
        "door": str(door),
        "json": json,
        "quiet": quiet,
    }
    try:
        with uplinks.asked_for(privileges, wanted=uplink) as way_out:
            if way_out is None:
                return sandbox.run(job, privileges)
            return sandbox.run({**job, "uplink": way_out.job}, privileges, way_out.open)
    finally:
        door.unlink(missing_ok=True)


def _play(tape: Path, json: bool) -> int:
    from crosswind.core import core

    try:
        said = json_text.loads(core().replay_tape(str(tape)))
    except OSError as e:
        raise InputError("--play", found=str(e), expected="a tape of `crosswind emulate --tape`") from None
    if json:
        print_json(said)
    else:
        print(
            f"{said['name']}: {said['arrived_packets']} arrivals, {said['decisions']} decisions, "
            f"fingerprint {said['fingerprint']}"
        )
        print(
            "the live run decided the same"
            if said["is_identical"]
            else f"the live run: {said['recorded'] or 'cut off'}"
        )
    return EXIT_DONE if said["is_identical"] else EXIT_FAILED


def _control(changes: list[str], number: int | None) -> int:
    from crosswind.emulate.control import ask, parse_change

    links = [v["link"] for v in next(ask({"do": "view"}, number))["links"]]
    for change in changes:
        for answer in ask(parse_change(change, list(dict.fromkeys(links))), number):
            print("\n".join(answer["done"]))
    return EXIT_DONE


def _watch(number: int | None, json: bool) -> int:
    from rich.console import Console

    from crosswind.emulate.control import ask
    from crosswind.emulate.view import watch

    looks = ask({"do": "watch", "every": 1.0}, number)
    if not json:
        watch(looks, Console())
        return EXIT_DONE
    for seen in looks:
        print(json_text.dumps(seen), flush=True)
    return EXIT_DONE


def _studio(number: int | None) -> int:
    from crosswind.studio import live, server
    from crosswind.studio.answer import Studio

    live.look(number)  # whether there is one to be shown
    server.serve({"live": True}, Studio(emulation=number), port=0, browser="open")
    return EXIT_DONE

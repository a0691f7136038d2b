"""`crosswind studio`: a scenario in the browser, with knobs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from crosswind.errors import InputError
from crosswind.scenario import Scenario

EPILOG = "Example: crosswind studio scenarios/home-gateway.toml"


def register(app: typer.Typer) -> None:
    app.command("studio", epilog=EPILOG)(studio)


def studio(
    scenario: Annotated[
        str, typer.Argument(metavar="SCENARIO.toml", help="A scenario file, or a link of the studio (`#s=..`).")
    ] = "",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port on 127.0.0.1; 0: a free one.")] = 0,
    lesson: Annotated[str, typer.Option("--lesson", metavar="NAME", help="Begin with a lesson.")] = "",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page.")] = True,
) -> None:
    """Shows a scenario in the browser: the network, charts, and controls that run it again at once.

    The page is served on this machine only, to whoever has the address that is printed. It works without a network.
    """
    from crosswind.lessons import find
    from crosswind.studio import lessons, server
    from crosswind.studio.answer import Studio

    _, mark, packed = scenario.partition("#s=")
    text, file = find(lesson).text if lesson else lessons.first(), None
    if scenario and lesson:
        raise InputError("--lesson", found=f"`{scenario}` beside it", expected="a lesson or a scenario")
    if scenario and not mark:
        path = Path(scenario)
        text, file = Scenario.load(path).text, str(path)
        if not text:
            raise InputError(file, found="an empty file", expected="a scenario")
    start = {"text": text, "file": Path(file).name if file else "", "lessons": lessons.told(), "lesson": lesson}
    how = "open" if browser else "leave"
    server.serve(start, Studio(file), port=port, browser=how, fragment=f"#s={packed}" if mark else "")

"""Phenomena: small runs that show one effect each, with figures and an explanation whose numbers are measured."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from crosswind import figures
from crosswind.errors import InputError, did_you_mean
from crosswind.figures import Picture
from crosswind.figures.plotting import plt
from crosswind.lessons import registry as lessons
from crosswind.reproduce import catalogue
from crosswind.results import Runs
from crosswind.results.folder import prepare_out
from crosswind.run import run
from crosswind.scenario import Scenario


@dataclass(frozen=True)
class Scene:
    """What a run showed: event logs by configuration and flow, and the last repetition."""

    runs: Runs

    def events(self, configuration: str, flow: str) -> pl.DataFrame:
        """The events of one flow in the last repetition."""
        e = self.runs.events(flow=flow).filter(pl.col("configuration") == configuration)
        return e.filter(pl.col("rep") == e["rep"].max())

    def times_s(self, configuration: str, flow: str, *kinds: str) -> list[float]:
        """When events of the sender happened; those of SYN and FIN, which carry no data, do not count."""
        e = self.events(configuration, flow).filter(pl.col("kind").is_in(list(kinds)) & (pl.col("end") == "sender"))
        data = ~pl.col("kind").is_in(["send", "retransmit", "drop", "lost", "mark"]) | (pl.col("len") > 0)
        real = ~pl.col("kind").is_in(["timeout"]) | (pl.col("seq") > 0)
        return [t / 1e9 for t in e.filter(data & real)["time_ns"]]

    def first_s(self, configuration: str, flow: str, *kinds: str) -> float:
        """When the first such event happened; infinite when none did."""
        return min(self.times_s(configuration, flow, *kinds), default=float("inf"))

    def value(self, configuration: str, flow: str, column: str) -> float:
        """A value of the flow table in the last repetition."""
        f = self.runs.flows().filter((pl.col("configuration") == configuration) & (pl.col("name") == flow))
        return float(f.filter(pl.col("rep") == f["rep"].max())[column][0])

    def sequence(self, name: str, caption: str, configuration: str, flow: str, until_s: float) -> Picture:
        """Time-sequence graph of one flow up to a time."""
        e = self.events(configuration, flow).filter(pl.col("time_ns") <= int(until_s * 1e9))
        return figures.time_sequence(name, caption, e)


@dataclass(frozen=True)
class Phenomenon:
    """One effect. `tell` returns what is filled into the two paragraphs; `show` the figures.

    Without scenarios nothing is run: such a phenomenon drives a law of the engine with chosen arrivals.
    """

    name: str
    title: str
    paragraphs: Sequence[str]
    scenarios: Callable[[], dict[str, Scenario]]
    tell: Callable[[Scene], Mapping[str, float]]
    show: Callable[[Scene], Sequence[Picture]]
    reps: int = 1

    def page(self, scene: Scene) -> tuple[str, Sequence[Picture]]:
        """The explanation as Markdown, and the figures that it refers to."""
        facts, pictures = self.tell(scene), self.show(scene)
        lines = [f"# {self.title}", "", self.paragraphs[0].format(**facts), ""]
        for p in pictures:
            lines += [f"![{p.alt}]({p.name}.svg)", "", f"*{p.caption}*", ""]
        lines += [self.paragraphs[1].format(**facts), ""]
        lines += [f"Made by `crosswind explain {self.name}`; the numbers above are those of the run.", ""]
        return "\n".join(lines), pictures


def told(here: str) -> Callable[..., Phenomenon]:
    """Makes phenomena (name, scenarios, tell, show) whose words stand in `data/phenomena.toml` beside `here`."""
    words = tomllib.loads((Path(here).parent / "data" / "phenomena.toml").read_text(encoding="utf-8"))
    return lambda name, *of, **more: Phenomenon(name, words[name]["title"], words[name]["paragraphs"], *of, **more)


def registry() -> dict[str, Phenomenon]:
    """All phenomena by name."""
    return {p.name: p for p in catalogue.phenomena()}


def find(name: str) -> list[Phenomenon]:
    """One phenomenon, or all. Raises InputError for an unknown name."""
    known = registry()
    if name == "all":
        return list(known.values())
    if name not in known:
        raise InputError(
            "phenomenon",
            found=f"`{name}`",
            expected=f"all or one of {', '.join([*known, *lessons()])}",
            hint=did_you_mean(name, [*known, *lessons()]),
        )
    return [known[name]]


def explain(phenomenon: Phenomenon, out: Path) -> tuple[str, Path]:
    """Runs a phenomenon and writes `<name>.md` and its figures (SVG); returns the text and where it is."""
    prepare_out(out)
    scenarios = phenomenon.scenarios()
    scene = Scene(run(scenarios, seed=1, reps=phenomenon.reps) if scenarios else Runs({}, {}, {}))
    text, pictures = phenomenon.page(scene)
    for p in pictures:
        with plt.rc_context(figures.STYLE):
            p.figure.savefig(out / f"{p.name}.svg", metadata={"Date": None}, facecolor="white")
    figures.close_all(pictures)
    page = out / f"{phenomenon.name}.md"
    page.write_text(text, encoding="utf-8")
    return text, page

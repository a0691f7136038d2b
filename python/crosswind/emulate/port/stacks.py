"""A window law as a congestion controller of a QUIC stack: the crate that an author adds, and its window beside TCP's.

The adaptor is that of the build with stacks (`crates/stacks/src/quic/law.rs`); nothing of the law is written anew.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from crosswind.core import core, registry, version
from crosswind.emulate.port.curves import CUTS_WITHIN, Curve, GRID_s, curve, cuts, held, seconds_of
from crosswind.errors import InputError, UnknownNameError
from crosswind.run import run as simulate
from crosswind.run.wanted import seed_of
from crosswind.scenario import Scenario
from crosswind.scenario.quantity import parse

DATA = resources.files("crosswind.emulate.port") / "data"
FLOW = "bulk"
#: What an author's manifest asks for: any release whose trait is the one that the adaptor was tested with.
RELEASES = {"quinn": ("quinn-proto", "0.11"), "noq": ("noq-proto", "1.4")}
#: Laws that acknowledgements and losses alone make. A stack measures no delivery rates, counts no marks for its
#: controller and paces by itself; the engine refuses what is not here (`why_not` in the adaptor).
LAWS = (
    "aimd", "bic", "cubic", "fast", "hstcp", "htcp", "ledbat++", "ltcp", "reno", "scalable", "vegas", "westwood",
)  # fmt: skip
#: What a comparison accepts: difference of the mean windows. The stack finds losses and paces otherwise than TCP, so
#: that windows at one moment are out of step; law and period are the same.
WITHIN = 0.1
#: The first seconds, in which slow start overshoots by what each sender does about it, do not count.
FROM_s = 5.0


def portable(name: str) -> str:
    """The name of a law. Raises UnknownNameError with the nearest one, and InputError for one that cannot be ported."""
    if name in LAWS:
        return name
    if name not in [row["name"] for row in registry("law")]:
        raise UnknownNameError("port", name, "law to port", LAWS)
    hint = "it needs delivery rates, pacing or counts of marks, which a stack does not give its controller"
    raise InputError("port", found=f"`{name}`", expected=f"one of {', '.join(LAWS)}", hint=hint)


def slug(law: str) -> str:
    """A law in the name of a crate or a scenario."""
    return "".join(c if c.isalnum() else "-" for c in law).strip("-")


def scenario(stack: str, law: str, table: dict[str, Any]) -> Scenario:
    """What a ported law is compared in: the stack's transfer over 20 Mbit/s and 60 ms, a queue of 100 packets."""
    return Scenario.from_dict(
        {
            "name": f"port-{slug(law)}-{stack}",
            "title": f"{law} in {stack} over 20 Mbit/s and 60 ms",
            "duration": "60 s",
            "link": {
                "path": {
                    "from": "server",
                    "to": "client",
                    "rate": "20 Mbit/s",
                    "delay": "30 ms",
                    "queue": {"type": "droptail", "limit": "100 packets"},
                    "reverse": {"queue": {"limit": "1000 packets"}},
                }
            },
            "flow": {
                FLOW: {
                    "from": "server",
                    "to": "client",
                    "workload": {"type": "bulk"},
                    "transport": {"type": stack, "law": {"law": law, **table}},
                }
            },
            "record": {"sample": "20 ms"},
        }
    )


def checked(law: str, table: dict[str, Any]) -> None:
    """Raises InputError for parameters that the law does not have: the engine is asked, as of a flow of TCP."""
    asked = scenario("quinn", law, {}).data
    flow = {k: v for k, v in asked["flow"][FLOW].items() if k != "transport"}
    tcp = {"preset": "rfc", "law": law, **table}
    Scenario.from_dict({**asked, "flow": {FLOW: {**flow, "tcp": tcp}}}).validate()


def write(stack: str, law: str, table: dict[str, Any], folder: Path) -> list[Path]:
    """Writes the crate and `check.toml`; returns the files. `table`: the parameters that are not the usual ones."""
    checked(law, table)
    what = scenario(stack, law, table)
    crate, release = RELEASES[stack]
    fill = {
        "LAW": law, "NAME": slug(law), "STACK": stack, "CRATE": crate, "MODULE": crate.replace("-", "_"),
        "RELEASE": release, "VERSION": version(), "JSON": json.dumps({"law": law, **table}),
    }  # fmt: skip
    texts = {
        "Cargo.toml": _filled("crate.toml.in", fill),
        "README.md": _filled("crate.md.in", fill),
        "src/lib.rs": _filled("crate.rs.in", fill),
        "check.toml": what.to_toml(),
        **{f"src/{file}": text for file, text in core().law_adaptor(stack)},
    }
    for file, text in texts.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(text, encoding="utf-8")
    return [folder / file for file in texts]


def _filled(name: str, values: dict[str, str]) -> str:
    text = (DATA / name).read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return text


@dataclass(frozen=True)
class BesideTcp:
    """The window of a law in a stack and in TCP, over time, in datagrams and segments."""

    law: str
    stack: str
    scenario: Scenario
    tcp: Curve
    ours: Curve

    @property
    def means(self) -> tuple[float, float]:
        """Mean window over time, of TCP and of the stack, once slow start is over."""
        grid = np.arange(FROM_s, seconds_of(self.scenario), GRID_s)
        return float(held(self.tcp, grid).mean()), float(held(self.ours, grid).mean())

    @property
    def difference(self) -> float:
        """By how much the stack's mean window differs, as a share of TCP's."""
        tcp, ours = self.means
        return ours / tcp - 1

    @property
    def cuts(self) -> tuple[int, int]:
        """How often each window was cut once slow start is over, of TCP and of the stack."""
        tcp, ours = (cuts(w[t >= FROM_s]) for t, w in (self.tcp, self.ours))
        return tcp, ours

    @property
    def is_alike(self) -> bool:
        """Whether mean window and cuts are within what is accepted."""
        tcp, ours = self.cuts
        return abs(self.difference) <= WITHIN and abs(tcp - ours) <= max(1.0, 2 * CUTS_WITHIN * tcp)

    def as_dict(self) -> dict[str, Any]:
        """For scripts: windows in segments and datagrams, the difference as a share."""
        (tcp, ours), (tcp_cuts, our_cuts) = self.means, self.cuts
        return {
            "law": self.law, "stack": self.stack, "duration_s": seconds_of(self.scenario), "from_s": FROM_s,
            "window_tcp": tcp, "window_stack": ours, "mean_difference": self.difference, "accepted": WITHIN,
            "cuts_tcp": tcp_cuts, "cuts_stack": our_cuts, "is_alike": self.is_alike,
        }  # fmt: skip


def stack_of(what: Scenario) -> str | None:
    """The stack whose law a scenario is about, or nothing where it is about a kernel's."""
    found = what.get(f"flow.{FLOW}.transport.type")
    return str(found) if found in RELEASES else None


def compare(what: Scenario) -> BesideTcp:
    """Runs a scenario with the law in the stack, and again with Crosswind's TCP. Raises InputError without a law."""
    stack = stack_of(what)
    transport = what.get(f"flow.{FLOW}.transport") or {}
    table = transport.get("law")
    table = {"law": table} if isinstance(table, str) else table
    if stack is None or not isinstance(table, dict) or "law" not in table:
        raise InputError(what.file or "scenario", f"flow.{FLOW}.transport.law", "no law", "a law that can be ported")
    what.validate()
    flow = {k: v for k, v in what.data["flow"][FLOW].items() if k != "transport"}
    tcp = {"preset": "linux-6", **table}
    beside = Scenario.from_dict({**what.data, "flow": {**what.data["flow"], FLOW: {**flow, "tcp": tcp}}})
    datagram = parse(transport.get("initial_mtu", "1452 B"))
    mss = parse(beside.validate()["flow"][FLOW]["tcp"]["mss"])
    assert datagram is not None and mss is not None
    seed = seed_of(what)
    own = curve(simulate(beside, seed=seed), FLOW, mss.value)
    theirs = curve(simulate(what, seed=seed), FLOW, datagram.value)
    return BesideTcp(str(table["law"]), stack, what, own, theirs)

"""What a port leaves: the folder with its files, the table of errors, the page with both windows."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crosswind import report
from crosswind.core import version
from crosswind.emulate.port.alone import Error
from crosswind.emulate.port.beside import WITHIN, Beside
from crosswind.emulate.port.constants import Portable
from crosswind.figures import Format, Picture, over_time
from crosswind.table import Table

INTRODUCTION = (
    "One transfer, twice: in the simulator with the law in real numbers, and between two kernels in real time with the "
    "law in whole numbers, loaded as a BPF program. Rate, delay and queue are the same; the kernel's loss recovery, "
    "acknowledgements and clock are its own."
)
README = """\
{law} as a congestion control of the Linux kernel, `{kernel}`.

  {law}.bpf.c   the law in C, whole numbers only (MIT OR GPL-2.0)
  {law}.bpf.o   compiled for BPF; any kernel with types (CONFIG_DEBUG_INFO_BTF) takes it, no compiler needed
  check.toml    a scenario in which it is compared: crosswind port --run check.toml

Error of whole numbers: at most {bound:g} of the window ({why}).
Measured, stepped ACK by ACK beside the law in real numbers:
{measured}
Where a window lies within that error of a place where the law itself jumps (a threshold), one ACK may count otherwise.

By hand, as root:
  bpftool struct_ops register {law}.bpf.o
  (a program asks for it: setsockopt(s, IPPROTO_TCP, TCP_CONGESTION, "{kernel}", ..), with CAP_NET_ADMIN)
  bpftool struct_ops unregister name {kernel}

Not ported, as it is the kernel's: loss detection, recovery, timers, pacing, acknowledgements.
"""


def on(path: dict[str, Any]) -> str:
    """A path, in words."""
    words = [f"round trip {path['rtt']}"]
    if "loss" in path:
        words.append(f"loss {path['loss']:g}")
    if "limit" in path:
        words.append(f"overflow at {path['limit']:g} segments")
    return ", ".join(words)


def table_of_errors(law: Portable, errors: Sequence[Error]) -> Table:
    """One row for each path on which the C was stepped beside the law."""
    rows = [[on(e.path), str(e.steps), str(e.losses), f"{e.largest:.1e}", f"{e.mean:.1e}"] for e in errors]
    note = f"Stated bound {law.bound:g}: {law.why}."
    return Table(f"{law.name} in whole numbers", ["path", "ACKs", "losses", "largest error", "mean error"], rows, note)


def readme(law: Portable, errors: Sequence[Error]) -> str:
    lines = [f"  {on(e.path)}: largest {e.largest:.1e}, {e.steps} ACKs, {e.losses} losses" for e in errors]
    measured = "\n".join(lines) or "  not here: there was no C compiler"
    return README.format(law=law.name, kernel=law.kernel_name, bound=law.bound, why=law.why, measured=measured)


def table(found: Beside) -> Table:
    """What both windows were, and what they differ by."""
    (ours, real), (our_cuts, real_cuts), (in_step, later) = found.means, found.cuts, found.in_step
    rows = [
        ["mean window (segments)", f"{ours:.2f}", f"{real:.2f}", f"{real / ours - 1:+.1%}"],
        ["window at the same moment", "", "", f"{found.difference:.1%}"],
        [f"the same, kernel moved by {1e3 * later:.0f} ms", "", "", f"{in_step:.1%}"],
        ["cuts", str(our_cuts), str(real_cuts), f"{real_cuts - our_cuts:+d}"],
    ]
    said = "alike" if found.is_alike else "not alike"
    if not found.is_alike and in_step <= WITHIN:
        said += f", but for {1e3 * abs(later):.0f} ms of phase"
    note = f"{said}: accepted are {WITHIN:.0%} at the same moment, in the mean of all moments, and one cut in twenty."
    heads = ["", "simulated", f"Linux {platform.release()}", "difference"]
    return Table(f"{found.law.name}, {found.seconds:g} s", heads, rows, note)


def picture(found: Beside) -> Picture:
    """Both windows over time."""
    caption = f"Window of {found.law.name}, simulated and in Linux {platform.release()}: {found.scenario.title}."
    return over_time(
        f"window-{found.law.name}", caption, {"kernel": found.real, "simulated": found.simulated}, "window (segments)"
    )


def write(found: Beside, folder: Path, command: str = "", formats: Sequence[Format] = ()) -> Path:
    """Writes report.html and the figure; returns the path of the page."""
    shown = [picture(found)]
    late = {q: f"{found.machine['lateness'][f'{q}_ns'] / 1e3:.0f} µs" for q in ("p50", "p99")}
    html = (
        report.environment()
        .get_template("port.html")
        .render(
            title=f"{found.law.name} in the kernel and simulated",
            byline=table(found).note,
            warnings=found.warnings,
            prose=INTRODUCTION,
            summary=table(found),
            pictures=report.for_page(shown, formats),
            facts=[
                ("engine", f"Crosswind {version()}"),
                ("kernel", f"Linux {platform.release()}"),
                ("packets left late by", f"{late['p50']} (median), {late['p99']} (p99)"),
                ("error of whole numbers", f"at most {found.law.bound:g} of the window ({found.law.why})"),
            ],
            scenario=(found.scenario.name, found.scenario.to_toml()),
            command=command,
        )
    )
    folder.mkdir(parents=True, exist_ok=True)
    return report.write(folder, html, shown, command, formats)

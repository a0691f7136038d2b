"""What the three experiments of the combined workload share: a page and a stream of two bursts beside two downloads."""

from __future__ import annotations

from typing import Any, Literal

from crosswind import figures
from crosswind.experiments.jarvinen_2006 import metrics, testbed
from crosswind.reproduce import Picture, Results

RESPONSE, OVERALL = "page_response_s", "overall_throughput"
STREAM_PACKETS = 2 * testbed.STREAM_PACKETS
REPS = 40
ROLES = ("faster", "slower", "page")
Side = Literal["every", "minimal"]


def workload(name: str, bulk_bytes: int = testbed.BULK_BYTES) -> testbed.Workload:
    """Two bulk flows, a page, a stream of two bursts with 5 to 15 s between them."""
    return testbed.Workload(name, ("page", "audio"), bulk_bytes=bulk_bytes, bursts=2)


def pictures(
    r: Results, panels: dict[str, str], link: str = "", only: tuple[str, ...] = (), where: str = ""
) -> list[Picture]:
    """Quartile boxes; `panels`: figure number -> what it shows."""
    shown: dict[str, tuple[str, dict[str, str], str, Any]] = {
        "overall": ("Overall throughput", {"all": OVERALL}, "overall throughput (B/s)", None),
        "response": ("Response time of the page", {"page": RESPONSE}, "response time (s)", 0.0),
        "stream": ("Throughput of the stream", {"stream": "audio_throughput"}, "throughput (B/s)", None),
        "bulk": (
            "Elapsed times of the bulk flows",
            {"faster": "faster_elapsed_s", "slower": "slower_elapsed_s"},
            "elapsed time (s)",
            None,
        ),
        "spurious": ("Spurious timeouts", {x: f"{x}_spurious" for x in ROLES}, "spurious timeouts", 0.0),
        "vain": ("Unnecessary retransmissions", {x: f"{x}_unnecessary" for x in ROLES}, "retransmissions", 0.0),
        "drops": ("Drops", {x: f"{x}_drops" for x in ROLES}, "drops (packets)", 0.0),
    }
    out = []
    on = f" on {link}" if link else where
    for figure, what in panels.items():
        title, columns, y, floor = shown[what]
        groups = metrics.columns(r, columns, link=link)
        if only:
            groups = {c.removeprefix("LSB1 "): v for c, v in groups.items() if c in only}
        out.append(figures.quartile_bars(f"fig-{figure}", f"{title}{on} (Fig. {figure}).", groups, y, floor))
    return out

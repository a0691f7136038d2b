"""What a change did, in words: the runs before and after it, repeated with the same random numbers, pair by pair."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import polars as pl

from crosswind.report.comparison import Row, results
from crosswind.results import Runs
from crosswind.results.summary import show_count, show_rate, show_share, show_time
from crosswind.run import run
from crosswind.run.wanted import seed_of
from crosswind.scenario import Scenario
from crosswind.stats.comparing import compare
from crosswind.studio.limits import Clock, Overdue

REPETITIONS = 8
SECONDS_MAX = 30.0
#: Metrics of flows, in words, with how their values are written.
WORDS = {
    "goodput_bps": ("goodput", show_rate),
    "elapsed_ns": ("time of a transfer", show_time),
    "rtt_p50_ns": ("median round-trip time", show_time),
    "rtt_p99_ns": ("99th percentile of the round-trip time", show_time),
    "delay_p50_ns": ("median one-way delay", show_time),
    "delay_p99_ns": ("99th percentile of the one-way delay", show_time),
    "loss_ratio": ("share of packets lost", show_share),
    "mos": ("mean opinion score", show_count),
    "drops_packets": ("packets dropped", show_count),
    "marks_packets": ("packets marked", show_count),
    "retransmitted_packets": ("packets retransmitted", show_count),
    "timeouts": ("timeouts", show_count),
}
LINKS = {
    "utilisation_ratio": ("use", show_share),
    "queue_delay_p50_ns": ("median queueing delay", show_time),
    "queue_delay_p99_ns": ("99th percentile of the queueing delay", show_time),
}
#: A difference below this share of the old value is none that anybody would see.
VISIBLE = 0.01


def told(new: Scenario, old: Scenario, seed: int | None, clock: Clock | None = None) -> dict[str, Any]:
    """Sentences on what differs: {sentences: [{text, clear}], n, random}. Raises InputError for what takes too long,
    Overdue when nobody waits for it any more."""
    clock = clock or Clock(SECONDS_MAX)
    plain: dict[str, Any] = {"record.sample": None, "record.events": [], "record.hist": []}
    with ThreadPoolExecutor(2) as pool:
        asked = [
            pool.submit(
                run,
                s.with_({**plain, "name": "x"}),
                seed=seed if seed is not None else seed_of(s),
                reps=REPETITIONS,
                workers=1,
                progress=clock,
            )
            for s in (new, old)
        ]
        try:
            a, b = (one.result() for one in asked)
        except Overdue:
            if not clock.wanted:
                raise
            raise clock.refusal(new) from None
    random = not (a.repetitions_are_identical() and b.repetitions_are_identical())
    present = [m for m in WORDS if m in a.generators().columns and m in b.generators().columns]
    rows = [*results(a, b, present), *_of_links(a, b)]
    sentences = [s for row in rows if (s := _sentence(row, random))]
    sentences.sort(key=lambda s: -s["weight"])
    return {"sentences": sentences, "n": REPETITIONS, "random": random}


def _of_links(a: Runs, b: Runs) -> list[Row]:
    """The same for each direction of a link that both have, where a queue was ever used."""
    found = []
    keys = ["link", "direction"]
    both = a.links().join(b.links(), on=[*keys, "rep"], how="inner", suffix="_old", maintain_order="left")
    for (link, direction), part in both.group_by(keys, maintain_order=True):
        if float(part["queue_mean_bytes"].max() or 0) + float(part["queue_mean_bytes_old"].max() or 0) < 1:  # type: ignore[arg-type]
            continue
        for metric in LINKS:
            pair = part.select(metric, f"{metric}_old").with_columns(pl.all().cast(pl.Float64).fill_nan(None))
            pair = pair.drop_nulls()
            if pair.height and float(pair[metric].max() or 0) > 0:  # type: ignore[arg-type]
                name = f"link {link} ({direction})"
                found.append(Row("", name, metric, compare(pair[metric], pair[f"{metric}_old"])))
    return found


def _sentence(row: Row, random: bool) -> dict[str, Any] | None:  # noqa: FBT001
    """One difference that can be seen, with its interval; None for one that cannot."""
    c = row.comparison
    words, show = (WORDS.get(row.metric) or LINKS.get(row.metric)) or (row.metric, show_count)
    if not c.n or c.new.value == c.old.value:
        return None
    change = c.change
    relative = change.value if change.value == change.value else 1.0
    if abs(relative) < VISIBLE:
        return None
    text = f"{row.group}: {words} {show(c.old.value)} → {show(c.new.value)}"
    if change.value == change.value:
        text += f", {change.value:+.0%}"
        if random and change.low == change.low:
            text += f" (95 % interval {change.low:+.0%} to {change.high:+.0%})"
    clear = c.clear if random else True
    if not clear:
        text += "; no clear difference"
    return {"text": text, "clear": clear, "weight": abs(relative) * (1.0 if clear else 0.01)}

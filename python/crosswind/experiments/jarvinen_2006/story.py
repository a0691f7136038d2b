"""What befell a flow, read out of its event log."""

import math

import polars as pl

from crosswind.reproduce import Runs


def third_story(runs: Runs) -> pl.DataFrame:
    """What befell the third flow, from its event log, per repetition.

    `first_drop_round`: the round trip (1 = the initial window) in which its first dropped segment was sent; null when
    nothing was dropped. `initial_timeout`: a timeout before the first data was acknowledged. `first_ack_s`: how long
    that acknowledgement took. `last_window_timeout`: a timeout after the last new segment had been sent.
    """
    schema = {
        "configuration": pl.String,
        "rep": pl.Int64,
        "first_drop_round": pl.Float64,
        "initial_timeout": pl.Boolean,
        "last_window_timeout": pl.Boolean,
        "first_ack_s": pl.Float64,
    }
    events = runs.events(flow="third")
    if events.is_empty():
        return pl.DataFrame(schema=schema)
    # What the data sender sent, heard and waited for in vain; SYN and FIN (no data, sequence number 0) are not meant.
    kind, of_data = pl.col("kind"), pl.col("len") > 0
    heard = kind.is_in(["ack", "timeout"]) & (pl.col("seq") > 0)
    mine = (pl.col("end") == "sender") & ((kind.is_in(["send", "drop"]) & of_data) | heard)
    parts = (
        events.filter(mine).group_by(["configuration", "rep"], maintain_order=True).agg("time_ns", "kind", "seq", "len")
    )
    rows = [
        (row["configuration"], row["rep"], *_story(row["time_ns"], row["kind"], row["seq"], row["len"]))
        for row in parts.iter_rows(named=True)
    ]
    return pl.DataFrame(rows, schema=schema, orient="row")


def _story(
    times: list[int], kinds: list[str], seqs: list[int], lengths: list[int]
) -> tuple[float | None, bool, bool, float | None]:
    sent = [t for t, k in zip(times, kinds, strict=True) if k == "send"]
    if not sent:
        return None, False, False, None
    first_seq = next(s for s, k in zip(seqs, kinds, strict=True) if k == "send")
    timeouts = [t for t, k in zip(times, kinds, strict=True) if k == "timeout"]
    first_ack = next((t for t, k, s in zip(times, kinds, seqs, strict=True) if k == "ack" and s > first_seq), None)
    until = math.inf if first_ack is None else first_ack
    return (
        _round_of_first_drop(kinds, seqs, lengths),
        any(sent[0] < t <= until for t in timeouts),
        any(t > sent[-1] for t in timeouts),
        None if first_ack is None else (first_ack - sent[0]) / 1e9,
    )


def _round_of_first_drop(kinds: list[str], seqs: list[int], lengths: list[int]) -> float | None:
    """Counts round trips: one ends when everything sent before it began has been acknowledged."""
    dropped = [s for s, k in zip(seqs, kinds, strict=True) if k == "drop"]
    if not dropped:
        return None
    lost = min(dropped)
    number, ends_at, highest = 1, None, 0
    for kind, seq, length in zip(kinds, seqs, lengths, strict=True):
        if kind == "send":
            if seq >= lost:
                break
            highest = seq + length
            ends_at = highest if ends_at is None or number == 1 else ends_at
        elif kind == "ack" and ends_at is not None and seq >= ends_at:
            number, ends_at = number + 1, highest
    return float(number)

"""The quantities that cases name: a function of a trace, and of the values under `with`, that returns its values."""

from __future__ import annotations

from collections.abc import Callable

from crosswind.suites.clauses import cubic, datagrams, windows, wire
from crosswind.suites.clauses.trace import Values

#: Name in a case -> what computes it. Its docstring says what it is and in which unit.
QUANTITIES: dict[str, Callable[..., Values]] = {
    f.__name__: f
    for f in (
        windows.cuts, windows.cut_ratio, windows.ended_at_threshold, windows.after_timeout, windows.threshold_ratio,
        windows.window_change, windows.mean_window, windows.growth, windows.growth_ratio,
        windows.cuts_in_round, windows.least_threshold, windows.window_ratio, windows.dips, windows.dip_gaps,
        cubic.misfit, cubic.peak_ratio, cubic.plateau_slope, cubic.convex, cubic.slope,
        wire.count, wire.first_flight, wire.retransmissions, wire.capable_retransmissions,
        wire.syn_gaps, wire.timeout_gaps,
        wire.train, wire.restart_train, wire.ack_step, wire.queue_delay, wire.utilisation, wire.silence,
        wire.rtt, wire.repaired, wire.timer, wire.share, wire.lost_before,
        wire.lost_share, wire.duplicates, wire.released,
        wire.probe_timer, wire.probe_gaps, wire.probe_size, wire.recovery_train,
        datagrams.answer_delay, datagrams.answer_step, datagrams.gap_answer, datagrams.loss_found,
        datagrams.lost_span, datagrams.window_use, datagrams.stated_ratio,
        datagrams.pace_ratio, datagrams.amplification, datagrams.sampled, datagrams.rto_misfit,
    )
}  # fmt: skip
#: What the network alone tells of a body: all that can be said of one that shows no window.
OF_NETWORK = {
    "count", "train", "silence", "utilisation", "share", "probe_timer", "probe_gaps", "probe_size", "answer_delay",
    "answer_step", "gap_answer", "amplification", "lost_share",
}  # fmt: skip
#: What can be said of a stack, whose segments and acknowledgements nobody sees: its window, its datagrams, the network.
OF_STACKS = {
    "cuts", "cut_ratio", "least_threshold", "window_change", "mean_window", "window_ratio", "dips", "dip_gaps",
    "misfit", "peak_ratio", "plateau_slope",
    "convex", "slope", "loss_found", "lost_span", "pace_ratio", "sampled", "window_use", "stated_ratio",
    *OF_NETWORK,
}  # fmt: skip

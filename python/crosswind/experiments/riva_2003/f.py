"""What does a short stream do to a long transfer?

One transfer of 391 280 B, a stream of 251 packets (5 s) that starts 0 to 18 s later; four configurations (F1 to F24).

Where this page says what is measured "here", it speaks of the reading `kernel` unless it names the main one.

What the source printed: RED takes 24.5 s and loses 7 to 10 % of the stream whatever its start; drop-tail takes 23.7
to 25.5 s and loses 10 to 55 %; two classes lose nothing and take 24.6 s.

What explains drop-tail's irregular loss: while the window of the transfer grows towards the limit of the queue, each
of its segments arrives just after one has left and takes the room; packets of the stream find what is left. How much
is left depends on where in its saw-tooth the transfer is when the stream comes. By running the alternatives: with
`kernel-exact-fit` the stream loses 5 to 9 % (25 to 40 % here at 0 and 7 s), with `kernel-delayed-acks` 7 to 12 %;
without memory (`kernel-no-memory`) it loses 41 and 19 %, since the saw-tooth is another one. RED's clock and law do
not matter.

Why claims fail in the main reading. **R6**: charging the IP length gives times 0.11 s below what the bytes need by
the source's arithmetic. **R101, R103, R106, R113**: the segment whose ACK waited 40 ms loses its place to the stream,
so drop-tail loses 6 to 26 % where 10 to 55 % are printed, and its times hardly depend on the start. `kernel` passes
these four and R6, R111, R112 (unclear here). **R102, R104, R105, R107, R108** fail in both: the source's link stood
idle after timeouts, saw-teeth are in another phase, and single runs are outliers.

Why claims fail in `kernel`. **R102** (drop-tail at 0 and 2 s): the source's transfers are 1.1 to 1.6 s slower than
the traffic needs, that is, the link stood idle after a timeout in many runs; here the losses are repaired in time.
**R104**: the saw-tooth is in another phase here, the worst start is 16 s. **R105**: two classes take 24.63 s behind
both queues here; drop-tail at 18 s loses the last segments and waits for the timer. **R107**: outliers of single
runs. **R108**: the stream of the short test at 0 s (see E).

This experiment also holds what is claimed over all tests.

Verdicts of the claims of this experiment by reading (passed, failed, unclear; 20 repetitions):

* main (every suggested resolution): 5, 9, 3
* `kernel`: 12, 5, 0
* `kernel-no-memory`: 9, 7, 1
* `kernel-exact-fit`: 9, 7, 1
* `kernel-delayed-acks`: 9, 7, 1
* `kernel-ack-every-second`: 13, 4, 0
* `kernel-ip-length`: 12, 5, 0
* `kernel-kbit-1000`: 12, 5, 0
* `kernel-red-clock-10mbit`: 12, 5, 0
* `kernel-red-floyd-jacobson`: 12, 5, 0
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crosswind import stats
from crosswind.claims import Band, Claim, Part, above, at_least, at_most, below, between, near, within
from crosswind.experiments.base import Results
from crosswind.experiments.riva_2003 import b, d, mixes, parts, study, testbed
from crosswind.experiments.riva_2003.d import minus
from crosswind.experiments.riva_2003.parts import across, value_part
from crosswind.figures import Picture
from crosswind.scenario import Scenario
from crosswind.stats import Estimate

MIX = testbed.BRIEF
TABLE = "table_8-10.csv"
LOGGED = ("TD 0", "TD 7", "TD 18")
TD, RED, TD_DS, RED_DS = (MIX.labels(c) for c in testbed.FOUR)
TCP_BYTES = 405_372


def configurations(**variant: Any) -> dict[str, Scenario]:
    """Twenty-four cells."""
    return mixes.cells(MIX, variant, LOGGED)


def _printed(configuration: str, column: str = mixes.ELAPSED) -> dict[str, float]:
    return mixes.printed(TABLE, column, configuration)


def _beyond(c: str) -> Part:
    """How much longer the transfer takes than its bytes and the stream's need."""

    def measure(r: Results) -> Estimate:
        need = (TCP_BYTES + testbed.UDP_BYTES * r.of(c, "udp_received")) / testbed.RATE_Bps
        return stats.median(r.of(c, "tcp_elapsed_s") - need)

    return Part(c, measure, between(0.0, 0.6), "0.15 to 0.3 s", "s", 2)


def _spread(m: Any) -> Any:
    return m.max(axis=0) - m.min(axis=0)


def _largest_loss(r: Results) -> Estimate:
    """The largest median loss of a stream in one class behind RED, over the three test cases."""
    cells = [*(f"d/{c}" for c in d.RED), *(f"e/{c}" for c in testbed.SHORT.labels("RED")), *RED]
    return stats.exact(max(float(np.nanmedian(r.of(c, "udp_loss"))) for c in cells))


def _starved(r: Results) -> Estimate:
    runs = np.concatenate([r.of(f"b/{c}", "exception") for c in b.RED])
    return stats.exact(float(runs.sum()), runs.size)


def _lost_in_two_classes(r: Results) -> Estimate:
    cells = []
    for x, mix in (("d/", testbed.LONG), ("e/", testbed.SHORT), ("", MIX)):
        cells += [f"{x}{c}" for q in ("TD+DS", "RED+DS") for c in mix.labels(q)]
    return stats.exact(float(sum((r.of(c, "udp_sent") - r.of(c, "udp_received")).sum() for c in cells)), len(cells))


def _varies(label: str, red: list[str], drop_tail: list[str], column: str, printed: str) -> Part:
    """The spread of RED's medians over the starts against that of drop-tail's."""
    n = len(red)
    return across(label, [*red, *drop_tail], column, lambda m: _spread(m[:n]) / _spread(m[n:]), below(1.0), printed)


def _nearer(prefix: str, one: list[str], two: list[str], one_td: list[str], two_td: list[str], wanted: int) -> Part:
    """At how many starts RED in one class is nearer to its time in two classes than drop-tail is to its own."""

    def measure(r: Results) -> Estimate:
        def gap(x: str, y: str) -> float:
            return abs(
                float(np.nanmedian(r.of(prefix + x, "tcp_elapsed_s")) - np.nanmedian(r.of(prefix + y, "tcp_elapsed_s")))
            )

        hits = sum(gap(x, y) < gap(u, v) for x, y, u, v in zip(one, two, one_td, two_td, strict=True))
        return stats.exact(float(hits), len(one))

    return Part(
        f"test case {'1' if prefix else '3'}: starts of {len(one)}", measure, at_least(wanted), str(wanted), "", 0
    )


ALL_GENERAL = (
    Claim(
        "R10",
        "Two classes: no packet of a stream is lost in any test",
        "2001, 301, 251 received",
        [Part("packets lost in all runs", _lost_in_two_classes, at_most(0), "0", "", 0)],
    ),
    Claim(
        "R108",
        "RED never starves a flow",
        "0 exceptions; <= 10.5 % lost",
        [
            Part("runs in which the third transfer outlasts a long one", _starved, at_most(0), "0", "", 0),
            Part("largest median loss of a stream", _largest_loss, at_most(0.105), "10.5 %", "%"),
        ],
    ),
    Claim(
        "R109",
        "RED's results vary less with the start of the competing flow",
        "claims 42, 101, 103",
        [
            _varies("third transfer, elapsed", [f"b/{c}" for c in b.RED], b.TD, "third_elapsed_s", "0.19"),
            _varies("test case 3, elapsed", RED, TD, "tcp_elapsed_s", "0.07"),
            _varies("test case 3, stream received", RED, TD, "udp_received", "0.09"),
        ],
    ),
    Claim(
        "R110",
        "RED does not minimise drops here: 2 to 5 times as many packets sent again, with the same total throughput",
        "2 to 5 times",
        [
            *(
                parts.ratio(f"long transfers, {c}", (f"b/{c}", "long_retx"), (t, "long_retx"), between(1.5, 6.0), "2")
                for c, t in (("RED 2", "a/TD 2"), ("RED 5.5", "a/TD 5.5"))
            ),
            parts.ratio("test case 1, 0 s", ("d/RED 0", "tcp_retx"), ("d/TD 0", "tcp_retx"), between(1.5, 6.0), "5"),
            across(
                "slowest transfer, 2 s, RED minus drop-tail",
                ["b/RED 2", "a/TD 2"],
                "slowest_elapsed_s",
                lambda m: m[0] - m[1],
                near(0.0, 0.5),
                "0.04 s",
                unit="s",
            ),
        ],
    ),
    Claim(
        "R111",
        "With the stream in a class of its own, RED and drop-tail are nearly equal for long transfers",
        "0.02 to 0.17 s",
        [
            across(f"{c} minus drop-tail", [c, t], "tcp_elapsed_s", lambda m: m[0] - m[1], near(0.0, 0.5), "", unit="s")
            for c, t in (
                *((f"d/{x}", f"d/{y}") for x, y in zip(d.RED_DS, d.TD_DS, strict=True)),
                *zip(RED_DS, TD_DS, strict=True),
            )
        ],
    ),
    Claim(
        "R112",
        "The class of its own makes drop-tail steadier and lowers its retransmissions",
        "1.84 to 0.19 s; fewer",
        [
            across(
                "spread of the medians, two classes over one",
                [*TD_DS, *TD],
                "tcp_elapsed_s",
                lambda m: _spread(m[:6]) / _spread(m[6:]),
                below(1.0),
                "0.10",
            ),
            across(
                "packets sent again, two minus one, mean",
                [*TD_DS, *TD],
                "tcp_retx",
                lambda m: m[:6].mean(axis=0) - m[6:].mean(axis=0),
                at_most(0.0),
                "<= 0",
                digits=1,
            ),
        ],
    ),
    Claim(
        "R113",
        "RED in one class is nearer to two classes than drop-tail is",
        "4 of 4 starts; 5 of 6",
        [
            _nearer("d/", d.RED, d.RED_DS, d.TD, d.TD_DS, 4),
            _nearer("", RED, RED_DS, TD, TD_DS, 5),
        ],
    ),
)

CLAIMS = (
    Claim(
        "R5",
        "Two classes: elapsed time of the transfer for every start and both queues",
        "24.55 to 24.85 s",
        [
            across(
                "smallest median",
                [*TD_DS, *RED_DS],
                "tcp_elapsed_s",
                lambda m: m.min(axis=0),
                within(24.55, 0.02),
                "24.55 s",
                unit="s",
            ),
            across(
                "largest median",
                [*TD_DS, *RED_DS],
                "tcp_elapsed_s",
                lambda m: m.max(axis=0),
                within(24.85, 0.02),
                "24.85 s",
                unit="s",
            ),
        ],
    ),
    Claim(
        "R6",
        "One class, start at 7 s or later: the time that the bytes of both flows need, and 0.15 to 0.3 s",
        "0.15 to 0.3 s",
        [_beyond(c) for c in (*TD[2:], *RED)],
    ),
    Claim(
        "R100",
        "One class, RED: elapsed time, the same for every start",
        "24.62, 24.55, 24.55, 24.54, 24.49, 24.52 s",
        [
            *parts.medians("tcp_elapsed_s", _printed("RED"), 0.03),
            across("spread of the medians", RED, "tcp_elapsed_s", _spread, at_most(0.5), "0.13 s", unit="s"),
        ],
    ),
    Claim(
        "R101",
        "One class, drop-tail: elapsed time spreads by about 1.8 s, three times as much as RED's or more",
        "25.50, 25.31, 23.70, 23.66, 24.22, 24.49 s",
        [
            across(
                "spread over RED's",
                [*TD, *RED],
                "tcp_elapsed_s",
                lambda m: _spread(m[:6]) / _spread(m[6:]),
                at_least(3.0),
                "14",
            ),
            across("spread", TD, "tcp_elapsed_s", _spread, Band(), "1.84 s", unit="s"),
            *(value_part(c, c, "tcp_elapsed_s", Band(), v, unit="s", digits=2) for c, v in _printed("TD").items()),
        ],
    ),
    Claim(
        "R102",
        "Drop-tail is slower than RED at 0 and 2 s, faster from 7 s on",
        "0.88, 0.76; -0.85, -0.88, -0.27, -0.03 s",
        [
            *minus("drop-tail minus RED", TD[:2], RED[:2], above(0.0), ("0.88 s", "0.76 s")),
            *minus("drop-tail minus RED", TD[2:], RED[2:], below(0.0), ("-0.85 s", "-0.88 s", "-0.27 s", "-0.03 s")),
        ],
    ),
    Claim(
        "R103",
        "One class: loss of the stream, RED 7 to 10 % for every start, drop-tail 10 to 55 %",
        "RED 225 to 234.5; TD 174, 188, 126.5, 114, 194, 225",
        [
            across("RED's spread", RED, "udp_received", _spread, at_most(20), "9.5", digits=1),
            across("drop-tail's spread", TD, "udp_received", _spread, at_least(60), "111", digits=1),
            *(
                value_part(c, c, "udp_received", within(v, 0.1), v, digits=1)
                for c, v in _printed("RED", mixes.RECEIVED).items()
            ),
            *(value_part(c, c, "udp_received", Band(), v, digits=1) for c, v in _printed("TD", mixes.RECEIVED).items()),
        ],
    ),
    Claim(
        "R104",
        "Drop-tail's loss of the stream is worst at 7 and 12 s: about half",
        "126.5 and 114 of 251",
        [
            across(
                "7 and 12 s minus the least of the others",
                TD,
                "udp_received",
                lambda m: np.maximum(m[2], m[3]) - np.min(m[[0, 1, 4, 5]], axis=0),
                below(0.0),
                "-47.5",
                digits=1,
            ),
            *(
                value_part(c, c, "udp_loss", between(0.35, 0.65), v, unit="%")
                for c, v in (("TD 7", 0.496), ("TD 12", 0.546))
            ),
        ],
    ),
    Claim(
        "R105",
        "Two classes: RED slower than drop-tail by 0.08 to 0.17 s; both within 0.4 s of RED in one class",
        "24.55 to 24.85 s",
        [
            *minus(
                "RED minus drop-tail",
                RED_DS,
                TD_DS,
                above(0.0),
                ("0.17 s", "0.11 s", "0.09 s", "0.15 s", "0.08 s", "0.08 s"),
            ),
            *minus(
                "minus RED in one class",
                TD_DS,
                RED,
                near(0.0, 0.4),
                ("-0.05 s", "0.19 s", "0 s", "0.01 s", "0.11 s", "0.05 s"),
            ),
            *minus(
                "minus RED in one class",
                RED_DS,
                RED,
                near(0.0, 0.4),
                ("0.12 s", "0.3 s", "0.09 s", "0.16 s", "0.19 s", "0.13 s"),
            ),
        ],
    ),
    Claim(
        "R106",
        "RED's time changes by 0.3 s at most when the stream gets a class of its own",
        "24.5 to 24.7 s",
        minus(
            "two minus one", RED_DS, RED, near(0.0, 0.3), ("0.12 s", "0.3 s", "0.09 s", "0.16 s", "0.19 s", "0.13 s")
        ),
    ),
    Claim(
        "R107",
        "Long outliers: timeouts near the end",
        "44.41 s (RED, 2 s), 45.25 s (TD+DS, 18 s)",
        [
            Part(
                c,
                lambda r, c=c: stats.exact(float(np.nanmax(r.of(c, "tcp_elapsed_s")))),
                within(v, 0.25),
                f"{v} s",
                "s",
                2,
            )
            for c, v in (("RED 2", 44.41), ("TD+DS 18", 45.25))
        ],
    ),
    *ALL_GENERAL,
)


def pictures_of(r: Results) -> list[Picture]:
    """Figures 5-22 and 5-23."""
    return [
        mixes.statistics_picture(
            r, MIX, "fig-5-22", "A long transfer beside a short stream (Fig. 5-22): medians and quartiles."
        ),
        *mixes.sequence_picture(
            r, "fig-5-23", "Drop-tail, one class: stream from 0, 7 and 18 s on (as Fig. 5-23).", LOGGED
        ),
    ]


EXPERIMENT = study.experiment(
    "f",
    "A long transfer beside a short stream, and what holds over all tests",
    __doc__,
    configurations,
    CLAIMS,
    figures=pictures_of,
    headline=mixes.headline(MIX, (0.0, 7.0)),
    uses=("a", "b", "d", "e"),
)
